"""Upper confidence bounds, counted by hand."""

import numpy as np
import pytest

from dagora.learners.search.rbnets.agent import Visits

ALL = np.ones(3, dtype=np.bool_)


def values(*numbers):
    return np.array(numbers, dtype=np.float32)


def test_untried_actions_come_first_by_their_value():
    visits = Visits()
    q = values(1.0, 3.0, 2.0)
    assert [visits.choose(b"s", q, ALL) for _ in range(3)] == [1, 2, 0]
    assert visits.visits(b"s") == 3
    assert visits.bonus(b"s", 3) == pytest.approx(np.sqrt(2 * np.log(3) / np.ones(3)))
    assert (visits.visits(b"other"), len(visits)) == (0, 1)
    assert np.isinf(visits.bonus(b"other", 3)).all()


def test_then_value_and_bonus_decide():
    visits = Visits()
    # Worth 1 more than the others: with τ(s) = 4, … the bonus of a rare action must make up for that.
    q = values(1.0, 0.0, 0.0)
    taken = [visits.choose(b"s", q, ALL) for _ in range(12)]
    counts = [0, 0, 0]
    for visit, action in enumerate(taken, start=1):
        bounds = [q[a] + np.sqrt(2 * np.log(visit) / counts[a]) if counts[a] else np.inf for a in range(3)]
        assert action == int(np.argmax(bounds))
        counts[action] += 1
    assert counts[0] > counts[1] > 1, "it both exploits and explores"
    assert visits.bonus(b"s", 3) == pytest.approx(np.sqrt(2 * np.log(12) / np.array(counts)))


def test_illegal_actions_are_never_chosen():
    visits = Visits()
    legal = np.array([False, True, True])
    q = values(100.0, 0.0, 1.0)
    assert {visits.choose(b"s", q, legal) for _ in range(50)} == {1, 2}
