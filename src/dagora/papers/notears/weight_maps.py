"""Figures 1 and 2: the weights that algorithm 1 finds before its threshold, as maps beside the true ones.

One graph of 20 nodes, ER2 (figure 1) or SF4 (figure 2), with n = 1000 and n = 20 rows, Gaussian noise: W,
then W_ECP with λ = 0 and λ = 0.1 (`notears published=true`), and what GES finds, as 0 and 1, in the place
of the paper's B_FGS (an undirected edge is drawn both ways). Section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dagora.api.learn import learn
from dagora.base.errors import DagoraError
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.notears.contenders import ALGORITHM_1, GES_PENALTY, simulate_cell
from dagora.papers.reports import Report, paragraphs
from dagora.papers.svg_figure import svg_figure
from dagora.papers.tables import Entry, ResultTable, group

# Figures 1 and 2; the positive λ is the default of the authors' package.
NODES, ROWS, PENALTIES = 20, (1000, 20), (0.0, 0.1)
GES = f"GES, {GES_PENALTY:g} × BIC's penalty"

NOTES = paragraphs("""
One random graph, as in the paper, and not the paper's own, which is not published: no value can be
compared, only what the maps show. W: the true weights, ±[0.5, 2]. W_ECP(λ): what Algorithm 1 (published)
finds before its threshold. Error is ‖W_ECP − W‖ in the Frobenius norm, beside that of no weights at all,
‖W‖.

The paper's B_FGS has no weights: here it is GES with 4 × BIC's penalty, drawn as 0 and 1.
""")
SIDE = 2.0  # inches


def fig1(size: Size) -> Experiment:
    """Make the experiment on an ER2 graph."""
    return weight_maps("fig1", "ER2", size)


def fig2(size: Size) -> Experiment:
    """Make the experiment on an SF4 graph."""
    return weight_maps("fig2", "SF4", size)


def weight_maps(name: str, graph: str, size: Size) -> Experiment:
    """Make the experiment of one figure; both sizes are the same."""
    table: Parameters = {"graph": graph, "d": NODES, "noise": "gaussian", "seed": size.seed}
    lines: list[Parameters] = [{"method": "notears", "lambda1": lambda1} for lambda1 in PENALTIES]
    cells = [{**table, "n": n, **line} for n in ROWS for line in [*lines, {"method": "ges"}]]
    return Experiment(f"notears/{name}", tuple(cells), measure, partial(report, name))


def measure(parameters: Parameters, run: Run) -> Numbers:
    """The true matrix and what one method finds."""
    simulation = simulate_cell(parameters)
    if simulation.weights is None:
        raise DagoraError("a linear model has weights")
    if parameters["method"] == "ges":
        graph = learn(
            simulation.table, "ges", score="bic-gaussian", penalty=GES_PENALTY, budget=run.budget
        ).graph
        found = graph.to_numpy().astype(float)  # an undirected edge both ways
        return {"truth": simulation.weights.tolist(), "found": found.tolist(), "error": None, "h": None}
    result = learn(
        simulation.table, "notears", published=True, lambda1=float(parameters["lambda1"]), budget=run.budget
    )
    if result.raw_weights is None:
        raise DagoraError("algorithm 1 keeps its raw weights")
    return {
        "truth": simulation.weights.tolist(),
        "found": result.raw_weights.tolist(),
        "error": float(np.linalg.norm(result.raw_weights - simulation.weights)),
        "h": result.stats["h"],
    }


def report(name: str, measured: Sequence[MeasuredCell]) -> Report:
    """The maps, and the distances as a table."""
    rows: list[tuple[Entry, ...]] = []
    maps = []
    errors: dict[tuple[float, float], float] = {}
    largest, size = 0.0, 0.0
    for (n,), cells in group(measured, ("n",)).items():
        truth = np.array(cells[0].numbers["truth"])
        largest = max(largest, float(np.abs(truth).max(initial=1.0)))
        size = float(np.linalg.norm(truth))
        line = [(f"W, n = {n}", truth)]
        for cell in cells:
            label = line_name(cell.parameters)
            line.append((label, np.array(cell.numbers["found"])))
            if cell.numbers["error"] is not None:
                error = errors[float(n), float(cell.parameters["lambda1"])] = cell.numbers["error"]
                rows.append((n, f"{label}, {ALGORITHM_1}", error, size, f"{cell.numbers['h']:.1e}"))
        maps.append(line)
    graph = str(measured[0].parameters["graph"])
    columns = ("n", "estimate", "error", "‖W‖", "h")
    table = ResultTable(name, "Distance to the true weights", columns, tuple(rows))
    title = f"NOTEARS, figure {name[-1]}: weights on an {graph} graph of {measured[0].parameters['d']} nodes"
    return Report(
        f"notears/{name}: weights as maps, {graph}",
        (table,),
        {"weights": draw_maps(maps, title=title, largest=largest)},
        (*NOTES, *captions(errors, size)),
    )


def captions(errors: Mapping[tuple[float, float], float], size: float) -> Iterator[str]:
    """Judge the claim of the captions by errors at (n, λ) beside ‖W‖; nothing where cells are missing.

    >>> print(*captions({(20, 0): 9.0, (20, 0.1): 4.0, (1000, 0): 0.5, (1000, 0.1): 5.0}, 6.0))
    The captions' claim: with many rows the weights are found even without λ; with few, λ > 0 keeps them
    accurate. Taken as an error below half of ‖W‖, on this graph the first holds (0.50 of 6.00), the second
    does not (4.00 of 6.00; without λ 9.00).
    """
    if len(errors) < len(ROWS) * len(PENALTIES):
        return
    (most, fewest), (none, some) = (max(ROWS), min(ROWS)), (min(PENALTIES), max(PENALTIES))
    first, second, without = errors[most, none], errors[fewest, some], errors[fewest, none]
    words = ["holds" if 2 * error < size else "does not" for error in (first, second)]
    yield (
        "The captions' claim: with many rows the weights are found even without λ; with few, λ > 0 keeps "
        f"them accurate. Taken as an error below half of ‖W‖, on this graph the first {words[0]} "
        f"({first:.2f} of {size:.2f}), the second {words[1]} ({second:.2f} of {size:.2f}; without λ "
        f"{without:.2f})."
    )


def line_name(parameters: Parameters) -> str:
    """Name an estimate as the figure does."""
    return GES if parameters["method"] == "ges" else f"W_ECP({parameters['lambda1']:g})"


def draw_maps(
    rows: Sequence[Sequence[tuple[str, NDArray[np.float64]]]], *, title: str, largest: float
) -> str:
    """Draw titled matrices, one row of maps each: red above zero, blue below, full at ±`largest`."""
    columns = max(len(row) for row in rows)
    with svg_figure(SIDE * columns + 0.8, (SIDE + 0.4) * len(rows) + 0.4, title) as drawing:
        grid = drawing.figure.subplots(len(rows), columns, squeeze=False)
        for line, row in zip(grid, rows, strict=True):
            for axes, (label, matrix) in zip(line, row, strict=False):
                drawn = axes.pcolormesh(matrix, cmap="RdBu_r", vmin=-largest, vmax=largest)
                axes.set(title=label, aspect="equal", xticks=[], yticks=[])
                axes.invert_yaxis()
            for axes in line[len(row) :]:
                axes.set_axis_off()
        drawing.figure.colorbar(drawn, ax=grid, shrink=0.6, label="weight of row → column")
    return drawing.svg
