"""Exact answers beside pyAgrum's and pgmpy's: the largest difference, and CPU time, network by network.

    python benchmarks/peers.py pyagrum pgmpy
    python benchmarks/queries.py [--questions 10] [--networks alarm munin1] [--output FILE.md]

A question is P(one variable | up to five others), with evidence from a row drawn from the network; the last
two know up to 30 leaves, so that little can be left out. Tables that a file has rounded are brought to sum to
1 before anyone sees them. A peer that does not answer a question within the limit is left out for that
network. All three run warm: the network is in memory, and each question starts anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dagora
import peers
from dagora.network.networks import DiscreteNetwork
from report import deliver, machine, markdown_table, promises, verdict
from runs import network_file, note, one_thread, run_worker

NETWORKS = (
    "cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance", "water", "mildew", "alarm",
    "barley", "hailfinder", "hepar2", "win95pts", "pathfinder", "munin1", "andes", "diabetes", "pigs",
    "link", "munin2", "munin4", "munin", "munin3",
)  # fmt: skip
MOST_NODES_PGMPY = 80
MOST_LEAVES = 30
LIMIT = 60.0
TOLERANCE = 1e-9


Questions = list[dict[str, Any]]


def ask(network: DiscreteNetwork, questions: Questions) -> tuple[list[list[float] | str], list[float]]:
    """Our answers (a text where one is refused) and the CPU seconds of each."""
    nodes = network.graph.nodes
    network.query(of=nodes[0])  # the tables are brought to sum to 1 once
    answers: list[list[float] | str] = []
    seconds = []
    for question in questions:
        given = {nodes[int(k)]: network.levels[nodes[int(k)]][v] for k, v in question["evidence"].items()}
        start = time.process_time()
        try:
            answers.append(network.query(of=nodes[question["target"]], given=given).table.tolist())
        except dagora.QueryError as error:
            answers.append(str(error))
        seconds.append(time.process_time() - start)
    return answers, seconds


def draw_questions(network: DiscreteNetwork, number: int) -> Questions:
    """Random targets and evidence that occurs; the last two know leaves, which is hardest."""
    rng = np.random.default_rng(1)
    rows = dagora.sample_network(network, number, seed=1)
    leaves = [i for i, node in enumerate(network.graph) if not network.graph.children(node)]
    questions = []
    for row in range(number):
        order = [int(node) for node in rng.permutation(len(network.graph))]
        known = order[1 : 1 + int(rng.integers(0, 6))]
        if row >= number - 2:
            known = [node for node in leaves if node != order[0]][:MOST_LEAVES]
        evidence = {str(node): int(rows.codes(node)[row]) for node in known}
        questions.append({"target": order[0], "evidence": evidence})
    return questions


def compare(name: str, number: int, asked: list[str], folder: Path) -> list[str]:
    """A row of the table."""
    loaded = dagora.read_network(network_file(name))
    assert isinstance(loaded, DiscreteNetwork)
    network = DiscreteNetwork(loaded.graph, loaded.levels, loaded.model.distributions)
    nodes = network.graph.nodes
    questions = draw_questions(network, number)
    answers, seconds = ask(network, questions)
    refused = sum(isinstance(answer, str) for answer in answers)
    tables = [
        {
            "parents": list(network.graph.parent_indices(i)),
            "shape": list(network.tables[node].shape),
            "entries": network.tables[node].reshape(-1).tolist(),
        }
        for i, node in enumerate(nodes)
    ]
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"tables": tables, "questions": questions, "limit": LIMIT}))
    cells = [
        name,
        f"{len(nodes)}",
        f"{1000 * median(seconds):.2f}",
        f"{1000 * max(seconds):.1f}",
        f"{refused}",
    ]
    worst = 0.0
    for peer in ("pyagrum", "pgmpy"):
        if peer not in asked or (peer == "pgmpy" and len(nodes) > MOST_NODES_PGMPY):
            cells += ["–", "–"]
            continue
        found = run_worker(f"query_{peer}.py", file, peer=peer, limit=LIMIT * number, **one_thread())
        if found is None:
            cells += ["time", "–"]
            continue
        gaps = [
            np.abs(np.array(ours) - np.array(theirs)).max()
            for ours, theirs in zip(answers, found["answers"], strict=True)
            if not isinstance(ours, str)
        ]
        worst = max([worst, *gaps])
        cells += [f"{1000 * median(found['seconds']):.2f}", f"{max(gaps, default=0.0):.1e}"]
    note(" ".join(cells))
    return [*cells, verdict(worst <= TOLERANCE)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Exact answers beside the peers'.")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--networks", nargs="*", default=NETWORKS, metavar="NAME")
    parser.add_argument("--peers", nargs="*", default=["pyagrum", "pgmpy"], metavar="NAME")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    peers.require(options.peers)
    with tempfile.TemporaryDirectory() as folder:
        lines = [compare(name, options.questions, options.peers, Path(folder)) for name in options.networks]
    header = (
        "network", "nodes", "dagora, ms", "slowest", "refused", "pyAgrum, ms", "difference", "pgmpy, ms",
        "difference", f"≤ {TOLERANCE:g}",
    )  # fmt: skip
    slowest = {line[0]: line for line in lines}
    judged = [
        [
            name,
            f"at most {most:g} ms",
            f"{slowest[name][column]} ms",
            verdict(float(slowest[name][column]) <= most),
        ]
        for name, column, most in (("alarm", 2, 5.0), ("munin1", 3, 10_000.0))
        if name in slowest
    ]
    deliver(
        "\n\n".join(
            [
                "## Answers",
                markdown_table(header, lines),
                "Medians of CPU time; the largest differences of a probability.",
                promises(judged),
                machine("dagora", "numpy"),
            ]
        ),
        options.output,
    )
    if any(line[-1] != "kept" for line in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
