"""Learning over sites equals learning on the pooled rows, whatever the method."""

import numpy as np
import pytest

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DataError, DisagreementError, OptionError, ProtocolError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.plan.drafting import codebook_of


def sites(table, parties=3):
    return {f"site{k}": part for k, part in enumerate(split_rows(table, parties, seed=1))}


def as_coded(table):
    """The rows as all sites together write them: continuous values in fixed point."""
    book = codebook_of({"all": table})
    coded = code_rows(table, book, max(1024, table.n_rows))
    columns = list(table.columns)
    for number, coding in zip(coded.numbers, book.continuous, strict=True):
        columns[table.schema.index(coding.name)] = coding.centre + coding.half_width * np.ldexp(
            number, -coded.bits
        )
    return Table(table.schema, tuple(columns))


def gaussian(rows=400):
    return dagora.simulate(dagora.random_dag("er", 8, 1.5, seed=4), "gaussian", rows, seed=4).table


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "k2", "order-search", "dynamic", "ilp"])
@pytest.mark.parametrize("kind", list(Kind))
def test_the_graph_is_that_of_the_pooled_rows(method, kind):
    table = sample_network(greenhouse(), 600, seed=2) if kind is Kind.DISCRETE else gaussian()
    pooled = dagora.learn(table, method)
    over_sites = learn_federated(sites(table), method)
    coded = dagora.learn(as_coded(table), method)
    assert over_sites.graph == pooled.graph == coded.graph
    # Continuous values are rounded at the sites; on the rounded ones, nothing differs.
    assert over_sites.score == pytest.approx(pooled.score, rel=1e-8 if kind is Kind.CONTINUOUS else 1e-14)
    assert over_sites.score == pytest.approx(coded.score, rel=1e-12)
    assert over_sites.status == pooled.status
    assert over_sites.stats["rounds"] > 0
    assert over_sites.stats["bytes_from_site1"] > 0


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["order-search", "ilp"])
def test_ties_among_equivalent_graphs_are_settled_alike(method, seed):
    table = dagora.simulate(dagora.random_dag("er", 8, 1.5, seed=seed), "gaussian", 900, seed=seed).table
    assert learn_federated(sites(table), method).graph == dagora.learn(table, method).graph


def test_notears_needs_one_sum():
    table = gaussian()
    pooled, coded = dagora.learn(table, "notears"), dagora.learn(as_coded(table), "notears")
    over_sites = learn_federated(sites(table, 5), "notears")
    assert (over_sites.method, over_sites.graph) == ("notears", pooled.graph)
    assert np.abs(over_sites.weights - pooled.weights).max() < 1e-6
    assert np.abs(over_sites.weights - coded.weights).max() < 1e-9
    assert over_sites.stats["rounds"] <= 3  # to agree on the plan, to ask, and to part


@pytest.mark.parametrize("kind", ["levels", "numbers"])
def test_without_a_method_columns_are_learned_as_on_pooled_rows(kind):
    table = sample_network(greenhouse(), 300, seed=2) if kind == "levels" else gaussian()
    over_sites, pooled = learn_federated(sites(table)), dagora.learn(table)
    assert (over_sites.method, over_sites.graph) == (pooled.method, pooled.graph)


def test_one_person_with_all_tables_has_no_limits():
    """Five parents of a column are a table of six columns."""
    rng = np.random.default_rng(1)
    causes = rng.integers(0, 2, size=(4000, 4))
    parity = causes.sum(axis=1) % 2
    table = Table.from_numpy(np.column_stack([causes, parity]), names=list("abcde"))
    result = learn_federated(sites(table), "dynamic")
    assert result.graph == dagora.learn(table, "dynamic").graph
    assert max(len(result.graph.parents(node)) for node in "abcde") == 4


def test_sites_follow_the_codebook_that_they_are_given():
    rows = [["no", 1.0], ["yes", 2.5], ["no", 9.0]] * 20
    tables = {name: Table.from_numpy(rows, names=["a", "x"]) for name in "pqr"}
    book = Codebook((ColumnCoding("x", cuts=(2.0, 5.0)), ColumnCoding("a", levels=("yes", "no", "unknown"))))
    result = learn_federated(tables, codebook=book)
    assert set(result.graph.nodes) == {"a", "x"}
    assert result.stats["rows"] == 180.0
    narrow = Codebook((ColumnCoding("a", levels=("no",)), ColumnCoding("x", cuts=(2.0, 5.0))))
    with pytest.raises(DataError, match=r"^p: column 'a' has levels that the codebook lacks \('yes'\)"):
        learn_federated(tables, codebook=narrow)
    short = Codebook((ColumnCoding("x", low=0.0, high=5.0),))
    with pytest.raises(DataError, match=r"^p: column 'x': 20 of 60 values are outside the codebook's range"):
        learn_federated(tables, codebook=short)


def test_sites_that_write_a_column_in_other_ways_are_refused():
    rows = {"a": [["no"], ["yes"]], "b": [[0], [1]], "c": [["no"], ["yes"]]}
    tables = {name: Table.from_numpy(np.array(some * 9), names=["x"]) for name, some in rows.items()}
    with pytest.raises(DisagreementError, match="column 'x' has words as levels at a and numbers at b"):
        learn_federated(tables)


def test_adding_in_the_clear_gives_the_same():
    table = sample_network(greenhouse(), 300, seed=2)
    assert learn_federated(sites(table), secure=False).graph == learn_federated(sites(table)).graph


def test_methods_that_need_rows_refuse():
    with pytest.raises(RowsUnavailableError, match="rows"):
        learn_federated(sites(gaussian(100)), "notears-mlp")


def test_two_sites_need_to_say_so():
    table = sample_network(greenhouse(), 200, seed=2)
    with pytest.raises(OptionError, match=r"at least 3 are needed: .*; minimum=2 accepts that"):
        learn_federated(sites(table, 2))
    assert learn_federated(sites(table, 2), minimum=2).graph == dagora.learn(table).graph


def test_a_site_cannot_be_called_coordinator():
    table = sample_network(greenhouse(), 200, seed=2)
    with pytest.raises(ProtocolError, match="coordinator"):
        learn_federated(dict(zip(["coordinator", "b", "c"], split_rows(table, 3), strict=True)))


def test_bad_options_end_everybody():
    with pytest.raises(OptionError, match="restrats"):
        learn_federated(sites(sample_network(greenhouse(), 100, seed=2)), restrats=3)


@pytest.mark.parametrize("method", ["admm", "vote", "average", "notears"])
@pytest.mark.parametrize(
    ("unit", "line"), [(1e300, "too large to be squared"), (1e-200, "too small to be sq")]
)
def test_units_beyond_what_can_be_squared_are_refused(method, unit, line):
    rows = np.random.default_rng(0).normal(size=(30, 3)) * np.array([unit, 1.0, 1.0])
    table = Table.from_numpy(rows, names=list("abc"))
    with pytest.raises(DataError, match=rf"column 'a' .*{line}"):
        learn_federated(sites(table), method)


def test_a_site_brings_whatever_learn_takes(tmp_path):
    table = sample_network(greenhouse(), 300, seed=2)
    parts = dict(zip(["north", "south", "west"], split_rows(table, 3), strict=True))
    dagora.write_table(parts["north"], tmp_path / "north.parquet")
    mixed = {
        "north": str(tmp_path / "north.parquet"),
        "south": parts["south"].to_pandas(),
        "west": parts["west"].to_polars(),
    }
    assert learn_federated(mixed).graph == learn_federated(parts).graph == dagora.learn(table).graph


@pytest.mark.parametrize("holes", ["words", "numbers"])
def test_advice_about_missing_cells_can_be_followed(holes):
    rng = np.random.default_rng(2)
    rows = {
        name: {
            "words": ["no", "yes"] * 20,
            "more": ["a", "b", "b", "a"] * 10,
            "numbers": rng.normal(size=40).tolist(),
        }
        for name in ("north", "south", "west")
    }
    rows["south"][holes][3] = None
    with pytest.raises(DataError, match=f"south: 1 cell is missing.*'{holes}'.*missing=\"drop\"") as refused:
        learn_federated(rows)
    assert "discretise" not in str(refused.value)
    assert learn_federated(rows, missing="drop").stats["rows"] == 119
    if holes == "words":
        assert learn_federated(rows, missing="level").stats["rows"] == 120
        return
    with pytest.raises(DataError, match=r"missing=\"drop\" or leave it out \(drop=\[\"numbers\"\]\)$"):
        learn_federated(rows, missing="level")
    assert learn_federated(rows, missing="level", drop=["numbers"]).stats["rows"] == 120
