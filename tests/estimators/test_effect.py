"""The estimator of effects: scikit-learn's own checks, and the same answers as `dagora.effect`."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagora
from dagora.base.errors import OptionError

pytest.importorskip("sklearn", reason="needs scikit-learn: the extra 'sklearn'")

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from dagora.estimators import CausalEffect

GRAPH = dagora.DAG(["age", "dose", "pulse"], [("age", "dose"), ("age", "pulse"), ("dose", "pulse")])


def frame(rows: int = 400) -> pd.DataFrame:
    """Age decides the dose, and with it the pulse."""
    rng = np.random.default_rng(3)
    age = rng.normal(size=rows)
    dose = 0.8 * age + rng.normal(size=rows)
    return pd.DataFrame({"age": age, "dose": dose, "pulse": age - 0.5 * dose + rng.normal(size=rows)})


@pytest.mark.full
@pytest.mark.parametrize(
    "estimator",
    [
        CausalEffect(0, -1, method="hill-climb", continuous="all"),
        CausalEffect(method="hill-climb", continuous="all"),
    ],
    ids=["outcome in X", "outcome as y"],
)
def test_all_checks_of_scikit_learn(estimator) -> None:
    passed = 0
    for instance, check in estimator_checks_generator(estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(instance)
            except BaseException as problem:
                if type(problem).__name__ != "SkipTest":
                    raise
                continue
        passed += 1
    assert passed >= 35


def test_it_is_the_effect() -> None:
    rows = frame()
    found = CausalEffect("dose", "pulse", graph=GRAPH).fit(rows)
    said = dagora.effect(rows, "dose", "pulse", graph=GRAPH)
    assert (found.estimate_, found.interval_, found.adjustment_) == (said.estimate, said.interval, ("age",))
    assert found.verdict_ == "adjustment"
    assert found.effect_.to_text() == said.to_text()
    assert found.feature_names_in_.tolist() == ["age", "dose", "pulse"]
    assert CausalEffect(1, -1, graph=GRAPH).fit(rows).estimate_ == said.estimate
    assert CausalEffect(["dose"], "pulse", graph=GRAPH).fit(pl.from_pandas(rows)).estimate_ == said.estimate
    joint = dagora.effect(rows, ["age", "dose"], "pulse", graph=GRAPH).estimate
    assert CausalEffect([0, "dose"], "pulse", graph=GRAPH).fit(rows).estimate_ == joint


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, np.asarray])
def test_the_outcome_may_be_the_y_of_a_pipeline(kind) -> None:
    rows = frame()
    said = dagora.effect(rows, "dose", "pulse", graph=GRAPH)
    names = {"age": "x0", "dose": "x1"} if kind is np.asarray else {}
    graph = dagora.DAG(
        [names.get(node, node) for node in ("age", "dose")] + ["y"],
        [(names.get(a, a), {"pulse": "y", **names}.get(b, b)) for a, b in GRAPH.edges],
    )
    found = CausalEffect(1, graph=graph).fit(kind(rows[["age", "dose"]]), rows["pulse"])
    assert found.estimate_ == pytest.approx(said.estimate, rel=1e-12)


def test_one_column_of_causes_is_enough() -> None:
    rows = frame()
    graph = dagora.DAG(["dose", "y"], [("dose", "y")])
    found = CausalEffect("dose", graph=graph).fit(rows[["dose"]], rows["pulse"])
    dose, pulse = rows["dose"], rows["pulse"]
    assert found.estimate_ == pytest.approx(dose.cov(pulse) / dose.var(), rel=1e-9)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        CausalEffect("dose", "dose", graph=graph).fit(rows[["dose"]])


def test_it_ends_a_pipeline() -> None:
    rows = frame()
    scaled = make_pipeline(
        StandardScaler().set_output(transform="pandas"), CausalEffect("dose", "pulse", graph=GRAPH)
    ).fit(rows)[-1]
    raw = CausalEffect("dose", "pulse", graph=GRAPH).fit(rows)
    spread = rows.std(ddof=0)
    assert scaled.estimate_ == pytest.approx(raw.estimate_ * spread["dose"] / spread["pulse"])


def test_it_is_cloned_unfitted() -> None:
    found = CausalEffect("dose", "pulse", graph=GRAPH, levels=(1.0, 0.0)).fit(frame())
    again = clone(found)
    assert again.get_params() == found.get_params()
    assert not hasattr(again, "estimate_")
    assert again.set_params(levels=(2.0, 0.0)).fit(frame()).estimate_ == pytest.approx(2 * found.estimate_)


def test_what_the_graph_leaves_open_has_no_estimate() -> None:
    open_ = CausalEffect("dose", "pulse", graph=dagora.CPDAG.from_dag(GRAPH)).fit(frame())
    assert (open_.verdict_, open_.estimate_, open_.interval_) == ("not identified", None, None)
    assert len(open_.effect_.members) == 4


def test_an_average_over_graphs_takes_options_and_a_random_state() -> None:
    rows = frame(100)
    asked = CausalEffect("dose", "pulse", method="exact", options={"draws": 50}, random_state=7)
    said = dagora.effect(rows, "dose", "pulse", method="exact", draws=50, seed=7)
    assert asked.fit(rows).interval_ == said.interval
    assert asked.verdict_ == "averaged"


def test_bad_columns_are_refused_in_one_line() -> None:
    rows = frame()
    with pytest.raises(OptionError, match="there is no column 5: X has 3"):
        CausalEffect(5, "pulse", graph=GRAPH).fit(rows)
    with pytest.raises(ValueError, match="requires y to be passed"):
        CausalEffect("dose").fit(rows)
    with pytest.raises(OptionError, match="a column of X is named 'y'"):
        CausalEffect("dose").fit(rows.rename(columns={"age": "y"}), rows["pulse"])
    with pytest.raises(dagora.DagoraError, match="dosis"):
        CausalEffect("dosis", "pulse", graph=GRAPH).fit(rows)
