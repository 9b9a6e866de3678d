"""The declared capabilities of every score, and that a score keeps to what it declares."""

from dataclasses import fields

import numpy as np
import pytest

from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.scores.local_score import ScoreCapabilities
from dagora.scores.registry import SCORES, Score
from dagora.stats.table import TableStatistics

PLAIN = ScoreCapabilities()
COUNTED = {"block", "counts_rows", "warnings"}
MOMENTS = {"block", "moments"}
DECLARED = {
    "bic": COUNTED,
    "aic": COUNTED,
    "bdeu": COUNTED,
    "k2": COUNTED,
    "bic-gaussian": MOMENTS | {"pivot_form", "warnings"},
    "bge": MOMENTS | {"pivot_form"},
    "bic-latent": MOMENTS | {"pivot_form", "warnings", "messages"},
    "bic-mixed": COUNTED | {"messages"},
    "bayes-mixed": {"block", "counts_rows", "check_knowledge", "messages"},
    "lasso": MOMENTS | {"warnings"},
    "gp": MOMENTS | {"is_expensive", "storage", "standard_errors", "messages"},
    "gp2": MOMENTS | {"is_expensive", "storage", "standard_errors", "messages"},
}


def table_for(score: Score) -> Table:
    rng = np.random.default_rng(0)
    numbers, codes = rng.normal(size=(12, 4)), rng.integers(2, size=(12, 4))
    names = list("abcd")
    discrete = {Kind.DISCRETE: names, Kind.CONTINUOUS: [], "mixed": names[:2]}[score.kind]
    rows = np.where(np.isin(names, discrete), codes, numbers)
    return Table.from_numpy(rows, names=names, discrete=discrete)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.name)
def test_declared(score: Score) -> None:
    made = score.make(TableStatistics(table_for(score)))
    record = made.capabilities
    declared = {
        field.name for field in fields(PLAIN) if getattr(record, field.name) != getattr(PLAIN, field.name)
    }
    assert declared == DECLARED[score.name]
    assert not record.scans_rows
    children, parents = np.array([2, 3, 3]), np.array([[0, 1], [0, 2], [1, 2]])
    one_by_one = made.families(list(zip(children.tolist(), parents.tolist(), strict=True)))
    assert record.block(children, parents) == pytest.approx(one_by_one, rel=1e-12)
    assert all(isinstance(line, str) for line in (*record.messages(), *record.warnings()))
    if record.pivot_form() is not None:
        assert record.pivot_form().matrix.shape == (1, 4, 4)


def test_a_plain_score_has_none() -> None:
    assert (PLAIN.messages(), PLAIN.warnings(), PLAIN.standard_errors(), PLAIN.pivot_form()) == (
        [],
        [],
        {},
        None,
    )
    assert not PLAIN.scans_rows
