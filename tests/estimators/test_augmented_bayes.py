"""Naive Bayes, TAN and kDB: scikit-learn's checks, its own classifiers, and the best tree by brute force."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest

from dagora.base.errors import DataError, OptionError
from tests.estimators.test_estimators import CHECKED as _  # noqa: F401 (skips without scikit-learn)

pytest.importorskip("sklearn", reason="needs scikit-learn: the extra 'sklearn'")

from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator

from dagora.estimators import BayesianNetworkClassifier, KDBClassifier, NaiveBayesClassifier, TANClassifier
from dagora.estimators.class_dependence import class_informations, conditional_informations
from dagora.graph.dag import DAG


@pytest.mark.full
@pytest.mark.parametrize(
    "estimator",
    [NaiveBayesClassifier(), TANClassifier(), KDBClassifier(k=1)],
    ids=lambda one: type(one).__name__,
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


def levels_of(rows: int = 300, columns: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = np.empty((rows, columns), dtype=object)
    before = y
    for k in range(columns):
        before = np.where(rng.random(rows) < 0.7, before, rng.integers(0, 3, rows))
        X[:, k] = [f"l{value}" for value in np.where(rng.random(rows) < 0.6, before, y)]
    return pd.DataFrame(X, columns=[f"c{k}" for k in range(columns)]), y


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    X, y = levels_of()
    codes = np.column_stack([np.unique(X[name].to_numpy(str), return_inverse=True)[1] for name in X])
    ours = NaiveBayesClassifier(pseudocount=1e-9).fit(X, y).predict_proba(X)
    theirs = CategoricalNB(alpha=1e-9, force_alpha=True).fit(codes, y).predict_proba(codes)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(200, 3)) + y[:200, None] * [1, 0.5, 0]
    ours = NaiveBayesClassifier().fit(numbers, y[:200])
    theirs = GaussianNB().fit(numbers, y[:200])
    gap = np.abs(ours.predict_proba(numbers) - theirs.predict_proba(numbers)).max()
    assert gap < 0.03, "variances divide by n − 1 here, and the class has a pseudocount"
    assert (ours.predict(numbers) == theirs.predict(numbers)).mean() > 0.97


def test_naive_bayes_is_the_given_graph() -> None:
    X, y = levels_of(columns=3)
    graph = DAG(["c0", "c1", "c2", "class"], [("class", name) for name in X])
    given = BayesianNetworkClassifier(graph=graph).fit(X, y)
    np.testing.assert_allclose(NaiveBayesClassifier().fit(X, y).predict_proba(X), given.predict_proba(X))


def informations(X, y):
    """The mutual information of each two columns given the class, by loops over the levels."""
    names = list(X)
    found = {}
    for a, b in product(names, names):
        total = 0.0
        for c in np.unique(y):
            part = X[y == c]
            for u in part[a].unique():
                for v in part[b].unique():
                    both = ((part[a] == u) & (part[b] == v)).mean()
                    if both > 0:
                        apart = (part[a] == u).mean() * (part[b] == v).mean()
                        total += (y == c).mean() * both * np.log(both / apart)
        found[a, b] = total
    return found


def all_trees(names):
    """Every tree over the names as a list of edges (Prüfer)."""
    n = len(names)
    for code in product(range(n), repeat=n - 2):
        degree = [1 + code.count(k) for k in range(n)]
        edges = []
        for k in code:
            leaf = degree.index(1)
            edges.append((names[leaf], names[k]))
            degree[leaf], degree[k] = 0, degree[k] - 1
        ends = [k for k in range(n) if degree[k] == 1]
        yield [*edges, (names[ends[0]], names[ends[1]])]


def test_the_tree_of_tan_is_the_best_of_all_trees() -> None:
    X, y = levels_of(columns=5, seed=3)
    weights = informations(X, y)
    best = max(all_trees(list(X)), key=lambda tree: sum(weights[edge] for edge in tree))
    graph = TANClassifier().fit(X, y).network_.graph
    found = {frozenset(edge) for edge in graph.edges if "class" not in edge}
    assert found == {frozenset(edge) for edge in best}
    assert all(("class", name) in graph.edges for name in X)
    assert max(len(graph.parents(name)) for name in X) == 2


def test_kdb_takes_the_k_that_say_most() -> None:
    X, y = levels_of(columns=5, seed=4)
    judge = KDBClassifier(k=2).fit(X, y)
    weights = informations(X, y)
    table = judge.network_
    alone = {}
    for name in X:
        joint = pd.crosstab(X[name], y, normalize=True).to_numpy()
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        alone[name] = (joint[joint > 0] * np.log(joint[joint > 0] / apart[joint > 0])).sum()
    order = sorted(X, key=lambda name: -alone[name])
    for place, name in enumerate(order):
        expected = sorted(order[:place], key=lambda other: -weights[other, name])[:2]
        assert {*table.graph.parents(name)} == {"class", *expected}
    zero = KDBClassifier(k=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(zero, NaiveBayesClassifier().fit(X, y).predict_proba(X))
    with pytest.raises(OptionError, match="k must be a whole number"):
        KDBClassifier(k=-1).fit(X, y)


def test_numbers_levels_and_holes_together() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame(
        {
            "x": rng.normal(y),
            "z": rng.normal(size=200),
            "level": np.where(rng.random(200) < 0.8, y, 1 - y).astype(str),
        }
    )
    frame["z"] += frame["x"]
    frame.loc[::7, "x"] = np.nan
    for judge in (NaiveBayesClassifier(), TANClassifier(), KDBClassifier()):
        chances = judge.fit(frame, y).predict_proba(frame)
        assert np.isfinite(chances).all()
        assert (judge.predict(frame) == y).mean() > 0.75


def test_informations_of_numbers() -> None:
    """Of jointly normal columns within one class it is −½ ln(1 − ρ²)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=5000)
    frame = np.column_stack([x, 0.6 * x + 0.8 * rng.normal(size=5000)])
    y = rng.integers(0, 2, 5000)
    judge = TANClassifier().fit(frame, y)
    assert ("x0", "x1") in judge.network_.graph.edges
    from dagora.data.incomplete import IncompleteTable
    from dagora.data.table import Table
    from dagora.estimators.class_chances import with_class

    columns = IncompleteTable.of(Table.from_numpy(frame, names=["x0", "x1"]), np.ones((2, 5000), dtype=bool))
    table = with_class(columns, "class", ("0", "1"), y)
    assert conditional_informations(table, "class")[0, 1] == pytest.approx(-0.5 * np.log(1 - 0.36), abs=0.03)
    assert class_informations(table, "class")[:2] == pytest.approx([0, 0], abs=0.002)


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_learned_from_is_refused_in_one_line():
    rows, labels = np.random.default_rng(0).normal(size=(20, 2)), [0, 1] * 10
    with pytest.raises(DataError, match=r"^every column has a single value, or none"):
        NaiveBayesClassifier().fit(np.ones((20, 2)), labels)
    for factor, told in ((1e200, "too large to be squared"), (1e-200, "too small to be squared")):
        with pytest.raises(DataError, match=told):
            KDBClassifier().fit(rows * factor, labels)
