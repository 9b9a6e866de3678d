"""Whole weights give the sums of rows repeated so often; other weights have closed forms."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.table import Table
from dagora.learners.constraint.named_tests import TESTS
from dagora.network.likelihood import log_likelihoods
from dagora.scores.registry import SCORES, score_named
from dagora.stats.designed import DesignStatistics
from dagora.stats.effective_rows import EffectiveRows
from dagora.stats.table import TableStatistics

RANDOM = np.random.default_rng(5)
ROWS = 300
TIMES = RANDOM.integers(1, 6, ROWS)


def columns(kind: str) -> dict[str, list]:
    """Five dependent columns of one kind, or of both."""
    random = np.random.default_rng(8)
    x = random.normal(size=(5, ROWS))
    x[2] += x[0] + 0.5 * x[1]
    x[3] += x[2]
    x[4] += 0.5 * x[3] ** 2
    found: dict[str, list] = {}
    for k, values in enumerate(x):
        cut = kind == "discrete" or (kind == "mixed" and k % 2)
        found[f"c{k}"] = np.digitize(values, [-1, 0.5]).astype(str).tolist() if cut else values.tolist()
    return found


def repeated(kind: str) -> tuple[DesignStatistics, TableStatistics]:
    """Rows with whole weights that are not scaled, and the same rows repeated."""
    table = Table.from_frame(pd.DataFrame(columns(kind)))
    designed = DesignedTable(table, RowDesign(TIMES.astype(np.float64), by_weight="w"))
    known = EffectiveRows(ROWS, int(TIMES.sum()), "")
    return DesignStatistics(designed, known=known), TableStatistics(
        table.take(np.repeat(np.arange(ROWS), TIMES))
    )


SETS = [(), (0,), (0, 1), (0, 1, 4), (0, 1, 2), (3,), (4, 3, 2, 1, 0)]


def test_whole_weights_count_as_repeated_rows_to_the_last_bit() -> None:
    weighted, plain = repeated("discrete")
    one, other = weighted.counts(SETS), plain.counts(SETS)
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.offsets, other.offsets)
    for columns_ in SETS:
        here, there = weighted.contingency(columns_), plain.contingency(columns_)
        assert np.array_equal(here.cells, there.cells)
        assert np.array_equal(here.counts, there.counts)
    assert np.array_equal(
        weighted.counts(np.array([[0, 1], [2, 3]])).values, plain.counts(np.array([[0, 1], [2, 3]])).values
    )


def test_threads_and_large_sets_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    weighted, plain = repeated("discrete")
    monkeypatch.setattr("dagora.stats.designed.WORTH_A_THREAD", 1)
    threaded = DesignStatistics(weighted.designed, 3, weighted.effective)
    assert np.array_equal(threaded.counts(SETS).values, plain.counts(SETS).values)
    random = np.random.default_rng(1)
    codes = random.integers(0, 60, (4, 500))
    table = Table.from_numpy(codes.T, names="abcd", discrete=["all"])
    weights = random.integers(1, 4, 500)
    whole = EffectiveRows(500, int(weights.sum()), "")
    many = DesignStatistics(DesignedTable(table, RowDesign(weights.astype(float), by_weight="w")), 1, whole)
    rows = TableStatistics(table.take(np.repeat(np.arange(500), weights)))
    assert np.array_equal(
        many.counts([(0, 1, 2, 3), (0, 1, 2)]).values, rows.counts([(0, 1, 2, 3), (0, 1, 2)]).values
    )


@pytest.mark.parametrize("far", [0.0, 1e7])
def test_whole_weights_give_the_moments_of_repeated_rows(far: float) -> None:
    weighted, plain = repeated("continuous")
    for statistics in (weighted, plain):
        table = statistics.designed.table if isinstance(statistics, DesignStatistics) else statistics.rows()
        assert len(table.schema) == 5
    moved = Table(weighted.schema, tuple(column + far for column in weighted.designed.table.columns))
    one = DesignStatistics(DesignedTable(moved, weighted.designed.design), known=weighted.effective).moments()
    other = TableStatistics(moved.take(np.repeat(np.arange(ROWS), TIMES))).moments()
    assert one.n == other.n
    tolerance = 1e-12 if not far else 1e-8
    scale = np.sqrt(np.outer(np.diag(other.scatter), np.diag(other.scatter)))
    assert np.abs((one.scatter - other.scatter) / scale).max() < tolerance
    assert np.allclose(one.mean, other.mean, rtol=1e-14, atol=1e-12)


def test_moments_of_features_are_those_of_repeated_rows() -> None:
    weighted, plain = repeated("mixed")
    # Centres and scales differ, and what is computed from determinants does not depend on them.
    score, again = (score_named("bic-mixed").make(one) for one in (weighted, plain))
    families = [(0, (1,)), (1, (0, 2)), (4, (3, 0)), (3, (2, 4))]
    assert score.families(families) == pytest.approx(again.families(families), rel=1e-9)
    weighted, plain = repeated("continuous")
    one, other = weighted.basis_moments(3).moments, plain.basis_moments(3).moments
    assert one.scatter == pytest.approx(other.scatter, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "name", [score.name for score in SCORES if score.name not in ("gp", "gp2", "bic-latent")]
)
def test_every_score_of_sums_is_that_of_repeated_rows(name: str) -> None:
    score = score_named(name)
    kind = score.kind if isinstance(score.kind, str) and score.kind == "mixed" else str(score.kind)
    weighted, plain = repeated(kind)
    one, other = score.make(weighted), score.make(plain)
    families = [(0, ()), (0, (1,)), (2, (0, 1)), (4, (2, 3)), (3, (0, 1, 2))]
    assert one.n_rows == other.n_rows
    assert one.families(families) == pytest.approx(other.families(families), rel=1e-11)
    block = one.capabilities.block
    assert block is not None
    children, parents = np.array([2, 4]), np.array([[0, 1], [2, 3]])
    expected = other.families([(2, (0, 1)), (4, (2, 3))])
    assert block(children, parents) == pytest.approx(expected, rel=1e-11)


def test_k2_takes_large_sums_and_fractions() -> None:
    from scipy.special import gammaln

    table = Table.from_numpy([[0, 0], [0, 1], [1, 1]], names="ab", discrete=["all"])
    weights = np.array([1e6 + 0.25, 0.5, 70.25])
    known = EffectiveRows(3, 1_000_071, "")
    score = score_named("k2").make(
        DesignStatistics(DesignedTable(table, RowDesign(weights, by_weight="w")), known=known)
    )
    own = weights * (1_000_071 / weights.sum())

    def rising(x: float, step: float) -> float:
        return float(gammaln(x + step + 1) - gammaln(step + 1))

    joint = sum(rising(x, 0) for x in own)
    given = rising(own[0] + own[1], 1) + rising(own[2], 1)
    assert score.families([(1, (0,))])[0] == pytest.approx(joint - given, abs=1e-6)


def test_bdeu_and_bic_of_fractions_are_their_formulas() -> None:
    from scipy.special import gammaln

    table = Table.from_numpy([[0, 0], [0, 1], [1, 1]], names="ab", discrete=["all"])
    design = RowDesign(np.array([1.0, 2.0, 3.5]), by_weight="w")
    statistics = DesignStatistics(DesignedTable(table, design))
    own = design.weights * (3 / design.weights.sum())  # 6.5² / 17.25 is 2.4, and 2 in whole rows
    own = own * statistics.n_rows / 3
    assert statistics.n_rows == 2
    ess = 1.5
    joint = sum(gammaln(ess / 4 + x) - gammaln(ess / 4) for x in own)
    given = sum(gammaln(ess / 2 + x) - gammaln(ess / 2) for x in (own[0] + own[1], own[2]))
    assert score_named("bdeu").make(statistics, ess=ess).families([(1, (0,))])[0] == pytest.approx(
        joint - given
    )
    likelihood = (own * np.log(own)).sum() - sum(x * np.log(x) for x in (own[0] + own[1], own[2]))
    assert score_named("bic").make(statistics).families([(1, (0,))])[0] == pytest.approx(
        likelihood - np.log(2) / 2 * 2
    )


@pytest.mark.parametrize("test", ["fisher-z", "g2", "g2-seen", "mixed", "features"])
def test_tests_on_sums_are_those_of_repeated_rows(test: str) -> None:
    kind = {"fisher-z": "continuous", "features": "continuous", "mixed": "mixed"}.get(test, "discrete")
    weighted, plain = repeated(kind)
    one, other = (TESTS[test](statistics, "it") for statistics in (weighted, plain))
    x, y = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 4])
    for given in (np.empty((4, 0), dtype=np.int64), np.array([[3], [3], [0], [0]])):
        expected = other.p_values(x, y, given)
        both_discrete = test == "mixed" and not given.shape[1]
        checked = np.array([True, True, not both_discrete, True])  # x2 of two levels has another tail
        found = one.p_values(x, y, given)
        assert found[checked] == pytest.approx(expected[checked], rel=1e-6, abs=1e-12)


def test_x2_of_weights_is_pearsons() -> None:
    from scipy.stats import chi2_contingency

    weighted, _ = repeated("discrete")
    p = TESTS["x2"](weighted, "it").p_values(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64))
    cells = weighted.contingency((0, 1))
    square = np.zeros((3, 3))
    square[tuple(cells.cells.T)] = cells.counts
    assert p[0] == pytest.approx(chi2_contingency(square, correction=False).pvalue, rel=1e-9)


@pytest.mark.parametrize("kind", ["discrete", "continuous", "mixed"])
def test_parameters_are_those_of_repeated_rows(kind: str) -> None:
    weighted, plain = repeated(kind)
    names = list(columns(kind))
    graph = dagora.DAG(names, [("c0", "c2"), ("c1", "c2"), ("c2", "c3"), ("c0", "c3"), ("c3", "c4")])
    one, other = (dagora.fit(graph, statistics) for statistics in (weighted, plain))
    rows = plain.rows()
    assert log_likelihoods(one, rows) == pytest.approx(log_likelihoods(other, rows), rel=1e-7)


def test_multiples_of_weights_change_nothing() -> None:
    table = Table.from_frame(pd.DataFrame(columns("discrete")))
    weights = RANDOM.uniform(0.5, 3, ROWS)
    one, other = (
        DesignStatistics(DesignedTable(table, RowDesign(weights * times, by_weight="w")))
        for times in (1.0, 8.0)
    )
    assert one.n_rows == other.n_rows == round(weights.sum() ** 2 / (weights**2).sum())
    assert np.array_equal(one.counts(SETS).values, other.counts(SETS).values)
    assert one.counts([()]).values[0] == pytest.approx(one.n_rows)


METHODS_OF_SUMS = [
    "auto",
    "tabu",
    "hill-climb",
    "ges",
    "boss",
    "k2",
    "order-search",
    "dynamic",
    "astar",
    "ilp",
    "pc",
]


@pytest.mark.parametrize("method", METHODS_OF_SUMS)
@pytest.mark.parametrize("kind", ["discrete", "continuous", "mixed"])
def test_methods_on_sums_run(method: str, kind: str) -> None:
    options = {"order": ",".join(columns(kind))} if method == "k2" else {}
    weighted, plain = repeated(kind)
    try:
        expected = dagora.learn(plain, method, **options)
    except dagora.DagoraError as error:
        pytest.skip(str(error))
    found = dagora.learn(weighted, method, **options)
    if found.score is not None:
        assert found.graph == expected.graph
        assert found.score == pytest.approx(expected.score, rel=1e-9)


@pytest.mark.parametrize("method", ["lingam", "notears-mlp", "kpc-hsic"])
def test_methods_on_rows_refuse_weights_in_one_line(method: str) -> None:
    weighted, _ = repeated("continuous")
    with pytest.raises(dagora.DagoraError, match=r'knows of no weights="w": choose a method and a score'):
        dagora.learn(weighted, method)
    with pytest.raises(dagora.RowsUnavailableError, match="auto, tabu or ges"):
        dagora.learn(weighted, "tabu", score="gp")


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_samplers_take_sums(kind: str) -> None:
    weighted, plain = repeated(kind)
    one, other = (dagora.sample(statistics, "exact", seed=1) for statistics in (weighted, plain))
    assert one.edge_probability == pytest.approx(other.edge_probability, abs=1e-6)


@pytest.mark.parametrize("weighed", [False, True])
def test_continuous_columns_are_not_counted(weighed):
    table = Table.from_numpy([[0, 0.5], [1, 1.5], [1, 2.5]], names=["a", "x"], discrete=["a"])
    design = RowDesign(np.ones(3), by_weight="w")
    statistics = DesignStatistics(DesignedTable(table, design)) if weighed else TableStatistics(table)
    for ask in (lambda: statistics.counts([(0,), (0, 1)]), lambda: statistics.contingency((1,))):
        with pytest.raises(DataError, match="'x' is continuous, so it cannot be counted"):
            ask()
