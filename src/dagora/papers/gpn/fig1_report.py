"""The page of figures 1 and 2: tables with the paper's numbers, the claim tested, boxes and ROC curves."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dagora.papers.box_charts import Box, BoxPanel, Spread, draw_boxes
from dagora.papers.cell import MeasuredCell
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.gpn.claim import holds_in, shd_by_graph, verdict
from dagora.papers.gpn.contest import (
    BGE,
    BRIDGE,
    GP,
    LAPLACE,
    METHODS,
    PRIOR_NOTE,
    PRIORS,
    PUBLISHED,
    SPARSE,
    UNIFORM,
    WEIGHTED,
    paper_name,
)
from dagora.papers.gpn.published import CHOSEN, PublishedSimulation, published_simulations
from dagora.papers.gpn.roc import mean_rates
from dagora.papers.gpn.sampled import SAMPLERS
from dagora.papers.gpn.simulation import LAMBDAS, SIMULATORS
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable

# The λ of the claim in section 4.2, “for non-linear data (λ = 1)”.
NONLINEAR = 1.0
OTHERS = ("kPC-DC", "kPC-HSIC", "DiBS+")  # methods of the paper that are not run here
PAPER_GRAPHS = 100  # per line of figure 1
DRAWS, LETTER_DRAWS = 4000, 101  # of the weighted runs, and of algorithm 1 with bridge sampling
# Weights that are worth fewer draws, or chains further from mixed, are compared with nothing, and marked.
FEWEST_DRAWS, LARGEST_RHAT, MARK = 100, 1.05, " †"
# A line leaves out the graphs on which its chains did not mix, while they are no larger a share (by hand).
MOST_UNMIXED = 0.1

Paper = Mapping[tuple[float, str, str], PublishedSimulation]
Key = tuple[str, float, str, str, str]  # simulator, λ, prior, method, sampler
Found = Mapping[Key, list[dict[str, Any]]]

NOTES = paragraphs(
    """
Medians over random graphs (each pair joined with probability 0.2), 100 rows, columns standardised. E-SHD
counts a reversed edge once; “of classes” compares CPDAGs. E-TP and E-FP count a reversed edge as half true
and half false. The paper prints no numbers of figures 1 and 2: its values are medians over 100 graphs (kernel
PC and DiBS+: 94 to 100) from the result files of its authors, at their best parameters, and stand beside the
lines that aim at the same posterior; its data came from the simulator “code”. Kernel PC and DiBS+ are not run
here: their values are from those files too.

Graphs on which the chains of a line did not mix (R-hat above 1.05) are left out of it; “not mixed” says how
many. † More than a tenth of the graphs, or weights that are worth fewer than 100 draws: such a number is
compared with nothing.

“GP” is a chain on the marginal likelihoods (quasi-Monte-Carlo, 256 points); “GP, weighted” is a chain on
Laplace scores whose draws are then weighted by those marginal likelihoods, where the paper's algorithm 1 has
bridge sampling; “GP, bridge” is algorithm 1 with its bridge sampling (300 + 300 particles): one chain of 101
draws. The paper's Laplace score also leaves a Jacobian out, and its chain starts at the best graph; ours
does neither.
"""
    + PRIOR_NOTE
    + """
The published factors per edge and α_μ (0.1) were **chosen by E-SHD against the truth**, λ by λ.

“text” draws weights and β for every edge (eq. 15); “code” is the published simulator: one weight vector and
one β for all edges into a node, each weight with a sign of its own. The paper's numbers come from the
latter.

Boxes reach from quartile to quartile, whiskers from the 5 % to the 95 % quantile. The paper's boxes (dotted)
have quartiles only; of its run times only medians are known.

ROC curves: at a threshold a pair is joined in its likelier direction if that has at least this probability;
rates are means over graphs, false positives per true edge. The paper's points are those of its threshold, ½.

Search space: dual PC (α = 0.05), any one parent beyond it, enlarged while that pays, as in the published
code. Four chains of 1000 kept draws from dispersed starts; the authors' code kept 101 draws of one chain
started at the best graph.

Appendix A.5 counts scores: a chain needs those of every family in its search space, an estimate by sampling
(weights, algorithm 1) only those of families that are in a graph drawn.

CPU seconds are for one table on one core, search space, scoring and all chains included, compilation not,
as if the run were alone (runs on a table share scores here; what a run found scored is added to its time).
The paper's are of its own machine. R-hat is the largest over log score, edges and graphs; ESS is that of
the log score, and of the weights where there are any.
"""
)


def report(measured: Sequence[MeasuredCell]) -> Report:
    """All tables and charts."""
    nodes = int(measured[0].parameters["nodes"])
    paper = published_simulations(nodes)
    found = by_run(measured)
    columns = (
        "simulator", "λ", "prior", "method", "E-SHD", "paper", "of classes", "paper, of classes", "CPU s",
        "paper, s", "E-TP", "E-FP", "R-hat", "ESS", "ESS of weights", "families", "graphs", "not mixed",
    )  # fmt: skip
    digits = (0, 1, 0, 0, 2, 2, 2, 2, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0)
    rows = tuple(lines(found, paper))
    table = ResultTable("fig1", "Distance to the truth and run time (medians)", columns, rows, digits)
    charts = {sampler: shd_boxes(found, sampler, paper) for sampler in SAMPLERS}
    charts |= {"seconds": time_boxes(found, paper), "roc": roc_chart(found, paper)}
    numbers = [len(runs) for key, runs in found.items() if key[3] != BRIDGE]
    fewest, most = min(numbers), max(numbers)
    graphs = several(most) if fewest == most else f"{fewest} to {most} graphs"
    item = "gpn/fig1" if nodes == 10 else f"gpn/fig1-n{nodes}"
    return Report(
        f"{item}: E-SHD and run time on simulated networks of {nodes} nodes, {graphs} a line "
        f"(the paper: {PAPER_GRAPHS})",
        (summary(found, paper), claims(found, paper), table, families_table(found, nodes)),
        charts,
        (*NOTES, *added_graphs(found), *control(measured, found, paper)),
    )


def added_graphs(found: Found) -> Iterator[str]:
    """The note that some λ have more graphs than others."""
    by_decay = {decay: 0 for _, decay, *_ in found}
    for (_, decay, *_), runs in found.items():
        by_decay[decay] = max(by_decay[decay], len(runs))
    fewest, most = min(by_decay.values()), max(by_decay.values())
    if fewest < most:
        at = " and ".join(f"{decay:g}" for decay, graphs in by_decay.items() if graphs == most)
        yield (
            f"λ = {at} has {most} graphs, where others have {fewest}: a comparison that {fewest} graphs left "
            "open was looked at again with more, and all of them count. Such an interval says a little more "
            "than it should."
        )


def several(graphs: int) -> str:
    """A number of graphs, in words.

    >>> several(1), several(4)
    ('1 graph', '4 graphs')
    """
    return f"{graphs} graph" + ("s" if graphs != 1 else "")


def by_run(measured: Sequence[MeasuredCell]) -> dict[Key, list[dict[str, Any]]]:
    """Runs of all graphs, by what was run."""
    found: dict[Key, list[dict[str, Any]]] = {}
    for cell in measured:
        where = str(cell.parameters["simulator"]), float(cell.parameters["lambda"])
        for one in cell.numbers["runs"]:
            key = (*where, one["prior"], one["method"], one["sampler"])
            found.setdefault(key, []).append({**one, "graph": cell.parameters["seed"]})
    return found


def summary(found: Found, paper: Paper) -> ResultTable:
    """Median E-SHD of the main runs and of the paper's: under its prior, and without the truth."""
    shown = [
        (GP, PUBLISHED), (WEIGHTED, PUBLISHED), (BRIDGE, PUBLISHED), (GP, SPARSE), (GP, UNIFORM),
        (BGE, PUBLISHED), (BGE, SPARSE),
    ]  # fmt: skip
    rows: list[tuple[Entry, ...]] = []
    for simulator in SIMULATORS:
        for decay in LAMBDAS:
            for sampler in SAMPLERS:
                runs = [found.get((simulator, decay, prior, method, sampler), []) for method, prior in shown]
                if any(runs):
                    ours = [median_shd(some) for some in runs]
                    gp, bge = (paper[decay, method, sampler].shd for method in (GP, BGE))
                    others = [paper[decay, method, ""].shd for method in OTHERS]
                    rows.append((simulator, decay, sampler, gp, *ours[:5], bge, *ours[5:], *others))
    labels = [f"{method}, {prior} prior" for method, prior in shown]
    columns = (
        "simulator", "λ", "sampler", "GP (paper)", *labels[:5], "BGe (paper)", *labels[5:],
        *(f"{name} (paper)" for name in OTHERS),
    )  # fmt: skip
    return ResultTable("summary", "Median E-SHD in short", columns, tuple(rows), (0, 1, 0, *[2] * 12))


def claims(found: Found, paper: Paper) -> ResultTable:
    """The claim that at λ = 1 GP's median is at most BGe's lower quartile, in our cells and in the paper."""
    rows: list[tuple[Entry, ...]] = []
    for simulator in SIMULATORS:
        for method in (GP, WEIGHTED, BRIDGE):
            for sampler in SAMPLERS:
                gp = found.get((simulator, NONLINEAR, PUBLISHED, method, sampler), [])
                bge = found.get((simulator, NONLINEAR, PUBLISHED, BGE, sampler), [])
                if gp and bge:
                    both = shd_by_graph(mixed(gp)), shd_by_graph(mixed(bge))
                    middle, quartile, share = holds_in(*both)
                    graphs = len(both[0].keys() & both[1].keys())
                    found_here = (
                        verdict(share, graphs)
                        if comparable(gp) and comparable(bge)
                        else f"not compared{MARK}"
                    )
                    said = f"{found_here} ({several(graphs)}; the paper: {PAPER_GRAPHS})"
                    rows.append((simulator, f"{method}, {sampler}", middle, quartile, share, said))
    for sampler in SAMPLERS:
        gp_line, bge_line = (paper[NONLINEAR, method, sampler] for method in (GP, BGE))
        said = "holds" if gp_line.shd <= bge_line.quartiles[0] else "fails"
        rows.append(
            ("the paper's", f"GP, {sampler}", gp_line.shd, bge_line.quartiles[0], None,
             f"{said} (the published summary of {PAPER_GRAPHS} graphs)")
        )  # fmt: skip
    columns = (
        "data", "line", "median of GP", "lower quartile of BGe", "share of resamples in which it holds",
        "verdict",
    )  # fmt: skip
    title = "The claim of section 4.2: at λ = 1 the median E-SHD of GP is not above the lower quartile of BGe"
    return ResultTable("claim", title, columns, tuple(rows), 2)


def families_table(found: Found, nodes: int) -> ResultTable:
    """Appendix A.5: families that a chain needs, and those in its draws, which weights score again."""
    rows: list[tuple[Entry, ...]] = []
    for (simulator, decay, prior, method, sampler), runs in found.items():
        chosen = CHOSEN[nodes]
        alike = chosen[GP, sampler][decay] == chosen[LAPLACE, sampler][decay]  # else not the same chain
        if method == (BRIDGE if prior == PUBLISHED else WEIGHTED) and (alike or prior != PUBLISHED):
            chain = {
                one["graph"]: one["families"]
                for one in found.get((simulator, decay, prior, LAPLACE, sampler), [])
            }
            # Weighted draws count the families of the chain, and then those of its draws.
            drawn = {
                one["graph"]: one["families"] - chain[one["graph"]] for one in runs if one["graph"] in chain
            }
            if drawn:
                of = [(count, chain[graph]) for graph, count in drawn.items()]
                middle = [statistics.median(each) for each in zip(*of, strict=True)]
                share = statistics.median(count / needed for count, needed in of)
                draws = LETTER_DRAWS if method == BRIDGE else DRAWS
                rows.append((simulator, decay, prior, sampler, draws, middle[1], middle[0], share, len(of)))
    rows.sort(key=lambda row: (row[0], row[1], PRIORS.index(str(row[2])), row[3]))
    columns = ("simulator", "λ", "prior", "sampler", "draws", "the chain", "in its draws", "share", "graphs")
    title = "Appendix A.5: distinct families that a chain needs, and those in its draws (medians)"
    return ResultTable("families", title, columns, tuple(rows), (0, 1, 0, 0, 0, 0, 0, 2, 0))


def control(measured: Sequence[MeasuredCell], found: Found, paper: Paper) -> Iterator[str]:
    """Reasons for distances unlike the paper's: the graphs, by their edges and by BGe, without any GP."""
    edges = {int(cell.parameters["seed"]): int(cell.numbers["true_edges"]) for cell in measured}
    theirs = statistics.fmean(line.true_edges for line in paper.values())
    parts = []
    for decay in LAMBDAS:
        ratios = []
        for method in (BGE, WEIGHTED):
            runs = found.get(("code", decay, PUBLISHED, method, "partition"), [])
            if runs and comparable(runs):
                theirs_here = paper[decay, paper_name(method), "partition"].shd
                ratio = statistics.median(one["shd"] for one in mixed(runs)) / theirs_here
                ratios.append(f"{ratio:.2f} for {'BGe' if method == BGE else 'weighted GP'}")
        if ratios:
            parts.append(f"at λ = {decay:g} {' and '.join(ratios)}")
    if parts:
        yield (
            f"Ours beside the paper's. Our graphs have {statistics.fmean(edges.values()):.1f} edges on "
            f"average ({several(len(edges))}), the paper's {theirs:.1f}. The median E-SHD divided by the "
            "paper's (simulator “code”, partition MCMC, published prior) is "
            f"{'; '.join(parts)}. BGe has one formula, prior and simulator on both sides, so that its ratio "
            "is what the graphs and the chains make; only what GP has beyond that is due to the score. There "
            "the paper weights 101 draws of one chain by bridge sampling, with a Laplace score that leaves a "
            "Jacobian out; the line “GP, bridge” shows what the former does."
        )


def lines(found: Found, paper: Paper) -> Iterator[tuple[Entry, ...]]:
    """Lines of the table."""
    for simulator in SIMULATORS:
        for decay in LAMBDAS:
            for prior in PRIORS:
                for method in METHODS:
                    for sampler in SAMPLERS:
                        runs = found.get((simulator, decay, prior, method, sampler))
                        if runs:
                            like = prior == PUBLISHED and comparable(runs)
                            theirs = paper.get((decay, paper_name(method), sampler)) if like else None
                            yield (simulator, decay, prior, f"{method}, {sampler}", *numbers(runs, theirs))


def numbers(runs: Sequence[dict[str, Any]], theirs: PublishedSimulation | None) -> tuple[Entry, ...]:
    """Medians over graphs beside the paper's, and the diagnostics of the chains."""
    all_graphs, runs = len(runs), mixed(runs)
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
        all_graphs - len([one for one in runs if is_mixed(one)]),
    )


def comparable(runs: Sequence[dict[str, Any]]) -> bool:
    """True if chains have mixed and weights are worth enough draws for a number to stand beside another.

    >>> comparable([{"rhat": 1.01, "weight_ess": None}]), comparable([{"rhat": 1.01, "weight_ess": 19.0}])
    (True, False)
    >>> comparable([{"rhat": 1.22, "weight_ess": None}, {"rhat": 1.0, "weight_ess": None}])
    False
    """
    weights = median(mixed(runs), "weight_ess")
    unmixed = sum(not is_mixed(one) for one in runs)
    return (weights is None or weights >= FEWEST_DRAWS) and unmixed <= MOST_UNMIXED * len(runs)


def is_mixed(run: Mapping[str, Any]) -> bool:
    """True if the chains of a run agree."""
    return run["rhat"] is None or run["rhat"] <= LARGEST_RHAT


def mixed(runs: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """The runs whose chains agree; all where there are none.

    >>> [one["rhat"] for one in mixed([{"rhat": 1.22}, {"rhat": 1.0}])]
    [1.0]
    """
    return [one for one in runs if is_mixed(one)] or runs


def median_shd(runs: Sequence[dict[str, Any]]) -> Entry:
    """The median E-SHD of runs, with a mark where it is compared with nothing."""
    middle = median(mixed(runs), "shd")
    return middle if middle is None or comparable(runs) else f"{middle:.2f}{MARK}"


def median(runs: Sequence[dict[str, Any]], number: str) -> float | None:
    """Median of a number over runs that have it."""
    values = [one[number] for one in runs if one[number] is not None]
    return statistics.median(values) if values else None


def shd_boxes(found: Found, sampler: str, paper: Paper) -> str:
    """Figure 1: a panel for each simulator and λ, our methods under the published prior, and the paper's."""
    panels = []
    for simulator in SIMULATORS:
        for decay in LAMBDAS:
            ours = boxes(found, (simulator, decay, sampler), "shd")
            if ours:
                theirs = [
                    Box(f"{method} (paper)", Spread(line.shd, line.quartiles), published=True)
                    for (at, method, of), line in paper.items()
                    if at == decay and of in {sampler, ""}
                ]
                panels.append(BoxPanel(f"{simulator}, λ = {decay:g}", (*ours, *theirs)))
    return draw_boxes(
        panels, columns=len(LAMBDAS), y_label="E-SHD",
        title=f"GP networks, figure 1: {sampler} MCMC, published prior (lower is better)",
    )  # fmt: skip


def time_boxes(found: Found, paper: Paper) -> str:
    """Figure 2: CPU seconds of our methods under partition MCMC, and the medians of the paper's run times."""
    panels = []
    for decay in LAMBDAS:
        # Run times hardly depend on the simulator: that of the paper's data is shown, or the other one.
        of = [boxes(found, (simulator, decay, "partition"), "cpu_seconds") for simulator in ("code", "text")]
        ours = next((some for some in of if some), [])
        if ours:
            theirs = [
                Box(f"{method} (paper)", Spread(line.seconds), published=True)
                for (at, method, sampler), line in paper.items()
                if at == decay and sampler in {"partition", ""}
            ]
            panels.append(BoxPanel(f"λ = {decay:g}", (*ours, *theirs)))
    title = "GP networks, figure 2: seconds a table, partition MCMC, published prior"
    return draw_boxes(panels, columns=len(LAMBDAS), y_label="seconds", title=title, logarithmic=True)


def boxes(found: Found, where: tuple[str, float, str], number: str) -> list[Box]:
    """A box for each method that was run there under the published prior; of those without, any other."""
    simulator, decay, sampler = where
    made = []
    for method in METHODS:
        for prior in (PUBLISHED, UNIFORM):
            runs = found.get((simulator, decay, prior, method, sampler))
            if runs:
                label = method if prior == PUBLISHED else f"{method}, {prior}"
                made.append(Box(label, Spread.of([one[number] for one in mixed(runs)])))
                break
    return made


def roc_chart(found: Found, paper: Paper) -> str:
    """A panel for each λ: mean true and false positive rates of partition MCMC under the published prior."""
    panels = []
    for decay in LAMBDAS:
        series = []
        for method in METHODS:
            for simulator in ("code", "text"):
                runs = found.get((simulator, decay, PUBLISHED, method, "partition"), [])
                curves = [one["roc"] for one in mixed(runs) if one.get("roc")]
                if curves:
                    true_rate, false_rate = mean_rates(curves)
                    series.append(Series(method, false_rate, true_rate))
                    break
        if series:
            named = [(GP, "partition"), (BGE, "partition"), *((name, "") for name in OTHERS)]
            for name, sampler in named:
                found_rate, wrong_rate = paper[decay, name, sampler].rates
                series.append(Series(f"{name} (paper)", (wrong_rate,), (found_rate,), published=True))
            panels.append(ChartPanel(f"λ = {decay:g}", tuple(series)))
    if not panels:
        panels = [ChartPanel("no run under the published prior", ())]
    return draw_panels(
        panels, columns=len(LAMBDAS), x_label="false positives per true edge", y_label="true positive rate",
        title="ROC of edges: partition MCMC, published prior",
    )  # fmt: skip
