"""A transformer that fills missing values from a network learned from what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dagora.base.errors import DataError, announce
from dagora.base.wording import col
from dagora.data.columns.levels import level_name
from dagora.estimators.reading import (
    check_data,
    column_names,
    is_frame,
    read_as_fitted,
    read_for_fit,
    seed_of,
    varying,
)
from dagora.estimators.structure import GivenKnowledge, complete_or_not, fitted_network, learned_graph
from dagora.learners.checks import numbers_for
from dagora.learners.registry import method_named
from dagora.network.incomplete.imputing import impute_table
from dagora.network.networks import require_network


class NetworkImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill missing values (NaN) from a network: numbers by their mean, levels by the most probable one.

    The graph is learned from what was seen, by `method` with `score_name`, `knowledge`, `max_parents`,
    `time_limit` and `options` as for `StructureLearner`; parameters are fitted by EM, with a `pseudocount` in
    every cell of a probability table. Each row's missing values are filled given all that was seen in that
    row. A column of a single value is filled with it; a column without any value is refused at `fit`.

    What was seen stays as it was. An array of numbers, or a frame of numbers, becomes an array of floats; a
    frame with other columns an array of objects. `set_output` makes frames of them. After `fit`, `network_`
    is the network (None if no column varies), `result_` how its graph was learned.

    >>> X = [[0.0, 0.1], [1.0, 1.9], [2.0, 4.1], [3.0, 5.9], [4.0, 8.0], [5.0, float("nan")]]
    >>> NetworkImputer(method="hill-climb").fit_transform(X)[-1].round(2).tolist()
    [5.0, 9.94]
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
        pseudocount: float = 1.0,
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
        self.pseudocount = pseudocount
        self.options = options

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Learn a network over the columns of X; y is ignored."""
        data = check_data(self, X, reset=True, rows=2)
        names = column_names(data)
        purpose = numbers_for(method_named(self.method), self.score_name, self.options)
        table = read_for_fit(data, names, self.discrete, self.continuous, purpose)
        for name, seen in zip(table.names, table.seen, strict=True):
            if not seen.any():
                raise DataError(f"{col(name)} has no value: leave it out")
        columns = table.select(varying(table))
        seed = seed_of(self.random_state)
        self.result_, self.network_ = None, None
        if columns.names:
            self.result_, graph = learned_graph(self, columns, seed)
            self.network_ = fitted_network(self, graph, complete_or_not(columns), seed)
        self._constants = {
            name: first_value(data, names.index(name)) for name in names if name not in columns.names
        }
        self._originals = {
            variable.name: original_values(data, names.index(variable.name))
            for variable in columns.schema
            if variable.levels
        }
        self._names, self._schema, self._seed = names, columns.schema, seed
        return self

    def transform(self, X: object) -> NDArray[Any]:
        """X with its missing values filled."""
        check_is_fitted(self)
        data = check_data(self, X, reset=False)
        cells = [column_cells(data, i) for i in range(len(self._names))]
        if self.network_ is not None and any(missing.any() for _, missing in cells):
            self._fill(data, cells)
        for name, value in self._constants.items():
            values, missing = cells[self._names.index(name)]
            values[missing] = value
        return np.column_stack([values for values, _ in cells])

    def _fill(self, data: object, cells: list[tuple[NDArray[Any], NDArray[np.bool_]]]) -> None:
        """Fill the cells of columns that are in the network."""
        table = read_as_fitted(data, self._names, self._schema)
        filled = impute_table(require_network(self.network_), table, seed=self._seed)
        announce(filled.warnings)
        for i, name in enumerate(self._names):
            if name in self._schema.names:
                place = filled.table.schema.index(name)
                values, missing = cells[i]
                found = filled.table.columns[place][missing].tolist()
                levels = filled.table.schema[place].levels
                if levels:
                    originals = self._originals[name]
                    found = [originals.get(levels[code], levels[code]) for code in found]
                values[missing] = found


def column_cells(data: Any, position: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:  # noqa: ANN401
    """A copy of a column, floats or objects, and which of its cells are missing."""
    if not is_frame(data):
        values = data[:, position].astype(np.float64)
        return values, np.isnan(values)
    import narwhals as nw

    column = nw.from_native(data, eager_only=True)[:, position]
    missing = np.array(column.is_null().to_numpy(), dtype=np.bool_)
    if column.dtype.is_numeric():
        values = np.array(column.to_numpy(), dtype=np.float64)
        return values, np.isnan(values)
    return np.array(column.to_list(), dtype=object), missing


def first_value(data: Any, position: int) -> object:  # noqa: ANN401
    """The first value of a column that is there."""
    values, missing = column_cells(data, position)
    return values[~missing][0]


def original_values(data: Any, position: int) -> dict[str, object]:  # noqa: ANN401
    """The values of a column by the names that they have as levels."""
    values, missing = column_cells(data, position)
    return {level_name(value): value for value in dict.fromkeys(values[~missing].tolist())}
