"""From options to a plan: what `dagora federate coordinator` and the app of Flower have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dagora.cli.federate.keys import COORDINATOR, MINIMUM, check_number, site_names
from dagora.cli.gathering import F, gather_options
from dagora.cli.learn_request import LearnRequest
from dagora.cli.party_options import as_bad_input
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dagora.parties.horizontal.plan.plan import RunPlan
    from dagora.parties.horizontal.policy.policy_file import Consortium
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.transport.transport import Transport


@dataclass(frozen=True)
class Planning:
    """The coordinator's folder, and the most that the plan may ask for."""

    folder: str
    codebook: str | None
    sites: str | None
    table_columns: int | None
    table_cells: int | None
    privacy: str | None
    minimum: int


@dataclass(frozen=True)
class PreparedPlan:
    """A plan that only lacks certificates that are not known yet, its author, and what is to be learned."""

    identity: CertifiedIdentity
    plan: RunPlan
    request: LearnRequest
    cut_off: str = ""


KEYS = click.option(
    "--keys", "folder", required=True, metavar="FOLDER", help="Folder of the coordinator's certificate."
)
CODEBOOK = click.option(
    "--codebook",
    metavar="FILE",
    help="The columns that the sites agreed on; default: codebook.toml in the folder of --keys.",
)
SITES = click.option("--sites", metavar="A,B,C", help="Names of the sites; default: those of the codebook.")
PRIVACY = click.option(
    "--privacy",
    metavar="epsilon=1",
    help="Answer from one release with noise (differential privacy), with these terms: epsilon, delta, "
    "colluders, rows_per_person, row_bound.",
)
WRITE_PLAN = click.option(
    "--write-plan", metavar="PLAN.json", help="Write the plan for the sites to look at, and end."
)


def planning_options(command: F) -> F:
    """Add the options of a plan to a command, which gets them as one argument `planning`."""
    options = (
        KEYS,
        CODEBOOK,
        SITES,
        click.option(
            "--table-columns",
            type=click.IntRange(1, 64),
            metavar="K",
            help="Most columns of a joint table of counts; default: one more than --max-parents, or what "
            "the codebook says, if that is fewer than there are.",
        ),
        click.option(
            "--table-cells",
            type=click.IntRange(1),
            help="Most cells of a joint table; default: what the codebook says.",
        ),
        PRIVACY,
        MINIMUM,
    )
    return gather_options(command, Planning, "planning", options)


def prepare(planning: Planning, request: LearnRequest) -> PreparedPlan:
    """Read keys and codebook, check everything that can be checked alone, and draft the plan."""
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.learners.shown_questions import questions_to_show
    from dagora.parties.horizontal.learners.tasks import tasks_to_show
    from dagora.parties.horizontal.methods_over_sites import (
        basis_functions,
        check_columns,
        check_over_sites,
        check_release,
        check_weighing,
        lags_of,
        privacy_terms,
        window_lags,
    )
    from dagora.parties.horizontal.plan.drafting import draft_plan

    if planning.sites is not None:
        check_number("--sites", len(site_names(planning.sites)), planning.minimum)
    if request.method:
        request.check()
        check_over_sites(**request.settings)
    identity, consortium, listed, file = convene(
        planning.folder, planning.codebook, planning.sites, planning.minimum
    )
    schema = consortium.codebook.schema
    terms = privacy_terms(planning.privacy, schema, len(listed))
    request = request.with_method(schema, noisy=terms is not None)
    columns_per_table, cut_off = 0, ""
    if terms is None:
        request, columns_per_table, cut_off = limit_request(request, consortium, planning.table_columns)
    request.check()
    check_over_sites(**request.settings)
    check_columns(request.method, request.score, schema, request.settings)
    if consortium.codebook.largest_weight:
        check_weighing(request.method, request.settings, noisy=terms is not None)
    if terms is not None:
        lags = window_lags(request.method, request.settings)
        check_release(request.method, request.score, request.max_parents, terms, lags)
    lags = window_lags(request.method, request.settings)
    if lags and not consortium.step:
        raise OptionError(
            f"{file}: the codebook does not say how long a step of time is: add step = 1 (dates count in "
            "days), or draft it with `dagora federate policy init --time COLUMN`"
        )
    if lags:
        request.check_windows(schema.names, lags_of(request.method, request.settings))
    else:
        request.check_data(schema.names, schema)
    plan = draft_plan(
        consortium.codebook,
        listed,
        request.method,
        coordinator=identity.fingerprint(identity.certificate),
        settings=request.plan_settings(),
        shows=tasks_to_show(request.method, request.settings),
        shown_questions=questions_to_show(
            consortium.codebook, list(listed), request.method, request.settings
        ),
        functions=basis_functions(request.method, request.settings),
        lags=lags,
        step=consortium.step if lags else 0.0,
        columns_per_table=columns_per_table,
        cells_per_table=planning.table_cells or consortium.cells_per_table,
        largest_rows=consortium.largest_rows,
        privacy=terms,
    )
    return PreparedPlan(identity, plan, request, cut_off)


def convene(
    folder: str, codebook: str | None, sites: str | None, minimum: int
) -> tuple[CertifiedIdentity, Consortium, dict[str, str], Path]:
    """The coordinator's identity, the codebook, the sites with the certificates known, and its file."""
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME
    from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
    from dagora.parties.transport.certificates import Credentials

    with as_bad_input():
        credentials = Credentials.load(folder)
    if credentials.name != COORDINATOR:
        raise OptionError(f"{folder} is for '{credentials.name}': the coordinator needs its own certificate")
    file = Path(codebook) if codebook else Path(folder, CODEBOOK_NAME)
    consortium = read_consortium(file)
    listed = names_of_sites(sites, consortium)
    check_number("--sites", len(listed), minimum)
    known = {name: consortium.sites.get(name, "") for name in listed}
    return CertifiedIdentity(credentials), consortium, known, file


def learn_over_transport(transport: Transport, prepared: PreparedPlan, patience: float) -> None:
    """Offer the plan to the sites at the other end of a transport, learn, and write and print the result."""
    from dagora.api.learn import learn
    from dagora.parties.horizontal.methods_over_sites import statistics_over, told_of_ranks
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
    from dagora.parties.transport.ledger import add_traffic

    plan = with_certificates(prepared.plan, transport.fingerprints)
    request = replace(prepared.request)  # a copy with a new clock: --time-limit leaves out the wait for sites
    with (
        CoordinatorSession(transport, plan, prepared.identity, patience=patience) as session,
        request.progress() as on_event,
    ):
        # From here on, Ctrl-C returns the best graph found so far.
        echo("dagora: all sites are connected", err=True)
        session.agree()
        statistics = (
            statistics_over(session, request.method, request.settings)
            if plan.privacy is None
            else session.release()
        )
        result = learn(statistics, on_event=on_event, **request.settings)
        result = told_of_ranks(add_traffic(result, transport.ledger.books()), plan.codebook)
        result = replace(result, message="; ".join(filter(None, (result.message, prepared.cut_off))))
        request.present(result, statistics, f"{len(plan.sites)} sites")


def read_consortium(path: Path) -> Consortium:
    """Read the codebook, or say how to get one."""
    from dagora.base.errors import OptionError
    from dagora.parties.horizontal.policy.policy_file import read_codebook

    if not path.is_file():
        raise OptionError(
            f"{path}: there is no codebook: write one with `dagora federate policy init`, or name one with "
            "--codebook"
        )
    return read_codebook(path)


def names_of_sites(sites: str | None, consortium: Consortium) -> list[str]:
    """The sites that were named, or those of the codebook."""
    from dagora.base.errors import OptionError

    if sites is None and not consortium.sites:
        raise OptionError("the codebook names no sites: give --sites A,B,C")
    return site_names(sites if sites is not None else ",".join(consortium.sites))


def limit_request(
    request: LearnRequest, consortium: Consortium, table_columns: int | None
) -> tuple[LearnRequest, int, str]:
    """A request that asks for no larger tables than the plan allows, their columns, and what that cuts off.

    A search counts a variable with its parents, a test two variables with those that are given. Tables of all
    discrete columns cut nothing off: the result is that on pooled rows.
    """
    from dagora.learners.registry import method_named

    entry = method_named(request.method)
    by_tests = any(option.name == "max_given" for option in entry.options)
    given = request.settings.get("max_given") if by_tests else request.max_parents
    counted = 2 if by_tests else 1
    discrete = int((consortium.codebook.schema.cardinalities > 0).sum())
    if given is not None:
        return request, table_columns or given + counted, ""
    columns = min(table_columns or consortium.columns_per_table, max(discrete, 1))
    # A method that takes the federation asks each site for its own answer, and for no tables.
    if columns >= discrete or entry.takes == "federation":
        return request, columns, ""
    most = max(0, columns - counted)
    cut_off = (
        f"tables of {columns} columns, which the codebook allows, cut off what pooled rows have: sets of more"
    )
    if by_tests:
        request = replace(request, options=(*request.options, f"max_given={most}"))
        return request, columns, f"{cut_off} than {most} given variables (columns_per_table)"
    return replace(request, max_parents=most), columns, f"{cut_off} than {most} parents (columns_per_table)"


def with_certificates(plan: RunPlan, shown: Mapping[str, str]) -> RunPlan:
    """The plan with the certificates that the sites have shown, which must be those of the codebook."""
    from dagora.base.errors import OptionError, ProtocolError

    for name, known in plan.sites.items():
        if known and name in shown and shown[name] != known:
            raise ProtocolError(f"site '{name}' has another certificate than the codebook says", party=name)
        if not known and name not in shown:
            raise OptionError(f"the codebook does not say which certificate site '{name}' has")
    return replace(plan, sites={name: known or shown[name] for name, known in plan.sites.items()})
