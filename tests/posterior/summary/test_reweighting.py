"""Importance weights against the enumerated posterior of the score that is asked about."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from dagora.base.budget import Budget
from dagora.graph.enumerate import all_parent_sets
from dagora.learners.run import Run
from dagora.posterior.summary.diagnostics import weight_ess
from dagora.posterior.summary.reweighting import reweight, weight_warnings
from dagora.scores.local_score import Family, LocalScore, ScoreCapabilities
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.posterior.oracle import enumerate_graphs, enumeration, matrices, posterior_of
from tests.random_tables import random_discrete

TABLE = random_discrete(np.random.default_rng(3), 60, [2, 3, 2, 2])
SAMPLED = score_named("bdeu").make(TableStatistics(TABLE), ess=1.0)
TARGET = score_named("bdeu").make(TableStatistics(TABLE), ess=8.0)


class Counting:
    """A score that remembers what it was asked for."""

    capabilities = ScoreCapabilities()

    def __init__(self, score: LocalScore) -> None:
        self._score = score
        self.schema = score.schema
        self.n_rows = score.n_rows
        self.asked: list[tuple[int, tuple[int, ...]]] = []

    def families(self, families: Sequence[Family]) -> np.ndarray:
        self.asked += [(child, tuple(parents)) for child, parents in families]
        return self._score.families(families)


@pytest.mark.full
def test_weighted_draws_speak_for_the_target() -> None:
    draws = enumeration(SAMPLED, Run(seed=1), draws=5000, chains=4)
    found = reweight(draws, SAMPLED, TARGET, Run())
    masks, log_scores = enumerate_graphs(TARGET)
    exact = np.tensordot(np.exp(log_scores - logsumexp(log_scores)), matrices(masks).astype(float), axes=1)
    before, after = posterior_of(draws), posterior_of(found)
    assert np.abs(before.edge_probability - exact).max() > 0.05, "else there is nothing to correct"
    off = np.abs(after.edge_probability - exact)
    assert off.max() < 0.03
    assert (off <= 4 * after.edge_error + 1e-9).all()
    # The log scores are the target's own.
    by_mask = dict(zip(map(tuple, masks.tolist()), log_scores, strict=True))
    drawn = found.parents[..., 0].reshape(-1, 4).tolist()
    assert found.log_scores.ravel() == pytest.approx([by_mask[tuple(row)] for row in drawn])
    assert found.log_weights == pytest.approx(found.log_scores - draws.log_scores)
    worth = weight_ess(found.log_weights)
    assert found.stats["weight_ess"] == worth
    assert f"worth {worth:.0f} of 20000" in found.message
    assert (found.prior, found.space, found.names) == (draws.prior, draws.space, draws.names)
    assert not found.warnings


def test_each_family_is_scored_once() -> None:
    draws = enumeration(SAMPLED, Run(seed=2), draws=300, chains=2)
    sampled, target = Counting(SAMPLED), Counting(TARGET)
    events = []
    found = reweight(draws, sampled, target, Run(on_event=events.append))
    masks = draws.parents[..., 0].reshape(-1, 4)
    drawn = {(child, int(mask)) for row in masks for child, mask in enumerate(row)}
    asked = [(child, sum(1 << p for p in parents)) for child, parents in target.asked]
    assert len(asked) == len(drawn) == found.stats["reweighted_families"]
    assert set(asked) == drawn
    assert sampled.asked == target.asked
    assert len(drawn) < sum(1 for _ in all_parent_sets(4))
    assert (events[-1].phase, events[-1].step) == ("re-weighting", len(drawn))


def test_same_score_leaves_all_as_it_was() -> None:
    draws = replace(
        enumeration(SAMPLED, Run(seed=3), draws=200, chains=2),
        edges=np.zeros((4, 4)),
        log_weights=np.full((2, 200), 1.5),
    )
    found = reweight(draws, SAMPLED, SAMPLED, Run())
    assert found.log_weights == pytest.approx(draws.log_weights)
    assert found.edges is None, "exact for the other score only"
    assert found.stats["weight_ess"] == pytest.approx(400)


def test_few_graphs_that_decide_are_told_of() -> None:
    far = score_named("bdeu").make(TableStatistics(TABLE), ess=300.0)
    draws = enumeration(SAMPLED, Run(seed=4), draws=500, chains=2)
    found = reweight(draws, SAMPLED, far, Run())
    assert found.stats["weight_ess"] < 100
    (warning,) = found.warnings
    assert "of 1000 draws" in warning
    assert posterior_of(found).weights.sum() == pytest.approx(1.0)


def test_heavy_tails_lead_to_a_warning() -> None:
    size = 4000
    ranks = (np.arange(size) + 0.5) / size
    light, heavy = -0.1 * np.log(ranks), -0.9 * np.log(ranks)  # Pareto quantiles of shapes 0.1 and 0.9
    assert weight_warnings(light, weight_ess(light)) == []
    (warning,) = weight_warnings(heavy, size)
    assert warning.startswith("the weights have a heavy tail (Pareto shape 0.")
    assert "limit 0.7" in warning


def test_a_target_without_an_answer_gives_no_weight() -> None:
    class Refusing(Counting):
        def families(self, families: Sequence[Family]) -> np.ndarray:
            return np.where([len(parents) > 1 for _, parents in families], np.nan, super().families(families))

    draws = enumeration(SAMPLED, Run(seed=5), draws=500, chains=2)
    found = reweight(draws, SAMPLED, Refusing(SAMPLED), Run())
    crowded = (np.bitwise_count(found.parents[..., 0]) > 1).any(axis=2)
    assert crowded.any()
    assert np.array_equal(np.isneginf(found.log_weights), crowded)
    assert np.isfinite(found.log_scores).all()
    assert np.isfinite(posterior_of(found).edge_probability).all()


def test_no_time_to_weigh() -> None:
    draws = enumeration(SAMPLED, Run(seed=6), draws=50, chains=2)
    budget = Budget()
    budget.stop("it was interrupted")
    found = reweight(draws, SAMPLED, TARGET, Run(budget=budget))
    assert found.status == "time-limit"
    assert "not re-weighted, it was interrupted" in found.message
    assert found.log_weights is None
    (warning,) = found.warnings
    assert "not re-weighted" in warning
    assert "interrupted" in warning
