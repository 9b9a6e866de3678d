"""Parents that are ruled out never raise a score, against scores of all families."""

import numpy as np
import pytest

import dagora
from dagora.learners.search.order.widen import OneMoreParent
from dagora.scores.bdeu import bdeu
from dagora.scores.information import aic, bic
from dagora.stats.table import TableStatistics


@pytest.mark.parametrize("made", [bic, aic])
def test_what_is_ruled_out_never_gains(made):
    rng = np.random.default_rng(3)
    levels = [2, 3, 9, 2, 12, 4]
    rows = np.column_stack([rng.integers(0, k, 300) for k in levels])
    rows[:, 3] = rows[:, 0] ^ (rng.random(300) < 0.1)
    rows[:, 4] *= rng.random(300) < 0.05
    names = list("abcdef")
    score = made(TableStatistics(dagora.Table.from_numpy(rows, names=names, discrete=names)))
    rule = OneMoreParent(score)
    ruled_out = gains = 0
    for child in range(6):
        others = [k for k in range(6) if k != child]
        for parents in [(), *((k,) for k in others), *((j, k) for j in others for k in others if j < k)]:
            further = [k for k in others if k not in parents]
            own, *grown = score.families([(child, parents), *((child, (*parents, k)) for k in further)])
            may = rule.may_gain(child, parents, own, further)
            better = np.array(grown) > own
            assert not (better & ~may).any()
            ruled_out += int((~may).sum())
            gains += int(better.sum())
    assert ruled_out > 50
    assert gains > 0


def test_a_score_without_a_rule_rules_nothing_out():
    table = dagora.Table.from_numpy([[0, 0], [0, 1], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    rule = OneMoreParent(bdeu(TableStatistics(table)))
    assert not rule.rules
    assert rule.may_gain(0, (), -1e-9, [1]).all()
