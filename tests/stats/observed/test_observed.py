"""Likelihoods and moments of what was seen, against direct maximisation, closed forms and complete data."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from dagora.base.errors import DataError
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.simulate_missing import punch_holes
from dagora.data.table import Table
from dagora.scores.information import bic
from dagora.scores.observed import ObservedBIC
from dagora.stats.moments import table_moments
from dagora.stats.observed.missing_tests import missing_value_warnings
from dagora.stats.observed.normal_em import normal_moments
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics


def discrete_table(rows: int, levels: list[int], seed: int) -> Table:
    """Columns that depend on the one before them."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, levels[0], rows)]
    for size in levels[1:]:
        columns.append(np.where(rng.random(rows) < 0.6, columns[-1] % size, rng.integers(0, size, rows)))
    variables = [
        Variable(f"v{i}", Kind.DISCRETE, tuple(map(str, range(size)))) for i, size in enumerate(levels)
    ]
    return Table(Schema(variables), tuple(column.astype(np.uint16) for column in columns))


def best_likelihood(table: IncompleteTable, columns: list[int]) -> float:
    """The largest likelihood of what was seen of some columns, by a general optimiser."""
    shape = [table.schema[i].cardinality for i in columns]
    masks = []
    for row in range(table.n_rows):
        choice = tuple(int(table.columns[i][row]) if table.seen[i, row] else slice(None) for i in columns)
        mask = np.zeros(shape)
        mask[choice] = 1
        masks.append(mask.ravel())
    masks = np.array(masks)

    def loss(logits: np.ndarray) -> tuple[float, np.ndarray]:
        p = softmax(logits)
        mass = masks @ p
        slope = masks.T @ (1 / mass)
        return -np.log(mass).sum(), -(p * slope - p * (p @ slope))

    found = minimize(loss, np.zeros(masks.shape[1]), jac=True, options={"gtol": 1e-9, "maxiter": 5000})
    return -found.fun


@pytest.mark.parametrize("holes", ["mcar:0.3", "mar:0.3", "mnar:0.5"])
def test_likelihood_of_a_set_is_the_largest_there_is(holes: str) -> None:
    table = punch_holes(discrete_table(40, [2, 3, 2], 1), holes, 2)
    statistics = IncompleteStatistics(table)
    for columns in ([0], [1], [0, 1], [1, 2], [0, 1, 2]):
        found = statistics.likelihoods([columns], tolerance=1e-9)[0]
        assert found == pytest.approx(best_likelihood(table, columns), abs=1e-4)


def test_without_holes_the_score_is_bic() -> None:
    table = discrete_table(200, [2, 3, 4, 2], 3)
    whole = IncompleteStatistics(IncompleteTable.of(table, np.ones((4, 200), dtype=bool)))
    families = [(0, []), (1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (0, [3, 1])]
    expected = bic(TableStatistics(table), penalty=1.5).families(families)
    np.testing.assert_allclose(ObservedBIC(whole, penalty=1.5).families(families), expected, rtol=1e-12)


def test_blocks_and_families_agree_and_equivalent_graphs_score_the_same() -> None:
    score = ObservedBIC(IncompleteStatistics(punch_holes(discrete_table(150, [2, 3, 2], 4), "mcar:0.2", 1)))
    children, parents = np.array([0, 1, 2, 0]), np.array([[1], [2], [0], [2]])
    families = score.families([(int(c), p.tolist()) for c, p in zip(children, parents, strict=True)])
    np.testing.assert_array_equal(score.block(children, parents), families)
    forward = score.families([(0, []), (1, [0])]).sum()
    assert score.families([(1, []), (0, [1])]).sum() == pytest.approx(forward, abs=1e-9)


def test_sets_of_too_many_cells_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagora.stats.observed.statistics.MOST_CELLS", 20)
    score = ObservedBIC(IncompleteStatistics(punch_holes(discrete_table(50, [2, 3, 2], 4), "mcar:0.2", 1)))
    values = score.families([(0, [1]), (0, [1, 2]), (2, [0, 1])])
    assert np.isfinite(values[0])
    assert np.isneginf(values[1:]).all()
    assert "were not considered" in score.capabilities.messages()[-1]


def numbers(rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, 3)) @ np.array([[1.0, 0.8, 0.0], [0, 1, -0.5], [0, 0, 2]]) + [1, 2, 3]


def observed_log_likelihood(values: np.ndarray, seen: np.ndarray, mean: np.ndarray, cov: np.ndarray) -> float:
    total = 0.0
    for row, mask in zip(values, seen, strict=True):
        if mask.any():
            gap = row[mask] - mean[mask]
            part = cov[np.ix_(mask, mask)]
            total -= 0.5 * (gap @ np.linalg.solve(part, gap) + np.linalg.slogdet(2 * np.pi * part)[1])
    return total


def test_normal_em_ends_where_no_direction_leads_up() -> None:
    values = numbers(60, 1)
    seen = np.random.default_rng(2).random(values.shape) > 0.3
    found = normal_moments(values, seen, 1e-10)
    best = observed_log_likelihood(values, seen, found.mean, found.covariance)
    rng = np.random.default_rng(3)
    for _ in range(40):
        shift = rng.standard_normal(3) * 1e-3
        factor = np.eye(3) + rng.standard_normal((3, 3)) * 1e-3
        moved = observed_log_likelihood(
            values, seen, found.mean + shift, factor @ found.covariance @ factor.T
        )
        assert moved < best


def test_normal_em_has_the_closed_form_where_one_column_has_holes() -> None:
    values = numbers(50, 4)
    seen = np.ones(values.shape, dtype=bool)
    seen[30:, 1] = False
    design = np.column_stack([np.ones(30), values[:30, [0, 2]]])
    slopes = np.linalg.lstsq(design, values[:30, 1], rcond=None)[0]
    expected = np.append(1, values[:, [0, 2]].mean(axis=0)) @ slopes
    assert normal_moments(values, seen, 1e-12).mean[1] == pytest.approx(expected, abs=1e-8)


def test_without_holes_moments_are_plain() -> None:
    values = numbers(40, 5)
    found = normal_moments(values, np.ones(values.shape, dtype=bool))
    table = Table(Schema(Variable(n, Kind.CONTINUOUS) for n in "abc"), tuple(values.T.copy()))
    np.testing.assert_allclose(found.scatter, table_moments(table).scatter, rtol=1e-9)


def test_too_few_rows_for_a_covariance_are_refused() -> None:
    table = Table(Schema(Variable(n, Kind.CONTINUOUS) for n in "abc"), tuple(numbers(4, 6).T.copy()))
    holes = np.ones((3, 4), dtype=bool)
    holes[0, 0] = False
    with pytest.raises(DataError, match="4 rows are too few"):
        IncompleteStatistics(IncompleteTable.of(table, holes)).moments()


@pytest.mark.parametrize(("holes", "told"), [("mar:0.3", True), ("mcar:0.3", False)])
def test_holes_that_depend_on_values_seen_are_told(holes: str, told: bool) -> None:
    discrete = discrete_table(1500, [2, 3, 2, 2], 7)
    continuous = Table(Schema(Variable(n, Kind.CONTINUOUS) for n in "abc"), tuple(numbers(1500, 8).T.copy()))
    for table in (discrete, continuous):
        warnings = missing_value_warnings(punch_holes(table, holes, 3))
        assert bool(warnings) is told
        assert all("depend on the values of" in line for line in warnings)


@pytest.mark.parametrize("asked", [("yes",), ("yes", "once")])
def test_a_question_that_only_some_were_asked_is_told(asked: tuple[str, ...]) -> None:
    """Nobody who never smoked has a number of cigarettes: the independence of the two cannot be seen."""
    levels = ("no", "once", "yes")
    schema = Schema([Variable("smoker", Kind.DISCRETE, levels), Variable("cigarettes", Kind.CONTINUOUS)])
    smoker = np.random.default_rng(9).integers(0, 3, 300).astype(np.uint16)
    seen = np.ones((2, 300), dtype=bool)
    seen[1] = np.isin(np.array(levels)[smoker], asked)
    table = IncompleteTable.of(Table(schema, (smoker, numbers(300, 9)[:, 0].copy())), seen)
    told = "\n".join(missing_value_warnings(table))
    assert ("'cigarettes' is seen only where 'smoker' is 'yes': no data show" in told) is (len(asked) == 1)


def test_many_tests_of_holes_by_chance_tell_nothing() -> None:
    """90 tests of each of these tables: one below 1 % by chance alone is no news."""
    for seed in range(5):
        columns = np.random.default_rng(seed).normal(size=(10, 400))
        table = Table(Schema(Variable(n, Kind.CONTINUOUS) for n in "abcdefghij"), tuple(columns))
        assert missing_value_warnings(punch_holes(table, "mcar:0.3", seed)) == []
