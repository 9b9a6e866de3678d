"""Effects over sites: from joint counts of discrete columns, or moments of continuous ones.

The joint counts of x, y and an adjustment set are its rows, except for their order: so the estimators of rows
answer from them. Of continuous columns, moments give the slopes, and products of four columns the robust
standard errors; a row's leverage is no sum, so that all rows have the mean one. Which sets are asked for
follows from the graph and the question alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast, value_text
from dagora.effects.effect_rows import EffectRows
from dagora.effects.effect_source import OfferedSet
from dagora.effects.linear import ONE_SLOPE, no_variation, student, with_hidden_cause
from dagora.effects.noisy_effects import NoisySource
from dagora.effects.overlap import refuse_too_few
from dagora.effects.result import Effect
from dagora.effects.set_estimate import SetEstimate, Support
from dagora.effects.slope_sums import fit_slopes
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.session.fourth_sums import MOST_COLUMNS, FourthMoments
from dagora.parties.privacy.terms import PrivacyTerms

MOST_ROWS = 1 << 26
"""Rows that are made of joint counts."""
WORTH_TELLING = 0.01  # share of a variance that rounding may move
MUCH_LEVERAGE = 0.55  # of a row: its residual counts more than twice in HC3
LONGEST_GRAPH = 8000  # characters of a graph in a plan; of a longer one, the plan has a hash
Names = tuple[str, ...]


def table_columns(schema: Schema, contrast: EffectContrast, adjust: Sequence[str]) -> Names:
    """The columns of the joint counts for an adjustment set, in the order of the codebook."""
    needed = {*contrast.x, contrast.y, *adjust, *contrast.given}
    return tuple(name for name in schema.names if name in needed)


def regression_columns(contrast: EffectContrast, adjust: Sequence[str]) -> Names:
    """The columns of the regression for an adjustment set: the outcome, the set, and what is set."""
    return (contrast.y, *adjust, *contrast.x)


@dataclass
class WantedSets:
    """A source that writes down which sets are asked for, and gives no estimates."""

    schema: Schema
    sets: dict[Names, None] = field(default_factory=dict)
    n_rows: int = 0

    @property
    def names(self) -> Names:
        """The columns of the codebook."""
        return self.schema.names

    def offer(self, graph: AnyGraph, contrast: EffectContrast, adjust: Names) -> OfferedSet:  # noqa: ARG002
        """Write down a set."""
        columns = table_columns(self.schema, contrast, adjust)
        discrete = refuse_both_kinds(self.schema, contrast, columns)
        if not discrete and len(columns) > MOST_COLUMNS:
            raise OptionError(
                f"a regression over sites has at most {MOST_COLUMNS} columns, not {len(columns)}"
            )
        self.sets[columns if discrete else regression_columns(contrast, adjust)] = None
        nothing = SetEstimate(dict, lambda _number, _rng: np.zeros((0, 1)), Support(0), "")
        # Of discrete columns also the second set is asked for: strata decide which one is taken.
        return OfferedSet(adjust, 0, 0.0 if discrete else 1.0, lambda _seed: nothing)


def refuse_both_kinds(schema: Schema, contrast: EffectContrast, columns: Sequence[str]) -> bool:
    """Return True if all columns are discrete, False if all are continuous; both kinds are refused."""
    discrete = [name for name in columns if schema[schema.index(name)].kind is Kind.DISCRETE]
    if 0 < len(discrete) < len(columns):
        number = next(name for name in columns if name not in discrete)
        what = "a regression of rows" if contrast.event is None else "a logistic regression of rows"
        raise RowsUnavailableError(
            f"the effect on {contrast.outcome} with '{discrete[0]}' (discrete) and '{number}' (continuous) "
            f"needs {what}, which the sites keep: cut '{number}' into levels in the codebook (cuts), or "
            "adjust for columns of one kind"
        )
    return bool(discrete)


@dataclass(frozen=True)
class SiteQuestion:
    """A question about an effect over sites: all that a plan says about it.

    `sets` are the joint tables or regressions that the effect by the graph, or over its class, may need;
    `codebook` has their columns and no others. No sets: the graph says that there is no effect.
    """

    graph: AnyGraph
    contrast: EffectContrast
    codebook: Codebook
    sets: tuple[Names, ...]

    @classmethod
    def of(cls, graph: AnyGraph, contrast: EffectContrast, codebook: Codebook) -> SiteQuestion:
        """Find what must be asked; nothing but the graph and the question decides that."""
        wanted = WantedSets(codebook.schema)
        effect_by_graph(graph, wanted, contrast)
        needed = {name for names in wanted.sets for name in names} or {*contrast.x, contrast.y}
        columns = tuple(coding for coding in codebook if coding.name in needed)
        sets = tuple(wanted.sets)
        if not Codebook(columns).continuous:  # a table holds those of some of its columns
            sets = tuple(names for names in sets if not any(set(names) < set(others) for others in sets))
        return cls(graph, contrast, Codebook(columns), sets)

    @property
    def settings(self) -> dict[str, Any]:
        """The question in words, and the graph, as a plan has them."""
        listed = [f"{tail} → {head}" for tail, head in self.graph.edges]
        if isinstance(self.graph, CPDAG):
            listed += [f"{one} — {other}" for one, other in self.graph.undirected]
        text = json.dumps(listed, ensure_ascii=False)
        if len(text) > LONGEST_GRAPH or isinstance(self.graph, PAG):
            marks = json.dumps([self.graph.nodes, self.graph.to_numpy().tolist()])
            return {"question": self.contrast.to_text(), "graph": sha256(marks.encode()).hexdigest()}
        return {"question": self.contrast.to_text(), "graph": listed}

    def answer_from_release(
        self, terms: PrivacyTerms, sums: NDArray[np.int64], notes: Sequence[str] = (), seed: int = 0
    ) -> Effect:
        """The effect from one release with noise."""
        source = NoisySource(terms, self.codebook, self.contrast, sums)
        found = effect_by_graph(self.graph, source, self.contrast, notes, seed)
        return replace(found, notes=(*found.notes, *terms.describe()))

    def answer(self, federation: Federation | None, notes: Sequence[str] = (), seed: int = 0) -> Effect:
        """Ask the sites, and tell the effect; where there are no sets, nobody is asked."""
        source = EffectSites(federation, self.codebook, self.contrast, self.sets)
        return effect_by_graph(self.graph, source, self.contrast, notes, seed)


@dataclass(frozen=True)
class EffectSites:
    """Sums over sites as a source of effects; `sets` are those that the plan names."""

    federation: Federation | None
    codebook: Codebook
    contrast: EffectContrast
    sets: tuple[Names, ...]

    @property
    def names(self) -> Names:
        """The columns of the plan."""
        return self.codebook.schema.names

    @property
    def n_rows(self) -> int:
        """The number of rows of all sites."""
        if not self.sets:
            return 0
        return (
            self._moments[0].moments.n
            if self.codebook.continuous
            else next(iter(self._tables.values())).n_rows
        )

    def offer(self, graph: AnyGraph, contrast: EffectContrast, adjust: Names) -> OfferedSet:
        """The support and the estimate that the sums offer for an effect adjusted for a set."""
        if not self.codebook.continuous:
            columns = table_columns(self.codebook.schema, contrast, adjust)
            held = next(names for names in self.sets if set(columns) <= set(names))
            return EffectRows(self._tables[held].select(columns)).offer(graph, contrast, adjust)
        place = self.sets.index(regression_columns(contrast, adjust))
        return OfferedSet(adjust, self.n_rows, 1.0, lambda _seed: self._estimate(place))

    @property
    def _sites(self) -> Federation:
        assert self.federation is not None, "a question without sets asks nobody"
        return self.federation

    @cached_property
    def _tables(self) -> Mapping[Names, Table]:
        schema = self.codebook.schema
        places = [tuple(map(schema.index, names)) for names in self.sets]
        sizes = [prod(int(schema.cardinalities[place]) for place in some) for some in places]
        sums = self._sites.counts(places)
        ends = np.cumsum([0, *sizes])
        return {
            names: rows_of_counts(schema, some, sums[start:stop])
            for names, some, (start, stop) in zip(self.sets, places, pairwise(ends), strict=True)
        }

    @cached_property
    def _moments(self) -> list[FourthMoments]:
        places = [tuple(map(self.names.index, names)) for names in self.sets]
        return self._sites.fourth_moments(places)

    def _estimate(self, place: int) -> SetEstimate:
        names, found, contrast = self.sets[place], self._moments[place], self.contrast
        steps = [float(to) - float(base) for to, base in zip(contrast.to, contrast.base, strict=True)]
        refuse_too_few(found.moments.n, len(names))
        for name, scatter in zip(names, np.diag(found.moments.scatter).tolist(), strict=True):
            if scatter <= 0 and name == contrast.y:
                raise DataError(f"{name} never changes, so that nothing can be told of what changes it")
            if scatter <= 0 and name in contrast.x:
                raise DataError(f"{name} never changes, so that no row tells its effect")
        fit = fit_slopes(found.moments)
        if not fit.kept[len(fit.kept) - len(steps) :].all():
            raise DataError(no_variation(contrast, names[1 : len(names) - len(steps)]))
        weights = np.concatenate([np.zeros(len(fit.kept) - len(steps)), steps])
        value, variance, t = fit.combine(weights, found.fourth)
        notes = self._beyond_ranges()
        rounding, leverage = fit.rounding(weights, found.fourth), fit.largest_leverage(found.fourth)
        if rounding > WORTH_TELLING * variance:
            variance += rounding
            notes.append("columns nearly determine each other: the interval is wider, as sums are rounded")
        elif leverage > MUCH_LEVERAGE:
            notes.append(
                f"single rows may have a leverage of up to {leverage:.2g}: the interval of the rows "
                "themselves (HC3) may be far wider"
            )
        support = Support(fit.n, notes=tuple(notes))
        estimate = student(value, variance, fit.freedom, support, (ONE_SLOPE,))
        return with_hidden_cause(estimate, t if len(contrast.x) == 1 else None, fit.freedom)

    def _beyond_ranges(self) -> list[str]:
        """Values compared that no site can have."""
        notes = []
        for name, *values in zip(self.contrast.x, self.contrast.to, self.contrast.base, strict=True):
            coding = self.codebook.get(name)
            if coding is not None and not self.contrast.per_unit:
                notes += [
                    f"extrapolation: {name}={value_text(value)} is outside the codebook's range, "
                    f"{value_text(coding.low)} to {value_text(coding.high)}"
                    for value in values
                    if not coding.low <= float(value) <= coding.high
                ]
        return notes


def rows_of_counts(schema: Schema, places: Sequence[int], counts: NDArray[np.int64]) -> Table:
    """A table of rows with these joint counts; the first column varies slowest.

    >>> from dagora.data.schema import Variable
    >>> schema = Schema([Variable(name, Kind.DISCRETE, ("no", "yes")) for name in "ab"])
    >>> rows_of_counts(schema, [0, 1], np.array([1, 0, 2, 0])).codes(0).tolist()
    [0, 1, 1]
    """
    rows = int(counts.sum())
    if rows > MOST_ROWS:
        raise OptionError(f"there are {rows} rows over all sites: an effect takes at most {MOST_ROWS}")
    shape = [int(schema.cardinalities[place]) for place in places]
    cells = np.unravel_index(np.repeat(np.arange(len(counts)), counts), shape)
    own = Schema([schema[place] for place in places])
    return Table(own, tuple(codes.astype(np.uint16) for codes in cells))
