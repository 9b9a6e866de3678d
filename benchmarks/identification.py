"""Seconds for what to adjust for, for effects of all pairs, and for a check of a graph.

    python benchmarks/peers.py dowhy
    OMP_NUM_THREADS=1 python benchmarks/identification.py [--repeats 3] [--no-peers] [--output FILE.md]

CPU seconds on one thread, kernels compiled. What to adjust for is asked of random pairs of a node and another
after it: in a random DAG with 2 edges per node, in its class, and in a PAG of ten equal parts, in each of
which five nodes of such a DAG are hidden. DoWhy is asked the same of smaller DAGs. Averages are over graphs
that were drawn before.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import dagora
import peers
from dagora.effects.all_pairs import average_all
from dagora.effects.drawn_graphs import DrawnGraphs, drawn_from
from dagora.effects.effect_ranges import effect_ranges
from dagora.effects.effect_rows import EffectRows
from dagora.effects.mixed_pairs import average_pairs
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import true_pag
from dagora.graph.any_graph import AnyGraph
from dagora.graph.knowledge import Knowledge
from dagora.stats.table import TableStatistics
from effects import event_table, linear_table
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import note, one_thread, run_worker

NODES, QUERIES = 1000, 20
PARTS, HIDDEN = 10, 5  # of the PAG
PEER_NODES = (10, 100)
DRAWS = 500  # of each of four chains
LIMITS = {100: 0.02, 1000: 5.0}
ALL_PAIRS, CHECK, IDENTIFIED = 10.0, 1.0, 0.01
Timed = tuple[str, list[float], float]


def time_calls(job: Callable[[], object], repeats: int) -> list[float]:
    """CPU seconds of each call after a first one."""
    found = []
    for _ in range(repeats + 1):
        start = time.process_time()
        job()
        found.append(time.process_time() - start)
    return found[1:]


def pairs(dag: dagora.DAG, number: int, hidden: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Random pairs of a node and a descendant of it that are both seen."""
    rng, found = np.random.default_rng(0), []
    names = [name for name in dag.nodes if name not in hidden]
    while len(found) < number:
        x = names[rng.integers(len(names))]
        after = sorted(set(dag.descendants(x)) & set(names) - {x})
        if after:
            found.append((x, after[rng.integers(len(after))]))
    return found


def ask(graph: AnyGraph, x: str, y: str) -> object:
    """What to adjust for, if the graph tells the effect."""
    found = Adjustment(graph, x, y)
    return (found.optimal, found.minimal) if found.verdict == "adjustment" else found.verdict


def identification() -> list[Timed]:
    """Seconds of each question on graphs of 1000 nodes."""
    dag = dagora.random_dag("er", NODES, 2, 1)
    asked = pairs(dag, QUERIES)
    part, hidden = pag_part()
    graphs: list[tuple[str, AnyGraph, list[tuple[str, str]]]] = [
        ("DAG", dag, asked),
        ("CPDAG", dagora.CPDAG.from_dag(dag), asked),
        ("PAG", repeat_pag(true_pag(part, hidden)), pairs(part, QUERIES, hidden)),
    ]
    found = []
    for name, graph, questions in graphs:
        ask(graph, *questions[0])
        times = []
        for x, y in questions:
            start = time.process_time()
            ask(graph, x, y)
            times.append(time.process_time() - start)
        found.append((f"what to adjust for, {name}, {NODES} nodes", times, IDENTIFIED))
    return found


def pag_part() -> tuple[dagora.DAG, tuple[str, ...]]:
    """A DAG, some of whose nodes are hidden, such that what is seen is a part of the nodes of a PAG."""
    hidden = tuple(f"x{k}" for k in range(HIDDEN))
    return dagora.random_dag("er", NODES // PARTS + HIDDEN, 2, 1), hidden


def repeat_pag(part: PAG) -> PAG:
    """A PAG of so many parts: that of a whole DAG takes minutes to make."""
    names = [*part.nodes, *(f"{name} of part {k}" for k in range(1, PARTS) for name in part.nodes)]
    return PAG.from_numpy(np.kron(np.eye(PARTS, dtype=np.int8), part.to_numpy()), names)


def over_classes(repeats: int) -> list[Timed]:
    """Seconds for the effects of all pairs over a class, from moments."""
    found = []
    for columns, limit in LIMITS.items():
        one = linear_table(np.random.default_rng(0), columns, 2000)
        class_, statistics = dagora.CPDAG.from_dag(one.dag), TableStatistics(one.table)
        statistics.moments()
        times = time_calls(lambda c=class_, s=statistics: effect_ranges(c, s), repeats)
        found.append((f"all pairs over a class, {columns} columns", times, limit))
    return found


def drawn(table: dagora.Table) -> DrawnGraphs:
    """2000 graphs from the posterior."""
    return drawn_from(dagora.sample(table, "partition", draws=DRAWS, seed=0), Knowledge(), ())


def averages(repeats: int) -> list[Timed]:
    """Seconds for the effects of all pairs of 30 columns, averaged over 2000 graphs."""
    linear = linear_table(np.random.default_rng(0), 30, 500).table
    discrete = event_table(np.random.default_rng(0), 30, 500, mixed=False).table
    graphs, statistics = drawn(linear), TableStatistics(linear)
    times = time_calls(lambda: average_all(graphs, statistics), repeats)
    note("averages of linear effects: done")
    others, rows = drawn(discrete), EffectRows(discrete)
    return [
        ("all pairs of 30 columns over 2000 graphs, linear", times, ALL_PAIRS),
        (
            "all pairs of 30 columns over 2000 graphs, discrete",
            time_calls(lambda: average_pairs(others, rows), 1),
            ALL_PAIRS,
        ),
    ]


def checks(repeats: int) -> list[Timed]:
    """Seconds to check a graph of 10 columns against 1000 rows, with 200 permutations."""
    found = []
    for kind in ("gaussian", "discrete", "mixed"):
        rng = np.random.default_rng(2)
        one = (
            linear_table(rng, 10, 1000)
            if kind == "gaussian"
            else event_table(rng, 10, 1000, mixed=kind == "mixed")
        )
        times = time_calls(lambda one=one: dagora.check(one.dag, one.table), repeats)
        found.append((f"check, 10 columns × 1000 rows, 200 permutations, {kind}", times, CHECK))
    return found


def beside_dowhy() -> list[list[str]]:
    """The same questions for DoWhy: all that it finds by the back door, and ours."""
    lines = []
    for size in PEER_NODES:
        dag = dagora.random_dag("er", size, 2, 1)
        asked = pairs(dag, QUERIES)
        ours = []
        for x, y in asked:
            start = time.process_time()
            ask(dag, x, y)
            ours.append(time.process_time() - start)
        with tempfile.TemporaryDirectory() as folder:
            job = Path(folder, "job.json")
            job.write_text(json.dumps([{"nodes": dag.nodes, "edges": dag.edges, "pairs": asked}]))
            outcome = run_worker("identify_dowhy.py", job, peer="dowhy", **one_thread())
        assert outcome is not None
        ratio = digits(median(outcome["seconds"][0]) / median(ours))
        lines.append([f"{size}", seconds(ours), seconds(outcome["seconds"][0]), ratio])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    if not options.no_peers:
        peers.require(["dowhy"])
    warnings.simplefilter("ignore")
    where = machine("dagora", "numpy", "numba")
    measured: list[Timed] = []
    for part in (
        identification,
        lambda: over_classes(options.repeats),
        lambda: checks(options.repeats),
        lambda: averages(options.repeats),
    ):
        measured += part()
        note(f"{measured[-1][0]}: {digits(median(measured[-1][1]))} s")
    judged = [
        [name, f"at most {limit:g} s", f"{seconds(times)} s", verdict(median(times) <= limit)]
        for name, times, limit in measured
    ]
    text = ["## Identification, effects of all pairs, checks", where, promises(judged)]
    if not options.no_peers:
        head = ["nodes", "dagora, s", "DoWhy, s", "ratio"]
        text += [
            "What to adjust for in a DAG:",
            markdown_table(head, beside_dowhy()),
            peers.pinned(["dowhy"]),
        ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
