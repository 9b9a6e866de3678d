"""Rows in which a variable was set do not count for what it depends on, whoever fits the graph."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.estimators import BayesianNetworkClassifier
from tests.conftest import Ran


@pytest.fixture
def rows() -> pd.DataFrame:
    """y = 0.9 x + noise in the first 300 rows; y was set to 5 + noise in the others."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    y = 0.9 * x + 0.5 * rng.normal(size=600)
    y[300:] = 5 + rng.normal(size=300)
    return pd.DataFrame({"x": x, "y": y, "set": ["observational"] * 300 + ["y"] * 300})


GRAPH = dagora.DAG(["x", "y"], [("x", "y")])


def slope(network: dagora.GaussianNetwork) -> tuple[float, float]:
    return float(network.coefficients["y"][0]), network.intercepts["y"]


def is_true(network: dagora.GaussianNetwork) -> bool:
    return slope(network) == (pytest.approx(0.9, abs=0.1), pytest.approx(0, abs=0.1))


def test_a_result_knows_its_interventions(rows: pd.DataFrame) -> None:
    result = dagora.learn(rows, interventions="set", knowledge={"required": [["x", "y"]]})
    assert result.settings["interventions"] == "set"
    assert is_true(dagora.fit(result, rows))
    again = dagora.Result.from_json(result.to_json())
    assert is_true(dagora.fit(again, rows))


def test_levels_with_meanings_are_kept(rows: pd.DataFrame) -> None:
    frame = rows.assign(set=["a"] * 300 + ["b"] * 300)
    for said in ("set:b=y", {"set": {"b": ["y"]}}):
        result = dagora.learn(frame, interventions=said, knowledge={"required": [["x", "y"]]})
        assert is_true(dagora.fit(result, frame))
        json.loads(result.to_json())


def test_a_list_of_targets_is_asked_for_again(rows: pd.DataFrame) -> None:
    frame, said = rows[["x", "y"]], [None] * 300 + ["y"] * 300
    result = dagora.learn(frame, interventions=said, knowledge={"required": [["x", "y"]]})
    with pytest.raises(dagora.OptionError, match="variables set in some rows: say which"):
        dagora.fit(result, frame)
    assert is_true(dagora.fit(result, frame, interventions=said))


def test_a_graph_is_not_fitted_silently(rows: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    for data in (rows, dagora.read_table(path), path, {name: rows[name].tolist() for name in rows}):
        with pytest.warns(dagora.DagoraWarning, match='was set count .* unless you say interventions="set"'):
            network = dagora.fit(GRAPH, data)
        assert not is_true(network)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert is_true(dagora.fit(GRAPH, data, interventions="set"))


def test_other_columns_give_no_warning(rows: pd.DataFrame) -> None:
    frame = rows.assign(set=["a", "b"] * 300, note="x and y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dagora.fit(GRAPH, frame)


def test_gaussian_processes_are_not_fitted_to_set_rows(rows: pd.DataFrame) -> None:
    with pytest.raises(dagora.OptionError, match="nothing was set"):
        dagora.fit(GRAPH, rows, score="gp", interventions="set")


def test_the_command_writes_the_unset_rows_parameters(
    rows: pd.DataFrame, tmp_path: Path, run: Callable[..., Ran]
) -> None:
    data, known, out = (tmp_path / name for name in ("rows.csv", "known.json", "net.json"))
    rows.to_csv(data, index=False)
    known.write_text(json.dumps({"required": [["x", "y"]]}))
    done = run("learn", data, "--interventions", "set", "--knowledge", known, "-o", out, "--quiet")
    assert done.code == 0
    assert json.loads(out.read_text())["settings"]["interventions"] == "set"
    assert is_true(dagora.read_network(out))


def test_a_classifier_passes_interventions_on() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, 400)
    y = np.where(rng.random(400) < 0.1, 1 - x, x)
    y[200:] = 1
    frame = pd.DataFrame({"x": x})
    graph = dagora.DAG(["x", "class"], [("x", "class")])
    said = [None] * 200 + ["class"] * 200
    judge = BayesianNetworkClassifier(graph=graph, options={"interventions": said}).fit(frame, y)
    assert judge.network_.tables["class"][0, 1] == pytest.approx(0.1, abs=0.06)


def test_imputing_set_rows_is_told(rows: pd.DataFrame) -> None:
    network = dagora.fit(GRAPH, rows, interventions="set")
    frame = rows.assign(x=rows["x"].where(rows.index % 7 != 0))
    with pytest.warns(dagora.DagoraWarning, match="as if nothing had been set"):
        dagora.impute(network, frame)
