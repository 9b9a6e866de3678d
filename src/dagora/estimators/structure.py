"""Estimators that learn a graph or sample its posterior; the network of estimators that use one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dagora.api.fit import fit
from dagora.api.learn import learn
from dagora.api.sample import sample
from dagora.base.errors import GraphError
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.estimators.reading import check_data, column_names, resolve_names, seed_of
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.result import Result
from dagora.network.networks import Network
from dagora.posterior.checks import FEWEST_ROWS

GivenKnowledge = Knowledge | Mapping[str, Any] | str | Path | None


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """Learn a graph: `dagora.learn` as an estimator.

    `options` are those of the method and the score, `score_name` is the `score` of `learn`, `random_state`
    its seed. After `fit`, `result_` is the result; `dag_`, `cpdag_` and `adjacency_matrix_` are its graph.
    Cells may be missing (NaN) where method and score can model that. Columns that `learn` leaves out
    (identifiers, constants) are no nodes; in the matrix they are there, without edges.

    A method that finds a class of graphs, such as pc, leaves no `dag_`, and one that finds a PAG neither
    `cpdag_` nor `adjacency_matrix_`: asking for them is an AttributeError that says so.

    >>> X = [[0.1, 0.3], [1.2, 0.9], [2.1, 2.4], [3.0, 2.7], [4.2, 4.1]]
    >>> learner = StructureLearner(method="pc").fit(X)
    >>> learner.adjacency_matrix_.astype(int).tolist()
    [[0, 1], [1, 0]]
    >>> learner.dag_
    Traceback (most recent call last):
    AttributeError: pc found no single DAG: cpdag_ is the class, cpdag_.extension() one DAG of it
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        score_name: str | None = None,
        knowledge: GivenKnowledge = None,
        max_parents: int | None = None,
        random_state: Any = 0,  # noqa: ANN401
        time_limit: float | None = None,
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.score_name = score_name
        self.knowledge = knowledge
        self.max_parents = max_parents
        self.random_state = random_state
        self.time_limit = time_limit
        self.discrete = discrete
        self.continuous = continuous
        self.options = options

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Learn a graph over the columns of X; y is ignored."""
        data = check_data(self, X, reset=True, rows=2, columns=2)
        names = column_names(data)
        self.result_ = learn(
            data,
            self.method,
            score=self.score_name,
            knowledge=self.knowledge,
            max_parents=self.max_parents,
            seed=seed_of(self.random_state),
            time_limit=self.time_limit,
            discrete=resolve_names(self.discrete, names),
            continuous=resolve_names(self.continuous, names),
            **(self.options or {}),
        )
        self._names = names
        return self

    @property
    def dag_(self) -> DAG:
        """The DAG that was found."""
        check_is_fitted(self)
        if not isinstance(self.result_.graph, DAG):
            where = "cpdag_ is the class, cpdag_.extension() one DAG of it"
            if not isinstance(self.result_.graph, CPDAG):
                where = "result_.graph is the PAG"
            raise AttributeError(  # noqa: TRY004 - a class of graphs is no wrong type
                f"{self.result_.method} found no single DAG: {where}"
            )
        return self.result_.graph

    @property
    def cpdag_(self) -> CPDAG:
        """The class of graphs that the data cannot tell apart."""
        check_is_fitted(self)
        try:
            return self.result_.cpdag
        except GraphError as error:
            raise AttributeError(str(error)) from None

    @property
    def adjacency_matrix_(self) -> NDArray[np.bool_]:
        """The edges from one column of X to another, as booleans; both ways where undirected."""
        check_is_fitted(self)
        try:
            graph = self.result_.plain_graph
        except GraphError as error:
            raise AttributeError(str(error)) from None
        return in_all_columns(graph.to_numpy(), graph.nodes, self._names)


class PosteriorSampler(BaseEstimator):  # type: ignore[misc]
    """Sample graphs from their posterior: `dagora.sample` as an estimator.

    `options` are those of the sampler and the score, `score_name` is the `score` of `sample`, `random_state`
    its seed. After `fit`, `posterior_` has the draws and what can be asked of them; `edge_probability_` is
    the probability of an edge from one column of X to another.

    >>> X = [[0, 0], [1, 1]] * 20
    >>> PosteriorSampler("exact", draws=10).fit(X).edge_probability_.round(3).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """

    def __init__(
        self,
        method: str = "partition",
        *,
        score_name: str | None = None,
        draws: int | None = None,
        chains: int | None = None,
        knowledge: GivenKnowledge = None,
        max_parents: int | None = None,
        random_state: Any = 0,  # noqa: ANN401
        time_limit: float | None = None,
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.score_name = score_name
        self.draws = draws
        self.chains = chains
        self.knowledge = knowledge
        self.max_parents = max_parents
        self.random_state = random_state
        self.time_limit = time_limit
        self.discrete = discrete
        self.continuous = continuous
        self.options = options

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Sample graphs over the columns of X; y is ignored."""
        data = check_data(self, X, reset=True, rows=FEWEST_ROWS, columns=2)
        names = column_names(data)
        self.posterior_ = sample(
            data,
            self.method,
            score=self.score_name,
            draws=self.draws,
            chains=self.chains,
            knowledge=self.knowledge,
            max_parents=self.max_parents,
            seed=seed_of(self.random_state),
            time_limit=self.time_limit,
            discrete=resolve_names(self.discrete, names),
            continuous=resolve_names(self.continuous, names),
            **(self.options or {}),
        )
        self._names = names
        return self

    @property
    def edge_probability_(self) -> NDArray[np.float64]:
        """The probability of an edge from one column of X to another."""
        check_is_fitted(self)
        posterior = self.posterior_
        return in_all_columns(posterior.edge_probability, posterior.nodes, self._names)


def in_all_columns(matrix: NDArray[Any], nodes: Iterable[str], names: tuple[str, ...]) -> NDArray[Any]:
    """A matrix over nodes as one over all columns; those that are no node have zeros.

    >>> in_all_columns(np.array([[0, 1], [0, 0]]), ["a", "c"], ("a", "b", "c")).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    places = [names.index(node) for node in nodes]
    whole = np.zeros((len(names), len(names)), dtype=matrix.dtype)
    whole[np.ix_(places, places)] = matrix
    return whole


def complete_or_not(table: IncompleteTable) -> AnyTable:
    """Return the table, as a complete one if no value is missing."""
    return table if table.missing else Table(table.schema, table.columns)


def learned_graph(asked: Any, table: IncompleteTable, seed: int) -> tuple[Result | None, DAG]:  # noqa: ANN401
    """A DAG by the method that an estimator asks for; of a class of graphs one, of one column its node."""
    if len(table.names) < 2:
        return None, DAG(table.names)
    result = learn(
        complete_or_not(table),
        asked.method,
        score=asked.score_name,
        knowledge=asked.knowledge,
        max_parents=asked.max_parents,
        seed=seed,
        time_limit=asked.time_limit,
        **(asked.options or {}),
    )
    graph = result.plain_graph
    return result, graph.extension() if isinstance(graph, CPDAG) else graph


def fitted_network(asked: Any, graph: DAG, table: AnyTable, seed: int) -> Network:  # noqa: ANN401
    """The parameters of a graph as an estimator asks for them; pseudocounts are for what is discrete."""
    discrete = any(table.schema[table.schema.index(node)].kind is Kind.DISCRETE for node in graph)
    interventions = (getattr(asked, "options", None) or {}).get("interventions")
    return fit(
        graph,
        table,
        pseudocount=asked.pseudocount if discrete else 0.0,
        seed=seed,
        interventions=interventions,
    )
