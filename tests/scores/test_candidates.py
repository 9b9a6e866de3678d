"""Candidate parent sets against brute force over all subsets."""

import math
from itertools import chain, combinations

import numpy as np
import pytest

import dagora.scores.candidates as candidates_module
from dagora.errors import OptionError
from dagora.events import Budget
from dagora.graph.knowledge import Knowledge
from dagora.run import Run
from dagora.scores.candidates import find_candidates
from dagora.scores.registry import score_named
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


def test_six_columns_in_small_batches(monkeypatch):
    monkeypatch.setattr(candidates_module, "BATCH", 3)
    score = score_named("aic").make(TableStatistics(random_discrete(np.random.default_rng(1), 300, [2] * 6)))
    found = find_candidates(score, Run())
    assert [set(entry.parents) for entry in found] == [set(kept) for kept in brute_force(score, Knowledge())]
    assert max(len(parents) for entry in found for parents in entry.parents) >= 2


def test_equal_columns_do_not_stand_in_for_each_other_in_a_superset():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 100)
    score = score_named("bic").make(TableStatistics(discrete_table([a, a, 1 - a], [2, 2, 2])))
    for entry in find_candidates(score, Run()):
        assert sorted(map(len, entry.parents)) == [0, 1, 1]


@pytest.mark.parametrize("columns", [40, 1100])
def test_too_many_families_are_refused_before_scoring(columns):
    table = random_discrete(np.random.default_rng(3), 10, [2] * columns)
    score = score_named("bic").make(TableStatistics(table))
    with pytest.raises(OptionError, match="too many to score one by one"):
        find_candidates(score, Run())


def test_running_out_of_time_is_said():
    score = score_named("bic").make(TableStatistics(random_discrete(np.random.default_rng(4), 10, [2] * 4)))
    budget = Budget()
    budget.stop("interrupted")
    with pytest.raises(OptionError, match="interrupted"):
        find_candidates(score, Run(budget=budget))


def test_progress_goes_over_the_children():
    score = score_named("bic").make(TableStatistics(random_discrete(np.random.default_rng(5), 10, [2] * 4)))
    events = []
    find_candidates(score, Run(on_event=events.append))
    assert [(event.phase, event.step, event.total) for event in events] == [
        ("scoring", k, 4) for k in (1, 2, 3, 4)
    ]


def test_families_without_a_value_are_no_candidates():
    score = score_named("bic-gaussian").make(
        TableStatistics(random_continuous(np.random.default_rng(6), 3, 4))
    )
    for entry in find_candidates(score, Run()):
        assert max(map(len, entry.parents)) <= 1
        assert all(map(math.isfinite, entry.scores))
