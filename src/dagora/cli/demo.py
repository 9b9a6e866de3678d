"""`dagora demo`: simulate data from a known network, learn it back, compare."""

from __future__ import annotations

from pathlib import Path

import click

from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples:
  dagora demo
  dagora demo --rows 1000 --seed 3 -o few
  dagora demo --data patients.csv
"""


@click.command("demo", cls=PagedCommand, short_help="Learn a known network and compare.", epilog=EXAMPLES)
@click.option(
    "-o", "--output", default="demo", show_default=True, metavar="FOLDER", help="Folder for the files."
)
@click.option("--rows", type=click.IntRange(2), default=20_000, show_default=True, help="Rows to simulate.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random numbers.")
@click.option(
    "--data", metavar="FILE", help="Write a small made-up table of patients to try things on, and end."
)
@quiet_option()
def command(*, output: str, rows: int, seed: int, data: str | None) -> None:
    """Simulate data from a known network, learn it back, compare with the truth, and draw the difference."""
    if data is not None:
        write_example(data)
        return
    from dagora.api.learn import learn
    from dagora.base.errors import OptionError
    from dagora.cli.outputs import show_comparison, write_picture, write_result, write_result_report
    from dagora.cli.writing import Files
    from dagora.data.writers import write_table
    from dagora.formats.registry import write_network
    from dagora.graph.metrics import compare
    from dagora.network.greenhouse import greenhouse
    from dagora.network.sample import sample_network
    from dagora.stats.table import TableStatistics

    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the folder {output}: {error.strerror}") from None
    network = greenhouse()
    table = sample_network(network, rows, seed)
    statistics = TableStatistics(table)
    echo(f"{rows} rows simulated from the network '{network.name}': {len(network.graph)} variables, "
               f"{len(network.graph.edges)} edges")  # fmt: skip
    result = learn(statistics, "tabu", score="bic", seed=seed)
    comparison = compare(result.plain_graph, network.graph)
    echo(f"learned by tabu search on BIC in {result.seconds:.2f} s: {len(result.graph.edges)} edges, "
               f"BIC {result.score:.1f}\n")  # fmt: skip
    show_comparison(comparison)
    echo("\nData alone cannot tell the direction of some edges: CPDAG compares only what they can tell.\n")
    names = ("data.csv", "truth.bif", "network.bif", "result.json", "network.svg", "report.html")
    rows_file, truth, bif, json, picture, report = (str(folder / name) for name in names)
    title = f"{network.name}: learned and true"
    files = Files()
    files.write(rows_file, lambda path: write_table(table, path))
    files.write(truth, lambda path: write_network(network, path))
    files.write(bif, lambda path: write_result(result, statistics, path))
    files.write(json, lambda path: write_result(result, statistics, path))
    files.write(picture, lambda path: write_picture(result.graph, path, truth=network.graph, title=title))
    files.write(
        report,
        lambda path: write_result_report(
            result, path, statistics=statistics, truth=network.graph, source="data.csv"
        ),
    )
    files.end()
    echo(f"report:   {report}   (open it in a browser)")
    echo(f"picture:  {picture}")
    echo(f"network:  {bif}   with its probabilities")
    echo(f"next:     dagora learn {rows_file} --truth {truth} --method hill-climb")


def write_example(path: str) -> None:
    """Write the table of patients."""
    from dagora.api.example import example
    from dagora.cli.outputs import check_target
    from dagora.data.writers import write_table

    check_target(path)
    table = example()
    write_table(table, path)
    echo(f"{path}: {table.n_rows} patients; next: dagora learn {path} --report network.html")
