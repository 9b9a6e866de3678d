"""Estimators: scikit-learn's own checks, Bayes' rule by brute force, missing values, pipelines, frames."""

import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagora
from dagora.base.errors import DagoraError, DagoraWarning, GraphError, OptionError
from tests.conftest import ROOT

pytest.importorskip("sklearn", reason="needs scikit-learn: the extra 'sklearn'")

import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from dagora.estimators import BayesianNetworkClassifier, NetworkImputer, PosteriorSampler, StructureLearner
from dagora.estimators.class_chances import by_draws, by_likelihoods, class_chances
from dagora.network.incomplete.matching import in_network_order
from dagora.network.incomplete.row_estimates import rows_by_pattern

CHECKED = (
    StructureLearner("hill-climb"),
    PosteriorSampler("exact", draws=5, chains=1),
    BayesianNetworkClassifier("hill-climb"),
    NetworkImputer("hill-climb"),
)


@pytest.mark.full
@pytest.mark.parametrize("estimator", CHECKED, ids=lambda one: type(one).__name__)
def test_all_checks_of_scikit_learn(estimator) -> None:
    """Every one, none expected to fail; scikit-learn itself skips what needs another setting of its own."""
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


def lines(rows: int = 300) -> np.ndarray:
    rng = np.random.default_rng(1)
    a = rng.normal(size=rows)
    return np.column_stack([a, 2 * a + rng.normal(size=rows), rng.normal(size=rows)])


@pytest.mark.parametrize("estimator", CHECKED, ids=lambda one: type(one).__name__)
def test_two_columns_of_one_name_are_refused_in_one_line(estimator) -> None:
    frame = pd.DataFrame(np.eye(3, dtype=int)[[0, 1, 2] * 5], columns=["a", "b", "a"])
    with pytest.raises(DagoraError, match=r"^two columns have the same name \('a'\): rename one of them$"):
        clone(estimator).fit(frame, [0, 1, 1] * 5)


def test_the_learner_is_learn() -> None:
    X = lines()
    learner = StructureLearner("hill-climb").fit(X)
    result = dagora.learn(X, "hill-climb")
    assert learner.dag_ == result.graph
    assert learner.cpdag_ == result.cpdag
    assert (learner.adjacency_matrix_ == result.graph.to_numpy()).all()
    assert (learner.n_features_in_, hasattr(learner, "feature_names_in_")) == (3, False)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kept = StructureLearner("hill-climb", knowledge={"forbidden": [["a", "b"]]}, options={"restarts": 1}).fit(frame)  # fmt: skip
    assert kept.dag_.edges == (("b", "a"),)
    assert kept.feature_names_in_.tolist() == ["a", "b", "c"]
    again = clone(kept)
    assert again.get_params() == kept.get_params()
    assert not hasattr(again, "result_")
    assert not hasattr(again, "dag_")
    assert make_pipeline(StandardScaler(), StructureLearner("hill-climb")).fit(X)[-1].cpdag_ == learner.cpdag_
    assert pickle.loads(pickle.dumps(learner)).dag_ == learner.dag_


def test_graphs_that_are_not_there() -> None:
    X = lines()
    found = StructureLearner("pc").fit(X)
    with pytest.raises(AttributeError, match="pc found no single DAG: cpdag_ is the class"):
        found.dag_
    assert found.adjacency_matrix_[0, 1]
    assert found.adjacency_matrix_[1, 0]
    pag = StructureLearner("fci").fit(X)
    for name in ("dag_", "cpdag_", "adjacency_matrix_"):
        with pytest.raises(AttributeError, match="PAG"):
            getattr(pag, name)


def test_columns_left_out_are_in_the_matrix() -> None:
    X = np.insert(lines(), 1, 7.5, axis=1)
    learner = StructureLearner("hill-climb").fit(X)
    assert learner.adjacency_matrix_.shape == (4, 4)
    assert not learner.adjacency_matrix_[1].any()
    assert (learner.adjacency_matrix_ | learner.adjacency_matrix_.T)[0, 2]


def test_kinds_by_name_and_position() -> None:
    X = np.random.default_rng(2).integers(0, 3, size=(60, 2))
    assert StructureLearner("hill-climb").fit(X).result_.score_name == "bic"
    assert StructureLearner("hill-climb", continuous=[0, "x1"]).fit(X).result_.score_name == "bic-gaussian"


def test_the_sampler_is_sample() -> None:
    X = lines(50)
    sampler = PosteriorSampler("exact", draws=20, chains=1, random_state=3).fit(X)
    posterior = dagora.sample(X, "exact", draws=20, chains=1, seed=3)
    assert (sampler.edge_probability_ == posterior.edge_probability).all()
    assert (sampler.posterior_.draws.parents == posterior.draws.parents).all()


EDGES = [("a", "class"), ("class", "b"), ("c", "b"), ("b", "d")]


def small_rows(rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Discrete rows around a class of three levels."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, rows)
    y = (a + rng.integers(0, 2, rows)) % 3
    c = rng.integers(0, 2, rows)
    b = (y + c + (rng.random(rows) < 0.2)) % 3
    d = np.where(rng.random(rows) < 0.7, b, rng.integers(0, 3, rows))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d}), np.array(["x", "y", "z"])[y]


@pytest.mark.full
def test_probabilities_are_bayes_rule() -> None:
    """Against the joint probability of each row with each class, multiplied from counts; with holes too."""
    X, y = small_rows()
    graph = dagora.DAG(["a", "b", "c", "d", "class"], EDGES)
    judge = BayesianNetworkClassifier(graph=graph, pseudocount=0.5).fit(X, y)
    rows = pd.DataFrame({**X, "class": y})

    def chance(node: str, case: dict[str, object]) -> float:
        like = np.ones(len(rows), dtype=bool)
        for parent in graph.parents(node):
            like &= (rows[parent] == case[parent]).to_numpy()
        levels = rows[node].nunique()
        return ((rows[node] == case[node])[like].sum() + 0.5) / (like.sum() + 0.5 * levels)

    def brute(given: dict[str, object]) -> np.ndarray:
        open_columns = [name for name in X if name not in given]
        total = np.zeros(3)
        for values in product(*(sorted(X[name].unique()) for name in open_columns)):
            case = {**given, **dict(zip(open_columns, values, strict=True))}
            total += [
                np.prod([chance(node, {**case, "class": label}) for node in graph])
                for label in judge.classes_
            ]
        return total / total.sum()

    asked = X.drop_duplicates()
    expected = [brute(dict(row)) for _, row in asked.iterrows()]
    np.testing.assert_allclose(judge.predict_proba(asked), expected, rtol=1e-12)
    assert (judge.predict(asked) == judge.classes_[np.argmax(expected, axis=1)]).all()
    holed = asked.astype(float)
    holed.iloc[::2, 1] = np.nan
    holed.iloc[1::3, 0] = np.nan
    expected = [brute({name: int(value) for name, value in row.items() if value == value}) for _, row in holed.iterrows()]  # fmt: skip
    np.testing.assert_allclose(judge.predict_proba(holed), expected, rtol=1e-10)


def mixed_rows(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, rows)
    x = y * 1.5 + rng.normal(size=rows)
    z = x - y + rng.normal(size=rows)
    return np.column_stack([x, z, rng.normal(size=rows)]), y


def test_numbers_are_judged_by_densities() -> None:
    X, y = mixed_rows()
    graph = dagora.DAG(["class", "x0", "x1"], [("class", "x0"), ("class", "x1"), ("x0", "x1")])
    judge = BayesianNetworkClassifier(graph=graph, pseudocount=1e-9).fit(X, y)
    logs = []
    for label in (0, 1):
        here = X[y == label]
        slope, start = np.polyfit(here[:, 0], here[:, 1], 1)
        logs.append(np.log(np.mean(y == label)))
        for off, spread in (
            (X[:, 0] - here[:, 0].mean(), here[:, 0].std()),
            (X[:, 1] - start - slope * X[:, 0], (here[:, 1] - start - slope * here[:, 0]).std()),
        ):
            logs[-1] = logs[-1] - 0.5 * (off / spread) ** 2 - np.log(spread)
    expected = 1 / (1 + np.exp(logs[0] - logs[1]))
    np.testing.assert_allclose(judge.predict_proba(X)[:, 1], expected, atol=1e-6)
    # A column the graph does not know may be missing, and one that bears on the class is integrated out.
    X = X.copy()
    X[:, 2] = np.nan
    np.testing.assert_allclose(judge.predict_proba(X)[:, 1], expected, atol=1e-6)
    X[:5, 1] = np.nan
    alone = BayesianNetworkClassifier(
        graph=dagora.DAG(["class", "x0"], [("class", "x0")]), pseudocount=1e-9
    ).fit(mixed_rows()[0], y)
    np.testing.assert_allclose(judge.predict_proba(X)[:5], alone.predict_proba(X)[:5], atol=1e-6)


def test_draws_agree_with_exact_answers() -> None:
    """Where both are possible, drawing missing values gives what integrating them out gives."""
    X, y = mixed_rows()
    graph = dagora.DAG(["class", "x0", "x1"], [("class", "x0"), ("class", "x1"), ("x0", "x1")])
    judge = BayesianNetworkClassifier(graph=graph).fit(X, y)
    whole = dagora.Table.from_numpy(X[:20, :2])
    columns = dagora.IncompleteTable.of(whole, [[False] * 20, [True] * 20])
    exact = by_likelihoods(judge.network_, "class", columns)
    rows = in_network_order(judge.network_, columns)
    (part,) = rows_by_pattern(judge.network_, rows, np.arange(20))
    drawn = by_draws(judge.network_, "class", part)
    # The standard error of a mean of 1000 probabilities is at most 0.5 / √1000 = 0.016.
    np.testing.assert_allclose(drawn, exact, atol=4 * 0.5 / np.sqrt(1000))
    assert np.ptp(exact[:, 0]) > 0.3
    other = dagora.DAG(["x0", "class"], [("x0", "class")])
    softmax = BayesianNetworkClassifier(graph=other).fit(X, y)
    assert softmax.network_.model.kind == "mixed"
    chances = class_chances(softmax.network_, "class", columns.select(["x0"]))
    np.testing.assert_allclose(chances[:, 1], y.mean(), atol=0.03)


def test_probabilities_are_never_nan() -> None:
    """A class without variance, a column that says everything, and values beyond all that was seen."""
    X = np.array([[0.0, 1.5]] * 6 + [[1.25, 1.5 + k] for k in range(6)])
    y = [0] * 6 + [1] * 6
    graph = dagora.DAG(["class", "x0", "x1"], [("class", "x0"), ("class", "x1")])
    judge = BayesianNetworkClassifier(graph=graph, continuous=["all"]).fit(X, y)
    asked = np.array([[0.0, 1.5], [1e300, -1e300], [-1e300, 1e308], [0.5, 0.5]])
    chances = judge.predict_proba(asked)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert chances[0, 0] > 0.99
    assert judge.predict_proba([[1e-6, 1.5]])[0, 0] > 0.99, "near what was always the same"


def test_levels_that_are_new_count_as_missing() -> None:
    X, y = small_rows()
    judge = BayesianNetworkClassifier(graph=dagora.DAG(["a", "b", "c", "d", "class"], EDGES)).fit(X, y)
    asked = X[:4].assign(b=99)
    with pytest.warns(DagoraWarning, match=r"not there at fit count as not seen: 'b' \(4 cells\)"):
        chances = judge.predict_proba(asked)
    np.testing.assert_allclose(chances, judge.predict_proba(asked.assign(b=np.nan)))


def test_graphs_that_do_not_fit_the_classifier() -> None:
    X, y = small_rows()
    for graph, words in ((dagora.DAG("ab"), "no node 'class'"), (dagora.DAG(["class", "q"]), "'q'")):
        with pytest.raises(GraphError, match=words):
            BayesianNetworkClassifier(graph=graph).fit(X, y)
    with pytest.raises(OptionError, match="target="):
        BayesianNetworkClassifier(target="a").fit(X, y)
    with pytest.raises(GraphError, match="PAG"):
        BayesianNetworkClassifier("rfci").fit(X, y)
    with pytest.raises(OptionError, match="variance_smoothing"):
        BayesianNetworkClassifier(variance_smoothing=0).fit(X, y)


def test_searches_over_parameters() -> None:
    X, y = mixed_rows(150)
    search = GridSearchCV(BayesianNetworkClassifier("hill-climb"), {"pseudocount": [0.5, 5.0]}, cv=2).fit(X, y)  # fmt: skip
    assert search.best_score_ > 0.6


def test_the_imputer_fills_as_impute_does() -> None:
    X = lines()
    X[::5, 1] = np.nan
    before = X.copy()
    imputer = NetworkImputer("hill-climb").fit(X)
    filled = imputer.transform(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    expected = dagora.impute(imputer.network_, X).table.to_pandas().to_numpy()
    np.testing.assert_allclose(filled, expected)
    assert np.abs(filled[::5, 1] - 2 * X[::5, 0]).max() < 1
    frame = imputer.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize("library", [pd, pl])
def test_the_imputer_on_frames(library) -> None:
    """Text, booleans, categories, numbers and constants keep their values; one row at a time, too."""
    rng = np.random.default_rng(6)
    rain = rng.random(200) < 0.5
    frame = pd.DataFrame({
        "sky": np.where(rain, "grey ", "blue"), "wet": rain, "mm": np.where(rain, 8.0, 1.0) + rng.normal(size=200),
        "year": 2026.5, "count": rain + 1, "note": "NA",
    })  # fmt: skip
    rows = pd.DataFrame({
        "sky": [None, "blue"], "wet": [True, None], "mm": [8.0, 1.0], "year": [None, None], "count": [2, None], "note": ["NA", None],
    })  # fmt: skip
    given, asked = (one if library is pd else pl.from_pandas(one) for one in (frame, rows))
    imputer = NetworkImputer("hill-climb").fit(given)
    filled = imputer.transform(asked)
    assert filled.tolist() == [
        ["grey ", True, 8.0, 2026.5, 2.0, "NA"],
        ["blue", False, 1.0, 2026.5, 1.0, "NA"],
    ]
    assert imputer.transform(asked[:1]).tolist() == filled[:1].tolist()
    whole = imputer.set_output(transform="polars").transform(asked)
    # Before 1.9, scikit-learn does not see the names of polars columns.
    named = library is pd or tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)
    assert whole.columns == (list(frame.columns) if named else [f"x{i}" for i in range(6)])


def test_a_column_without_a_value_is_refused() -> None:
    X = lines(20)
    X[:, 1] = np.nan
    with pytest.raises(DagoraError, match="'x1' has no value"):
        NetworkImputer("hill-climb").fit(X)


@pytest.mark.full
def test_the_page_works_as_it_stands(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    text = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, "docs/estimators.md", "exec"), names)
    assert names["learner"].cpdag_.undirected == (("x0", "x1"),)


def test_an_imputer_learns_and_fits_with_its_random_state(monkeypatch):
    """The seed reaches the search and the parameters: structural EM and imputation draw by it."""
    from dagora.estimators import imputer

    seeds = []
    learned, fitted = imputer.learned_graph, imputer.fitted_network
    monkeypatch.setattr(
        imputer, "learned_graph", lambda own, table, seed: (seeds.append(seed), learned(own, table, seed))[1]
    )
    monkeypatch.setattr(
        imputer, "fitted_network", lambda *given: (seeds.append(given[-1]), fitted(*given))[1]
    )
    X = np.random.default_rng(0).normal(size=(60, 2))
    NetworkImputer(random_state=7).fit(X)
    assert seeds == [7, 7]
