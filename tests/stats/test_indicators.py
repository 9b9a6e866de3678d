"""The widened table: one column for each function of a column, and not more than fit into memory."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.stats.indicators import MOST_FEATURES, feature_starts, moment_scales, table_indicator_moments
from dagora.stats.moments import table_moments


def test_features_against_numpy() -> None:
    rng = np.random.default_rng(1)
    x, codes = rng.normal(5, 3, 50), rng.integers(0, 3, 50)
    schema = Schema([Variable("x", Kind.CONTINUOUS), Variable("a", Kind.DISCRETE, ("p", "q", "r"))])
    table = Table(schema, (x, codes.astype(np.uint16)))
    found = table_indicator_moments(table)
    z = (x - x.mean()) / x.std()
    features = np.stack([z, z * z, codes == 1, codes == 2]).astype(float)
    assert found.starts.tolist() == [0, 2, 4]
    assert found.moments.n == 50
    assert found.moments.mean == pytest.approx(features.mean(1))
    assert found.moments.scatter == pytest.approx(np.cov(features, bias=True) * 50)
    assert moment_scales(schema, table_moments(table))[0] == pytest.approx((x.mean(), x.std()))


def test_a_constant_column_has_the_scale_one() -> None:
    table = Table(Schema([Variable("x", Kind.CONTINUOUS)]), (np.full(4, 7.0),))
    assert moment_scales(table.schema, table_moments(table)) == [(7.0, 1.0)]
    assert np.isfinite(table_indicator_moments(table).moments.scatter).all()


def test_too_many_levels_name_the_column_that_has_most() -> None:
    def schema(levels: int) -> Schema:
        many = tuple(str(k) for k in range(levels))
        return Schema([Variable("x", Kind.CONTINUOUS), Variable("word", Kind.DISCRETE, many)])

    assert feature_starts(schema(MOST_FEATURES - 1))[-1] == MOST_FEATURES
    with pytest.raises(DataError, match=r"have 2,049 levels in all, at most 2,048 .* leave 'word' out"):
        feature_starts(schema(MOST_FEATURES))
