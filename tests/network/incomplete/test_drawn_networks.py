"""Parameters, imputation and structural EM by draws of missing values."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora import DAG
from dagora.base.budget import Budget, OutOfTimeError
from dagora.base.errors import DagoraError, DataError
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.incomplete import IncompleteTable
from dagora.network.fit import fit_mixed
from dagora.network.incomplete import bucket_tree, sampled_imputation
from dagora.network.incomplete.stochastic_em import first_network, fit_by_stochastic_em
from dagora.network.likelihood import log_likelihood
from dagora.network.networks import DiscreteNetwork, MixedNetwork
from dagora.network.proposals import proposal_plan
from dagora.network.regressions import Lines, Softmax
from dagora.network.table_prior import NO_PRIOR, TablePrior
from dagora.stats.observed.normal_em import normal_moments
from dagora.stats.table import TableStatistics
from tests.network.incomplete.test_filled_rows import feverish, given_in, given_rest, two_ways

GRAPH = DAG(["a", "x", "b", "y", "c"], [("a", "x"), ("x", "y"), ("b", "y"), ("a", "b"), ("y", "c")])


def mixed():
    return MixedNetwork(
        GRAPH,
        {"a": ("no", "yes"), "b": ("lo", "mid", "hi"), "c": ("no", "yes")},
        {"a": np.array([0.6, 0.4]), "b": np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])},
        {"c": Softmax(np.array([0.0, -1.0]), np.array([[0.0], [1.0]]))},
        {
            "x": Lines(np.array([0.0, 2.0]), np.zeros((2, 0)), np.array([1.0, 0.7])),
            "y": Lines(
                np.array([0.0, 1.0, 3.0]), np.array([[1.0], [-0.5], [0.2]]), np.array([0.5, 0.8, 0.6])
            ),
        },
    )


def linear():
    """Without the discrete child: every question has an exact answer."""
    whole = mixed()
    graph = DAG("axby", [edge for edge in GRAPH.edges if "c" not in edge])
    return MixedNetwork(graph, {n: whole.levels[n] for n in "ab"}, whole.tables, {}, whole.lines)


def punched(network, rows, seed, share):
    table = network.sample(rows, seed)
    return table, IncompleteTable.of(
        table, np.random.default_rng([seed, 1]).random((len(table.names), rows)) > share
    )


def wide_network(nodes=7, parents=3):
    """A discrete network, too wide once few cells are allowed."""
    rng = np.random.default_rng(5)
    names = [f"v{i}" for i in range(nodes)]
    edges = [
        (names[int(j)], names[i])
        for i in range(1, nodes)
        for j in rng.choice(i, size=min(i, parents), replace=False)
    ]
    graph = DAG(names, edges)
    levels = dict.fromkeys(names, ("no", "yes"))
    tables = {n: rng.dirichlet([0.7, 0.7], size=(2,) * len(graph.parents(n))) for n in names}
    return DiscreteNetwork(graph, levels, tables)


@pytest.mark.slow
def test_parameters_are_closer_than_those_of_rows_that_saw_each_family():
    network = mixed()
    lost = []
    for seed in range(3):
        table, holes = punched(network, 600, seed, share=0.35)
        test = network.sample(2000, 100 + seed)
        fits = [
            dagora.fit(GRAPH, table, ess=1),
            fit_by_stochastic_em(GRAPH, holes, TablePrior(ess=1.0)),
            first_network(GRAPH, holes),
        ]
        lost.append([(log_likelihood(network, test) - log_likelihood(one, test)) / 2000 for one in fits])
    complete, drawn, available = np.mean(lost, axis=0)
    assert complete < drawn < 0.75 * available
    assert drawn < 3 * complete


@pytest.mark.full
def test_the_seed_decides_what_is_drawn():
    _, holes = punched(mixed(), 60, 3, share=0.3)
    first, same, other = (dagora.fit(GRAPH, holes, ess=1, seed=seed).lines["y"].slopes for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    with pytest.raises(DagoraError, match="seed must be a whole number"):
        dagora.fit(GRAPH, holes, seed=-1)


def test_without_holes_the_fit_is_that_of_the_table():
    table = mixed().sample(300, 1)
    whole = IncompleteTable.of(table, np.ones((5, 300), dtype=bool))
    found, expected = (
        fit_by_stochastic_em(GRAPH, whole, TablePrior(pseudocount=2.0)),
        dagora.fit(GRAPH, table, pseudocount=2),
    )
    assert found.tables["b"] == pytest.approx(expected.tables["b"])
    assert found.lines["y"].sds == pytest.approx(expected.lines["y"].sds)
    assert found.choices["c"].slopes == pytest.approx(expected.choices["c"].slopes, abs=1e-3)


def test_copies_of_rows_do_not_make_configurations_of_few_rows_large():
    table = mixed().sample(10, 1)
    assert 1 < np.bincount(table.codes(2), minlength=3).min() < 4  # too few for a line of its own
    stacked = TableStatistics(table.take(np.tile(np.arange(10), 5)))
    found = fit_mixed(GRAPH, stacked, NO_PRIOR, "copies", copies=5)
    expected = dagora.fit(GRAPH, table)
    assert found.lines["y"].sds == pytest.approx(expected.lines["y"].sds)


def test_a_line_of_few_rows_does_not_close_up_on_those_that_it_draws():
    # One level was seen three times; many rows whose level is missing have numbers all over the place.
    rng = np.random.default_rng(1)
    level = np.array(["a"] * 197 + ["b"] * 3, dtype=object)
    x = rng.standard_normal(200)
    level[:120] = None
    holes = {"d": level.tolist(), "x": x.tolist()}
    network = dagora.fit(DAG("dx", [("d", "x")]), holes, missing="model")
    assert network.lines["x"].sds.min() > 0.05


def test_filled_cells_have_exact_probabilities_and_deviations():
    network = linear()
    _, holes = punched(network, 60, seed=3, share=0.4)
    filled = dagora.impute(network, holes, draws=2)
    assert not filled.message
    for cell in filled.cells:
        answer = network.query(of=[cell.column], given=given_in(holes, cell.row - 1))
        if cell.probability is not None:
            assert answer.probabilities[cell.value] == pytest.approx(cell.probability, abs=1e-9)
        else:
            assert cell.value == pytest.approx(answer.mean[cell.column], abs=1e-6)
            assert cell.sd == pytest.approx(answer.sd[cell.column], rel=1e-6)
    assert len(filled.cells) == holes.missing
    for one in (filled.table, *filled.draws):
        for name, column, seen in zip(holes.names, holes.columns, holes.seen, strict=True):
            assert np.array_equal(one.columns[one.schema.index(name)][seen], column[seen])
    assert any((a != b).any() for a, b in zip(*(one.columns for one in filled.draws), strict=True))


def test_nodes_that_are_no_columns_are_missing_in_every_row():
    filled = dagora.impute(two_ways(), {"y": [-2.9, 0.1], "d": [None, "no"]}, continuous=["y"])
    assert [(cell.row, cell.column) for cell in filled.cells] == [(1, "d")]
    assert filled.cells[0].probability == pytest.approx(0.66, abs=0.2)
    assert filled.table.names == ("y", "d")


def test_rows_that_cannot_be_are_refused():
    network = MixedNetwork(
        DAG(["a", "b", "x"], [("a", "b"), ("a", "x")]),
        {"a": ("no", "yes"), "b": ("no", "yes")},
        {"a": np.array([0.5, 0.5]), "b": np.array([[1.0, 0.0], [1.0, 0.0]])},
        {},
        {"x": Lines(np.array([0.0, 1.0]), np.zeros((2, 0)), np.array([1.0, 1.0]))},
    )
    with pytest.raises(DataError, match="data row 2 has probability 0"):
        dagora.impute(network, {"a": ["no", None], "b": ["no", "yes"], "x": [0.5, 1.5]})
    with pytest.raises(
        DataError, match="data row 2 has probability 0"
    ):  # of levels that were seen, all of them
        dagora.impute(network, {"a": ["no", "no"], "b": ["no", "yes"], "x": [0.5, None]})
    with pytest.raises(DataError, match=r"'x'.*'u'"):
        dagora.impute(network, {"a": ["no", None], "x": ["u", "v"]})
    with pytest.raises(DataError, match="'x' is discrete, but continuous in the network"):
        dagora.impute(network, {"a": ["no", None], "x": ["1", "2"]}, discrete=["x"])


def test_whole_numbers_of_a_column_that_the_network_knows_as_numbers():
    network = linear()
    whole = {"a": ["no", "yes", None], "b": ["lo", "hi", "mid"], "x": [1, 2, 3], "y": [0, None, 1]}
    texts = {**whole, "x": ["1", "2", "3"], "y": ["0", "", "1"]}
    as_floats = {**whole, "x": [1.0, 2.0, 3.0], "y": [0.0, None, 1.0]}
    expected = dagora.impute(network, as_floats, continuous=["x", "y"]).cells
    assert [(cell.row, cell.column) for cell in expected] == [(2, "y"), (3, "a")]
    assert dagora.impute(network, whole).cells == expected
    assert dagora.impute(network, texts).cells == expected


def test_a_column_of_one_value_that_is_no_node_is_filled_with_it():
    data = {"a": ["no", "yes", None], "b": ["lo", None, "mid"], "x": [1.5, 2, 3], "y": [0.5, 2, 1]}
    with_constants = {**data, "k": [3.5, None, 3.5], "word": ["on", "on", None]}
    filled = dagora.impute(linear(), with_constants, draws=1)
    found = {(cell.row, cell.column): (cell.value, cell.probability, cell.sd) for cell in filled.cells}
    assert list(found) == [(2, "b"), (2, "k"), (3, "a"), (3, "word")]
    assert found[2, "k"] == (3.5, None, 0.0)
    assert found[3, "word"] == ("on", 1.0, None)
    for table in (filled.table, *filled.draws):
        assert table.to_pandas()[["k", "word"]].values.tolist() == [[3.5, "on"]] * 3
    with pytest.raises(DataError, match="'k' has missing values but is no node"):
        dagora.impute(linear(), {**with_constants, "k": [3.5, None, 4.5]})


def test_filled_cells_above_a_rare_level(monkeypatch):
    """By quadrature, the probability of illness is 1 − 1e-8: draws without the judge gave 0.7."""
    network = feverish(-400, 10, 0.01)
    likely, mean, sd, _ = given_rest(network)
    data = {"ill": [None] * 20, "fever": [float("nan")] * 20, "rest": ["yes"] * 20}
    filled = dagora.impute(network, data)
    ill = [cell for cell in filled.cells if cell.column == "ill"]
    assert {cell.value for cell in ill} == {"yes"}
    assert [cell.probability for cell in ill] == pytest.approx([1.0] * 20, abs=1e-6)
    assert likely == pytest.approx(1, abs=1e-6)
    fevers = [(cell.value, cell.sd) for cell in filled.cells if cell.column == "fever"]
    assert np.array(fevers)[:, 0] == pytest.approx(mean, abs=0.16 * sd)
    assert np.array(fevers)[:, 1] == pytest.approx(sd, rel=0.15)
    assert "draws, worth" in filled.message
    assert not filled.warnings
    monkeypatch.setattr(sampled_imputation, "ENOUGH", 2000)
    with pytest.warns(dagora.DagoraWarning, match=r"data row 1 and 1 more are worth fewer than 2000"):
        dagora.impute(network, {name: column[:2] for name, column in data.items()})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_structural_em_on_both_kinds_of_columns():
    shds = []
    for seed in range(2):
        _, holes = punched(mixed(), 300, 10 + seed, share=0.3)
        result = dagora.learn(holes)
        assert "structural EM in" in result.message
        assert "missing values were drawn, 5 times" in result.message
        once = dagora.learn(holes, em_rounds=0)
        shds.append([dagora.compare(one.graph, GRAPH).cpdag.shd for one in (once, result)])
    assert dagora.learn(holes).graph == result.graph  # the seed decides
    before, after = np.sum(shds, axis=0)
    assert after <= before


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_wide_discrete_graphs_are_fitted_and_filled_by_draws(monkeypatch):
    network = wide_network()
    table, holes = punched(network, 500, 1, share=0.2)
    exact = dagora.fit(network.graph, holes, ess=1)
    cells = {(c.row, c.column): c for c in dagora.impute(network, holes.take(np.arange(40))).cells}
    monkeypatch.setattr(bucket_tree, "MOST_CELLS", 20)
    with pytest.warns(dagora.DagoraWarning, match="too wide for exact expectations of its missing values"):
        drawn = dagora.fit(network.graph, holes, ess=1)
    losses = [log_likelihood(one, table) / 500 for one in (exact, drawn)]
    assert losses[1] == pytest.approx(losses[0], abs=0.01)
    filled = dagora.impute(network, holes.take(np.arange(40)))
    assert not filled.message
    for cell in filled.cells:
        assert cell.probability == pytest.approx(cells[cell.row, cell.column].probability, abs=1e-9)
    result = dagora.learn(holes, max_parents=3)
    assert "missing values of wide graphs were drawn, 20 times" in result.message
    few = holes.take(np.arange(100))
    whole = log_likelihood(dagora.fit(network.graph, few, ess=1), table) / 500
    monkeypatch.setattr(proposal_plan, "MOST_CELLS", 2)
    by_draws = dagora.impute(network, holes.take(np.arange(40)))
    assert "1,000 draws" in by_draws.message
    for cell in by_draws.cells:
        if cell.value == cells[cell.row, cell.column].value:
            assert cell.probability == pytest.approx(cells[cell.row, cell.column].probability, abs=0.07)
    assert "too wide for structural EM" in dagora.learn(holes, max_parents=3).message
    in_blocks = log_likelihood(dagora.fit(network.graph, few, ess=1), table) / 500
    assert in_blocks == pytest.approx(whole, abs=0.03)


def test_em_of_moments_keeps_to_the_time():
    rng = np.random.default_rng(1)
    values = rng.standard_normal((200, 6)) @ rng.standard_normal((6, 6))
    seen = rng.random(values.shape) > 0.4
    late = Budget()
    late.stop("now")
    one, whole = normal_moments(values, seen, budget=late), normal_moments(values, seen)
    assert np.array_equal(one.scatter, normal_moments(values, seen, most_steps=1).scatter)
    assert not np.allclose(one.scatter, whole.scatter)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_a_time_limit_on_a_mixed_table_with_holes():
    _, holes = punched(mixed(), 400, 1, share=0.3)
    result = dagora.learn(holes, time_limit=1e-6)
    assert result.status == "time-limit"


def test_softmaxes_end_when_time_is_up():
    draws = np.random.default_rng(0)
    holes = draws.random((2, 60)) > 0.2
    rows = {"x": np.where(holes[0], draws.normal(size=60), np.nan), "y": ["a", "b", "c"] * 20}
    frame = pd.DataFrame(rows)
    frame.loc[~holes[1], "y"] = None
    table = as_any_table(frame, ReadingOptions(missing="auto", why_not_model=lambda _: ""))
    graph = DAG("xy", [("x", "y")])
    assert first_network(graph, table, Budget(None)).choices
    with pytest.raises(OutOfTimeError):
        first_network(graph, table, Budget(0.0))
    with pytest.raises(OutOfTimeError):
        fit_by_stochastic_em(graph, table, TablePrior(), budget=Budget(0.0))
