"""Appendix A.1: are equivalent graphs scored alike? Of x → y and y → x, from linear (λ = 0) to nonlinear.

Section 3.2 says that the GP score is nearly equal for equivalent graphs where the data are jointly Gaussian,
and tells directions where they are not. The appendix itself is not at hand: tables of two nodes, 100 rows,
simulated as in section 4, are the smallest on which this can be seen. BGe is equal by construction.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.learners.run import Run
from dagora.papers.box_charts import Box, BoxPanel, Spread, draw_boxes
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.contest import BGE, GP, LAPLACE, bge_score, gp_score
from dagora.papers.gpn.sampled import unless_cut_short
from dagora.papers.gpn.simulation import ROWS, simulate_cell
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import ResultTable, group

# 0, ½ and 1 are those of figure 1; the others, and the numbers of tables, are by hand.
LAMBDAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5)
QUICK_TABLES, FULL_TABLES = 20, 100
SCORES = (GP, LAPLACE, BGE)
DECISIVE = 3.0  # nats: odds of 20 to 1

NOTES = paragraphs(f"""
Log score of the true graph x → y minus that of y → x, in nats, over simulated tables of two nodes and {ROWS}
rows (columns standardised, simulator of the paper's text). Both graphs have the same independences: a score
that is equal for equivalent graphs has 0. “decided” is the share of tables in which the two differ by more
than {DECISIVE:g} nats (odds of 20 to 1), “right” the share of those in which the true direction is ahead.

Section 3.2 of the paper says that equivalent graphs have similar GP scores where functions are linear
(λ = 0) and that directions are told where they are not; its appendix A.1, whose design is not at hand, shows
that in numbers. BGe is equal for equivalent graphs by construction: its line checks the measurement.

At λ = 0.1 the weights that are drawn for sines and cosines are zero in double precision in nearly all tables
(98 of the first 100): its lines repeat those of λ = 0.
""")


def equivalence(size: Size) -> Experiment:
    """Make the experiment: a cell is one table."""
    cells: list[Parameters] = [
        {
            "nodes": 2, "rows": ROWS, "probability": 1.0, "lambda": decay, "simulator": "text", "seed": seed,
        }
        for seed in size.seeds(QUICK_TABLES, FULL_TABLES)
        for decay in LAMBDAS
    ]  # fmt: skip
    return Experiment("gpn/equivalence", tuple(cells), measure, report)


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:  # noqa: ARG001
    """Differences of the log scores of the two directions, true minus false, by score."""
    truth, table = simulate_cell(parameters)
    ((tail, head),) = ((truth.nodes.index(a), truth.nodes.index(b)) for a, b in truth.edges)
    found = {}
    for name, score in (
        (GP, gp_score(table, "gp", "qmc")),
        (LAPLACE, gp_score(table, "gp", "laplace")),
        (BGE, bge_score(table)),
    ):
        right = score.families([(tail, ()), (head, (tail,))]).sum()
        wrong = score.families([(head, ()), (tail, (head,))]).sum()
        found[name] = float(right - wrong)
    return found


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A line for each score and λ, and the differences as boxes."""
    columns = ("score", "λ", "median", "lower quartile", "upper quartile", "decided", "right", "tables")
    rows = []
    panels = []
    for name in SCORES:
        boxes = []
        for (decay,), cells in sorted(group(measured, ("lambda",)).items()):
            values = [float(cell.numbers[name]) for cell in cells]
            spread = Spread.of(values)
            decided = [value for value in values if abs(value) > DECISIVE]
            right = sum(value > 0 for value in decided) / len(decided) if decided else None
            low, high = spread.quartiles or (spread.median, spread.median)
            rows.append(
                (name, decay, spread.median, low, high, len(decided) / len(values), right, len(values))
            )
            boxes.append(Box(f"λ = {decay:g}", spread))
        panels.append(BoxPanel(name, tuple(boxes)))
    title = "gpn/equivalence: scores of equivalent graphs"
    table = ResultTable(
        "equivalence", "True direction minus the other, nats", columns, tuple(rows), (0, 2, 2, 2, 2, 2, 2, 0)
    )
    picture = draw_boxes(
        panels, columns=len(SCORES), y_label="log score, true − other (nats)",
        title="GP networks, appendix A.1: score equivalence", from_zero=False,
    )  # fmt: skip
    return Report(title, (table,), {"difference": picture}, NOTES)
