"""Kernel PC, DiBS+ and the empty graph on the proteins of table 1.

Rows, logarithms and truth are those of `table1`. Kernel PC has the settings of the published code: 200
samples of half as many rows, drawn with replacement, level 0.1, sets of at most 4 to condition on. The
samples are measured in parts, each with a seed of its own, and averaged.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dagora.formats.registry import read_graph
from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.gpn.other_methods import (
    CHOSEN_PAR,
    DIBS,
    EMPTY,
    NEURAL,
    PAPER_NAMES,
    PARTICLES,
    PUBLISHED_WAY,
    evaluate_graphs,
    like,
    published_dibs,
    timed_graphs,
    versus,
)
from dagora.papers.gpn.published import SACHS, OnProteins, published_proteins
from dagora.papers.gpn.sampled import unless_cut_short
from dagora.papers.gpn.table1 import CONSENSUS, DATA, proteins
from dagora.papers.reference_data import reference_file
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable

# All parts together have the 200 samples of the published code; level and sets are its own.
QUICK_PARTS, FULL_PARTS = 1, 4
KERNEL_PC: Parameters = {"alpha": 0.1, "samples": 50, "max_given": 4}
METHODS: dict[str, Parameters] = {
    "kPC-DC, N/2 with replacement": {"method": "kpc-dc", "resample": PUBLISHED_WAY, **KERNEL_PC},
    "kPC-DC, halves": {"method": "kpc-dc", "resample": "halves", **KERNEL_PC},
    "kPC-HSIC, N/2 with replacement": {"method": "kpc-hsic", "resample": PUBLISHED_WAY, **KERNEL_PC},
    **{f"DiBS+, par = {par:g}": published_dibs(par, 20) for par in (1.0, CHOSEN_PAR)},
    "DiBS+ on BGe": {"method": DIBS, "particles": 20},
    "empty graph": {"method": EMPTY},
}
ONCE = (*PARTICLES, EMPTY)  # methods that have no samples to be measured in parts

NOTES = paragraphs("""
853 rows of the first experiment, columns log2(x + ½) and standardised; the truth is the consensus graph of 17
edges: the data of `gpn/table1`. The paper's values are from the result files of its authors; those that it
prints (E-SHD, E-TP, E-FP, the two edges) are the same, rounded.

E-TP and E-FP count a reversed edge as half true and half false, and a pair that is joined without a direction
as reversed, as the published code does: E-SHD = 17 − E-TP + E-FP. In the columns of single edges one without
a direction counts as both, Erk → Akt and Akt → Erk, there too. The empty graph has an E-SHD of 17: what does
not beat it has found nothing.

Kernel PC has the settings of the published code: samples of 426 rows drawn with replacement, level 0.1, sets
of at most 4 to condition on; the paper has 200 samples. “halves” draws 426 of the 853 rows without
replacement, the library's default for methods that test. Ours is not their program (the R package kpcalg):
permutations are replaced by their moments, and graphs have no cycles and no v-structures but those that tests
found. How theirs took the class of a graph with undirected edges is not at hand; ours stands for itself.

DiBS+ in the paper has 20 particles, neural networks with one hidden layer of 5 nodes for the relations, and
gives every particle the same weight; so have the lines “par”, which are measured with --full alone: hours on
one core, half a minute on a GPU. The noise has a variance of 0.1 par, weights a prior standard deviation of
par, graphs the scale-free prior. Which par this table of the paper has is not at hand: in its simulations the
authors chose 2; 1 is the default of their package, and with it ours are nearest to the paper's. “On BGe” is
DiBS+ on a marginal score, which the paper has not: 20 particles in the space of graphs, weighed by their
graphs' scores.

CPU seconds are of one core, all samples or particles together, compilation not. The paper's are by the clock,
on its own machine, and have one run of kernel PC on all rows more. The cells kept with this page are from a
machine with 16 cores (x86_64); the lines “par” had its GPU (NVIDIA H200), whose time their CPU seconds leave
out. No edge here is a claim about causes.
""")


def table1_others(size: Size) -> Experiment:
    """Make the experiment; cells go part by part."""
    for name in (DATA, CONSENSUS, SACHS):
        reference_file(name)
    cells = [
        {**options, "seed": seed}
        for seed in size.seeds(QUICK_PARTS, FULL_PARTS)
        for options in METHODS.values()
        if seed == size.seed or options["method"] not in ONCE
        if size.full or options["method"] != NEURAL
    ]
    return Experiment("gpn/table1-others", tuple(cells), measure, report)


@unless_cut_short
def measure(parameters: Parameters, run: Run) -> Numbers:
    """One part of one method on the proteins."""
    table = proteins()
    truth = DAG(table.names, read_graph(reference_file(CONSENSUS)).edges)
    graphs, shares, seconds = timed_graphs(parameters, table, run)
    erk, akt, pka = (table.names.index(name) for name in ("Erk", "Akt", "PKA"))
    return {
        **evaluate_graphs(graphs, shares, truth),
        "erk_akt": float(shares @ graphs[:, erk, akt]),
        "erk_pka_absent": 1.0 - float(shares @ graphs[:, erk, pka]),
        "cpu_seconds": seconds,
    }


def report(measured: Sequence[MeasuredCell]) -> Report:
    """One table, each number beside the paper's."""
    paper = published_proteins()
    measures = ("E-SHD", "E-TP", "E-FP", "Erk → Akt", "Erk ↛ PKA", "E-SHD of classes", "CPU s")
    pairs = (column for name in measures for column in (name, f"{name} (paper)"))
    columns = ("method", *pairs, "edges", "samples")
    digits = (0, *[1] * 6, *[2] * 4, 1, 1, 0, 0, 1, 0)
    rows = tuple(lines(measured, paper))
    table = ResultTable("table1", "Each number beside the paper's", columns, rows, digits)
    return Report(
        "gpn/table1-others: kernel PC, DiBS+ and the empty graph on the proteins of table 1",
        (table,),
        {},
        (*NOTES, *within_one(measured, paper)),
    )


def lines(
    measured: Sequence[MeasuredCell], paper: Mapping[tuple[str, str], OnProteins]
) -> Iterator[tuple[Entry, ...]]:
    """A line for each method: means over its parts, and the seconds of all of them."""
    for label, options in METHODS.items():
        cells = like(measured, options)
        if cells:
            means = {name: mean(cells, name) for name in cells[0].numbers}
            theirs = paper.get((PAPER_NAMES.get(str(options["method"]), ""), ""))
            ours = (
                means["shd"], means["tp"], means["fp"], means["erk_akt"], means["erk_pka_absent"],
                means["class_shd"], means["cpu_seconds"] * len(cells),
            )  # fmt: skip
            beside: tuple[Entry, ...] = (None,) * len(ours)
            if theirs is not None:
                beside = (
                    theirs.shd, theirs.true_edges, theirs.false_edges, theirs.erk_akt, theirs.erk_pka_absent,
                    theirs.class_shd, theirs.seconds,
                )  # fmt: skip
            pairs = (number for pair in zip(ours, beside, strict=True) for number in pair)
            yield (label, *pairs, means["edges"], count_graphs(options, len(cells)))


def count_graphs(options: Parameters, parts: int) -> int | None:
    """The number of graphs that a line is a mean of; the empty graph counts as none.

    >>> count_graphs({"method": "kpc-dc", "samples": 50}, 4)
    200
    """
    each: Any = options.get("samples", options.get("particles"))
    return None if each is None else int(each) * parts


def mean(cells: Sequence[MeasuredCell], number: str) -> float:
    """Mean of a number over parts, which have equally many samples."""
    return statistics.fmean(cell.numbers[number] for cell in cells)


def within_one(
    measured: Sequence[MeasuredCell], paper: Mapping[tuple[str, str], OnProteins]
) -> Iterator[str]:
    """The distance of kernel PC on N/2 rows with replacement, and of DiBS+, from the paper's lines."""
    parts = []
    for label, options in METHODS.items():
        cells = like(measured, options)
        neural = options["method"] == NEURAL
        if cells and (neural or options.get("resample") == PUBLISHED_WAY):
            name = PAPER_NAMES[str(options["method"])]
            graphs = f"{count_graphs(options, len(cells))} {'particles' if neural else 'samples'}"
            near = versus(mean(cells, "shd"), paper[name, ""].shd)
            parts.append(f"{label} {near} ({graphs})")
    if parts:
        yield f"E-SHD against the paper's: {'; '.join(parts)}."
