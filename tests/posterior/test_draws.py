"""Draws of chains: shapes and statuses are checked."""

import numpy as np
import pytest

from dagora.posterior.draws import Draws


def draws(parents=(2, 5, 3, 1), scores=(2, 5), status="optimal") -> Draws:
    return Draws(("a", "b", "c"), np.zeros(parents, dtype=np.uint64), np.zeros(scores), "", "", status, "")


def test_chains_and_draws_of_each() -> None:
    assert (draws().chains, draws().per_chain) == (2, 5)


def test_a_score_for_each_graph() -> None:
    for scores in ((5, 2), (2, 4), (1, 5)):
        with pytest.raises(ValueError, match="log scores"):
            draws(scores=scores)


def test_statuses_are_those_of_results() -> None:
    with pytest.raises(ValueError, match="unknown status 'fine'"):
        draws(status="fine")
