"""Falsification of a graph: its violated independences, against those of the graph with nodes permuted.

A graph claims one independence for each pair of variables without an edge (`graph.independences`). Each is
tested on the data; the share of violated ones is compared with that of the same graph whose nodes are
permuted at random (Eulig, Mastakouri, Blöbaum, Hardt & Janzing 2023). Where the graph says something about
these variables, nearly all permutations are worse. Permutations that give a graph of the same class claim the
same, and are counted: where there are many, no data can tell the graph from them.

The p-value is (1 + permutations that violate no larger share) / (1 + permutations).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import amount
from dagora.data.interventions import Interventions
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.any_graph import AnyGraph
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.independences import Independence, independences_of
from dagora.learners.constraint.named_tests import TESTS
from dagora.learners.independence.protocol import IndependenceTest
from dagora.posterior.criticism.regimes import OWNER, WithinKinds, rows_about
from dagora.posterior.criticism.strength import strength_of, strength_of_sums
from dagora.stats.designed import DesignStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Pairs without an edge that are tested; of more, so many are drawn.
MOST_PAIRS = 2000
# Violated independences that are kept, and that the text lists.
MOST_NAMED, MOST_LISTED = 20, 5
# Shares of violations that differ by less are the same.
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Violation:
    """An independence that the data contradict.

    `adjusted` is the p-value after Holm's correction for all tests of the graph; `strength` is from 0 to 1
    (`strength_of`).
    """

    independence: Independence
    p_value: float
    adjusted: float
    strength: float

    def to_text(self) -> str:
        """In words.

        >>> Violation(Independence("a", "b"), 1e-9, 1e-8, 0.5).to_text()
        'a ⊥ b (strength 0.50, adjusted p 1e-08)'
        """
        p = f"{self.adjusted:.2g}" if self.adjusted > 0 else "below 1e-300"
        return f"{self.independence} (strength {self.strength:.2f}, adjusted p {p})"


@dataclass(frozen=True, slots=True)
class Falsification:
    """The share of a graph's independences that are violated, beside the shares of relabeled graphs."""

    claimed: int  # pairs without an edge
    tested: int  # of them, by a test that was possible
    violated: int
    worst: tuple[Violation, ...]
    alpha: float
    test: str
    permuted_shares: tuple[float, ...]  # violated by each permutation
    same_class: int  # permutations that are graphs of the same class
    p_value: float | None  # None: nothing could be tested

    @property
    def share(self) -> float:
        """The share of tested independences that are violated."""
        return self.violated / max(1, self.tested)

    @property
    def as_good(self) -> int:
        """Permutations that violate no larger share."""
        return sum(share <= self.share + SAME for share in self.permuted_shares)

    def to_lines(self) -> list[str]:
        """In words."""
        if not self.claimed:
            return ["independences: every pair has an edge, so that no data could contradict the graph"]
        if self.p_value is None:
            return ["independences: none can be tested on these rows"]
        of = f" (of {self.claimed})" if self.tested < self.claimed else ""
        expected = f"chance alone violates about {self.alpha * self.tested:.1f}"
        number = len(self.permuted_shares)
        lines = [
            f"independences: {self.violated} of {self.tested}{of} are violated, {expected} ({self.test})",
            f"relabelings: {self.as_good} of {number} violate no larger share (p = {self.p_value:.3g})",
        ]
        if self.same_class:
            lines.append(f"  {amount(self.same_class, 'relabeling')} gave a graph of the same class")
        certain = [one for one in self.worst if one.adjusted < self.alpha]
        return lines + [f"  violated: {one.to_text()}" for one in certain[:MOST_LISTED]]


def falsify(
    graph: AnyGraph,
    rows: Table | Statistics,
    marks: Interventions | None = None,
    *,
    permutations: int = 200,
    alpha: float = 0.05,
    test: str | None = None,
    seed: int = 0,
) -> Falsification:
    """Test the independences of a graph, whose nodes are the columns of a table or of sums, in one order.

    `marks` say which variables were set in which rows: these are tested kind by kind (`regimes`).

    >>> x = np.random.default_rng(0).normal(size=(3, 400))
    >>> rows = np.stack([x[0], x[0] + x[1], x[0] + x[1] + x[2]], axis=1)
    >>> found = falsify(DAG("abc", ["ab", "bc"]), Table.from_numpy(rows, names="abc"), permutations=20)
    >>> found.violated, found.tested
    (0, 1)
    """
    rng = np.random.default_rng(seed)
    joined = adjacent(graph)
    apart = [pair for pair in combinations(range(len(graph)), 2) if not joined[pair]]
    chosen = apart
    if len(apart) > MOST_PAIRS:
        chosen = [apart[k] for k in np.sort(rng.choice(len(apart), MOST_PAIRS, replace=False))]
    claims = independences_of(graph, chosen)
    statistics = TableStatistics(rows) if isinstance(rows, Table) else rows
    name = test or default_test(statistics)
    by_kinds = None if marks is None else WithinKinds(name, statistics.rows(), marks)
    tester: IndependenceTest = TESTS[name](statistics, OWNER) if by_kinds is None else by_kinds
    orders = np.array([np.arange(len(graph)), *(rng.permutation(len(graph)) for _ in range(permutations))])
    p = p_values(tester, graph, claims, orders)
    possible = ~np.isnan(p)
    counted = possible.sum(axis=1)
    violated = (np.where(possible, p, 1.0) < alpha).sum(axis=1)
    shares = violated / np.maximum(counted, 1)
    as_good = int((shares[1:] <= shares[0] + SAME).sum())
    return Falsification(
        len(apart),
        int(counted[0]),
        int(violated[0]),
        worst_violations(claims, p[0], alpha, statistics, marks),
        alpha,
        name if marks is None else f"{name}, within rows in which the same was set",
        tuple(shares[1:].tolist()),
        count_same_class(graph, orders[1:]),
        (1 + as_good) / (1 + permutations) if counted[0] else None,
    )


def default_test(rows: Table | Statistics) -> str:
    """Fisher's z for continuous columns, X² for discrete ones, `mixed` for both."""
    kinds = {variable.kind for variable in rows.schema}
    if len(kinds) == 1:
        return "fisher-z" if kinds == {Kind.CONTINUOUS} else "x2"
    return "mixed"


def p_values(
    test: IndependenceTest, graph: AnyGraph, claims: Sequence[Independence], orders: Integers
) -> Floats:
    """The p-value of each claim (column) after each relabeling of the nodes (row)."""
    found = np.full((len(orders), len(claims)), np.nan)
    sizes = np.array([len(claim.given) for claim in claims], dtype=np.int64)
    for size in np.unique(sizes).tolist():
        if size > test.max_given:
            continue
        here = np.flatnonzero(sizes == size).tolist()
        columns = np.array(
            [[graph.index(name) for name in (claims[k].a, claims[k].b, *claims[k].given)] for k in here]
        )
        asked = orders[:, columns].reshape(-1, size + 2)
        asked[:, :2].sort(axis=1)
        asked[:, 2:].sort(axis=1)
        found[:, here] = run_tests(test, asked, len(graph)).reshape(len(orders), len(here))
    return found


def run_tests(test: IndependenceTest, asked: Integers, size: int) -> Floats:
    """The p-values of rows (x, y, conditioning set), each different one tested once."""
    different, place = asked, np.arange(len(asked))
    if size ** asked.shape[1] < 2**62:
        keys = asked @ size ** np.arange(asked.shape[1], dtype=np.int64)
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        different = asked[first]
    steps = range(0, len(different), max(1, test.batch_size))
    parts = [different[begin : begin + test.batch_size] for begin in steps]
    # Columns one by one, each contiguous, as kernels take them.
    p = [test.p_values(*map(np.ascontiguousarray, (part[:, 0], part[:, 1], part[:, 2:]))) for part in parts]
    return np.concatenate(p)[place]


def worst_violations(
    claims: Sequence[Independence],
    p: Floats,
    alpha: float,
    statistics: Statistics,
    marks: Interventions | None,
) -> tuple[Violation, ...]:
    """The violated claims, the strongest evidence first."""

    def strength(claim: Independence, p_value: float) -> float:
        if isinstance(statistics, DesignStatistics):
            return strength_of_sums(statistics, claim, p_value)
        return strength_of(rows_about(statistics.rows(), marks, claim), claim, p_value)

    adjusted = holm(p)
    order = [int(k) for k in np.argsort(p, kind="stable") if p[k] < alpha][:MOST_NAMED]
    return tuple(
        Violation(claims[k], float(p[k]), float(adjusted[k]), strength(claims[k], float(p[k]))) for k in order
    )


def holm(p: Floats) -> Floats:
    """P-values adjusted for their number (Holm 1979); those that are NaN do not count.

    >>> holm(np.array([0.01, 0.04, 0.03, np.nan]))
    array([0.03, 0.06, 0.06,  nan])
    """
    order = np.argsort(p, kind="stable")
    count = int((~np.isnan(p)).sum())
    adjusted = np.full(len(p), np.nan)
    factors = count - np.arange(count)
    adjusted[order[:count]] = np.minimum(1.0, np.maximum.accumulate(p[order[:count]] * factors))
    return adjusted


def adjacent(graph: AnyGraph) -> NDArray[np.bool_]:
    """The pairs that are joined by an edge."""
    matrix = graph.to_numpy() != 0
    return np.asarray(matrix | matrix.T)


def count_same_class(graph: AnyGraph, orders: Integers) -> int:
    """The relabelings that give a graph of the same class."""
    marks = cpdag_matrix(graph.to_numpy()) if isinstance(graph, DAG) else graph.to_numpy()
    return sum(np.array_equal(marks[np.ix_(order, order)], marks) for order in orders)
