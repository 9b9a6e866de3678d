"""What follows from causes and choices: against all graphs in time that agree with them."""

from itertools import product

import numpy as np

from dagora.learners.time.causes_in_time import CausesInTime, Choice


def test_conclusions_hold_in_every_order_of_causes() -> None:
    """All ways in which three nodes of one step can be causes of each other; both answers of each pair."""
    pairs = [(i, j) for i, j in product(range(3), repeat=2) if i != j]
    worlds = []
    for bits in product([False, True], repeat=6):
        world = np.zeros((3, 3), dtype=np.bool_)
        for pair, bit in zip(pairs, bits, strict=True):
            world[pair] = bit
        chained = (world.astype(int) @ world.astype(int) > 0) & ~np.eye(3, dtype=np.bool_)
        if not (world & world.T).any() and not (chained & ~world).any():
            worlds.append(world)
    assert len(worlds) == 19, "strict orders of three labelled nodes"
    rng = np.random.default_rng(0)
    concluded = 0
    for _ in range(60):
        truth = worlds[rng.integers(len(worlds))]
        told = rng.random((3, 3)) < 0.3
        choices = {
            Choice(node, *(end for end in range(3) if end != node)) for node in range(3) if truth[node].any()
        }
        known = CausesInTime.of_time(3, 1)
        known.choices = {choice for choice in choices if rng.random() < 0.5}
        agreeing = [
            world
            for world in worlds
            if (world == truth)[told & ~np.eye(3, dtype=np.bool_)].all()
            and all(world[choice.node, choice[1:]].any() for choice in known.choices)
        ]
        known.learn(truth & told, ~truth & told)
        known.try_choices()
        assert not known.conflicts
        assert (np.logical_and.reduce(agreeing) | ~known.yes).all()
        assert (~np.logical_or.reduce(agreeing) | ~known.no).all()
        concluded += known.count - int((told & ~np.eye(3, dtype=np.bool_)).sum())
    assert concluded > 50


def test_what_holds_at_one_step_holds_at_all_and_contradictions_are_left_out() -> None:
    known = CausesInTime.of_time(2, 3)
    yes = np.zeros((6, 6), dtype=np.bool_)
    yes[4, 3] = True  # x[t-2] causes y[t-1]
    known.learn(yes, np.zeros_like(yes))
    known.conclude()
    assert known.yes[2, 1]
    assert not known.conflicts
    known.learn(np.zeros_like(yes), yes)
    assert known.conflicts
    known.learn(yes, np.zeros_like(yes))
    assert known.conflicts, "a later step that agrees does not take it back"
    assert known.yes[2, 1]
    assert not known.no[2, 1]
