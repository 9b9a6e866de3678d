"""What lingam advises can be done: it takes numbers only."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora

METHODS = ("lingam", "ica-lingam")


def numbers(rows: int = 60) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {name: rng.uniform(size=rows) for name in ("x", "y")}


@pytest.mark.parametrize("method", METHODS)
def test_missing_values(method: str) -> None:
    table = numbers()
    table["x"][3] = np.nan
    with pytest.raises(dagora.DataError, match="is missing") as refused:
        dagora.learn(table, method)
    assert 'missing="drop"' in str(refused.value)
    assert "level" not in str(refused.value)
    assert "discretise" not in str(refused.value)
    assert dagora.learn(table, method, missing="drop").graph.nodes == ("x", "y")


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_column(method: str, tmp_path: Path, run) -> None:
    table = {**numbers(), "y": np.full(60, 1.5)}
    with pytest.raises(dagora.DataError, match=r"'y' was left out \(a constant number\)$"):
        dagora.learn(table, method)
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    said = run("learn", tmp_path / "t.csv", "--method", method)
    assert said.code == 2
    assert "--discrete" not in said.err
