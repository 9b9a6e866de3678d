"""What interventions are worth: the same rows, with and without being told which variable was set.

Simulated: random graphs of d columns, linear with Gaussian noise. In half of the rows one of half the columns
is set to noise of its own. SHD of the graph itself by `auto`, told and not told, and on as many rows in which
nothing was set; SHD of the class by `ges`, told and not told. With the data folder also the nine experiments
on protein signalling (Sachs et al. 2005), told and not told, against the consensus graph.

    python benchmarks/interventions.py [--columns 10] [--rows 2000] [--graphs 20]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import mean

import numpy as np

import dagora
from dagora.graph.interventions import interventional_cpdag
from dagora.graph.random_graphs import random_dag

SACHS = "experiment:3=Akt,4=PKC,5=PIP2,6=Mek,7=PIP3,8=PKC,9=PKA"


def linear_rows(graph, weights, target, rows, rng):
    """Rows of a linear model; the target, if any, is noise alone."""
    values = np.zeros((rows, len(graph)))
    for i in graph.order_indices:
        parents = [] if graph.nodes[i] == target else list(graph.parent_indices(i))
        values[:, i] = values[:, parents] @ weights[parents, i] + rng.standard_normal(rows)
    return values


def simulated(columns, rows, seed):
    """SHD of each way to learn one random graph."""
    rng = np.random.default_rng(seed)
    graph = random_dag("er", columns, 2, seed=seed)
    size = (columns, columns)
    weights = rng.uniform(0.3, 0.8, size) * rng.choice([-1, 1], size)
    targets = rng.permutation(graph.nodes)[: columns // 2].tolist()
    said = [""] * (rows // 2) + [targets[k % len(targets)] for k in range(rows // 2)]
    parts = [linear_rows(graph, weights, target, said.count(target), rng) for target in ("", *targets)]
    said = sorted(said, key=("", *targets).index)
    table = dict(zip(graph.nodes, np.vstack(parts).T, strict=True))
    observed = dict(zip(graph.nodes, linear_rows(graph, weights, "", rows, rng).T, strict=True))
    found = {
        "auto, told": dagora.learn({**table, "set": said}, interventions="set"),
        "ges, told": dagora.learn({**table, "set": said}, "ges", interventions="set"),
        "auto, not told": dagora.learn(table),
        "ges, not told": dagora.learn(table, "ges"),
        "auto, nothing set": dagora.learn(observed),
    }
    distances = {name: dagora.compare(result.graph, graph).dag.shd for name, result in found.items()}
    for told in ("told", "not told"):
        result = found[f"ges, {told}"]
        truth = interventional_cpdag(graph, result.interventions)
        distances[f"ges, {told}"] = dagora.compare(result.graph, truth).dag.shd
    return distances


def sachs(folder):
    """The nine experiments, cut into three levels, against the consensus graph."""
    rows = [line.split(",") for line in (folder / "sachs_consensus_edges.csv").read_text().split()[1:]]
    path = folder / "sachs_9_experiments.csv.gz"
    for score, options in (("bdeu", {"discretise": "quantile", "bins": 3}), ("bic-gaussian", {})):
        for told in (True, False):
            how = {"interventions": SACHS} if told else {"drop": ["experiment"]}
            result = dagora.learn(path, score=score, **options, **how)
            truth = dagora.DAG(result.graph.nodes, rows)
            verdict = dagora.compare(result.graph, truth)
            print(
                f"sachs, {score}, {'told' if told else 'not told'}: {len(result.graph.edges)} edges, DAG SHD "
                f"{verdict.dag.shd}, skeleton SHD {verdict.skeleton.shd}, undirected in the class "
                f"{len(result.cpdag.undirected)}"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--graphs", type=int, default=20)
    asked = parser.parse_args()
    found = [simulated(asked.columns, asked.rows, 500 + seed) for seed in range(asked.graphs)]
    for name in found[0]:
        print(f"{name:20} SHD {mean(cell[name] for cell in found):.2f}")
    folder = Path(os.environ.get("DAGORA_DATA", "../shared/data")) / "sachs"
    if folder.is_dir():
        sachs(folder)


if __name__ == "__main__":
    main()
