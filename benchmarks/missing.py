"""Learning from tables with holes: graphs and parameters, beside what people do instead.

    python benchmarks/missing.py NETWORKS [--samples 3]

NETWORKS is a folder with child.bif.gz and alarm.bif.gz. For 5, 20 and 40 % of missing values, completely at
random (MCAR) and depending on values seen (MAR): the SHD of CPDAGs, the log-likelihood per row that is lost
on new rows against the true network, and CPU seconds, each a mean over samples of 2000 rows. Then the loss of
parameters on the true graph.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dagora
from dagora.data.incomplete import IncompleteTable
from dagora.network.incomplete.fitting import first_tables, normalise

ROWS, NEW_ROWS = 2000, 10_000
HOLES = [f"{how}:{share}" for how in ("mcar", "mar") for share in (0.05, 0.2, 0.4)]
Learned = tuple[dagora.DAG, dagora.DiscreteNetwork | None]


def complete(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    graph = dagora.learn(whole).graph
    return graph, dagora.fit(graph, whole, ess=1.0)


def structural_em(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    graph = dagora.learn(holes).graph
    return graph, dagora.fit(graph, holes, ess=1.0)


def observed(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    graph = dagora.learn(holes, em_rounds=0).graph
    return graph, dagora.fit(graph, holes, ess=1.0)


def drop(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    left = holes.complete
    graph = dagora.learn(left).graph if left.n_rows > 1 else dagora.DAG(holes.names)
    return graph, dagora.fit(graph, left, ess=1.0)


def mode(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    columns = [
        np.where(seen, column, np.bincount(column[seen]).argmax()).astype(np.uint16)
        for column, seen in zip(holes.columns, holes.seen, strict=True)
    ]
    filled = dagora.Table(holes.schema, tuple(columns))
    graph = dagora.learn(filled).graph
    return graph, dagora.fit(graph, filled, ess=1.0)


def level(whole: dagora.Table, holes: IncompleteTable) -> Learned:  # noqa: ARG001
    variables, columns = [], []
    for variable, column, seen in zip(holes.schema, holes.columns, holes.seen, strict=True):
        more = () if seen.all() else ("missing",)
        variables.append(dagora.Variable(variable.name, variable.kind, (*variable.levels, *more)))
        columns.append(np.where(seen, column, len(variable.levels)).astype(np.uint16))
    return dagora.learn(dagora.Table(dagora.Schema(variables), tuple(columns))).graph, None


WAYS: dict[str, Callable[[dagora.Table, IncompleteTable], Learned]] = {
    "complete data": complete,
    "structural EM (default)": structural_em,
    "observed BIC": observed,
    "mode": mode,
    "own level": level,
    "drop rows": drop,
}


def available_cases(graph: dagora.DAG, holes: IncompleteTable) -> dagora.DiscreteNetwork:
    levels = {v.name: v.levels for v in holes.schema}
    shapes = {node: tuple(len(levels[x]) for x in (*graph.parents(node), node)) for node in graph}
    tables = {node: normalise(table) for node, table in first_tables(graph, holes, shapes, None).items()}
    return dagora.DiscreteNetwork(graph, levels, tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", type=Path)
    parser.add_argument("--samples", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in ("child", "alarm"):
        truth = dagora.read_network(arguments.networks / f"{name}.bif.gz")
        new = dagora.sample_network(truth, NEW_ROWS, 10_000)
        best = dagora.log_likelihood(truth, new) / NEW_ROWS
        print(f"\n{name}: SHD / loss per new row / CPU s")
        print("| holes | " + " | ".join(WAYS) + " |")
        print("|---" * (len(WAYS) + 1) + "|")
        for holes in HOLES:
            found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
            for sample in range(arguments.samples):
                whole = dagora.sample_network(truth, ROWS, 1 + sample)
                punched = dagora.punch_holes(whole, holes, 1 + sample)
                for way, learn in WAYS.items():
                    started = time.process_time()
                    graph, network = learn(whole, punched)
                    spent = time.process_time() - started
                    loss = (
                        np.nan if network is None else best - dagora.log_likelihood(network, new) / NEW_ROWS
                    )
                    found[way].append((dagora.compare(graph, truth.graph).cpdag.shd, loss, spent))
            cells = [" / ".join(f"{x:.{k}f}" for x, k in zip(np.mean(all_, axis=0), (1, 2, 1), strict=True))
                     for all_ in found.values()]  # fmt: skip
            print(f"| {holes} | " + " | ".join(cells).replace("nan", "–") + " |", flush=True)
        print(f"\n{name}, true graph: loss per new row of parameters")
        print("| holes | EM | available cases | complete data |")
        print("|---|---|---|---|")
        for holes in HOLES:
            losses = []
            for sample in range(arguments.samples):
                whole = dagora.sample_network(truth, ROWS, 1 + sample)
                punched = dagora.punch_holes(whole, holes, 1 + sample)
                networks = (
                    dagora.fit(truth.graph, punched, ess=1.0),
                    available_cases(truth.graph, punched),
                    dagora.fit(truth.graph, whole, ess=1.0),
                )
                losses.append([best - dagora.log_likelihood(one, new) / NEW_ROWS for one in networks])
            print(
                f"| {holes} | " + " | ".join(f"{x:.2f}" for x in np.mean(losses, axis=0)) + " |", flush=True
            )


if __name__ == "__main__":
    main()
