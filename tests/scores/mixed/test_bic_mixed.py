"""The mixed BIC: the two scores that it contains, its formula in plain numpy, and columns that test its limits."""

import itertools

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.enumerate import all_dags
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.scores.registry import score_named
from dagora.stats.name_order import NameOrder
from dagora.stats.table import TableStatistics
from tests.random_tables import random_continuous, random_discrete, random_mixed

KINDS = [2, 0, 3, 0, 0]
FAMILIES = [
    (child, parents)
    for child in range(5)
    for size in range(4)
    for parents in itertools.combinations([column for column in range(5) if column != child], size)
]


def table_of(seed=0, rows=200, kinds=KINDS):
    return random_mixed(np.random.default_rng(seed), rows, kinds)


def scores(table, families=FAMILIES, name="bic-mixed", **options):
    return score_named(name).make(TableStatistics(table), **options).families(families)


def in_blocks(score, families):
    values = np.empty(len(families))
    for size in {len(parents) for _, parents in families}:
        rows = [k for k, (_, parents) in enumerate(families) if len(parents) == size]
        children = np.array([families[k][0] for k in rows])
        parents = np.array([families[k][1] for k in rows], dtype=np.int64).reshape(len(rows), size)
        values[rows] = score.block(children, parents)
    return values


@pytest.mark.parametrize("penalty", [1.0, 2.5])
@pytest.mark.parametrize("kind", ["bic", "bic-gaussian"])
def test_it_is_bic_where_all_columns_are_of_one_kind_to_the_last_bit(kind, penalty):
    rng = np.random.default_rng(3)
    table = random_discrete(rng, 90, [2, 3, 2, 4, 2]) if kind == "bic" else random_continuous(rng, 50, 5)
    plain = score_named(kind).make(TableStatistics(table), penalty=penalty)
    mixed = score_named("bic-mixed").make(TableStatistics(table), penalty=penalty)
    assert np.array_equal(plain.families(FAMILIES), mixed.families(FAMILIES))
    assert np.array_equal(in_blocks(plain, FAMILIES), in_blocks(mixed, FAMILIES))
    assert plain.capabilities.warnings() == mixed.capabilities.warnings()
    assert mixed.capabilities.messages() == []


def plain_set_score(table, columns, penalty):
    """The set function g by determinants of numpy's covariances."""
    n = table.n_rows
    price = penalty * np.log(n) / 2
    a = [c for c in columns if table.schema[c].kind is Kind.DISCRETE]
    x = [c for c in columns if table.schema[c].kind is Kind.CONTINUOUS]
    z = {c: (table.columns[c] - table.columns[c].mean()) / table.columns[c].std() for c in x}

    def log_det(rows):
        return np.linalg.slogdet(np.atleast_2d(np.cov(np.array(rows), bias=True)))[1] if len(rows) else 0.0

    value = 0.0
    if a:
        _, counts = np.unique(np.array([table.columns[c] for c in a]), axis=1, return_counts=True)
        cells = np.prod([len(table.schema[c].levels) for c in a])
        value += (counts * np.log(counts / n)).sum() - price * (cells - 1)
    if x:
        k = len(x)
        value -= n / 2 * (log_det([table.columns[c] for c in x]) + k * (1 + np.log(2 * np.pi)))
        value -= price * (k + k * (k + 1) / 2)
    marks = [table.columns[c] == level for c in a for level in range(1, len(table.schema[c].levels))]
    marks = [np.asarray(mark, dtype=float) for mark in marks]
    lines, both = [z[c] for c in x], [f for c in x for f in (z[c], z[c] ** 2)]
    between = log_det(both + marks) - log_det(both) - log_det(marks)
    curved = log_det(both) - log_det(lines) - sum(log_det([z[c], z[c] ** 2]) for c in x)
    pairs = len(x) * (len(x) - 1) / 2
    return value - n / 2 * (between + curved) - price * (len(marks) * len(both) + 3 * pairs)


@pytest.mark.parametrize("penalty", [1.0, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_family_is_a_difference_of_two_sets(seed, penalty):
    table = table_of(seed)
    score = score_named("bic-mixed").make(TableStatistics(table), penalty=penalty)
    expected = [
        plain_set_score(table, (child, *parents), penalty) - plain_set_score(table, parents, penalty)
        for child, parents in FAMILIES
    ]
    np.testing.assert_allclose(score.families(FAMILIES), expected, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(in_blocks(score, FAMILIES), expected, rtol=1e-9, atol=1e-7)
    shuffled = [(child, parents[::-1]) for child, parents in FAMILIES]
    np.testing.assert_allclose(score.families(shuffled), expected, rtol=1e-9, atol=1e-7)


def test_units_and_the_names_and_order_of_levels_do_not_matter():
    table = table_of()
    schema = list(table.schema)
    columns = list(table.columns)
    columns[1] = 1e4 + 250.0 * columns[1]
    columns[2] = np.array([2, 0, 1], dtype=np.uint16)[columns[2]]
    schema[2] = Variable("x2", Kind.DISCRETE, ("mid", "high", "low"))
    other = Table(Schema(schema), tuple(columns))
    stretched = np.array([table.n_rows * np.log(250.0) * (child == 1) for child, _ in FAMILIES])
    np.testing.assert_allclose(scores(other) + stretched, scores(table), rtol=1e-8, atol=1e-6)


def test_the_order_of_the_columns_does_not_matter():
    table = table_of()
    turned = table.select(table.names[::-1])
    families = [(4 - child, sorted(4 - parent for parent in parents)) for child, parents in FAMILIES]
    np.testing.assert_allclose(scores(turned, families), scores(table), rtol=1e-10, atol=1e-8)
    behind = NameOrder(TableStatistics(turned))
    np.testing.assert_allclose(
        score_named("bic-mixed").make(behind).families(FAMILIES), scores(table), rtol=1e-10, atol=1e-8
    )


@pytest.mark.full
def test_exact_search_finds_the_best_of_all_graphs():
    table = table_of(seed=5, rows=150, kinds=[2, 0, 3, 0])
    score = score_named("bic-mixed").make(TableStatistics(table))
    totals = [
        score.families([(child, dag.parent_indices(child)) for child in range(4)]).sum()
        for dag in all_dags(4)
    ]
    assert len(totals) == 543
    best = max(totals)
    for method in ("dynamic", "astar", "ilp"):
        assert dagora.learn(table, method, score="bic-mixed").score == pytest.approx(best, rel=1e-12)


def test_relations_in_every_direction_are_found():
    rng = np.random.default_rng(2)
    n = 600
    level = rng.integers(0, 3, n)
    shifted = level * 1.5 + rng.normal(size=n)
    chosen = (rng.random(n) < 1 / (1 + np.exp(-2 * shifted + 3))).astype(int)
    bent = (shifted - 1.5) ** 2 + 0.5 * rng.normal(size=n)
    table = Table.from_numpy(
        np.column_stack([level, shifted, chosen, bent, rng.normal(size=n)]),
        ["level", "shifted", "chosen", "bent", "apart"],
        discrete=["level", "chosen"],
    )
    graph = dagora.learn(table).graph
    wanted = (("level", "shifted"), ("shifted", "chosen"), ("shifted", "bent"))
    assert set(map(frozenset, graph.edges)) == set(map(frozenset, wanted))


def test_over_sites_it_is_the_score_of_the_pooled_rows():
    table = table_of(rows=300, kinds=[2, 0, 3, 0])
    parts = {f"site{k}": part for k, part in enumerate(split_rows(table, 3))}
    secure = dagora.learn_federated(parts)
    whole = dagora.learn_federated({"all": table}, secure=False)
    assert secure.score_name == "bic-mixed"
    assert (secure.graph, secure.score) == (whole.graph, whole.score), "the same integers"
    pooled = dagora.learn(table, "hill-climb")
    assert secure.graph == pooled.graph
    assert secure.score == pytest.approx(pooled.score, rel=1e-5), (
        "but for rounding to a millionth of the range"
    )


def test_one_sum_over_sites_has_the_features_of_the_table():
    table = table_of(rows=50, kinds=[3, 0])
    sites = [Site(f"s{k}", part) for k, part in enumerate(split_rows(table, 2))]
    found = SecureStatistics(OpenFederation.over(sites, TASKS)).indicator_moments()
    wanted = TableStatistics(table).indicator_moments()
    assert found.starts.tolist() == wanted.starts.tolist() == [0, 2, 4]
    assert found.moments.n == 50
    np.testing.assert_allclose(found.moments.scatter[:2, :2], wanted.moments.scatter[:2, :2], atol=1e-12)
    # Squares about other centres have other moments, but tell as much about the levels.
    between = [
        log_det(m, [0, 1, 2, 3]) - log_det(m, [0, 1]) - log_det(m, [2, 3])
        for m in (found.moments.scatter, wanted.moments.scatter)
    ]
    assert between[0] == pytest.approx(between[1], rel=1e-6)
    assert between[0] < -0.1


def log_det(matrix, chosen):
    return np.linalg.slogdet(matrix[np.ix_(chosen, chosen)])[1]


def test_statistics_without_indicators_say_what_to_do():
    class NoIndicators:
        def __init__(self, table):
            self._behind = TableStatistics(table)
            self.schema, self.n_rows = table.schema, table.n_rows
            self.counts, self.moments = self._behind.counts, self._behind.moments

    with pytest.raises(RowsUnavailableError, match="discretise the continuous columns"):
        score_named("bic-mixed").make(NoIndicators(table_of()))


def test_a_level_never_seen_costs_nothing_and_a_copy_of_a_parent_gains_nothing():
    table = table_of()
    declared = Variable("x2", Kind.DISCRETE, (*table.schema[2].levels, "never"))
    wider = Table(Schema([*table.schema.variables[:2], declared, *table.schema.variables[3:]]), table.columns)
    # What a continuous column gains from x2 is the same.
    pair = [(1, ()), (1, (2,)), (3, (1, 2))]
    np.testing.assert_allclose(scores(wider, pair), scores(table, pair), rtol=1e-12)
    copy = Variable("copy", Kind.DISCRETE, table.schema[2].levels)
    twice = Table(Schema([*table.schema, copy]), (*table.columns, table.columns[2]))
    once, again = scores(twice, [(1, (2,)), (1, (2, 5))])
    assert again < once, "a copy of a parent explains nothing more, at its price"


def test_collinear_numbers_score_finitely():
    table = table_of()
    doubled = Table(
        Schema([*table.schema, Variable("twice", Kind.CONTINUOUS)]),
        (*table.columns, 2 * table.columns[1] + 3),
    )
    values = scores(doubled, [(0, (1,)), (0, (1, 5)), (5, (0, 1)), (5, (1,)), (2, (1, 3, 5))])
    assert np.isfinite(values).all()
    assert values[1] < values[0]
    assert dagora.learn(doubled).status == "finished"


@pytest.mark.full
def test_numbers_that_add_up_bring_no_edges_by_rounding():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        parts = rng.gamma(3.0, 10.0, size=(3, 300))
        rows = dict(zip(("one", "two", "three"), parts, strict=True))
        rows |= {
            "total": parts.sum(axis=0),
            "sex": rng.choice(["f", "m"], 300),
            "region": rng.choice(list("abc"), 300),
        }
        result = dagora.learn(rows)
        assert not [edge for edge in result.graph.edges if {"sex", "region"} & set(edge)]
        assert result.score == pytest.approx(dagora.score(rows, result.graph), rel=1e-9)


def test_the_order_of_columns_does_not_matter_where_numbers_add_up():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 200))
    rows = {"a": a, "b": b, "t": a + b, "g": np.where(a + rng.normal(size=200) > 0, "no", "yes")}
    graph = dagora.DAG("abtg", [("a", "t"), ("b", "t"), ("t", "g"), ("a", "g")])
    values = [dagora.score({name: rows[name] for name in order}, graph) for order in ("abtg", "gtba", "tgab")]
    assert values[1:] == pytest.approx([values[0]] * 2, rel=1e-7)


def test_a_perfect_fit_by_many_levels_means_nothing():
    rng = np.random.default_rng(0)
    n = 30
    schema = Schema(
        [
            Variable("id", Kind.DISCRETE, tuple(map(str, range(n)))),
            Variable("x", Kind.CONTINUOUS),
            Variable("y", Kind.CONTINUOUS),
        ]
    )
    table = Table(schema, (np.arange(n, dtype=np.uint16), rng.normal(size=n), rng.normal(size=n)))
    values = scores(table, [(1, (0,)), (0, (1,)), (1, ()), (0, ()), (1, (2,))])
    assert np.isneginf(values[:2]).all()
    assert np.isfinite(values[2:]).all()
    assert dagora.learn(table, "dynamic").graph.edges == ()


@pytest.mark.parametrize("rows", [2, 3, 6])
def test_few_rows(rows):
    rng = np.random.default_rng(1)
    table = Table.from_numpy(
        np.column_stack([np.arange(rows) % 2, rng.normal(size=(rows, 2))]), ["a", "x", "y"], discrete=["a"]
    )
    result = dagora.learn(table, "hill-climb")
    assert np.isfinite(result.score)
    assert rows > 3 or result.graph.edges == (), "a fit without a row to spare means nothing"


def test_a_constant_number_and_too_many_levels_are_refused():
    table = Table.from_numpy(np.column_stack([[0, 1] * 10, np.full(20, 4.2)]), ["a", "fixed"], discrete=["a"])
    with pytest.raises(DataError, match="column 'fixed' is constant, and the score bic-mixed"):
        dagora.learn(table)
    many = Variable("code", Kind.DISCRETE, tuple(map(str, range(3000))))
    wide = Table(
        Schema([many, Variable("x", Kind.CONTINUOUS)]), (np.arange(3000, dtype=np.uint16), np.arange(3000.0))
    )
    with pytest.raises(DataError, match=r"leave 'code' out \(drop=\[\"code\"\]\)"):
        dagora.learn(wide, score="bic-mixed")


def test_chance_edges_are_foretold():
    rng = np.random.default_rng(0)
    table = random_mixed(rng, 12, [2, 0] * 20)
    warnings = score_named("bic-mixed").make(TableStatistics(table)).capabilities.warnings()
    assert len(warnings) == 1
    assert "12 rows are few for 40 columns" in warnings[0]
    assert score_named("bic-mixed").make(TableStatistics(table_of())).capabilities.warnings() == []
