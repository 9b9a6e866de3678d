"""Scores of discrete families, as sums over the occupied cells of joint counts.

For child X with r levels and parents P with q joint configurations, every score here is
Σ φ(n) over the occupied cells of P ∪ {X}, minus Σ ψ(n) over those of P, minus price · (r − 1) q. Besides the
counts, φ depends on the number of cells only, ψ also on r. So a set of columns is counted once, whichever of
its members is the child.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.events import Watch, ignore_progress
from dagora.base.wording import option
from dagora.data.schema import Kind
from dagora.kernels.threads import PIECES_A_THREAD, Threads
from dagora.scores.known_sums import KnownSums
from dagora.scores.lattice import keys_of, largest_size, unique_families, unique_sets
from dagora.scores.local_score import Family, ScoreCapabilities
from dagora.scores.penalty import noise_warnings
from dagora.scores.shared_keys import ascending_order, distinct_keys, rows_of_keys
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Cells, FlatSets, Statistics, flatten, running_sum
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]

# Numbers of configurations are cut off here, so that products of many cardinalities stay finite.
MOST_CONFIGURATIONS = 1e200
# Terms of counts below this are looked up (8 MiB); larger counts are few, and a table of them would grow with
# the rows.
TABLED = 1 << 20
# Sets that are counted in one call; it bounds the memory for their counts.
BATCH = 10_000
# Threads take batches of this many times the fewest sets that are worth a call, unless there are too few.
SMALL_BATCHES = 5
# Rows times sets of a batch: some tenths of a second between two looks at the clock.
ROWS_A_BATCH = 60_000_000
# Sums of so many sets are kept for the next call: a level of a search asks for most sets three times.
WORTH_KEEPING = 256
# Fewer sets are ordered before a thread could take its part of them.
WORTH_A_PIECE = 1 << 14


@dataclass(frozen=True)
class Terms:
    """The parts of a discrete score.

    `joint(counts, cells)` gives Σ φ for each set, of so many cells. `parents(counts, configurations, levels)`
    gives Σ ψ for each parent set and the child's number of levels; `levels_matter` says whether ψ depends on
    the latter, and `same` whether it is φ. `price` is the penalty per free parameter; `ess` is the equivalent
    sample size, for BDeu only.
    """

    joint: Callable[[Cells, Floats], Floats]
    parents: Callable[[Cells, Floats, Floats], Floats]
    price: float = 0.0
    levels_matter: bool = False
    same: bool = False
    ess: float | None = None


class DiscreteScore:
    """The score of discrete families that its `Terms` define.

    `penalty` is the factor on the price of a parameter that the user chose; None where there is no choice.
    """

    def __init__(self, statistics: Statistics, terms: Terms, penalty: float | None = None) -> None:
        self._statistics = statistics
        self.schema = statistics.schema
        self._terms = terms
        self._penalty = penalty
        self._cardinalities = self.schema.cardinalities.astype(np.float64)
        self._known = KnownSums()
        # Over sites, many questions go into one message instead.
        can = capabilities_of(statistics)
        self._counts_rows, self._knows = can.in_memory, can.knows

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score; over sites, asked for only where it is needed."""
        return self._statistics.n_rows

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families that count rows or take passes over them, and warnings."""
        return ScoreCapabilities(
            block=self.block,
            counts_rows=self._counts_rows,
            needs_pass=None if self._knows is None else self._needs_pass,
            warnings=self._warnings,
        )

    def _needs_pass(self, families: Sequence[Family]) -> bool:
        """Return True if the rows must be read for these families."""
        return self._knows is not None and not self._knows([(*parents, child) for child, parents in families])

    @property
    def price(self) -> float:
        """The penalty per free parameter; 0 for scores without one."""
        return self._terms.price

    @property
    def ess(self) -> float | None:
        """The equivalent sample size; None for scores other than BDeu."""
        return self._terms.ess

    def codes(self) -> NDArray[np.int64]:
        """The rows as level numbers, a row for each column; an error where the rows may not be seen."""
        return np.stack(self._statistics.rows().columns).astype(np.int64)

    def _warnings(self) -> list[str]:
        """A warning if chance alone may bring many edges."""
        return [] if self._penalty is None else noise_warnings(self.schema, self.n_rows, self._penalty)

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families, their counts asked for in one call."""
        children = np.array([child for child, _ in families], dtype=np.int64)
        parents, offsets = flatten([parents for _, parents in families])
        sets = families_with_parents(children, parents, offsets)
        place = np.arange(2 * len(families))
        if not self._counts_rows:  # each set is a part of a message
            different, place = distinct([tuple(columns) for columns in sets])
            counts = self._statistics.counts(different)
        else:
            counts = self._statistics.counts(sets)
        levels = self._cardinalities[children]
        configurations = np.ones(len(families))
        sizes = np.diff(offsets)
        for i in range(sizes.max(initial=0)):
            some = np.flatnonzero(sizes > i)
            more = configurations[some] * self._cardinalities[parents[offsets[some] + i]]
            configurations[some] = np.minimum(more, MOST_CONFIGURATIONS)
        fit = self._terms.joint(counts.of(place[::2]), configurations * levels)
        fit -= self._terms.parents(counts.of(place[1::2]), configurations, levels)
        return fit - self.penalty(levels, configurations)

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> Floats:
        """Scores of many families of one size, whose parents are ascending rows; each set is counted once."""
        d = len(self._cardinalities)
        joint, place = unique_families(children, parents, d)
        fit = self.joint_sums(joint, watch)[place]
        levels = self._cardinalities[children]
        # A parent set is counted once for all children that give it the same sum.
        groups = levels if self._terms.levels_matter else np.zeros(len(levels))
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            different, place = unique_sets(parents[rows], d)
            fit[rows] -= self._parent_sums(different, float(group), watch)[place]
        return fit - self.penalty(levels, self.cells(parents))

    def joint_sums(self, sets: NDArray[np.int64], watch: Watch = ignore_progress) -> Floats:
        """Σ φ of sets of one size, given as rows in lexicographic order."""
        d, size = len(self._cardinalities), sets.shape[1]
        if not self._counts_rows or len(sets) < WORTH_KEEPING or size > largest_size(d):
            return self._joint_sums(sets, watch)
        keys = keys_of(sets, d)
        sums, unknown = self._known.look_up(size, keys)
        sums[unknown] = self._joint_sums(sets[unknown], watch)
        self._known.keep(size, keys, sums)
        return sums

    def sums_of_keys(
        self, size: int, parts: Sequence[NDArray[np.int64]], threads: Threads, watch: Watch = ignore_progress
    ) -> list[Floats]:
        """Σ φ of sets of one size, given by ascending keys in parts; each is counted once, by threads."""
        if not self._counts_rows:
            different, places = distinct_keys(parts, threads)
            values = self._joint_sums(rows_of_keys(different, size, len(self._cardinalities), threads), watch)
            return [values[place] for place in places]
        found = threads.map(lambda keys: self._known.look_up(size, keys), parts)
        unknown = [keys[places] for keys, (_, places) in zip(parts, found, strict=True)]
        different, places = distinct_keys(unknown, threads)
        values = self._joint_sums(rows_of_keys(different, size, len(self._cardinalities), threads), watch)
        self._known.add(size, different, values)

        def fill(k: int) -> Floats:
            sums, rest = found[k]
            sums[rest] = values[places[k]]
            return sums

        return threads.map(fill, range(len(parts)))

    def _joint_sums(self, sets: NDArray[np.int64], watch: Watch) -> Floats:
        return self._sums(sets, watch, lambda part, counts: self._terms.joint(counts, self.cells(part)))

    def _parent_sums(self, sets: NDArray[np.int64], levels: float, watch: Watch) -> Floats:
        if self._terms.same:
            return self.joint_sums(sets, watch)
        return self._sums(
            sets,
            watch,
            lambda part, counts: self._terms.parents(counts, self.cells(part), np.full(len(part), levels)),
        )

    def _sums(
        self, sets: NDArray[np.int64], watch: Watch, sums: Callable[[NDArray[np.int64], Cells], Floats]
    ) -> Floats:
        """Sums of many sets, counted in batches, and report the progress to `watch` between them."""
        size, jobs = BATCH, 1
        statistics = self._statistics
        if isinstance(statistics, TableStatistics):
            size = max(1, min(BATCH, ROWS_A_BATCH // self.n_rows))
            jobs = statistics.calls_at_once(len(sets))
            if jobs > 1:  # no fewer looks at the clock, should there be fewer cores than jobs
                least = statistics.fewest_at_once
                share = -(-len(sets) // (PIECES_A_THREAD * jobs))
                size = min(max(size // jobs, SMALL_BATCHES * least), max(share, least))
                statistics = statistics.in_one_thread()
        found = np.empty(len(sets))

        def find(some: NDArray[np.int64]) -> int:
            found[some] = sums(sets[some], statistics.counts(sets[some]).of())
            return len(some)

        done = 0
        with Threads(jobs) as threads:
            order = self._counting_order(sets, threads)
            batches = [order[start : start + size] for start in range(0, len(sets), size)]
            for counted in threads.one_by_one(find, batches):
                done += counted
                watch(done, len(sets))
        return found

    def _counting_order(self, sets: NDArray[np.int64], threads: Threads) -> NDArray[np.int64]:
        """The order in which many sets are counted fastest."""
        statistics = self._statistics
        if not isinstance(statistics, TableStatistics) or not statistics.worth_ordering(sets):
            return np.arange(len(sets))
        pieces = threads.pieces(len(sets), WORTH_A_PIECE)
        keys = threads.map(lambda piece: statistics.counting_keys(sets[piece]), pieces)
        return ascending_order(np.concatenate(keys), threads)

    def cells(self, sets: NDArray[np.int64]) -> Floats:
        """Number of cells of each set."""
        with np.errstate(over="ignore"):
            product: Floats = np.minimum(self._cardinalities[sets].prod(axis=1), MOST_CONFIGURATIONS)
        return product

    def penalty(self, levels: Floats, configurations: Floats) -> Floats:
        """Price of the free parameters of families."""
        return self._terms.price * (levels - 1) * configurations


def families_with_parents(
    children: NDArray[np.int64], parents: NDArray[np.int64], offsets: NDArray[np.int64]
) -> FlatSets:
    """The columns of each family, and after them those of its parents (`offsets` says where they begin).

    The second-last column of a family is the child: so the parents are summed from the family's table and
    need not be counted.

    >>> list(families_with_parents(np.array([5, 6]), np.array([1, 2, 3]), np.array([0, 3, 3])))
    [(1, 2, 5, 3), (1, 2, 3), (6,), ()]
    """
    sizes = np.diff(offsets)
    ends = running_sum(np.column_stack([sizes + 1, sizes]).ravel())
    begins, alone = ends[:-1:2], ends[1::2]
    columns = np.empty(ends[-1], dtype=np.int64)
    family = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(parents)) - offsets[family]
    columns[begins[family] + within + (within == sizes[family] - 1)] = parents
    columns[begins + np.maximum(sizes - 1, 0)] = children
    columns[alone[family] + within] = parents
    return FlatSets(columns, ends)


def distinct(sets: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """The distinct sets, and for each given set its place among them.

    Sets that differ in the order of their columns count as distinct: their sums may differ in the last bit,
    and a family's score must not depend on which other families are asked for.

    >>> distinct([(2, 1), (3,), (2, 1)])
    ([(2, 1), (3,)], array([0, 1, 0]))
    """
    places: dict[tuple[int, ...], int] = {}
    place = np.array([places.setdefault(columns, len(places)) for columns in sets], dtype=np.int64)
    return list(places), place


def require_discrete(statistics: Statistics, score: str) -> None:
    """Refuse data with columns that are not discrete."""
    for variable in statistics.schema:
        if variable.kind is not Kind.DISCRETE:
            both = len(statistics.schema.kinds) > 1
            other = option("score", "bic-mixed") if both else "a Gaussian score"
            raise DataError(
                f"the score {score} needs discrete columns, but '{variable.name}' is continuous: "
                f"discretise it, declare it discrete, or use {other}"
            )
