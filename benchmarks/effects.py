"""How often 95 % intervals of effects hold the truth, on simulated tables; and how long all pairs take.

    python -m benchmarks.effects --tables 200

For each kind of columns, the graph is known, its class is known, one graph is learned and taken as true, or
graphs are averaged over. Told are the shares of all effects, and of those that are not zero, that intervals
hold, and the mean width where the effect is not zero. With `--kinds bent` relations bend, and Gaussian
processes are measured beside regression, with the graph known.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import dagora
from dagora.effects.all_pairs import average_all
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import read_contrast
from dagora.effects.drawn_graphs import drawn_from
from dagora.effects.effect_ranges import effect_ranges
from dagora.effects.effect_rows import EffectRows
from dagora.graph.knowledge import Knowledge
from dagora.graph.random_graphs import random_dag
from dagora.stats.table import TableStatistics

BIG = 40_000  # rows from which the truth of models that are not linear is computed


Simulated = tuple[dagora.Table, dagora.DAG, Callable[[int, int], float]]


def linear_table(rng: np.random.Generator, columns: int, rows: int) -> Simulated:
    """A table, its graph and the true effects of all pairs."""
    dag = random_dag("er", columns, 1.25, seed=int(rng.integers(1 << 31)))
    matrix = dag.to_numpy()
    weights = np.where(matrix, rng.uniform(0.2, 1, matrix.shape) * rng.choice([-1, 1], matrix.shape), 0)
    total = np.linalg.inv(np.eye(columns) - weights)
    values = rng.standard_normal((rows, columns)) @ total
    table = dagora.Table.from_numpy(values, dag.nodes, continuous=["all"])
    return table, dag, lambda x, y: float(total[x, y])


def event_table(rng: np.random.Generator, columns: int, rows: int, *, mixed: bool) -> Simulated:
    """Columns 0, 2, … are binary; the others too, or continuous; effects of the binary ones are known."""
    dag = random_dag("er", columns, 1.2, seed=int(rng.integers(1 << 31)))
    matrix = dag.to_numpy()
    weights = np.where(matrix, rng.uniform(0.4, 1.2, matrix.shape) * rng.choice([-1, 1], matrix.shape), 0)
    continuous = [mixed and place % 2 == 1 for place in range(columns)]

    def draw(number: int, do: dict[int, float]) -> np.ndarray:
        values = np.zeros((number, columns))
        for node in dag.order_indices:
            mean = (values - 0.5 * ~np.array(continuous)) @ weights[:, node]
            noise = rng.standard_normal(number) if continuous[node] else rng.random(number)
            drawn = mean + noise if continuous[node] else (noise < 1 / (1 + np.exp(-mean))).astype(float)
            values[:, node] = do.get(node, drawn)
        return values

    values = draw(rows, {})
    frame = {
        name: values[:, place] if continuous[place] else np.where(values[:, place] > 0, "yes", "no")
        for place, name in enumerate(dag.nodes)
    }
    table = dagora.Table.from_frame(pd.DataFrame(frame))

    def truth(x: int, y: int) -> float:
        if dag.nodes[y] not in dag.descendants(dag.nodes[x]):
            return 0.0
        return float(draw(BIG, {x: 1.0})[:, y].mean() - draw(BIG, {x: 0.0})[:, y].mean())

    return table, dag, truth


def bent_table(
    rng: np.random.Generator, columns: int, rows: int
) -> tuple[dagora.Table, dagora.DAG, Callable[[int, int, float, float], float]]:
    """A table of sums of waves, steps and bumps of the parents, its graph, and true effects of a step."""
    dag = random_dag("er", columns, 1.25, seed=int(rng.integers(1 << 31)))
    shapes = (
        lambda v: np.sin(1.5 * v),
        lambda v: np.tanh(2 * v),
        lambda v: 1.5 * np.exp(-v * v),
        lambda v: v,
    )
    size = rng.uniform(0.4, 1, (columns, columns)) * rng.choice([-1, 1], (columns, columns))
    shape = rng.integers(0, len(shapes), (columns, columns))

    def draw(number: int, do: dict[int, float], rng: np.random.Generator) -> np.ndarray:
        values = np.zeros((number, columns))
        for node in dag.order_indices:
            noise = rng.standard_normal(number)
            above = dag.parent_indices(node)
            mean = sum(size[a, node] * shapes[shape[a, node]](values[:, a]) for a in above)
            values[:, node] = do.get(node, mean + (0.6 if above else 1.0) * noise)
        return values

    def truth(x: int, y: int, to: float, base: float) -> float:
        means = [draw(BIG, {x: at}, np.random.default_rng(0))[:, y].mean() for at in (to, base)]
        return float(means[0] - means[1])

    return dagora.Table.from_numpy(draw(rows, {}, rng), dag.nodes, continuous=["all"]), dag, truth


class Tally:
    """Counts of intervals that hold the truth."""

    def __init__(self) -> None:
        self.held: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)

    def add(self, name: str, interval: tuple[float, float], truth: float) -> None:
        """Count one interval."""
        low, high = interval
        self.held[name].append((low - 1e-9 <= truth <= high + 1e-9, truth != 0, high - low))

    def lines(self) -> Iterator[str]:
        """A line for each kind of interval."""
        for name, found in self.held.items():
            held, real, width = (np.array(column) for column in zip(*found, strict=True))
            at_real = f"{held[real].mean():6.3f}{width[real].mean():8.3f}" if real.any() else ""
            yield f"{name:<44}{len(held):8d}{held.mean():8.3f}{at_real}"


def measure(
    kind: str, rng: np.random.Generator, columns: int, rows: int, tally: Tally, *, learned: bool
) -> None:
    """Count the intervals of all pairs of one table."""
    table, dag, truth = (
        linear_table(rng, columns, rows)
        if kind == "linear"
        else event_table(rng, columns, rows, mixed=kind == "mixed")
    )
    held = EffectRows(table)
    averaged = None
    if learned and kind == "linear":
        posterior = dagora.sample(table, "exact", draws=250, seed=0)
        averaged = average_all(drawn_from(posterior, Knowledge(), ()), TableStatistics(table))
    result = dagora.learn(table) if learned else None
    for x in range(columns):
        if kind != "linear" and table.schema[x].levels == ():
            continue
        for y in set(range(columns)) - {x}:
            contrast = read_contrast(table, table.names[x], table.names[y])
            real = truth(x, y)
            known = effect_by_graph(dag, held, contrast)
            if known.verdict != "zero":
                tally.add(f"{kind}: graph known", known.interval, real)
            class_ = effect_by_graph(dagora.CPDAG.from_dag(dag), held, contrast)
            tally.add(f"{kind}: class known, all intervals", class_.interval or class_.range, real)
            if result is not None:
                one = effect_by_graph(result.graph, held, contrast)
                tally.add(f"{kind}: one learned graph taken as true", one.interval, real)
                one = effect_by_graph(result.cpdag, held, contrast)
                tally.add(f"{kind}: learned class, all intervals", one.interval or one.range, real)
                if averaged is not None:
                    ends = (averaged.low[x, y], averaged.high[x, y])
                    tally.add(f"{kind}: averaged over the posterior", ends, real)
                elif kind == "discrete":
                    found = dagora.effect(table, table.names[x], table.names[y], draws=250)
                    tally.add(f"{kind}: averaged over the posterior", found.interval, real)


def measure_bent(rng: np.random.Generator, columns: int, rows: int, tally: Tally) -> None:
    """Count the intervals from one quartile of x to the other, by processes and by lines."""
    table, dag, truth = bent_table(rng, columns, rows)
    held = EffectRows(table)
    for x, name in enumerate(dag.nodes):
        for outcome in dag.descendants(name):
            found = dagora.effect(table, name, outcome, graph=dag, model="gp")
            (to,), (base,) = found.contrast.to, found.contrast.base
            real = truth(x, dag.index(outcome), float(to), float(base))
            tally.add("bent: graph known, model gp", found.interval, real)
            line = effect_by_graph(dag, held, found.contrast)
            tally.add("bent: graph known, regression", line.interval, real)


def time_all_pairs(columns: int = 30, number: int = 2000) -> float:
    """Seconds for the effects of all pairs of columns from graphs that were drawn already."""
    rng = np.random.default_rng(0)
    table, _, _ = linear_table(rng, columns, 500)
    posterior = dagora.sample(table, "partition", draws=number // 4, seed=0)
    drawn = drawn_from(posterior, Knowledge(), ())
    average_all(drawn, TableStatistics(table))  # compiles
    start = time.perf_counter()
    average_all(drawn, TableStatistics(table))
    return time.perf_counter() - start


def time_class(columns: int) -> float:
    """Seconds for the effects of all pairs of columns over a class, the least of three."""
    table, dag, _ = linear_table(np.random.default_rng(0), columns, 2000)
    class_, statistics = dagora.CPDAG.from_dag(dag), TableStatistics(table)
    statistics.moments()
    seconds = []
    for _ in range(4):  # the first compiles
        start = time.perf_counter()
        effect_ranges(class_, statistics)
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:])


def main() -> None:
    """Print the shares and the seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--kinds", default="linear,discrete,mixed")
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--known", action="store_true", help="only with graph and class known")
    parser.add_argument("--time", action="store_true", help="time the effects of all pairs, too")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    tally = Tally()
    for kind in asked.kinds.split(","):
        rng = np.random.default_rng(0)
        for _ in range(asked.tables):
            if kind == "bent":
                measure_bent(rng, asked.columns, asked.rows, tally)
                continue
            measure(kind, rng, asked.columns, asked.rows, tally, learned=not asked.known)
    print(f"{'interval':<44}{'number':>8}{'all':>8}{'≠ 0':>6}{'width':>8}")
    print("\n".join(tally.lines()))
    if asked.time:
        print(f"all pairs of 30 columns from 2000 graphs: {time_all_pairs():.2f} s")
        for columns in (100, 1000):
            print(f"all pairs of {columns} columns over a class: {time_class(columns):.3f} s")


if __name__ == "__main__":
    main()
