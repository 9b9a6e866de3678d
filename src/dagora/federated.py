"""Learn over sites that may not pool their rows: agree on the columns, then learn from secure sums.

`learn_over` learns as the coordinator of any `Federation`. `learn_federated` runs coordinator and sites in
this process, with the masks and messages of a real run (`secure=True`) or with sums in the clear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dagora.data.accepting import as_table
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.table import Table
from dagora.errors import DagoraError, DataError, OptionError, ProtocolError, RowsUnavailableError
from dagora.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.files import naming
from dagora.learning import learn, named_score
from dagora.method_registry import method_named
from dagora.options import refuse_missing
from dagora.parties.horizontal.session.federation import Federation, OpenFederation, Site
from dagora.parties.horizontal.statistics.agreement import agree
from dagora.parties.horizontal.statistics.secure_statistics import SecureStatistics
from dagora.parties.horizontal.tasks import SHOWN, TASKS
from dagora.parties.transport.transport import check_name
from dagora.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dagora.parties.horizontal.session.serving import Asked
    from dagora.parties.transport.ledger import Books
    from dagora.parties.transport.transport import Transport

COORDINATOR = "coordinator"
FEWEST = 3


def learn_over(
    federation: Federation,
    method: str = "hill-climb",
    *,
    discrete: Iterable[str] = (),
    continuous: Iterable[str] = (),
    **settings: Any,  # noqa: ANN401 - those of `learn`
) -> Result:
    """Learn as `learn` does, from the sums of a federation."""
    check_over_sites(method, **settings)
    return learn(agreed_statistics(federation, discrete, continuous), method, **settings)


def check_over_sites(
    method: str,
    *,
    score: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of `learn`
) -> None:
    """Refuse what cannot be learned from sums over sites, before waiting for any site.

    >>> check_over_sites("best")
    Traceback (most recent call last):
    dagora.errors.OptionError: the method best needs the option truth: the true graph, by which ...
    """
    entry = method_named(method)
    owner = f"the method {entry.name}"
    needing = [owner] * entry.needs_rows
    if score is not None:
        needing += [f"the score {score}"] * named_score(entry, score).needs_rows
    for option in entry.options:
        value = settings.get(option.name)
        needing += [f"{option.name}={value}"] * (value in option.needs_rows)
    if needing:
        raise RowsUnavailableError(
            f"{needing[0]} needs rows, which the sites keep: choose one that works on counts or moments"
        )
    refuse_missing(owner, entry.options, settings)


def agreed_statistics(
    federation: Federation, discrete: Iterable[str] = (), continuous: Iterable[str] = ()
) -> SecureStatistics:
    """Let the sites agree on their columns, and return the `Statistics` of all their rows together."""
    schema = agree(federation, discrete=discrete, continuous=continuous)
    return SecureStatistics(federation, schema)


def learn_federated(
    sites: Mapping[str, object],
    method: str = "hill-climb",
    *,
    secure: bool = True,
    minimum: int = FEWEST,
    discrete: Iterable[str] = (),
    continuous: Iterable[str] = (),
    drop: Iterable[str] = (),
    missing: str = "error",
    na: str | Iterable[str] = "auto",
    **settings: Any,  # noqa: ANN401 - those of `learn_over`
) -> Result:
    """Learn over the tables of several sites in this process; the result equals that on the pooled rows.

    `sites` maps each site's name to its data: whatever `learn` takes. A site takes part in no sum of fewer
    than `minimum` sites. From `discrete` to `na`, the options say how each site's data are to be understood;
    `read_table` explains them. All else is as in `learn`: the method, `score`, `knowledge`, `max_parents`,
    `seed`, and the options of method and score.

    >>> rows = [[0, 0], [1, 1]] * 10
    >>> tables = {name: Table.from_numpy(rows, names=["a", "b"]) for name in ("north", "south", "west")}
    >>> result = learn_federated(tables, "tabu", score="bdeu", knowledge={"forbidden": [("a", "b")]})
    >>> result.graph.edges, result.stats["rows"]
    ((('b', 'a'),), 60.0)
    """
    reading = ReadingOptions(discrete, continuous, drop, missing, na)
    parties = read_sites(sites, minimum if secure else 1, reading)
    settings |= {"discrete": reading.discrete, "continuous": reading.continuous}
    if not secure:
        return with_readings(learn_over(OpenFederation(parties, TASKS), method, **settings), parties)
    with sites_in_threads(parties, minimum) as (federation, books):
        result = learn_over(federation, method, **settings)
    return with_traffic(with_readings(result, parties), books())


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
        raise OptionError(f"minimum must be a whole number, not {minimum!r}")
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
            # Kinds of the columns of a Table are agreed on by the sites; the rest is settled.
            ready = replace(reading, discrete=(), continuous=()) if isinstance(data, Table) else reading
            table = as_table(data, ready)
            parties.append(Site(name, table))
    return parties


@contextmanager
def sites_in_threads(
    sites: list[Site], minimum: int, watch: Callable[[Transport], Transport] | None = None
) -> Iterator[tuple[Any, Any]]:
    """A coordinator's session with sites that are threads of this process.

    `watch` may wrap the coordinator's transport, to record what it sees.
    """
    CRYPTOGRAPHY_FOR_SITES.require("a secure sum over sites")
    from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.horizontal.statistics.agreed_session import AgreedSession
    from dagora.parties.transport.in_memory import memory_network

    names = [site.name for site in sites]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR)
    identities = hand_out_keys(names)
    with ThreadPoolExecutor(max(1, len(sites))) as pool:
        work = {
            name: pool.submit(
                serve_site, network[name], site, TASKS, identities[name], minimum=minimum, shown=SHOWN
            )
            for name, site in zip(names, sites, strict=True)
        }
        # If anything fails here, the session tells the sites, so they do not wait for ever.
        with (
            own_refusals(work),
            network[COORDINATOR] as transport,
            AgreedSession(watch(transport) if watch else transport, names, minimum=minimum) as session,
        ):
            yield session, transport.ledger.books
        for visit in work.values():
            visit.result()


@contextmanager
def own_refusals(work: Mapping[str, Future[list[Asked]]]) -> Iterator[None]:
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
