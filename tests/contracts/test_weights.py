"""Every method and sampler takes rows with weights, or refuses them in one line that names them."""

import numpy as np
import pandas as pd
import pytest

import dagora

RANDOM = np.random.default_rng(7)
ROWS = 120
NUMBERS = pd.DataFrame(RANDOM.normal(size=(ROWS, 3)), columns=list("abc"))
NUMBERS["c"] += NUMBERS["a"]
LEVELS = pd.DataFrame(np.where(NUMBERS > 0, "yes", "no"), columns=list("abc"))
WEIGHTS = RANDOM.uniform(0.5, 2, ROWS)
NEED_MORE = {"k2": {"order": "a,b,c"}}
# Methods that look at single rows, and samplers that do.
ON_ROWS = {"lingam", "ica-lingam", "notears-mlp", "kpc-hsic", "kpc-dc", "rl-bic", "dibs-neural"}


def learners() -> list[str]:
    """The methods on one table whose rows do not follow each other in time."""
    from dagora.learners.registry import METHODS

    return [one.name for one in METHODS if one.takes != "federation" and not one.in_time]


@pytest.mark.full
@pytest.mark.parametrize("rows", [NUMBERS, LEVELS], ids=["numbers", "levels"])
@pytest.mark.parametrize("method", learners())
def test_methods_take_weights_or_say_that_they_do_not(method: str, rows: pd.DataFrame) -> None:
    options = NEED_MORE.get(method, {})
    try:
        dagora.learn(rows, method, seed=1, time_limit=20, **options)
    except dagora.DagoraError as error:
        pytest.skip(f"not on such columns: {error}")
    try:
        found = dagora.learn(rows.assign(w=WEIGHTS), method, weights="w", seed=1, time_limit=20, **options)
    except dagora.DagoraError as error:
        assert method in ON_ROWS, str(error)
        assert 'knows of no weights="w"' in str(error)
        assert "\n" not in str(error)
    else:
        assert method not in ON_ROWS
        assert "the effective number" in found.message


@pytest.mark.full
@pytest.mark.parametrize("rows", [NUMBERS, LEVELS], ids=["numbers", "levels"])
@pytest.mark.parametrize("method", ["exact", "order", "partition", "dibs", "dibs-neural"])
def test_samplers_take_weights_or_say_that_they_do_not(method: str, rows: pd.DataFrame) -> None:
    options = {"draws": 20, "chains": 1, "seed": 1, **({"steps": 10} if method.startswith("dibs") else {})}
    try:
        dagora.sample(rows, method, **options)
    except dagora.DagoraError as error:
        pytest.skip(f"not on such columns, or no sampler: {error}")
    if method in ON_ROWS:
        with pytest.raises(dagora.RowsUnavailableError, match='knows of no weights="w"'):
            dagora.sample(rows.assign(w=WEIGHTS), method, weights="w", **options)
    else:
        found = dagora.sample(rows.assign(w=WEIGHTS), method, weights="w", **options)
        assert "the effective number" in found.draws.message
