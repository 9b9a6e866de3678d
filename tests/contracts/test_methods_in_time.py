"""What every method on series promises, and what it refuses because its data are series."""

import json
from functools import cache

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError, RowsUnavailableError
from dagora.data.series import Timing
from dagora.data.table import Table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.lagged_graph import split_name, window_names
from dagora.learners.method import Method
from dagora.learners.registry import METHODS
from dagora.learners.result import Result
from dagora.learners.source import in_series
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.table import TableStatistics

IN_TIME = [method for method in METHODS if method.in_time and method.takes != "federation"]
each_method = pytest.mark.parametrize("method", IN_TIME, ids=lambda method: method.name)
each_on_sums = pytest.mark.parametrize(
    "method", [method for method in IN_TIME if not method.needs_rows], ids=lambda method: method.name
)


@cache
def series() -> Table:
    return dagora.simulate_series(dagora.random_dag("er", 6, 1.5, 1), 150, 1, lags=2, series=3).table


def learn(method: Method, table: Table, **given: object) -> Result:
    return dagora.learn(table, method.name, time="t", series="series", lags=2, **given)


def content(result: Result) -> str:
    fields = {key: value for key, value in result.to_dict().items() if key not in ("seconds", "trace")}
    return json.dumps(fields, sort_keys=True)


def marked(result: Result) -> tuple[tuple[str, str, str], ...]:
    assert isinstance(result.graph, PAG)
    return result.graph.marked_edges


@each_method
def test_same_seed_same_answer_also_from_rows_in_another_order_and_with_two_threads(method: Method) -> None:
    plain = learn(method, series(), seed=4)
    assert content(learn(method, series(), seed=4)) == content(plain)
    shuffled = series().take(np.random.default_rng(0).permutation(series().n_rows))
    again = learn(method, shuffled, seed=4, jobs=2)
    assert again.graph == plain.graph
    assert np.array_equal(
        np.array(again.weights, dtype=float), np.array(plain.weights, dtype=float), equal_nan=True
    )


@each_method
def test_the_result_is_a_graph_in_time_and_survives_json(method: Method) -> None:
    result = learn(method, series())
    assert result.graph.nodes == window_names(series().names[2:], 2)
    assert all("[t-" not in head for _, head in result.graph.edges)
    assert content(Result.from_json(result.to_json())) == content(result)
    if method.returns == "pag":
        assert all(split_name(one)[1] == 0 or split_name(other)[1] == 0 for one, _, other in marked(result))
        return
    assert result.lagged_graph is not None
    assert set(result.cpdag.edges) >= {edge for edge in result.graph.edges if "[t-" in edge[0]}


@each_method
def test_any_order_of_the_columns(method: Method) -> None:
    turned = series().select([*series().names[:2], *series().names[:1:-1]])
    assert set(learn(method, turned).graph.edges) == set(learn(method, series()).graph.edges)


@each_on_sums
def test_sums_are_enough(method: Method) -> None:
    """Only `lagged` is asked: statistics without rows, counts or moments of single steps will do."""
    whole = in_series(TableStatistics(series()), Timing("t", "series"), 1)

    class OnlyWindows:
        schema, n_rows, moments = whole.schema, whole.n_rows, whole.moments

        capabilities = StatisticsCapabilities(lagged=whole.lagged)

        def counts(self, sets: list[object]) -> object:
            assert not sets, "there is nothing to count"
            return whole.counts(sets)

        def rows(self) -> Table:
            raise RowsUnavailableError("the rows stay where they are")

    result = dagora.learn(OnlyWindows(), method.name, lags=2)
    assert result.graph == learn(method, series()).graph


@each_method
def test_a_tiny_time_limit_still_gives_a_graph(method: Method) -> None:
    result = learn(method, series(), time_limit=1e-9, knowledge={"required": [["x1[t-2]", "x0"]]})
    assert result.status == "time-limit"
    assert "time limit" in result.message
    assert ("x1[t-2]", "x0") in result.graph.edges


@each_method
def test_refuses_what_does_not_fit_series(method: Method) -> None:
    with pytest.raises(OptionError, match="learns from series: time says which column"):
        dagora.learn(series(), method.name)
    with pytest.raises(KnowledgeError, match="'stranger'"):
        learn(method, series(), knowledge={"forbidden": [["stranger", "x0"]]})
    with pytest.raises(OptionError, match="interventions does not go with time"):
        learn(method, series(), interventions="x0")
    with pytest.raises(OptionError, match="discretise does not go with time"):
        learn(method, series(), discretise="mean")
    with pytest.raises(OptionError, match="takes no score"):
        learn(method, series(), score="bge")
    names = [*series().names, "still"]
    rows = np.column_stack([series().to_pandas().astype(float), np.ones(series().n_rows)])
    table = Table.from_numpy(rows, names, continuous=names)
    with pytest.raises(DataError, match="column 'still' is constant"):
        learn(method, table)
    with pytest.raises(OptionError, match=r"learns from series|returns a PAG"):
        dagora.bootstrap(series(), method.name, samples=2)
