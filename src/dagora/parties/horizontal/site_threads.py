"""Sites as threads of this process, with the masks and messages of a real run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any

from dagora.base.errors import DagoraError, ProtocolError
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.base.files import naming
from dagora.learners.result import Result
from dagora.parties.horizontal.learners.shown_questions import questions_to_show
from dagora.parties.horizontal.learners.tasks import TASKS, tasks_to_show
from dagora.parties.horizontal.log.site_log import MemoryLog
from dagora.parties.horizontal.methods_over_sites import basis_functions, window_lags
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.session.federation import Site, rows_together
from dagora.parties.privacy.terms import PrivacyTerms

COORDINATOR = "coordinator"
# With noise nothing may tell how many rows there are: the plan has a bound that no table in memory reaches.
BOUND_WITH_NOISE = 1 << 30


@contextmanager
def run_sites(
    sites: list[Site],
    codebook: Codebook,
    method: str,
    settings: Mapping[str, Any],
    terms: PrivacyTerms | None = None,
    step: float = 0.0,
) -> Iterator[tuple[Any, Any]]:
    """A coordinator's session that learns by a method; one person has all the tables."""
    from dagora.parties.horizontal.plan.drafting import draft_trial

    names = [site.name for site in sites]
    draft = partial(
        draft_trial,
        codebook,
        method=method,
        shows=tasks_to_show(method, settings),
        shown_questions=questions_to_show(codebook, names, method, settings),
        functions=basis_functions(method, settings),
        lags=window_lags(method, settings),
        step=step,
        largest_rows=largest_rows(sites, terms),
        privacy=terms,
    )
    with run_plan(sites, draft) as (session, books):
        yield session, books


def largest_rows(sites: Iterable[Site], terms: PrivacyTerms | None) -> int:
    """The bound on the rows that the plan of a trial has."""
    return rows_together(sites) if terms is None else BOUND_WITH_NOISE


@contextmanager
def run_plan(sites: list[Site], draft: Callable[..., RunPlan]) -> Iterator[tuple[Any, Any]]:
    """A coordinator's session with sites that are threads of this process.

    `draft` makes the plan from the sites' certificates and, as `coordinator`, the coordinator's own.
    """
    CRYPTOGRAPHY_FOR_SITES.require("a secure sum over sites")
    from dagora.parties.horizontal.policy.drafted_policy import trial_policy
    from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
    from dagora.parties.horizontal.session.serving import serve_site
    from dagora.parties.transport.in_memory import memory_network

    names = [site.name for site in sites]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR)
    keys = hand_out_keys([COORDINATOR, *names])
    certificates = {name: key.fingerprint(key.certificate) for name, key in keys.items()}
    plan = draft({name: certificates[name] for name in names}, coordinator=certificates[COORDINATOR])
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
            raise_own_refusal(work),
            network[COORDINATOR] as transport,
            CoordinatorSession(transport, plan, keys[COORDINATOR]) as session,
        ):
            yield session, transport.ledger.books
        for visit in work.values():
            visit.result()


@contextmanager
def raise_own_refusal(work: Mapping[str, Future[None]]) -> Iterator[None]:
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


def add_readings(result: Result, sites: Iterable[Site]) -> Result:
    """Add to a result the warnings about the data of each site, and the number of rows that were dropped."""
    sites = list(sites)
    overviews = {site.name: site.table.overview for site in sites if site.table.overview is not None}
    warnings = [f"{name}: {line}" for name, overview in overviews.items() for line in overview.warnings]
    warnings += [f"{site.name}: {line}" for site in sites if site.panel for line in site.panel.warnings]
    lost = sum(overview.dropped for overview in overviews.values())
    rows = sum(overview.rows for overview in overviews.values())
    dropped = f"{lost} of {rows} rows were dropped at the sites, because a cell is missing" if lost else ""
    return replace(
        result,
        message="; ".join(filter(None, (result.message, dropped))),
        warnings=(*warnings, *result.warnings),
    )
