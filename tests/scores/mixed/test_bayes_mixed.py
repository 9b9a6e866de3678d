"""Marginal likelihood of conditional linear Gaussian families: its parts, and what is impossible under it."""

import numpy as np
import pytest
from scipy.special import multigammaln

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.graph.enumerate import all_dags
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete
from tests.scores.mixed.test_bic_mixed import FAMILIES, in_blocks, table_of


def made(table, **options):
    return score_named("bayes-mixed").make(TableStatistics(table), **options)


@pytest.mark.parametrize("kind", ["bdeu", "bge"])
def test_on_columns_of_one_kind_it_is_bdeu_or_bge(kind):
    rng = np.random.default_rng(4)
    table = random_discrete(rng, 80, [2, 3, 2, 2, 3]) if kind == "bdeu" else random_continuous(rng, 40, 5)
    options = {"ess": 3.0} if kind == "bdeu" else {"alpha_mu": 2.0}
    plain = score_named(kind).make(TableStatistics(table), **options).families(FAMILIES)
    np.testing.assert_allclose(made(table, **options).families(FAMILIES), plain, rtol=1e-12)


def plain_evidence(rows, cells, alpha):
    """Marginal likelihood of the last column given the others: own regressions, and common ones."""
    spread = rows.std(axis=0, ddof=1)
    z = (rows - rows.mean(axis=0)) / spread
    p = rows.shape[1] - 1

    def joint(groups, k):
        """ln evidence of the first k columns, with a mean for each group and one covariance."""
        # α_w − d + k of any d columns, with α_w = d + α_μ + 1.
        freedom, t = alpha + 1 + k, alpha**2 / (alpha + 1)
        n = sum(map(len, groups))
        matrix = t * np.eye(k)
        value = 0.0
        for group in groups:
            some, m = group[:, :k], len(group)
            mean = some.mean(axis=0)
            matrix += (some - mean).T @ (some - mean) + m * alpha / (m + alpha) * np.outer(mean, mean)
            value += k / 2 * np.log(alpha / (m + alpha))
        value += (
            -n * k / 2 * np.log(np.pi) + multigammaln((n + freedom) / 2, k) - multigammaln(freedom / 2, k)
        )
        value += freedom / 2 * k * np.log(t) - (n + freedom) / 2 * np.linalg.slogdet(matrix)[1]
        return value

    groups = [z[cells == cell] for cell in np.unique(cells)]
    own = sum(joint([group], p + 1) - (joint([group], p) if p else 0.0) for group in groups)
    common = joint(groups, p + 1) - (joint(groups, p) if p else 0.0)
    return np.logaddexp(own, common) - np.log(2) - len(rows) * np.log(spread[-1])


@pytest.mark.parametrize(("child", "numbers"), [(1, []), (3, [1]), (4, [1, 3])])
def test_own_and_common_regressions_are_weighed(child, numbers):
    table = table_of(seed=2, rows=90)
    cells = table.columns[0].astype(int) * 3 + table.columns[2]
    rows = np.column_stack([table.columns[column] for column in (*numbers, child)])
    expected = plain_evidence(rows, cells, 1.0)
    assert made(table).families([(child, [0, 2, *numbers])])[0] == pytest.approx(expected, rel=1e-10)


def test_a_continuous_parent_of_a_discrete_child_is_impossible():
    table = table_of()
    values = made(table).families(FAMILIES)
    kinds = [bool(variable.levels) for variable in table.schema]
    for value, (child, parents) in zip(values, FAMILIES, strict=True):
        assert np.isneginf(value) == (kinds[child] and not all(kinds[parent] for parent in parents))
    np.testing.assert_allclose(in_blocks(made(table), FAMILIES), values, rtol=1e-12)


@pytest.mark.full
def test_methods_keep_the_order_and_find_the_best_graph():
    table = table_of(seed=5, rows=150, kinds=[2, 0, 3, 0])
    score = made(table)
    totals = [
        score.families([(child, dag.parent_indices(child)) for child in range(4)]).sum()
        for dag in all_dags(4)
    ]
    for method in ("dynamic", "astar", "ilp", "hill-climb", "order-search", "auto"):
        result = dagora.learn(table, method, score="bayes-mixed")
        assert not [(a, b) for a, b in result.graph.edges if a in {"x1", "x3"} and b in {"x0", "x2"}]
        assert np.isfinite(result.score)
        if method in {"dynamic", "astar", "ilp"}:
            assert result.score == pytest.approx(max(totals), rel=1e-12)
            assert "no continuous column was allowed to be a parent of a discrete one" in result.message


def test_samplers_keep_the_order():
    table = table_of(seed=5, rows=60, kinds=[2, 0, 3, 0])
    for sampler in ("exact", "order", "partition"):
        found = dagora.sample(table, sampler, score="bayes-mixed", draws=50, seed=1)
        assert found.edge_probability[np.ix_([1, 3], [0, 2])].max() == 0
        assert found.edge_probability.max() > 0.2
        assert not any("marginal likelihood" in warning for warning in found.warnings)


def test_units_do_not_matter():
    table = table_of()
    columns = list(table.columns)
    columns[3] = 1e3 * columns[3] - 17
    other = dagora.Table(table.schema, tuple(columns))
    stretched = np.array([table.n_rows * np.log(1e3) * (child == 3) for child, _ in FAMILIES])
    before, after = made(table).families(FAMILIES), made(other).families(FAMILIES)
    finite = np.isfinite(before)
    np.testing.assert_allclose((after + stretched)[finite], before[finite], rtol=1e-9)


def test_what_cannot_be_is_refused():
    table = table_of()
    with pytest.raises(KnowledgeError, match="the edge x1 → x0 is required, but under the score bayes-mixed"):
        dagora.learn(table, score="bayes-mixed", knowledge={"required": [["x1", "x0"]]})
    with pytest.raises(KnowledgeError, match="x1 → x0"):
        dagora.sample(table, score="bayes-mixed", knowledge={"required": [["x1", "x0"]]})
    with pytest.raises(OptionError, match="ges needs a score-equivalent score"):
        dagora.learn(table, "ges", score="bayes-mixed")
    with pytest.raises(OptionError, match="alpha_mu"):
        dagora.learn(table, score="bayes-mixed", alpha_mu=-1.0)
    fixed = dagora.Table(table.schema, (*table.columns[:4], np.full(table.n_rows, 2.0)))
    with pytest.raises(DataError, match="'x4' is constant, and the score bayes-mixed"):
        dagora.learn(fixed, score="bayes-mixed")


def test_it_sees_a_slope_that_depends_on_a_level_and_the_mixed_bic_does_not():
    rng = np.random.default_rng(0)
    level, cause = rng.integers(0, 2, 400), rng.normal(size=400)
    effect = np.where(level, 1.0, -1.0) * cause + 0.5 * rng.normal(size=400)
    columns = np.column_stack([level, cause, effect])
    table = dagora.Table.from_numpy(columns, ["level", "cause", "effect"], discrete=["level"])
    graph = dagora.learn(table, score="bayes-mixed").graph
    assert set(map(frozenset, graph.edges)) == {
        frozenset({"level", "effect"}),
        frozenset({"cause", "effect"}),
    }
    assert "level" not in {name for edge in dagora.learn(table).graph.edges for name in edge}
