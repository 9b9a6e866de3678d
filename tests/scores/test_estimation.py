"""How exactly a score is known: numbers for the result, and a warning that names the family."""

import numpy as np
import pytest

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.scores.estimation import estimation
from dagora.scores.gp.score import gp
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics


class Estimated:
    """A score that was asked for some families."""

    n_rows = 10

    def __init__(self, errors):
        self.schema = Schema(Variable(name, Kind.CONTINUOUS) for name in ("dew", "sun", "wind", "ice"))
        self._errors = errors

    def families(self, families):
        return np.zeros(len(families))

    @property
    def capabilities(self):
        return ScoreCapabilities(standard_errors=lambda: self._errors)


def test_median_and_largest():
    stats, warnings = estimation(Estimated({(0, (1,)): 0.01, (1, (2, 3)): 0.09, (2, (0,)): 0.03}))
    assert stats == {"estimated_families": 3.0, "score_error_median": 0.03, "score_error_largest": 0.09}
    assert warnings == []


def test_a_doubtful_family_is_named():
    _, (warning,) = estimation(Estimated({(0, (1,)): 0.01, (3, (0, 2)): 0.44}))
    assert warning.startswith("the score of 'ice' given 'dew', 'wind' has a standard error of 0.44 nat: ")
    _, (warning,) = estimation(Estimated({(0, (1,)): 0.11, (3, (0, 2)): 0.44, (1, (0,)): 0.2}))
    assert "'ice' given 'dew', 'wind' has a standard error of 0.44 nat, and 2 more above 0.1: " in warning


def test_exact_scores_have_nothing_to_say():
    numbers = TableStatistics(Table.from_numpy(np.random.default_rng(1).normal(size=(20, 3))))
    assert estimation(score_named("bge").make(numbers)) == ({}, [])
    assert estimation(None) == ({}, [])
    assert estimation(Estimated({})) == ({}, [])


@pytest.mark.parametrize("estimator", ["qmc", "laplace"])
def test_a_gaussian_process_tells_what_it_was_asked(estimator):
    score = gp(
        TableStatistics(Table.from_numpy(np.random.default_rng(1).normal(size=(20, 3)))),
        estimator=estimator,
        points=32,
    )
    assert estimation(score) == ({}, [])
    families = [(0, ()), (1, (0,)), (2, (0,)), (0, (2,))]
    score.families(families)
    errors = [score.details(family).standard_error for family in families[1:]]
    stats, _ = estimation(score)
    if estimator == "laplace":
        assert stats == {}
    else:
        assert stats["estimated_families"] == 3
        assert stats["score_error_median"] == sorted(errors)[1] > 0
        assert stats["score_error_largest"] == max(errors)
