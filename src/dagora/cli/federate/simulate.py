"""`dagora federate simulate`: all parties on this machine, on one table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dagora.base.events import ignore
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.cli import completing
from dagora.cli.data_options import Reading, TimeRequest, data_options, overview_first, time_options
from dagora.cli.federate.keys import MINIMUM, check_number
from dagora.cli.federate.processes import run_parties, site_files
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import learn_options_over_sites
from dagora.cli.learn_request import LearnRequest
from dagora.cli.party_options import IN_MEMORY, tidy_end
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.data.series import Timing


@click.command("simulate", cls=PagedCommand, short_help="Run all parties on this machine, on one table.")
@click.argument("data", shell_complete=completing.files)
@click.option("--parties", type=click.IntRange(2), required=True, metavar="K", help="Number of sites.")
@IN_MEMORY
@MINIMUM
@learn_options_over_sites
@time_options
@data_options
def simulate(
    *,
    data: str,
    parties: int,
    in_memory: bool,
    minimum: int,
    request: LearnRequest,
    in_time: TimeRequest,
    reading: Reading,
) -> None:
    """Split the rows of DATA among K sites and learn over them as separate processes on TLS connections.

    With --time, whole series are dealt out.

    The sites' policies allow everything, as in any trial. Ctrl-C or --time-limit returns the best graph found
    so far.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.api.learn_federated import learn_federated
    from dagora.data.partition import split_rows
    from dagora.learners.in_windows import LAGS
    from dagora.learners.registry import method_named
    from dagora.parties.horizontal.methods_over_sites import check_over_sites, check_weighing, timing_for
    from dagora.parties.horizontal.session.federation import codebook_of_sites, site_of
    from dagora.stats.accepting import statistics_of

    check_number("--parties", parties, minimum)
    timing = timing_for(request.method or None, in_time.time, in_time.series)
    if timing is not None:
        request = replace(request, method=request.method or "auto")
        if not method_named(request.method).in_time:
            in_time = replace(in_time, lags=in_time.lags or LAGS)
        wanted = request.in_time(in_time)
        return simulate_in_time(data, parties, minimum, wanted, reading, timing, in_memory=in_memory)
    if request.method:
        request.check()
        check_over_sites(**request.settings)
    request.check_overwriting(data)
    rows = request.read_any(unranked(reading), data, model=False, constants=True, trends=False)
    site, weights = site_of(data, rows), reading.given["weights"]
    table = site.table
    request = request.with_method(table.schema)
    request.check()
    check_over_sites(**request.settings)
    request.check_data(table.names, table.schema)
    codebook = codebook_of_sites([site], reading.options())
    if weights is not None:
        check_weighing(request.method, request.settings, noisy=False)
    split = split_rows(rows, parties, seed=request.seed)
    parts = {f"site{k + 1}": part for k, part in enumerate(split)}
    if in_memory:
        with request.progress(table, data) as on_event:
            result = learn_federated(
                parts, minimum=minimum, codebook=codebook, on_event=on_event, **request.settings
            )
        return request.present(result, statistics_of(rows), f"{parties} sites")
    with overview_first(table, data, ignore, brief=request.as_json), tidy_end(), site_files(parts) as files:
        found = run_parties(files, codebook, table.n_rows, minimum, request, weights=weights)
    return echo(found, nl=False)


def unranked(reading: Reading) -> Reading:
    """The reading of a site, which leaves ranks to the codebook."""
    return replace(reading, given={**reading.given, "ranks": ()})


def simulate_in_time(
    data: str,
    parties: int,
    minimum: int,
    request: LearnRequest,
    reading: Reading,
    timing: Timing,
    *,
    in_memory: bool,
) -> None:
    """The same for series, which are dealt out whole."""
    from dagora.api.learn_federated import learn_federated
    from dagora.base.errors import OptionError
    from dagora.data.partition import split_series
    from dagora.data.table import require_table
    from dagora.learners.source import in_series
    from dagora.parties.horizontal.methods_over_sites import check_over_sites, lags_of
    from dagora.parties.horizontal.session.federation import ANY_STEP, Site, codebook_of_sites
    from dagora.stats.accepting import statistics_of

    if reading.given["discretise"] is not None:
        raise OptionError("--discretise does not go with --time: leave it out")
    request.check()
    check_over_sites(**request.settings)
    request.check_overwriting(data)
    read = request.read_any(unranked(reading), data, model=False, constants=True, timing=timing)
    table = require_table(read)
    statistics = in_series(statistics_of(table, request.jobs), timing, request.jobs)
    request.check_windows(statistics.schema.names, lags_of(request.method, request.settings))
    codebook = codebook_of_sites([Site(data, require_table(statistics.panel.table))], reading.options())
    split = split_series(table, timing, parties, seed=request.seed)
    parts = {f"site{k + 1}": part for k, part in enumerate(split)}
    if in_memory:
        with request.progress(table, data) as on_event:
            result = learn_federated(
                parts,
                minimum=minimum,
                codebook=codebook,
                on_event=on_event,
                time=timing.time,
                series=timing.series,
                **request.settings,
            )
        return request.present(result, statistics, f"{parties} sites")
    with overview_first(table, data, ignore, brief=request.as_json), tidy_end(), site_files(parts) as files:
        step = statistics.panel.step or ANY_STEP
        found = run_parties(files, codebook, table.n_rows, minimum, request, timing, step)
    return echo(found, nl=False)
