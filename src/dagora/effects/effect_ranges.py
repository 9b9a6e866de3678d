"""The linear effects of all pairs of columns over a class of graphs, from moments alone (IDA).

The graphs of a class differ in the parents of x. Given a choice of them, S, the effect of x on y is the
coefficient of x in the regression of y on x and S, and zero where y is no descendant of x (Maathuis, Kalisch
& Bühlmann 2009). Descendants are what x reaches without passing through S: no graph is listed. With the
Cholesky factor L of the scatter matrix of S and x, x last, and v = L⁻¹ (the scatter of S and x with y),

    effect = v_x / L_xx,    variance = (scatter of y − v·v) / freedom / L_xx²,

so that one factor serves all y.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.files import json_text
from dagora.base.phrases import some_of
from dagora.effects.assumptions import GRAPH_IS_CAUSAL, LINEAR_PARENTS, SAME_NOISE
from dagora.effects.set_estimate import TAILS, Interval, written_number
from dagora.graph.adjustment import sum_bits
from dagora.graph.bit_sets import bit_rows, members
from dagora.graph.class_sizes import ClassSizes, bucket_of
from dagora.graph.cpdag import Graph
from dagora.graph.dag import DAG
from dagora.graph.parent_sets import MOST_CHOICES, directed_around, parent_sets
from dagora.kernels.decorators import borrowing, kernel
from dagora.scores.gaussian import COLLINEAR
from dagora.scores.usable_moments import gaussian_moments
from dagora.stats.statistics import Moments, Statistics

Array = NDArray[np.float64]
Nodes = NDArray[np.int64]

SHOWN = 20  # pairs in a text


class ParentChoice(NamedTuple):
    """The effect in those graphs of a class in which x has these parents, and the share of these graphs."""

    parents: tuple[str, ...]
    effect: Interval
    share: float  # NaN: not counted


class ChoiceEffects(NamedTuple):
    """Effects of one column for each choice of its parents, [choice, y], and half-widths of intervals."""

    values: Array
    margins: Array


@dataclass(frozen=True, eq=False)
class EffectRanges:
    """Effects of one unit more of each column on the mean of each other, over a class of graphs.

    Entry [i, j] is about the effect of i on j: `least` and `greatest` are the ends of the estimates over all
    choices of the parents of i, `low` and `high` the ends of their 95 % intervals, and `zeros` the number of
    choices in which the graph says that there is none. There a choice counts once, however many graphs make
    it; `choices[i]` is their number. In `mean`, each graph of the class counts once.

    >>> import dagora
    >>> a, b, c = np.random.default_rng(0).standard_normal((3, 100))
    >>> line = dagora.CPDAG("abc", [], [("a", "b"), ("b", "c")])
    >>> found = dagora.all_effects({"a": a, "b": a + b, "c": a + b + c}, graph=line)
    >>> found.choices.tolist(), found.zeros[0].tolist()
    ([2, 3, 2], [0, 1, 1])
    >>> [(choice.parents, choice.share) for choice in found.over_choices("a", "c")]
    [((), 0.3333333333333333), (('b',), 0.6666666666666666)]
    """

    names: tuple[str, ...]
    least: Array
    greatest: Array
    low: Array
    high: Array
    zeros: NDArray[np.int64]
    choices: NDArray[np.int64]
    moments: Moments = field(repr=False)
    matrix: NDArray[np.bool_] = field(repr=False)  # of the class
    notes: tuple[str, ...] = ()
    assumptions = (GRAPH_IS_CAUSAL, LINEAR_PARENTS, SAME_NOISE)

    def over_choices(self, x: str, y: str) -> list[ParentChoice]:
        """The effect of x on y for each choice of the parents of x."""
        i, j = self.names.index(x), self.names.index(y)
        sets = self._walk.parents_of(i)
        found = self._walk.effects(i, sets)
        values, margins = found.values[:, j].tolist(), found.margins[:, j].tolist()
        shares = self._walk.shares(i, sets).tolist()
        return [
            ParentChoice(
                tuple(self.names[node] for node in parents),
                Interval(value, value - margin, value + margin),
                share,
            )
            for parents, value, margin, share in zip(sets, values, margins, shares, strict=True)
        ]

    @cached_property
    def mean(self) -> Array:
        """The mean effects over all graphs of the class, each counted once; NaN where they are too many."""
        found = self.least.copy()
        for x in np.flatnonzero(self.choices > 1).tolist():
            sets = self._walk.parents_of(x)
            found[x] = self._walk.shares(x, sets) @ self._walk.effects(x, sets).values
        np.fill_diagonal(found, 0.0)
        return found

    @cached_property
    def _walk(self) -> ClassWalk:
        return ClassWalk(self.matrix, self.moments, self.names)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Places of cause and outcome, the greatest possible effect in standard deviations first."""
        spread = np.sqrt(np.diag(self.moments.scatter))
        size = np.maximum(np.abs(self.least), np.abs(self.greatest)) * spread[:, None] / spread
        size[np.diag_indices(len(self.names))] = -1
        for place in np.argsort(-size, axis=None, kind="stable")[: len(self.names) * (len(self.names) - 1)]:
            yield divmod(int(place), len(self.names))

    def to_text(self) -> str:
        """The pairs that may matter most, a line each."""
        lines = ["effects of one unit more on the mean, by their largest size in standard deviations"]
        shown = list(islice(self.pairs(), SHOWN))
        lines += [self._line(i, j) for i, j in shown]
        hidden = len(self.names) * (len(self.names) - 1) - len(shown)
        lines += [f"and {hidden} more pairs"] if hidden else []
        lines.append(f"each adjusted for the parents of the cause ({self.moments.n} rows)")
        lines += [f"assumed: {text}" for text in self.assumptions]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _line(self, i: int, j: int) -> str:
        least, greatest, low, high = (
            written_number(float(ends[i, j])) for ends in (self.least, self.greatest, self.low, self.high)
        )
        told = f"{self.names[i]} on {self.names[j]}: "
        if self.choices[i] == 1:
            return f"{told}{least} [{low}, {high}]"
        zeros = f", zero in {self.zeros[i, j]}" if self.zeros[i, j] else ""
        known = np.isfinite(self.mean[i, j])
        mean = f"; mean over all graphs {written_number(float(self.mean[i, j]))}" if known else ""
        return (
            f"{told}between {least} and {greatest} (all intervals together: [{low}, {high}]), "
            f"over {self.choices[i]} choices of the parents of {self.names[i]}{zeros}{mean}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "names": list(self.names),
            "effects": [
                {
                    "x": self.names[i],
                    "y": self.names[j],
                    "least": float(self.least[i, j]),
                    "greatest": float(self.greatest[i, j]),
                    "low": float(self.low[i, j]),
                    "high": float(self.high[i, j]),
                    "choices": int(self.choices[i]),
                    "zeros": int(self.zeros[i, j]),
                    "mean": float(self.mean[i, j]) if np.isfinite(self.mean[i, j]) else None,
                }
                for i, j in self.pairs()
            ],
            "rows": self.moments.n,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """JSON text, one object."""
        return json_text(self.to_dict())


def effect_ranges(graph: Graph, statistics: Statistics, notes: tuple[str, ...] = ()) -> EffectRanges:
    """The effects of all pairs over the class of a graph, whose nodes are the columns in their order."""
    if not isinstance(graph, DAG):
        _ = graph.causal_class.member  # refuses a graph that stands for no DAG
    moments = gaussian_moments(statistics, "the effects of all pairs over a class of graphs")
    walk = ClassWalk(graph.causal_class.compelled, moments, graph.nodes)
    size = len(graph)
    least, greatest, low, high = (np.zeros((size, size)) for _ in range(4))
    zeros, choices = np.zeros((size, size), dtype=np.int64), np.zeros(size, dtype=np.int64)
    for x in range(size):
        sets = walk.parents_of(x)
        values, margins = walk.effects(x, sets)
        least[x], greatest[x] = values.min(axis=0), values.max(axis=0)
        low[x], high[x] = (values - margins).min(axis=0), (values + margins).max(axis=0)
        zeros[x] = (margins == 0).sum(axis=0)
        choices[x] = len(sets)
    np.fill_diagonal(zeros, 0)
    if walk.cut:
        said = f"only the first {MOST_CHOICES} choices of the parents of {some_of(walk.cut)} were computed"
        notes = (*notes, said)
    return EffectRanges(graph.nodes, least, greatest, low, high, zeros, choices, moments, walk.matrix, notes)


class ClassWalk:
    """The class of a graph, node by node: the parents that each may have, and the effects that follow."""

    def __init__(self, matrix: NDArray[np.bool_], moments: Moments, names: tuple[str, ...]) -> None:
        self.matrix, self.moments, self.names = matrix, moments, names
        self.onward, self.back = bit_rows(matrix), bit_rows(matrix.T)
        self.starts = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))])
        self.heads = np.nonzero(matrix)[1]
        self.quantiles: dict[int, float] = {}
        self.sizes = ClassSizes()
        self.cut: list[str] = []  # nodes with more choices than are looked at

    def parents_of(self, x: int) -> list[list[int]]:
        """The sets of parents that x has in some graph of the class, at most `MOST_CHOICES`."""
        fixed = self.back[x] & ~self.onward[x]
        found = [
            list(members(before | fixed))
            for before, _ in islice(parent_sets(self.onward, self.back, x), MOST_CHOICES + 1)
        ]
        if len(found) > MOST_CHOICES:
            self.cut.append(self.names[x])
        return found[:MOST_CHOICES]

    def shares(self, x: int, sets: list[list[int]]) -> Array:
        """The share of the graphs of the class in which x has each set of parents; NaN if not counted."""
        bucket = bucket_of(self.matrix, x)
        inside, place = self.matrix[np.ix_(bucket, bucket)], bucket.index(x)
        around = bit_rows(inside & inside.T)[place]
        graphs = []
        for parents in sets:
            before = sum_bits(bucket.index(node) for node in parents if node in bucket) & around
            graphs.append(self.sizes.size(directed_around(inside, place, before, around & ~before)))
        counted = [number for number in graphs if number is not None]
        if len(counted) < len(graphs) or self.names[x] in self.cut:
            return np.full(len(graphs), np.nan)
        return np.array([number / sum(counted) for number in counted])

    def effects(self, x: int, sets: list[list[int]]) -> ChoiceEffects:
        """The effects of x on every column for each set of parents; zero where it changes nothing."""
        sizes = np.array([len(parents) for parents in sets])
        padded = np.zeros((len(sets), int(sizes.max())), dtype=np.int64)
        for place, parents in enumerate(sets):
            padded[place, : len(parents)] = parents
        values, errors = regress_on_parents(
            self.moments.scatter, self.starts, self.heads, x, padded, sizes, COLLINEAR
        )
        if np.isnan(values).any():
            determined = sets[int(np.isnan(values).any(axis=1).argmax())]
            named = ", ".join(self.names[node] for node in determined)
            raise DataError(
                f"{named} determine{'s' if len(determined) == 1 else ''} {self.names[x]}: no rows differ "
                "in the one alone, so that they do not tell its effects"
            )
        scale = np.array([self._quantile(size) for size in sizes.tolist()])
        return ChoiceEffects(values, errors * scale[:, None])

    def _quantile(self, parents: int) -> float:
        """Student's quantile over the root of the freedom, with so many parents."""
        from scipy.special import stdtrit

        if parents not in self.quantiles:
            freedom = self.moments.n - parents - 2
            if freedom < 1:
                raise DataError(f"{self.moments.n} rows are too few to adjust for {parents} columns")
            self.quantiles[parents] = float(stdtrit(freedom, TAILS[1])) / np.sqrt(freedom)
        return self.quantiles[parents]


@kernel
def regress_on_parents(
    scatter: Array, starts: Nodes, heads: Nodes, x: int, sets: Nodes, sizes: Nodes, collinear: float
) -> tuple[Array, Array]:
    """The coefficient of x for each set of parents and y, and √(residual sum of squares) / L_xx.

    The children of node i are `heads[starts[i]:starts[i + 1]]`, lines included. A set that determines x
    gives NaN.
    """
    number, size = len(sets), len(scatter)
    values, errors = np.zeros((number, size)), np.zeros((number, size))
    reached = np.empty(size, dtype=np.bool_)
    queue = np.empty(size, dtype=np.int64)
    columns = np.empty(sets.shape[1] + 1, dtype=np.int64)
    factor = np.empty((sets.shape[1] + 1, sets.shape[1] + 1))
    solved = np.empty(sets.shape[1] + 1)
    for s in range(number):
        k = sizes[s]
        columns[:k] = sets[s, :k]
        columns[k] = x
        determined = not factorise(scatter, columns[: k + 1], collinear, factor)
        for place in range(1, find_descendants(starts, heads, columns[: k + 1], reached, queue)):
            y = queue[place]
            residual = solve_lower(factor, scatter, columns[: k + 1], y, solved)
            values[s, y] = np.nan if determined else solved[k] / factor[k, k]
            errors[s, y] = np.sqrt(max(residual, collinear * scatter[y, y])) / factor[k, k]
    return values, errors


@borrowing
def factorise(scatter: Array, columns: Nodes, collinear: float, factor: Array) -> bool:
    """Write the Cholesky factor of the scatter of columns; False if some of them determine another."""
    independent = True
    for a in range(len(columns)):
        for b in range(a + 1):
            entry = scatter[columns[a], columns[b]]
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            if b < a:
                factor[a, b] = entry / factor[b, b]
            elif entry > collinear * scatter[columns[a], columns[a]]:
                factor[a, a] = np.sqrt(entry)
            else:
                independent = False
                factor[a, a] = 1.0
    return independent


@borrowing
def find_descendants(
    starts: Nodes, heads: Nodes, columns: Nodes, reached: NDArray[np.bool_], queue: Nodes
) -> int:
    """Write the last of the columns and what it reaches without passing through the others; their number."""
    reached[:] = False
    for column in columns:
        reached[column] = True
    queue[0] = columns[-1]
    done, waiting = 0, 1
    while done < waiting:
        node = queue[done]
        done += 1
        for place in range(starts[node], starts[node + 1]):
            head = heads[place]
            if not reached[head]:
                reached[head] = True
                queue[waiting] = head
                waiting += 1
    return waiting


@borrowing
def solve_lower(factor: Array, scatter: Array, columns: Nodes, y: int, solved: Array) -> float:
    """Write v = L⁻¹ (scatter of the columns with y); return the residual sum of squares of y."""
    residual = float(scatter[y, y])
    for a in range(len(columns)):
        entry = scatter[columns[a], y]
        for c in range(a):
            entry -= factor[a, c] * solved[c]
        solved[a] = entry / factor[a, a]
        residual -= solved[a] ** 2
    return residual
