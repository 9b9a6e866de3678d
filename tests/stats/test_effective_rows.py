"""Effective numbers of rows: closed forms, and the variance of covariances in simulations."""

import numpy as np
import pytest

from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.table import Table
from dagora.stats.effective_rows import by_weights, design_effect, effective_rows, intraclass_correlation


def grouped(rho: tuple[float, ...], groups: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent columns with intraclass correlations, and the group of each row."""
    random = np.random.default_rng(seed)
    of_row = np.repeat(np.arange(groups), size)
    shared = random.normal(size=(len(rho), groups))[:, of_row]
    own = random.normal(size=(len(rho), groups * size))
    share = np.array(rho)[:, None]
    return np.sqrt(share) * shared + np.sqrt(1 - share) * own, of_row


def test_the_intraclass_correlation_is_that_of_an_analysis_of_variance() -> None:
    values, groups = grouped((0.4,), 40, 5, 1)
    x = values[0]
    means = np.array([x[groups == g].mean() for g in range(40)])
    between = 5 * ((means - x.mean()) ** 2).sum() / 39
    within = ((x - means[groups]) ** 2).sum() / 160
    expected = (between - within) / (between + 4 * within)
    assert intraclass_correlation(values, groups) == pytest.approx(expected, rel=1e-12)
    assert intraclass_correlation(values * 1e9 + 1e12, groups) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("size", [2, 10])
def test_intraclass_correlations_are_found(size: int) -> None:
    values, groups = grouped((0.0, 0.3, 0.9), 2000, size, 2)
    found = [intraclass_correlation(row[None], groups) for row in values]
    assert found == pytest.approx([0.0, 0.3, 0.9], abs=0.04)
    levels = (values[1] > 0).astype(float)
    indicators = np.stack([levels, 1 - levels])
    assert intraclass_correlation(indicators, groups) == pytest.approx(
        intraclass_correlation(levels[None], groups), rel=1e-12
    )


@pytest.mark.parametrize(("one", "other"), [(0.9, 0.9), (1.0, 0.3), (0.5, 0.0)])
def test_the_design_effect_is_the_variance_of_covariances(one: float, other: float) -> None:
    size, groups = 8, 60
    found = []
    for seed in range(400):
        (x, y), _ = grouped((one, other), groups, size, seed)
        found.append((x * y).mean())
    times = np.var(found) * groups * size
    assert times == pytest.approx(design_effect(np.full(groups, size), [one, other]), rel=0.25)


def test_one_column_that_is_the_same_within_groups_changes_nothing_by_itself() -> None:
    values, groups = grouped((1.0, 0.0, 0.0), 100, 10, 3)
    table = Table.from_numpy(values.T)
    found = effective_rows(DesignedTable(table, RowDesign(groups=groups, by_group="g")))
    assert found.effective > 800


def test_weights_have_kishs_number() -> None:
    weights = np.array([1.0, 2.0, 3.0, 10.0])
    assert by_weights(weights) == pytest.approx(256 / 114)
    table = Table.from_numpy(np.arange(8.0)[:, None] + 0.5)
    same = effective_rows(DesignedTable(table, RowDesign(np.full(8, 0.1), by_weight="w")))
    assert (same.rows, same.effective) == (8, 8)


def test_columns_centred_within_groups_cost_a_degree_of_freedom_each() -> None:
    values, groups = grouped((0.8, 0.8), 50, 4, 4)
    table = Table.from_numpy(values.T, ["x", "y"])
    design = RowDesign(groups=groups, by_group="g", within=("all",))
    designed = DesignedTable.of(table, design)
    found = effective_rows(designed)
    assert found.effective == 200 - 49
    assert "centred" in found.message
    for column in designed.table.columns:
        means = np.bincount(groups, column) / 4
        assert np.allclose(means, column.mean())
