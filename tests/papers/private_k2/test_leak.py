"""The bits that an adaptive search tells beyond its graph, against counting."""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.papers.private_k2 import leak
from dagora.papers.private_k2.central import k2_graph
from dagora.papers.private_k2.networks import draw_rows


def test_sequences_are_counted_one_by_one() -> None:
    """All transcripts of a graph of 4 variables in which the last has 3 parents and the one before it 2."""
    sets = [(), (0,), (0, 1), (0, 1, 2)]
    transcripts = list(itertools.product(*(itertools.permutations(parents) for parents in sets)))
    assert leak.most_bits(sets) == pytest.approx(math.log2(len(transcripts)))
    # Where all of them are as likely as each other, knowing the network does not help.
    assert leak.conditional_entropy(transcripts) == pytest.approx(leak.most_bits(sets))
    assert leak.conditional_entropy(transcripts[:1] * 5) == 0.0


def test_graphs_are_counted_one_by_one() -> None:
    """All graphs in which each of 5 variables has at most 2 parents among those before it."""
    below = [
        [parents for size in range(3) for parents in itertools.combinations(range(child), size)]
        for child in range(5)
    ]
    assert leak.graph_bits(5, 2) == pytest.approx(math.log2(len(list(itertools.product(*below)))))


def test_entropy_is_given_the_parents() -> None:
    """Three times a before b, once b before a: H(1/4). Another set of parents says nothing about them."""
    samples = [[[], [], [0, 1]]] * 3 + [[[], [], [1, 0]]] + [[[], [], [1]]] * 4
    quarter = 0.25 * math.log2(4) + 0.75 * math.log2(4 / 3)
    assert leak.conditional_entropy(samples) == pytest.approx(quarter / 2)
    assert leak.repeat_share(samples) == 1.0
    assert leak.repeat_share([[[], [], [0, 1]], [[], [0], [0]]]) == 0.0
    assert leak.repeat_share([[[], [0]]]) is None


def test_the_steps_measured_are_those_of_k2() -> None:
    rows = draw_rows("random", 300, 1)
    numbers = leak.measure({"network": "random", "n": 300, "limit": 3, "seed": 1}, Run())
    graph = DAG.from_parents(rows.truth.nodes, numbers["sequences"])
    assert graph == k2_graph(rows.bits, rows.truth.nodes, rows.order, 3, "f")
    assert numbers["edges"] == len(graph.edges)
    assert numbers["most_bits"] > 0
    assert any(parents != sorted(parents) for parents in numbers["sequences"]), "a sequence, not a set"


def test_a_sign_leaves_a_third_of_the_variance() -> None:
    """Normal differences with mean 0 of which the sequence tells the sign: 1 − 2/π; far from 0: everything."""
    rng = np.random.default_rng(1)
    for mean, expected in ((0.0, 1 - 2 / math.pi), (9.0, 1.0)):
        differences = rng.normal(mean, 1.0, 4000)
        samples = [[[0, 1] if difference > 0 else [1, 0]] for difference in differences]
        left = leak.variance_left(samples, [[[float(each), 0.0]] for each in differences])
        assert left == pytest.approx(expected, abs=0.02)
    assert leak.variance_left([[[0]]], [[[]]]) is None


def test_random_networks_are_the_same_in_all_samples() -> None:
    assert leak.rows_of("random 2", 20, 1).truth == leak.rows_of("random 2", 20, 5).truth
    assert leak.rows_of("random 2", 20, 1).truth != leak.rows_of("random 3", 20, 1).truth


def test_end_to_end(run: Callable, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))
    monkeypatch.setattr(leak, "NETWORKS", ("asia",))
    monkeypatch.setattr(leak, "QUICK_ROWS", (50,))
    monkeypatch.setattr(leak, "QUICK_RUNS", 3)
    ran = run("reproduce", "private-k2/leak", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    (table,) = json.loads(ran.out)["tables"]
    (row,) = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert row["to one who knows"] <= row["bits of the sequence, at most"]["mean"]
    assert row["bits of the graph"] == pytest.approx(leak.graph_bits(8, 3))
    assert (tmp_path / "private-k2-leak.md").read_text().splitlines()[0].startswith("## private-k2/leak")
