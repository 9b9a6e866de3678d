"""Answers to questions: their numbers and their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import QueryError
from dagora.network.inference.question import Question, quote

Array = NDArray[np.float64]
Ends = tuple[float, float]
Interval = tuple[Array, Array]

FEWEST_EFFECTIVE = 30
"""Effective samples from which on the spread of the samples tells the error of their mean."""

MOST_LINES = 20
"""Lines of a distribution that are shown as text."""

MOST_PLAIN = 1e9
"""Ends of intervals that are written without an exponent."""


@dataclass(frozen=True)
class SampleEstimate:
    """The number of samples behind an estimated answer, their effective number, and the seed.

    >>> SampleEstimate(samples=1000, effective=800.0, seed=0).sentence
    'estimated from 1,000 weighted samples (as good as 800 without weights), seed 0'
    """

    samples: int
    effective: float
    seed: int

    @property
    def sentence(self) -> str:
        """The estimate as a sentence."""
        few = "" if self.reliable else ": too few to rely on, and to know the error"
        return (
            f"estimated from {self.samples:,} weighted samples (as good as {self.effective:,.0f} without "
            f"weights{few}), seed {self.seed}"
        )

    @property
    def reliable(self) -> bool:
        """True if a standard error can be computed from the samples."""
        return self.effective >= FEWEST_EFFECTIVE


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """The base of all answers: the question, its variables, and the estimate, if it is not exact."""

    question: Question
    variables: tuple[str, ...]
    estimated: SampleEstimate | None
    """None where the answer is exact."""
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """Lines about what the answer rests on."""

    @property
    def method(self) -> str:
        """`exact` or `sampling`."""
        return "exact" if self.estimated is None else "sampling"

    def lines(self) -> list[str]:
        """The answer as lines of text."""
        raise NotImplementedError

    def content(self) -> dict[str, Any]:
        """The numbers, as plain objects."""
        raise NotImplementedError

    def numbers(self) -> Array:
        """The numbers that rows leave uncertain; refused where there are none."""
        raise QueryError(f"{self.question} has no number that varies")

    def listed(self) -> list[tuple[str, float, float | None]]:
        """Labels with the numbers to compare, and standard errors where they were estimated."""
        raise QueryError(f"{self.question} has no number to compare")

    def with_row_uncertainty(self, errors: Array, interval: Interval) -> Answer:  # noqa: ARG002
        """The same answer with what comes from the rows."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain lists, texts and numbers, as JSON has them."""
        document: dict[str, Any] = {"question": str(self.question), "method": self.method}
        if self.estimated is not None:
            document |= {
                "samples": self.estimated.samples,
                "effective_samples": self.estimated.effective,
                "seed": self.estimated.seed,
            }
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {**document, "variables": list(self.variables), **self.content(), **notes}

    def __repr__(self) -> str:
        end = [] if self.estimated is None else [self.estimated.sentence]
        lines = [*self.lines(), *end, *(f"note: {line}" for line in self.notes)]
        return "\n".join([f"{self.question}", *(f"  {line}" for line in lines)])


def uncertainty(rows: Ends | None, simulation: float | None, graphs: Ends | None) -> str:
    """Describe the uncertainty of a number by where it comes from.

    >>> uncertainty((0.221, 0.304), None, (0.262, 0.45))
    '  95 % interval from the rows 0.221 to 0.304, 0.262 to 0.45 over the graphs that fit equally well'
    >>> uncertainty(None, 0.0013, None), uncertainty(None, None, None)
    ('  ± 0.0013 from the simulation', '')
    """
    parts = [] if rows is None else [f"95 % interval from the rows {show_ends(rows)}"]
    parts += [] if simulation is None else [f"± {simulation:.2g} from the simulation"]
    if graphs is not None and f"{graphs[0]:.3g}" != f"{graphs[1]:.3g}":
        parts.append(f"{graphs[0]:.3g} to {graphs[1]:.3g} over the graphs that fit equally well")
    return f"  {', '.join(parts)}" if parts else ""


def named_ends(kind: str, interval: Interval | None) -> dict[str, Array]:
    """The ends of an interval under the names that they have in JSON; nothing where there is none."""
    return {} if interval is None else {f"{kind}_low": interval[0], f"{kind}_high": interval[1]}


def show_ends(ends: Ends) -> str:
    """The ends of an interval, to two digits of its width.

    >>> show_ends((0.22111, 0.30444)), show_ends((120381.2, 124201.9)), show_ends((0.5, 0.5))
    ('0.221 to 0.304', '120381 to 124202', '0.5 to 0.5')
    """
    low, high = ends
    if low == high or max(abs(low), abs(high)) > MOST_PLAIN:
        return f"{low:.6g} to {high:.6g}"
    digits = max(0, 1 - floor(log10(high - low)))
    return f"{low:.{digits}f} to {high:.{digits}f}"


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Answer):
    """Probabilities of the levels of discrete variables, or of one event.

    `table` has one axis per variable; `probabilities` is the same by level, or by levels where there are
    several variables. Of an event such as P(a=yes), only its own levels are listed.
    """

    levels: Mapping[str, tuple[str, ...]]
    table: Array
    standard_errors: Array | None = None
    """Standard errors of the simulation, where the answer was estimated."""
    row_errors: Array | None = field(default=None, kw_only=True)
    """Posterior standard deviations: the uncertainty that comes from the rows, given the graph."""
    row_interval: Interval | None = field(default=None, kw_only=True)
    """The ends of an interval that has a posterior probability of 95 %, given the graph."""
    class_range: Interval | None = field(default=None, kw_only=True)
    """Smallest and largest values over the graphs that fit the data equally well."""

    @property
    def probabilities(self) -> dict[Any, float]:
        """Each level with its probability."""
        return dict(zip(self._keys(), self._numbers(self.table), strict=True))

    @property
    def errors(self) -> dict[Any, float]:
        """Each level with the standard error of its probability; empty where the answer is exact."""
        if self.standard_errors is None:
            return {}
        return dict(zip(self._keys(), self._numbers(self.standard_errors), strict=True))

    def numbers(self) -> Array:
        """The whole table."""
        return self.table

    def listed(self) -> list[tuple[str, float, float | None]]:
        """Each level, or the event, with its probability."""
        event = self.question.event
        shown = [", ".join(key) if isinstance(key, tuple) else key for key in self.probabilities]
        labels = [""] if event else shown
        return list(
            zip(labels, self.probabilities.values(), self._numbers_or_none(self.standard_errors), strict=True)
        )

    def with_row_uncertainty(self, errors: Array, interval: Interval) -> Distribution:
        """The same answer with what comes from the rows; chances stay between 0 and 1."""
        low, high = (np.clip(end, 0, 1) for end in interval)
        return replace(self, row_errors=errors, row_interval=(low, high))

    def _keys(self) -> list[Any]:
        event = self.question.event
        lists = [[str(event[name])] if name in event else self.levels[name] for name in self.variables]
        return [key if len(key) > 1 else key[0] for key in product(*lists)]

    def _numbers(self, table: Array) -> list[float]:
        event = self.question.event
        index = tuple(
            [self.levels[name].index(str(event[name]))]
            if name in event
            else list(range(len(self.levels[name])))
            for name in self.variables
        )
        return [float(number) for number in table[np.ix_(*index)].reshape(-1)]

    def _numbers_or_none(self, table: Array | None) -> list[float | None]:
        return [None] * len(self.probabilities) if table is None else [*self._numbers(table)]

    def _ends(self, interval: Interval | None) -> list[Ends | None]:
        if interval is None:
            return [None] * len(self.probabilities)
        return [*zip(*(self._numbers(table) for table in interval), strict=True)]

    def lines(self) -> list[str]:
        """A line per level, with its probability."""
        further = zip(
            self._ends(self.row_interval),
            self._numbers_or_none(self.standard_errors),
            self._ends(self.class_range),
            strict=True,
        )
        rows = [
            (
                ", ".join(
                    f"{name}={quote(level)}" for name, level in zip(self.variables, levels, strict=True)
                ),
                f"{share:.6g}" + uncertainty(*more),
            )
            for (key, share), more in zip(self.probabilities.items(), further, strict=True)
            for levels in [key if isinstance(key, tuple) else (key,)]
        ]
        wide = max(len(left) for left, _ in rows[:MOST_LINES])
        shown = [f"{left:<{wide}}  {right}" for left, right in rows[:MOST_LINES]]
        return shown + ([f"… {len(rows) - MOST_LINES} more"] if len(rows) > MOST_LINES else [])

    def content(self) -> dict[str, Any]:
        """Levels, probabilities, and their uncertainty."""
        parts = {
            "standard_error": self.standard_errors,
            "row_error": self.row_errors,
            **named_ends("row", self.row_interval),
            **named_ends("class", self.class_range),
        }
        columns = {name: self._numbers(table) for name, table in parts.items() if table is not None}
        return {
            "probabilities": [
                {
                    "levels": list(key) if isinstance(key, tuple) else [key],
                    "probability": share,
                    **{name: numbers[place] for name, numbers in columns.items()},
                }
                for place, (key, share) in enumerate(self.probabilities.items())
            ]
        }


@dataclass(frozen=True, eq=False, repr=False)
class Density(Answer):
    """The distribution of continuous variables: a normal distribution, or a mixture of several.

    `weights[k]`, `means[k]` and `covariances[k]` are those of component k.
    """

    weights: Array
    means: Array
    covariances: Array
    standard_errors: Array | None = None
    """Standard errors of the simulation in the overall mean, where it was estimated."""
    row_errors: Array | None = field(default=None, kw_only=True)
    """Posterior standard deviations of the mean: what comes from the rows, given the graph."""
    row_interval: Interval | None = field(default=None, kw_only=True)
    """The ends of an interval that has a posterior probability of 95 %, given the graph."""
    class_range: Interval | None = field(default=None, kw_only=True)
    """Smallest and largest means over the graphs that fit the data equally well."""

    @property
    def mean(self) -> dict[str, float]:
        """The expected value of each variable."""
        return dict(zip(self.variables, (self.weights @ self.means).tolist(), strict=True))

    @property
    def covariance(self) -> Array:
        """The covariance of the variables, of all components together."""
        off = self.means - self.weights @ self.means
        inside = np.tensordot(self.weights, self.covariances, axes=1)
        return np.asarray(inside + np.einsum("k,ki,kj->ij", self.weights, off, off))

    @property
    def sd(self) -> dict[str, float]:
        """The standard deviation of each variable."""
        spread = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return dict(zip(self.variables, spread.tolist(), strict=True))

    def numbers(self) -> Array:
        """The means."""
        return np.asarray(self.weights @ self.means)

    def listed(self) -> list[tuple[str, float, float | None]]:
        """Each variable with its mean."""
        errors = (
            [None] * len(self.variables) if self.standard_errors is None else self.standard_errors.tolist()
        )
        return [
            (f"mean of {name}", mean, error)
            for (name, mean), error in zip(self.mean.items(), errors, strict=True)
        ]

    def with_row_uncertainty(self, errors: Array, interval: Interval) -> Density:
        """The same answer with what comes from the rows."""
        return replace(self, row_errors=errors, row_interval=interval)

    def lines(self) -> list[str]:
        """Mean and standard deviation of each variable, and the components."""
        mean, sd = self.mean, self.sd
        wide = max(len(name) for name in self.variables)
        shown = []
        for place, name in enumerate(self.variables):
            rows, graphs = (
                None if ends is None else (float(ends[0][place]), float(ends[1][place]))
                for ends in (self.row_interval, self.class_range)
            )
            simulation = None if self.standard_errors is None else float(self.standard_errors[place])
            further = uncertainty(rows, simulation, graphs)
            shown.append(f"{name:<{wide}}  mean {mean[name]:.6g}{further}  sd {sd[name]:.6g}")
        if len(self.weights) > 1:
            shown.append(f"a mixture of {len(self.weights)} normal distributions:")
            for k in np.argsort(-self.weights, kind="stable")[:MOST_LINES]:
                parts = ", ".join(
                    f"{name} mean {self.means[k, i]:.6g} sd {max(self.covariances[k, i, i], 0.0) ** 0.5:.6g}"
                    for i, name in enumerate(self.variables)
                )
                shown.append(f"  weight {self.weights[k]:.4g}: {parts}")
            if len(self.weights) > MOST_LINES:
                shown.append(f"  … {len(self.weights) - MOST_LINES} more")
        return shown

    def content(self) -> dict[str, Any]:
        """Mean, standard deviation, covariance and components."""
        document: dict[str, Any] = {"mean": self.mean, "sd": self.sd, "covariance": self.covariance.tolist()}
        parts = {
            "row_errors": self.row_errors,
            **named_ends("row", self.row_interval),
            **named_ends("class", self.class_range),
        }
        for key, part in parts.items():
            if part is not None:
                document[key] = dict(zip(self.variables, part.tolist(), strict=True))
        if self.standard_errors is not None:
            document["standard_errors"] = dict(
                zip(self.variables, self.standard_errors.tolist(), strict=True)
            )
        else:
            document["components"] = [
                {"weight": float(weight), "mean": mean.tolist(), "covariance": covariance.tolist()}
                for weight, mean, covariance in zip(self.weights, self.means, self.covariances, strict=True)
            ]
        return document


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Answer):
    """The most probable levels (or values) of the variables together, and their joint probability.

    It is given the evidence. Of continuous variables, `probability` is None: they have a density.
    """

    most_probable: Mapping[str, str | float]
    probability: float | None

    def lines(self) -> list[str]:
        """A line per variable, and the probability."""
        wide = max(len(name) for name in self.variables)
        shown = [
            f"{name:<{wide}}  {value if isinstance(value, str) else format(value, '.6g')}"
            for name, value in self.most_probable.items()
        ]
        return shown if self.probability is None else [*shown, f"together {self.probability:.6g}"]

    def content(self) -> dict[str, Any]:
        """Levels and their joint probability."""
        return {"most_probable": dict(self.most_probable), "probability": self.probability}
