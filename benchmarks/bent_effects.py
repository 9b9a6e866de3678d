"""How often 95 % intervals of effects hold the truth where relations bend, by processes and by lines.

    OMP_NUM_THREADS=1 python benchmarks/bent_effects.py [--tables 60] [--columns 5] [--rows 200] [--seed 0]
        [--output FILE.md]

The graph is known; relations are sums of waves, steps, bumps and lines of the parents. The effect is that
from the lower to the upper quartile of x, on everything that it causes.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dagora
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.effect_rows import EffectRows
from dagora.graph.random_graphs import random_dag
from effects import BIG, Shares
from report import deliver, machine, markdown_table

SHAPES: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda v: np.sin(1.5 * v),
    lambda v: np.tanh(2 * v),
    lambda v: 1.5 * np.exp(-v * v),
    lambda v: v,
)
PROCESSES, LINES = "--model gp", "regression"
HEADER = ("interval", "effects", "all held", "≠ 0 held", "mean width", "refused")


class BentModel:
    """A random graph with bent relations; columns with parents have noise of 0.6."""

    def __init__(self, rng: np.random.Generator, columns: int) -> None:
        self.dag = random_dag("er", columns, 1.25, seed=int(rng.integers(1 << 31)))
        self._size = rng.uniform(0.4, 1, (columns, columns)) * rng.choice([-1, 1], (columns, columns))
        self._shape = rng.integers(0, len(SHAPES), (columns, columns))

    def draw(self, number: int, do: dict[int, float], rng: np.random.Generator) -> np.ndarray:
        """Rows, with some columns set."""
        values = np.zeros((number, len(self.dag.nodes)))
        for node in self.dag.order_indices:
            noise = rng.standard_normal(number)
            above = self.dag.parent_indices(node)
            mean = sum(self._size[a, node] * SHAPES[self._shape[a, node]](values[:, a]) for a in above)
            values[:, node] = do.get(node, mean + (0.6 if above else 1.0) * noise)
        return values

    def effect(self, x: int, y: int, to: float, base: float) -> float:
        """The true effect of a step of x."""
        means = [self.draw(BIG, {x: at}, np.random.default_rng(0))[:, y].mean() for at in (to, base)]
        return float(means[0] - means[1])


def measure(rng: np.random.Generator, columns: int, rows: int, tally: dict[str, Shares]) -> None:
    """Count the intervals of one table, by processes and by lines."""
    model = BentModel(rng, columns)
    dag = model.dag
    table = dagora.Table.from_numpy(model.draw(rows, {}, rng), dag.nodes, continuous=["all"])
    for x, name in enumerate(dag.nodes):
        for outcome in dag.descendants(name):
            found = dagora.effect(table, name, outcome, graph=dag, model="gp")
            (to,), (base,) = found.contrast.to, found.contrast.base
            truth = model.effect(x, dag.index(outcome), float(to), float(base))
            tally[PROCESSES].add(found.interval, truth)
            tally[LINES].add(effect_by_graph(dag, EffectRows(table), found.contrast).interval, truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rng, tally = np.random.default_rng(asked.seed), defaultdict[str, Shares](Shares)
    for _ in range(asked.tables):
        measure(rng, asked.columns, asked.rows, tally)
    lines = [[name, *shares.row()] for name, shares in tally.items()]
    what = f"{asked.tables} tables of {asked.columns} columns and {asked.rows} rows, seed {asked.seed}."
    text = ["## Intervals of bent effects", machine("numpy", "jax"), what, markdown_table(HEADER, lines)]
    deliver("\n\n".join(text), asked.output)


if __name__ == "__main__":
    main()
