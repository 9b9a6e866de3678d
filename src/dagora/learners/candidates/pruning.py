"""Pruning rules: each cuts a parent set together with all its supersets, because none of them can be best.

With t(P) = price · (r − 1) · q(P), the penalty of parent set P of child X (r levels; q configurations):

* de Campos & Ji (2011): P ⊂ P′ and s(P) + t(P′) ≥ 0 cut P′, since the log-likelihood is at most 0;
* de Campos, Scanagatta, Corani & Zaffalon (2018): m · min{H(X|P), H(Y|P)} ≤ (|Y| − 1) t(P) cuts P ∪ {Y},
  since Y can add no more information than either entropy.

Both hold for any price per parameter, so for BIC and AIC. For Gaussian BIC, the likelihood with all allowed
parents bounds that of every set, so P′ is cut if a subset scores at least that bound minus the penalty of
|P′| parents. Other scores have no rule here. Neither bound holds for the mixed BIC, which has no likelihood
of at most 0 or of a regression: what columns of both kinds gain from each other is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import Watch
from dagora.kernels.decorators import borrowing, patient
from dagora.kernels.threads import Threads
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.discrete import MOST_CONFIGURATIONS, DiscreteScore
from dagora.scores.lattice import NOTHING_CUT, Cutting, family_keys, keys_of
from dagora.scores.local_score import LocalScore

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Growth:
    """Sets of one child with one more column than those alive; `base` are required parents, in every set.

    They are in ascending order. `subsets[r, i]` is the place, among the sets alive, of set r without its i-th
    column; `below[r]` is the best score among all its proper subsets, `price[r]` its penalty, and `cells[r]`
    what the score sums over the cells of the parents; the last two where a rule needs them.
    """

    child: int
    sets: NDArray[np.int64]
    subsets: NDArray[np.int64]
    below: Floats
    price: Floats
    base: NDArray[np.int64]
    cells: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def parents(self) -> NDArray[np.int64]:
        """The sets with the required parents, as ascending rows."""
        if not len(self.base):
            return self.sets
        base = np.broadcast_to(self.base, (len(self.sets), len(self.base)))
        return np.sort(np.concatenate([self.sets, base], axis=1), axis=1)

    def only(self, rows: NDArray[np.int64]) -> Growth:
        """Return the sets in some places."""
        if len(rows) == len(self.sets):
            return self
        return replace(
            self,
            sets=self.sets[rows],
            subsets=self.subsets[rows],
            below=self.below[rows],
            price=self.price[rows],
            cells=self.cells[rows] if len(self.cells) else self.cells,
        )


def join_parts(parts: Sequence[Growth]) -> Growth:
    """Join parts of a child's sets into one."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        sets=np.concatenate([part.sets for part in parts]),
        subsets=np.concatenate([part.subsets for part in parts]),
        below=np.concatenate([part.below for part in parts]),
        price=np.concatenate([part.price for part in parts]),
        cells=np.concatenate([part.cells for part in parts]),
    )


class PruningRules(Protocol):
    """Prunes sets before they are scored; `cuts` says whether there is any rule."""

    cuts: bool

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Receive the scores of the children with their required parents only."""

    def cutting(self, child: int) -> Cutting:
        """The rule that cuts the sets of a child while they grow from those alive."""

    def screen(self, grown: Sequence[Growth], watch: Watch) -> list[Growth]:
        """The sets of the next level that no rule cuts."""

    def scores(self, grown: Sequence[Growth], watch: Watch) -> list[Floats] | None:
        """The scores of sets that were screened; None where the score itself must be asked."""

    def remember(self, scored: Growth, scores: Floats) -> None:
        """Receive the scores of a child's sets, which are now those alive."""

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Keep only some of a child's sets alive."""


def rules_for(score: LocalScore, allowed: NDArray[np.bool_], threads: Threads) -> PruningRules:
    """The rules that hold for a score; the children are shared among threads."""
    if isinstance(score, DiscreteScore) and score.price > 0:
        return EntropyRules(score, threads)
    if isinstance(score, GaussianBIC):
        return LikelihoodBound(score, allowed)
    return NoRules()


class NoRules:
    """No rule: everything is kept."""

    cuts = False

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Nothing to do."""

    def cutting(self, child: int) -> Cutting:  # noqa: ARG002
        """Nothing is cut while sets grow."""
        return NOTHING_CUT

    def screen(self, grown: Sequence[Growth], watch: Watch) -> list[Growth]:  # noqa: ARG002
        """Keep everything."""
        return list(grown)

    def scores(self, grown: Sequence[Growth], watch: Watch) -> list[Floats] | None:  # noqa: ARG002
        """Nothing is known of them."""
        return None

    def remember(self, scored: Growth, scores: Floats) -> None:
        """Nothing to do."""

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Nothing to do."""


@dataclass
class Information:
    """For each set P alive of one child X: m · H(X | P), and Σ n ln n over the cells of P."""

    entropy: NDArray[np.float64]
    cells: NDArray[np.float64]


class EntropyRules:
    """The two rules for scores that are the log-likelihood minus a penalty per parameter."""

    cuts = True

    def __init__(self, score: DiscreteScore, threads: Threads) -> None:
        self._score = score
        self._threads = threads
        self._levels = score.schema.cardinalities.astype(np.float64)
        self._known: list[Information] = []
        self._bases: Sequence[NDArray[np.int64]] = ()

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Compute the entropies given the required parents only."""
        self._bases = bases
        prices, sums = np.empty(len(bases)), np.empty(len(bases))
        for width in {len(base) for base in bases}:
            children = [child for child, base in enumerate(bases) if len(base) == width]
            rows = np.stack([bases[child] for child in children])
            prices[children] = self._score.penalty(self._levels[children], self._score.cells(rows))
            sums[children] = self._score.joint_sums(rows)
        own = [slice(child, child + 1) for child in range(len(bases))]
        self._known = [Information(-(scores[one] + prices[one]), sums[one].copy()) for one in own]

    def cutting(self, child: int) -> Cutting:
        """The rules that need the entropies of the child only."""
        return Cutting(
            self._known[child].entropy,
            self._levels,
            self._score.price * (float(self._levels[child]) - 1),
            float(self._levels[self._bases[child]].prod()),
            MOST_CONFIGURATIONS,
        )

    def screen(self, grown: Sequence[Growth], watch: Watch) -> list[Growth]:
        """Prune by the entropies from counts of the parent sets."""
        grown = [entry for entry in grown if len(entry.sets)]
        d = len(self._levels)
        sums = self._sums(grown, 0, lambda entry: keys_of(entry.parents, d), watch)

        def screen(k: int) -> Growth:
            entry = replace(grown[k], cells=sums[k])
            rows = np.empty(len(entry.sets), dtype=np.int64)
            count = uncut_by_parents(
                entry.sets,
                entry.subsets,
                entry.cells,
                entry.price,
                self._known[entry.child].cells,
                self._levels,
                rows,
            )
            return entry.only(rows[:count])

        return self._threads.map(screen, range(len(grown)))

    def scores(self, grown: Sequence[Growth], watch: Watch) -> list[Floats] | None:
        """The scores: of the sums, those over the parents are known."""
        d = len(self._levels)

        def keys_in(entry: Growth) -> NDArray[np.int64]:
            return family_keys(np.full(len(entry.sets), entry.child), entry.parents, d)

        sums = self._sums(grown, 1, keys_in, watch)
        return self._threads.map(lambda k: sums[k] - grown[k].cells - grown[k].price, range(len(grown)))

    def _sums(
        self,
        grown: Sequence[Growth],
        added: int,
        keys_in: Callable[[Growth], NDArray[np.int64]],
        watch: Watch,
    ) -> list[Floats]:
        """Σ n ln n over the cells of sets that have `added` columns more than the parents, by their keys."""
        keys = self._threads.map(keys_in, grown)
        sums: dict[int, Floats] = {}
        for width in sorted({len(entry.base) for entry in grown}):
            chosen = [k for k, entry in enumerate(grown) if len(entry.base) == width]
            size = grown[chosen[0]].sets.shape[1] + width + added
            found = self._score.sums_of_keys(size, [keys[k] for k in chosen], self._threads, watch)
            sums.update(zip(chosen, found, strict=True))
        return [sums[k] for k in range(len(grown))]

    def remember(self, scored: Growth, scores: Floats) -> None:
        """Keep the entropies for the next level."""
        self._known[scored.child] = Information(-(scores + scored.price), scored.cells)

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Keep the entropies of some sets only."""
        known = self._known[child]
        self._known[child] = Information(known.entropy[rows], known.cells[rows])


def uncut_by_parents_plainly(
    sets: NDArray[np.int64],
    subsets: NDArray[np.int64],
    cells: Floats,
    price: Floats,
    cells_before: Floats,
    levels: Floats,
    rows: NDArray[np.int64],
) -> int:
    """The same as `uncut_by_parents`, without a kernel."""
    own = levels[sets]
    uncut = cells_before[subsets] - cells[:, None] > (own - 1) * price[:, None] / own
    places = np.flatnonzero(uncut.all(axis=1))
    rows[: len(places)] = places
    return len(places)


@patient(uncut_by_parents_plainly, lambda sets, *_: 3e-5 + 3e-8 * sets.size, 0.2)
@borrowing
def uncut_by_parents(
    sets: NDArray[np.int64],
    subsets: NDArray[np.int64],
    cells: Floats,
    price: Floats,
    cells_before: Floats,
    levels: Floats,
    rows: NDArray[np.int64],
) -> int:
    """Write the places of sets that m · H(Y | P) of none of their columns cuts; return how many there are.

    `cells_before` are the sums over the cells of the sets alive, to which `subsets` point.
    """
    count = 0
    for r in range(len(sets)):
        uncut = True
        for i in range(sets.shape[1]):
            own = levels[sets[r, i]]
            if not cells_before[subsets[r, i]] - cells[r] > (own - 1) * price[r] / own:
                uncut = False
                break
        if uncut:
            rows[count] = r
            count += 1
    return count


class LikelihoodBound:
    """Gaussian BIC: no set fits better than all allowed parents together."""

    def __init__(self, score: GaussianBIC, allowed: NDArray[np.bool_]) -> None:
        self._score = score
        self._bounds = score.likelihood_bounds(allowed)
        self.cuts = bool(np.isfinite(self._bounds).all())

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Nothing to do."""

    def cutting(self, child: int) -> Cutting:  # noqa: ARG002
        """Nothing is cut while sets grow."""
        return NOTHING_CUT

    def screen(self, grown: Sequence[Growth], watch: Watch) -> list[Growth]:  # noqa: ARG002
        """Prune sets whose penalty alone is too high."""
        return [entry.only(np.flatnonzero(self._uncut(entry))) for entry in grown]

    def _uncut(self, entry: Growth) -> NDArray[np.bool_]:
        parents = entry.sets.shape[1] + len(entry.base)
        price = self._score.price(np.array([parents]))[0]
        uncut: NDArray[np.bool_] = entry.below < self._bounds[entry.child] - price
        return uncut

    def scores(self, grown: Sequence[Growth], watch: Watch) -> list[Floats] | None:  # noqa: ARG002
        """Nothing is known of them."""
        return None

    def remember(self, scored: Growth, scores: Floats) -> None:
        """Nothing to do."""

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Nothing to do."""
