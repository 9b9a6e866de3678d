"""A classifier that learns a network over the columns and the class, and answers by Bayes' rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from dagora.base.errors import GraphError, OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.estimators.class_chances import Classifying, class_chances, with_class
from dagora.estimators.reading import check_data, column_names, read_as_fitted, read_for_fit, seed_of, varying
from dagora.estimators.structure import GivenKnowledge, complete_or_not, fitted_network, learned_graph
from dagora.graph.cpdag import require_dag
from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.network.networks import DiscreteNetwork, MixedNetwork, Network


class NetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base of all classifiers: rows are read, a graph gets parameters, and Bayes' rule answers.

    A classifier says how it finds the graph of a table that has the class as its last column.
    """

    target: str
    random_state: Any
    discrete: Iterable[Any]
    continuous: Iterable[Any]
    pseudocount: float
    variance_smoothing: float

    def _graph(self, table: IncompleteTable, names: tuple[str, ...], seed: int) -> DAG:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, X: object, y: object) -> Self:
        """Find a graph over the columns of X and the classes y, and its parameters."""
        if not self.variance_smoothing > 0:
            raise OptionError(f"variance_smoothing must be above 0, not {self.variance_smoothing!r}")
        data = check_data(self, X, reset=True, rows=2)
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(data, labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: a classifier needs at least 2")
        names = column_names(data)
        if self.target in names:
            raise OptionError(f"a column of X is named '{self.target}', as the class is: say target=…")
        read = read_for_fit(data, names, self.discrete, self.continuous)
        columns = read.select(varying(read))
        table = with_class(columns, self.target, class_levels(self.classes_), codes)
        seed = seed_of(self.random_state)
        fitted = fitted_network(self, self._graph(table, names, seed), complete_or_not(table), seed)
        self.network_ = smooth(fitted, columns, self.variance_smoothing)
        self._names, self._schema = names, columns.schema
        return self

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """P(class | all columns) of every row, a column for each of `classes_`."""
        check_is_fitted(self)
        data = check_data(self, X, reset=False)
        columns = read_as_fitted(data, self._names, self._schema)
        return class_chances(self.network_, self.target, columns)

    def predict(self, X: object) -> NDArray[Any]:
        """The most probable class of every row; of equals the first."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(axis=1)])


class BayesianNetworkClassifier(NetworkClassifier):
    """Learn a network over the columns of X and the class; `predict_proba` is P(class | all columns).

    The graph is learned by `method`, with `score_name`, `knowledge`, `max_parents`, `time_limit` and
    `options` as for `StructureLearner`, or it is the `graph` that is given. In both, the class is the node
    `target`. A method that finds a class of graphs will do: a DAG of it is taken. `pseudocount` is added to
    every cell of a probability table; to the variance of a regression, `variance_smoothing` times that of its
    column. So every class keeps a probability, also where the data had none.

    X may have numbers, levels and missing values (NaN), at `fit` and later; columns with a single value are
    left out. After `fit`, `network_` is the network, `result_` how its graph was learned (None for a given
    graph) and `classes_` the classes, whose texts are the levels of `target`.

    >>> X, y = [["sun"], ["sun"], ["rain"], ["rain"]] * 5, ["walk", "walk", "bus", "walk"] * 5
    >>> import pandas
    >>> frame = pandas.DataFrame(X, columns=["sky"])
    >>> judge = BayesianNetworkClassifier(graph=DAG(["class", "sky"], [("class", "sky")])).fit(frame, y)
    >>> judge.classes_.tolist(), judge.predict_proba(frame[:1]).round(3).tolist()
    (['bus', 'walk'], [[0.076, 0.924]])
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        graph: DAG | None = None,
        score_name: str | None = None,
        knowledge: GivenKnowledge = None,
        max_parents: int | None = None,
        random_state: Any = 0,  # noqa: ANN401
        time_limit: float | None = None,
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        pseudocount: float = 1.0,
        variance_smoothing: float = 1e-9,
        target: str = "class",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.graph = graph
        self.score_name = score_name
        self.knowledge = knowledge
        self.max_parents = max_parents
        self.random_state = random_state
        self.time_limit = time_limit
        self.discrete = discrete
        self.continuous = continuous
        self.pseudocount = pseudocount
        self.variance_smoothing = variance_smoothing
        self.target = target
        self.options = options

    def fit(self, X: object, y: object) -> Self:
        """Learn a network over the columns of X and the classes y."""
        self.result_: Result | None = None
        return self._fit(X, y)

    def _graph(self, table: IncompleteTable, names: tuple[str, ...], seed: int) -> DAG:
        if self.graph is not None:
            return given_graph(self.graph, self.target, names, table.names)
        self.result_, graph = learned_graph(self, table, seed)
        return graph


def class_levels(classes: NDArray[Any]) -> tuple[str, ...]:
    """The classes as levels: their texts, or their positions where two have the same text.

    >>> class_levels(np.array([0, 1])), class_levels(np.array(["a", "b"]))
    (('0', '1'), ('a', 'b'))
    """
    texts = tuple(str(one) for one in classes.tolist())
    return texts if len(set(texts)) == len(texts) else tuple(str(i) for i in range(len(texts)))


def given_graph(graph: DAG, target: str, names: tuple[str, ...], learnable: tuple[str, ...]) -> DAG:
    """The user's graph without columns that have a single value; refuses one that does not fit the data."""
    require_dag(graph)
    if target not in graph.nodes:
        raise GraphError(f"the graph has no node '{target}' for the class: add it, or say target=…")
    unknown = [node for node in graph.nodes if node not in (*names, target)]
    if unknown:
        raise GraphError(f"the graph has the node '{unknown[0]}', which is no column of X")
    kept = [node for node in graph.nodes if node in learnable]
    return DAG(kept, [edge for edge in graph.edges if set(edge) <= set(kept)])


def smooth(network: Network, columns: IncompleteTable, share: float) -> Classifying:
    """A network whose regressions have a variance larger by a share of their column's."""
    if not isinstance(network, MixedNetwork):
        assert isinstance(network, DiscreteNetwork), "the class is discrete"
        return network
    lines = {}
    for node, line in network.lines.items():
        place = columns.schema.index(node)
        variance = float(columns.columns[place][columns.seen[place]].var())
        lines[node] = replace(line, sds=np.sqrt(line.sds**2 + share * variance))
    return replace(network, lines=lines)
