"""Tests of links where some variables are contexts of series, and others may be hidden (Günther et al. 2023).

A context of series stays the same in each series, a context of steps is the same in all series at each step;
nothing in the series acts on either. Hidden contexts of a kind are represented by a dummy: a block of
indicators, one for each series or each step. Given the dummy, all contexts of its kind are constant.

- A link of two variables of the series is tested given all dummies: no hidden context confounds it.
- A dummy and a variable are tested by the F test of the whole block: how much less of the variable is left
  once it is centred.
- A context and a variable are tested given the other dummy. A link that is left is reviewed: where series (or
  steps) differ by more than contexts explain, these differences are the noise that a context is judged by.
  There are as many of them as series, however many windows there are. `POOLED` decides that.

As dummies are roots, giving one that nothing depends on changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run
from dagora.learners.time.gaussian_links import GaussianLinks
from dagora.learners.time.link_tests import Given, Link, LinkTests, TestedLink
from dagora.learners.time.momentary_skeleton import MomentaryLinks, Pair
from dagora.learners.time.named_links import sets_beside
from dagora.scores.gaussian import COLLINEAR
from dagora.stats.centred import SERIES, STEPS

Floats = NDArray[np.float64]
Blocks = frozenset[str]
# Differences between series count as noise of a context where their p-value is below (Bancroft 1964).
POOLED = 0.25


@dataclass(frozen=True)
class Cast:
    """The variables by kind: those of the series first, then contexts, then a dummy for each of `hidden`.

    kinds: of each context, `SERIES` or `STEPS`
    """

    system: tuple[str, ...]
    contexts: tuple[str, ...]
    kinds: tuple[str, ...]
    hidden: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of all variables."""
        return len(self.system) + len(self.contexts) + len(self.hidden)

    @property
    def observed(self) -> tuple[str, ...]:
        """The names of columns."""
        return (*self.system, *self.contexts)

    def kind(self, node: int) -> str:
        """The kind of a context or dummy; "" of a variable of the series."""
        kinds = (*("",) * len(self.system), *self.kinds, *self.hidden)
        return kinds[node % self.count]

    def is_dummy(self, node: int) -> bool:
        """Return True for the node of a dummy."""
        return node % self.count >= len(self.observed)

    def beside(self, kind: str) -> Blocks:
        """The dummies but that of a kind, which is "" for all."""
        return frozenset(self.hidden) - {kind}

    def varies(self, node: int, by: Blocks) -> bool:
        """Return True if a node is a column that some dummies do not determine."""
        return not self.is_dummy(node) and self.kind(node) not in by


class BlockTests(Protocol):
    """Tests of a context or dummy and a variable, given the dummies beside that of their kind."""

    def p_value(self, context: int, effect: int, given: Given) -> tuple[float, float | None]:
        """The p-value, and the partial correlation if there is one."""

    def p_among_blocks(self, context: int, effect: int, given: Given) -> float:
        """The p-value of a context, judged by what differs between series or steps where that is more."""


class ContextLinks:
    """Tests of links by the kind of their cause; `by` has tests given sets of dummies."""

    def __init__(self, cast: Cast, by: Mapping[Blocks, LinkTests], blocks: BlockTests, alpha: float) -> None:
        self._cast, self._by, self._blocks, self._alpha = cast, by, blocks, alpha
        self.count = len(cast.contexts) + len(cast.hidden)
        self.max_given = min(tests.max_given for tests in by.values())

    def ends(self, link: Link) -> tuple[int, int]:
        """The context of a link and the other end; of a link of the series, cause and effect."""
        return (link.effect, link.cause) if self._cast.kind(link.effect) else (link.cause, link.effect)

    def trim(self, link: Link) -> Link:
        """Leave out what the dummies determine; sets of a context's link are near its other end."""
        kind = self._cast.kind(self.ends(link)[0])
        by = self._cast.beside(kind)
        base, near, others = (
            tuple(node for node in some if self._cast.varies(node, by))
            for some in (link.base, link.near, link.near_cause)
        )
        if self._cast.kind(link.effect):
            near = others
        return Link(link.cause, link.effect, base, near, () if kind else others)

    def given_strongest(self, effect: int, parents: Sequence[int], size: int) -> tuple[Floats, Floats]:
        """Each parent is tested among those that are tested given the same dummies."""
        p, strengths = np.full((2, len(parents)), np.nan)
        for kind in ("", SERIES, STEPS):
            by = self._cast.beside(kind)
            some = [node for node in parents if self._cast.varies(node, by)]
            wanted = [at for at, node in enumerate(parents) if self._cast.kind(node) == kind]
            if not wanted:
                continue
            values = self._by[by].given_strongest(effect, some, min(size, len(some) - 1))
            place = {node: at for at, node in enumerate(some)}
            for at in wanted:
                p[at], strengths[at] = (found[place[parents[at]]] for found in values)
        return p, strengths

    def given_sets(self, link: Link, size: int, run: Run) -> TestedLink:
        """Test a link, which is trimmed."""
        context, effect = self.ends(link)
        if not self._cast.kind(context):
            return self._by[self._cast.beside("")].given_sets(link, size, run)
        found = TestedLink()
        if len(link.base) + size > self.max_given:
            return found
        for some in sets_beside(link, size):
            if found.tests and run.budget.exhausted:
                found.finished = False
                break
            p, value = self._blocks.p_value(context, effect, (*link.base, *some))
            one = TestedLink(p, value, some, int(p > self._alpha), 1)
            one.votes = dict.fromkeys(some, 1) if p > self._alpha else {}
            found.add(one)
        return found

    def review(self, links: MomentaryLinks) -> Iterator[Pair]:
        """Links of contexts that do not stand out among what differs between series, or steps."""
        for pair in list(links.pairs()):
            link = links.link(*pair)
            context, effect = self.ends(link)
            if self._cast.is_dummy(context) or self._cast.kind(context) not in self._cast.hidden:
                continue
            p = self._blocks.p_among_blocks(context, effect, (*link.base, *link.near))
            links.tests += 1
            if p > self._alpha:
                links.separating[pair] = link.near
                yield pair
            elif p > links.weakest[pair].p:
                links.weakest[pair].p = p


class Centred(NamedTuple):
    """Moments given some dummies, as columns of a window of all variables; `rows` are those that are left."""

    correlations: Floats
    rows: int

    @property
    def max_given(self) -> int:
        """A test needs four rows more than conditioning columns."""
        return self.rows - 4


class VarianceTests:
    """F tests from sums of squares that are left given columns, `inside` all dummies and `outside` one less.

    `scatters` are sums of products of all columns of a window, zero for what the dummies determine.
    """

    def __init__(self, cast: Cast, scatters: Mapping[Blocks, Floats], rows: Mapping[Blocks, int]) -> None:
        self._cast, self._scatters, self._rows = cast, scatters, rows

    def p_value(self, context: int, effect: int, given: Given) -> tuple[float, float | None]:
        """The F test of a dummy, and the same of a partial correlation."""
        outside = self._cast.beside(self._cast.kind(context))
        if self._cast.is_dummy(context):
            left = float(self._left(outside, (effect,), given)[0, 0])
            return self._p_of_blocks(context, effect, given, left)[0], None
        value, left = self._correlation(outside, context, effect, given)
        p = p_of(left * value**2 / (1 - value**2), 1, left, self._rows[outside] - len(given) - 2)
        return p, None if np.isnan(value) else value

    def p_among_blocks(self, context: int, effect: int, given: Given) -> float:
        """The F test of a partial correlation with the differences that it leaves as noise."""
        outside = self._cast.beside(self._cast.kind(context))
        value, left = self._correlation(outside, context, effect, given)
        p, between, number = self._p_of_blocks(context, effect, (*given, context), left)
        if p > POOLED:
            return self.p_value(context, effect, given)[0]
        return p_of(left * value**2 / (1 - value**2), 1, between, number)

    def _p_of_blocks(self, context: int, effect: int, given: Given, left: float) -> tuple[float, float, int]:
        """The p-value of the dummy of a kind; what it explains of the `left` sum of squares; its size."""
        kind, inside = self._cast.kind(context), self._cast.beside("")
        rest = tuple(node for node in given if self._cast.varies(node, inside))
        within = float(self._left(inside, (effect,), rest)[0, 0])
        own = sum(self._cast.kind(node) == kind for node in given)
        number = self._rows[self._cast.beside(kind)] - self._rows[inside] - own
        between = max(0.0, left - within)
        if number <= 0:  # contexts tell the series apart: none of their differences is left
            return 1.0, between, number
        return p_of(between, number, within, self._rows[inside] - len(rest) - 1), between, number

    def _correlation(self, by: Blocks, context: int, effect: int, given: Given) -> tuple[float, float]:
        """The partial correlation, and the sum of squares of the effect that is left given all."""
        pair = self._left(by, (context, effect), given)
        if min(pair[0, 0], pair[1, 1]) <= 0.0:
            return float("nan"), float("nan")
        value = float(np.clip(pair[0, 1] / np.sqrt(pair[0, 0] * pair[1, 1]), -1.0, 1.0))
        return value, float(pair[1, 1]) * (1 - value**2)

    def _left(self, by: Blocks, nodes: Given, given: Given) -> Floats:
        """Sums of products of some nodes that are left given others; 0 for a node that these determine."""
        scatter = self._scatters[by]
        some, others = np.array(nodes), np.array(given, dtype=np.int64)
        across = scatter[np.ix_(others, some)]
        spread = np.sqrt(np.diag(scatter)[others])
        inner = scatter[np.ix_(others, others)] / np.outer(spread, spread)
        scaled = across / spread[:, None]
        found: Floats = (
            scatter[np.ix_(some, some)] - scaled.T @ np.linalg.pinv(inner, COLLINEAR, hermitian=True) @ scaled
        )
        found[np.diag(found) <= COLLINEAR * np.diag(scatter)[some]] = 0.0
        return found


def p_of(explained: float, number: int, left: float, freedom: int) -> float:
    """The p-value of an F test; NaN where nothing is left to test by.

    >>> round(p_of(5.0, 1, 10.0, 10), 3), p_of(1.0, 1, 0.0, 0)
    (0.049, nan)
    """
    from scipy.special import fdtrc

    if freedom <= 0 or not left > 0.0:
        return float("nan")
    return float(fdtrc(number, freedom, explained / number / (left / freedom)))


def tests_of_contexts(
    cast: Cast, scatters: Mapping[Blocks, Floats], rows: Mapping[Blocks, int], alpha: float
) -> ContextLinks:
    """Tests from sums of products given each set of dummies that tests need."""
    by = {
        blocks: GaussianLinks(Centred(correlations_of(scatter), rows[blocks]), alpha)
        for blocks, scatter in scatters.items()
    }
    return ContextLinks(cast, by, VarianceTests(cast, scatters, rows), alpha)


def correlations_of(scatter: Floats) -> Floats:
    """The correlations; columns that do not vary have none.

    >>> correlations_of(np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    spread = np.sqrt(np.diag(scatter))
    spread[spread == 0.0] = 1.0
    found: Floats = np.clip(scatter / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found
