"""Fitted parameters against counts made by hand and numpy's least squares."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DataError, OptionError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.fit import MAX_ENTRIES, fit
from dagora.network.networks import DiscreteNetwork, GaussianNetwork
from dagora.network.sample import sample_network
from dagora.stats.table import TableStatistics
from tests.network.network_oracles import continuous_table, discrete_table, matrix

LEVELS = {"a": "xy", "b": "pqr", "c": "01"}
COLLIDER = DAG("abc", [("a", "c"), ("b", "c")])
ROWS = {"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 2, 1, 1, 1], "c": [0, 1, 1, 0, 0, 1]}


def statistics(columns, levels=LEVELS):
    return TableStatistics(discrete_table(columns, levels))


def test_a_table_is_as_good_as_its_statistics():
    table = discrete_table(ROWS, LEVELS)
    ours, theirs = fit(COLLIDER, table), fit(COLLIDER, TableStatistics(table))
    assert all(np.array_equal(ours.tables[node], theirs.tables[node]) for node in COLLIDER)


def test_maximum_likelihood_tables_are_relative_frequencies_and_uniform_where_nothing_was_seen():
    network = fit(COLLIDER, statistics(ROWS))
    assert isinstance(network, DiscreteNetwork)
    assert network.levels == {"a": ("x", "y"), "b": ("p", "q", "r"), "c": ("0", "1")}
    np.testing.assert_allclose(network.tables["a"], [3 / 6, 3 / 6])
    np.testing.assert_allclose(network.tables["b"], [2 / 6, 3 / 6, 1 / 6])
    uniform = [0.5, 0.5]
    expected = [[[1 / 2, 1 / 2], uniform, [0, 1]], [uniform, [2 / 3, 1 / 3], uniform]]
    np.testing.assert_allclose(network.tables["c"], expected)


def test_pseudocount_is_added_to_every_cell():
    network = fit(COLLIDER, statistics(ROWS), pseudocount=0.5)
    np.testing.assert_allclose(network.tables["b"], [2.5 / 7.5, 3.5 / 7.5, 1.5 / 7.5])
    np.testing.assert_allclose(network.tables["c"][1, 1], [2.5 / 4, 1.5 / 4])
    np.testing.assert_allclose(network.tables["c"][0, 1], [0.5, 0.5])


def test_ess_is_spread_over_the_cells_of_each_table():
    network = fit(COLLIDER, statistics(ROWS), ess=6.0)
    np.testing.assert_allclose(network.tables["a"], [6 / 12, 6 / 12])
    np.testing.assert_allclose(network.tables["b"], [4 / 12, 5 / 12, 3 / 12])
    np.testing.assert_allclose(network.tables["c"][0, 2], [0.5 / 2, 1.5 / 2])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=40),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.permutations(range(4)),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_tables_agree_with_counting_in_plain_python(rows, edges, column_order, pseudocount):
    names = ["w", "x", "y", "z"]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    graph = DAG(names, [pair for pair, kept in zip(pairs, edges, strict=True) if kept])
    columns = {names[i]: [row[i] for row in rows] for i in column_order}
    network = fit(graph, statistics(columns, dict.fromkeys(names, "lmn")), pseudocount=pseudocount)
    for node in names:
        family = (*graph.parents(node), node)
        seen = Counter(zip(*(columns[member] for member in family), strict=True))
        for cell in np.ndindex(network.tables[node].shape):
            total = sum(seen[(*cell[:-1], k)] + pseudocount for k in range(3))
            expected = (seen[cell] + pseudocount) / total if total else 1 / 3
            assert network.tables[node][cell] == pytest.approx(expected, abs=1e-12)


def test_declared_levels_count_even_when_never_seen():
    network = fit(DAG("a"), statistics({"a": [0, 0]}, {"a": "xyz"}))
    np.testing.assert_array_equal(network.tables["a"], [1.0, 0.0, 0.0])


def test_fit_finds_the_parameters_that_made_the_data(clinic):
    network = fit(clinic.graph, TableStatistics(sample_network(clinic, 200_000, seed=3)))
    for node in clinic.graph:
        # Every parent configuration has over 1000 rows: five standard errors of a proportion.
        np.testing.assert_allclose(network.tables[node], clinic.tables[node], atol=5 * 0.5 / np.sqrt(1000))


def gaussian_columns(rows, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(3, 2, rows)
    b = rng.exponential(size=rows) - 0.5 * a
    c = 1.5 * a - 2 * b + 7 + rng.normal(size=rows)
    return {"a": a, "b": b, "c": c}


def test_regressions_are_numpys_least_squares():
    columns = gaussian_columns(50, seed=0)
    network = fit(COLLIDER, TableStatistics(continuous_table(columns)))
    assert isinstance(network, GaussianNetwork)
    design = np.column_stack([np.ones(50), columns["a"], columns["b"]])
    solution, rss, *_ = np.linalg.lstsq(design, columns["c"], rcond=None)
    np.testing.assert_allclose([network.intercepts["c"], *network.coefficients["c"]], solution, rtol=1e-10)
    assert network.sds["c"] == pytest.approx(np.sqrt(rss[0] / 50), rel=1e-10)
    assert network.intercepts["a"] == pytest.approx(columns["a"].mean())
    assert network.sds["a"] == pytest.approx(columns["a"].std())


def test_units_of_the_parents_do_not_change_the_fit():
    columns = gaussian_columns(50, seed=1)
    scaled = {"a": columns["a"] * 1e-9, "b": columns["b"] * 1e9 + 1e9, "c": columns["c"]}
    plain = fit(COLLIDER, TableStatistics(continuous_table(columns)))
    other = fit(COLLIDER, TableStatistics(continuous_table(scaled)))
    np.testing.assert_allclose(other.coefficients["c"] * [1e-9, 1e9], plain.coefficients["c"], rtol=1e-6)
    assert other.sds["c"] == pytest.approx(plain.sds["c"], rel=1e-6)


def test_collinear_parents_get_the_least_norm_in_standardised_units():
    rng = np.random.default_rng(2)
    a = rng.normal(size=60)
    columns = {"a": a, "b": 10 * a + 4, "c": 3 * a + rng.normal(size=60)}
    network = fit(COLLIDER, TableStatistics(continuous_table(columns)))
    standardised = np.column_stack(
        [(columns[name] - columns[name].mean()) / columns[name].std() for name in "ab"]
    )
    solution, *_ = np.linalg.lstsq(standardised, columns["c"] - columns["c"].mean(), rcond=1e-8)
    np.testing.assert_allclose(network.coefficients["c"], solution / [a.std(), 10 * a.std()], rtol=1e-8)
    residual = columns["c"] - columns["c"].mean() - standardised @ solution
    assert network.sds["c"] == pytest.approx(np.sqrt((residual**2).mean()), rel=1e-8)


def test_more_parents_than_rows_fit_exactly():
    rng = np.random.default_rng(3)
    table = continuous_table({name: rng.normal(size=3) for name in "abcdef"})
    network = fit(DAG("abcdef", [(name, "f") for name in "abcde"]), TableStatistics(table))
    X = matrix(table)
    fitted = network.intercepts["f"] + X[:, :5] @ network.coefficients["f"]
    np.testing.assert_allclose(fitted, X[:, 5], atol=1e-8)
    assert network.sds["f"] == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8 + 0.1])
def test_a_constant_parent_gets_no_coefficient_and_a_constant_child_no_noise(constant):
    a = np.random.default_rng(4).normal(size=30_000)
    table = continuous_table({"a": a, "b": np.full(30_000, constant), "c": 2 * a})
    network = fit(DAG("abc", [("a", "c"), ("b", "c"), ("a", "b")]), TableStatistics(table))
    np.testing.assert_allclose(network.coefficients["c"], [2.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(network.coefficients["b"], [0.0])
    assert (network.sds["b"], network.intercepts["b"]) == (0.0, pytest.approx(constant))


def test_columns_outside_the_graph_are_left_alone():
    a = np.array([1.0, 2.0, 4.0])
    schema = Schema(
        [
            Variable("k", Kind.DISCRETE, ("u", "v")),
            Variable("z", Kind.CONTINUOUS),
            Variable("a", Kind.CONTINUOUS),
        ]
    )
    table = Table(schema, (np.array([0, 1, 1], dtype=np.uint16), 100 * a, a))
    assert fit(DAG("a"), TableStatistics(table)).intercepts == {"a": pytest.approx(7 / 3)}
    np.testing.assert_allclose(fit(DAG("k"), TableStatistics(table)).tables["k"], [1 / 3, 2 / 3])


def test_a_node_that_is_no_column_is_refused():
    with pytest.raises(DataError, match="'d'"):
        fit(DAG("ad"), statistics(ROWS))


class NothingMayBeCounted:
    """Statistics of wide columns that would notice any attempt to count."""

    def __init__(self, names, levels):
        self.schema = Schema(Variable(name, Kind.DISCRETE, tuple(map(str, range(levels)))) for name in names)
        self.n_rows = 5

    def contingency(self, columns):
        raise AssertionError("counted before the size was checked")


def test_a_table_too_large_for_memory_is_refused_by_name_and_size():
    names = [f"x{i}" for i in range(31)]
    graph = DAG(names, [(parent, "x30") for parent in names[:30]])
    with pytest.raises(DataError, match=r"'x30' with 30 parents needs about 1e40 entries"):
        fit(graph, NothingMayBeCounted(names, 20))


def test_tables_that_are_too_large_only_together_are_refused():
    names = [f"x{i}" for i in range(20)]
    graph = DAG(names, [(names[i], name) for name in names[4:] for i in range(4)])
    assert 38**5 > MAX_ENTRIES > 30**5
    with pytest.raises(DataError, match=r"24,300,000 entries, all tables together 388,800,120"):
        fit(graph, NothingMayBeCounted(names, 30))


def test_many_parents_of_one_level_are_refused_rather_than_crash():
    names = [f"x{i}" for i in range(70)]
    with pytest.raises(DataError, match="'x69' has 69 parents"):
        fit(DAG(names, [(name, "x69") for name in names[:69]]), NothingMayBeCounted(names, 1))


def test_no_rows():
    with pytest.raises(DataError, match="no rows"):
        fit(DAG("a"), TableStatistics(continuous_table({"a": []})))
    with pytest.raises(DataError, match="'a' has no levels"):
        fit(DAG("a"), statistics({"a": []}, {"a": ""}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pseudocount": -1.0}, "pseudocount"),
        ({"pseudocount": float("nan")}, "pseudocount"),
        ({"ess": 0.0}, "ess"),
        ({"ess": float("inf")}, "ess"),
        ({"ess": 1.0, "pseudocount": 1.0}, "not both"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        fit(COLLIDER, statistics(ROWS), **options)


@pytest.mark.parametrize("options", [{"pseudocount": 1.0}, {"ess": 1.0}])
def test_continuous_columns_take_no_pseudocounts(options):
    with pytest.raises(OptionError, match="discrete"):
        fit(DAG("a"), TableStatistics(continuous_table({"a": [0.0, 1.0]})), **options)


def test_the_prior_for_files_does_no_harm_to_numbers():
    rows = {"x": [0.5, 1.5, 2.5]}
    assert fit(DAG("x"), rows, pseudocount="one-row").intercepts == fit(DAG("x"), rows).intercepts
