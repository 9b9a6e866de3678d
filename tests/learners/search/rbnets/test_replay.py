"""The ring of transitions."""

import numpy as np

from dagora.learners.search.rbnets.replay import Replay, Transitions


def numbered(first, count, size=2):
    ids = np.arange(first, first + count)
    flags = np.zeros((count, size), dtype=np.bool_)
    return Transitions(flags, ids, ids.astype(np.float32), flags, flags)


def test_the_newest_replace_the_oldest():
    replay = Replay(5, 2)
    rng = np.random.default_rng(0)
    replay.store(numbered(0, 3))
    assert len(replay) == 3
    assert set(replay.sample(rng, (200,)).actions) == {0, 1, 2}
    replay.store(numbered(3, 4))
    assert len(replay) == 5
    drawn = replay.sample(rng, (4, 50))
    assert drawn.states.shape == (4, 50, 2)
    assert set(drawn.actions.ravel()) == {2, 3, 4, 5, 6}
    assert (drawn.rewards == drawn.actions).all(), "fields of one transition stay together"


def test_draws_are_uniform():
    replay = Replay(4, 2)
    replay.store(numbered(0, 4))
    drawn = replay.sample(np.random.default_rng(1), (20_000,)).actions
    assert np.abs(np.bincount(drawn) - 5000).max() < 300  # five standard deviations
