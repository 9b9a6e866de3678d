"""Learn over sites that may not pool their rows: agree on the columns, then learn from secure sums.

`run_over_sites` learns as the coordinator of any `Federation`. `learn_federated` runs coordinator and sites
in this process, with the masks and messages of a real run (`secure=True`) or with sums in the clear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from dagora.api.learn import learn
from dagora.base.errors import DagoraError, DataError, OptionError, ProtocolError, RowsUnavailableError
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.base.files import naming
from dagora.base.options import refuse_meaningless, refuse_missing
from dagora.base.wording import option
from dagora.data.accepting import as_table
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.schema import Kind, Schema
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.learners.checks import named_score
from dagora.learners.independence.features import FUNCTIONS
from dagora.learners.registry import method_named
from dagora.learners.result import Result
from dagora.parties.horizontal.learners.tasks import TASKS, shown_by
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session.federation import (
    Federation,
    OpenFederation,
    Site,
    in_series,
    rows_together,
)
from dagora.parties.horizontal.session.secure_statistics import SecureSeriesStatistics, SecureStatistics
from dagora.parties.privacy.terms import PrivacyTerms, agree_on_terms, parse_options
from dagora.parties.transport.transport import check_name
from dagora.scores.registry import default_score
from dagora.scores.usable_moments import refuse_discrete

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.parties.transport.ledger import Books
    from dagora.parties.transport.transport import Transport

COORDINATOR = "coordinator"
FEWEST = 3
AT_SITES = ("discrete", "continuous", "drop", "missing", "na")  # reading options of each site


def run_over_sites(federation: Federation, method: str | None = None, **settings: Any) -> Result:  # noqa: ANN401
    """Learn as `learn` does, from the sums of a federation; without a method, the default over sites."""
    method = method or default_over_sites(federation.schema, scored=settings.get("score") is not None)
    check_over_sites(method, **settings)
    return learn(statistics_over(federation, method, settings), method, **settings)


def statistics_over(federation: Federation, method: str, settings: Mapping[str, Any]) -> SecureStatistics:
    """The statistics for a method: sums over rows or, for a method in time, over windows of series."""
    lags = lags_of(method, settings)
    return SecureSeriesStatistics(federation, lags) if lags else SecureStatistics(federation)


def lags_of(method: str, settings: Mapping[str, Any]) -> int:
    """The number of lags of a method in time; 0 for others.

    >>> lags_of("dynotears", {"lags": 2}), lags_of("dynotears", {}), lags_of("notears", {})
    (2, 1, 0)
    """
    entry = method_named(method)
    if not entry.in_time:
        return 0
    known = next(option for option in entry.options if option.name == "lags")
    return cast("int", known.check(settings.get("lags", known.default)))


def privacy_terms(
    options: Mapping[str, object] | str | None, schema: Schema, sites: int
) -> PrivacyTerms | None:
    """The terms of a release with noise, where one is asked for; options as a mapping or as written."""
    if options is None:
        return None
    return agree_on_terms(
        schema, sites, **(parse_options(options) if isinstance(options, str) else dict(options))
    )


def default_over_sites(schema: Schema, *, noisy: bool = False, scored: bool = False) -> str:
    """The method where none is asked for: `notears` for continuous columns, which needs one sum.

    For a release with noise of discrete columns it is `ges`, which finds the best forest. Where a score is
    asked for, it is a search.

    >>> from dagora.data.schema import Variable
    >>> default_over_sites(Schema([Variable("x", Kind.CONTINUOUS)]))
    'notears'
    """
    if schema.kinds == {Kind.CONTINUOUS} and not scored:
        return "notears"
    return "ges" if noisy else "hill-climb"


def basis_functions(method: str, settings: Mapping[str, Any]) -> int:
    """The number of basis functions per column whose moments a method needs; 0 for most.

    >>> basis_functions("notears-sob", {"functions": 3}), basis_functions("notears", {})
    (3, 0)
    >>> basis_functions("pc", {"test": "features"})
    8
    """
    if settings.get("test") == "features":
        return FUNCTIONS
    for known in method_named(method).options:
        if known.name == "functions":
            return int(settings.get("functions", known.default))
    return 0


def check_over_sites(
    method: str | None,
    *,
    score: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of `learn`
) -> None:
    """Refuse what cannot be learned from sums over sites, before waiting for any site.

    >>> check_over_sites("best")
    Traceback (most recent call last):
    dagora.OptionError: the method best needs the option truth: the true graph, by which ...
    """
    if method is None:
        return
    entry = method_named(method)
    owner = f"the method {entry.name}"
    needing = [owner] * entry.needs_rows
    if score is not None:
        needing += [f"the score {score}"] * named_score(entry, score).needs_rows
    for known in entry.options:
        value = settings.get(known.name)
        needing += [f"{known.name}={value}"] * (value in known.needs_rows)
    if needing:
        raise RowsUnavailableError(
            f"{needing[0]} needs rows, which the sites keep: choose one that works on counts or moments"
        )
    refuse_missing(owner, entry.options, settings)
    refuse_meaningless(entry.options, settings)


def check_columns(
    method: str, score: str | None, schema: Schema, settings: Mapping[str, Any] | None = None
) -> None:
    """Refuse columns that a method or score cannot take, before waiting for any site.

    >>> from dagora.data.schema import Variable
    >>> check_columns("notears", None, Schema([Variable("a", Kind.DISCRETE, ("no", "yes"))]))
    Traceback (most recent call last):
    dagora.DataError: the method notears needs continuous columns, but 'a' is discrete: ...
    """
    entry = method_named(method)
    if entry.own_objective and not entry.takes_any_kind(settings or {}):
        # Others that take discrete columns need rows, and were refused as such.
        refuse_discrete(schema, f"the method {entry.name}")
    elif score is None:
        default_score(schema)


def check_private(method: str, score: str | None, max_parents: int | None, terms: PrivacyTerms) -> None:
    """Refuse what cannot be learned from a release with noise, before anything is spent on it."""
    entry = method_named(method)
    if entry.in_time:
        raise OptionError(
            f"there is no release with noise for the method {entry.name}: a person's steps are a whole "
            "series, and noise that hides a series of T steps is about T times that for a row, which drowns "
            "the moments"
        )
    if entry.takes == "federation" or basis_functions(method, {}):
        raise OptionError(
            f"the method {entry.name} does not work on a release with noise: choose ges, notears or a search"
        )
    if terms.release == "pairs" and entry.own_objective:
        raise OptionError(
            f"the method {entry.name} needs more than pairs of columns, which are all that is released with "
            "noise: choose ges or a search"
        )
    if terms.release == "pairs" and score not in (None, "bic"):
        raise OptionError(f"the score {score} does not know noise for privacy: use bic")
    if terms.release == "pairs" and (max_parents or 0) > 1:
        raise OptionError(
            f"{option('max_parents', max_parents)} asks for more than pairs of columns tell: set it to 1"
        )


@takes_reading(*AT_SITES)
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
        A name from `methods()`. Default: "notears" for continuous columns, "hill-climb" for others.
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
    settings = {name: value for name, value in options.items() if name not in AT_SITES}
    chosen = {name: value for name, value in options.items() if name in AT_SITES}
    reading = ReadingOptions(**chosen, cuts=False)
    check_over_sites(method, **settings)
    timing = timing_for(method, time, series)
    if timing is not None:
        reading = replace(reading, wanted=timing.columns, numbers=(timing.time,), in_time=True)
    parties = read_sites(sites, minimum if secure else 1, reading)
    step = 0.0
    if timing is not None:
        parties, step = in_series(parties, timing)
    book = codebook or codebook_of({site.name: site.table for site in parties})
    terms = privacy_terms(privacy, book.schema, len(parties))
    scored = settings.get("score") is not None
    method = method or default_over_sites(book.schema, noisy=terms is not None, scored=scored)
    check_columns(method, settings.get("score"), book.schema, settings)
    if terms is not None:
        check_private(method, settings.get("score"), settings.get("max_parents"), terms)
    if not secure:
        if terms is not None:
            raise OptionError("privacy goes with secure sums: leave secure=False out")
        return with_readings(
            run_over_sites(
                OpenFederation.over(parties, TASKS, book, step, lags_of(method, settings)), method, **settings
            ),
            parties,
        )
    with sites_in_threads(parties, book, method, settings, terms, step=step) as (federation, books):
        result = (
            run_over_sites(federation, method, **settings)
            if terms is None
            else learn(federation.release(), method, **settings)
        )
    if terms is not None:
        # How many rows were dropped is not covered by the promise, so it is not said.
        note = (
            "levels and ranges were taken from the rows, which the promise of privacy does not cover: give a "
            "codebook that was made without looking at them"
        )
        return with_traffic(
            replace(result, warnings=(*result.warnings, *[note] * (codebook is None))), books()
        )
    return with_traffic(with_readings(result, parties), books())


def timing_for(method: str | None, time: str | None, series: str | None) -> Timing | None:
    """The columns of time and series, for a method that learns from series; a method that does not refuses.

    >>> timing_for("notears", "day", None)
    Traceback (most recent call last):
    dagora.OptionError: the method notears takes rows as independent of each other: ...
    """
    timing = Timing.read(time, series)
    in_time = method is not None and method_named(method).in_time
    if in_time and timing is None:
        raise OptionError(
            f"the method {method} learns from series: {option('time')} says which column holds the time"
        )
    if timing is not None and not in_time:
        who = "the default over sites" if method is None else f"the method {method}"
        raise OptionError(
            f"{who} takes rows as independent of each other: choose dynotears for series, or leave "
            f"{option('time')} out"
        )
    return timing


def with_readings(result: Result, sites: Iterable[Site]) -> Result:
    """Add to a result how the data of each site were understood, and what deserves a warning about it."""
    told = {site.name: site.table.overview for site in sites if site.table.overview is not None}
    warnings = [f"{name}: {line}" for name, overview in told.items() for line in overview.warnings]
    lost = sum(overview.dropped for overview in told.values())
    rows = sum(overview.rows for overview in told.values())
    dropped = f"{lost} of {rows} rows were dropped at the sites, because a cell is missing" if lost else ""
    return replace(
        result,
        message="; ".join(filter(None, (result.message, dropped))),
        warnings=(*warnings, *result.warnings),
    )


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
            parties.append(Site(name, as_table(data, ready)))
    return parties


@contextmanager
def sites_in_threads(
    sites: list[Site],
    codebook: Codebook,
    method: str,
    settings: Mapping[str, Any],
    terms: PrivacyTerms | None = None,
    watch: Callable[[Transport], Transport] | None = None,
    step: float = 0.0,
) -> Iterator[tuple[Any, Any]]:
    """A coordinator's session with sites that are threads of this process; one person has all the tables.

    `watch` may wrap the coordinator's transport, to record what it sees.
    """
    CRYPTOGRAPHY_FOR_SITES.require("a secure sum over sites")
    from dagora.parties.horizontal.plan.drafting import draft_trial
    from dagora.parties.horizontal.policy.drafted_policy import trial_policy
    from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.transport.in_memory import memory_network

    names = [site.name for site in sites]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR)
    keys = hand_out_keys([COORDINATOR, *names])
    certificates = {name: key.fingerprint(key.certificate) for name, key in keys.items()}
    rosters = {name: certificates[name] for name in names}
    plan = draft_trial(
        codebook,
        rosters,
        method,
        certificates[COORDINATOR],
        shows=shown_by(method, settings),
        functions=basis_functions(method, settings),
        lags=lags_of(method, settings),
        step=step,
        largest_rows=rows_together(sites),
        privacy=terms,
    )
    policy = trial_policy(plan)
    with ThreadPoolExecutor(max(1, len(sites))) as pool:
        work = {
            site.name: pool.submit(
                copy_context().run,
                partial(serve_site, network[site.name], site, policy, keys[site.name], MemoryLog(), TASKS),
            )
            for site in sites
        }
        # If anything fails here, the session tells the sites, so they do not wait for ever.
        with (
            own_refusals(work),
            network[COORDINATOR] as transport,
            CoordinatorSession(watch(transport) if watch else transport, plan, keys[COORDINATOR]) as session,
        ):
            yield session, transport.ledger.books
        for visit in work.values():
            visit.result()


@contextmanager
def own_refusals(work: Mapping[str, Future[None]]) -> Iterator[None]:
    """If a site refused its own rows, raise its full error; the coordinator is told only the error's type."""
    try:
        yield
    except ProtocolError:
        for name, visit in work.items():
            reason = visit.exception()
            if isinstance(reason, DagoraError) and not isinstance(reason, ProtocolError):
                with naming(name):
                    raise reason from None
        raise


def with_traffic(result: Result, books: Books) -> Result:
    """Add rounds (unless the method counts its own) and bytes per party to the `stats` of a result."""
    stats = {"rounds": result.stats.get("rounds", float(len(books.phases)))}
    for party, traffic in books.peers.items():
        stats[f"bytes_to_{party}"] = float(traffic.wire_sent)
        stats[f"bytes_from_{party}"] = float(traffic.wire_received)
    return replace(result, stats={**result.stats, **stats})
