"""Candidates that grow around graphs."""

from dataclasses import replace

import numpy as np
import pytest

from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.learners.search.exact.dynamic import dynamic
from dagora.learners.search.order.order_search import order_search
from dagora.learners.search.order.widen import Widening

NAMES = tuple("abcdef")


def table(seed, rows=300):
    """c depends on a and b, d on c, f on d and e; e is the parity of a and b, so that no one of them tells."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, size=(2, rows))

    def noisy(column, rate):
        return np.where(rng.random(rows) < rate, 1 - column, column)

    c = noisy(a & b, 0.1)
    d = noisy(c, 0.2)
    e = noisy(a ^ b, 0.05)
    f = noisy(d | e, 0.1)
    return Table.from_numpy(np.stack([a, b, c, d, e, f], axis=1), names=NAMES, discrete=NAMES)


def bare(score, knowledge=None):
    """Nobody has candidates but required parents alone; the rest is left to widening."""
    knowledge = knowledge or Knowledge()
    required = knowledge.required_matrix(NAMES)
    bases = [tuple(np.flatnonzero(required[:, x]).tolist()) for x in range(6)]
    values = score.families(list(enumerate(bases)))
    listed = [[(base, value)] for base, value in zip(bases, values, strict=True)]
    return replace(Candidates.of(NAMES, listed, complete=False, note="all"), widen=Widening(score, knowledge))


def as_dict(sets):
    return dict(zip(sets.parents, sets.scores.tolist(), strict=True))


def test_every_single_change_and_exchange_is_there():
    score = make_score(table(1), "bic")
    graph = DAG(NAMES, [("a", "c"), ("d", "c"), ("e", "f")])
    candidates = bare(score)
    wider = candidates.widen(candidates, [graph], Run())
    for x in range(6):
        parents = set(graph.parent_indices(x))
        others = set(range(6)) - {x} - parents
        near = [parents, *(parents - {i} for i in parents), *(parents | {j} for j in others)]
        near += [parents - {i} | {j} for i in parents for j in others]
        listed = as_dict(wider.sets[x])
        for value, family in zip(score.families([(x, sorted(p)) for p in near]), near, strict=True):
            within = [listed[p] for p in listed if set(p) <= family]
            assert max(within) >= value - 1e-9  # the set, or a subset that is as good
        exact = score.families([(x, p) for p in listed])
        np.testing.assert_allclose(list(listed.values()), exact)


def test_no_set_has_a_better_subset():
    score = make_score(table(2), "bic")
    candidates = bare(score)
    for _ in range(5):
        candidates = candidates.widen(candidates, [DAG(NAMES)], Run())
    for child in candidates:
        listed = as_dict(child)
        assert list(listed.values()) == sorted(listed.values(), reverse=True)
        for p, value in listed.items():
            assert all(value > other for q, other in listed.items() if set(q) < set(p))


def test_probes_find_parents_that_only_pay_together():
    # Neither a nor b tells anything about e, both together nearly everything.
    score = make_score(table(3), "bic")
    assert score.families([(4, ())])[0] > score.families([(4, (0,)), (4, (1,))]).max()
    candidates = bare(score)
    empty = DAG(NAMES)
    first = candidates.widen(candidates, [empty], Run())
    assert (0, 1) not in first.sets[4].parents
    wider = first
    for _ in range(40):
        wider = wider.widen(wider, [empty], Run())
    assert (0, 1) in wider.sets[4].parents


def test_it_ends_with_the_same_object():
    score = make_score(table(4), "bic")
    candidates = bare(score)
    for _ in range(40):
        again = candidates.widen(candidates, [DAG(NAMES)], Run())
        if again is candidates:
            break
        candidates = again
    assert candidates.widen(candidates, [DAG(NAMES)], Run()) is candidates


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_the_search_reaches_the_optimum_of_all_sets(seed):
    score = make_score(table(seed), "bic")
    optimum = dynamic(find_candidates(score, Run()), Run()).score
    outcome = order_search(bare(score), Run(seed=seed))
    assert outcome.score == pytest.approx(optimum)
    assert outcome.status == "finished"  # no proof without all candidates
    assert outcome.graph == order_search(bare(score), Run(seed=seed)).graph


def test_knowledge_is_obeyed():
    score = make_score(table(5), "bic")
    known = Knowledge(required=[("f", "e")], forbidden=[("a", "c"), ("c", "a")], max_parents=2)
    outcome = order_search(bare(score, known), Run(known))
    assert ("f", "e") in outcome.graph.edges
    assert not {("a", "c"), ("c", "a")} & set(outcome.graph.edges)
    assert max(len(outcome.graph.parent_indices(x)) for x in range(6)) <= 2
    optimum = dynamic(find_candidates(score, Run(known)), Run(known)).score
    assert outcome.score == pytest.approx(optimum)


def test_nothing_is_looked_at_when_the_time_is_up():
    score = make_score(table(6), "bic")
    candidates = bare(score)
    budget = Budget()
    budget.stop("it was interrupted")
    assert candidates.widen(candidates, [DAG(NAMES)], Run(budget=budget)) is candidates
