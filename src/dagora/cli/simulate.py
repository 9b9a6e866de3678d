"""`dagora simulate`: simulate a table whose network is known."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.base.errors import OptionError
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option

if TYPE_CHECKING:
    from dagora.data.table import Table
    from dagora.graph.dag import DAG

EXAMPLES = """\b
Examples:
  dagora simulate --nodes 20 --degree 2 --sem gaussian --rows 1000 -o data.csv --truth t.json
  dagora simulate --nodes 10 --degree 1 --sem var --lags 2 --rows 500 -o series.csv --truth t.json
  dagora simulate --sem bif:alarm.bif.gz --rows 10000 --seed 1 -o alarm.csv --truth alarm.json

--sem is one of gaussian, exponential, gumbel, logistic, poisson, mlp, fourier, mixed, or bif:FILE for a
network file (.bif or .json) that brings its own graph; or var, which makes series: the random graph is that
within a step, edges from earlier steps are added, and --rows are those of each series.
"""


@click.command("simulate", cls=PagedCommand, short_help="Simulate a table.", epilog=EXAMPLES)
@click.option(
    "--graph",
    "kind",
    type=click.Choice(["er", "sf"]),
    help="Random graph: Erdős–Rényi or scale-free.  [default: er]",
)
@click.option("--nodes", type=click.IntRange(1), help="Number of variables.")
@click.option("--degree", type=click.FloatRange(0), help="Expected edges per node.")
@click.option(
    "--sem", required=True, metavar="MODEL", help="Model: how a column depends on its parents (see below)."
)
@click.option("--rows", type=click.IntRange(1), required=True, help="Number of rows.")
@click.option(
    "--noise-scale", type=float, default=1.0, show_default=True, help="Scale of the additive noise."
)
@click.option("--nonlinearity", type=float, help="λ of the Fourier model; 0 is linear.")
@click.option(
    "--published",
    is_flag=True,
    help="Fourier model as in the published code of its paper, not as in its text.",
)
@click.option(
    "--missing",
    metavar="HOW:SHARE",
    help="Make values missing: mcar:0.2 (completely at random), mar:0.2 (by observed values) or "
    "mnar:0.2 (by the values that go missing).",
)
@click.option(
    "--relations",
    type=click.Choice(["clg", "shift", "both", "curved"]),
    help="How columns depend on each other in the mixed model.  [default: both]",
)
@click.option("--lags", type=click.IntRange(1), help="Steps back in the model var.  [default: 1]")
@click.option("--series", type=click.IntRange(1), help="Number of series of the model var.  [default: 1]")
@click.option(
    "--lagged-degree",
    type=click.FloatRange(0),
    help="Expected parents of a variable at each lag in the model var.  [default: 1]",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random numbers.")
@click.option(
    "-o", "--output", required=True, metavar="DATA", help="File for the table: .csv .tsv .parquet .feather"
)
@click.option(
    "--truth", metavar="GRAPH", help="File for the true graph: .json .dot .csv … (.bif with --sem bif:FILE)"
)
@quiet_option()
def command(
    *,
    kind: str | None,
    nodes: int | None,
    degree: float | None,
    sem: str,
    rows: int,
    noise_scale: float,
    nonlinearity: float | None,
    published: bool,
    missing: str | None,
    relations: str | None,
    lags: int | None,
    series: int | None,
    lagged_degree: float | None,
    seed: int,
    output: str,
    truth: str | None,
) -> None:
    """Simulate a table from a random graph or from a known network."""
    from dagora.cli.outputs import check_target
    from dagora.cli.writing import Files
    from dagora.data.readers import WRITTEN, file_format
    from dagora.data.simulate_missing import parse_holes, punch_holes
    from dagora.data.writers import write_table
    from dagora.formats.registry import find_format, read_network, write_graph, write_network
    from dagora.network.networks import DiscreteNetwork
    from dagora.network.sample import sample_network

    file_format(output, WRITTEN)
    check_target(output)
    if missing is not None:
        parse_holes(missing)
    if truth:
        find_format(truth)
        check_target(truth)
        if Path(truth).resolve() == Path(output).resolve():
            raise OptionError(f"--truth and -o name the same file, {output}: they need two")
    in_time = {"lags": lags, "series": series, "lagged_degree": lagged_degree}
    if sem != "var" and (said := [name for name, value in in_time.items() if value is not None]):
        raise OptionError(f"--{said[0].replace('_', '-')} goes with --sem var, which makes series")
    if sem == "bif:":
        raise OptionError("--sem bif:FILE needs the name of a network file")
    if sem.startswith("bif:"):
        for value, flag in (
            (kind, "--graph"),
            (nodes, "--nodes"),
            (degree, "--degree"),
            (nonlinearity, "--nonlinearity"),
            (published or None, "--published"),
            (relations, "--relations"),
        ):
            if value is not None:
                raise OptionError(f"{flag} does not go with --sem bif:FILE, which brings its own graph")
        network = read_network(sem.removeprefix("bif:"))
        if truth and find_format(truth).needs_tables and not isinstance(network, DiscreteNetwork):
            raise OptionError(
                f"{truth}: {find_format(truth).name} holds discrete networks only; write others as .json"
            )
        graph, table = network.graph, sample_network(network, rows, seed)
    elif sem == "var":
        for value, flag in (
            (nonlinearity, "--nonlinearity"),
            (published or None, "--published"),
            (relations, "--relations"),
            (missing, "--missing"),
        ):
            if value is not None:
                raise OptionError(f"{flag} does not go with --sem var")
        network = None
        graph, table = series_from_random_graph(
            kind or "er",
            nodes,
            degree,
            rows,
            seed,
            noise_scale,
            {name: value for name, value in in_time.items() if value is not None},
        )
    else:
        network = None
        if truth and find_format(truth).needs_tables:
            raise OptionError(
                f"{truth}: a random graph has no tables for {find_format(truth).name}; write the truth as "
                ".json"
            )
        graph, table = from_random_graph(
            kind or "er",
            nodes,
            degree,
            sem,
            rows,
            seed,
            noise_scale,
            nonlinearity,
            published=published,
            relations=relations,
        )
    files = Files()
    if network is not None and truth and find_format(truth).needs_tables:
        files.write(truth, partial(write_network, network))
    else:
        files.write(truth, partial(write_graph, graph))
    written = table if missing is None else punch_holes(table, missing, seed)
    files.write(output, partial(write_table, written))
    files.end()


def series_from_random_graph(
    kind: str,
    nodes: int | None,
    degree: float | None,
    rows: int,
    seed: int,
    noise_scale: float,
    in_time: dict[str, Any],
) -> tuple[DAG, Table]:
    """Draw a graph within a step, edges from earlier steps, and series from them."""
    from dagora.graph.cpdag import require_dag
    from dagora.graph.random_graphs import random_dag
    from dagora.network.autoregression import simulate_series

    if nodes is None or degree is None:
        raise OptionError("a random graph needs --nodes and --degree")
    graph = random_dag(kind, nodes, degree, seed)
    simulation = simulate_series(graph, rows, seed, noise_scale=noise_scale, **in_time)
    return require_dag(simulation.graph.window), simulation.table


def from_random_graph(
    kind: str,
    nodes: int | None,
    degree: float | None,
    sem: str,
    rows: int,
    seed: int,
    noise_scale: float,
    nonlinearity: float | None,
    *,
    published: bool,
    relations: str | None,
) -> tuple[DAG, Table]:
    """Draw a graph and a table from it."""
    from dagora.base.options import find
    from dagora.graph.random_graphs import random_dag
    from dagora.network.simulate import SEMS, simulate

    find("model", sem, {name: name for name in (*SEMS, "var", "bif:FILE")})
    if nodes is None or degree is None:
        raise OptionError("a random graph needs --nodes and --degree")
    graph = random_dag(kind, nodes, degree, seed)
    simulation = simulate(
        graph,
        sem,
        rows,
        seed,
        noise_scale=noise_scale,
        nonlinearity=nonlinearity,
        published=published,
        relations=relations,
    )
    return graph, simulation.table
