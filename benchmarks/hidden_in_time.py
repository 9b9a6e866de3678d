"""SVAR-RFCI and LPCMCI on series of which one variable is hidden, beside tigramite's LPCMCI.

    OMP_NUM_THREADS=1 python benchmarks/hidden_in_time.py [--seeds 10] [--steps 500] [-h]

Series are drawn as in `pcmci.py`, of 6 variables with lags up to 2; the last variable is hidden. The truth is
taken from the graph unrolled over many steps: two nodes are adjacent unless their observed causes separate
them, an end has a tail where its node is a cause of the other, else an arrow. All look 2 steps back at a
level of 0.01; LPCMCI makes 4 preliminary rounds, as its authors advise. The peer is in
`.bench/tigramite`.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from dagora.base.errors import DagoraWarning
from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph, split_name
from dagora.graph.separation import d_separated
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.time.lpcmci import lpcmci
from dagora.learners.time.svar_rfci import svar_rfci
from pcmci import ALPHA, PEER, Problem, Rows, draw, names_of, statistics_of
from peers import pinned, require
from report import deliver, digits, machine, markdown_table
from runs import note, one_thread, run_worker

LAGS, NODES, SEEN, ROUNDS = 2, 6, 5, 4
OURS: dict[str, Callable[..., Outcome]] = {"svar-rfci": svar_rfci, "lpcmci": lpcmci}
UNROLLED = 14

# The earlier node, the node at the present, and the marks at both.
Link = tuple[str, str, str, str]


class Tally:
    """Counts over several series."""

    def __init__(self) -> None:
        self.found = self.true = self.extra = self.absent = self.right = self.wrong = self.open = 0
        self.seconds: list[float] = []

    def add(self, truth: LaggedGraph, links: Iterable[Link]) -> None:
        """Judge the links that were found in one series."""
        whole = unrolled(truth)
        names = names_of(NODES)[:SEEN]
        pairs = [
            (f"{one}@{lag}", f"{other}@0")
            for one in names for other in names for lag in range(LAGS + 1)
            if lag or one < other
        ]  # fmt: skip
        adjacent = {pair: is_adjacent(whole, *pair, names) for pair in pairs}
        given = {(one, other): marks for one, other, *marks in links}
        self.true += sum(adjacent.values())
        self.absent += len(pairs) - sum(adjacent.values())
        for (one, other), marks in given.items():
            if not adjacent[one, other]:
                self.extra += 1
                continue
            self.found += 1
            for mark, node, end in zip(marks, (one, other), (other, one), strict=True):
                if mark not in "<>-":
                    self.open += 1
                elif (mark == "-") == (node in whole.ancestors(end)):
                    self.right += 1
                else:
                    self.wrong += 1

    def line(self, autocorrelation: float, program: str) -> list[str]:
        """The rates."""
        return [
            f"{autocorrelation:g}", program,
            f"{self.found / self.true:.2f}", f"{self.extra / self.absent:.3f}",
            f"{self.right / max(1, self.right + self.wrong):.2f}",
            f"{self.open / max(1, self.open + self.right + self.wrong):.2f}", digits(median(self.seconds)),
        ]  # fmt: skip


def unrolled(truth: LaggedGraph) -> DAG:
    """All steps from now back, named (variable)@(steps back)."""
    steps = range(UNROLLED)
    return DAG(
        [f"{name}@{back}" for back in steps for name in truth.variables],
        [
            (f"{tail}@{back + lag}", f"{head}@{back}")
            for back in steps
            for tail, head, lag in truth.edges
            if back + lag < UNROLLED
        ],
    )


def is_adjacent(whole: DAG, one: str, other: str, names: tuple[str, ...]) -> bool:
    """Return True unless the observed causes of two nodes separate them."""
    causes = {*whole.ancestors(one), *whole.ancestors(other)} - {one, other}
    return not d_separated(whole, one, other, [node for node in causes if node.partition("@")[0] in names])


def by_us(rows: Rows, learner: Callable[..., Outcome]) -> tuple[list[Link], float]:
    """The links that a method finds, and seconds."""
    statistics = statistics_of(rows)
    started = process_time()
    graph = learner(statistics, Run(), lags=LAGS, alpha=ALPHA).graph
    seconds = process_time() - started
    assert isinstance(graph, PAG)
    links = []
    for one, sign, other in graph.marked_edges:
        ends = [(*split_name(one), sign[0]), (*split_name(other), sign[2])]
        (first, lag, left), (second, _, right) = sorted(ends, key=lambda end: (-end[1], end[0]))
        links.append((f"{first}@{lag}", f"{second}@0", left, right))
    return links, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="SVAR-RFCI and LPCMCI beside tigramite.")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--autocorrelation", type=float, nargs="*", default=[0.3, 0.9])
    parser.add_argument("--output", type=Path, help="write the report to this file too")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DagoraWarning)  # that rows resemble the row before them
    require([PEER])
    names, lines = names_of(NODES), []
    for strength in arguments.autocorrelation:
        note(f"a = {strength}")
        problem = Problem(NODES, arguments.steps, strength)
        drawn = [draw(problem, seed, LAGS) for seed in range(arguments.seeds)]
        ours, theirs = {name: Tally() for name in OURS}, Tally()
        for learner in OURS.values():
            by_us(drawn[0][1][:, :SEEN], learner)  # kernels are compiled
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "series.npz"
            np.savez(file, **{f"series{k}": rows[:, :SEEN] for k, (_, rows) in enumerate(drawn)})
            done = run_worker("lpcmci_tigramite.py", file, LAGS, ALPHA, ROUNDS, peer=PEER, **one_thread())
        assert done is not None
        for (truth, rows), peer in zip(drawn, done["found"], strict=True):
            for name, learner in OURS.items():
                links, seconds = by_us(rows[:, :SEEN], learner)
                ours[name].add(truth, links)
                ours[name].seconds.append(seconds)
            theirs.add(
                truth,
                [
                    (f"{names[i]}@{lag}", f"{names[j]}@0", mark[0], mark[2])
                    for i, j, lag, mark in peer["links"]
                    if lag or i < j
                ],
            )
            theirs.seconds.append(peer["cpu"])
        lines += [tally.line(strength, f"dagora {name}") for name, tally in ours.items()]
        lines.append(theirs.line(strength, "tigramite LPCMCI"))
    header = ["a", "program", "TPR", "FPR", "marks right", "marks open", "median s"]
    parts = [f"{arguments.seeds} series each, {arguments.steps} steps.", markdown_table(header, lines)]
    deliver("\n\n".join([*parts, pinned([PEER]), machine("dagora", "numpy", "scipy")]), arguments.output)


if __name__ == "__main__":
    main()
