"""A prediction depends on its own row, and is exact where that is possible."""

import numpy as np
import pandas as pd
import pytest

from dagora.estimators import BayesianNetworkClassifier, NetworkImputer
from dagora.graph.dag import DAG


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    ill = x + 0.8 * rng.logistic(size=400) > 0.3
    test = np.where(rng.random(400) < np.where(ill, 0.8, 0.2), "+", "-")
    y = x + rng.normal(size=400)
    return pd.DataFrame({"x": x, "y": y, "test": test, "ill": np.where(ill, "yes", "no")})


GRAPH = DAG(["x", "y", "test", "class"], [("x", "class"), ("class", "test"), ("x", "y")])


@pytest.mark.full
def test_copies_of_a_row_are_predicted_alike_and_as_the_network_answers(rows: pd.DataFrame) -> None:
    judge = BayesianNetworkClassifier(graph=GRAPH).fit(rows[["x", "y", "test"]], rows["ill"])
    row = pd.DataFrame({"x": [np.nan], "y": [0.5], "test": ["+"]})
    alone = judge.predict_proba(row)
    many = judge.predict_proba(pd.concat([row] * 200, ignore_index=True))
    assert np.abs(many - alone).max() < 1e-12
    mixed = judge.predict_proba(pd.concat([rows[["x", "y", "test"]], row], ignore_index=True))
    assert np.abs(mixed[-1] - alone[0]).max() < 1e-12
    asked = judge.network_.query(of="class", given={"y": 0.5, "test": "+"}, samples=1_000_000)
    assert alone[0, 1] == pytest.approx(asked.probabilities["yes"], abs=0.02)


def test_a_row_that_has_an_exact_answer_gets_it(rows: pd.DataFrame) -> None:
    """The class depends on x, which was seen; what is missing are other columns."""
    graph = DAG(["x", "y", "test", "class"], [("x", "class"), ("class", "test"), ("test", "y")])
    judge = BayesianNetworkClassifier(graph=graph).fit(rows[["x", "y", "test"]], rows["ill"])
    row = pd.DataFrame({"x": [0.2], "y": [0.5], "test": [None]})
    exact = judge.network_.query(of="class", given={"x": 0.2, "y": 0.5}, method="exact").probabilities["yes"]
    assert judge.predict_proba(row)[0, 1] == pytest.approx(exact, abs=1e-9)


def test_the_imputer_fills_a_row_alike_in_any_company(rows: pd.DataFrame) -> None:
    frame = rows[["x", "y", "ill"]]
    imputer = NetworkImputer(method="hill-climb").fit(frame)
    row = pd.DataFrame({"x": [np.nan], "y": [0.5], "ill": [None]})
    alone = imputer.transform(row)
    among = imputer.transform(pd.concat([frame, row], ignore_index=True))[-1]
    assert float(alone[0, 0]) == pytest.approx(float(among[0]), abs=1e-12)
    assert alone[0, 2] == among[2]
