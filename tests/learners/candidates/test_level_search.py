"""Candidate parent sets against brute force over all subsets."""

import math
from itertools import chain, combinations

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.data.readers import read_table
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates import level_search
from dagora.learners.candidates.jkl import read_jkl
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.scores import discrete as discrete_module
from dagora.scores.registry import score_named
from dagora.stats import table as table_module
from dagora.stats.table import TableStatistics
from tests.random_tables import discrete_table, random_continuous, random_discrete


def subsets(items, most):
    return chain.from_iterable(combinations(items, size) for size in range(most + 1))


def brute_force(score, knowledge):
    """Per child: permitted sets that score more than every permitted proper subset of theirs."""
    names = score.schema.names
    forbidden, required = knowledge.forbidden_matrix(names), knowledge.required_matrix(names)
    d = len(names)
    limit = d - 1 if knowledge.max_parents is None else knowledge.max_parents
    kept = []
    for child in range(d):
        allowed = [i for i in range(d) if not forbidden[i, child]]
        needed = {i for i in range(d) if required[i, child]}
        permitted = {
            parents: score.families([(child, parents)])[0]
            for parents in subsets(allowed, min(limit, len(allowed)))
            if needed <= set(parents)
        }
        kept.append(
            {
                parents: value
                for parents, value in permitted.items()
                if all(value > other for below, other in permitted.items() if set(below) < set(parents))
            }
        )
    return kept


KNOWLEDGE = {
    "none": Knowledge(),
    "limit": Knowledge(max_parents=2),
    "no parents": Knowledge(max_parents=0),
    "limit above the columns": Knowledge(max_parents=50),
    "edges": Knowledge(required=[("x1", "x0"), ("x2", "x0")], forbidden=[("x3", "x0"), ("x0", "x4")]),
    "tiers": Knowledge(tiers=[["x0", "x3"], ["x1"], ["x2"]], max_parents=3),
}


@pytest.mark.parametrize("knowledge", KNOWLEDGE.values(), ids=KNOWLEDGE.keys())
@pytest.mark.parametrize("name", ["bic", "aic", "bdeu", "k2", "bic-gaussian", "bge"])
def test_kept_if_and_only_if_better_than_all_subsets(name, knowledge):
    rng = np.random.default_rng(len(name))
    discrete = score_named(name).kind == "discrete"
    table = random_discrete(rng, 120, [2, 3, 2, 2, 3]) if discrete else random_continuous(rng, 60, 5)
    score = score_named(name).make(TableStatistics(table))
    found = find_candidates(score, Run(knowledge))
    expected = brute_force(score, knowledge)
    assert found.names == score.schema.names
    assert [entry.child for entry in found] == list(range(5))
    for entry, kept in zip(found, expected, strict=True):
        assert dict(zip(entry.parents, entry.scores.tolist(), strict=True)).keys() == kept.keys()
        np.testing.assert_allclose([kept[parents] for parents in entry.parents], entry.scores, rtol=1e-12)
        assert len(entry) == len(kept) > 0
        assert entry.scores.tolist() == sorted(entry.scores.tolist(), reverse=True)
        assert all(list(parents) == sorted(parents) for parents in entry.parents)


def test_small_batches_change_nothing(monkeypatch):
    monkeypatch.setattr(discrete_module, "BATCH", 2)
    score = score_named("aic").make(TableStatistics(random_discrete(np.random.default_rng(1), 300, [2] * 6)))
    found = find_candidates(score, Run())
    assert [set(entry.parents) for entry in found] == [set(kept) for kept in brute_force(score, Knowledge())]
    assert max(len(parents) for entry in found for parents in entry.parents) >= 2


@pytest.mark.full
@pytest.mark.parametrize("rows", [40, 300, 3000])
@pytest.mark.parametrize("name", ["bic", "aic"])
def test_the_rules_cut_nothing_that_matters(name, rows):
    """Seven columns of few levels, all 64 parent sets of each child: with rules as without."""
    for seed in range(3):
        rng = np.random.default_rng([rows, seed])
        table = random_discrete(rng, rows, rng.integers(2, 4, 7).tolist())
        score = score_named(name).make(TableStatistics(table))
        expected = brute_force(score, Knowledge())
        for entry, kept in zip(find_candidates(score, Run()), expected, strict=True):
            assert set(entry.parents) == set(kept)


@pytest.mark.parametrize("penalty", [0.05, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("name", ["bic", "bic-gaussian"])
def test_the_rules_hold_for_any_penalty(name, penalty):
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        discrete = name == "bic"
        table = (
            random_discrete(rng, 80, rng.integers(2, 4, 6).tolist())
            if discrete
            else random_continuous(rng, 30, 6)
        )
        score = score_named(name).make(TableStatistics(table), penalty=penalty)
        expected = brute_force(score, Knowledge())
        for entry, kept in zip(find_candidates(score, Run()), expected, strict=True):
            assert set(entry.parents) == set(kept)


def test_the_rules_do_cut():
    """Twelve binary columns have 24 576 families; the rules leave a fraction to be scored."""
    table = random_discrete(np.random.default_rng(7), 60, [2] * 12)
    score = score_named("bic").make(TableStatistics(table))
    scored = []
    find_candidates(score, Run(on_event=lambda event: scored.append(event.step)))
    assert sum(scored) < 24_576 / 6


@pytest.mark.full
def test_reference_candidates_without_a_limit(data_dir):
    """The pruned parent sets that came with the proven optima: the same sets, the same scores."""
    for name, kept in (("water_500c", 128), ("alarm_1000", 951)):
        table = read_table(data_dir / "scores" / f"{name}.csv.gz")
        found = find_candidates(score_named("bic").make(TableStatistics(table, jobs=2)), Run(jobs=2))
        reference = read_jkl(data_dir / "scores" / f"{name}.jkl")
        assert found.complete
        assert sum(map(len, found)) == kept
        for ours, theirs in zip(found, reference, strict=True):
            expected = dict(zip(theirs.parents, theirs.scores.tolist(), strict=True))
            assert expected.keys() == set(ours.parents)
            np.testing.assert_allclose([expected[p] for p in ours.parents], ours.scores, atol=1e-5)


def test_threads_find_the_same_to_the_last_bit(monkeypatch):
    """Also with few sets, and with parents that are required of some children only."""
    monkeypatch.setattr(table_module, "FROM_WORK", 1000)
    table = random_discrete(np.random.default_rng(3), 300, [2, 3, 4, 2, 3, 2, 2, 5])
    known = Knowledge(required=[(table.names[0], table.names[1])])
    found = []
    for jobs in (1, 3):
        score = score_named("bic").make(TableStatistics(table, jobs=jobs), penalty=0.3)
        found.append(find_candidates(score, Run(known, jobs=jobs)))
    for one, three in zip(*found, strict=True):
        assert one.masks.tolist() == three.masks.tolist()
        assert one.scores.tolist() == three.scores.tolist()


@pytest.mark.parametrize("jobs", [1, 3])
def test_progress_is_told_between_batches(jobs, monkeypatch):
    """Else a time limit could not end a level."""
    monkeypatch.setattr(table_module, "FROM_WORK", 1000)
    monkeypatch.setattr(discrete_module, "ROWS_A_BATCH", 3000)
    table = random_discrete(np.random.default_rng(3), 300, [2, 3, 4, 2, 3, 2, 2, 5])
    score = score_named("bic").make(TableStatistics(table, jobs=jobs))
    told = []
    score.joint_sums(
        np.array(list(combinations(range(8), 3))), lambda done, total: told.append((done, total))
    )
    assert [total for _, total in told] == [56] * len(told)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert len(told) > 2
    assert told[-1][0] == 56


def test_what_is_too_much_is_cut_down_and_said(monkeypatch):
    table = random_discrete(np.random.default_rng(8), 200, [2] * 12)
    score = score_named("bic").make(TableStatistics(table))
    whole = find_candidates(score, Run())
    monkeypatch.setattr(level_search, "AFFORDABLE", 30_000)
    some = find_candidates(score, Run())
    assert whole.complete
    assert not some.complete
    assert "best single parents" in some.note
    for few, many in zip(some, whole, strict=True):
        assert {p for p in few.parents if len(p) < 2} == {p for p in many.parents if len(p) < 2}
        np.testing.assert_allclose(
            few.scores, [score.families([(few.child, p)])[0] for p in few.parents], rtol=1e-12
        )
    assert sum(map(len, some)) < sum(map(len, whole))


def test_of_too_many_sets_the_best_are_kept_and_the_rest_is_noted(monkeypatch):
    score = score_named("bdeu").make(TableStatistics(dependent_columns()))
    everything = find_candidates(score, Run(Knowledge(max_parents=2)))
    assert everything.complete
    monkeypatch.setattr(level_search, "MOST_SETS", 1)
    monkeypatch.setattr(level_search, "HEURISTIC_SETS", 2)
    some = find_candidates(score, Run(Knowledge(max_parents=2)))
    assert not some.complete
    assert some.note == "not looked at: all but the best 2 sets of a column and size"
    dropped = 0
    for entry, whole in zip(some, everything, strict=True):
        known = dict(zip(whole.parents, whole.scores.tolist(), strict=True))
        for size in range(3):
            best = sorted((parents for parents in known if len(parents) == size), key=known.get)[-2:]
            assert {parents for parents in entry.parents if len(parents) == size} == set(best)
        dropped += len(whole) - len(entry)
    assert dropped > 0


def dependent_columns():
    """Six columns that depend on each other, in three levels each."""
    rng = np.random.default_rng(12)
    values = rng.normal(size=(400, 6)) + rng.normal(size=(400, 1))
    return discrete_table(np.digitize(values, [-0.8, 0.8]).T, [3] * 6)


def test_equal_columns_do_not_stand_in_for_each_other_in_a_superset():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 100)
    score = score_named("bic").make(TableStatistics(discrete_table([a, a, 1 - a], [2, 2, 2])))
    for entry in find_candidates(score, Run()):
        assert sorted(map(len, entry.parents)) == [0, 1, 1]


def test_a_score_without_rules_needs_a_limit():
    table = random_discrete(np.random.default_rng(3), 10, [2] * 40)
    score = score_named("k2").make(TableStatistics(table))
    with pytest.raises(OptionError, match="set max_parents"):
        find_candidates(score, Run())
    assert find_candidates(score, Run(Knowledge(max_parents=1))).complete


def test_running_out_of_time_leaves_what_was_found():
    score = score_named("bic").make(TableStatistics(random_discrete(np.random.default_rng(4), 100, [2] * 4)))
    budget = Budget()
    budget.stop("interrupted")
    found = find_candidates(score, Run(budget=budget))
    assert not found.complete
    assert "interrupted" in found.note
    assert [entry.parents for entry in found] == [((),)] * 4


def test_progress_reaches_the_end_of_every_level():
    score = score_named("bic").make(TableStatistics(random_discrete(np.random.default_rng(5), 100, [2] * 4)))
    events = []
    find_candidates(score, Run(on_event=events.append))
    assert events
    assert all(event.phase == "scoring" for event in events)
    assert events[-1].step == events[-1].total


def test_families_without_a_value_are_no_candidates():
    score = score_named("bic-gaussian").make(
        TableStatistics(random_continuous(np.random.default_rng(6), 3, 4))
    )
    for entry in find_candidates(score, Run()):
        assert max(map(len, entry.parents)) <= 1
        assert all(map(math.isfinite, entry.scores))
