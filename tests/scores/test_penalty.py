"""`penalty=auto`: the exact tail, simulated noise, and where it is the default."""

import json
import math

import numpy as np
import pytest
from scipy.stats import beta, chi2

import dagora
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.lagged_graph import window_names
from dagora.scores.noise import chance_of_gain, noise_edges
from dagora.scores.penalty import (
    COLUMNS_AN_EDGE,
    DIRECTIONS,
    auto_penalty,
    choose_penalty,
    edges_by_chance,
    rows_are_few,
)
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table


def columns_of(continuous, levels=()):
    """A schema of continuous columns and of discrete ones with these numbers of levels."""
    discrete = [Variable(f"d{i}", Kind.DISCRETE, tuple(map(str, range(r)))) for i, r in enumerate(levels)]
    return Schema([*discrete, *(Variable(f"x{i}", Kind.CONTINUOUS) for i in range(continuous))])


def noise_table(rng, schema, rows):
    """Independent columns: normal numbers and even levels."""
    columns = [
        rng.integers(0, len(one.levels), rows).astype(np.uint16) if one.levels else rng.normal(size=rows)
        for one in schema
    ]
    return dagora.Table(schema, tuple(columns))


@pytest.mark.parametrize(("rows", "columns"), [(30, 120), (100, 40), (1000, 2000)])
def test_the_gaussian_factor_is_the_quantile_of_the_exact_distribution(rows, columns):
    """R² of two independent normal columns is Beta(1/2, m/2 − 1); gains −m/2 ln(1 − R²) pay c (ln m)/2."""
    pairs = columns * (columns - 1)  # both directions
    explained = beta.isf(columns / COLUMNS_AN_EDGE / pairs, 0.5, rows / 2 - 1)
    exact = -rows * math.log1p(-explained) / math.log(rows)
    assert 0 <= auto_penalty(columns_of(columns), rows) - exact < 0.0101


def test_the_factor_is_the_smallest_that_keeps_the_budget():
    for schema, rows in [
        (columns_of(80), 40),
        (columns_of(0, [2, 3] * 30), 60),
        (columns_of(20, [2] * 20), 50),
    ]:
        allowed = len(schema) / COLUMNS_AN_EDGE
        factor = auto_penalty(schema, rows)
        assert factor > 1
        assert DIRECTIONS * edges_by_chance(schema, rows, factor) < allowed
        assert DIRECTIONS * edges_by_chance(schema, rows, factor - 0.01) >= allowed


@pytest.mark.parametrize(("d", "lags"), [(8, 1), (5, 4)])
def test_of_windows_pairs_of_the_past_do_not_count_and_lagged_ones_have_one_direction(d, lags):
    names = window_names([f"x{k}" for k in range(d)], lags)
    schema, rows = Schema(Variable(name, Kind.CONTINUOUS) for name in names), 60
    chance = chance_of_gain(1, rows, math.log(rows) / 2)
    within, lagged = d * (d - 1) / 2, lags * d * d
    assert edges_by_chance(schema, rows, 1.0) == pytest.approx((within + lagged) * chance, rel=1e-9)
    factor = auto_penalty(schema, rows)
    expected = [
        (DIRECTIONS * within + lagged) * chance_of_gain(1, rows, c * math.log(rows) / 2)
        for c in (factor, factor - 0.01)
    ]
    assert expected[0] < d / COLUMNS_AN_EDGE <= expected[1]


@pytest.mark.full
def test_noise_in_windows_brings_as_many_edges_as_expected():
    """Independent white noise: the edges of 60 graphs in time, by the factor 1 and by `auto`."""
    d, lags, steps = 10, 3, 150
    names = window_names([f"x{k}" for k in range(d)], lags)
    schema = Schema(Variable(name, Kind.CONTINUOUS) for name in names)
    found = {"auto": 0, 1.0: 0}
    for seed in range(60):
        rows = np.random.default_rng(seed).normal(size=(steps, d))
        table = Table.from_numpy(
            np.column_stack([np.arange(steps), rows]), ["t", *names[:d]], continuous=["all"]
        )
        for penalty in found:
            found[penalty] += len(
                dagora.learn(table, "hill-climb", time="t", lags=lags, penalty=penalty).graph.edges
            )
    expected = 60 * edges_by_chance(schema, steps - lags, 1.0)
    assert 0.8 * expected < found[1.0] < 1.3 * expected
    assert found["auto"] < 4 * 60 * d / COLUMNS_AN_EDGE


def test_many_rows_have_the_tail_of_chi_squared():
    for parameters in (1, 2, 6):
        price = 8.0 / parameters
        assert chance_of_gain(parameters, 10**7, price) == pytest.approx(chi2.sf(16.0, parameters), rel=1e-4)


def test_levels_cannot_gain_more_than_their_entropy():
    """Two binary columns of five rows gain 5 ln 2 at most."""
    assert noise_edges(columns_of(0, [2, 2]), 5, 5 * math.log(2)) == 0.0
    assert noise_edges(columns_of(0, [2, 2]), 5, 3.0) > 0.0
    assert noise_edges(columns_of(0, [1, 4, 1]), 50, 0.1) == 0.0


def gains_of_pairs(table, name):
    """2 × the gain of each pair by an edge, over its parameters."""
    score = score_named(name).make(TableStatistics(table), penalty=1e-9)
    pairs = [(i, j) for j in range(len(table.names)) for i in range(j)]
    alone = score.families([(j, ()) for j in range(len(table.names))])
    return 2 * (score.families([(j, (i,)) for i, j in pairs]) - alone[[j for _, j in pairs]])


@pytest.mark.parametrize(
    ("name", "schema", "rows", "most"),
    [
        ("bic-gaussian", columns_of(250), 30, 1.5),
        ("bic", columns_of(0, [2] * 250), 30, 2.0),
        ("bic", columns_of(0, [3] * 250), 40, 1.5),
        ("bic-mixed", columns_of(100, [2]), 60, 1.5),
    ],
)
def test_simulated_noise_has_no_more_gains_than_expected(name, schema, rows, most):
    """At a price that one pair in 500 pays: at most `most` times as many do."""
    rng = np.random.default_rng(41)
    parameters = 4 if name == "bic-mixed" else (len(schema[0].levels) - 1) ** 2 if schema[0].levels else 1
    price = 3.0
    while noise_edges(schema, rows, price) > len(schema) * (len(schema) - 1) / 1000:
        price *= 1.02
    seen = [
        np.sum(gains_of_pairs(noise_table(rng, schema, rows), name) > 2 * price * parameters)
        for _ in range(3)
    ]
    assert 0.2 * noise_edges(schema, rows, price) < np.mean(seen) < most * noise_edges(schema, rows, price)


@pytest.mark.full
def test_the_default_on_noise_finds_next_to_nothing_and_says_why():
    rng = np.random.default_rng(4242)
    result = dagora.learn(noise_table(rng, columns_of(120), 30))
    assert len(result.graph.edges) <= 3
    assert result.settings["penalty"] == 5.38
    (line,) = [text for text in result.warnings if "by chance" in text]
    assert line.startswith("30 rows are few for 120 columns: ")
    assert "so penalty=5.38 was chosen" in line
    assert "penalty=1 is BIC's own" in line


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (columns_of(60), "bic-gaussian"),
        (columns_of(0, [2, 3, 4] * 20), "bic"),
        (columns_of(30, [2, 3] * 15), "bic-mixed"),
    ],
)
def test_every_default_score_chooses_it(schema, name):
    result = dagora.learn(noise_table(np.random.default_rng(8), schema, 30), "hill-climb")
    assert result.score_name == name
    assert result.settings["penalty"] == auto_penalty(schema, 30) > 1
    assert len(result.graph.edges) <= 2


def test_where_rows_are_enough_the_default_is_bic_as_published():
    schema = columns_of(10)
    table = noise_table(np.random.default_rng(3), schema, 400)
    assert not rows_are_few(schema, 400, 1.0)
    plain, auto = dagora.learn(table, "hill-climb"), dagora.learn(table, "hill-climb", penalty="auto")
    assert plain.settings["penalty"] == 1.0
    assert auto.settings["penalty"] == auto_penalty(schema, 400) > 1
    assert f'penalty="auto" is {auto.settings["penalty"]:g} here' in auto.message
    assert not [line for line in (*plain.warnings, *auto.warnings) if "by chance" in line]
    assert choose_penalty(2.5, schema, 5).factor == 2.5


def test_a_named_score_and_candidates_stay_bic():
    """Numbers that are called BIC are BIC, so that they agree with those of others."""
    table = noise_table(np.random.default_rng(3), columns_of(60), 30)
    graph = dagora.DAG(table.names)
    assert (
        dagora.score(table, graph)
        == dagora.score(table, graph, penalty=1)
        != dagora.score(table, graph, penalty="auto")
    )


def test_scanned_rows_and_the_bootstrap_take_the_same_factor(tmp_path):
    table = noise_table(np.random.default_rng(5), columns_of(0, [2] * 40), 60)
    dagora.write_table(table, tmp_path / "rows.parquet")
    memory = dagora.learn(table, "hill-climb")
    scanned = dagora.learn(dagora.open_rows(tmp_path / "rows.parquet"), "hill-climb")
    assert memory.settings["penalty"] == scanned.settings["penalty"] > 1
    assert memory.graph == scanned.graph
    strengths = dagora.bootstrap(table, "hill-climb", samples=3)
    assert strengths.settings["penalty"] == memory.settings["penalty"]
    assert [line for line in strengths.warnings if "was chosen" in line]


def test_rows_over_sites_take_the_same_factor():
    table = noise_table(np.random.default_rng(6), columns_of(40), 60)
    parts = {f"site{k}": table.take(np.arange(k, 60, 3)) for k in range(3)}
    assert (
        dagora.learn_federated(parts, "hill-climb").settings["penalty"]
        == dagora.learn(table, "hill-climb").settings["penalty"]
        > 1
    )


def test_the_command_takes_auto(tmp_path, capsys):
    from dagora.cli.main import run

    table = noise_table(np.random.default_rng(7), columns_of(40), 30)
    dagora.write_table(table, tmp_path / "noise.csv")
    out = tmp_path / "out.json"
    assert run(["learn", str(tmp_path / "noise.csv"), "-o", str(out), "--option", "penalty=auto"]) == 0
    assert json.loads(out.read_text())["settings"]["penalty"] == auto_penalty(columns_of(40), 30)
    assert run(["learn", str(tmp_path / "noise.csv"), "--method", "hill-climb"]) == 0
    assert "--option penalty=1 is BIC's own" in " ".join(capsys.readouterr().err.split())


@pytest.mark.full
@pytest.mark.parametrize(
    ("schema", "rows", "tables"),
    [
        (columns_of(120), 30, 20),
        (columns_of(300), 100, 8),
        (columns_of(1000), 100, 2),
        (columns_of(1000), 1000, 1),
        (columns_of(0, [2] * 120), 30, 10),
        (columns_of(0, [2, 3, 4] * 40), 50, 10),
        (columns_of(30, [2, 3] * 15), 30, 10),
        (columns_of(60, [3, 4] * 20), 100, 5),
    ],
)
def test_searches_on_noise_keep_the_budget(schema, rows, tables):
    """The mean number of edges is below one per 200 columns, but for three standard deviations of chance."""
    rng = np.random.default_rng(90210)
    found = [
        len(dagora.learn(noise_table(rng, schema, rows), "hill-climb", penalty="auto").graph.edges)
        for _ in range(tables)
    ]
    allowed = len(schema) / COLUMNS_AN_EDGE
    assert np.mean(found) <= allowed + 3 * math.sqrt(allowed / tables)


def test_tables_of_one_kind_agree_by_either_score():
    """`bic-mixed` is `bic` or `bic-gaussian` there, and so is its factor."""
    rng = np.random.default_rng(1)
    lines = continuous_table(rng.normal(size=(30, 50)))
    levels = discrete_table(list(rng.integers(0, 2, (50, 30))), [2] * 50)
    for table, own in ((lines, "bic-gaussian"), (levels, "bic")):
        found = [dagora.learn(table, "hill-climb", score=name) for name in (own, "bic-mixed")]
        assert found[0].settings["penalty"] == found[1].settings["penalty"] > 1
