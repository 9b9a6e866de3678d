"""The registry of scores: names, options, the default of a schema."""

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.data.schema import Kind, Schema, Variable
from dagora.scores.registry import SCORES, default_score, score_named
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, discrete_table, random_mixed


@pytest.mark.parametrize("entry", SCORES, ids=lambda entry: entry.name)
def test_every_entry_makes_a_score_of_its_kind(entry):
    tables = {
        Kind.DISCRETE: discrete_table([[0, 1, 1], [0, 0, 1]], [2, 2]),
        Kind.CONTINUOUS: continuous_table(np.eye(3)[:, :2]),
        "mixed": random_mixed(np.random.default_rng(0), 9, [2, 0]),
    }
    table = tables[entry.kind]
    score = entry.make(TableStatistics(table))
    assert score.schema == table.schema
    assert score.n_rows == table.n_rows or (entry.name == "bic-latent" and 1 < score.n_rows <= table.n_rows)
    values = score.families([(0, ()), (1, (0,))])
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    assert entry.reference
    assert entry.summary


def test_an_unknown_score_is_refused_with_a_hint():
    with pytest.raises(OptionError, match=r"'bdu': did you mean 'bdeu'\?.*known are bic, aic"):
        score_named("bdu")


def test_an_option_of_another_score_is_refused():
    statistics = TableStatistics(discrete_table([[0, 1, 1], [0, 0, 1]], [2, 2]))
    with pytest.raises(OptionError, match="the score bic has no option 'ess'"):
        score_named("bic").make(statistics, ess=1.0)
    with pytest.raises(OptionError, match="larger than 0"):
        score_named("bdeu").make(statistics, ess=0)
    score_named("bdeu").make(statistics, ess=3)


def test_the_default_follows_the_columns():
    discrete, continuous = Variable("a", Kind.DISCRETE, ("0", "1")), Variable("x", Kind.CONTINUOUS)
    assert default_score(Schema([discrete])).name == "bic"
    assert default_score(Schema([continuous])).name == "bic-gaussian"
    assert default_score(Schema([continuous, discrete])).name == "bic-mixed"
