"""Write and print a learned graph and comparisons with a truth."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagora.base.errors import FormatError
from dagora.base.files import report_failure, write_whole
from dagora.base.wording import render
from dagora.cli.terminal import echo
from dagora.network.table_prior import ONE_ROW, PseudoCount

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dagora.api.fitted_parameters import Fitted
    from dagora.base.budget import Budget
    from dagora.data.schema import Schema
    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import CPDAG
    from dagora.graph.dag import Edge
    from dagora.graph.metrics import Comparison
    from dagora.graph.pag_metrics import PAGComparison
    from dagora.learners.outcome import RankedClass
    from dagora.learners.result import Result
    from dagora.posterior.resample.strengths import Strengths
    from dagora.stats.statistics import Statistics

LEAST_SECONDS = 2.0
"""For writing files, also where time is up."""

MOST_UNSURE = 5
"""Directions that rest on weak evidence which are printed."""


def check_target(path: str) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    target = Path(path)
    if target.is_dir():
        raise FormatError(f"cannot write {path}: it is a folder; name a file in it")
    if target.exists() and not target.is_file():
        return  # a pipe or a device
    if not target.parent.is_dir():
        raise FormatError(f"cannot write {path}: there is no folder '{target.parent}'")
    if not os.access(target.parent, os.W_OK):
        raise FormatError(f"cannot write {path}: the folder '{target.parent}' may not be written to")
    if not target.exists():
        folder = Path(os.path.realpath(path)).parent
        with report_failure(path, FormatError), tempfile.TemporaryFile(dir=folder):
            pass  # a file without a name, which is gone again


def check_overwriting(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Refuse an output that is also an input, or two outputs that are one file."""
    read = {Path(path).resolve() for path in inputs if path}
    taken: set[Path] = set()
    for path in filter(None, outputs):
        place = Path(path).resolve()
        if not place.exists() or place.is_file():
            if place in read:
                raise FormatError(f"{path} is read and would be overwritten: write to another file")
            if place in taken:
                raise FormatError(f"{path} is to be written twice: choose two names")
            taken.add(place)


def check_picture(path: str) -> None:
    """Refuse a picture file that cannot be written, before any work is done."""
    if Path(path).suffix.lower() != ".svg":
        raise FormatError(f"{path}: pictures are written as .svg")
    check_target(path)


def check_report(path: str) -> None:
    """Refuse a report that cannot be written, before any work is done."""
    if Path(path).suffix.lower() not in {".html", ".htm"}:
        raise FormatError(f"{path}: reports are written as .html")
    check_target(path)


def check_output(path: str, names: Sequence[str], schema: Schema | None, *, pag: bool = False) -> None:
    """Refuse a file that cannot be written, or whose format cannot hold these names or kinds of columns."""
    from dagora.base.files import encode_text, naming
    from dagora.data.schema import Kind
    from dagora.formats.registry import find_format, render_pag
    from dagora.graph.ancestral.pag import PAG
    from dagora.graph.dag import DAG

    known = find_format(path)
    if known.needs_tables:
        if schema is None:
            raise FormatError(
                f"{path}: {known.name} needs parameters, which cannot be fitted without rows; "
                "write another format"
            )
        if Kind.CONTINUOUS in schema.kinds:
            raise FormatError(
                f"{path}: {known.name} holds networks of discrete columns only; write this one as .json"
            )
    else:
        with naming(path):
            text = render_pag(known, PAG(names)) if pag else known.render_graph(DAG(names))
        encode_text(path, text)
    check_target(path)


def write_picture(
    graph: AnyGraph,
    path: str,
    *,
    truth: AnyGraph | None = None,
    weights: NDArray[np.float64] | None = None,
    title: str | None = None,
    shown: Collection[Edge] = (),
) -> None:
    """Draw a graph with its weights; colours show which edges are right, or directed by interventions."""
    from dagora.graph.drawing import draw_svg

    check_picture(path)
    write_whole(path, draw_svg(graph, truth=truth, weights=weights, title=title, shown=shown))


def write_result(
    result: Result,
    statistics: Statistics | None,
    path: str,
    more: Mapping[str, Any] | None = None,
    pseudocount: PseudoCount = ONE_ROW,
    fitted: Callable[[], Fitted] | None = None,
) -> list[str]:
    """Write the graph, with parameters where the format holds them; return what should be said about it.

    JSON also holds `more`, and the parameters that `fitted` returns.
    """
    from dagora.api.fit import fit
    from dagora.api.fitted_parameters import fit_parameters
    from dagora.formats.json_format import render_result
    from dagora.formats.registry import describe_arrows, find_format, left_out, write_graph, write_network
    from dagora.graph.dag import DAG

    known = find_format(path)
    if known.name == "JSON":
        network, mentioned = fitted() if fitted else fit_parameters(result, statistics, pseudocount)
        reason = None if mentioned is None else render(mentioned)
        write_whole(path, render_result({**result.to_dict(), **(more or {})}, network, reason))
        return [] if reason is None else [f"{path} has no parameters: {reason}"]
    if known.needs_tables and isinstance(result.graph, DAG) and statistics is not None:
        network = fit(result, statistics, pseudocount=pseudocount, name="learned")
        write_network(network, path)
        return left_out(network, path)
    write_graph(result.graph, path)
    return describe_arrows(path, result.open_edges) if isinstance(result.graph, DAG) else []


def write_result_report(
    result: Result,
    path: str,
    *,
    statistics: Statistics | None,
    truth: AnyGraph | None,
    source: str | None,
    strengths: Strengths | None = None,
    fitted: Callable[[], Fitted] | None = None,
    budget: Budget | None = None,
) -> None:
    """Write a page about a result, with fitted parameters if there are rows and the tables are small.

    What would take longer than the `budget` allows is left out. `fitted` returns the parameters.
    """
    from dagora.api.fitted_parameters import fit_parameters, fitted_processes, own_table
    from dagora.report import write_report

    hurried = budget is not None and budget.left < LEAST_SECONDS
    curves = None if hurried else fitted_processes(result, statistics)
    network = curves or (fitted() if fitted else fit_parameters(result, statistics, budget=budget))[0]
    write_report(
        result,
        path,
        seconds=None if budget is None else budget.left,
        truth=truth,
        network=network,
        source=source,
        strengths=strengths,
        table=own_table(statistics),
    )


def show_result(
    result: Result, comparison: Comparison | PAGComparison | None, written: Sequence[str]
) -> None:
    """Print a result for people."""
    from dagora.base.phrases import amount
    from dagora.graph.ancestral.pag import PAG, SHOWN
    from dagora.graph.any_graph import number_of_edges
    from dagora.scores.estimation import describe_errors
    from dagora.scores.prior_words import parameter_prior

    graph = result.graph
    edges = number_of_edges(graph)
    in_time = result.lagged_graph
    if in_time is None:
        variables, steps = window_size(graph.nodes)
        window = f" at {steps} steps" if steps > 1 else ""
        echo(f"{result.method}: {amount(edges, 'edge')} among {amount(variables, 'variable')}{window}")
    else:
        lagged = len(in_time.lagged)
        echo(
            f"{result.method}: {amount(edges - lagged, 'edge')} within a step and {lagged} from earlier "
            f"steps, among {amount(len(in_time.variables), 'variable')}"
        )
    if result.score is not None:
        echo(f"{result.score_name or 'score'}: {result.score:.4f}")
    echo(f"{result.status}: {result.message} ({result.seconds:.2f} s)")
    if assumed := parameter_prior(result.score_name, result.settings):
        echo(f"prior of parameters: {assumed}")
    if "varsortability" in result.stats or "sort_and_regress_objective" in result.stats:
        echo(describe_scale(result.stats))
    if "score_error_median" in result.stats:
        echo(describe_errors(result.stats))
    echo("")
    if isinstance(graph, PAG):
        for one, sign, other in graph.marked_edges:
            echo(f"  {one} {SHOWN[sign]} {other}")
    else:
        show_edges(result)
    show_classes(result.classes)
    if comparison is not None:
        echo("")
        show_comparison(comparison)
    for path in written:
        echo(f"written: {path}", err=True)


def window_size(nodes: Sequence[str]) -> tuple[int, int]:
    """The number of variables, and of steps of time, that nodes are; one step where none is an earlier one.

    >>> window_size(["x", "y"]), window_size(["x", "y", "x[t-1]", "y[t-1]"])
    ((2, 1), (2, 2))
    """
    from dagora.graph.lagged_graph import split_name

    lags = max((split_name(node)[1] for node in nodes), default=0)
    return len({split_name(node)[0] for node in nodes}) if lags else len(nodes), lags + 1


def show_edges(result: Result) -> None:
    """Print the edges, an arrow only where the direction is determined, and what the directions rest on."""
    from dagora.graph.lagged_graph import split_name

    graph = result.shown_graph
    for tail, head in graph.edges:
        echo(f"  {tail} → {head}")
    for tail, head in graph.undirected:
        late = [end for end in (tail, head) if split_name(end)[1]]  # time directs these
        echo(f"  {late[0]} → {head if late[0] == tail else tail} (weak)" if late else f"  {tail} — {head}")
    if words := result.describe_directions():
        echo(f"\n{words}")
    unsure = result.unsure_directions()
    for line in unsure[:MOST_UNSURE]:
        echo(f"  {line}")
    if len(unsure) > MOST_UNSURE:
        echo(f"  … {len(unsure) - MOST_UNSURE} more that rest on weak evidence")


def show_classes(classes: Sequence[RankedClass]) -> None:
    """Print the best classes: score, odds against the best, number of DAGs, and how their edges differ."""
    from math import exp

    from dagora.base.phrases import amount

    if not classes:
        return
    best = classes[0]
    echo(
        "\nbest classes (odds of one of their DAGs against one of the best, all DAGs equally probable "
        "before):"
    )
    for place, one in enumerate(classes, start=1):
        dags = "" if one.dags is None else f", {amount(one.dags, 'DAG')}"
        odds = exp(min(0.0, one.score - best.score))
        echo(f"  {place}: {one.score:.4f}, odds {odds:.3g}{dags}{differences(best.graph, one.graph)}")


def differences(best: CPDAG, other: CPDAG) -> str:
    """The edges of a class that the best one has not, or otherwise, and those that it lacks."""
    from dagora.base.phrases import some_of

    before, after = edge_texts(best), edge_texts(other)
    added = [text for pair, text in after.items() if before.get(pair) != text]
    gone = [text for pair, text in before.items() if pair not in after]
    parts = [*(f"+ {text}" for text in added), *(f"- {text}" for text in gone)]
    return f": {some_of(parts, MOST_UNSURE)}" if parts else ""


def edge_texts(graph: CPDAG) -> dict[frozenset[str], str]:
    """Each edge as text, by its pair of nodes."""
    found = {frozenset(edge): f"{edge[0]} → {edge[1]}" for edge in graph.edges}
    return found | {frozenset(edge): f"{edge[0]} — {edge[1]}" for edge in graph.undirected}


def describe_scale(stats: Mapping[str, float]) -> str:
    """Describe how far sorting the columns by variance or R² alone finds the graph.

    >>> describe_scale({"varsortability": 0.5, "r2_sortability": 0.25})
    'sortability: 50% by variance, 25% by R²'
    """
    parts = []
    if "varsortability" in stats:
        parts.append(
            f"sortability: {stats['varsortability']:.0%} by variance, {stats['r2_sortability']:.0%} by R²"
        )
    if "sort_and_regress_objective" in stats:
        parts.append(
            f"sorting by variance alone: objective {stats['sort_and_regress_objective']:.4f} "
            f"against {stats['objective']:.4f}, other edges at {stats['sort_and_regress_distance']:.0f} pairs"
        )
    return "; ".join(parts)


def show_comparison(comparison: Comparison | PAGComparison) -> None:
    """Print a comparison as a small table."""
    from dagora.graph.pag_metrics import PAGComparison

    echo(f"{'':10}{'SHD':>6}{'TPR':>8}{'FDR':>8}{'FPR':>8}{'F1':>8}")
    for label, row in comparison.rows():
        echo(f"{label:10}{row.shd:6d}{row.tpr:8.3f}{row.fdr:8.3f}{row.fpr:8.3f}{row.f1:8.3f}")
    if isinstance(comparison, PAGComparison):
        echo(comparison.marks.describe())
