"""An estimator of the effect of setting a column: `dagora.effect` in a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from dagora.api.effect import effect
from dagora.api.graph_source import GraphSource
from dagora.base.errors import OptionError
from dagora.effects.contrast import Levels, Value
from dagora.estimators.reading import check_data, column_names, is_frame, resolve_names, seed_of
from dagora.estimators.structure import GivenKnowledge

OUTCOME = "y"
"""The name of an outcome that is handed to `fit`."""


class CausalEffect(BaseEstimator):  # type: ignore[misc]
    """The effect of setting column `x` on column `y`: `dagora.effect` as an estimator.

    `x` (one column, or several) and `y` are names or positions; without `y`, the outcome is the y that is
    handed to `fit`, named "y" in graphs. `graph`, or `method` with `options`, `levels`, `event`, `given` and
    `knowledge` are those of `effect`, `random_state` its seed.

    After `fit`, `effect_` is the answer with all that it rests on; `estimate_` and `interval_` are the
    difference and its 95 % interval, `adjustment_` what was adjusted for, and `verdict_` how it was found.
    Where the graph leaves the effect open, the first three are None; an average over graphs has no one
    `adjustment_`.

    >>> from dagora.graph.dag import DAG
    >>> X = [[0.0, 0.1], [1.0, 0.8], [2.0, 2.3], [3.0, 2.8], [4.0, 4.2], [5.0, 4.9]]
    >>> found = CausalEffect(x=0, y="x1", graph=DAG(["x0", "x1"], [("x0", "x1")])).fit(X)
    >>> found.verdict_, found.adjustment_, round(found.estimate_, 2)
    ('adjustment', (), 0.99)
    """

    def __init__(
        self,
        x: Any = 0,  # noqa: ANN401
        y: Any = None,  # noqa: ANN401
        *,
        graph: GraphSource | None = None,
        method: str | None = None,
        levels: Levels | None = None,
        event: Value | None = None,
        given: Mapping[str, Value] | None = None,
        knowledge: GivenKnowledge = None,
        random_state: Any = 0,  # noqa: ANN401
        discrete: Iterable[Any] = (),
        continuous: Iterable[Any] = (),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.x = x
        self.y = y
        self.graph = graph
        self.method = method
        self.levels = levels
        self.event = event
        self.given = given
        self.knowledge = knowledge
        self.random_state = random_state
        self.discrete = discrete
        self.continuous = continuous
        self.options = options

    def fit(self, X: object, y: object = None) -> Self:
        """Find the effect in the columns of X; y is the outcome, if the estimator names none."""
        data = check_data(self, X, reset=True, rows=2, columns=1 if self.y is None else 2)
        names = column_names(data)
        outcome = OUTCOME if self.y is None else column_named(self.y, names)
        if self.y is None:
            data = with_outcome(data, names, y)
        asked = [self.x] if isinstance(self.x, str | int | np.integer) else self.x
        self.effect_ = effect(
            data,
            [column_named(one, names) for one in asked],
            outcome,
            graph=self.graph,
            method=self.method,
            levels=self.levels,
            event=self.event,
            given=self.given,
            knowledge=self.knowledge,
            seed=seed_of(self.random_state),
            discrete=resolve_names(self.discrete, names),
            continuous=resolve_names(self.continuous, names),
            **(self.options or {}),
        )
        return self

    @property
    def estimate_(self) -> float | None:
        """The difference that setting x makes."""
        check_is_fitted(self)
        return self.effect_.estimate

    @property
    def interval_(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference."""
        check_is_fitted(self)
        return self.effect_.interval

    @property
    def adjustment_(self) -> tuple[str, ...] | None:
        """The adjustment set, where there was one."""
        check_is_fitted(self)
        return self.effect_.adjustment

    @property
    def verdict_(self) -> str:
        """The way in which the effect was found, or that it was not."""
        check_is_fitted(self)
        return self.effect_.verdict


def column_named(column: Any, names: tuple[str, ...]) -> str:  # noqa: ANN401
    """The name of a column that was given by name or by position.

    >>> column_named(-1, ("dose", "pulse")), column_named("dose", ("dose", "pulse"))
    ('pulse', 'dose')
    >>> column_named(2, ("dose", "pulse"))
    Traceback (most recent call last):
    dagora.OptionError: there is no column 2: X has 2
    """
    if not isinstance(column, int | np.integer):
        return str(column)
    if not -len(names) <= column < len(names):
        raise OptionError(f"there is no column {column}: X has {len(names)}")
    return names[int(column)]


def with_outcome(data: Any, names: tuple[str, ...], y: object) -> Any:  # noqa: ANN401
    """The columns of X, and the outcome that was handed to `fit`."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None: or name it, y=…")
    if OUTCOME in names:
        raise OptionError(f"a column of X is named '{OUTCOME}', as the outcome is: say y=…, or rename it")
    values = column_or_1d(y)
    check_consistent_length(data, values)
    if not is_frame(data):
        return {**{name: data[:, place] for place, name in enumerate(names)}, OUTCOME: values}
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    return frame.with_columns(nw.new_series(OUTCOME, values, backend=frame.implementation)).to_native()
