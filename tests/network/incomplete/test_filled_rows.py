"""Draws of missing values against exact answers, for networks of any kinds of nodes."""

import numpy as np
import pytest

from dagora import DAG
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.network.incomplete.filled_rows import FilledRows
from dagora.network.likelihood import log_likelihoods
from dagora.network.networks import MixedNetwork
from dagora.network.proposals import proposal_plan
from dagora.network.proposals.missing_groups import find_missing_groups
from dagora.network.proposals.proposal_plan import affordable_plans, make_plan
from dagora.network.regressions import Lines, Softmax


def random_network(seed, *, nodes=8, ordered=True, discrete=0.5):
    """A random mixed network; where it is ordered, discrete nodes come first, so that answers are exact."""
    rng = np.random.default_rng([seed, 1])
    names = [f"v{i}" for i in range(nodes)]
    kinds = rng.random(nodes) < discrete
    kinds[0], kinds[-1] = True, not ordered and bool(kinds[-1])
    if ordered:
        kinds = np.sort(kinds)[::-1]
    edges = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.4]
    graph = DAG(names, edges)
    levels = {
        name: ("a", "b", "c")[: rng.integers(2, 4)] for name, one in zip(names, kinds, strict=True) if one
    }
    tables, choices, lines = {}, {}, {}
    for name in names:
        shape = tuple(len(levels[parent]) for parent in graph.parents(name) if parent in levels)
        k = sum(parent not in levels for parent in graph.parents(name))
        if name not in levels:
            lines[name] = Lines(
                2 * rng.normal(size=shape), rng.normal(size=(*shape, k)), np.exp(0.5 * rng.normal(size=shape))
            )
        elif k:
            own = (*shape, len(levels[name]))
            choices[name] = Softmax(rng.normal(size=own), rng.normal(size=(*own, k)))
        else:
            tables[name] = rng.dirichlet(np.ones(len(levels[name])), size=shape)
    return MixedNetwork(graph, levels, tables, choices, lines)


def punched(network, rows, seed, share=0.5):
    table = network.sample(rows, seed)
    seen = np.random.default_rng([seed, 2]).random((len(table.names), rows)) > share
    return IncompleteTable.of(table, seen)


def given_in(table, row):
    found = {}
    for variable, column, seen in zip(table.schema, table.columns, table.seen, strict=True):
        if seen[row]:
            found[variable.name] = variable.levels[column[row]] if variable.levels else float(column[row])
    return found


def one_row(network, **given):
    """A table of one row of which only some was seen."""
    variables, columns = [], []
    for node in network.graph:
        levels = network.levels.get(node, ())
        variables.append(Variable(node, Kind.DISCRETE if levels else Kind.CONTINUOUS, levels))
        value = given.get(node)
        kind = np.uint16 if levels else np.float64
        columns.append(np.array([levels.index(value) if levels and value else value or 0], dtype=kind))
    seen = np.array([[node in given] for node in network.graph])
    return IncompleteTable(Schema(variables), tuple(columns), seen)


def errors(network, holes, rows, **method):
    """How far shares, means and log deviations of draws are from answers, in standard errors of a draw."""
    found = []
    for row in range(holes.n_rows):
        given = given_in(holes, row)
        for node in network.graph:
            if node in given:
                continue
            drawn, answer = rows.columns[node][:, row], network.query(of=[node], given=given, **method)
            if node in network.levels:
                for level, name in enumerate(network.levels[node]):
                    chance = answer.probabilities[name]
                    sd = np.sqrt(chance * (1 - chance) / rows.copies) + 1e-9
                    found.append(((drawn == level).mean() - chance) / sd)
            else:
                sd = answer.sd[node]
                found.append((drawn.mean() - answer.mean[node]) / sd * np.sqrt(rows.copies))
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("discrete", [0.5, 1.0])
def test_the_density_of_what_was_seen_is_exact(seed, discrete):
    network = random_network(seed, discrete=discrete)
    holes = punched(network, 40, seed)
    found = FilledRows(holes, 1, 0).sweep(network.model)
    assert found == pytest.approx(log_likelihoods(network, holes), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_draws_have_the_distribution_given_what_was_seen(seed):
    network = random_network(seed)
    holes = punched(network, 8, seed)
    rows = FilledRows(holes, 3000, 1)
    rows.sweep(network.model)
    assert rows.independent
    off = errors(network, holes, rows)
    assert np.abs(off).max() < 4.5
    assert np.sqrt(np.mean(off**2)) == pytest.approx(1, abs=0.3)


def two_ways():
    """A low y comes from a rare level d or from a low x: draws of one cell at a time stay where they are."""
    return MixedNetwork(
        DAG(["d", "x", "y"], [("d", "y"), ("x", "y")]),
        {"d": ("no", "yes")},
        {"d": np.array([0.995, 0.005])},
        {},
        {
            "x": Lines(np.array(0.0), np.zeros(0), np.array(1.0)),
            "y": Lines(np.array([0.0, -3.0]), np.ones((2, 1)), np.array([0.1, 0.1])),
        },
    )


def test_rare_rows_with_two_explanations():
    network = two_ways()
    rows = FilledRows(one_row(network, y=-2.9), 20000, 0)
    rows.sweep(network.model)
    likely = network.query("P(d | y=-2.9)").probabilities["yes"]
    assert 0.1 < likely < 0.9
    assert (rows.columns["d"] == 1).mean() == pytest.approx(likely, abs=0.015)
    answer = network.query("P(x | y=-2.9)")
    assert rows.columns["x"].mean() == pytest.approx(answer.mean["x"], abs=0.04)
    assert rows.columns["x"].std() == pytest.approx(answer.sd["x"], abs=0.03)


def choosing():
    """A number with a discrete child, which has a child of its own, and a discrete parent."""
    return MixedNetwork(
        DAG(["d", "x", "c", "e"], [("d", "x"), ("x", "c"), ("c", "e")]),
        {"d": ("no", "yes"), "c": ("lo", "mid", "hi"), "e": ("no", "yes")},
        {"d": np.array([0.7, 0.3]), "e": np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])},
        {"c": Softmax(np.array([0.0, -1.0, -4.0]), np.array([[0.0], [2.0], [3.0]]))},
        {"x": Lines(np.array([-1.0, 1.5]), np.zeros((2, 0)), np.array([1.0, 0.5]))},
    )


def integrated(network, **given):
    """Probabilities of d and c, mean and deviation of x by sums over a fine grid."""
    grid = np.linspace(-9, 9, 20001)
    lines, softmax = network.lines["x"], network.choices["c"]
    chance = softmax.probabilities(grid[:, None])
    weight = np.zeros((2, len(grid), 3))
    for d in range(2):
        density = np.exp(-0.5 * ((grid - lines.intercepts[d]) / lines.sds[d]) ** 2) / lines.sds[d]
        weight[d] = network.tables["d"][d] * density[:, None] * chance
    if "e" in given:
        weight = weight * network.tables["e"][:, network.levels["e"].index(given["e"])]
    if "c" in given:
        weight = weight * (np.arange(3) == network.levels["c"].index(given["c"]))
    weight /= weight.sum()
    x = weight.sum(axis=(0, 2))
    mean = (grid * x).sum()
    return weight.sum(axis=(1, 2)), weight.sum(axis=(0, 1)), mean, np.sqrt(((grid - mean) ** 2 * x).sum())


@pytest.mark.parametrize("given", [{"c": "hi"}, {"c": "lo"}, {"e": "yes"}, {"c": "mid", "e": "no"}])
def test_discrete_nodes_judge_the_numbers_above_them(given):
    network = choosing()
    rows = FilledRows(one_row(network, **given), 10000, 0)
    for _ in range(4):
        logs = rows.sweep(network.model)
    assert not rows.independent
    of_d, of_c, mean, sd = integrated(network, **given)
    assert np.bincount(rows.columns["d"][:, 0], minlength=2) / 10000 == pytest.approx(of_d, abs=0.02)
    if "c" not in given:
        assert np.bincount(rows.columns["c"][:, 0], minlength=3) / 10000 == pytest.approx(of_c, abs=0.02)
    assert rows.columns["x"].mean() == pytest.approx(mean, abs=0.04)
    assert rows.columns["x"].std() == pytest.approx(sd, abs=0.04)
    if given == {"c": "hi"}:
        alone = integrated(network)[1][2]
        assert logs[0] == pytest.approx(np.log(alone), abs=0.05)


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 5])
def test_levels_that_stay_while_others_are_drawn(seed, monkeypatch):
    monkeypatch.setattr(proposal_plan, "MOST_CELLS", 4)
    network = random_network(seed, nodes=6, discrete=0.8)
    holes = punched(network, 6, seed, share=0.7)
    rows = FilledRows(holes, 2000, 1)
    for _ in range(30):
        logs = rows.sweep(network.model)
    assert np.isnan(logs).any()
    assert not rows.independent
    off = errors(network, holes, rows)
    assert np.sqrt(np.mean(off**2)) < 1.3


def test_the_same_seed_draws_the_same():
    network = random_network(3, ordered=False)
    holes = punched(network, 30, 1)
    tables = []
    for _ in range(2):
        rows = FilledRows(holes, 3, 9)
        rows.sweep(network.model)
        rows.sweep(network.model)
        tables.append(rows.table())
    for one, other in zip(tables[0].columns, tables[1].columns, strict=True):
        assert np.array_equal(one, other)


def test_what_was_seen_stays():
    network = random_network(4, ordered=False)
    holes = punched(network, 30, 1)
    rows = FilledRows(holes, 2, 9)
    rows.sweep(network.model)
    for name, column, seen in zip(holes.names, holes.columns, holes.seen, strict=True):
        assert np.array_equal(rows.columns[name][:, seen], np.tile(column[seen], (2, 1)))


def feverish(intercept, slope, ill):
    """A rare illness, a fever, and a rest that only a high fever makes probable."""
    return MixedNetwork(
        DAG(["ill", "fever", "rest"], [("ill", "fever"), ("fever", "rest")]),
        {"ill": ("no", "yes"), "rest": ("no", "yes")},
        {"ill": np.array([1 - ill, ill])},
        {"rest": Softmax(np.array([0.0, intercept]), np.array([[0.0], [slope]]))},
        {"fever": Lines(np.array([36.8, 38.9]), np.zeros((2, 0)), np.array([0.3, 0.6]))},
    )


def given_rest(network):
    """P(ill), mean and deviation of the fever, and ln P(rest), given rest, by sums over a fine grid of logs."""
    grid = np.linspace(25, 60, 200_001)
    lines = network.lines["fever"]
    rest = network.choices["rest"]
    logs = -np.logaddexp(0.0, -(rest.intercepts[1] + rest.slopes[1, 0] * grid))
    levels = [
        np.log(network.tables["ill"][k] / lines.sds[k] / np.sqrt(2 * np.pi))
        - 0.5 * ((grid - lines.intercepts[k]) / lines.sds[k]) ** 2
        + logs
        for k in range(2)
    ]
    top = max(one.max() for one in levels)
    weights = np.array([np.exp(one - top) for one in levels])
    total = weights.sum()
    fever = weights.sum(axis=0) / total
    mean = (fever * grid).sum()
    sd = np.sqrt((fever * (grid - mean) ** 2).sum())
    return weights[1].sum() / total, mean, sd, top + np.log(total * (grid[1] - grid[0]))


@pytest.mark.parametrize(
    ("intercept", "slope", "ill"),
    [(-39, 1, 0.1), (-388, 10, 0.02), (-400, 10, 0.01), (-420, 10, 0.1), (-4500, 100, 1e-6), (-90, 2, 1e-4)],
)
def test_numbers_above_a_rare_level_are_drawn_where_they_explain_it(intercept, slope, ill):
    """What was seen has probabilities from 0.1 to 1e-30: the first draws are right already."""
    network = feverish(intercept, slope, ill)
    rows = FilledRows(one_row(network, rest="yes"), 4000, 0)
    logs = rows.sweep(network.model)
    likely, mean, sd, log_mass = given_rest(network)
    assert (rows.columns["ill"] == 1).mean() == pytest.approx(likely, abs=0.035)
    assert rows.columns["fever"].mean() == pytest.approx(mean, abs=0.1 * sd)
    assert rows.columns["fever"].std() == pytest.approx(sd, rel=0.08)
    assert logs[0] == pytest.approx(log_mass, abs=0.05)
    assert 2000 < rows.effective[0] <= 8 * 4000


def test_few_copies_reach_the_distribution_over_the_sweeps():
    network = feverish(-392, 10, 0.02)
    rows = FilledRows(one_row(network, rest="yes").take([0] * 40), 2, 0)
    fevers = []
    for _ in range(30):
        rows.sweep(network.model)
        fevers.append(rows.columns["fever"].copy())
    _, mean, sd, _ = given_rest(network)
    assert np.mean(fevers) == pytest.approx(mean, abs=0.12 * sd)
    assert np.std(fevers) == pytest.approx(sd, rel=0.1)


def test_judges_that_would_need_large_tables_only_weigh(monkeypatch):
    """Then candidates are drawn without them, and what these are worth is told."""
    network = choosing()
    given = {"e": "yes"}
    rows = FilledRows(one_row(network, **given), 10000, 0)
    group = find_missing_groups(
        network.graph, {node: np.array([node in given]) for node in network.graph}
    ).groups[0]
    cost = make_plan(network.model, group, ("d", "c")).cells
    monkeypatch.setattr(proposal_plan, "MOST_CELLS", cost - 1)
    (plan,) = affordable_plans(network.model, group, np.random.default_rng(0))
    assert plan.reweighted == ("c",)
    assert [block.children for block in plan.blocks] == [()]
    rows.sweep(network.model)
    of_d, of_c, mean, sd = integrated(network, **given)
    assert np.bincount(rows.columns["d"][:, 0], minlength=2) / 10000 == pytest.approx(of_d, abs=0.02)
    assert np.bincount(rows.columns["c"][:, 0], minlength=3) / 10000 == pytest.approx(of_c, abs=0.02)
    assert rows.columns["x"].mean() == pytest.approx(mean, abs=0.04)
    assert rows.columns["x"].std() == pytest.approx(sd, abs=0.04)
