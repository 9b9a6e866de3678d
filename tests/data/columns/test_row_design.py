"""Weights and groups of rows are read at every door that takes them; what is none is refused in one line."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.data.columns.row_design import RowDesign, whole_weights_warning

RANDOM = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "smoker": RANDOM.choice(["no", "yes"], 60),
        "cough": RANDOM.choice(["no", "yes"], 60),
        "w": RANDOM.uniform(0.2, 3, 60).round(3),
        "patient": np.repeat(np.arange(20), 3),
    }
)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({"w": -1.0}, {"weights": "w"}, "data row 4 holds no number of 0 or more"),
        ({"w": None}, {"weights": "w"}, "data row 4"),
        ({"w": float("inf")}, {"weights": "w"}, "data row 4"),
        ({"patient": None}, {"group": "patient"}, "data row 4 has no value in it"),
        ({}, {"weights": "ww"}, "did you mean 'w'"),
        ({}, {"weights": "w", "counts": "w"}, "both say how much a row counts"),
        ({}, {"weights": "w", "group": "w"}, "another option uses"),
        ({}, {"weights": "w", "continuous": ["w"]}, "is no variable: leave it out of continuous"),
        ({}, {"within_groups": ["smoker"]}, "within_groups goes with group"),
        ({}, {"group": "patient", "within_groups": ["smoker"]}, "this one is discrete"),
        ({}, {"group": "patient", "within_groups": ["cogh"]}, "did you mean 'cough'"),
    ],
)
def test_what_is_no_weight_or_group_is_refused(change: dict, options: dict, said: str) -> None:
    frame = FRAME.astype({"patient": "object"}).copy()
    for name, value in change.items():
        frame.loc[3, name] = value
    with pytest.raises(dagora.DagoraError, match=said):
        dagora.learn(frame, **options)


def test_constant_groups_and_zero_weights_are_refused() -> None:
    with pytest.raises(dagora.DataError, match="all rows belong to one group"):
        dagora.learn(FRAME.assign(patient=1), group="patient")
    with pytest.raises(dagora.DataError, match="all weights are 0"):
        dagora.learn(FRAME.assign(w=0), weights="w")


def test_rows_of_weight_zero_are_left_out_and_errors_name_rows_of_the_file() -> None:
    frame = FRAME.assign(w=np.where(np.arange(60) < 10, 0.0, FRAME["w"]))
    found = dagora.learn(frame.drop(columns="patient"), "tabu", weights="w")
    assert found.stats["rows"] == 50
    assert found.score == pytest.approx(
        dagora.learn(frame.drop(columns="patient").iloc[10:], "tabu", weights="w").score
    )
    frame.loc[30, "cough"] = None
    with pytest.raises(dagora.DataError, match="data row 31"):
        dagora.learn(frame, "tabu", weights="w")
    dropped = dagora.learn(frame.drop(columns="patient"), "tabu", weights="w", missing="drop")
    assert dropped.stats["rows"] == 49
    without = frame.drop(columns="patient").drop(index=30)
    assert dropped.score == pytest.approx(dagora.learn(without, "tabu", weights="w").score, rel=1e-12)


def test_equal_weights_give_the_result_without_them() -> None:
    frame = FRAME.drop(columns=["w", "patient"])
    one = dagora.learn(frame.assign(w=2.5), "tabu", weights="w")
    other = dagora.learn(frame, "tabu")
    assert one.graph == other.graph
    assert one.score == pytest.approx(other.score, rel=1e-12)
    assert one.stats["effective_rows"] == 60


def test_the_result_states_the_effective_number(tmp_path: Path, run: Callable) -> None:
    w = FRAME["w"].to_numpy()
    expected = round(w.sum() ** 2 / (w**2).sum())
    found = dagora.learn(FRAME.drop(columns="patient"), weights="w")
    assert f"with the weights in 'w' the 60 rows count as {expected}, the effective number" in found.message
    assert (found.stats["rows"], found.stats["effective_rows"]) == (60, expected)
    assert found.data["reading"]["weights"] == "w"
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, index=False)
    ran = run("learn", file, "--weights", "w", "--group", "patient", "--json")
    assert ran.code == 0
    assert '"group": "patient"' in ran.out
    assert "in 20 groups of 'patient'" in ran.out


@pytest.mark.parametrize("options", [{"weights": "w"}, {"group": "patient"}])
def test_who_takes_every_row_for_one_says_so(options: dict, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, index=False)
    graph = dagora.DAG(["smoker", "cough"], [("smoker", "cough")])
    network = dagora.fit(graph, FRAME)
    for refused in (
        lambda: dagora.read_table(file, **options),
        lambda: dagora.Table.from_frame(FRAME, **options),
        lambda: dagora.impute(network, FRAME, **options),
        lambda: dagora.learn(FRAME.assign(set=""), interventions="set", **options),
        lambda: dagora.sample(FRAME.assign(x=FRAME["w"] * 2, y=FRAME["w"] ** 2), "dibs-neural", **options),
    ):
        with pytest.raises(dagora.DagoraError) as error:
            refused()
        assert "\n" not in str(error.value)
        assert next(iter(options)) in str(error.value)


def test_groups_of_scanned_rows_are_refused_in_one_line(tmp_path: Path, run: Callable) -> None:
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, index=False)
    ran = run("learn", file, "--group", "patient", "--scan")
    assert ran.code == 2
    assert "--group needs a file that is read into memory, or a sample (--sample 100000)" in ran.err


def test_who_named_the_columns_is_not_told_of_them() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dagora.learn(FRAME.rename(columns={"patient": "patient_id"}), "tabu", weights="w", group="patient_id")


def test_columns_that_look_like_weights_or_groups_offer_the_option() -> None:
    frame = pd.DataFrame(
        {
            "patient_id": np.repeat(np.arange(40), 5),
            "sampling_weight": RANDOM.uniform(0.5, 2, 200),
            "x": RANDOM.normal(size=200),
            "y": RANDOM.normal(size=200),
        }
    )
    with pytest.warns(UserWarning, match="are not independent"):
        table = dagora.Table.from_frame(frame)
    said = " ".join(table.overview.warnings)
    assert 'weights="sampling_weight"' in said
    assert 'group="patient_id"' in said
    counted = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv"), "w": [3, 12, 6, 9]})
    assert any('counts="w"' in line for line in dagora.learn(counted, weights="w").warnings)


@pytest.mark.parametrize("largest", [1e308, 1.0])
def test_weights_too_far_apart_to_tell_are_not_called_whole(largest: float) -> None:
    """The ratio of any two floats is whole where it is above 2^53."""
    weights = np.array([largest / 3, largest, 5e-324 if largest == 1 else 1.0])
    assert whole_weights_warning(RowDesign(weights, by_weight="w")) == []
