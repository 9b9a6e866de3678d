"""Remembered scores are the score's own, and nothing is computed twice."""

import numpy as np
import pytest

from dagora.base.budget import Budget, OutOfTimeError
from dagora.learners.search.ges import family_memory
from dagora.learners.search.ges.family_memory import Additions, FamilyMemory
from tests.learners.search.search_oracles import random_score


def wanted(*columns):
    mask = np.zeros(5, dtype=bool)
    mask[list(columns)] = True
    return mask


def test_values_and_gains_are_the_scores():
    score = random_score("bdeu", 1)
    memory = FamilyMemory(score, Budget())
    families = [(0, ()), (0, (1, 2)), (3, (0,)), (0, ())]
    assert memory.values(families).tolist() == score.families(families).tolist()
    assert memory.evaluations == 3
    first, second = memory.gains([Additions(0, (1,), wanted(2, 3)), Additions(4, (), wanted(0))])
    for gains, child, parents, columns in ((first, 0, (1,), [2, 3]), (second, 4, (), [0])):
        values = score.families([(child, parents), *((child, (*parents, column)) for column in columns)])
        assert gains[columns] == pytest.approx(values[1:] - values[0], rel=1e-12)
        assert np.isneginf(np.delete(gains, columns)).all()
    before = memory.evaluations
    memory.gains([Additions(0, (1,), wanted(2, 3))])
    assert memory.evaluations == before
    memory.gains([Additions(0, (1,), wanted(2, 3, 4))])
    assert memory.evaluations == before + 1


def test_too_much_is_forgotten(monkeypatch):
    score = random_score("bdeu", 1)
    memory = FamilyMemory(score, Budget())
    question = [Additions(0, (1,), wanted(2, 3))]
    first = memory.gains(question)
    memory.forget()
    memory.gains(question)
    assert memory.evaluations == 3
    monkeypatch.setattr(family_memory, "CACHED_NUMBERS", 4)
    memory.forget()
    assert memory.gains(question)[0].tolist() == first[0].tolist()
    assert memory.evaluations == 6


def test_the_clock_is_looked_at_between_batches(monkeypatch):
    monkeypatch.setattr("dagora.scores.local_score.MOST_FAMILIES", 2)
    budget = Budget()
    memory = FamilyMemory(random_score("bdeu", 1), budget)
    budget.stop("enough")
    with pytest.raises(OutOfTimeError):
        memory.gains([Additions(0, (), wanted(1, 2, 3))])
    assert memory.values([(0, ())]).shape == (1,), "a graph can still be scored"


def test_a_family_that_cannot_be_scored_gains_nothing():
    score = random_score("bic-gaussian", 1, rows=3)
    memory = FamilyMemory(score, Budget())
    assert memory.values([(0, (1, 2))]).tolist() == [-np.inf]
    assert np.isneginf(memory.gains([Additions(0, (1, 2), wanted(3))])[0]).all()
