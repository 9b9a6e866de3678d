"""J-PCMCI+: PCMCI+ for many series and their contexts, observed or hidden (Günther, Ninad & Runge 2023).

Contexts are recognised by their values: a column that stays the same in each series is a context of series
(the soil of a site), one that is the same in all series at each step a context of steps (the weather of a
region). They act on the variables of the series, and nothing in these acts on them. Whatever else differs
between series, or changes alike in all of them, is represented by dummies (`context_tests`), so that it joins
no variables of the series.

The search is that of PCMCI+. The paper tests contexts first, then dummies, then the rest given what was
found; here dummies are given wherever they could confound, which needs no order and no earlier decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, KnowledgeError, OptionError
from dagora.base.phrases import amount, some_of
from dagora.base.wording import col, option, setting
from dagora.data.schema import Kind, Schema, Variable
from dagora.graph.lagged_graph import lagged_name, window_names
from dagora.learners.constraint.named_tests import check_level, edges_left
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.time.context_tests import Cast, ContextLinks, tests_of_contexts
from dagora.learners.time.dynotears import check_window, edges_in_time
from dagora.learners.time.orientation_in_time import ColliderRule
from dagora.learners.time.pcmci_plus import REACH, FoundInTime, SearchLimits, search_in_time
from dagora.scores.usable_moments import refuse_discrete, refuse_duplicates, refuse_unusable
from dagora.stats.capabilities import capabilities_of
from dagora.stats.centred import SERIES, STEPS, CentredWindows
from dagora.stats.data_warnings import listing
from dagora.stats.lagged import SeriesStatistics
from dagora.stats.statistics import Moments, Statistics
from dagora.stats.windows import Windows

NAME = "jpcmci-plus"
OWNER = f"the method {NAME}"
# A column does not vary in a series, or at a step, if this share of its sum of squares is left.
ROUNDING = 1e-18
# A column of which a smaller share is left may be meant as a context: that is told.
NEARLY = 1e-3
# Dummies of series shift lagged effects by about 1 / (windows of a series): fewer are told.
SHORT = 30
# Rows that dummies must leave for a single test.
FEWEST = 5
# What a kind of context is, in words.
IN_WORDS = {SERIES: "the same all along each series", STEPS: "the same in all series at each step"}
HIDDEN = {SERIES: "differ between series", STEPS: "change alike in all series"}

Matrix = NDArray[np.bool_]


def jpcmci_plus(
    statistics: Statistics,
    run: Run,
    *,
    lags: int = 1,
    alpha: float = 0.01,
    hidden: str = "auto",
    collider_rule: ColliderRule = "majority",
    max_given: int | None = None,
    max_lagged: int | None = None,
) -> Outcome:
    """Learn a class of graphs in time from tests at level `alpha`, given contexts of series."""
    check_level(alpha)
    if capabilities_of(statistics).lagged is None:
        raise OptionError(f"{OWNER} learns from series: {option('time')} says which column holds the time")
    assert isinstance(statistics, SeriesStatistics)
    refuse_discrete(statistics.schema, OWNER)
    check_window(len(statistics.schema), REACH * lags, NAME)
    if int(statistics.panel.lengths.max()) < REACH * lags + 2:
        raise DataError(
            f"{OWNER} compares windows within series, which reach back twice the lags: some series needs "
            f"{REACH * lags + 2} steps that follow each other, and the longest has "
            f"{int(statistics.panel.lengths.max())}"
        )
    windows = Windows.of(statistics.panel, REACH * lags)
    centred = CentredWindows(windows)
    if centred.blocks(SERIES) < 2:
        raise OptionError(
            f"{OWNER} compares several series, and there is one: {option('series')} names the column that "
            "tells them apart; for one series take pcmci-plus"
        )
    dummies, told = choose_dummies(centred, hidden)
    cast, nearly = recognise(centred, windows.variables, dummies)
    told += nearly
    tests = tests_over(centred, cast, alpha)
    allowed, required = edges_of_contexts(run, cast, lags)
    found = search_in_time(
        tests,
        (*cast.observed, *dummies),
        allowed,
        required,
        SearchLimits(alpha, collider_rule, max_given, max_lagged),
        run,
        contexts=tests,
    )
    graph = found.graph(cast.observed, lags).reorder(window_names(statistics.schema.names, lags))
    findings = ContextFindings(found, cast)
    each = len(windows.ends) / centred.blocks(SERIES)
    if SERIES in dummies and each < SHORT:
        told.append(
            f"series have {each:.0f} windows on average: centring such short series shifts the effects of "
            "earlier steps, so edges from there may be wrong"
        )
    edges = len(graph.edges) + len(graph.undirected)
    windows_in_words = (
        f"{amount(len(windows.ends), 'window')} of {amount(REACH * lags + 1, windows.unit or 'step')}"
    )
    message = (
        f"{edges_left(edges, found.links.tests)}, by fisher-z and F tests at level {alpha:g}, on "
        f"{windows_in_words} in {centred.blocks(SERIES)} series; {'; '.join(findings.contexts_in_words())}"
    )
    if not found.links.finished:
        message = f"stopped early: {run.budget.reason}; there may be too many edges: {message}"
    return found.outcome(
        graph,
        message,
        len(windows.ends),
        [*windows.warnings, *told, *findings.cautions(centred)],
        {f"hidden_{kind}": float(len(findings.pointed_at(kind))) for kind in dummies},
    )


def choose_dummies(centred: CentredWindows, hidden: str) -> tuple[tuple[str, ...], list[str]]:
    """The kinds of hidden contexts, and what is told where not both are possible."""
    both = (SERIES, STEPS)
    left = len(centred) - centred.rank(frozenset(both)) - 1
    if hidden != "auto":
        chosen = {"both": both, "none": ()}.get(hidden, (hidden,))
        if len(centred) - centred.rank(frozenset(chosen)) < FEWEST:
            raise DataError(
                f"{setting('hidden', hidden)} leaves nothing to test: too few steps are in several series; "
                f"{setting('hidden', SERIES)} takes less"
            )
        return chosen, []
    if 2 * left > len(centred):
        return both, []
    said = (
        "hidden contexts that change alike in all series are not allowed for, as too few series share steps: "
        f"{setting('hidden', 'both')} would leave {left} of {len(centred)} windows to test with"
    )
    return (SERIES,), [said]


def recognise(
    centred: CentredWindows, names: Sequence[str], dummies: tuple[str, ...]
) -> tuple[Cast, list[str]]:
    """The variables of the series and the contexts, each sorted by name; and what is nearly a context."""
    whole = centred.spread[: len(names)]
    refuse_unusable(names, centred.mean[: len(names)], whole / len(centred), OWNER)
    kinds, told = {}, []
    for kind in (SERIES, STEPS):
        left = np.diag(centred.moments(frozenset({kind})).scatter)[: len(names)]
        if centred.rank(frozenset({kind})) < len(centred) - 1:  # else no two windows are of one block
            kinds.update({name: kind for at, name in enumerate(names) if left[at] <= ROUNDING * whole[at]})
            nearly = [
                names[at] for at in np.flatnonzero(left <= NEARLY * whole).tolist() if names[at] not in kinds
            ]
            if nearly:
                told.append(
                    f"{listing(nearly)} {'is' if len(nearly) == 1 else 'are'} nearly {IN_WORDS[kind]}, but "
                    "not exactly, and so taken as no context: round such a column if it is one"
                )
    contexts = tuple(sorted(kinds))
    system = tuple(sorted(set(names) - kinds.keys()))
    if not system:
        raise DataError(
            f"{OWNER} found contexts alone: no column changes within series and differs between them"
        )
    left = np.diag(centred.moments(frozenset(dummies)).scatter)
    for name in system:
        if left[names.index(name)] <= ROUNDING * whole[names.index(name)]:
            raise DataError(
                f"{col(name)} is the sum of a part that only depends on the series and one that only depends "
                f"on the step: leave it out ({option('drop', name)})"
            )
    return Cast(system, contexts, tuple(kinds[name] for name in contexts), dummies), told


def tests_over(centred: CentredWindows, cast: Cast, alpha: float) -> ContextLinks:
    """Tests from the moments given each set of dummies that a test needs."""
    slices = len(centred.names) // len(cast.observed)
    every = cast.beside("")
    scatters, rows = {}, {}
    for by in {every, *(every - {kind} for kind in (*cast.kinds, *cast.hidden))}:
        nodes = [
            lag * cast.count + at
            for lag in range(slices)
            for at in range(len(cast.observed))
            if cast.varies(at, by) and not (lag and cast.kind(at) == SERIES)
        ]
        names = [lagged_name(cast.observed[node % cast.count], node // cast.count) for node in nodes]
        place = [centred.names.index(name) for name in names]
        moments = centred.moments(by)
        scatter = moments.scatter[np.ix_(place, place)]
        schema = Schema(Variable(name, Kind.CONTINUOUS) for name in names)
        refuse_duplicates(Moments(moments.n, moments.mean[place], scatter), schema, OWNER)
        scatters[by] = np.zeros((slices * cast.count, slices * cast.count))
        scatters[by][np.ix_(nodes, nodes)] = scatter
        rows[by] = moments.n
    tests = tests_of_contexts(cast, scatters, rows, alpha)
    if tests.max_given < 0:
        raise DataError(f"{OWNER} cannot make a single test: there are too few windows")
    return tests


def edges_of_contexts(run: Run, cast: Cast, lags: int) -> tuple[Matrix, Matrix]:
    """The allowed and required edges into variables at the present; contexts and dummies have no causes."""
    seen, d, first = len(cast.observed), cast.count, len(cast.system)
    found = []
    for matrix in edges_in_time(run.knowledge, cast.observed, lags):
        edges = np.zeros((lags + 1, d, d), dtype=np.bool_)
        edges[:, :seen, :seen] = matrix[:, :seen].reshape(lags + 1, seen, seen)
        found.append(edges)
    allowed, required = found
    stays = [at for at in range(first, seen) if cast.kind(at) == SERIES]
    for at in range(first, seen):
        if required[:, :, at].any():
            name = cast.observed[at]
            raise KnowledgeError(f"a required edge leads to '{name}', which is a context: nothing acts on it")
    required[1:, stays] = False
    allowed |= required
    allowed[1:, stays] = False
    allowed[0, seen:, :first] = True
    allowed[:, :, first:] = False
    size = (lags + 1) * d
    return allowed.reshape(size, d), required.reshape(size, d)


@dataclass(frozen=True)
class ContextFindings:
    """The findings about contexts, in words."""

    found: FoundInTime
    cast: Cast

    def pointed_at(self, kind: str) -> list[str]:
        """The variables that hidden contexts of a kind act on."""
        dummy = len(self.cast.observed) + self.cast.hidden.index(kind)
        return [self.cast.system[at] for at in np.flatnonzero(self.found.links.within[dummy]).tolist()]

    def contexts_in_words(self) -> Iterator[str]:
        """Say which columns were recognised, and which variables the dummies point at."""
        for kind, words in IN_WORDS.items():
            names = [
                name for name, one in zip(self.cast.contexts, self.cast.kinds, strict=True) if one == kind
            ]
            if names:
                what = (
                    f"the context {listing(names)} is"
                    if len(names) == 1
                    else f"the contexts {listing(names)} are"
                )
                yield f"{what} {words}"
        if not self.cast.contexts:
            yield "no column is a context"
        for kind in self.cast.hidden:
            names = self.pointed_at(kind)
            if names:
                yield f"hidden contexts, which {HIDDEN[kind]}, act on {listing(names)}"
            else:
                yield f"no hidden contexts {HIDDEN[kind]}"

    def cautions(self, centred: CentredWindows) -> Iterator[str]:
        """Warnings of contexts that hidden ones may stand behind."""
        links, cast = self.found.links, self.cast
        for kind in cast.hidden:
            names = [name for name, one in zip(cast.contexts, cast.kinds, strict=True) if one == kind]
            blocks = centred.blocks(kind)
            if names and len(names) >= blocks - 1:
                yield (
                    f"{len(names)} contexts tell {blocks} {kind} apart: whether these or hidden contexts act "
                    "is not known"
                )
            moved = set(self.pointed_at(kind))
            doubtful = [
                f"{name} → {cast.system[effect]}"
                for name in names
                for effect in np.flatnonzero(
                    links.within[len(cast.system) + cast.contexts.index(name)]
                ).tolist()
                if cast.system[effect] in moved
            ]
            if doubtful:
                yield (
                    f"contexts that act together with hidden ones may stand for these: do not trust "
                    f"{some_of(doubtful, 5)}"
                )
