"""How often 95 % intervals of effects hold the truth, on simulated tables.

    OMP_NUM_THREADS=1 python benchmarks/effects.py [--tables 2000] [--kinds linear discrete mixed] [--seed 0]
        [--columns 6] [--rows 400] [--known] [--jobs 1] [--output FILE.md]

For each kind of columns, the graph is known, its class is known, one graph is learned and taken as true, or
graphs are averaged over (250 exact draws). Of a class, the interval of the member that directs the edges as
they are is judged, and all intervals together. Told are the shares that intervals hold of all effects and of
those that are not zero, and the mean width where the effect is not zero. Continuous columns have the linear
effect of one unit. In tables of both kinds, every other column is binary, and only these are set.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

import dagora
from dagora.base.errors import DagoraError
from dagora.effects.all_pairs import AllEffects, average_all
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast, read_contrast
from dagora.effects.drawn_graphs import drawn_from
from dagora.effects.effect_rows import EffectRows
from dagora.effects.mixed_pairs import average_pairs
from dagora.effects.result import Effect
from dagora.graph.cpdag import Graph
from dagora.graph.knowledge import Knowledge
from dagora.graph.random_graphs import random_dag
from dagora.stats.table import TableStatistics
from report import deliver, machine, markdown_table, promises, verdict
from runs import note

KINDS = ("linear", "discrete", "mixed")
DRAWS = 250  # of each of four chains
BIG = 40_000  # rows from which the truth is computed where there is no formula
TOGETHER = 100  # tables between two notes of progress
TITLE = "## Intervals of effects"
HEADER = ("columns", "interval", "effects", "all held", "≠ 0 held", "mean width", "refused")
KNOWN, CLASS, ALL_OF_CLASS = "graph known", "class known, the true directions", "class known, all together"
ONE, ALL_OF_ONE = "one learned graph taken as true", "learned class, all together"
AVERAGED = "averaged over the posterior"
NAMES = (KNOWN, CLASS, ALL_OF_CLASS, ONE, ALL_OF_ONE, AVERAGED)

Interval = tuple[float, float]
Truth = Callable[[int, int], float]


@dataclass(frozen=True)
class Simulated:
    """A table, its graph, and the true effect of one column on another."""

    table: dagora.Table
    dag: dagora.DAG
    truth: Truth


@dataclass
class Shares:
    """What intervals of one kind held."""

    held: list[bool] = field(default_factory=list)
    real: list[bool] = field(default_factory=list)
    width: list[float] = field(default_factory=list)
    refused: int = 0

    def add(self, found: Interval | None, truth: float) -> None:
        """Count one interval; None where there is no answer."""
        if found is None or np.isnan(found[0]):
            self.refused += 1
            return
        low, high = found
        self.held.append(low - 1e-9 <= truth <= high + 1e-9)
        self.real.append(truth != 0)
        self.width.append(high - low)

    def join(self, other: Shares) -> None:
        """Count those of other tables."""
        self.held += other.held
        self.real += other.real
        self.width += other.width
        self.refused += other.refused

    @property
    def at_all(self) -> float:
        """The share held of all effects."""
        return float(np.mean(self.held))

    @property
    def at_real(self) -> float:
        """The share held of effects that are not zero."""
        return float(np.mean(np.array(self.held)[self.real]))

    def row(self) -> list[str]:
        """Cells of the table."""
        width = float(np.mean(np.array(self.width)[self.real]))
        numbers = [f"{number:.3f}" for number in (self.at_all, self.at_real, width)]
        return [f"{len(self.held)}", *numbers, f"{self.refused}"]


Tally = defaultdict[str, Shares]


def simulate(kind: str, rng: np.random.Generator, columns: int, rows: int) -> Simulated:
    """A table of a kind."""
    if kind == "linear":
        return linear_table(rng, columns, rows)
    return event_table(rng, columns, rows, mixed=kind == "mixed")


def linear_table(rng: np.random.Generator, columns: int, rows: int) -> Simulated:
    """Continuous columns with Gaussian noise."""
    dag = random_dag("er", columns, 1.25, seed=int(rng.integers(1 << 31)))
    matrix = dag.to_numpy()
    weights = np.where(matrix, rng.uniform(0.2, 1, matrix.shape) * rng.choice([-1, 1], matrix.shape), 0)
    total = np.linalg.inv(np.eye(columns) - weights)
    values = rng.standard_normal((rows, columns)) @ total
    table = dagora.Table.from_numpy(values, dag.nodes, continuous=["all"])
    caused = np.array([[y in dag.descendants(x) for y in dag.nodes] for x in dag.nodes])
    return Simulated(table, dag, lambda x, y: float(total[x, y] * caused[x, y]))


@dataclass(frozen=True)
class LogisticModel:
    """Binary columns with logistic chances, and continuous ones with linear means and unit noise."""

    order: tuple[int, ...]
    weights: np.ndarray
    continuous: np.ndarray

    def mean(self, values: np.ndarray, node: int) -> np.ndarray:
        """The mean of a continuous node, or the logit of a binary one."""
        return (values - 0.5 * ~self.continuous) @ self.weights[:, node]

    def draw(self, rng: np.random.Generator, number: int, do: dict[int, float]) -> np.ndarray:
        """Rows in which some columns are set."""
        values = np.zeros((number, len(self.order)))
        for node in self.order:
            mean = self.mean(values, node)
            if self.continuous[node]:
                drawn = mean + rng.standard_normal(number)
            else:
                drawn = rng.random(number) < 1 / (1 + np.exp(-mean))
            values[:, node] = do.get(node, drawn)
        return values

    def means(self, x: int, level: float) -> np.ndarray:
        """The means of all columns where x is set: of binary ones exactly, else from many rows."""
        if self.continuous.any():
            return self.draw(np.random.default_rng(0), BIG, {x: level}).mean(axis=0)
        states = np.array(list(product((0.0, 1.0), repeat=len(self.order))))
        chances = (states[:, x] == level).astype(float)
        for node in set(self.order) - {x}:
            event = 1 / (1 + np.exp(-self.mean(states, node)))
            chances *= np.where(states[:, node], event, 1 - event)
        return chances @ states


def event_table(rng: np.random.Generator, columns: int, rows: int, *, mixed: bool) -> Simulated:
    """Binary columns; with `mixed`, every other one is continuous. Effects of the binary ones are known."""
    dag = random_dag("er", columns, 1.2, seed=int(rng.integers(1 << 31)))
    matrix = dag.to_numpy()
    weights = np.where(matrix, rng.uniform(0.4, 1.2, matrix.shape) * rng.choice([-1, 1], matrix.shape), 0)
    continuous = np.array([mixed and place % 2 == 1 for place in range(columns)])
    model = LogisticModel(tuple(dag.order_indices), weights, continuous)
    values = model.draw(rng, rows, {})
    cells = {
        name: values[:, place] if continuous[place] else np.where(values[:, place] > 0, "yes", "no")
        for place, name in enumerate(dag.nodes)
    }
    changes = cache(lambda x: model.means(x, 1.0) - model.means(x, 0.0))

    def truth(x: int, y: int) -> float:
        return float(changes(x)[y]) if dag.nodes[y] in dag.descendants(dag.nodes[x]) else 0.0

    return Simulated(dagora.Table.from_frame(pa.table(cells)), dag, truth)


def measure(kind: str, columns: int, rows: int, seed: int, known: bool, number: int) -> Tally:
    """The intervals of all pairs of one table."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, KINDS.index(kind), number])
    one = simulate(kind, rng, columns, rows)
    class_, held = dagora.CPDAG.from_dag(one.dag), EffectRows(one.table)
    learned = None if known else dagora.learn(one.table)
    averaged = None if known else average(one.table)
    tally = Tally(Shares)
    for x, y in product(range(columns), repeat=2):
        if x == y or (kind != "linear" and not one.table.schema[x].levels):
            continue
        truth, contrast = one.truth(x, y), read_contrast(one.table, one.dag.nodes[x], one.dag.nodes[y])
        found = answer(one.dag, held, contrast)
        if found is None or found.verdict != "zero":
            tally[KNOWN].add(found and found.interval, truth)
        found = answer(class_, held, contrast)
        if found is None or found.verdict != "zero":
            tally[CLASS].add(found and of_true_directions(found, one.dag), truth)
        tally[ALL_OF_CLASS].add(found and (found.interval or found.range), truth)
        if learned is not None and averaged is not None:
            found = answer(learned.graph, held, contrast)
            tally[ONE].add(found and found.interval, truth)
            found = answer(learned.cpdag, held, contrast)
            tally[ALL_OF_ONE].add(found and (found.interval or found.range), truth)
            tally[AVERAGED].add((averaged.low[x, y], averaged.high[x, y]), truth)
    return tally


def average(table: dagora.Table) -> AllEffects:
    """The effects of all pairs, averaged over exact draws of graphs."""
    drawn = drawn_from(dagora.sample(table, "exact", draws=DRAWS, seed=0), Knowledge(), ())
    if all(not variable.levels for variable in table.schema):
        return average_all(drawn, TableStatistics(table))
    return average_pairs(drawn, EffectRows(table))


def answer(graph: Graph, rows: EffectRows, contrast: EffectContrast) -> Effect | None:
    """The effect by a graph; None where rows do not give it."""
    try:
        return effect_by_graph(graph, rows, contrast)
    except DagoraError:
        return None


def of_true_directions(found: Effect, dag: dagora.DAG) -> Interval:
    """The interval of an identified effect, else that of the member of the class that has the arrows."""
    if found.interval is not None:
        return found.interval
    arrows = set(dag.edges)
    member = next(one for one in found.members if set(one.edges) <= arrows)
    interval = member.estimates["difference"]
    return interval.low, interval.high


def measure_all(kind: str, tables: int, jobs: int, job: Callable[[int], Tally]) -> Tally:
    """All tables of a kind, so many side by side."""
    found = Tally(Shares)
    with ProcessPoolExecutor(jobs) as pool:
        for number, tally in enumerate(pool.map(job, range(tables), chunksize=4), 1):
            for name, shares in tally.items():
                found[name].join(shares)
            if number % TOGETHER == 0:
                told = "; ".join(f"{a} {b.at_all:.3f} {b.at_real:.3f}" for a, b in found.items())
                note(f"{kind}, {number} tables: {told}")
    return found


def judge(kind: str, tally: Tally) -> Iterator[list[str]]:
    """What is promised of the intervals of a kind."""
    for name in (KNOWN, CLASS):
        share = tally[name].at_real
        kept = verdict(0.93 <= share <= 0.97)
        yield [f"{kind}, {name}", "93 to 97 % of the effects ≠ 0", f"{share:.1%}", kept]
    if AVERAGED in tally:
        shares = tally[AVERAGED]
        yield [
            f"{kind}, {AVERAGED}",
            "at least 94 % of all, 92 % of those ≠ 0",
            f"{shares.at_all:.1%}, {shares.at_real:.1%}",
            verdict(shares.at_all >= 0.94 and shares.at_real >= 0.92),
        ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--known", action="store_true", help="only with graph and class known")
    parser.add_argument("--jobs", type=int, default=1, help="tables side by side")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    asked = parser.parse_args(arguments)
    about = machine("numpy", "numba")
    lines, judged = [], []
    for kind in asked.kinds:
        job = partial(measure, kind, asked.columns, asked.rows, asked.seed, asked.known)
        tally = measure_all(kind, asked.tables, asked.jobs, job)
        lines += [[kind, name, *tally[name].row()] for name in NAMES if name in tally]
        judged += list(judge(kind, tally))
    size = f"{asked.columns} columns and {asked.rows} rows"
    what = f"{asked.tables} tables of {size} of each kind, seed {asked.seed}; nominal 95 %."
    text = [TITLE, about, what, markdown_table(HEADER, lines), promises(judged)]
    deliver("\n\n".join(text), asked.output)


if __name__ == "__main__":
    main()
