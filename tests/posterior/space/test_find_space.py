"""Search spaces: what they hold, how they are cut, how they grow, judged by truth and by lists of all graphs."""

import time
from dataclasses import replace

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.base.events import Event
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.learners.search.exact.dynamic import dynamic
from dagora.posterior.chains.build_target import SamplingSpec, build_target, frequent_edges
from dagora.posterior.exact.enumeration import enumerate_weights
from dagora.posterior.exact.exact_posterior import full_log_weights
from dagora.posterior.exact.graph_sums import GraphSums, edge_posteriors
from dagora.posterior.space.best_graph import best_graph, heavy_candidates
from dagora.posterior.space.family_tables import family_tables
from dagora.posterior.space.find_space import find_space, is_equivalent
from dagora.posterior.space.growth import enlarge, find_space_iteratively
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import MOST_IN_FULL, Space
from dagora.scores.bdeu import bdeu
from dagora.scores.bge import BGe
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.information import aic, bic
from dagora.scores.k2 import k2
from dagora.scores.lasso import LassoScore
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, random_continuous, random_dag, random_discrete

UNIFORM = prior_named("uniform")


def linear_rows(rng, dag, rows):
    """Rows of a linear model with strong edges."""
    matrix = dag.to_numpy()
    size = len(matrix)
    weights = matrix * rng.uniform(0.6, 1.2, size=(size, size)) * rng.choice([-1, 1], size=(size, size))
    return rng.normal(size=(rows, size)) @ np.linalg.inv(np.eye(size) - weights)


@pytest.fixture(scope="module")
def strong():
    """Fourteen variables, many rows: every method must see every edge."""
    rng = np.random.default_rng(7)
    truth = random_dag(rng, 14, 0.13)
    return truth, BGe(TableStatistics(continuous_table(linear_rows(rng, truth, 5000))))


def test_a_dozen_variables_leave_nothing_out():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(0), 50, MOST_IN_FULL)))
    assert find_space(score, Run()) == Space.full(MOST_IN_FULL)


def test_scores_that_are_dear_leave_something_out_sooner():
    rows = linear_rows(np.random.default_rng(0), random_dag(np.random.default_rng(0), 8, 0.2), 200)

    class Expensive(BGe):
        capabilities = property(lambda self: replace(BGe.capabilities.fget(self), is_expensive=True))

    assert find_space(Expensive(TableStatistics(continuous_table(rows[:, :7]))), Run()) == Space.full(7)
    assert "dual PC" in find_space(Expensive(TableStatistics(continuous_table(rows))), Run()).note


@pytest.mark.parametrize("kind", ["auto", "ges", "dual-pc", "candidates"])
def test_true_neighbours_are_in_the_cores(strong, kind):
    truth, score = strong
    space = find_space(score, Run(), kind)
    matrix = truth.to_numpy()
    for child in range(14):
        around = set(np.flatnonzero(matrix[:, child] | matrix[child]).tolist())
        assert around <= set(space.cores[child])
        assert set(space.cores[child]) | set(space.extras[child]) | {child} == set(range(14))
    assert sum(map(len, space.cores)) < 4 * 2 * len(truth.edges)
    assert "any one further parent" in space.note


def test_automatic_spaces_follow_the_score(strong):
    _, score = strong
    assert "greedy equivalence search" in find_space(score, Run()).note
    lasso = LassoScore(TableStatistics(random_continuous(np.random.default_rng(0), 100, 13)))
    assert "dual PC" in find_space(lasso, Run()).note
    table = random_discrete(np.random.default_rng(0), 100, [2, 3] * 7)
    assert "best sets" in find_space(k2(TableStatistics(table)), Run()).note
    assert "Markov blankets" in find_space(k2(TableStatistics(table)), Run(), "ges").note


@pytest.mark.parametrize(("make", "expected"), [(bdeu, True), (bic, True), (aic, True), (k2, False)])
def test_equivalence_is_seen_on_discrete_scores(make, expected):
    table = random_discrete(np.random.default_rng(3), 100, [2, 3, 2, 4, 2])
    assert is_equivalent(make(TableStatistics(table))) is expected


@pytest.mark.parametrize(("make", "expected"), [(BGe, True), (GaussianBIC, True), (LassoScore, False)])
def test_equivalence_is_seen_on_continuous_scores(make, expected):
    table = random_continuous(np.random.default_rng(3), 100, 5)
    assert is_equivalent(make(TableStatistics(table))) is expected


def test_a_difference_in_either_direction_counts():
    rows = np.random.default_rng(0).normal(size=(50, 1)) + np.random.default_rng(1).normal(size=(50, 2))
    scores = [LassoScore(TableStatistics(continuous_table(rows * units))) for units in ([1, 3], [3, 1])]
    assert [is_equivalent(score) for score in scores] == [False, False]


def test_long_cores_keep_the_strongest_and_say_so():
    """A child of eight causes, whose strengths rise with their position."""
    rng = np.random.default_rng(1)
    causes = rng.normal(size=(2000, 8))
    child = causes @ np.linspace(0.3, 1.0, 8) + rng.normal(size=2000)
    rest = rng.normal(size=(2000, 4))
    score = BGe(TableStatistics(continuous_table(np.column_stack([child, causes, rest]))))
    whole = find_space(score, Run(), "ges")
    assert set(whole.cores[0]) == set(range(1, 9))
    small = find_space(score, Run(), "ges", most=3)
    assert small.cores[0] == (6, 7, 8)
    assert "only the 3 strongest for 'x0'" in small.note
    needed = Run(Knowledge(required=[("x1", "x0"), ("x12", "x0")]))
    assert find_space(score, needed, "ges", most=3).cores[0] == (1, 8, 12)


def test_knowledge_shapes_the_cores(strong):
    truth, score = strong
    a, b = truth.edges[0]
    run = Run(Knowledge(forbidden=[(a, b)], tiers=[[a], [b]], max_parents=2))
    for kind in ("ges", "dual-pc", "candidates"):
        space = find_space(score, run, kind)
        assert truth.index(a) not in space.cores[truth.index(b)]
        assert truth.index(b) not in space.cores[truth.index(a)]


def test_impossible_wishes_are_refused():
    discrete = bdeu(TableStatistics(random_discrete(np.random.default_rng(0), 50, [2, 2, 2])))
    with pytest.raises(OptionError, match="dual-pc tests correlations"):
        find_space(discrete, Run(), "dual-pc")
    with pytest.raises(OptionError, match="no search space named 'gess': did you mean 'ges'"):
        find_space(discrete, Run(), "gess")


def test_progress_shows_no_foreign_scores(strong):
    events: list[Event] = []
    find_space(strong[1], Run(on_event=events.append), "ges")
    assert events
    assert all(event.score is None for event in events)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(8))
def test_the_best_graph_of_a_space_is_the_best_of_all_in_it(seed):
    rng = np.random.default_rng(seed)
    score = BGe(TableStatistics(random_continuous(rng, 60, 5)))
    cores = [[j for j in range(5) if j != i and rng.random() < 0.3] for i in range(5)]
    tables = family_tables(score, Space.plus_one(cores, ""), prior_named("sparse"), Run())
    listed = enumerate_weights("abcde", full_log_weights(tables))
    found = best_graph(tables, Run())
    masks = (found.T @ (1 << np.arange(5))).astype(np.uint64)
    place = int(listed.find(masks[:, None]))
    assert listed.log_scores[place] == pytest.approx(listed.log_scores.max())


def test_candidates_of_tables_are_the_families_that_beat_their_subsets():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(2), 60, 5)))
    space = Space.plus_one([(1, 2), (0, 2, 4), (), (0, 1, 2, 4), (3,)], "")
    tables = family_tables(score, space, UNIFORM, Run())
    weights = full_log_weights(tables)
    for child, sets in enumerate(heavy_candidates(tables)):
        expected = {}
        others = [j for j in range(5) if j != child]
        for mask in range(16):
            below = [weights[child, sub] for sub in range(mask) if sub & ~mask == 0]
            if weights[child, mask] > max(below, default=-np.inf):
                expected[tuple(others[bit] for bit in range(4) if mask >> bit & 1)] = weights[child, mask]
        assert dict(zip(sets.parents, sets.scores.tolist(), strict=True)) == pytest.approx(expected)


def test_growing_from_nothing_reaches_the_optimum():
    rng = np.random.default_rng(5)
    truth = random_dag(rng, 10, 0.3)
    score = GaussianBIC(TableStatistics(continuous_table(linear_rows(rng, truth, 400))))
    optimum = dynamic(find_candidates(score, Run()), Run())
    start = Space.plus_one([()] * 10, "empty")
    grown = find_space_iteratively(score, UNIFORM, Run(), start)
    tables = family_tables(score, grown, UNIFORM, Run())
    found = best_graph(tables, Run())
    families = [(child, np.flatnonzero(found[:, child]).tolist()) for child in range(10)]
    assert score.families(families).sum() == pytest.approx(optimum.score)
    assert "parents added by enlarging" in grown.note
    # It ends where the best graph asks for nothing more.
    assert enlarge(grown, found).cores == grown.cores


def test_growth_takes_frequencies_and_stops_at_a_limit():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 60, 5)))
    calls = []

    def frequencies(tables, run):
        calls.append(int(tables.sizes.sum()))
        often = np.zeros((5, 5))
        often[1, 0], often[2, 0], often[3, 0], often[4, 0] = 0.6, 0.9, 0.4, 0.7
        return often

    start = Space.plus_one([()] * 5, "empty")
    grown = find_space_iteratively(score, UNIFORM, Run(), start, find_edges=frequencies, most=2)
    assert grown.cores == ((2, 4), (0,), (0,), (), (0,))
    assert len(calls) == 2
    assert find_space_iteratively(score, UNIFORM, Run(), Space.full(5)) == Space.full(5)


def test_growing_that_is_cut_off_adds_nothing():
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(0), 50, 5)))
    start = Space.plus_one([()] * 5, "empty")
    budget = Budget()

    def late(tables, run):
        budget.stop("it was interrupted")
        return np.ones((5, 5))

    cut = find_space_iteratively(score, UNIFORM, Run(budget=budget), start, find_edges=late)
    assert cut.cores == start.cores, "chains that were cut off have nothing to say"
    assert cut.note.endswith("0 parents added by enlarging, which ran out of time")
    assert cut.cut
    assert not find_space_iteratively(score, UNIFORM, Run(), start).cut


def test_growing_leaves_time_to_score_what_it_led_to(strong, monkeypatch):
    def slow(tables, run):
        while not run.budget.exhausted:
            time.sleep(0.01)
        return np.ones((14, 14))

    monkeypatch.setattr("dagora.posterior.chains.build_target.frequent_edges", slow)
    spec = SamplingSpec(space="dual-pc", grow="draws", memory=1.0)
    target = build_target(strong[1], Run(budget=Budget(4.0)), spec)
    assert not target.missing
    assert target.note.endswith("ran out of time")
    (warning,) = target.warnings
    assert warning.startswith(
        "time ran out before the search space was complete: with more time, other edges"
    )


@pytest.mark.parametrize("seed", range(4))
def test_how_much_of_the_posterior_a_grown_space_holds(seed):
    """On dense graphs the neighbours alone miss much; how much is summed exactly."""
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(seed), 150, 9)))

    def log_sum(space):
        return GraphSums(full_log_weights(family_tables(score, space, UNIFORM, Run()))).log_total

    narrow = find_space(score, Run(), "dual-pc")
    grown = find_space_iteratively(score, UNIFORM, Run(), narrow)
    wide = find_space_iteratively(score, UNIFORM, Run(), narrow, find_edges=frequent_edges, above=0.1)
    whole = log_sum(Space.full(9))
    assert log_sum(narrow) <= log_sum(grown) <= whole + 1e-9
    assert whole + np.log(0.75) < log_sum(wide) <= whole + 1e-9


def test_frequencies_of_edges_are_near_those_of_the_posterior():
    """Chains over orders lean to few edges, so near and no more; the best graph's edges count as sure."""
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(2), 300, 6)))
    tables = family_tables(score, Space.full(6), UNIFORM, Run())
    often = frequent_edges(tables, Run())
    edges = edge_posteriors(GraphSums(full_log_weights(tables)).families())
    assert (often[best_graph(tables, Run())] == 1.0).all()
    others = ~best_graph(tables, Run())
    assert np.abs(often - edges)[others].max() < 0.2
    assert often[others].max() > 0.1
