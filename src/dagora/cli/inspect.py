"""`dagora inspect`: show how a table is understood, without learning anything."""

from __future__ import annotations

import click

from dagora.cli import completing
from dagora.cli.data_options import Reading, data_options_with_model, show_overview
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora inspect patients.csv
  dagora inspect patients.csv --na "NA,?" --missing drop --discrete ward
  dagora inspect patients.csv --json
"""


@click.command("inspect", cls=PagedCommand, short_help="Show how a table is understood.", epilog=EXAMPLES)
@click.argument("data", shell_complete=completing.files)
@click.option("--json", "as_json", is_flag=True, help="Print the overview as one JSON object.")
@quiet_option("Show no progress.")
@data_options_with_model
def command(*, data: str, as_json: bool, reading: Reading) -> None:
    """Show the type of every column of DATA and why, its levels or range, its missing values, and warnings.

    The same options as for `dagora learn` say how to read the table. Missing values are counted, not refused.
    """
    from dataclasses import replace
    from pathlib import Path

    from dagora.base.files import json_text
    from dagora.data.columns.reading_options import always
    from dagora.data.readers import look_at_file

    options = reading.options(constants=False, why_not_model=always)
    if reading.scans(data):
        # Rows with missing values are dropped, so that such cells are counted and not refused.
        overview = replace(reading, given={**reading.given, "missing": "drop"}).open_scan(data, 1).overview
    elif reading.sample is not None:
        table = reading.draw_sample(data, 0, options)
        assert table.overview is not None
        overview = table.overview
    else:
        overview = look_at_file(Path(data), options)
    if as_json:
        echo(json_text({**overview.to_dict(), "warnings": list(overview.warnings)}))
    else:
        show_overview(overview, data, everything=True, err=False)
