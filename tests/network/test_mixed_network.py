"""Networks with both kinds of node: what is refused, rows against loops, and files that keep every bit."""

import json
from math import log, pi

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import DagoraError, DataError, GraphError
from dagora.formats import json_format, read_network, write_network
from dagora.graph.dag import DAG
from dagora.network.likelihood import log_likelihoods
from dagora.network.networks import Lines, MixedNetwork, Softmax
from dagora.network.sample import sample_network
from tests.network.network_oracles import matrix

GRAPH = DAG(["y", "a", "x", "b", "c"], ["ab", "ax", "xy", "ay", "by", "xc", "bc", "yc"])
LEVELS = {"a": ("n", "y"), "b": ("0", "1", "2"), "c": ("u", "v")}
RNG = np.random.default_rng(3)
PARTS = {
    "levels": LEVELS,
    "tables": {"a": np.array([0.3, 0.7]), "b": RNG.dirichlet(np.ones(3), 2)},
    "choices": {"c": Softmax(RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2, 2)))},
    "lines": {
        "x": Lines(RNG.normal(size=2), np.zeros((2, 0)), [0.5, 2.0]),
        "y": Lines(RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3, 1)), RNG.uniform(1, 2, (2, 3))),
    },
}
MIXED = MixedNetwork(GRAPH, **PARTS, name="all kinds")


def test_the_density_of_rows_is_the_product_of_its_factors():
    table = sample_network(MIXED, 40, seed=1)
    column = {name: table.columns[i] for i, name in enumerate(table.names)}
    for row, found in enumerate(log_likelihoods(MIXED, table)):
        y, a, x, b, c = (column[name][row] for name in "yaxbc")
        line = MIXED.lines["y"]
        logits = [
            MIXED.choices["c"].intercepts[b, k] + MIXED.choices["c"].slopes[b, k] @ np.array([y, x])
            for k in (0, 1)
        ]
        expected = (
            log(MIXED.tables["a"][a])
            + log(MIXED.tables["b"][a, b])
            + stats.norm.logpdf(x, MIXED.lines["x"].intercepts[a], MIXED.lines["x"].sds[a])
            + stats.norm.logpdf(y, line.intercepts[a, b] + line.slopes[a, b, 0] * x, line.sds[a, b])
            + logits[c] - np.logaddexp(*logits)
        )  # fmt: skip
        assert found == pytest.approx(expected, rel=1e-12)


def test_drawn_rows_follow_each_nodes_distribution():
    table = sample_network(MIXED, 40_000, seed=2)
    y, a, x, b, c = matrix(table).T
    assert (a == 1).mean() == pytest.approx(0.7, abs=0.01)
    for level in (0, 1):
        where = a == level
        line = MIXED.lines["x"]
        assert stats.kstest((x[where] - line.intercepts[level]) / line.sds[level], "norm").pvalue > 1e-3
        for other in range(3):
            cell = where & (b == other)
            line = MIXED.lines["y"]
            residual = y[cell] - line.intercepts[level, other] - line.slopes[level, other, 0] * x[cell]
            assert stats.kstest(residual / line.sds[level, other], "norm").pvalue > 1e-3
    chosen = MIXED.choices["c"]
    logits = np.array([chosen.intercepts[int(k)] for k in b])
    logits += np.einsum("nlk,nk->nl", chosen.slopes[b.astype(int)], np.stack([y, x], axis=1))
    share = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    assert (c - share).sum() / np.sqrt((share * (1 - share)).sum()) == pytest.approx(0, abs=3.5)


def test_an_sd_of_zero_has_no_density():
    flat = MixedNetwork(DAG("x"), {}, lines={"x": Lines(1.0, np.zeros(0), 0.0)})
    assert set(sample_network(flat, 5, seed=0).values(0)) == {1.0}
    with pytest.raises(DataError, match="'x' has a standard deviation of 0"):
        log_likelihoods(flat, sample_network(flat, 5, seed=0))
    thin = MixedNetwork(DAG("x"), {}, lines={"x": Lines(1.0, np.zeros(0), 2.0)})
    assert log_likelihoods(thin, sample_network(flat, 1, seed=0))[0] == pytest.approx(
        -log(2) - log(2 * pi) / 2
    )


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"levels": {**LEVELS, "x": ("l", "h")}}, "'x' needs levels and a table, levels and a softmax, or lines"),
        ({"tables": {"a": PARTS["tables"]["a"]}}, "'b' needs levels and a table"),
        ({"lines": {"y": PARTS["lines"]["y"]}}, "'x' needs levels and a table"),
        ({"choices": {}, "tables": {**PARTS["tables"], "c": np.full((3, 2), 0.5)}}, "'c' has a continuous parent"),
        ({"tables": {**PARTS["tables"], "a": np.array([0.3, 0.3])}}, "the table of 'a' is not made of prob"),
        ({"tables": {**PARTS["tables"], "a": np.ones(1)}}, "the table of 'a' has shape (1,), not (2,)"),
        ({"choices": {"c": Softmax(np.zeros((3, 2)), np.zeros((3, 2, 1)))}}, "the array of slopes of 'c' has shape"),
        (
            {"lines": {**PARTS["lines"], "x": Lines(0.0, np.zeros(0), 1.0)}},
            "the array of slopes of 'x' has shape (0,), not (2, 0)",
        ),
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused(changes, line):
    with pytest.raises(GraphError) as error:
        MixedNetwork(GRAPH, **{**PARTS, **changes})
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Lines([0.0], [[1.0]], [1.0, 1.0]), "lines need intercepts and sds of one shape"),
        (lambda: Lines([0.0], [1.0], [1.0]), "lines need intercepts and sds of one shape"),
        (lambda: Lines(0.0, [np.inf], 1.0), "lines need finite numbers and standard deviations ≥ 0"),
        (lambda: Lines(0.0, [1.0], -1.0), "lines need finite numbers and standard deviations ≥ 0"),
        (lambda: Softmax(0.0, [1.0]), "a softmax needs intercepts per level"),
        (lambda: Softmax([0.0, np.nan], [[1.0], [1.0]]), "a softmax needs finite numbers"),
    ],
)
def test_regressions_check_themselves(make, line):
    with pytest.raises(GraphError, match=line):
        make()


def test_a_file_keeps_every_bit(tmp_path):
    write_network(MIXED, tmp_path / "mixed.json")
    again = read_network(tmp_path / "mixed.json")
    assert isinstance(again, MixedNetwork)
    assert (again.graph, again.levels, again.name) == (MIXED.graph, MIXED.levels, "all kinds")
    for node in again.tables:
        np.testing.assert_array_equal(again.tables[node], MIXED.tables[node])
    for node in "xy":
        for part in ("intercepts", "slopes", "sds"):
            np.testing.assert_array_equal(getattr(again.lines[node], part), getattr(MIXED.lines[node], part))
    for part in ("intercepts", "slopes"):
        np.testing.assert_array_equal(getattr(again.choices["c"], part), getattr(MIXED.choices["c"], part))
    assert set(again.tables) == {"a", "b"}
    with pytest.raises(DagoraError, match=r"BIF holds discrete networks only"):
        write_network(MIXED, tmp_path / "mixed.bif")


def test_a_network_without_slopes_or_levels_can_be_written(tmp_path):
    write_network(
        MixedNetwork(DAG("x"), {}, lines={"x": Lines(1.5, np.zeros(0), 2.0)}), tmp_path / "one.json"
    )
    assert read_network(tmp_path / "one.json").lines["x"].sds == 2.0


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (["lines"], [], 'a network of kind "mixed" needs "lines": {name: ...}'),
        (["lines", "x"], 3, "the regression of 'x' must be an object with intercepts and slopes"),
        (["lines", "x", "sds"], None, "the sds of 'x' must be made of numbers"),
        (["lines", "x", "sds"], [1.0], "the sds of 'x' must be nested as its intercepts are"),
        (["lines", "x", "slopes"], {"a": 1}, "the slopes of 'x' must be an object with one entry per continuous"),
        (["lines", "y", "slopes", "x"], [1, 2], "the slopes of 'y' must be nested as its intercepts are"),
        (["choices", "c", "intercepts"], [[1, 2], [1]], "the intercepts of 'c' must be nested lists"),
        (["levels", "a"], ["n", "n"], "the levels of 'a' must be one or more different texts"),
        (["levels", "b"], None, "the levels of 'b' must be a list of texts"),
        (["tables", "a"], ["x", "y"], "the table of 'a' must be made of numbers"),
        (["tables"], {}, "'a' needs levels and a table"),
    ],
)  # fmt: skip
def test_bad_files_get_one_line(path, value, line):
    document = json.loads(json_format.render_network(MIXED))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(DagoraError) as error:
        json_format.parse(json.dumps(document))
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)
