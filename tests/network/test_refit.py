"""Another pseudocount, from tables and the rows behind them: as if the network had been fitted with it."""

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.graph.dag import DAG
from dagora.network.fit import fit
from dagora.network.refit import with_pseudocount

GRAPH = DAG("ab", [("a", "b")])
ROWS = {"a": ["x", "x", "x", "y", "y"], "b": ["n", "n", "y", "n", "z"]}


@pytest.mark.parametrize("before", [0.0, 0.5, "one-row"])
@pytest.mark.parametrize("after", [0.0, 2.0, "one-row"])
def test_it_is_as_if_fitted_anew(before: float | str, after: float | str) -> None:
    again = with_pseudocount(fit(GRAPH, ROWS, pseudocount=before), after)
    expected = fit(GRAPH, ROWS, pseudocount=after)
    for node in GRAPH:
        assert again.tables[node] == pytest.approx(expected.tables[node])
    assert again.origin is not None
    assert again.origin.prior.pseudocount == after


def test_a_combination_that_no_row_has_is_uniform() -> None:
    rows = {"a": ["x", "x"], "b": ["n", "y"], "c": ["n", "n"]}
    graph = DAG("abc", [("a", "c"), ("b", "c")])
    network = fit(graph, {**rows, "a": ["x", "y"]}, pseudocount=1.0)
    assert with_pseudocount(network, 0.0).tables["c"] == pytest.approx(
        fit(graph, {**rows, "a": ["x", "y"]}).tables["c"]
    )


def test_what_has_no_counts_is_refused() -> None:
    lines = fit(DAG("x"), {"x": [0.5, 1.5, 2.5]})
    with pytest.raises(OptionError, match="pseudocounts are for discrete columns"):
        with_pseudocount(lines, 1.0)
    network = fit(GRAPH, ROWS)
    object.__setattr__(network, "origin", None)
    with pytest.raises(OptionError, match="does not say how many rows are behind its tables"):
        with_pseudocount(network, 1.0)
    assert np.isclose(fit(GRAPH, ROWS).tables["a"].sum(), 1.0)
