"""`dagora federate simulate`: all parties on this machine, on one table."""

from __future__ import annotations

import click

from dagora.commands.data_options import Reading, data_options, overview_first
from dagora.commands.federate.keys import MINIMUM, check_number
from dagora.commands.federate.processes import run_parties, site_files
from dagora.commands.learn_options import LearnRequest, learn_options_over_sites
from dagora.commands.party_options import IN_MEMORY, tidy_end
from dagora.events import ignore
from dagora.extras import CRYPTOGRAPHY_FOR_SITES


@click.command("simulate", short_help="Run all parties on this machine, on one table.")
@click.argument("data")
@click.option("--parties", type=click.IntRange(2), required=True, metavar="K", help="Number of sites.")
@IN_MEMORY
@MINIMUM
@learn_options_over_sites
@data_options
def simulate(
    *, data: str, parties: int, in_memory: bool, minimum: int, request: LearnRequest, reading: Reading
) -> None:
    """Split the rows of DATA among K sites and learn over them as separate processes on TLS connections.

    The sites' policies allow everything, as in any trial. Ctrl-C or --time-limit returns the best graph found
    so far.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.data.partition import split_rows
    from dagora.federated import check_over_sites, learn_federated
    from dagora.parties.horizontal.plan.drafted_codebook import codebook_of
    from dagora.stats.table import TableStatistics

    check_number("--parties", parties, minimum)
    if request.method:
        request.check()
        check_over_sites(**request.settings)
    request.check_overwriting(data)
    table = request.read(reading, data, constants=True)
    request = request.settled(table.schema)
    request.check()
    check_over_sites(**request.settings)
    request.check_data(table.names, table.schema)
    codebook = codebook_of({data: table})
    parts = {f"site{k + 1}": part for k, part in enumerate(split_rows(table, parties, seed=request.seed))}
    if in_memory:
        with request.progress(table, data) as on_event:
            result = learn_federated(
                parts, minimum=minimum, codebook=codebook, on_event=on_event, **request.settings
            )
        request.present(result, TableStatistics(table), f"{parties} sites")
        return
    with (
        overview_first(table, data, ignore, brief=request.as_json),
        tidy_end(),
        site_files(parts) as files,
    ):
        found = run_parties(files, codebook, table.n_rows, minimum, request)
    click.echo(found, nl=False)
