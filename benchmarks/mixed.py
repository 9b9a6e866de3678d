"""Tables with both kinds of columns: how far from the true class, beside peers and columns that are cut.

    python benchmarks/peers.py pgmpy pyagrum
    python benchmarks/mixed.py [--graphs 8] [--columns 10 20] [--rows 500 2000] [--peers ...] [--output F.md]

Truths are random graphs of one edge per node and at most four parents, half of the columns discrete, in four
kinds (`dagora simulate --sem mixed`). Every table is learned as it is: by the default (`bic-mixed`), by
`bayes-mixed` where discrete columns come first (clg, shift), and by pgmpy's hill climbing with its
conditional Gaussian BIC. It is also cut into thirds and into fifths by quantiles, and learned from either by
our default and by pyAgrum's tabu search, each with BIC and with BDeu: the same columns and scores for both. A
distance is the structural Hamming distance between classes (CPDAGs). CPU seconds are from rows in memory to a
graph.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

import dagora
import peers
from report import deliver, digits, machine, markdown_table
from runs import WorkerError, note, one_thread, run_worker
from workers.clock import timed

TITLE = "## Both kinds of columns"
RELATIONS = ("clg", "shift", "both", "curved")
ORDERED = {"clg", "shift"}
EDGES_PER_NODE, MOST_PARENTS = 1.0, 4
LIMIT = 120.0
CUTS = {"thirds": 3, "fifths": 5}
SCORES = ("bic", "bdeu")
AS_IT_IS = ("bic-mixed", "bayes-mixed")
PEERS = ("pgmpy", "pyagrum")
PGMPY = "pgmpy bic-cg"
NONE = "–"


def few_parents(columns: int, seed: int) -> dagora.DAG:
    """A random graph in which no node has more than four parents; the others are left out at random."""
    graph = dagora.random_dag("er", columns, EDGES_PER_NODE, seed=seed)
    rng = np.random.default_rng(seed)
    edges = []
    for node in graph:
        parents = rng.permutation(graph.parents(node))[:MOST_PARENTS].tolist()
        edges += [(parent, node) for parent in parents]
    return dagora.DAG(graph.nodes, edges)


def by_us(table: dagora.Table, relations: str) -> dict[str, tuple[dagora.DAG, float]]:
    """Our graphs with their CPU seconds."""
    tasks = {"bic-mixed": partial(dagora.learn, table)}
    for cut, levels in CUTS.items():
        coded = dagora.discretise(table, "quantile", levels)
        tasks |= {f"{cut}, {score}": partial(dagora.learn, coded, score=score) for score in SCORES}
    if relations in ORDERED:
        tasks["bayes-mixed"] = partial(dagora.learn, table, score="bayes-mixed")
    found = {}
    for name, task in tasks.items():
        result, _, cpu = timed(task)
        found[name] = (result.graph, cpu)
    return found


def lines_of(chosen: list[str]) -> list[str]:
    """The lines of some peers."""
    cut = [f"pyagrum, {cut}, {score}" for cut in CUTS for score in SCORES]
    return [PGMPY] * ("pgmpy" in chosen) + cut * ("pyagrum" in chosen)


def by_peers(table: dagora.Table, chosen: list[str], folder: Path) -> dict[str, tuple[dagora.DAG, float]]:
    """The peers' graphs with their CPU seconds; one that fails or passes the limit has none."""
    dagora.write_table(table, folder / "table.csv")
    workers = {PGMPY: ("climb_mixed_pgmpy.py", folder / "table.csv", LIMIT)}
    for cut, levels in CUTS.items():
        dagora.write_table(dagora.discretise(table, "quantile", levels), folder / f"{cut}.csv")
        for score in SCORES:
            words = ("climb_pyagrum.py", folder / f"{cut}.csv", 1, LIMIT, "tabu", score)
            workers[f"pyagrum, {cut}, {score}"] = words
    found = {}
    for name in lines_of(chosen):
        try:
            peer = name.partition(",")[0].partition(" ")[0]
            outcome = run_worker(*workers[name], peer=peer, limit=LIMIT, **one_thread())
        except WorkerError as error:
            note(str(error).splitlines()[-1])
            continue
        if outcome is not None:
            found[name] = (dagora.DAG(table.names, outcome["edges"]), outcome["cpu"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=8)
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    peers.require(options.peers)
    about = machine("numpy", "numba")
    names = [*AS_IT_IS, *(f"{cut}, {score}" for cut in CUTS for score in SCORES), *lines_of(options.peers)]
    lines, spent = [], defaultdict(list)
    # Kernels are compiled before anything is timed.
    by_us(dagora.simulate(few_parents(10, 0), "mixed", 200, seed=0, relations="clg").table, "clg")
    with tempfile.TemporaryDirectory() as folder:
        for columns in options.columns:
            for rows in options.rows:
                for relations in RELATIONS:
                    apart = defaultdict(list)
                    for seed in range(1, options.graphs + 1):
                        truth = few_parents(columns, seed)
                        table = dagora.simulate(truth, "mixed", rows, seed=seed, relations=relations).table
                        found = by_us(table, relations) | by_peers(table, options.peers, Path(folder))
                        for name, (graph, cpu) in found.items():
                            apart[name].append(dagora.compare(graph, truth).cpdag.shd)
                            spent[name, columns].append(cpu)
                    cells = [digits(mean(apart[name])) if apart[name] else NONE for name in names]
                    lines.append([relations, str(columns), str(rows), *cells])
                    note(" | ".join(lines[-1]))
    for columns in options.columns:
        cells = [digits(mean(spent[name, columns])) if spent[name, columns] else NONE for name in names]
        lines.append(["CPU s", str(columns), "all", *cells])
    text = [
        TITLE,
        about,
        f"Mean distance from the true class, {options.graphs} graphs a cell. {peers.pinned(options.peers)}",
        markdown_table(["truth", "columns", "rows", *names], lines),
    ]
    deliver("\n\n".join(text), options.output)


main()
