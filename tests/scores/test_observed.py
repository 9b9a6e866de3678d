"""Scores of continuous and mixed columns on what was seen: by hand, in classes, and where nothing depends."""

import math

import numpy as np
import pytest

from dagora import learn
from dagora.data.incomplete import IncompleteTable
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.equivalence import cpdag_matrix
from dagora.scores.local_score import graph_score
from dagora.scores.registry import score_named
from dagora.stats.observed.seen_together import SeenTogether
from dagora.stats.observed.statistics import IncompleteStatistics
from tests.random_tables import random_continuous, random_discrete


def table_with_holes(kind, seed=0, rows=120, share=0.3):
    from dagora.data.schema import Schema
    from dagora.data.table import Table

    rng = np.random.default_rng(seed)
    numbers, levels = random_continuous(rng, rows, 4), random_discrete(rng, rows, (2, 3, 2, 2))
    whole = numbers
    if kind == "mixed":
        pairs = [(levels if i % 2 else numbers) for i in range(4)]
        whole = Table(
            Schema(source.schema[i] for i, source in enumerate(pairs)),
            tuple(source.columns[i] for i, source in enumerate(pairs)),
        )
    return IncompleteTable.of(whole, rng.random((4, rows)) > share)


def test_a_family_by_hand():
    statistics = IncompleteStatistics(table_with_holes("continuous"))
    score = score_named("bic-gaussian").make(statistics)
    covariance, seen = statistics.moments().covariance, statistics.table.seen
    for child, parents in ((0, (1, 2)), (3, (0,)), (2, ()), (1, (0, 2, 3))):
        total = 0.0
        for row in range(statistics.n_rows):
            if seen[child, row]:
                known = [parent for parent in parents if seen[parent, row]]
                block = covariance[np.ix_(known, known)]
                slopes = np.linalg.solve(block, covariance[known, child]) if known else np.zeros(0)
                left = covariance[child, child] - slopes @ covariance[known, child]
                total -= (math.log(2 * math.pi * left) + 1) / 2
        total -= math.log(statistics.n_rows) / 2 * (len(parents) + 2)
        assert score.families([(child, parents)])[0] == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize(("kind", "name"), [("continuous", "bic-gaussian"), ("mixed", "bic-mixed")])
def test_equivalent_graphs_score_the_same(kind, name):
    score = score_named(name).make(IncompleteStatistics(table_with_holes(kind)))
    names = score.schema.names
    classes = {}
    for dag in list(all_dags(4))[::3]:
        value = graph_score(score, DAG.from_numpy(dag.to_numpy(), names))
        first = classes.setdefault(cpdag_matrix(dag.to_numpy()).tobytes(), value)
        assert value == pytest.approx(first, rel=1e-9)


@pytest.mark.parametrize(("kind", "name"), [("continuous", "bic-gaussian"), ("mixed", "bic-mixed")])
def test_families_and_blocks_agree(kind, name):
    score = score_named(name).make(IncompleteStatistics(table_with_holes(kind)))
    children, parents = np.array([0, 1, 2]), np.array([[1, 3], [0, 2], [0, 3]])
    asked = list(zip(children.tolist(), parents.tolist(), strict=True))
    assert score.block(children, parents) == pytest.approx(score.families(asked), rel=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("mixed", [False, True])
def test_columns_that_do_not_depend_get_few_edges_however_much_is_missing(mixed):
    edges = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = {}
        for i in range(8):
            column = rng.normal(size=200).astype(object)
            if mixed and i % 2:
                column = np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, 200)]
            column[rng.random(200) < 0.5] = None
            rows[f"v{i}"] = column.tolist()
        edges += len(learn(rows, "tabu", em_rounds=0).graph.edges)
    # Of 140 pairs about 3 are joined by chance without holes; weighed by all rows, it was 74.
    assert edges <= 12


def test_what_was_seen_together():
    seen = np.random.default_rng(3).random((3, 50)) < 0.6
    together = SeenTogether(seen)
    for columns in ((0,), (0, 2), (1, 2), (0, 1, 2)):
        counted = {}
        for row in range(50):
            part = tuple(column for column in columns if seen[column, row])
            if part:
                counted[part] = counted.get(part, 0) + 1
        assert dict(together.parts(columns)) == counted
        assert together.rows(columns) == counted.get(columns, 0)
    assert together.parts(()) == ()
