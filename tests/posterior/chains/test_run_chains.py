"""How chains are run: seeds, threads, time limits, progress, checkpoints, knowledge; for both kinds alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import FormatError, KnowledgeError, OptionError
from dagora.base.events import Event
from dagora.graph.bits import unpack
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.chains import run_chains as chains_module
from dagora.posterior.chains.build_target import SamplingSpec, build_target
from dagora.posterior.chains.checkpoint import Checkpoint
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.chains.walks import ORDERS
from dagora.posterior.draws import Draws
from dagora.posterior.space.space import Space
from tests.posterior.oracle import RandomScore, ToldBudget

Sampler = Callable[..., Draws]
SCORE = RandomScore(6, 1.0, seed=8)


@pytest.fixture(params=[order_mcmc, partition_mcmc], ids=["order", "partition"])
def sampler(request: pytest.FixtureRequest) -> Sampler:
    return request.param


def same(one: Draws, other: Draws) -> bool:
    return np.array_equal(one.parents, other.parents) and np.array_equal(one.log_scores, other.log_scores)


def test_a_seed_gives_the_same_draws_on_any_number_of_threads(sampler: Sampler) -> None:
    first = sampler(SCORE, Run(seed=3), draws=50, chains=3)
    assert same(first, sampler(SCORE, Run(seed=3, jobs=2), draws=50, chains=3))
    assert not same(first, sampler(SCORE, Run(seed=4), draws=50, chains=3))
    assert not np.array_equal(first.parents[0], first.parents[1])


def test_more_chains_or_draws_do_not_change_the_first_ones(sampler: Sampler) -> None:
    few = sampler(SCORE, Run(), draws=20, chains=2)
    many = sampler(SCORE, Run(), draws=30, chains=3)
    assert np.array_equal(few.parents, many.parents[:2, :20])


def test_the_length_of_rounds_has_no_influence(sampler: Sampler, monkeypatch: pytest.MonkeyPatch) -> None:
    long = sampler(SCORE, Run(), draws=20, chains=2, thin=7, warmup=13)
    monkeypatch.setattr(chains_module, "FIRST_ROUND", 3)
    monkeypatch.setattr(chains_module, "ROUND", 1e-9)
    assert same(long, sampler(SCORE, Run(), draws=20, chains=2, thin=7, warmup=13))


def test_warm_up_and_thinning_are_stated_and_kept(sampler: Sampler) -> None:
    draws = sampler(SCORE, Run(), draws=10, chains=2, thin=5, warmup=30)
    assert draws.message == (
        "2 chains of 10 draws, one every 5 steps after 30 steps of warm-up from random orders"
    )
    assert draws.stats["steps"] == 2 * (30 + 10 * 5)
    every = sampler(SCORE, Run(), draws=10, chains=2, thin=5, warmup=35)
    assert draws.stats["thin"] == 5
    assert every.parents.shape == (2, 10, 6, 1)
    usual = sampler(SCORE, Run(), draws=10, chains=1)
    assert usual.stats["thin"] >= 36
    assert usual.stats["warmup"] > 1000


def test_time_limit_gives_what_is_there_in_equal_lengths(sampler: Sampler) -> None:
    sampler(SCORE, Run(), draws=1, chains=1)  # compiled before the clock starts
    draws = sampler(SCORE, Run(budget=Budget(0.5)), draws=10_000_000, chains=3, thin=50)
    assert draws.status == "time-limit"
    assert 10 < draws.per_chain < 10_000_000
    assert "the time limit of 0.5 s was reached before 10000000 draws" in draws.message
    assert draws.stats["steps"] <= 3 * (draws.stats["warmup"] + 50 * (draws.per_chain + 1))
    assert np.all(draws.log_scores != 0)


def test_chains_cut_off_in_their_warm_up_give_one_draw_each_and_say_what_it_is_worth(
    sampler: Sampler,
) -> None:
    budget = Budget()

    def stop(event: Event) -> None:
        if event.step == event.total:  # the last family
            budget.stop("interrupted")

    draws = sampler(SCORE, Run(budget=budget, on_event=stop), draws=100, chains=2)
    assert draws.parents.shape[:2] == (2, 1)
    assert draws.status == "time-limit"
    assert any("warm-up" in warning for warning in draws.warnings)


@pytest.mark.parametrize("stopped_at", [0, 1, 3])
def test_without_time_for_scoring_there_are_no_draws(sampler: Sampler, stopped_at: int) -> None:
    budget = Budget()

    def stop(event: Event) -> None:
        if event.message == f"sets of {stopped_at} parents":
            budget.stop("interrupted")

    draws = sampler(SCORE, Run(budget=budget, on_event=stop), draws=100, chains=2)
    assert draws.parents.shape == (2, 0, 6, 1)
    assert draws.log_scores.shape == (2, 0)
    assert draws.status == "failed"
    told = "interrupted before all families were scored, so that no graph was drawn; allow more time"
    assert draws.message.startswith(told)
    assert f"sets of {max(1, stopped_at)} or more parents were left out" in draws.space


def test_progress_tells_steps_scores_and_agreement(sampler: Sampler) -> None:
    seen: list[Event] = []
    draws = sampler(SCORE, Run(on_event=seen.append), draws=200, chains=2, thin=10, warmup=100)
    last = seen[-1]
    assert (last.phase, last.step, last.total) == ("sampling", 2100, 2100)
    assert last.score == draws.log_scores.max()
    assert last.message.startswith("200 draws per chain, R-hat 1.0")
    assert "ESS" in last.message


def test_an_interrupted_run_is_taken_up_and_gives_the_same_draws(sampler: Sampler, tmp_path: Path) -> None:
    file = tmp_path / "chains.npz"
    whole = sampler(SCORE, Run(seed=2), draws=400, chains=3, thin=30, warmup=500)
    budget = Budget()
    rounds = 0

    def stop(event: Event) -> None:
        nonlocal rounds
        rounds += event.phase == "sampling"
        if rounds >= 1:
            budget.stop("interrupted")

    part = sampler(
        SCORE,
        Run(seed=2, budget=budget, on_event=stop),
        draws=400,
        chains=3,
        thin=30,
        warmup=500,
        checkpoint=file,
    )
    assert part.status == "time-limit"
    assert "interrupted" in part.message
    assert part.per_chain < 400
    shorter = sampler(SCORE, Run(seed=2), draws=100, chains=3, thin=30, warmup=500, checkpoint=file)
    assert np.array_equal(shorter.parents, whole.parents[:, :100])
    resumed = sampler(SCORE, Run(seed=2), draws=400, chains=3, thin=30, warmup=500, checkpoint=file)
    assert same(whole, resumed)
    assert "taken up from a checkpoint" in resumed.message
    # Once more: there is nothing left to do, and fewer draws are the first ones.
    again = sampler(SCORE, Run(seed=2), draws=150, chains=3, thin=30, warmup=500, checkpoint=file)
    assert np.array_equal(again.parents, whole.parents[:, :150])
    assert same(whole, sampler(SCORE, Run(seed=2), draws=400, chains=3, thin=30, warmup=500, checkpoint=file))


def test_a_run_that_breaks_within_a_round_is_taken_up_too(
    sampler: Sampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chains.npz"
    whole = sampler(SCORE, Run(), draws=60, chains=3)
    advance = chains_module.ChainsHere._run

    def broken(self, k: int, target: int) -> None:
        if k == 2 and target > 1000:
            raise KeyboardInterrupt
        advance(self, k, target)

    monkeypatch.setattr(chains_module.ChainsHere, "_run", broken)
    with pytest.raises(KeyboardInterrupt):
        sampler(SCORE, Run(), draws=60, chains=3, checkpoint=file)
    monkeypatch.setattr(chains_module.ChainsHere, "_run", advance)
    assert same(whole, sampler(SCORE, Run(), draws=60, chains=3, checkpoint=file))


def test_checkpoints_are_written_on_the_way(
    sampler: Sampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    save = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda *given: (written.append(1), save(*given)))
    monkeypatch.setattr("dagora.posterior.chains.checkpoint.SAVE_EVERY", 0.0)
    sampler(SCORE, Run(), draws=50, chains=2, checkpoint=tmp_path / "chains.npz")
    assert len(written) > 2


def test_a_checkpoint_of_something_else_is_refused(sampler: Sampler, tmp_path: Path) -> None:
    file = tmp_path / "chains.npz"
    sampler(SCORE, Run(), draws=5, chains=2, checkpoint=file)
    with pytest.raises(OptionError, match=r"chains.npz belongs to other data, score, prior"):
        sampler(RandomScore(6, 1.0, seed=9), Run(), draws=5, chains=2, checkpoint=file)
    for run, settings, told in (
        (Run(), {"chains": 2, "prior": "fair"}, "prior = uniform, not fair"),
        (Run(), {"chains": 2, "space": "ges"}, "space = auto, not ges"),
        (Run(Knowledge(max_parents=2)), {"chains": 2}, r"knowledge = {}, not {'max_parents': 2}"),
        (Run(seed=1), {"chains": 2}, "seed = 0, not 1"),
        (Run(), {"chains": 3}, "chains = 2, not 3"),
        (Run(), {"chains": 2, "thin": 1}, r"thin = \d+, not 1"),
    ):
        with pytest.raises(OptionError, match=f"was made with {told}: name another file"):
            sampler(SCORE, run, draws=5, checkpoint=file, **settings)
    other = partition_mcmc if sampler is order_mcmc else order_mcmc
    with pytest.raises(OptionError, match="was made with sampler = "):
        other(SCORE, Run(), draws=5, chains=2, checkpoint=file, thin=36, warmup=9)
    for content in (b"", b"no checkpoint", b"PK\x03\x04 cut off", file.read_bytes()[:-200]):
        file.write_bytes(content)
        with pytest.raises(FormatError, match=r"chains.npz: is not a checkpoint of dagora"):
            sampler(SCORE, Run(), draws=5, chains=2, checkpoint=file)
        assert file.read_bytes() == content
    score = RandomScore(3, 1.0)
    with pytest.raises(OptionError, match="there is no folder"):
        sampler(score, Run(), draws=5, chains=2, checkpoint=tmp_path / "nowhere" / "chains.npz")
    assert not score.asked


KNOWN = Knowledge(
    required=[("x4", "x0"), ("x5", "x3")],
    forbidden=[("x1", "x2")],
    tiers=[["x5"], ["x1", "x2"], ["x0"]],
    max_parents=2,
)


@pytest.mark.full
@pytest.mark.parametrize(
    "space", [Space.full(6), Space.plus_one([(1,), (2,), (3,), (4,), (5,), (0,)], "a ring")]
)
def test_knowledge_is_obeyed_by_every_draw(sampler: Sampler, space: Space) -> None:
    draws = sampler(SCORE, Run(KNOWN), draws=200, chains=2, space=space)
    for rows in draws.parents.reshape(-1, 6, 1):
        graph = DAG.from_numpy(unpack(rows, 6).T, draws.names)
        assert KNOWN.violations(graph) == []


def test_where_no_graph_is_possible_it_is_said_which_nodes_are_stuck(sampler: Sampler) -> None:
    score = RandomScore(3, 1.0)
    score._values[0, [0, 2]] = score._values[1, [0, 1]] = -np.inf  # x0 and x1 both need x2 …
    score._values[2, [0, 1]] = -np.inf  # … which needs x1
    with pytest.raises(
        KnowledgeError, match="no graph is possible: 'x0', 'x1', 'x2' can have no permitted parents"
    ):
        sampler(score, Run(), draws=5, chains=1)


@pytest.mark.parametrize("nodes", [1, 2])
def test_tiny_problems(sampler: Sampler, nodes: int) -> None:
    draws = sampler(RandomScore(nodes, 0.0), Run(), draws=3000, chains=2)
    shares = [(draws.parents[:, :, i, 0] > 0).mean() for i in range(nodes)]
    expected = 0.0 if nodes == 1 else 1 / 4 if sampler is order_mcmc else 1 / 3
    assert shares == pytest.approx([expected] * nodes, abs=0.03)


@pytest.mark.parametrize(
    "wrong",
    [{"draws": 0}, {"chains": 0}, {"thin": 0}, {"warmup": -1}, {"space": "narrow"}, {"prior": "flat"}],
)
def test_what_cannot_be_is_refused(sampler: Sampler, wrong: dict[str, object]) -> None:
    score = RandomScore(3, 1.0)
    with pytest.raises(OptionError, match=r"at least|no search space named|no prior named"):
        sampler(score, Run(), **{"draws": 5, "chains": 1, **wrong})
    assert not score.asked


def test_chains_in_a_space_that_was_cut_short_are_not_called_finished(
    sampler: Sampler, tmp_path: Path
) -> None:
    """All draws are made; but with more time, the space and so the posterior might have been another."""
    whole = Space.plus_one([()] * 6, "made up")
    cut = replace(whole, cut=True)
    file = tmp_path / "run.npz"
    finished, late = (
        sampler(SCORE, Run(), draws=5, chains=2, space=space, checkpoint=checkpoint)
        for space, checkpoint in ((whole, None), (cut, file))
    )
    assert (finished.status, late.status) == ("finished", "time-limit")
    assert same(finished, late)
    assert late.message.endswith("time ran out before the search space was complete")
    assert any("other edges and directions" in warning for warning in late.warnings)
    again = sampler(SCORE, Run(), draws=9, chains=2, space=whole, checkpoint=file)
    assert (again.status, again.per_chain) == ("time-limit", 9), "a checkpoint remembers the cut"


@pytest.mark.parametrize("share", ["chains.build_target.GROWING_SHARE", "space.find_space.SHARE"])
def test_a_search_for_a_space_that_runs_out_of_time_is_told(
    share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the search for a space is cut; scoring and chains have all the time they need."""
    asked = {"draws": 5, "chains": 2, "space": "candidates", "grow": "best"}
    score = RandomScore(9, 1.0, level=3.0)
    assert order_mcmc(score, Run(budget=Budget(600.0)), **asked).status == "finished"
    monkeypatch.setattr(f"dagora.posterior.{share}", 1e-12)
    late = order_mcmc(score, Run(budget=Budget(600.0)), **asked)
    assert (late.status, late.per_chain) == ("time-limit", 5)
    assert "stopped early" in late.space or "ran out of time" in late.space


def test_chains_start_from_different_orders() -> None:
    target = build_target(SCORE, Run(), SamplingSpec())
    starts = {tuple(chain.places) for chain in chains_module.start(ORDERS, target, Run(), 4)}
    assert len(starts) == 4


def test_where_knowledge_leaves_one_graph_there_is_nothing_to_mix(sampler: Sampler) -> None:
    known = Knowledge(
        required=[("x0", "x1"), ("x1", "x2")], max_parents=1, forbidden=[("x1", "x0"), ("x2", "x0")]
    )
    draws = sampler(RandomScore(3, 1.0), Run(known), draws=5, chains=2)
    assert draws.independent
    assert not sampler(RandomScore(3, 1.0), Run(), draws=5, chains=2).independent


def test_a_score_that_takes_too_long_leaves_time_for_draws_with_a_warning(sampler: Sampler) -> None:
    budget = ToldBudget()

    def stop(event: Event) -> None:
        if event.message == "sets of 3 parents":
            budget.share.stop("it is time")

    draws = sampler(SCORE, Run(budget=budget, on_event=stop), draws=5, chains=2)
    assert (draws.status, draws.per_chain) == ("time-limit", 5)
    missing = "sets of 3 or more parents were left out"
    assert f"60% of the time limit had passed before all families were scored: {missing}" in draws.warnings
    assert draws.space == f"every parent set may be drawn, but {missing}"
    assert same(draws, sampler(SCORE, Run(Knowledge(max_parents=2)), draws=5, chains=2))
