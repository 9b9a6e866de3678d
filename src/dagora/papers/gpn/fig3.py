"""Figure 3: how close sampled posteriors come to the truth at four nodes, where all 543 DAGs can be listed.

The truth is the posterior under a uniform prior, enumerated on marginal likelihoods from sixteen times as
many quasi-Monte-Carlo points as those that the methods use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.contest import BGE, GP, LAPLACE, WEIGHTED, bge_score, gp_score
from dagora.papers.gpn.sampled import reweight_timed, sample_timed, unless_cut_short
from dagora.papers.gpn.simulation import ROWS, simulate_cell
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, Mean, ResultTable, mean
from dagora.posterior.draws import Draws
from dagora.posterior.exact.enumeration import Enumeration, enumerate_posterior
from dagora.posterior.summary.diagnostics import weight_ess

# Section 4.2 has one network of four nodes; its other properties are not stated, and by hand.
NODES = 4
PROBABILITY = 0.5
DECAY = 1.0
SETTINGS: Parameters = {"space": "full", "alpha": 0.05, "chains": 4}
# By hand, around the M = 10⁴ of the right panel; the paper has one network.
DRAWS = (100, 400, 1000, 4000, 10_000, 40_000, 100_000)
QUICK_MOST, FULL_MOST = 10_000, 100_000
QUICK_NETWORKS, FULL_NETWORKS = 10, 10
# The library's default; that the truth has sixteen times as many is by hand.
POINTS = 256
TRUE_POINTS = 16 * POINTS
# Bars of the right panel, by hand: those of all 543 DAGs could not be told apart.
SHOWN = 12

TRUTH = "truth"
BRIDGED = "GP, weighted by bridge sampling"
EXACT = "independent draws of the truth"
CONSTANTS = "Laplace with the published constants"
METHODS = (WEIGHTED, BRIDGED, GP, LAPLACE, BGE, EXACT)
LIMITS = {GP: GP, BRIDGED: "GP by bridge sampling", LAPLACE: LAPLACE, CONSTANTS: CONSTANTS, BGE: BGE}

NOTES = paragraphs("""
Reverse divergence KL(estimate ‖ truth) in nats, means ± standard errors over random networks of four nodes
(each pair joined with probability ½), λ = 1, 100 rows, simulator of the paper's text; uniform prior over
DAGs. All methods run partition MCMC on every parent set, four chains, of which the first M draws in all are
counted. The truth is the enumerated posterior over 543 DAGs on marginal likelihoods from 4096
quasi-Monte-Carlo points.

“GP, weighted by bridge sampling” has the weights of the paper's algorithm 1 (300 + 300 particles, as in the
paper) on draws under Laplace scores; “GP, weighted” has weights from 256 points in their place. “GP” is a
chain on the 256-point scores.

Even independent draws of the truth itself have a divergence above zero, about (number of plausible graphs)
/ 2M: the last line is that floor. A method on the floor cannot be told from the truth.

The second table has the limits for M → ∞, by enumeration with each method's own scores. The published code
adds constants to its Laplace scores (a first parent costs 3.93 nats, each further one 0.69), though the
paper states a uniform prior; the line with those constants shows how much of the figure's bias they alone
explain. Our Laplace score is taken in log space with the mean integrated out and its Jacobian kept.

The paper shows one network, whose data are not to be had, in a figure without numbers; its text gives one
number, a divergence of 27.8 for DiBS+ with 1000 draws, a method that is not run here.
""")
Floats = NDArray[np.float64]


def fig3(size: Size) -> Experiment:
    """Make the experiment: a cell is one network with all methods."""
    cells = [
        {
            "nodes": NODES, "rows": ROWS, "probability": PROBABILITY, "lambda": DECAY, "simulator": "text",
            **SETTINGS, "most": FULL_MOST if size.full else QUICK_MOST, "points": POINTS,
            "true_points": TRUE_POINTS, "seed": seed,
        }
        for seed in size.seeds(QUICK_NETWORKS, FULL_NETWORKS)
    ]  # fmt: skip
    return Experiment("gpn/fig3", tuple(cells), measure, report)


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:
    """All methods on one network: divergences as draws grow, their limits, and the most probable graphs."""
    _, table = simulate_cell(parameters)
    scores = scores_of(table, parameters)
    graphs = enumerate_posterior(scores[TRUTH], run)
    truth = graphs.probabilities
    limits = {name: enumerate_posterior(scores[name], run).probabilities for name in LIMITS if name in scores}
    limits[CONSTANTS] = enumerate_posterior(scores[LAPLACE], run, prior="gpn").probabilities
    draws = draw_by_methods(scores, parameters, run)
    counts = [count for count in DRAWS if count <= int(parameters["most"])]
    best = np.argsort(-truth, kind="stable")[:SHOWN]
    return {
        "draws": counts,
        "divergence": {
            EXACT: floor(truth, counts, int(parameters["seed"])),
            **{
                name: [divergence(shares(some, count, graphs), truth) for count in counts]
                for name, some in draws.items()
            },
        },
        "limits": {name: divergence(q, truth) for name, q in limits.items()},
        "weight_ess": {
            name: weight_ess(some.log_weights) for name, some in draws.items() if some.log_weights is not None
        },
        "graphs": [arrows(graphs.graph(int(k))) for k in best],
        "probabilities": {
            TRUTH: truth[best].tolist(),
            **{name: shares(some, counts[-1], graphs)[best].tolist() for name, some in draws.items()},
        },
    }


def arrows(graph: DAG) -> str:
    """A graph in words.

    >>> arrows(DAG("abc", [("a", "b"), ("c", "b")])), arrows(DAG("ab"))
    ('a → b, c → b', 'no edge')
    """
    return ", ".join(f"{tail} → {head}" for tail, head in graph.edges) or "no edge"


def scores_of(table: Table, parameters: Parameters) -> dict[str, CachedScore]:
    """The score of each method, and that of the truth."""
    return {
        TRUTH: gp_score(table, "gp", "qmc", points=int(parameters["true_points"])),
        GP: gp_score(table, "gp", "qmc", points=int(parameters["points"])),
        BRIDGED: gp_score(table, "gp", "bridge"),
        LAPLACE: gp_score(table, "gp", "laplace"),
        BGE: bge_score(table),
    }


def draw_by_methods(scores: Mapping[str, CachedScore], parameters: Parameters, run: Run) -> dict[str, Draws]:
    """Draws of each method."""
    settings = {**parameters, "draws": int(parameters["most"]) // int(parameters["chains"])}
    chains = {
        name: sample_timed(scores[name], "partition", "uniform", 0.0, settings, run)
        for name in (GP, LAPLACE, BGE)
    }
    for name, target in ((WEIGHTED, GP), (BRIDGED, BRIDGED)):
        chains[name] = reweight_timed(chains[LAPLACE], scores[LAPLACE], scores[target], run)
    return {name: found.draws for name, found in chains.items()}


def report(measured: Sequence[MeasuredCell]) -> Report:
    """Divergences and their limits, the most probable graphs of the first network, and both as charts."""
    counts = sorted({count for cell in measured for count in cell.numbers["draws"]})
    columns = ("method", *(f"M = {count}" for count in counts), "ESS of weights / M")
    rows = [
        (name, *(at(measured, name, count) for count in counts), worth(measured, name)) for name in METHODS
    ]
    grown = ResultTable("divergence", "Divergence from the truth after M draws", columns, tuple(rows), 4)
    limits = ResultTable(
        "limits",
        "Its limit for M → ∞",
        ("scores", "divergence"),
        tuple(
            (label, mean(cell.numbers["limits"][name] for cell in measured)) for name, label in LIMITS.items()
        ),
        4,
    )
    first = measured[0]
    shown = (TRUTH, *(name for name in METHODS if name in first.numbers["probabilities"]))
    top = ResultTable(
        "graphs",
        f"The {len(first.numbers['graphs'])} most probable graphs of the first network",
        ("graph", *shown),
        tuple(graph_lines(first, shown)),
        3,
    )
    pictures = {"divergence": divergence_chart(measured, counts), "graphs": graph_chart(first, shown)}
    title = f"gpn/fig3: sampled and enumerated posteriors of {len(measured)} networks"
    return Report(title, (grown, limits, top), pictures, NOTES)


def at(measured: Sequence[MeasuredCell], name: str, count: int) -> Mean | None:
    """Mean divergence of a method after some draws."""
    return mean(
        cell.numbers["divergence"][name][cell.numbers["draws"].index(count)]
        for cell in measured
        if count in cell.numbers["draws"]
    )


def worth(measured: Sequence[MeasuredCell], name: str) -> Mean | None:
    """Effective share of the weighted draws."""
    return mean(
        cell.numbers["weight_ess"][name] / int(cell.parameters["most"])
        for cell in measured
        if name in cell.numbers["weight_ess"]
    )


def graph_lines(cell: MeasuredCell, shown: Sequence[str]) -> Iterator[tuple[Entry, ...]]:
    """Graphs with their probabilities, most probable first."""
    for position, graph in enumerate(cell.numbers["graphs"]):
        yield (graph, *(cell.numbers["probabilities"][name][position] for name in shown))


def divergence_chart(measured: Sequence[MeasuredCell], counts: Sequence[int]) -> str:
    """The left panel: divergence over the number of draws."""
    series = []
    for name in METHODS:
        points = [(count, at(measured, name, count)) for count in counts]
        kept = [(float(count), value) for count, value in points if value is not None]
        series.append(Series(name, tuple(x for x, _ in kept), tuple(y for _, y in kept)))
    return draw_panels(
        [ChartPanel(f"{len(measured)} networks of four nodes", tuple(series))],
        columns=1,
        x_label="draws M",
        y_label="KL(estimate ‖ truth), nats",
        title="GP networks, figure 3 (lower is better)",
        logarithmic_x=True,
        logarithmic_y=True,
    )


def graph_chart(cell: MeasuredCell, shown: Sequence[str]) -> str:
    """The right panel: probabilities of the most probable graphs."""
    ranks = tuple(float(rank) for rank in range(1, len(cell.numbers["graphs"]) + 1))
    series = tuple(Series(name, ranks, tuple(cell.numbers["probabilities"][name])) for name in shown)
    return draw_panels(
        [ChartPanel(f"first network, M = {cell.parameters['most']}", series)],
        columns=1,
        x_label="rank of the graph under the truth",
        y_label="posterior probability",
        title="GP networks, figure 3: the most probable graphs",
    )


def shares(draws: Draws, count: int, graphs: Enumeration) -> Floats:
    """Weighted relative frequency of every graph among the first `count` draws of all chains (eq. 14)."""
    per_chain = count // draws.chains
    places = graphs.find(draws.parents[:, :per_chain]).ravel()
    logs = np.zeros(len(places)) if draws.log_weights is None else draws.log_weights[:, :per_chain].ravel()
    total = np.bincount(places, np.exp(logs - logs.max()), minlength=len(graphs.masks))
    return np.asarray(total / total.sum(), dtype=np.float64)


def divergence(q: Floats, p: Floats) -> float:
    """KL(q‖p) = Σ q ln(q/p) in nats, where q is the estimate, zero on graphs that were not drawn.

    >>> round(divergence(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])), 4)
    0.6931
    """
    seen = q > 0
    return float((q[seen] * np.log(q[seen] / p[seen])).sum())


def floor(truth: Floats, counts: Sequence[int], seed: int, repeats: int = 20) -> list[float]:
    """Mean divergence of so many independent draws from the truth, a lower bound for any sampler's."""
    rng = np.random.default_rng(seed)
    return [
        float(np.mean([divergence(rng.multinomial(count, truth) / count, truth) for _ in range(repeats)]))
        for count in counts
    ]
