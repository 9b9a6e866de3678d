"""A remembering score: the same numbers, each computed once, and seconds as if a sampler had run alone."""

import time

import numpy as np
import pytest

from dagora.api.score import make_score
from dagora.data.table import Table
from dagora.papers.gpn.cached_score import CachedScore
from dagora.scores.local_score import ScoreCapabilities
from dagora.stats.moments import table_moments


class Slow:
    """A score whose families each take a second of a clock of its own."""

    capabilities = ScoreCapabilities()

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.schema = make_score(table(), "bge").schema
        self.n_rows = 30
        self.calls: list[tuple] = []
        self._now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self._now)

    def families(self, families):
        self.calls += [(child, tuple(parents)) for child, parents in families]
        self._now += len(families)
        return np.array([child + 0.1 * sum(parents) for child, parents in families])


class SlowBlocks(Slow):
    @property
    def capabilities(self):
        return ScoreCapabilities(block=self.block)

    def block(self, children, parents, watch=None):
        values = self.families(list(zip(children.tolist(), map(tuple, parents.tolist()), strict=True)))
        watch(len(values), len(values))
        return values


def table() -> Table:
    return Table.from_numpy(np.random.default_rng(0).standard_normal((30, 4)), names="abcd")


def test_it_changes_no_score() -> None:
    score = make_score(table(), "bge")
    families = [(0, ()), (0, (1,)), (1, (0, 3)), (0, (1,)), (3, (0, 1, 2))]
    expected = score.families(families)
    remembered = CachedScore(score, table_moments(table()))
    for _ in range(2):
        assert remembered.families(families) == pytest.approx(expected, abs=0)
    children, parents = np.array([0, 1, 2]), np.array([[1, 2], [0, 3], [0, 1]])
    assert remembered.block(children, parents) == pytest.approx(score.block(children, parents), abs=1e-12)
    assert remembered.n_computed == 6


@pytest.mark.parametrize("kind", [Slow, SlowBlocks])
def test_each_family_is_paid_once_and_told_of_always(
    kind: type[Slow], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = kind(monkeypatch)
    score = CachedScore(slow, table_moments(table()))
    score.begin()
    score.families([(0, (2, 1)), (1, ())])
    assert score.recalled.wall == 0
    seen: list[tuple[int, int]] = []
    values = score.block(
        np.array([0, 0]), np.array([[1, 2], [1, 3]]), lambda done, total: seen.append((done, total))
    )
    assert values == pytest.approx([0.3, 0.4])
    assert slow.calls == [(0, (1, 2)), (1, ()), (0, (1, 3))]
    assert seen == [(2, 2)]
    assert (score.recalled.wall, score.n_asked) == (0, 3)  # what it paid itself it does not pay again
    score.begin()
    score.families([(0, (1, 2)), (0, (1, 2)), (2, ())])
    # alone, the second sampler would have paid two seconds: one it did pay, one was saved
    assert (score.recalled.wall, score.n_asked) == (pytest.approx(1.0), 2)
    assert len(slow.calls) == 4
