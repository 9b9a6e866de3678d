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
    with pytest.warns(
        dagora.DagoraWarning, match='as if nothing had been set, unless you say interventions="set"'
    ):
        dagora.impute(network, frame)


def test_rows_in_which_a_variable_was_set_are_filled_without_its_parents() -> None:
    """y = 2 x + noise, set to 10 in two rows: x is then its own mean, and w = y still follows it."""
    graph = dagora.DAG("xyw", [("x", "y"), ("y", "w")])
    slopes = {"x": np.zeros(0), "y": np.array([2.0]), "w": np.array([1.0])}
    network = dagora.GaussianNetwork(graph, {"x": 1.0, "y": 0.0, "w": 0.0}, slopes, dict.fromkeys("xyw", 0.1))
    frame = pd.DataFrame(
        {"x": [None, None, 0.7], "y": [10.0, 10.0, 10.0], "w": [10.0, None, 9.0], "set": ["", "y", "y"]}
    )
    filled = dagora.impute(network, frame, interventions="set", draws=2)
    assert filled.table.values(0)[:2] == pytest.approx([4.2, 1.0])  # (1 · 1 + 4 · 5) / 5
    assert filled.table.values(2)[1] == pytest.approx(10.0)
    assert [(cell.row, cell.column) for cell in filled.cells] == [(1, "x"), (2, "x"), (2, "w")]
    assert all(len(one.names) == 4 and one.values(0)[2] == 0.7 for one in filled.draws)
    same, other = (dagora.impute(network, frame, interventions="set", draws=2, seed=seed) for seed in (0, 1))
    assert same.draws[0].equals(filled.draws[0])
    assert not other.draws[0].equals(filled.draws[0])
    listed = dagora.impute(network, frame.drop(columns="set"), interventions=[None, "y", "y"])
    assert listed.table.values(0).tolist() == filled.table.values(0).tolist()


def test_levels_and_both_kinds_are_filled_without_the_parents_of_what_was_set() -> None:
    rng = np.random.default_rng(8)
    cause = rng.integers(0, 2, 400)
    flag = np.where(rng.random(400) < 0.05, 1 - cause, cause)
    size = 5.0 * flag + rng.normal(size=400)
    mixed = pd.DataFrame({"cause": cause, "flag": flag, "size": size.round(3)})
    graph = dagora.DAG(["cause", "flag", "size"], [("cause", "flag"), ("flag", "size")])
    for columns in (["cause", "flag"], ["cause", "flag", "size"]):
        part = dagora.DAG(columns, [edge for edge in graph.edges if set(edge) <= set(columns)])
        network = dagora.fit(part, mixed[columns], discrete=["cause", "flag"])
        holes = mixed[columns].iloc[:2].astype(object)
        holes["flag"] = [1, 1]
        holes["cause"] = None
        filled = dagora.impute(network, holes.assign(set=["", "flag"]), interventions="set")
        chances = [cell.probability for cell in filled.cells if cell.column == "cause"]
        assert chances[0] > 0.9
        assert chances[1] == pytest.approx(max(cause.mean(), 1 - cause.mean()), abs=0.02)


def test_each_node_of_both_kinds_is_fitted_to_the_rows_in_which_it_was_not_set() -> None:
    rng = np.random.default_rng(9)
    group = rng.integers(0, 2, 300)
    dose = group + rng.normal(size=300)
    frame = pd.DataFrame({"group": group, "dose": dose, "pain": dose - group + rng.normal(size=300)})
    frame["well"] = np.where(frame["pain"] + rng.normal(size=300) > 0, "yes", "no")
    graph = dagora.DAG(
        frame.columns, [("group", "dose"), ("group", "pain"), ("dose", "pain"), ("pain", "well")]
    )
    said = rng.choice(["", *frame.columns], 300)
    for name in graph:
        frame.loc[said == name, name] = rng.permutation(frame.loc[said == name, name])
    found = dagora.fit(graph, frame, discrete=["group"], interventions=said.tolist())
    for name in graph:
        alone = dagora.fit(graph, frame[said != name], discrete=["group"])
        if name in found.tables:
            assert found.tables[name] == pytest.approx(alone.tables[name])
            continue
        one, other = ({**network.lines, **network.choices}[name] for network in (found, alone))
        assert one.slopes == pytest.approx(other.slopes)
        assert one.intercepts == pytest.approx(other.intercepts)


def test_what_a_variable_was_set_to_must_be_known() -> None:
    graph = dagora.DAG("ab", [("a", "b")])
    slopes = {"a": np.zeros(0), "b": np.array([2.0])}
    network = dagora.GaussianNetwork(graph, {"a": 1.0, "b": 0.0}, slopes, {"a": 1.0, "b": 0.1})
    frame = pd.DataFrame({"a": [1.0, 2.0, 0.5], "b": [2.5, None, 1.0], "set": ["", "b", ""]})
    with pytest.raises(dagora.DataError, match="column 'b' was set in data row 2, and its value is missing"):
        dagora.impute(network, frame, interventions="set")


def test_the_command_fills_set_rows(tmp_path, capsys) -> None:
    from dagora.cli.main import run

    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(size=200)
    y[100:] = rng.normal(size=100) * 3
    said = [""] * 100 + ["y"] * 100
    frame = pd.DataFrame({"x": x, "y": y, "set": said})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    network = tmp_path / "network.json"
    out = tmp_path / "filled.csv"
    assert run(["learn", str(tmp_path / "rows.csv"), "--interventions", "set", "-o", str(network)]) == 0
    frame.loc[[3, 150], "x"] = np.nan
    frame.to_csv(tmp_path / "holes.csv", index=False)
    words = ["impute", str(network), str(tmp_path / "holes.csv"), "-o", str(out)]
    assert run([*words, "--interventions", "set"]) == 0
    filled = pd.read_csv(out)
    assert abs(filled["x"][150]) < 0.3
    assert "as if nothing" not in capsys.readouterr().err
    assert run([*words]) == 0
    assert "--interventions set" in capsys.readouterr().err
