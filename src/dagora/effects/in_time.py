"""Effects in time between numbers: what a change of x at step t does to y at t, t + 1, …, with intervals.

The graph in time and its linear regressions give x_t = B_0 x_t + … + B_p x_{t−p} + c + e_t. Changing x at one
step by 1 changes y h steps later by the sum, over all directed paths of that length in time, of the products
of their coefficients:

    R_0 = (I − B_0)⁻¹,   R_h = R_0 Σ_k B_k R_{h−k},   effect = R_h[y, x]

This is the total effect of do(x_t), and the impulse response of a structural vector autoregression to a shock
of x. Where x is kept at its new value, its own equation is cut at all steps, and the effect after h steps is
the sum of the responses to the settings at steps 0 … h.

Standard errors are by the delta method: the derivative of an effect with respect to the coefficient of
a → b at lag k is Σ_s R_s[a, x] R_{h−k−s}[y, b]. Each window of rows moves the coefficients by its residuals
(HC3), and so the effect; the variance is the sum of squares of these moves. If the graph has all that
matters, the moves of different windows are uncorrelated, however strongly the series depend on their past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.files import json_text
from dagora.base.phrases import among, amount, some_of
from dagora.base.wording import col, option, render_fields
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind
from dagora.effects.assumptions import GRAPH_IS_CAUSAL, LINEAR_PARENTS
from dagora.effects.set_estimate import Interval
from dagora.graph.adjustment import Adjustment
from dagora.graph.lagged_graph import LaggedGraph, lagged_name

Array = NDArray[np.float64]

NORMAL = 1.959963984540054
MOST_HORIZON = 1000
RegressionFamily = tuple[str, tuple[tuple[str, int], ...]]
"""A variable and its parents with their lags."""

SAME_AT_ALL_STEPS = "the relations are the same at all steps"


@dataclass(frozen=True, eq=False)
class EffectInTime:
    """The effect of x on y over the steps after a change, 0, 1, …, with 95 % intervals.

    In `curve`, x is changed at one step alone; in `kept`, it is kept at its new value from then on.
    `adjustment` says for each number of steps what to adjust for so that regression gives the first effect,
    by the nodes of the unrolled graph; it is empty where there is no directed path.
    `change` is that of x.

    >>> found = EffectInTime("x", "y", (Interval(0.0, 0.0, 0.0), Interval(0.5, 0.4, 0.6)),
    ...                      (Interval(0.0, 0.0, 0.0), Interval(0.5, 0.4, 0.6)), ((), ()), windows=200)
    >>> print(found)
    effect of x + 1 at one step on y, by steps later; and of x kept at x + 1
      0  0 [0, 0]       kept: 0 [0, 0]
      1  0.5 [0.4, 0.6]  kept: 0.5 [0.4, 0.6]
    from 200 windows
    """

    x: str
    y: str
    curve: tuple[Interval, ...]
    kept: tuple[Interval, ...]
    adjustment: tuple[tuple[str, ...], ...]
    windows: int
    change: float = 1.0
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cause_probability: tuple[float, ...] = ()
    """Averaged over graphs: the probability, for each number of steps, that there is an effect."""

    def __post_init__(self) -> None:
        render_fields(self, "notes")

    @property
    def horizon(self) -> int:
        """The largest number of steps after the change."""
        return len(self.curve) - 1

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "x": self.x,
            "y": self.y,
            "change": self.change,
            "curve": [one.to_dict() for one in self.curve],
            "kept": [one.to_dict() for one in self.kept],
            "adjustment": [list(names) for names in self.adjustment],
            "windows": self.windows,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            **({"cause_probability": list(self.cause_probability)} if self.cause_probability else {}),
        }

    def to_json(self) -> str:
        """The JSON form as text."""
        return json_text(self.to_dict()) + "\n"

    def to_text(self) -> str:
        """The effects in words, a line for each step."""
        change = f"{self.x} {'+' if self.change >= 0 else '−'} {abs(self.change):g}"
        shares = ", in which share of the graphs there is one" if self.cause_probability else ""
        later = f"by steps later{shares}"
        lines = [f"effect of {change} at one step on {self.y}, {later}; and of {self.x} kept at {change}"]
        wide = max(len(str(one)) for one in self.curve)
        for ahead, (one, held) in enumerate(zip(self.curve, self.kept, strict=True)):
            share = f"  in {self.cause_probability[ahead]:.2f} of graphs" if self.cause_probability else ""
            lines.append(f"{ahead:>3}  {one!s:<{wide}}{share}  kept: {held}")
        lines.append(f"from {amount(self.windows, 'window')}")
        if self.assumptions:
            lines.append(f"assumed: {'; '.join(self.assumptions)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def __str__(self) -> str:
        return self.to_text()


@dataclass(frozen=True, eq=False)
class StepRegressions:
    """The regressions of a step: coefficients by lag, and how each window moves each of them.

    weights: [k, b, a] is the coefficient of a, k steps before, for b
    moves:   for each edge (a, b, k), the change that every window makes in its coefficient
    """

    weights: Array
    edges: tuple[tuple[int, int, int], ...]
    moves: Array


def effect_in_time(
    graph: LaggedGraph, windows: IncompleteTable, x: str, y: str, horizon: int, change: float
) -> EffectInTime:
    """The effect of a change of x on y over so many steps, from windows of rows."""
    check_question(graph.variables, x, y, horizon)
    columns, rows, notes = whole_windows(windows, graph.variables)
    found = fit_regressions(graph, columns)
    place = {name: k for k, name in enumerate(graph.variables)}
    curve = effects_of(found, place[x], place[y], horizon, kept=False)
    kept = effects_of(found, place[x], place[y], horizon, kept=True)
    sets = []
    for ahead in range(horizon + 1):
        asked = (
            Adjustment(graph.unrolled(ahead + graph.lags + 1), lagged_name(x, ahead), y)
            if (x, 0) != (y, ahead)
            else None
        )
        best = None if asked is None or asked.verdict == "zero" else asked.optimal
        sets.append(() if best is None else tuple(best))
    return EffectInTime(
        x,
        y,
        scaled(curve, change),
        scaled(kept, change),
        tuple(sets),
        rows,
        change,
        (GRAPH_IS_CAUSAL, LINEAR_PARENTS, SAME_AT_ALL_STEPS),
        tuple(notes),
    )


def whole_windows(
    windows: IncompleteTable, variables: Sequence[str]
) -> tuple[dict[str, Array], int, list[str]]:
    """The columns of the windows without a missing value, their number, and a note on those left out."""
    whole = windows.complete
    for name in variables:
        if whole.schema[whole.schema.index(name)].kind is not Kind.CONTINUOUS:
            raise DataError(
                f"{col(name)} is discrete: effects in time are told by linear regressions; "
                f"declare it continuous ({option('continuous', name)}), or ask `forecast` with {option('do')}"
            )
    notes = []
    if lost := windows.n_rows - whole.n_rows:
        notes.append(f"{amount(lost, 'window')} with a missing value {'is' if lost == 1 else 'are'} left out")
    columns = {name: whole.values(whole.schema.index(name)) for name in whole.names}
    return columns, whole.n_rows, notes


def check_question(variables: Sequence[str], x: str, y: str, horizon: int) -> None:
    """Refuse variables that are not there, and a horizon that is no number of steps."""
    for name in (x, y):
        if name not in variables:
            raise OptionError(f"there is no variable '{name}': {among(variables)}")
    if isinstance(horizon, bool) or not isinstance(horizon, int) or not 0 <= horizon <= MOST_HORIZON:
        raise OptionError(option="horizon", value=horizon, must=f"be a whole number from 0 to {MOST_HORIZON}")


def scaled(found: Sequence[tuple[float, float]], change: float) -> tuple[Interval, ...]:
    """Effects with their standard errors as intervals, for a change of x."""
    intervals = []
    for value, error in found:
        reach = NORMAL * error * abs(change)
        intervals.append(Interval(value * change, value * change - reach, value * change + reach))
    return tuple(intervals)


def fit_regressions(
    graph: LaggedGraph,
    columns: Mapping[str, Array],
    known: dict[RegressionFamily, tuple[Array, Array]] | None = None,
) -> StepRegressions:
    """Regress every variable on its parents at its step and before; `known` keeps the families of graphs."""
    d, place = len(graph.variables), {name: k for k, name in enumerate(graph.variables)}
    weights = np.zeros((graph.lags + 1, d, d))
    edges: list[tuple[int, int, int]] = []
    moves: list[Array] = []
    fitted = {} if known is None else known
    for head in graph.variables:
        parents = tuple((tail, lag) for tail, to, lag in graph.edges if to == head)
        if not parents:
            continue
        if (head, parents) not in fitted:
            fitted[head, parents] = regress_family(head, parents, columns)
        for (tail, lag), slope, moved in zip(parents, *fitted[head, parents], strict=True):
            weights[lag, place[head], place[tail]] = slope
            edges.append((place[tail], place[head], lag))
            moves.append(moved)
    rows = len(next(iter(columns.values())))
    return StepRegressions(weights, tuple(edges), np.array(moves) if moves else np.zeros((0, rows)))


def regress_family(
    head: str, parents: Sequence[tuple[str, int]], columns: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Least-squares slopes of a variable on its parents, and what each window moves in them."""
    design = np.stack([columns[lagged_name(tail, lag)] for tail, lag in parents], axis=1)
    design = design - design.mean(axis=0)
    target = columns[head] - columns[head].mean()
    if len(target) <= len(parents) + 1:
        raise DataError(
            f"'{head}' has {amount(len(parents), 'parent')}, and there are {amount(len(target), 'window')}: "
            "more rows are needed"
        )
    scale = np.sqrt((design**2).sum(axis=0))
    if (scale == 0).any() or np.linalg.matrix_rank(design / scale) < len(parents):
        named = some_of([lagged_name(*parent) for parent in parents])
        raise DataError(f"the parents of '{head}' determine each other ({named}): leave one of them out")
    root, upper = np.linalg.qr(design / scale)
    slopes = np.linalg.solve(upper, root.T @ target) / scale
    leverage = (root**2).sum(axis=1) + 1 / len(target)
    residuals = (target - design @ slopes) / np.maximum(1 - leverage, 1e-9)
    return slopes, np.linalg.solve(upper, root.T) / scale[:, None] * residuals


def responses(weights: Array, horizon: int) -> Array:
    """[h, b, a]: the response of b to a change of a, h steps later; exactly 0 where no path leads."""
    lags, d = len(weights) - 1, weights.shape[1]
    now = along = np.eye(d)
    while (along := weights[0] @ along).any():  # ends, as edges within a step form no cycle
        now = now + along
    found = np.zeros((horizon + 1, d, d))
    found[0] = now
    for h in range(1, horizon + 1):
        for k in range(1, min(lags, h) + 1):
            found[h] += now @ weights[k] @ found[h - k]
    return found


def effects_of(
    found: StepRegressions, x: int, y: int, horizon: int, *, kept: bool
) -> list[tuple[float, float]]:
    """The effects after 0, 1, … steps with their standard errors."""
    weights = found.weights
    if kept:
        weights = weights.copy()
        weights[:, x] = 0.0
    paths = responses(weights, horizon)
    slopes = np.zeros((horizon + 1, len(found.edges)))
    for place, (tail, head, lag) in enumerate(found.edges):
        if kept and head == x:
            continue
        # a change reaches the tail after s steps, and goes on from the head to y
        slopes[lag:, place] = np.convolve(paths[:, tail, x], paths[:, y, head])[: horizon + 1 - lag]
    values = paths[:, y, x]
    if kept:
        values, slopes = np.cumsum(values), np.cumsum(slopes, axis=0)
    moved = slopes @ found.moves
    return [(float(value), float(np.sqrt((row**2).sum()))) for value, row in zip(values, moved, strict=True)]
