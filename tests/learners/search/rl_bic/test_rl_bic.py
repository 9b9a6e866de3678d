"""RL-BIC: what the network sees, that it learns, and what it refuses."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import OptionError
from dagora.learners.search.rl_bic.rl_bic import scale_columns

TABLE = dagora.simulate(dagora.random_dag("er", 3, 1.0, seed=2), "gaussian", 200, seed=3).table
SMALL = {"rounds": 60, "hidden": 8, "heads": 2, "blocks": 1, "sample": 8, "batch": 32}


def test_columns_keep_their_relative_units() -> None:
    seen = scale_columns(dagora.Table.from_numpy(np.array([[0.0, 10.0], [2.0, 16.0]]), names=["a", "b"]))
    assert seen.std(axis=0)[1] / seen.std(axis=0)[0] == pytest.approx(3.0)
    assert (seen**2).mean() == pytest.approx(1.0)


@pytest.mark.full
def test_the_policy_learns_what_is_rewarded_and_leaves_what_is_settled() -> None:
    """Rewards for the edge 0 → 1 alone and against all others, of three variables of different spread."""
    from dagora.learners.search.rl_bic.policy import PolicyLayout
    from dagora.learners.search.rl_bic.training import Chance, FixedInputs, initial_state, one_round

    rng = np.random.default_rng(0)
    columns = (rng.normal(size=(100, 3)) * [0.1, 1.0, 3.0]).astype(np.float32)
    required = np.zeros((3, 3), dtype=bool)
    required[2, 0] = True
    free = ~(np.eye(3, dtype=bool) | required | required.T)
    settled = FixedInputs(free, required, np.float32(0.0))
    layout = PolicyLayout(8, 8, 1, 2)
    state = initial_state(layout, rng, 32, 3)
    rewards = np.full(32, np.nan, dtype=np.float32)
    shares = []
    for _ in range(150):
        state = one_round(state, settled, rewards, Chance.draw(rng, columns, 32, 8), layout)
        graphs = np.asarray(state.graphs)
        assert not (graphs & ~free & ~required).any()
        assert graphs[:, 2, 0].all()
        wrong = graphs[:, free].sum(axis=1) - graphs[:, 0, 1]
        rewards = (graphs[:, 0, 1] - wrong).astype(np.float32)
        shares.append([graphs[:, 0, 1].mean(), graphs[:, free].mean()])
    first, last = np.mean(shares[:10], axis=0), np.mean(shares[-10:], axis=0)
    assert last[0] > first[0], "the edge that is rewarded comes more often"
    assert last[1] < first[1], "the others more rarely"
    assert np.mean(rewards) > -1.0


def test_a_small_problem_is_solved_and_told() -> None:
    events = []
    result = dagora.learn(TABLE, "rl-bic", on_event=events.append, **SMALL)
    assert result.score == pytest.approx(dagora.learn(TABLE, "dynamic").score, rel=1e-12)
    assert (result.status, result.stats["rounds"], result.stats["graphs"]) == ("finished", 60, 1920)
    assert result.stats["drawn_score"] <= result.score
    assert result.message.startswith("the best of ")
    assert events[-1].total == 60
    assert [event.score for event in events] == sorted(event.score for event in events)


def test_a_threshold_drops_weak_edges() -> None:
    rng = np.random.default_rng(1)
    cause = rng.normal(size=400)
    weak = 0.25 * cause + 0.1 * rng.normal(size=400)
    table = dagora.Table.from_numpy(
        np.column_stack([cause, weak, rng.normal(size=400)]), names=["cause", "weak", "other"]
    )
    forward = dagora.Knowledge(forbidden=[("weak", "cause")])
    assert dagora.learn(table, "rl-bic", knowledge=forward, **SMALL).graph.edges == (("cause", "weak"),)
    assert dagora.learn(table, "rl-bic", knowledge=forward, threshold=0.3, **SMALL).graph.edges == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"heads": 3}, "option 'heads' must divide hidden=8, not 3"),
        ({"score": "bge", "variances": "equal"}, "variances=equal needs the score bic-gaussian"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        dagora.learn(TABLE, "rl-bic", **{**SMALL, **options})


def test_a_threshold_is_refused_on_counts() -> None:
    table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    with pytest.raises(OptionError, match="'threshold' is for scores of linear regressions"):
        dagora.learn(table, "rl-bic", threshold=0.3, **SMALL)


def test_too_many_variables_are_refused() -> None:
    table = dagora.Table.from_numpy(np.random.default_rng(0).normal(size=(70, 63)))
    with pytest.raises(OptionError, match="rl-bic takes 62 variables at most, not 63"):
        dagora.learn(table, "rl-bic")


def test_scores_alone_are_refused() -> None:
    found = dagora.candidates(TABLE, score="bic-gaussian")
    with pytest.raises(OptionError, match="scores and no rows"):
        dagora.learn(found, "rl-bic")
