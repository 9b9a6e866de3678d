"""Classifiers of a given shape: naive Bayes, a tree over the columns (TAN), and k parents for each (kDB).

The class is a parent of every column. Naive Bayes adds nothing. TAN adds the tree over the columns that has
the most mutual information given the class, which is the likeliest (Friedman, Geiger & Goldszmidt 1997). kDB
puts columns in the order of what they say about the class, and gives each up to k of those before it as
parents, those that say most about it given the class (Sahami 1996).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from dagora.base.errors import OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.estimators.class_dependence import class_informations, conditional_informations
from dagora.estimators.classifier import NetworkClassifier
from dagora.graph.dag import DAG, Edge
from dagora.scores.usable_moments import refuse_unusable


class ShapedClassifier(NetworkClassifier):
    """The settings that classifiers of a given shape share, with a graph made from the rows."""

    def __init__(
        self,
        *,
        random_state: Any = 0,  # noqa: ANN401
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        pseudocount: float = 1.0,
        variance_smoothing: float = 1e-9,
        target: str = "class",
    ) -> None:
        self.random_state = random_state
        self.discrete = discrete
        self.continuous = continuous
        self.pseudocount = pseudocount
        self.variance_smoothing = variance_smoothing
        self.target = target

    def fit(self, X: object, y: object) -> Self:
        """Find the edges between the columns of X, and fit the network of them and the classes y."""
        return self._fit(X, y)

    def _graph(self, table: IncompleteTable, names: tuple[str, ...], seed: int) -> DAG:  # noqa: ARG002
        others = [name for name in table.names if name != self.target]
        refuse_sizes(table)
        edges = [(self.target, name) for name in others]
        return DAG(table.names, [*edges, *self._edges_between(table)])

    def _edges_between(self, table: IncompleteTable) -> list[Edge]:
        raise NotImplementedError


def refuse_sizes(table: IncompleteTable) -> None:
    """Refuse numbers whose squares are too large or too small for computations."""
    for variable, column, seen in zip(table.schema, table.columns, table.seen, strict=True):
        if not variable.levels:
            with np.errstate(over="ignore", invalid="ignore"):
                mean, variance = column[seen].mean(), column[seen].var()
            refuse_unusable([variable.name], np.array([mean]), np.array([variance]), "a classifier")


class NaiveBayesClassifier(ShapedClassifier):
    """Naive Bayes over columns of both kinds, with missing values: columns are independent given the class.

    The settings, and what is there after `fit`, are those of `BayesianNetworkClassifier`.

    >>> X, y = np.array([[0.0], [0.1], [0.9], [1.0], [0.2], [1.1]]), ["no", "no", "yes", "yes", "no", "yes"]
    >>> NaiveBayesClassifier().fit(X, y).predict([[0.05], [1.2]]).tolist()
    ['no', 'yes']
    """

    def _edges_between(self, table: IncompleteTable) -> list[Edge]:  # noqa: ARG002
        return []


class TANClassifier(ShapedClassifier):
    """Tree-augmented naive Bayes: besides the class, every column has one other column as a parent.

    The settings, and what is there after `fit`, are those of `BayesianNetworkClassifier`.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=60)
    >>> judge = TANClassifier().fit(np.column_stack([a, a + rng.normal(size=60)]), a > 0)
    >>> judge.network_.graph.edges
    (('x0', 'x1'), ('class', 'x0'), ('class', 'x1'))
    """

    def _edges_between(self, table: IncompleteTable) -> list[Edge]:
        names = table.names
        others = [place for place, name in enumerate(names) if name != self.target]
        weights = conditional_informations(table, self.target)
        # A tree grows from its first column; of equal pairs the first is taken. Levels first: a number with a
        # discrete child costs a logistic regression.
        others.sort(key=lambda place: not table.schema[place].levels)
        reached, edges = others[:1], []
        left = others[1:]
        while left:
            tail, head = max(((i, j) for i in reached for j in left), key=lambda pair: weights[pair])
            edges.append((names[tail], names[head]))
            reached.append(head)
            left.remove(head)
        return edges


class KDBClassifier(ShapedClassifier):
    """kDB: besides the class, every column has up to `k` other columns as parents.

    k = 0 is naive Bayes; large k let every column depend on all before it. The other settings, and what is
    there after `fit`, are those of `BayesianNetworkClassifier`.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=60)
    >>> judge = KDBClassifier(k=1).fit(np.column_stack([a, a + rng.normal(size=60)]), a > 0)
    >>> judge.network_.graph.parents("x1")
    ('x0', 'class')
    """

    def __init__(
        self,
        k: int = 2,
        *,
        random_state: Any = 0,  # noqa: ANN401
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        pseudocount: float = 1.0,
        variance_smoothing: float = 1e-9,
        target: str = "class",
    ) -> None:
        super().__init__(
            random_state=random_state,
            discrete=discrete,
            continuous=continuous,
            pseudocount=pseudocount,
            variance_smoothing=variance_smoothing,
            target=target,
        )
        self.k = k

    def _edges_between(self, table: IncompleteTable) -> list[Edge]:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 0:
            raise OptionError(option="k", value=self.k, must="be a whole number, 0 or more")
        names, place = table.names, table.schema.index(self.target)
        alone = class_informations(table, self.target)
        weights = conditional_informations(table, self.target)
        order = [k for k in np.argsort(-alone, kind="stable").tolist() if k != place]
        edges = []
        for position, head in enumerate(order):
            before = sorted(order[:position], key=lambda tail: -weights[tail, head])
            edges += [(names[tail], names[head]) for tail in before[: self.k]]
        return edges
