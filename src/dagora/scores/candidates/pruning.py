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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.events import Watch
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.discrete import DiscreteScore
from dagora.scores.lattice import unique_sets
from dagora.scores.local_score import LocalScore
from dagora.threads import Threads


@dataclass(frozen=True)
class Grown:
    """Sets of one child with one more column than those alive; `base` are required parents, in every set.

    `subsets[r, i]` is the place, among the sets alive, of set r without its i-th column; `below[r]` is the
    best score among all its proper subsets.
    """

    child: int
    sets: NDArray[np.int64]
    subsets: NDArray[np.int64]
    below: NDArray[np.float64]
    base: NDArray[np.int64]

    @property
    def parents(self) -> NDArray[np.int64]:
        """The sets with the required parents, as ascending rows."""
        if not len(self.base):
            return self.sets
        base = np.broadcast_to(self.base, (len(self.sets), len(self.base)))
        return np.sort(np.concatenate([self.sets, base], axis=1), axis=1)

    def only(self, rows: NDArray[np.bool_]) -> Grown:
        """Return some of the sets."""
        return replace(self, sets=self.sets[rows], subsets=self.subsets[rows], below=self.below[rows])


class Rules(Protocol):
    """Prunes sets before they are scored; `cuts` says whether there is any rule."""

    cuts: bool

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Receive the scores of the children with their required parents only."""

    def screen(self, grown: Sequence[Grown], watch: Watch) -> list[Grown]:
        """The sets of the next level that no rule cuts."""

    def remember(self, scored: Grown, scores: NDArray[np.float64]) -> None:
        """Receive the scores of a child's sets, which are now those alive."""

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Keep only some of a child's sets alive."""


def rules_for(score: LocalScore, allowed: NDArray[np.bool_], threads: Threads) -> Rules:
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

    def screen(self, grown: Sequence[Grown], watch: Watch) -> list[Grown]:  # noqa: ARG002
        """Keep everything."""
        return list(grown)

    def remember(self, scored: Grown, scores: NDArray[np.float64]) -> None:
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
        # By child: Σ n ln n over the cells of the sets that were screened last, and their penalties.
        self._fresh: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Compute the entropies given the required parents only."""
        prices, sums = np.empty(len(bases)), np.empty(len(bases))
        for width in {len(base) for base in bases}:
            children = [child for child, base in enumerate(bases) if len(base) == width]
            rows = np.stack([bases[child] for child in children])
            prices[children] = self._score.penalty(self._levels[children], self._score.cells(rows))
            sums[children] = self._score.joint_sums(rows)
        own = [slice(child, child + 1) for child in range(len(bases))]
        self._known = [Information(-(scores[one] + prices[one]), sums[one].copy()) for one in own]

    def _price(self, entry: Grown) -> NDArray[np.float64]:
        """The penalty t(P′) of each set."""
        return self._score.penalty(
            np.full(len(entry.sets), self._levels[entry.child]), self._score.cells(entry.parents)
        )

    def screen(self, grown: Sequence[Grown], watch: Watch) -> list[Grown]:
        """Prune by the entropies that are known, then by those from counts of the parent sets."""
        screened = self._threads.map(self._screen_by_child, grown)
        first, prices = [entry for entry, _ in screened], [price for _, price in screened]
        sizes = [len(entry.sets) for entry in first]
        if not sum(sizes):
            return []
        widths = {entry.parents.shape[1] for entry in first}
        sums: dict[int, NDArray[np.float64]] = {}
        for width in widths:
            chosen = [k for k, entry in enumerate(first) if entry.parents.shape[1] == width]
            different, place = unique_sets(
                np.concatenate([first[k].parents for k in chosen]), len(self._levels)
            )
            whole = self._score.joint_sums(different, watch)[place]
            start = 0
            for k in chosen:
                sums[k] = whole[start : start + sizes[k]]
                start += sizes[k]

        def screen_by_parents(k: int) -> Grown:
            entry, cells, price = first[k], sums[k], prices[k]
            uncut = self._uncut_by_parents(entry, cells, price)
            self._fresh[entry.child] = cells[uncut], price[uncut]
            return entry.only(uncut)

        return self._threads.map(screen_by_parents, range(len(first)))

    def _screen_by_child(self, entry: Grown) -> tuple[Grown, NDArray[np.float64]]:
        """The sets of one child that its own entropies do not cut, with their penalties."""
        price = self._price(entry)
        uncut = self._uncut_by_child(entry, price)
        return entry.only(uncut), price[uncut]

    def _uncut_by_child(self, entry: Grown, price: NDArray[np.float64]) -> NDArray[np.bool_]:
        uncut: NDArray[np.bool_] = entry.below + price < 0
        known = self._known[entry.child]
        for i in range(entry.sets.shape[1]):
            levels = self._levels[entry.sets[:, i]]
            uncut &= known.entropy[entry.subsets[:, i]] > (levels - 1) * price / levels
        return uncut

    def _uncut_by_parents(
        self, entry: Grown, cells: NDArray[np.float64], price: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        uncut = np.ones(len(entry.sets), dtype=np.bool_)
        known = self._known[entry.child]
        for i in range(entry.sets.shape[1]):
            levels = self._levels[entry.sets[:, i]]
            # m · H(Y | P) of the i-th column Y given the others.
            entropy = known.cells[entry.subsets[:, i]] - cells
            uncut &= entropy > (levels - 1) * price / levels
        return uncut

    def remember(self, scored: Grown, scores: NDArray[np.float64]) -> None:
        """Keep the entropies for the next level."""
        cells, price = self._fresh[scored.child]
        self._known[scored.child] = Information(-(scores + price), cells)

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Keep the entropies of some sets only."""
        known = self._known[child]
        self._known[child] = Information(known.entropy[rows], known.cells[rows])


class LikelihoodBound:
    """Gaussian BIC: no set fits better than all allowed parents together."""

    def __init__(self, score: GaussianBIC, allowed: NDArray[np.bool_]) -> None:
        self._score = score
        self._bounds = score.likelihood_bounds(allowed)
        self.cuts = bool(np.isfinite(self._bounds).all())

    def start(self, bases: Sequence[NDArray[np.int64]], scores: NDArray[np.float64]) -> None:
        """Nothing to do."""

    def screen(self, grown: Sequence[Grown], watch: Watch) -> list[Grown]:  # noqa: ARG002
        """Prune sets whose penalty alone is too high."""
        return [entry.only(self._uncut(entry)) for entry in grown]

    def _uncut(self, entry: Grown) -> NDArray[np.bool_]:
        parents = entry.sets.shape[1] + len(entry.base)
        price = self._score.price(np.array([parents]))[0]
        uncut: NDArray[np.bool_] = entry.below < self._bounds[entry.child] - price
        return uncut

    def remember(self, scored: Grown, scores: NDArray[np.float64]) -> None:
        """Nothing to do."""

    def select(self, child: int, rows: NDArray[np.bool_]) -> None:
        """Nothing to do."""
