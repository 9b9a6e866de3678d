"""Chains in a space that grew, against exact posteriors; what growth must find, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

from dagora.api.sample import sample
from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.posterior.chains.build_target import SamplingSpec, build_target
from dagora.posterior.space.growth import find_space_iteratively
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from dagora.scores.bge import BGe
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, random_continuous


def rows_of_a_collider(columns: int, rows: int = 300) -> np.ndarray:
    """Three causes of the last column; the others are noise, but for two chains among them."""
    values = np.random.default_rng(4).normal(size=(rows, columns))
    values[:, -1] += values[:, :3] @ [0.8, -0.7, 0.6]
    values[:, 4] += 0.5 * values[:, 3]
    values[:, 5] += 0.4 * values[:, 4]
    return values


def without_candidates(score: BGe, run: Run, *_: object, **__: object) -> Space:
    """A first space that proposes no parent at all."""
    return Space.plus_one([()] * len(score.schema), "nothing")


def test_parents_beyond_the_first_candidates_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagora.posterior.chains.build_target.find_space", without_candidates)
    score = BGe(TableStatistics(continuous_table(rows_of_a_collider(14))))
    kept = build_target(score, Run(), SamplingSpec(grow="none"))
    assert kept.space.cores[-1] == ()
    for grow in ("draws", "best"):
        grown = build_target(score, Run(), SamplingSpec(grow=grow))
        assert {0, 1, 2} <= set(grown.space.cores[-1])
        assert "parents added by enlarging" in grown.note


def test_a_space_says_why_it_stopped_growing() -> None:
    score = BGe(TableStatistics(random_continuous(np.random.default_rng(1), 60, 5)))
    start, prior = Space.plus_one([()] * 5, "empty"), prior_named("uniform")

    def star(*_: object) -> np.ndarray:
        often = np.zeros((5, 5))
        often[1:, 0] = 0.6, 0.9, 0.4, 0.7
        return often

    def one_more(tables: object, run: Run) -> np.ndarray:
        asked.append(1)
        often = np.zeros((5, 5))
        often[len(asked), 0] = 1.0
        return often

    full = find_space_iteratively(score, prior, Run(), start, find_edges=star, most=2)
    assert full.note.endswith("5 parents added by enlarging, and 1 not, as cores have at most 2")
    asked: list[int] = []
    early = find_space_iteratively(score, prior, Run(), start, find_edges=one_more, rounds=3)
    assert early.note.endswith("6 parents added by enlarging, which was ended after 3 rounds")
    little = 24 * 30 / 2**30
    short = find_space_iteratively(score, prior, Run(), start, find_edges=star, memory=little)
    assert short.note.endswith(f"0 parents added by enlarging, and more not, as their families need more than {little:g} GiB")  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2])
def test_partitions_in_a_grown_space_agree_with_the_exact_posterior(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Thirteen columns: one more than are taken in full, and few enough for all orders."""
    monkeypatch.setattr("dagora.posterior.chains.build_target.find_space", without_candidates)
    table = Table.from_numpy(rows_of_a_collider(13))
    exact = sample(table, "exact", score="bge", draws=1, prior="sparse")
    drawn = sample(table, "partition", score="bge", seed=seed, prior="sparse")
    assert "parents added by enlarging" in drawn.space
    assert drawn.diagnostics.verdict == "mixed"
    apart = np.nan_to_num(np.abs(np.asarray(drawn.edge_probability) - np.asarray(exact.edge_probability)))
    assert apart.max() < 0.05
