"""Figures 1 and 2: E-SHD and run time on simulated networks, from linear (λ = 0) to nonlinear.

Erdős–Rényi graphs of ten nodes (and of fifteen, `fig1_n15`), 100 rows, λ ∈ {0, 0.5, 1}; GP, its weighted and
its Laplace variant, BGe; order and partition MCMC; three priors. The data come from the simulator of the
paper's text and from that of its published code (with fifteen nodes from the latter only). On some graphs
algorithm 1 is run with bridge sampling, which takes seconds a family.
"""

from __future__ import annotations

from collections.abc import Iterator

from dagora.learners.run import Run
from dagora.papers.cell import Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.contest import Judge, Tuning, compete
from dagora.papers.gpn.fig1_report import report
from dagora.papers.gpn.published import CHOSEN, CHOSEN_BGE, SIMULATIONS
from dagora.papers.gpn.sampled import evaluate_draws, unless_cut_short
from dagora.papers.gpn.simulation import EDGE_PROBABILITY, LAMBDAS, ROWS, SIMULATORS, simulate_cell
from dagora.papers.reference_data import reference_file

# Ten nodes and 100 graphs: section 4; fifteen: the authors' result files. Quick sizes are by hand.
NODES, MORE_NODES = 10, 15
QUICK_GRAPHS, FULL_GRAPHS = 4, 100
QUICK_MORE = 1
# With a usual walk between two draws, partition chains under the published prior do not mix on some graphs:
# R-hat 1.18 (λ = 0, seed 0), and 1.09 with one four times as long.
SETTINGS: Parameters = {
    "space": "dual-pc", "alpha": 0.05, "chains": 4, "draws": 1000, "published_spacing": 8
}  # fmt: skip
SCORES = ("bge", "gp")
# Algorithm 1 with bridge sampling: one chain of 101 draws, on so many graphs (by hand: seconds a family); the
# data of the published simulator.
LETTER: Parameters = {"chains": 1, "draws": 101}
QUICK_LETTER, FULL_LETTER = 1, 10
REVISION = 3  # 1 counted a reversed edge neither as true nor as false; 2 kept the prior in the weights


def fig1(size: Size) -> Experiment:
    """Ten nodes, both simulators; a cell has all priors and samplers of one score on one table."""
    reference_file(SIMULATIONS[NODES])
    cells = [
        *cells_of(size.seeds(QUICK_GRAPHS, FULL_GRAPHS), NODES, tuple(SIMULATORS)),
        *letter_cells(size.seeds(QUICK_LETTER, FULL_LETTER)),
    ]
    return Experiment("gpn/fig1", tuple(cells), measure, report, REVISION)


def fig1_n15(size: Size) -> Experiment:
    """Fifteen nodes, the published simulator."""
    reference_file(SIMULATIONS[MORE_NODES])
    cells = cells_of(size.seeds(QUICK_MORE, FULL_GRAPHS), MORE_NODES, ("code",))
    return Experiment("gpn/fig1-n15", tuple(cells), measure, report, REVISION)


def cells_of(seeds: range, nodes: int, simulators: tuple[str, ...]) -> Iterator[Parameters]:
    """Cells graph by graph, so that a run cut short has as many graphs in every line."""
    for seed in seeds:
        for simulator in simulators:
            for decay in LAMBDAS:
                for score in SCORES:
                    yield cell(score, simulator, decay, nodes, seed)


def letter_cells(seeds: range) -> Iterator[Parameters]:
    """Cells of algorithm 1 with bridge sampling."""
    for seed in seeds:
        for decay in LAMBDAS:
            yield {**cell("bridge", "code", decay, NODES, seed), **LETTER}


def cell(score: str, simulator: str, decay: float, nodes: int, seed: int) -> Parameters:
    """The parameters of one cell."""
    return {
        "score": score,
        "simulator": simulator,
        "lambda": decay,
        "nodes": nodes,
        "rows": ROWS,
        "probability": EDGE_PROBABILITY,
        **SETTINGS,
        "seed": seed,
    }


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:
    """All runs of one score on one table."""
    truth, table = simulate_cell(parameters)
    decay = float(parameters["lambda"])
    chosen = CHOSEN[int(parameters["nodes"])]
    tuning = Tuning(lambda method, sampler: chosen[method, sampler][decay], CHOSEN_BGE)
    judge: Judge = lambda found: evaluate_draws(found, truth)  # noqa: E731
    runs = compete(table, str(parameters["score"]), parameters, run, judge, tuning)
    return {"true_edges": len(truth.edges), "runs": runs}
