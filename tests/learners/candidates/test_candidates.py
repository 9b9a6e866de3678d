"""The container of candidate parent sets."""

import numpy as np
import pytest

from dagora.base.errors import KnowledgeError
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates.candidates import Candidates, CandidateScore

LISTED = [[((), -5.0), ((1,), -3.0), ((1, 2), -1.0)], [((), -4.0), ((0,), -2.5)], [((), -6.0)]]


@pytest.fixture
def three():
    return Candidates.of(["a", "b", "c"], LISTED)


def test_sets_are_sorted_best_first(three):
    assert three.sets[0].parents == ((1, 2), (1,), ())
    assert three.sets[0].scores.tolist() == [-1.0, -3.0, -5.0]
    assert three.flat.offsets.tolist() == [0, 3, 5, 6]
    assert three.flat.masks[:, 0].tolist() == [6, 2, 0, 1, 0, 0]


def test_of_equal_scores_the_smaller_set_comes_first():
    tied = Candidates.of(
        ["a", "b", "c"], [[((1, 2), -1.0), ((2,), -1.0), ((1,), -1.0), ((), -1.0)], [((), 0.0)], [((), 0.0)]]
    )
    assert tied.sets[0].parents == ((), (1,), (2,), (1, 2))


def test_a_choice_is_a_graph(three):
    assert three.graph([0, 4, 5]) == DAG("abc", [("b", "a"), ("c", "a")])
    assert three.graph(np.array([2, 3, 5])) == DAG("abc", [("a", "b")])


def test_beyond_64_variables():
    names = [f"v{i}" for i in range(70)]
    wide = Candidates.of(names, [[((), 0.0), ((69 if i != 69 else 0,), 1.0)] for i in range(70)])
    assert wide.sets[3].parents == ((69,), ())
    assert wide.graph(wide.flat.offsets[:-1] + np.array([0] * 69 + [1])).parents("v3") == ("v69",)


@pytest.mark.parametrize(
    ("knowledge", "left"),
    [
        (Knowledge(required=[("b", "a")]), [((1, 2), (1,)), ((),), ((),)]),
        (Knowledge(forbidden=[("c", "a")]), [((1,), ()), ((0,), ()), ((),)]),
        (Knowledge(tiers=[["a"], ["b", "c"]]), [((),), ((0,), ()), ((),)]),
        (Knowledge(max_parents=0), [((),), ((),), ((),)]),
    ],
)
def test_knowledge_leaves_what_obeys_it(three, knowledge, left):
    assert [child.parents for child in three.obeying(knowledge)] == left


@pytest.mark.parametrize(
    ("knowledge", "word"),
    [
        (Knowledge(required=[("a", "c")]), "'c' obeys the knowledge .required"),
        (Knowledge(required=[("c", "b")]), "'b' obeys the knowledge .required"),
    ],
)
def test_knowledge_that_leaves_nothing_is_named(three, knowledge, word):
    with pytest.raises(KnowledgeError, match=word):
        three.obeying(knowledge)


def test_adding_the_families_of_a_graph(three):
    more = three.adding(DAG("abc", [("c", "a"), ("a", "b")]), np.array([-2.0, -2.5, -6.0]))
    assert more.sets[0].parents == ((1, 2), (2,), (1,), ())
    assert more.sets[1].parents == three.sets[1].parents
    assert more.hint == (2, 0, 1)


def test_a_family_is_worth_its_best_listed_subset(three):
    score = CandidateScore(three)
    families = [(0, (1, 2)), (0, (2,)), (0, (1,)), (1, (0, 2)), (1, (2,)), (2, (0, 1))]
    assert score.families(families).tolist() == [-1.0, -5.0, -3.0, -2.5, -4.0, -6.0]


def test_a_family_without_a_listed_subset_has_no_score():
    score = CandidateScore(Candidates.of(["a", "b"], [[((1,), -1.0)], [((), -1.0)]]))
    assert score.families([(0, ()), (0, (1,))]).tolist() == [-np.inf, -1.0]
