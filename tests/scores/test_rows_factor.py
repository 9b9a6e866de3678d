"""Scores of nearly dependent columns against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dagora
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.stats.table import TableStatistics

ROWS, COLUMNS = 40, 5
FAMILIES = [(4, (0, 1, 2, 3)), (0, (1, 2, 3, 4)), (2, (4, 0)), (3, ())]


def nearly_dependent(condition, shift=0.0):
    """Columns the last of which is a sum of the others but for a little."""
    rng = np.random.default_rng(5)
    cells = rng.standard_normal((ROWS, COLUMNS))
    cells[:, -1] = cells[:, :-1].sum(axis=1) + cells[:, -1] / math.sqrt(condition)
    return cells * np.array([1.0, 50.0, 1e-3, 1.0, 7.0]) + shift


def exact_residual(cells, child, parents):
    """The residual sum of squares of a regression with an intercept, by elimination in fractions."""
    columns = [[Fraction(float(x)) for x in cells[:, c]] for c in (*parents, child)]
    columns = [[x - sum(column) / ROWS for x in column] for column in columns]
    matrix = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in columns] for x in columns]
    for k in range(len(parents)):
        for row in range(k + 1, len(matrix)):
            factor = matrix[row][k] / matrix[k][k]
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[k], strict=True)]
    return float(matrix[-1][-1])


def exact_score(cells, child, parents):
    spread = exact_residual(cells, child, parents) / ROWS
    return -ROWS / 2 * (math.log(2 * math.pi * spread) + 1) - math.log(ROWS) / 2 * (len(parents) + 2)


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("condition", [1e6, 1e8, 1e10, 1e12, 3e13])
def test_scores_are_those_of_the_rows(condition, shift):
    cells = nearly_dependent(condition, shift if condition <= 1e10 else 0.0)
    table = dagora.Table.from_numpy(cells, names=list("abcde"), continuous=["all"])
    found = GaussianBIC(TableStatistics(table)).families(FAMILIES)
    expected = [exact_score(cells, *family) for family in FAMILIES]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_searches_and_bounds_take_them():
    cells = nearly_dependent(1e12)
    table = dagora.Table.from_numpy(cells, names=list("abcde"), continuous=["all"])
    score = GaussianBIC(TableStatistics(table))
    assert score.capabilities.pivot_form() is None
    bounds = score.likelihood_bounds(~np.eye(COLUMNS, dtype=np.bool_))
    for child in range(COLUMNS):
        others = tuple(c for c in range(COLUMNS) if c != child)
        residual = exact_residual(cells, child, others)
        assert bounds[child] >= -ROWS / 2 * (math.log(2 * math.pi * residual / ROWS) + 1) * (1 - 1e-9) - 1e-6
    found = dagora.learn(table, "hill-climb", score="bic-gaussian")
    total = sum(
        exact_score(cells, table.schema.names.index(child), tuple(map(table.schema.names.index, parents)))
        for child, parents in ((node, found.graph.parents(node)) for node in found.graph.nodes)
    )
    assert found.score == pytest.approx(total, rel=1e-6)
    (line,) = [line for line in found.warnings if "nearly linearly dependent" in line]
    assert "'e'" in line


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_what_the_rows_cannot_tell_gets_noise():
    cells = nearly_dependent(1e6)
    cells[:, -1] = cells[:, 0] + cells[:, 1]
    table = dagora.Table.from_numpy(cells, names=list("abcde"), continuous=["all"])
    score = GaussianBIC(TableStatistics(table))
    assert score.dependent == ["a", "b", "e"]
    assert score.capabilities.pivot_form() is not None
    assert any("columns are linearly dependent" in line for line in score.capabilities.warnings())
