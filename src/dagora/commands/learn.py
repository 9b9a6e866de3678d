"""`dagora learn`: a network from a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from dagora.commands.data_options import Reading, data_options

if TYPE_CHECKING:
    from dagora.graph.cpdag import Graph
    from dagora.result import Result
    from dagora.scores.candidates import Candidates

EXAMPLES = """\b
Examples:
  dagora learn patients.csv
  dagora learn patients.csv --score bdeu --option ess=10 -o network.bif --picture network.svg
  dagora learn sensors.parquet --method tabu --max-parents 4 --time-limit 60 --json
  dagora learn patients.csv --method order-search --jobs 2
  dagora learn survey.csv --missing drop --knowledge known.json --truth truth.bif
"""


@click.command("learn", short_help="Learn a network from a table.", epilog=EXAMPLES)
@click.argument("data")
@click.option("-m", "--method", default="hill-climb", show_default=True, help="See `dagora methods`.")
@click.option("-s", "--score", help="Score to maximise; without it, the BIC that fits the columns.")
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the method or score."
)
@click.option("--max-parents", type=click.IntRange(0), help="No node gets more parents than this.")
@click.option("--knowledge", metavar="K.json", help="Required and forbidden edges, tiers, max_parents.")
@click.option("--truth", metavar="GRAPH", help="Compare the result with this graph.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--time-limit", type=float, metavar="SECONDS", help="Return the best graph found by then.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Threads or processes.")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the graph: .json .bif .dot .graphml .csv .dagitty"
)
@click.option("--picture", metavar="FILE.svg", help="Draw the graph (coloured against --truth).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="No progress and no warnings.")
@data_options
def command(
    *,
    data: str,
    method: str,
    score: str | None,
    options: tuple[str, ...],
    max_parents: int | None,
    knowledge: str | None,
    truth: str | None,
    seed: int,
    time_limit: float | None,
    jobs: int,
    output: str | None,
    picture: str | None,
    as_json: bool,
    quiet: bool,
    reading: Reading,
) -> None:
    """Learn a network from DATA (.csv .tsv .parquet .feather, text also .gz; or scores in .jkl).

    Text, booleans and integers with at most 20 distinct values are discrete, other numbers continuous.
    Ctrl-C or --time-limit returns the best graph found so far.
    """
    from dagora.commands.outputs import check_output, check_picture, show_result, write_picture, write_result
    from dagora.commands.progress import progress
    from dagora.events import Budget
    from dagora.formats.registry import find_format, read_graph
    from dagora.graph.metrics import compare
    from dagora.learning import check_circumstances, learn
    from dagora.methods import method_named

    values = parse_options(method, score, options)
    budget = Budget(check_circumstances(seed, time_limit, jobs))
    if output:
        find_format(output)
    if picture:
        check_picture(picture)
    known_truth = read_graph(truth) if truth else None
    table = None if is_jkl(data) else reading.table(data)
    source = table or read_scores(data, reading)
    if output:
        check_output(output, table)
    if known_truth is not None:
        check_truth(truth or "", known_truth, source.names)
    with progress(budget, quiet=quiet) as on_event:
        result = learn(
            source,
            method_named(method).name,
            score=score,
            knowledge=knowledge,
            max_parents=max_parents,
            seed=seed,
            time_limit=time_limit,
            jobs=jobs,
            on_event=on_event,
            budget=budget,
            **values,
        )
    if not quiet:
        for warning in result.warnings:
            click.echo(f"dagora: warning: {warning}", err=True)
    if result.status == "failed":
        give_up(result, as_json=as_json)
    comparison = None if known_truth is None else compare(result.graph, known_truth)
    if output:
        write_result(result, table, output)
    if picture:
        write_picture(result.graph, picture, truth=known_truth, title=caption(result))
    if as_json:
        content = result.to_dict()
        if comparison is not None:
            content["comparison"] = comparison.to_dict()
        click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
    else:
        show_result(result, comparison, [path for path in (output, picture) if path])


def give_up(result: Result, *, as_json: bool) -> None:
    """Say that there is no graph, write none, and exit with code 1."""
    if as_json:
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False))
    click.echo(f"dagora: {result.method} failed: {result.message}", err=True)
    raise click.exceptions.Exit(1)


def parse_options(method: str | None, score: str | None, written: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE pairs by the types that the method (if any) and the score declare."""
    from dagora.errors import OptionError
    from dagora.formats.registry import read_graph
    from dagora.methods import method_named
    from dagora.scores.registry import SCORES, score_named

    entries = [score_named(score)] if score else list(SCORES)
    known = {option.name: option for entry in entries for option in entry.options}
    if method is not None:
        known.update({option.name: option for option in method_named(method).options})
    values: dict[str, Any] = {}
    for pair in written:
        name, sign, text = pair.partition("=")
        if not sign or not name:
            raise OptionError(f"--option takes NAME=VALUE, not '{pair}'")
        if name in values:
            raise OptionError(f"--option gives '{name}' twice")
        option = known.get(name)
        if option is None:
            listed = ", ".join(known) or "none"
            owner = f"the method {method} or its score" if method else "the score"
            raise OptionError(f"there is no option '{name}' for {owner} (known: {listed})")
        value = option.parse(text)
        values[name] = (
            read_graph(text) if option.type == "graph" and value is not None else option.check(value)
        )
    return values


def is_jkl(path: str) -> bool:
    """Whether a file holds scores instead of rows."""
    return path.lower().removesuffix(".gz").endswith(".jkl")


def read_scores(path: str, reading: Reading) -> Candidates:
    """Read candidates; options about columns have no meaning for them."""
    from dagora.errors import OptionError
    from dagora.scores.jkl import read_jkl

    if reading != Reading():
        raise OptionError(f"{path} holds scores and no rows: leave out the options about reading columns")
    return read_jkl(path)


def check_truth(path: str, truth: Graph, names: tuple[str, ...]) -> None:
    """Refuse a truth about other variables, before any work is done."""
    from dagora.errors import GraphError

    for some, others, where in (
        (truth.nodes, names, "a node of the truth but not a column"),
        (names, truth.nodes, "a column but not a node of it"),
    ):
        for name in some:
            if name not in others:
                raise GraphError(f"{path}: '{name}' is {where}: truth and data must have the same variables")


def caption(result: Result) -> str:
    """Title of the picture."""
    score = "" if result.score is None else f", {result.score_name or 'score'} {result.score:.2f}"
    return f"{result.method}{score}"
