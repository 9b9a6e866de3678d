"""Sizes of classes, against lists of all their graphs and published numbers."""

from itertools import combinations

import numpy as np
import pytest

from dagora.graph.class_sizes import ClassSizes, bucket_of
from dagora.graph.enumerate import all_dags
from tests.graph.linear_effects import classes_with_knowledge


@pytest.mark.parametrize("size", [3, pytest.param(4, marks=pytest.mark.full)])
def test_every_class_with_any_knowledge(size):
    for matrix, dags in classes_with_knowledge([dag.to_numpy() for dag in all_dags(size)]):
        assert ClassSizes().size(matrix) == len(dags)


def undirected(size, lines):
    matrix = np.zeros((size, size), dtype=bool)
    for one, other in lines:
        matrix[one, other] = matrix[other, one] = True
    return matrix


@pytest.mark.parametrize(
    ("lacking", "expected"),
    [
        (0, lambda p: np.prod(np.arange(1, p + 1))),
        (1, lambda p: 2 * np.prod(np.arange(1, p)) - np.prod(np.arange(1, p - 1))),
        (2, lambda p: (p * p - p - 4) * np.prod(np.arange(1, p - 2))),
    ],
)
def test_nearly_complete_graphs(lacking, expected):
    """He, Jia & Yu 2015, theorem 5, for p nodes whose pairs but these are joined."""
    p = 7
    lines = [pair for pair in combinations(range(p), 2) if pair not in [(0, 1), (0, 2)][:lacking]]
    assert ClassSizes().size(undirected(p, lines)) == expected(p)


def test_a_ring_of_a_triangle_has_twice_as_many_as_nodes():
    """As many lines as nodes: 2p (He, Jia & Yu 2015)."""
    lines = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (3, 5), (0, 6)]
    assert ClassSizes().size(undirected(7, lines)) == 14


def test_buckets_multiply_and_too_many_ways_are_not_counted():
    two = undirected(5, [(0, 1), (1, 2), (3, 4)])
    assert ClassSizes().size(two) == 6
    assert bucket_of(two, 1) == [0, 1, 2]
    nearly = undirected(7, [pair for pair in combinations(range(7), 2) if pair != (0, 1)])
    assert ClassSizes(most=5).size(nearly) is None
