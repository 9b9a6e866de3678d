"""Learn over sites that may not pool their rows: agree on the columns, then learn from secure sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dagora.api.learn import learn
from dagora.base.errors import DataError, OptionError, ProtocolError
from dagora.base.files import naming
from dagora.base.wording import option
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.table import Table
from dagora.learners.result import Result
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.methods_over_sites import (
    check_columns,
    check_over_sites,
    check_release,
    check_weighing,
    default_over_sites,
    lags_of,
    over_windows,
    privacy_terms,
    statistics_over,
    timing_for,
    told_of_ranks,
    window_lags,
)
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.session.federation import (
    OpenFederation,
    Site,
    codebook_of_sites,
    in_series,
    no_groups,
    site_of,
)
from dagora.parties.horizontal.site_threads import COORDINATOR, add_readings, run_sites
from dagora.parties.transport.ledger import add_traffic
from dagora.parties.transport.transport import check_name

FEWEST = 3  # sites: of two, each could subtract its own part from a sum
FROM_ROWS = (
    "levels and ranges were taken from the rows, which the promise of privacy does not cover: give a "
    "codebook that was made without looking at them"
)
AT_SITES = (
    "discrete",
    "continuous",
    "ordinal",
    "drop",
    "missing",
    "na",
    "table",
    "decimal",
    "counts",
)  # each site's


@takes_reading(*AT_SITES, "ranks", "weights")
def learn_federated(
    sites: Mapping[str, object],
    method: str | None = None,
    *,
    secure: bool = True,
    minimum: int = FEWEST,
    codebook: Codebook | None = None,
    privacy: Mapping[str, object] | str | None = None,
    time: str | None = None,
    series: str | None = None,
    **options: Any,  # noqa: ANN401 - those of `learn`
) -> Result:
    """Learn over the tables of several sites in this process; the result equals that on the pooled rows.

    Parameters
    ----------
    sites : mapping from str to data
        Each site's name and its data: whatever `learn` takes.
    method : str, optional
        A name from `methods()`. Default: "auto", as in `learn`; with `privacy`, "notears" for continuous
        columns and "ges" for others.
    secure : bool, default True
        Run the masks and messages of a real run; else sums are in the clear.
    minimum : int, default 3
        Fewest sites.
    codebook : Codebook, optional
        The columns, levels and ranges that the sites follow; by default one that fits all their tables.
        Continuous columns are rounded to about a millionth of their range.
    privacy : mapping or str, optional
        Such as {"epsilon": 1}: everything is learned from one release with noise (docs/privacy.md).
    time : str, optional
        Column that says when a row was, for methods that learn from series.
    series : str, optional
        Column that says which series a row belongs to; a series lives whole at one site.
    {reading}
    **options
        All else as in `learn`: `score`, `knowledge`, `max_parents`, `seed`, and the options of method and
        score.

    Returns
    -------
    Result
        As of `learn`, with the traffic of the run in `.stats`.

    Examples
    --------
    >>> rows = [[0, 0], [1, 1]] * 10
    >>> tables = {name: Table.from_numpy(rows, names=["a", "b"]) for name in ("north", "south", "west")}
    >>> result = learn_federated(tables, "tabu", score="bdeu", knowledge={"forbidden": [("a", "b")]})
    >>> result.graph.edges, result.stats["rows"]
    ((('b', 'a'),), 60.0)
    """
    at_sites = (*AT_SITES, "ranks", "weights")
    settings = {name: value for name, value in options.items() if name not in at_sites}
    chosen = {name: value for name, value in options.items() if name in at_sites}
    reading = ReadingOptions(**chosen, cuts=False, trends=False)
    if reading.ranks and codebook is not None:
        raise OptionError(
            f"the codebook says which columns are taken by their ranks: leave {option('ranks')} out"
        )
    refuse_groups(settings)
    check_over_sites(method, **settings)
    timing = timing_for(method, time, series)
    settings = over_windows(method, timing, settings)
    if timing is not None:
        reading = replace(reading, wanted=timing.columns, numbers=(timing.time,), in_time=timing.columns)
    parties = read_sites(sites, minimum if secure else 1, replace(reading, ranks=()))
    step = 0.0
    if timing is not None:
        parties, step = in_series(parties, timing)
    book = codebook or codebook_of_sites(parties, reading)
    terms = privacy_terms(privacy, book.schema, len(parties))
    scored = settings.get("score") is not None
    method = method or default_over_sites(book.schema, noisy=terms is not None, scored=scored)
    check_columns(method, settings.get("score"), book.schema, settings)
    if book.largest_weight:
        check_weighing(method, settings, noisy=terms is not None)
    if terms is None:
        check_over_sites(method, **settings)  # also the default
    else:
        lags = lags_of(method, settings)
        check_release(method, settings.get("score"), settings.get("max_parents"), terms, lags)
    if not secure:
        if terms is not None:
            raise OptionError("privacy goes with secure sums: leave secure=False out")
        federation = OpenFederation.over(parties, TASKS, book, step, window_lags(method, settings))
        result = learn(statistics_over(federation, method, settings), method, **settings)
        return told_of_ranks(add_readings(result, parties), book)
    with run_sites(parties, book, method, settings, terms, step=step) as (session, books):
        statistics = statistics_over(session, method, settings) if terms is None else session.release()
        result = told_of_ranks(learn(statistics, method, **settings), book)
    if terms is None:
        return add_traffic(add_readings(result, parties), books())
    # How many rows were dropped is not covered by the promise, so it is not said.
    notes = [FROM_ROWS] * (codebook is None)
    return add_traffic(replace(result, warnings=(*result.warnings, *notes)), books())


def refuse_groups(settings: Mapping[str, object]) -> None:
    """Refuse groups of rows, which no sum over sites knows of."""
    if settings.get("group") is not None:
        raise no_groups()


def read_sites(sites: Mapping[str, object], minimum: int, reading: ReadingOptions) -> list[Site]:
    """Read the table of each site; refuse names that no site can have, and too few sites."""
    if not isinstance(sites, Mapping):
        raise DataError(
            f"sites are given as a mapping from each site's name to its table, not as {type(sites).__name__}"
        )
    if isinstance(minimum, bool) or not isinstance(minimum, int):
        raise OptionError(option="minimum", value=minimum, must="be a whole number")
    if len(sites) < minimum:
        two = "with two, each can compute the other's part; minimum=2 accepts that"
        more = two if len(sites) == 2 else "add sites"
        given = "1 site was" if len(sites) == 1 else f"{len(sites)} sites were"
        raise OptionError(f"{given} given, and at least {minimum} are needed: {more}")
    parties = []
    for name, data in sites.items():
        if check_name(name) == COORDINATOR:
            raise ProtocolError(f"'{COORDINATOR}' is the coordinator's name: give that site another")
        with naming(name):
            # The types of a Table's columns are settled.
            ready = replace(reading, discrete=(), continuous=()) if isinstance(data, Table) else reading
            parties.append(site_of(name, as_any_table(data, ready)))
    return parties
