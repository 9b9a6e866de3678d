"""Appendix A.1: are equivalent graphs scored alike? A chain of five nodes beside its reverse, over λ.

Section 3.2 says that the GP score is nearly equal for equivalent graphs where the data are jointly Gaussian,
and tells directions where they are not. A chain and its reverse have the same independences. BGe is equal for
them by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.network.simulate import simulate
from dagora.papers.box_charts import Box, BoxPanel, Spread, draw_boxes
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.contest import BGE, BRIDGE, GP, LAPLACE, bge_score, gp_score
from dagora.papers.gpn.sampled import unless_cut_short
from dagora.papers.gpn.simulation import ROWS, SIMULATORS, standardise
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import ResultTable, group

# Appendix A.1: five nodes, 19 values of λ, 100 tables of each.
NODES = 5
LAMBDAS = tuple(round(decay, 4) for decay in np.linspace(0.0, 1.0, 19).tolist())
QUICK_TABLES, FULL_TABLES = 10, 100
# By hand: a table takes 7 s.
QUICK_BRIDGED, FULL_BRIDGED = 1, 10
SCORES = (BRIDGE, GP, LAPLACE, BGE)
DECISIVE = 3.0  # nats: odds of 20 to 1
INNER = (0.1, 0.9)  # the quantiles that the appendix shows beside the median

NOTES = paragraphs(f"""
Log score of a chain of five nodes less that of its reverse, in nats, over tables of {ROWS} rows simulated
from the chain (columns standardised, the published simulator). Both graphs have the same independences: a
score that is equal for equivalent graphs has 0. “decided” is the share of tables in which the two differ by
more than {DECISIVE:g} nats (odds of 20 to 1), “right” the share of those in which the true chain is ahead.

“GP, bridge” has the scores of the paper's algorithm 1 (bridge sampling, 300 + 300 particles), “GP” those of
256 quasi-Monte-Carlo points; the last column says how many tables each has.

Section 3.2 of the paper says that equivalent graphs have similar GP scores where functions are linear
(λ = 0) and that directions are told where they are not; its appendix A.1 shows that as curves: the median and
the 10 and 90 % quantiles of the difference. BGe is equal for equivalent graphs by construction: its line
checks the measurement.
""")


def equivalence(size: Size) -> Experiment:
    """Make the experiment: a cell is one table, or its scores by bridge sampling."""
    tables = [cell for seed in size.seeds(QUICK_TABLES, FULL_TABLES) for cell in cells_of(seed)]
    bridged = [
        {**cell, "score": BRIDGE}
        for seed in size.seeds(QUICK_BRIDGED, FULL_BRIDGED)
        for cell in cells_of(seed)
    ]
    return Experiment("gpn/equivalence", (*tables, *bridged), measure, report, revision=2)


def cells_of(seed: int) -> Iterator[Parameters]:
    """A table for every λ."""
    for decay in LAMBDAS:
        yield {"nodes": NODES, "rows": ROWS, "lambda": decay, "simulator": "code", "seed": seed}


def simulate_chain(parameters: Parameters) -> tuple[DAG, Table]:
    """The chain x1 → x2 → …, and a table from it."""
    names = [f"x{place}" for place in range(1, int(parameters["nodes"]) + 1)]
    chain = DAG(names, list(pairwise(names)))
    simulation = simulate(
        chain,
        "fourier",
        int(parameters["rows"]),
        int(parameters["seed"]),
        nonlinearity=float(parameters["lambda"]),
        published=SIMULATORS[str(parameters["simulator"])],
    )
    return chain, standardise(simulation.table)


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:  # noqa: ARG001
    """Differences of the log scores of the chain and of its reverse, by score."""
    chain, table = simulate_chain(parameters)
    if parameters.get("score") == BRIDGE:
        return {BRIDGE: ahead(chain, gp_score(table, "gp", "bridge"))}
    return {
        GP: ahead(chain, gp_score(table, "gp", "qmc")),
        LAPLACE: ahead(chain, gp_score(table, "gp", "laplace")),
        BGE: ahead(chain, bge_score(table)),
    }


def ahead(chain: DAG, score: CachedScore) -> float:
    """The log score of a chain less that of its reverse."""
    nodes = range(len(chain.nodes))
    forth = [(node, (node - 1,) if node else ()) for node in nodes]
    back = [(node, (node + 1,) if node < len(chain.nodes) - 1 else ()) for node in nodes]
    return float(score.families(forth).sum() - score.families(back).sum())


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A line for each score and λ, and the differences as boxes."""
    columns = ("score", "λ", "median", "10 %", "90 %", "decided", "right", "tables")
    rows = []
    panels = []
    for name in SCORES:
        boxes = []
        scored = [cell for cell in measured if name in cell.numbers]
        for (decay,), cells in sorted(group(scored, ("lambda",)).items()):
            values = [float(cell.numbers[name]) for cell in cells]
            spread = Spread.of(values)
            decided = [value for value in values if abs(value) > DECISIVE]
            right = sum(value > 0 for value in decided) / len(decided) if decided else None
            low, high = np.quantile(values, INNER).tolist()
            rows.append(
                (name, decay, spread.median, low, high, len(decided) / len(values), right, len(values))
            )
            boxes.append(Box(f"λ = {decay:g}", spread))
        if boxes:
            panels.append(BoxPanel(name, tuple(boxes)))
    title = "gpn/equivalence: scores of equivalent graphs"
    table = ResultTable(
        "equivalence", "The chain less its reverse, nats", columns, tuple(rows), (0, 2, 2, 2, 2, 2, 2, 0)
    )
    picture = draw_boxes(
        panels, columns=2, y_label="log score, chain − reverse (nats)",
        title="GP networks, appendix A.1: score equivalence", from_zero=False,
    )  # fmt: skip
    return Report(title, (table,), {"difference": picture}, NOTES)
