"""What is left of a network after differential privacy: `alarm` from pair tables, NOTEARS from moments.

One owner, one release per seed and ε. Ranges of continuous columns are three standard deviations either way,
which stands for an owner who knows the columns. Targets: on `alarm` with 10⁵ rows and ε = 1 a skeleton of
F1 ≥ 0.70; NOTEARS with 20 columns, about 20 edges, 10⁴ rows and ε = 2 within SHD 2; means over the seeds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import mean

import dagora
from dagora.data.table import Table
from dagora.parties.privacy.release import release
from runs import network_file, note

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
WIDTH = 3.0  # of a range, in standard deviations either way
ALARM_TARGET, ALARM_ROWS, ALARM_EPSILON = 0.70, 100_000, 1.0
NOTEARS_TARGET, NOTEARS_ROWS, NOTEARS_EPSILON = 2.0, 10_000, 2.0

Measured = dict[float | None, list[dagora.Comparison]]


def levels(table: dagora.Table) -> dict[str, tuple[str, ...]]:
    """The levels of the simulated columns, which are known without looking at the rows."""
    return {variable.name: variable.levels for variable in table.schema}


def main() -> None:
    """Measure, print a table over ε for each problem, and say whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    warnings.simplefilter("ignore", dagora.DagoraWarning)
    met = [pairs(rows, seeds) for rows in (10_000, ALARM_ROWS)][-1]
    met &= moments(NOTEARS_ROWS, seeds)
    print("all targets met" if met else "a target is missed")


def pairs(rows: int, seeds: range) -> bool:
    """Forests by `ges` on pair tables with noise; beside them `ges` on the rows."""
    network = dagora.read_network(network_file("alarm"))
    measured: Measured = {}
    for seed in seeds:
        note(f"alarm, {rows} rows, seed {seed}")
        table = dagora.sample_network(network, rows, seed)
        for epsilon in EPSILONS:
            result = dagora.learn(release(table, key(seed), levels=levels(table), epsilon=epsilon), "ges")
            measured.setdefault(epsilon, []).append(dagora.compare(result.graph, network.graph))
        forest = dagora.learn(table, "ges", max_parents=1)
        measured.setdefault(None, []).append(dagora.compare(forest.graph, network.graph))
    f1 = show(f"alarm, {rows} rows, pairs, skeleton F1", measured, lambda judged: judged.skeleton.f1)
    show("  precision", measured, lambda judged: 1 - judged.skeleton.fdr)
    return f1[ALARM_EPSILON] >= ALARM_TARGET


def moments(rows: int, seeds: range) -> bool:
    """NOTEARS, and `ges` on Gaussian BIC, on moments with noise; beside them without."""
    by_notears: Measured = {}
    by_ges: Measured = {}
    for seed in seeds:
        note(f"20 columns, {rows} rows, seed {seed}")
        truth = dagora.random_dag("er", 20, 1, seed=seed)
        table = dagora.simulate(truth, "gaussian", rows, seed).table
        released = {e: release(table, key(seed), ranges=ranges(table), epsilon=e) for e in EPSILONS}
        for epsilon, data in {**released, None: table}.items():
            for method, measured in (("notears", by_notears), ("ges", by_ges)):
                found = dagora.learn(data, method).graph
                measured.setdefault(epsilon, []).append(dagora.compare(found, truth))
    shd = show(f"20 columns, {rows} rows, moments, notears SHD", by_notears, lambda judged: judged.shd)
    show("  ges, CPDAG SHD", by_ges, lambda judged: judged.cpdag.shd)
    return shd[NOTEARS_EPSILON] <= NOTEARS_TARGET


def key(seed: int) -> bytes:
    """A key for a benchmark: it must be repeatable, so it is no secret."""
    return seed.to_bytes(32, "big")


def ranges(table: Table) -> dict[str, tuple[float, float]]:
    """Three standard deviations either way of the mean."""
    return {
        name: (column.mean() - WIDTH * column.std(), column.mean() + WIDTH * column.std())
        for name, column in zip(table.names, table.columns, strict=True)
    }


def show(
    title: str, measured: Measured, value: Callable[[dagora.Comparison], float]
) -> dict[float | None, float]:
    """Print means over the seeds, one per ε; None is without noise."""
    means = {epsilon: mean(map(value, judged)) for epsilon, judged in measured.items()}
    cells = [f"{'no noise' if e is None else f'ε={e:g}'} {figure:.2f}" for e, figure in means.items()]
    print(f"{title}: {', '.join(cells)}", flush=True)
    return means


if __name__ == "__main__":
    main()
