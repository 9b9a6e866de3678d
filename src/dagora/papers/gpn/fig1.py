"""Figures 1 and 2: E-SHD and run time on simulated networks of ten nodes, from linear (λ = 0) to nonlinear.

Erdős–Rényi graphs, 100 rows, λ ∈ {0, 0.5, 1}; GP, its weighted and its Laplace variant, BGe; order and
partition MCMC; three priors. The data come from the simulator of the paper's text and from that of its
published code.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from dagora.papers.cell import Measured, Numbers, Parameters
from dagora.papers.charts import Panel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.contest import (
    BGE,
    GP,
    METHODS,
    PRIOR_NOTE,
    PRIORS,
    PUBLISHED,
    SPARSE,
    UNIFORM,
    WEIGHTED,
    Judge,
    Tuning,
    compete,
)
from dagora.papers.gpn.published import (
    CHOSEN,
    CHOSEN_BGE,
    SIMULATIONS,
    Simulated,
    published_simulations,
)
from dagora.papers.gpn.sampled import SAMPLERS, judged, unless_cut_short
from dagora.papers.gpn.simulation import EDGE_PROBABILITY, ROWS, SIMULATORS, simulated
from dagora.papers.reference_data import reference_file
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable
from dagora.run import Run

LAMBDAS = (0.0, 0.5, 1.0)
NODES = 10
QUICK_GRAPHS, FULL_GRAPHS = 4, 100
SETTINGS: Parameters = {"space": "dual-pc", "alpha": 0.05, "chains": 4, "draws": 1000}
SCORES = ("bge", "gp")

NOTES = paragraphs(
    """
Medians over random graphs of ten nodes (each pair joined with probability 0.2), 100 rows, columns
standardised. E-SHD counts a reversed edge once; “of classes” compares CPDAGs. The paper's values are
medians over its 100 graphs and stand beside the prior that its runs had; its data came from the simulator
“code”.

“GP” is a chain on the marginal likelihoods (quasi-Monte-Carlo, 256 points); “GP, weighted” is the paper's
algorithm 1, a chain on Laplace scores whose draws are then weighted by those marginal likelihoods; the
paper's “GP” is the latter with bridge sampling. The paper's Laplace score also leaves a Jacobian out, ours
does not.
"""
    + PRIOR_NOTE
    + """
The published factors per edge and α_μ (0.1) were **chosen by E-SHD against the truth**, λ by λ.

“text” draws weights and β for every edge (eq. 15); “code” is the published simulator: one weight vector and
one β for all edges into a node, each weight with a sign of its own. The paper's numbers come from the
latter.

Search space: dual PC (α = 0.05), any one parent beyond it, enlarged while that pays, as in the paper. Four
chains of 1000 kept draws from dispersed starts; the paper kept 101 draws of one chain started at the best
graph.

CPU seconds are for one table on one core, search space, scoring and all chains included, compilation not,
as if the run were alone (runs on a table share scores here; what a run found scored is added to its time).
The paper's are of its own machine. R-hat is the largest over log score, edges and graphs; ESS is that of
the log score, and of the weights where there are any.
"""
)


def fig1(size: Size) -> Experiment:
    """Make the experiment; a cell has all priors and samplers of one score on one table."""
    reference_file(SIMULATIONS)
    cells = [
        {
            "score": score,
            "simulator": simulator,
            "lambda": decay,
            "nodes": NODES,
            "rows": ROWS,
            "probability": EDGE_PROBABILITY,
            **SETTINGS,
            "seed": seed,
        }
        for seed in size.seeds(QUICK_GRAPHS, FULL_GRAPHS)
        for simulator in SIMULATORS
        for decay in LAMBDAS
        for score in SCORES
    ]
    return Experiment("gpn/fig1", tuple(cells), measure, report)


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:
    """All runs of one score on one table."""
    truth, table = simulated(parameters)
    decay = float(parameters["lambda"])
    judge: Judge = lambda found: judged(found, truth)  # noqa: E731
    runs = compete(
        table,
        str(parameters["score"]),
        parameters,
        run,
        judge,
        Tuning(lambda method, sampler: CHOSEN[method, sampler][decay], CHOSEN_BGE),
    )
    return {"true_edges": len(truth.edges), "runs": runs}


def report(measured: Sequence[Measured]) -> Report:
    """The table with the paper's medians, and a chart for each sampler."""
    paper = published_simulations()
    rows = tuple(lines(measured, paper))
    columns = (
        "simulator", "λ", "prior", "method", "E-SHD", "paper", "of classes", "paper, of classes", "CPU s",
        "paper, s", "E-TP", "E-FP", "R-hat", "ESS", "ESS of weights", "families", "graphs",
    )  # fmt: skip
    digits = (0, 1, 0, 0, 2, 2, 2, 2, 1, 1, 2, 2, 2, 0, 0, 0, 0)
    table = ResultTable("fig1", "Distance to the truth and run time (medians)", columns, rows, digits)
    charts = {sampler: chart(measured, sampler, paper) for sampler in SAMPLERS}
    tables = (summary(measured, paper), table)
    return Report("gpn/fig1: E-SHD and run time on simulated networks", tables, charts, NOTES)


def summary(measured: Sequence[Measured], paper: dict[tuple[float, str, str], Simulated]) -> ResultTable:
    """Median E-SHD of the main runs: under the paper's prior, and under priors chosen without the truth."""
    found = by_run(measured)
    shown = [
        (GP, PUBLISHED),
        (WEIGHTED, PUBLISHED),
        (GP, SPARSE),
        (GP, UNIFORM),
        (BGE, PUBLISHED),
        (BGE, SPARSE),
    ]
    rows: list[tuple[Entry, ...]] = []
    for simulator in SIMULATORS:
        for decay in LAMBDAS:
            for sampler in SAMPLERS:
                runs = [found.get((simulator, decay, prior, method, sampler), []) for method, prior in shown]
                if any(runs):
                    ours = [median(some, "shd") for some in runs]
                    theirs = [paper[decay, method, sampler].shd for method in (GP, BGE)]
                    numbers = min(len(some) for some in runs if some)
                    rows.append(
                        (simulator, decay, sampler, theirs[0], *ours[:4], theirs[1], *ours[4:], numbers)
                    )
    labels = [f"{method}, {prior} prior" for method, prior in shown]
    columns = (
        "simulator", "λ", "sampler", "GP (paper)", *labels[:4], "BGe (paper)", *labels[4:], "graphs"
    )  # fmt: skip
    return ResultTable("summary", "Median E-SHD in short", columns, tuple(rows), (0, 1, 0, *[2] * 8, 0))


Key = tuple[str, float, str, str, str]  # simulator, λ, prior, method, sampler


def by_run(measured: Sequence[Measured]) -> dict[Key, list[dict[str, Any]]]:
    """Runs of all graphs, by what was run."""
    found: dict[Key, list[dict[str, Any]]] = {}
    for cell in measured:
        where = str(cell.parameters["simulator"]), float(cell.parameters["lambda"])
        for one in cell.numbers["runs"]:
            found.setdefault((*where, one["prior"], one["method"], one["sampler"]), []).append(one)
    return found


def lines(
    measured: Sequence[Measured], paper: dict[tuple[float, str, str], Simulated]
) -> Iterator[tuple[Entry, ...]]:
    """Lines of the table."""
    found = by_run(measured)
    for simulator in SIMULATORS:
        for decay in LAMBDAS:
            for prior in PRIORS:
                for method in METHODS:
                    for sampler in SAMPLERS:
                        runs = found.get((simulator, decay, prior, method, sampler))
                        if runs:
                            theirs = (
                                paper.get((decay, paper_name(method), sampler))
                                if prior == PUBLISHED
                                else None
                            )
                            yield (simulator, decay, prior, f"{method}, {sampler}", *numbers(runs, theirs))


def numbers(runs: Sequence[dict[str, Any]], theirs: Simulated | None) -> tuple[Entry, ...]:
    """Medians over graphs beside the paper's, and the diagnostics of the chains."""
    return (
        median(runs, "shd"),
        None if theirs is None else theirs.shd,
        median(runs, "class_shd"),
        None if theirs is None else theirs.class_shd,
        median(runs, "cpu_seconds"),
        None if theirs is None else theirs.seconds,
        median(runs, "tp"),
        median(runs, "fp"),
        max((one["rhat"] for one in runs if one["rhat"] is not None), default=None),
        median(runs, "ess"),
        median(runs, "weight_ess"),
        median(runs, "families"),
        len(runs),
    )


def median(runs: Sequence[dict[str, Any]], number: str) -> float | None:
    """Median of a number over runs that have it."""
    values = [one[number] for one in runs if one[number] is not None]
    return statistics.median(values) if values else None


def paper_name(method: str) -> str:
    """Name of a method in the paper; its GP is compared with both ours and our weighted one."""
    return GP if method == WEIGHTED else method


def chart(measured: Sequence[Measured], sampler: str, paper: dict[tuple[float, str, str], Simulated]) -> str:
    """A panel for each simulator and prior; the paper's GP is in those of its own prior."""
    found = by_run(measured)
    panels = []
    for simulator in SIMULATORS:
        for prior in PRIORS:
            series = []
            for method in METHODS:
                points = [
                    (decay, median(found[simulator, decay, prior, method, sampler], "shd"))
                    for decay in LAMBDAS
                    if (simulator, decay, prior, method, sampler) in found
                ]
                if points:
                    series.append(
                        Series(
                            method, tuple(f"{at:g}" for at, _ in points), tuple(y or 0.0 for _, y in points)
                        )
                    )
            if prior == PUBLISHED and series:
                theirs = tuple(paper[decay, GP, sampler].shd for decay in LAMBDAS)
                series.append(Series("paper, GP", tuple(f"{at:g}" for at in LAMBDAS), theirs, published=True))
            if series:
                panels.append(Panel(f"{simulator}, {prior} prior", tuple(series)))
    return draw_panels(
        panels,
        columns=len(PRIORS),
        x_label="λ (0 is linear)",
        y_label="median E-SHD",
        title=f"GP networks, figure 1: {sampler} MCMC (lower is better)",
    )
