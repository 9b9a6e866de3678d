"""Table 1: how far the solution is from the exact optimum of the same program, at d = 10.

F at the true weights, at the exact optimum over all DAGs (dynamic programming on the lasso score), at our
solution of the program, at that solution with weights below 0.3 set to zero, as the paper's Ŵ, and at what
`learn` returns, which is refitted after the threshold. F is on centred columns (see `program`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.errors import DagoraError
from dagora.learning import learn
from dagora.papers.cell import Measured, Numbers, Parameters
from dagora.papers.charts import Panel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.notears.contenders import simulated
from dagora.papers.notears.program import objective
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable, group, mean_of
from dagora.run import Run
from dagora.stats.moments import table_moments

NODES = 10
THRESHOLD = 0.3
QUICK_RUNS, FULL_RUNS = 3, 10

# Table 1, by (n, λ, graph): F at the truth, at the optimum W_G, before the threshold (W_ECP), thresholded
# (Ŵ). Its last Ŵ is 19.70, which its own difference (−2.13) contradicts: 20.56 fits.
PAPER = {
    (20, 0.0, "ER2"): (5.11, 3.85, 3.88, 5.36),
    (20, 0.5, "ER2"): (16.04, 12.81, 12.90, 13.49),
    (1000, 0.0, "ER2"): (4.99, 4.97, 4.95, 5.02),
    (1000, 0.5, "ER2"): (15.93, 13.32, 13.46, 14.03),
    (20, 0.0, "SF4"): (4.99, 3.77, 3.85, 4.70),
    (20, 0.5, "SF4"): (23.33, 16.19, 16.69, 17.31),
    (1000, 0.0, "SF4"): (4.96, 4.94, 4.99, 5.05),
    (1000, 0.5, "SF4"): (19.70, 18.43, 18.43, 19.70),
}
POINTS = ("truth", "optimum", "solution", "thresholded")
NAMES = {"truth": "W true", "optimum": "W_G exact", "solution": "W solution", "thresholded": "Ŵ thresholded"}
TICKS = {"truth": "true", "optimum": "exact", "solution": "solution", "thresholded": "cut at 0.3"}

NOTES = paragraphs("""
F(W) = 1/(2n) ‖X − XW‖² + λ ‖W‖₁ on centred columns; lower is better. Ours: means ± standard errors over
random graphs (ER2, SF4; Gaussian noise; weights ±[0.5, 2]); the paper prints one number per entry.

Centring takes a degree of freedom from every column: at n = 20 our F at the truth is expected at 19/20 of
the uncentred 5 (λ = 0).

W_G is proved optimal; gap is F(W solution) above F(W_G), in per cent. Ŵ is the solution without its
weights below 0.3, as in the paper; “refitted” is what `learn` returns at that threshold. W solution is
exactly acyclic; the paper's W_ECP need only be nearly so, and an F of 4.95 below the optimum of 4.97
(n = 1000, λ = 0, ER2) is out of reach for an acyclic W.

F differs with the weights that were drawn, so rows of two papers' graphs are compared by what stands above
their own optimum: “Ŵ above W_G” is F of the thresholded graph, refitted, over F(W_G), in per cent, and beside
it the paper's F(Ŵ) over its F(W_G).

The paper's last row prints 19.70 for Ŵ; its own difference to W_G, −2.13, fits 20.56. It prints 19.70 for
the truth as well, where λ times the expected weights (30 edges of 1.25) and 5 for the noise make 23.75: that
entry looks like the other one, printed twice.
""")


def table1(size: Size) -> Experiment:
    """Make the experiment."""
    cells: list[Parameters] = [
        {"graph": graph, "d": NODES, "n": n, "lambda1": lambda1, "noise": "gaussian", "seed": seed}
        for n, lambda1, graph in PAPER
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    return Experiment("notears/table1", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """F at all points, for one graph."""
    simulation = simulated(parameters)
    table, lambda1 = simulation.table, float(parameters["lambda1"])
    moments, seed = table_moments(table), int(parameters["seed"])
    exact = learn(table, "dynamic", score="lasso", lambda1=lambda1, budget=run.budget)
    ours, cut = (
        learn(table, "notears", lambda1=lambda1, threshold=threshold, seed=seed, budget=run.budget)
        for threshold in (0.0, THRESHOLD)
    )
    if exact.score is None or ours.weights is None or cut.weights is None or simulation.weights is None:
        raise DagoraError("no solution was found")
    optimum, solution = -exact.score, objective(moments, ours.weights, lambda1)
    kept = np.where(np.abs(ours.weights) >= THRESHOLD, ours.weights, 0.0)
    return {
        "truth": objective(moments, simulation.weights, lambda1),
        "optimum": optimum,
        "solution": solution,
        "thresholded": objective(moments, kept, lambda1),
        "refitted": objective(moments, cut.weights, lambda1),
        "gap": 100 * (solution / optimum - 1),
        "excess": 100 * (objective(moments, cut.weights, lambda1) / optimum - 1),
        "proved": exact.status == "optimal",
    }


def report(measured: Sequence[Measured]) -> Report:
    """The eight rows, ours and the paper's side by side."""
    rows: list[tuple[Entry, ...]] = []
    panels: list[Panel] = []
    beaten = 0
    for key, cells in group(measured, ("n", "lambda1", "graph")).items():
        n, lambda1, graph = int(key[0]), float(key[1]), str(key[2])
        published = dict(zip(POINTS, PAPER[n, lambda1, graph], strict=True))
        ours = {point: mean_of(cells, point) for point in POINTS}
        row: list[Entry] = [n, f"{lambda1:g}", graph]
        for point in POINTS:
            row += [ours[point], published[point]]
        excess, their_excess = (
            mean_of(cells, "excess"),
            100 * (published["thresholded"] / published["optimum"] - 1),
        )
        beaten += excess is not None and excess.value <= their_excess
        row += [mean_of(cells, "refitted"), mean_of(cells, "gap"), excess, round(their_excess, 2)]
        rows.append((*row, len(cells)))
        points = [(TICKS[point], value) for point, value in ours.items() if value is not None]
        series = (
            Series("dagora", tuple(name for name, _ in points), tuple(value for _, value in points)),
            Series("paper", tuple(TICKS.values()), tuple(published.values()), published=True),
        )
        panels.append(Panel(f"{graph}, n = {n}, λ = {lambda1:g}", series))
    heads = [head for point in POINTS for head in (NAMES[point], f"paper {point}")]
    table = ResultTable(
        "table1",
        "F at d = 10",
        ("n", "λ", "graph", *heads, "Ŵ refitted", "gap %", "Ŵ above W_G %", "paper's %", "graphs"),
        tuple(rows),
    )
    chart = draw_panels(
        panels, columns=4, x_label="", y_label="F(W)", title="NOTEARS, table 1: F at four points (d = 10)",
        lines=False, share_y=False,
    )  # fmt: skip
    unproved = sum(not cell.numbers["proved"] for cell in measured)
    doubt = (f"In {unproved} cells the exact search did not finish its proof.",) if unproved else ()
    verdict = (f"Ours stands no higher above the optimum than the paper's in {beaten} of {len(rows)} rows.",)
    return Report(
        "notears/table1: distance to the exact optimum",
        (table,),
        {"objective": chart},
        NOTES + verdict + doubt,
    )
