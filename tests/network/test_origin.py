"""The rows behind the parameters of a network."""

import numpy as np
import pytest

from dagora.base.errors import FormatError
from dagora.data.incomplete import IncompleteTable
from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network import origin as origins
from dagora.network.origin import Origin, origin_of
from dagora.network.table_prior import TablePrior
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.table import TableStatistics


def test_rows_in_which_a_node_was_set_are_not_behind_its_parameters():
    rows = Table.from_numpy([[0, 0], [1, 1], [1, 0], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    statistics = InterventionalStatistics(rows, Interventions.of_rows([None, None, None, "b"], rows.names))
    origin = origin_of(DAG("ab", [("a", "b")]), statistics, TablePrior())
    assert (origin.rows["a"].tolist(), origin.rows["b"].tolist(), origin.n_rows) == (4, [1, 2], 4)


def test_rows_with_a_hole_in_the_node_or_a_parent_do_not_count():
    rows = Table.from_numpy([[0, 0.5], [1, 1.5], [1, 2.5], [1, 9.5]], names=["a", "x"], discrete=["a"])
    table = IncompleteTable.of(rows, [[True, True, True, False], [True, False, True, True]])
    origin = origin_of(DAG("ax", [("a", "x")]), IncompleteStatistics(table), TablePrior())
    assert origin.rows["a"].tolist() == 3
    assert origin.rows["x"].tolist() == [1, 1]
    assert origin.ranges == {"x": (0.5, 9.5)}


def test_rows_of_too_many_combinations_are_not_kept(monkeypatch):
    rows = Table.from_numpy([[0, 0], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    monkeypatch.setattr(origins, "MOST_CONFIGURATIONS", 1)
    origin = origin_of(DAG("ab", [("a", "b")]), TableStatistics(rows), TablePrior())
    assert list(origin.rows) == ["a"]


def test_the_json_form_keeps_everything():
    graph, levels = DAG("ab", [("a", "b")]), {"a": ("n", "y"), "b": ("n", "y")}
    for prior in (TablePrior(), TablePrior(0.5), TablePrior("one-row"), TablePrior(ess=3.0)):
        origin = Origin(5, {"a": np.array(5), "b": np.array([2, 3])}, prior=prior)
        again = Origin.from_dict(origin.to_dict(), graph, levels)
        assert (again.prior, again.n_rows, again.rows["b"].tolist()) == (prior, 5, [2, 3])


@pytest.mark.parametrize("number", [-1, 1e300, float("nan"), float("inf"), 2.0**54])
def test_numbers_that_count_no_rows(number):
    with pytest.raises(FormatError, match="the rows behind 'a' must be numbers of at least 0"):
        Origin.from_dict({"n_rows": 3, "rows": {"a": number}}, DAG("a"), {"a": ("n", "y")})


@pytest.mark.parametrize("ends", [[1.0], [1.0, "x"], "x", [True, False], [1.0, 2.0, 3.0]])
def test_ranges_have_two_ends(ends):
    with pytest.raises(FormatError, match="the range of 'a' must be its smallest and largest value"):
        Origin.from_dict({"n_rows": 3, "ranges": {"a": ends}}, DAG("a"), {})


@pytest.mark.parametrize(("discrete", "said"), [((), "80 rows"), (("b",), "80 rows; one row is added")])
def test_regressions_alone_have_no_prior_of_tables(discrete, said):
    """A line under answers said that a row was added to each combination of parents."""
    values = np.random.default_rng(0).normal(size=(80, 2)) > 0
    rows = Table.from_numpy(
        values + 0.0, names=["a", "b"], discrete=discrete, continuous=[*{*"ab"} - {*discrete}]
    )
    origin = origin_of(DAG("ab", [("b", "a")]), TableStatistics(rows), TablePrior("one-row"))
    assert origin.describe().startswith(said)
    assert origin.prior.is_zero == (not discrete)
