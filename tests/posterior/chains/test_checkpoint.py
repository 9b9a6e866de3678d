"""Scoring is kept on disk as well: a run that was stopped goes on as if it had not been, nothing scored twice."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import FormatError, OptionError
from dagora.base.events import Event
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.chains.order_mcmc import order_mcmc
from dagora.posterior.chains.partition_mcmc import partition_mcmc
from dagora.posterior.draws import Draws
from dagora.scores.gp.score import GaussianProcessScore
from dagora.scores.local_score import ScoreCapabilities, ScoreStorage
from tests.posterior.oracle import RandomScore, ToldBudget, gaussian

Sampler = Callable[..., Draws]


class DearScore(RandomScore):
    """Random log weights that are computed once; `asked` counts the families that had to be computed."""

    def __init__(self, nodes: int = 6, seed: int = 8) -> None:
        super().__init__(nodes, 1.0, seed)
        storage = ScoreStorage(self.fingerprint, self.export, self.load)
        self.capabilities = ScoreCapabilities(is_expensive=True, storage=storage)
        self._seed = seed
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def families(self, families: Sequence[tuple[int, Sequence[int]]]) -> np.ndarray:
        keys = [(int(child), tuple(parents)) for child, parents in families]
        fresh = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known.update(zip(fresh, super().families(fresh).tolist(), strict=True))
        return np.array([self._known[key] for key in keys])

    def fingerprint(self) -> str:
        return f"random {self._seed}"

    def export(self) -> dict[str, np.ndarray]:
        text = json.dumps([[child, parents, value] for (child, parents), value in self._known.items()])
        return {"text": np.array(text)}

    def load(self, arrays: Mapping[str, np.ndarray]) -> int:
        content = json.loads(str(arrays["text"]))
        self._known.update({(child, tuple(parents)): value for child, parents, value in content})
        return len(content)


@pytest.fixture(params=[order_mcmc, partition_mcmc], ids=["order", "partition"])
def sampler(request: pytest.FixtureRequest) -> Sampler:
    return request.param


def stopping(when: Callable[[Event], bool]) -> Run:
    budget = Budget()

    def observe(event: Event) -> None:
        if when(event):
            budget.stop("interrupted")

    return Run(seed=3, budget=budget, on_event=observe)


def same(one: Draws, other: Draws) -> bool:
    return np.array_equal(one.parents, other.parents) and np.array_equal(one.log_scores, other.log_scores)


SETTINGS = {"draws": 40, "chains": 2, "thin": 10, "warmup": 100}


@pytest.mark.parametrize("families", [1, 7, 40, 100, 150])
def test_a_run_stopped_while_scoring_goes_on(sampler: Sampler, tmp_path: Path, families: int) -> None:
    file = tmp_path / "run.npz"
    whole = DearScore()
    expected = sampler(whole, Run(seed=3), **SETTINGS)
    first, second = DearScore(), DearScore()
    run = stopping(lambda event: event.phase == "scoring" and event.step >= families)
    stopped = sampler(first, run, checkpoint=file, **SETTINGS)
    assert stopped.status == "failed"
    assert stopped.log_scores.shape == (2, 0)
    assert f"the families scored so far are kept in {file}: the same command goes on" in stopped.message
    assert families <= len(first.asked) < len(whole.asked)
    resumed = sampler(second, Run(seed=3), checkpoint=file, **SETTINGS)
    assert same(resumed, expected)
    assert (resumed.status, resumed.warnings, resumed.space) == ("finished", (), expected.space)
    assert resumed.message == f"{expected.message}, taken up from a checkpoint"
    assert sorted(first.asked + second.asked) == sorted(whole.asked), "nothing is scored twice, or left out"
    # Once more, from what is finished.
    third = DearScore()
    assert same(sampler(third, Run(seed=3), checkpoint=file, **SETTINGS), expected)
    assert not third.asked


@pytest.mark.parametrize(
    ("space", "phase"),
    [("ges", "finding the space"), ("candidates", "growing the space"), ("candidates", "scoring")],
)
def test_a_run_stopped_while_its_space_is_sought_goes_on(tmp_path: Path, space: str, phase: str) -> None:
    file = tmp_path / "run.npz"
    asked = {"space": space, "grow": "draws", **SETTINGS}
    whole = DearScore(9)
    expected = order_mcmc(whole, Run(seed=3), **asked)
    assert "added by enlarging" in expected.space
    score = DearScore(9)
    stopped = order_mcmc(score, stopping(lambda event: event.phase == phase), checkpoint=file, **asked)
    assert stopped.status == "failed"
    assert 0 < len(score.asked) < len(whole.asked)
    resumed = order_mcmc(DearScore(9), Run(seed=3), checkpoint=file, **asked)
    assert same(resumed, expected)
    assert resumed.space == expected.space


def test_several_stops(tmp_path: Path) -> None:
    file, asked, stops = tmp_path / "run.npz", [], 0
    whole = DearScore()
    expected = order_mcmc(whole, Run(seed=3), **SETTINGS)
    for _ in range(100):
        score = DearScore()
        run = stopping(lambda event, score=score: len(score.asked) >= 10)
        found = order_mcmc(score, run, checkpoint=file, **SETTINGS)
        asked += score.asked
        if found.status == "finished":
            break
        stops += 1
    assert stops >= 3
    assert same(found, expected)
    assert sorted(asked) == sorted(whole.asked)


def test_scores_are_written_on_the_way_and_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.npz"
    sizes = []

    def crash(event: Event) -> None:
        sizes.append(file.stat().st_size if file.exists() else 0)
        if event.step >= 100:
            raise KeyboardInterrupt

    score = DearScore()
    with pytest.raises(KeyboardInterrupt):
        order_mcmc(score, Run(seed=3, on_event=crash), checkpoint=file, **SETTINGS)
    assert set(sizes) == {0}, "there was no time to write on the way"
    again = DearScore()
    order_mcmc(again, Run(seed=3), checkpoint=file, **SETTINGS)
    assert not set(again.asked) & set(score.asked)
    file.unlink()
    sizes.clear()
    monkeypatch.setattr("dagora.posterior.chains.checkpoint.SAVE_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        order_mcmc(DearScore(), Run(seed=3, on_event=crash), checkpoint=file, **SETTINGS)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 3
    assert [found.name for found in tmp_path.iterdir()] == ["run.npz"]


def test_draws_from_some_of_the_families_are_not_gone_on_from(
    sampler: Sampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit leaves time for draws from what was scored; later the rest is scored, and all starts anew."""
    file = tmp_path / "run.npz"
    expected = sampler(DearScore(), Run(seed=3), **SETTINGS)

    budget = ToldBudget()

    def stop(event: Event) -> None:
        if event.message == "sets of 3 parents":
            budget.share.stop("it is time")

    run = Run(seed=3, budget=budget, on_event=stop)
    part = sampler(DearScore(), run, checkpoint=file, **SETTINGS)
    assert (part.status, part.per_chain) == ("time-limit", 40)
    assert "sets of 3 or more parents were left out" in part.space
    assert any(f"scored so far are kept in {file}" in warning for warning in part.warnings)
    assert not same(part, expected)
    assert same(sampler(DearScore(), Run(seed=3), checkpoint=file, **SETTINGS), expected)


def test_a_posterior_without_any_parents_is_not_given(sampler: Sampler) -> None:
    budget = ToldBudget()
    budget.share.stop("it is time")
    none = sampler(DearScore(), Run(budget=budget), **SETTINGS)
    assert (none.status, none.per_chain) == ("failed", 0)
    assert "before all families were scored, so that no graph was drawn" in none.message
    assert "sets of 1 or more parents were left out" in none.space
    # Nor one of the required parents alone.
    known = Knowledge(
        required=[(f"x{i}", f"x{i + 1}") for i in range(5)], forbidden=[(f"x{i}", "x0") for i in range(1, 6)]
    )
    assert sampler(DearScore(), Run(known, budget=budget), **SETTINGS).status == "failed"


def test_without_time_the_chains_of_a_checkpoint_stay_as_they_were(sampler: Sampler, tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    for score in (DearScore, lambda: RandomScore(6, 1.0, seed=8)):
        file.unlink(missing_ok=True)
        expected = sampler(score(), Run(seed=3), checkpoint=file, **SETTINGS)
        content = file.read_bytes()
        stopped = sampler(score(), stopping(lambda event: True), checkpoint=file, **SETTINGS)
        assert stopped.status == "failed"
        assert f"the chains in {file} are as they were" in stopped.message
        assert file.read_bytes() == content
        assert same(sampler(score(), Run(seed=3), checkpoint=file, **SETTINGS), expected)


def test_a_checkpoint_of_something_else_is_refused_before_anything_is_scored(
    sampler: Sampler, tmp_path: Path
) -> None:
    file = tmp_path / "run.npz"
    run = stopping(lambda event: event.phase == "scoring" and event.step >= 20)
    sampler(DearScore(), run, checkpoint=file, **SETTINGS)
    content = file.read_bytes()
    for score, changed, given, told in (
        (DearScore(), {}, Run(seed=4), "was made with seed = 3, not 4"),
        (DearScore(), {"thin": 11}, Run(seed=3), "was made with thin = 10, not 11"),
        (DearScore(), {"chains": 3}, Run(seed=3), "was made with chains = 2, not 3"),
        (DearScore(), {"prior": "sparse"}, Run(seed=3), "was made with prior = uniform, not sparse"),
        (DearScore(), {}, Run(Knowledge(max_parents=1), seed=3), "knowledge"),
        (DearScore(seed=9), {}, Run(seed=3), "other data or another score"),
        (RandomScore(6, 1.0, seed=8), {}, Run(seed=3), "other data or another score"),
    ):
        with pytest.raises(OptionError, match=told):
            sampler(score, given, checkpoint=file, **{**SETTINGS, **changed})
        assert not score.asked
        assert file.read_bytes() == content
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    broken = tmp_path / "broken.npz"
    with np.load(file) as arrays:
        np.savez(broken, **{**arrays, "score_text": np.array("[[0, [1]")})
    other = tmp_path / "other.npz"
    np.savez(other, places=np.zeros(3))
    for path in (table, broken, other):
        score = DearScore()
        with pytest.raises(FormatError, match=f"{path.name}: is not a checkpoint of dagora"):
            sampler(score, Run(seed=3), checkpoint=path, **SETTINGS)
        assert not score.asked


@pytest.mark.full
def test_gaussian_processes_go_on_to_the_last_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores depend in their last bits on what is computed together, so that this is no matter of course."""
    monkeypatch.setattr("dagora.scores.gp.additive.Additive.families_at_once", 7)
    statistics = gaussian(5, 40, 1.0, seed=2)
    file = tmp_path / "run.npz"

    def score() -> GaussianProcessScore:
        return GaussianProcessScore(statistics, estimator="laplace")

    whole, again = score(), score()
    expected = partition_mcmc(whole, Run(seed=3), **SETTINGS)
    run = stopping(lambda event: event.message == "sets of 2 parents")
    assert partition_mcmc(score(), run, checkpoint=file, **SETTINGS).status == "failed"
    assert same(partition_mcmc(again, Run(seed=3), checkpoint=file, **SETTINGS), expected)
    for size in range(5):
        for parents in itertools.combinations(range(4), size):
            ours, theirs = again.details((4, parents)), whole.details((4, parents))
            assert (ours.log_score, ours.mode) == (theirs.log_score, theirs.mode)
