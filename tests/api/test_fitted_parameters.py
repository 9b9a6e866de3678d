"""Parameters that files and reports get unasked."""

import numpy as np

import dagora
from dagora.api.fitted_parameters import MOST_CELLS, few_enough
from dagora.graph.dag import DAG


def test_too_large_tables_are_not_fitted():
    rows = np.tile(np.arange(1100)[:, None], (1, 2))
    wide = dagora.Table.from_numpy(rows, names=["a", "b"], discrete=["a", "b"])
    assert len(wide.schema[0].levels) ** 2 > MOST_CELLS
    assert few_enough(DAG("ab"), wide.schema)
    assert not few_enough(DAG("ab", [("a", "b")]), wide.schema)
