"""Figure 3: how close sampled posteriors come to the truth at four nodes, where all 543 DAGs can be listed.

The truth is the posterior under a uniform prior, enumerated on marginal likelihoods from sixteen times as
many quasi-Monte-Carlo points as those that the methods use. Appendix A.4 has the same over time, beside
DiBS+: some networks have cells for either.
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
from dagora.papers.gpn.contest import BGE, GP, LAPLACE, WEIGHTED, bge_score, gp_score, warm_up
from dagora.papers.gpn.other_methods import CHOSEN_PAR, published_dibs, timed_graphs
from dagora.papers.gpn.sampled import TimedDraws, reweight_timed, sample_timed, unless_cut_short
from dagora.papers.gpn.simulation import ROWS, simulate_cell
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, Mean, ResultTable, group, mean
from dagora.posterior.dibs.dibs import parent_rows
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
# Appendix A.4, by hand: networks on which methods are timed (2 minutes each), those of DiBS+ (3 minutes each)
# and its particles (the paper has 1000).
TIMED_NETWORKS, DIBS_NETWORKS, PARTICLES = 3, 3, 10
DIBS_PARS = (1.0, CHOSEN_PAR)
# The library's default; that the truth has sixteen times as many is by hand.
POINTS = 256
TRUE_POINTS = 16 * POINTS
# Bars of the right panel, by hand: those of all 543 DAGs could not be told apart.
SHOWN = 12

MOST_ENTROPY = float(np.log(543))  # nats, of a distribution over the DAGs of four nodes
TRUTH = "truth"
BRIDGED = "GP, weighted by bridge sampling"
EXACT = "independent draws of the truth"
CONSTANTS = "Laplace with the published constants"
METHODS = (WEIGHTED, BRIDGED, GP, LAPLACE, BGE, EXACT)
LIMITS = {GP: GP, BRIDGED: "GP by bridge sampling", LAPLACE: LAPLACE, CONSTANTS: CONSTANTS, BGE: BGE}

NOTES = paragraphs(
    """
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

Seconds (appendix A.4) are CPU seconds of one core until M draws, scores and chains, each method as if it ran
alone, compilation not, means over some of the networks. With four nodes there are 32 families, which a chain
needs all: what a draw costs beyond them is little.

DiBS+ has neural networks, {particles} particles that count alike, and the settings of its authors (`par`, see
`gpn/fig1-others`). The paper prints a divergence of 27.8 with 1000 particles. A divergence is a mean of
−ln P(graph) over particles less the entropy of their graphs, which is ln 543 = 6.3 at most. So that mean less
6.3 is what any number of particles alike would leave at least.

The paper shows one network, whose data are not to be had, in figures without numbers.
""".replace("{particles}", str(PARTICLES))
)
Floats = NDArray[np.float64]


def fig3(size: Size) -> Experiment:
    """Make the experiment: a cell is one network with all methods, their times on one, or DiBS+ on one."""
    most = FULL_MOST if size.full else QUICK_MOST
    networks = [network(seed) for seed in size.seeds(QUICK_NETWORKS, FULL_NETWORKS)]
    cells = [
        *({**one, "most": most, "points": POINTS, "true_points": TRUE_POINTS} for one in networks),
        *({**one, "most": most, "points": POINTS, "timed": 1} for one in networks[:TIMED_NETWORKS]),
        *(
            {**one, "points": POINTS, **published_dibs(par, PARTICLES)}
            for one in networks[:DIBS_NETWORKS]
            for par in DIBS_PARS
        ),
    ]
    return Experiment("gpn/fig3", tuple(cells), measure, report)


def network(seed: int) -> Parameters:
    """The parameters that a table and its chains depend on."""
    return {
        "nodes": NODES, "rows": ROWS, "probability": PROBABILITY, "lambda": DECAY, "simulator": "text",
        **SETTINGS, "seed": seed,
    }  # fmt: skip


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:
    """All methods on one network: divergences as draws grow, their limits, and the most probable graphs."""
    _, table = simulate_cell(parameters)
    if "timed" in parameters:
        return measure_times(table, parameters, run)
    if "method" in parameters:
        return measure_dibs(table, parameters, run)
    scores = scores_of(table, parameters)
    graphs = enumerate_posterior(scores[TRUTH], run)
    truth = graphs.probabilities
    limits = {name: enumerate_posterior(scores[name], run).probabilities for name in LIMITS if name in scores}
    limits[CONSTANTS] = enumerate_posterior(scores[LAPLACE], run, prior="gpn").probabilities
    draws = draw_by_methods(scores, parameters, run)
    counts = counts_of(parameters)
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


def counts_of(parameters: Parameters) -> list[int]:
    """The numbers of draws that a cell has."""
    return [count for count in DRAWS if count <= int(parameters["most"])]


def measure_times(table: Table, parameters: Parameters, run: Run) -> Numbers:
    """CPU seconds of every method until so many draws."""
    for name in ("gp", "bridge", "bge"):
        warm_up(name)
    scores = scores_of(table, {**parameters, "true_points": parameters["points"]})
    seconds: dict[str, list[float]] = {}
    for count in counts_of(parameters):
        for name, found in timed_by_methods(scores, {**parameters, "most": count}, run).items():
            seconds.setdefault(name, []).append(found.cost.cpu)
    return {"draws": counts_of(parameters), "seconds": seconds}


def measure_dibs(table: Table, parameters: Parameters, run: Run) -> Numbers:
    """The divergence of DiBS+, the mean of −ln P(graph) over its particles, and CPU seconds."""
    graphs = enumerate_posterior(gp_score(table, "gp", "qmc", points=int(parameters["points"])), run)
    found, weights, seconds = timed_graphs(parameters, table, run)
    rows = parent_rows(found)
    q = np.bincount(graphs.find(rows), weights, minlength=len(graphs.masks)).astype(np.float64)
    seen = q > 0
    return {
        "par": parameters["weight_sd"],
        "dibs": divergence(q, graphs.probabilities),
        "mean_surprise": float(-(q[seen] * np.log(graphs.probabilities[seen])).sum()),
        "cpu_seconds": seconds,
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
    return {name: found.draws for name, found in timed_by_methods(scores, parameters, run).items()}


def timed_by_methods(
    scores: Mapping[str, CachedScore], parameters: Parameters, run: Run
) -> dict[str, TimedDraws]:
    """Draws of each method, and the time that each would have taken alone."""
    settings = {**parameters, "draws": int(parameters["most"]) // int(parameters["chains"])}
    chains = {
        name: sample_timed(scores[name], "partition", "uniform", 0.0, settings, run)
        for name in (GP, LAPLACE, BGE)
    }
    for name, target in ((WEIGHTED, GP), (BRIDGED, BRIDGED)):
        chains[name] = reweight_timed(chains[LAPLACE], scores[LAPLACE], scores[target], run)
    return chains


def report(measured: Sequence[MeasuredCell]) -> Report:
    """Divergences, their limits, the most probable graphs of the first network, times, and DiBS+."""
    main, timed, dibs = (
        [cell for cell in measured if name in cell.numbers] for name in ("limits", "seconds", "dibs")
    )
    tables: list[ResultTable] = []
    pictures: dict[str, str] = {}
    if main:
        counts = sorted({count for cell in main for count in cell.numbers["draws"]})
        first = main[0]
        shown = (TRUTH, *(name for name in METHODS if name in first.numbers["probabilities"]))
        tables = [grown_table(main, counts), limits_table(main), graph_table(first, shown)]
        pictures = {"divergence": divergence_chart(main, counts), "graphs": graph_chart(first, shown)}
    if timed:
        tables.append(time_table(timed))
        if main:
            pictures["time"] = time_chart(main, timed, dibs)
    if dibs:
        tables.append(dibs_table(dibs))
    title = f"gpn/fig3: sampled and enumerated posteriors of {len(main)} networks"
    return Report(title, tuple(tables), pictures, NOTES)


def grown_table(measured: Sequence[MeasuredCell], counts: Sequence[int]) -> ResultTable:
    """Divergences as draws grow."""
    columns = ("method", *(f"M = {count}" for count in counts), "ESS of weights / M")
    rows = [
        (name, *(at(measured, name, count) for count in counts), worth(measured, name)) for name in METHODS
    ]
    return ResultTable("divergence", "Divergence from the truth after M draws", columns, tuple(rows), 4)


def limits_table(measured: Sequence[MeasuredCell]) -> ResultTable:
    """Divergences of endless chains."""
    rows = tuple(
        (label, mean(cell.numbers["limits"][name] for cell in measured)) for name, label in LIMITS.items()
    )
    return ResultTable("limits", "Its limit for M → ∞", ("scores", "divergence"), rows, 4)


def graph_table(first: MeasuredCell, shown: Sequence[str]) -> ResultTable:
    """Probabilities of the most probable graphs."""
    title = f"The {len(first.numbers['graphs'])} most probable graphs of the first network"
    return ResultTable("graphs", title, ("graph", *shown), tuple(graph_lines(first, shown)), 3)


def time_table(timed: Sequence[MeasuredCell]) -> ResultTable:
    """CPU seconds until M draws (appendix A.4)."""
    counts = timed[0].numbers["draws"]
    rows = tuple(
        (name, *(mean_seconds(timed, name, place) for place in range(len(counts))))
        for name in METHODS
        if name != EXACT
    )
    columns = ("method", *(f"M = {count}" for count in counts))
    title = f"Appendix A.4: CPU seconds until M draws, {len(timed)} networks"
    return ResultTable("seconds", title, columns, rows, 2)


def mean_seconds(timed: Sequence[MeasuredCell], name: str, place: int) -> Mean | None:
    """Mean CPU seconds of a method until one of the numbers of draws."""
    return mean(cell.numbers["seconds"][name][place] for cell in timed)


def dibs_table(cells: Sequence[MeasuredCell]) -> ResultTable:
    """DiBS+ by its authors' parameter."""
    rows = []
    for (par,), some in sorted(group(cells, ("weight_sd",)).items()):
        least = mean(cell.numbers["mean_surprise"] - MOST_ENTROPY for cell in some)
        found, seconds = (mean(cell.numbers[name] for cell in some) for name in ("dibs", "cpu_seconds"))
        rows.append((f"DiBS+, par = {par:g}", found, least, seconds, len(some)))
    columns = ("method", "divergence", "of any number of particles, at least", "CPU s", "networks")
    title = f"DiBS+ with {PARTICLES} particles (the paper: 27.8 with 1000)"
    return ResultTable("dibs", title, columns, tuple(rows), (0, 1, 1, 0, 0))


def time_chart(
    main: Sequence[MeasuredCell], timed: Sequence[MeasuredCell], dibs: Sequence[MeasuredCell]
) -> str:
    """Appendix A.4: divergence over CPU seconds."""
    series = []
    for name in METHODS:
        if name != EXACT:
            points = [
                (mean_seconds(timed, name, place), at(main, name, count))
                for place, count in enumerate(timed[0].numbers["draws"])
            ]
            kept = [(x.value, y) for x, y in points if x is not None and y is not None]
            series.append(Series(name, tuple(x for x, _ in kept), tuple(y for _, y in kept)))
    for (par,), some in sorted(group(dibs, ("weight_sd",)).items()):
        seconds, found = (mean(cell.numbers[name] for cell in some) for name in ("cpu_seconds", "dibs"))
        if seconds is not None and found is not None:
            series.append(Series(f"DiBS+, par = {par:g}", (seconds.value,), (found,)))
    return draw_panels(
        [ChartPanel("networks of four nodes", tuple(series))],
        columns=1,
        x_label="CPU seconds",
        y_label="KL(estimate ‖ truth), nats",
        title="GP networks, appendix A.4 (lower left is better)",
        logarithmic_x=True,
        logarithmic_y=True,
    )


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
