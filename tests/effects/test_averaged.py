"""Effects averaged over graphs: against sums over all DAGs on four nodes, with means in closed form."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import dagora
from dagora.api.all_effects import all_effects
from dagora.api.effect import effect
from dagora.base.budget import Budget
from dagora.base.events import ignore
from dagora.data.interventions import Interventions
from dagora.effects.all_pairs import AllEffects, column_quantiles
from dagora.effects.averaged import EffectDraws, effective_draws, summarise_draws
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import read_contrast
from dagora.effects.drawn_graphs import drawn_from, random_member
from dagora.effects.effect_rows import EffectRows
from dagora.effects.gaussian_draws import GaussianPosterior, propagate, topological_orders
from dagora.effects.set_estimate import hold_causes, summarise
from dagora.graph.adjustment import Adjustment
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_dags
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.exact.enumeration import enumerate_posterior
from dagora.scores.registry import score_named
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.table import TableStatistics
from tests.effects.exact_rows import rows_with, table_of
from tests.graph.linear_effects import covariance, random_weights, slopes

CHAIN = np.array([[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)


LARGER = pytest.param(5, marks=pytest.mark.full)  # 29 281 DAGs


@pytest.fixture(scope="module")
def numbers():
    return weak_rows(4)


def weak_rows(size):
    """Rows of a linear model with weak effects, so that many graphs are probable."""
    rng = np.random.default_rng(0)
    dag = np.zeros((size, size), dtype=bool)
    dag[:4, :4] = CHAIN
    dag[3, 4:] = True
    return rows_with(covariance(0.25 * random_weights(rng, dag)), rng, rows=60)


def all_graphs(table, score):
    local = score_named(score).make(TableStatistics(table))
    return enumerate_posterior(local, Run(Knowledge(), 0, Budget(), 1, ignore))


def expected_matrix(table, dag):
    """E of the total effects under a graph: families are independent, so it is that of the mean coefficients."""
    posterior = GaussianPosterior.of(TableStatistics(table))
    weights = np.zeros(dag.shape)
    for child in range(len(dag)):
        parents = np.flatnonzero(dag[:, child])
        weights[parents, child] = slopes(posterior.matrices[0], parents, child)
    return np.linalg.inv(np.eye(len(dag)) - weights)


def test_coefficients_have_the_moments_of_their_posterior(numbers):
    posterior = GaussianPosterior.of(TableStatistics(numbers))
    matrix = posterior.matrices[0]
    parents = [0, 2]
    drawn = posterior.draw_weights(np.repeat(CHAIN[None], 40_000, axis=0), np.random.default_rng(0))
    assert not drawn[:, ~CHAIN].any()
    found = drawn[:, parents, 3]
    inside = matrix[np.ix_(parents, parents)]
    mean = np.linalg.solve(inside, matrix[parents, 3])
    residual = matrix[3, 3] - matrix[3, parents] @ mean
    freedom = 60 + 6 - 4 + 2 + 1  # N + α_w − d + p + 1
    truth = residual / (freedom - 2) * np.linalg.inv(inside)
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=4 * np.sqrt(np.diag(truth).max() / 40_000))
    np.testing.assert_allclose(np.cov(found.T), truth, atol=0.05 * truth.max())


def test_changes_run_along_all_paths():
    rng = np.random.default_rng(0)
    graphs = np.array([dag.to_numpy() for dag in all_dags(4)])
    weights = np.where(graphs, rng.standard_normal(graphs.shape), 0)
    orders = topological_orders(graphs)
    for x in range(4):
        is_set = np.arange(4) == x
        found = propagate(weights, orders, is_set, is_set * 2.0)
        np.testing.assert_allclose(found, 2 * np.linalg.inv(np.eye(4) - weights)[:, x], atol=1e-9)


@pytest.mark.parametrize("size", [4, LARGER])
def test_linear_effects_are_sums_over_all_graphs(size):
    numbers = weak_rows(size)
    truth = all_graphs(numbers, "bge")
    dags = [truth.graph(place).to_numpy() for place in range(len(truth.masks))]
    mean = np.tensordot(truth.probabilities, [expected_matrix(numbers, dag) for dag in dags], axes=1)
    chance = np.tensordot(
        truth.probabilities, [np.linalg.matrix_power(np.eye(size) + dag, size) > 0 for dag in dags], axes=1
    )
    found = all_effects(numbers, method="exact", draws=5000)
    others = ~np.eye(size, dtype=bool)
    np.testing.assert_allclose(found.mean[others], mean[others], atol=0.01)
    np.testing.assert_allclose(found.cause_probability[others], chance[others], atol=0.015)
    assert (found.low <= found.high).all()


def test_one_effect_is_that_of_the_table_of_all(numbers):
    table = all_effects(numbers, draws=300, seed=3)
    for x, y in [(0, 3), (3, 0), (1, 2)]:
        found = effect(numbers, f"x{x}", f"x{y}", draws=300, seed=3)
        assert found.estimate == pytest.approx(table.mean[x, y])
        assert found.interval == pytest.approx((table.low[x, y], table.high[x, y]))
        assert found.over_graphs.cause_probability == pytest.approx(table.cause_probability[x, y])
    first = next(table.pairs())
    assert abs(first[2].value) > 0
    assert len(list(table.pairs())) == 12
    assert table.to_text().splitlines()[1].startswith(f"{first[0]} on {first[1]}: ")
    assert table.to_dict()["effects"][0]["x"] == first[0]


@pytest.fixture(scope="module")
def words():
    return four_words()


def four_words():
    rng = np.random.default_rng(1)
    a = rng.random(150) < 0.5
    b = rng.random(150) < 0.3 + 0.3 * a
    c = rng.random(150) < 0.2 + 0.3 * a + 0.2 * b
    d = rng.random(150) < 0.3 + 0.3 * c
    return table_of(
        **{name: np.where(column, "yes", "no") for name, column in zip("abcd", (a, b, c, d), strict=True)}
    )


def test_discrete_effects_are_sums_over_all_graphs(words):
    truth = all_graphs(words, "bdeu")
    contrast = read_contrast(words, "a", "d")
    rows = EffectRows(words)
    mean = chance = 0.0
    for place, probability in enumerate(truth.probabilities):
        if probability > 1e-5:
            found = effect_by_graph(truth.graph(place), rows, contrast)
            mean += probability * found.estimate
            chance += probability * (found.verdict != "zero")
    averaged = effect(words, "a", "d", method="exact", draws=2500)
    assert averaged.estimate == pytest.approx(mean, abs=0.004)
    assert averaged.over_graphs.cause_probability == pytest.approx(chance, abs=0.02)
    assert averaged.over_graphs.effective > 5000
    assert set(averaged.estimates) == {"difference", "ratio", "odds ratio"}
    best = averaged.over_graphs.best
    assert best.to_text().splitlines()[1] in averaged.to_text()
    assert averaged.to_dict()["over_graphs"]["zero_probability"] == pytest.approx(1 - chance, abs=0.02)


@pytest.mark.full
def test_a_discrete_effect_is_a_sum_over_all_graphs_of_five_nodes():
    four = four_words().to_pandas()
    rng = np.random.default_rng(2)
    table = table_of(**four, e=np.where(rng.random(150) < 0.4 + 0.2 * (four["d"] == "yes"), "yes", "no"))
    truth, contrast, rows = all_graphs(table, "bdeu"), read_contrast(table, "a", "d"), EffectRows(table)
    found, mean, chance = {}, 0.0, 0.0
    for place in np.flatnonzero(truth.probabilities > 1e-6).tolist():
        graph = truth.graph(place)
        said = Adjustment(graph, "a", "d")
        key = (said.verdict, said.optimal)
        if key not in found:
            found[key] = effect_by_graph(graph, rows, contrast).estimate
        mean += truth.probabilities[place] * found[key]
        chance += truth.probabilities[place] * (said.verdict != "zero")
    averaged = effect(table, "a", "d", method="exact", draws=2500)
    assert averaged.estimate == pytest.approx(mean, abs=0.004)
    assert averaged.over_graphs.cause_probability == pytest.approx(chance, abs=0.02)


def test_sets_of_all_graphs_at_once_are_those_of_each_graph(words):
    drawn = drawn_from(dagora.sample(words, "exact", draws=200, seed=0), Knowledge(), ())
    for x, y in [("a", "d"), ("d", "a"), ("b", "c")]:
        places = np.flatnonzero(drawn.causes([x], y))
        for place, found in zip(places.tolist(), drawn.optimal_sets(x, y, places), strict=True):
            names = tuple(name for name, there in zip("abcd", found, strict=True) if there)
            assert names == Adjustment(drawn.distinct.graph(place), x, y).optimal


def test_all_pairs_of_discrete_columns_are_those_of_one_at_a_time(words):
    table = all_effects(words, draws=100, seed=3)
    for x, y in [("a", "d"), ("d", "a"), ("b", "c")]:
        found = effect(words, x, y, draws=100, seed=3)
        i, j = "abcd".index(x), "abcd".index(y)
        assert found.estimate == pytest.approx(table.mean[i, j])
        assert found.interval == pytest.approx((table.low[i, j], table.high[i, j]))
        assert found.over_graphs.cause_probability == pytest.approx(table.cause_probability[i, j])
    x, y, first, _ = next(table.pairs())
    assert table.to_text().splitlines()[1].startswith(f"{x}=yes instead of no, on P({y}=yes): {first}")
    assert table.to_dict()["effects"][0]["event"] == "yes"


def test_all_pairs_of_both_kinds():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 200)
    y = x + rng.standard_normal(200)
    z = rng.random(200) < 1 / (1 + np.exp(-2 * y))
    table = table_of(x=np.array(list("abc"))[x], y=y, z=np.where(z, "yes", "no"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exp(BIC) approximates a marginal likelihood
        found = all_effects(table, draws=50, knowledge={"tiers": [["x"], ["y"], ["z"]]})
    assert np.isfinite(found.mean).all()
    assert found.mean[0, 1] != 0
    assert found.mean[1, 0] == found.mean[2, 0] == 0
    assert "of columns with more than two levels, the two that most rows have are compared" in found.notes
    frequent = np.array(list("abc"))[np.argsort(-np.bincount(x), kind="stable")]
    assert found.contrasts["x", "y"].to_text().startswith(f"x={frequent[1]} instead of {frequent[0]}")


def test_given_a_level_graphs_in_which_it_depends_on_x_are_left_out(words):
    truth = all_graphs(words, "bdeu")
    contrast = read_contrast(words, "c", "d", given={"a": "yes"})
    rows = EffectRows(words)
    mean = weight = cause = 0.0
    for place, probability in enumerate(truth.probabilities):
        graph = truth.graph(place)
        if "a" not in graph.descendants("c"):
            weight += probability
            cause += probability * ("d" in graph.descendants("c"))
            mean += probability * effect_by_graph(graph, rows, contrast).estimate if probability > 1e-5 else 0
    found = effect(words, "c", "d", given={"a": "yes"}, method="exact", draws=1500)
    assert found.estimate == pytest.approx(mean / weight, abs=0.01)
    assert found.over_graphs.cause_probability == pytest.approx(cause / weight, abs=0.04)
    said = f"averaged over the graphs in which a does not depend on c, {weight:.0%} of the weight"
    share = int(next(note for note in found.notes if "does not depend" in note).split("%")[0].split()[-1])
    assert share == pytest.approx(100 * weight, abs=3), said
    with pytest.raises(dagora.OptionError, match="a depends on c in every graph"):
        effect(words, "c", "d", given={"a": "yes"}, knowledge={"required": [["c", "a"]]}, draws=50)


def test_several_discrete_columns_set_at_once(words):
    truth = all_graphs(words, "bdeu")
    contrast = read_contrast(words, ["a", "c"], "b")
    rows = EffectRows(words)
    mean, verdicts = 0.0, set()
    for place, probability in enumerate(truth.probabilities):
        if probability > 1e-4:
            found = effect_by_graph(truth.graph(place), rows, contrast)
            mean += probability * found.estimate
            verdicts.add(found.verdict)
    assert "g-formula" in verdicts
    averaged = effect(words, ["a", "c"], "b", method="exact", draws=1000)
    assert averaged.estimate == pytest.approx(mean, abs=0.01)


def test_both_kinds_of_columns():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(300)
    x = rng.random(300) < 1 / (1 + np.exp(-z))
    y = z + 2 * x + rng.standard_normal(300)
    table = table_of(z=z, x=np.where(x, "yes", "no"), y=y)
    tiers = {"tiers": [["z"], ["x"], ["y"]]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exp(BIC) approximates a marginal likelihood
        found = effect(table, "x", "y", knowledge=tiers, draws=200)
    assert found.interval[0] < 2 < found.interval[1]
    assert found.over_graphs.cause_probability > 0.99
    assert found.over_graphs.best.adjustment == ("z",)


@pytest.mark.full
def test_bootstrap_averages_over_classes(words):
    found = effect(words, "a", "c", method="bootstrap", samples=20)
    assert found.verdict == "averaged"
    assert "10 of the class learned from each of 20 samples" in found.to_text()
    assert 0.2 < found.over_graphs.cause_probability < 0.9  # the direction of a — c is open


def test_members_are_of_the_class():
    class_ = CPDAG.from_dag(DAG("abcd", ["ab", "bc", "cd"]))
    rng = np.random.default_rng(0)
    found = {random_member(class_, rng).tobytes() for _ in range(100)}
    assert len(found) == 4  # all of them
    for one in found:
        dag = np.frombuffer(one, dtype=bool).reshape(4, 4).T
        assert CPDAG.from_dag(DAG.from_numpy(dag, "abcd")) == class_


def test_rows_in_which_a_column_was_set_do_not_tell_what_it_depends_on():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(400)
    b = 0.9 * a + rng.standard_normal(400)
    b[200:] = rng.standard_normal(200) * 3
    table = table_of(a=a, b=b)
    marks = Interventions.of_rows([None] * 200 + ["b"] * 200, ["a", "b"])
    posterior = GaussianPosterior.of(InterventionalStatistics(table, marks))
    graphs = np.repeat(np.array([[[False, True], [False, False]]]), 4000, axis=0)
    assert posterior.draw_weights(graphs, rng)[:, 0, 1].mean() == pytest.approx(0.9, abs=0.15)
    marked = {"a": a, "b": b, "set": [""] * 200 + ["b"] * 200}
    found = effect(marked, "a", "b", interventions="set")
    assert found.over_graphs.cause_probability > 0.99
    assert found.interval[0] < 0.9 < found.interval[1]


def test_quantiles_with_equal_weights():
    values = np.random.default_rng(0).standard_normal((999, 3))
    plain = column_quantiles(values, None)
    weighed = column_quantiles(values, np.full(999, 1 / 999))
    np.testing.assert_allclose(plain, weighed, atol=0.05)


def test_a_weight_counts_as_so_many_equal_draws():
    rng = np.random.default_rng(1)
    values, times = rng.lognormal(size=(20, 2)), np.array([1, 3, 1, 1, 2, 4, 1, 2, 3, 2] * 2)
    weighed, repeated = (
        EffectDraws(some[None], np.ones((1, len(some)), dtype=bool), counts[None] / counts.sum())
        for some, counts in ((values, times), (np.repeat(values, times, axis=0), np.ones(times.sum())))
    )
    contrast = SimpleNamespace(scales=("difference", "ratio"))
    one, other = (summarise_draws(draws, contrast) for draws in (weighed, repeated))
    assert [one[scale].value for scale in one] == pytest.approx([other[scale].value for scale in other])
    for low_or_high, same in zip(
        column_quantiles(values, times.astype(float)),
        column_quantiles(np.repeat(values, times, axis=0), None),
        strict=True,
    ):
        assert low_or_high.tolist() == same.tolist()


def test_draws_are_worth_no_more_than_their_weights_or_their_chain():
    rng = np.random.default_rng(2)
    free, sticky = rng.normal(size=(2, 1, 400, 1))
    sticky = np.cumsum(sticky, axis=1)
    causes, even = np.ones((1, 400), dtype=bool), np.full((1, 400), 1 / 400)
    uneven = np.where(np.arange(400) < 4, 0.24, 0.04 / 396)[None]
    assert 250 < effective_draws(EffectDraws(free, causes, even)) <= 400
    assert effective_draws(EffectDraws(sticky, causes, even)) < 40
    assert effective_draws(EffectDraws(free, causes, uneven)) < 6


def test_standardised_effects_have_no_units():
    rng = np.random.default_rng(3)
    mean, spread, unit = rng.normal(size=(3, 3)), rng.random(3) + 0.5, np.array([1.0, 10.0, 0.2])
    one, other = (
        AllEffects(tuple("abc"), made, made, made, made, deviations, "a test").standardised
        for made, deviations in ((mean, spread), (mean * unit / unit[:, None], spread * unit))
    )
    np.testing.assert_allclose(one, other)


def test_a_method_that_learns_one_graph_gives_no_table(numbers):
    with pytest.raises(dagora.OptionError, match='method="tabu" learns one'):
        all_effects(numbers, method="tabu")


def test_no_conditions_among_linear_models():
    rng = np.random.default_rng(0)
    table = rows_with(np.eye(3), rng)
    with pytest.raises(dagora.DagoraError, match="continuous: an effect is given levels"):
        effect(table, "x0", "x1", given={"x2": "1"})


def test_an_interval_holds_95_percent_of_the_draws_in_which_x_is_a_cause():
    rng = np.random.default_rng(0)
    causes = np.arange(10_000) < 3000
    values = np.where(causes, rng.normal(1, 0.1, 10_000), 0)
    weights = np.full(10_000, 1e-4)
    plain = summarise(0.3, values, weights)
    assert np.mean((values >= plain.low) & (values <= plain.high), where=causes) < 0.925
    found = hold_causes(plain, values, weights, causes)
    assert (found.value, found.low) == (0.3, 0.0)
    assert np.mean((values >= found.low) & (values <= found.high), where=causes) == pytest.approx(
        0.975, abs=2e-3
    )
    rare = np.arange(10_000) < 400
    assert hold_causes(plain, values, weights, rare) == plain


def test_an_average_stands_where_the_most_probable_class_alone_leaves_no_row():
    """In half the rows a was set, on which b depends; in the others c, which is the outcome."""
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 400))
    first = np.arange(400) < 200
    b += a
    c = np.where(first, b + c, 2 * c)
    marks = np.where(first, "a", "c").tolist()
    found = effect({"a": a, "b": b, "c": c, "set": marks}, "b", "c", interventions="set", draws=50)
    assert found.interval[0] < 1 < found.interval[1]
    assert found.over_graphs.best is None
    assert "class of graphs alone it cannot be computed: no row is left" in found.to_text()
