"""The methods and scores that fit a table, reasons against the others, and the default's choice."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dagora.base.options import Option
from dagora.data.columns.overview import LEFT_OUT, Overview
from dagora.data.schema import Kind
from dagora.learners.checks import reason_against_model
from dagora.learners.method import Method
from dagora.learners.registry import METHODS, method_named
from dagora.learners.search.auto import OWN_SECONDS, QUICK, WIDE
from dagora.scores.registry import SCORES, Score, default_score_of


class Fit:
    """A table, as far as it decides which methods fit.

    `numbers` is the overview of the same table for what takes numbers only: codes of few values are numbers
    there. `missing` is what the user wants to be done about missing values.
    """

    def __init__(self, usual: Overview, numbers: Overview, missing: str = "auto") -> None:
        self._discrete = first_discrete(usual)
        self._text = first_discrete(numbers)
        self._continuous = next((c.name for c in usual.columns if c.type == Kind.CONTINUOUS), "")
        holed = any(column.missing for column in usual.columns if column.type != LEFT_OUT)
        self._holes = missing in {"auto", "model"} and holed
        self.kinds = frozenset(Kind(c.type) for c in usual.columns if c.type != LEFT_OUT)
        self.columns = sum(c.type != LEFT_OUT for c in usual.columns)

    def reason_against(self, method: Method) -> str:
        """The reason why a method cannot be used on this page with this table; empty if it can."""
        if method.takes == "federation":
            return "for rows over sites: dagora federate"
        if method.in_time:
            return "for series: dagora learn --time COLUMN"
        if any(option.required for option in method.options):
            return "needs a file: dagora learn"
        for need in method.needs:
            if not need.is_installed:
                return f"needs {need.title}: {need.remedy}"
        numbers_only = method.own_objective and not method.takes_any_kind({})
        if numbers_only and self._text:
            return f"takes continuous columns only, and '{self._text}' is discrete"
        if self._holes and method.own_objective and not method.tests_seen_rows:
            return f"{reason_against_model(method, None, self.kinds)}, and cells are missing"
        return ""

    def reason_against_score(self, score: Score) -> str:
        """The same for a score."""
        if score.kind is Kind.CONTINUOUS and self._text:
            return f"takes continuous columns only, and '{self._text}' is discrete"
        if score.kind is Kind.DISCRETE and self._continuous:
            return f"takes discrete columns only, and '{self._continuous}' is continuous"
        if self._holes and not score.observed:
            return "needs complete rows, and cells are missing"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """All methods and scores, with the reasons against them, for the page."""
        return {
            "methods": [method_entry(method, self.reason_against(method)) for method in METHODS],
            "scores": [score_entry(score, self.reason_against_score(score)) for score in SCORES],
            "default_score": default_score_of(self.kinds).name if self.kinds else "",
            "advice": self.advice,
        }

    @property
    def advice(self) -> str:
        """Describe what the default does with this table."""
        if not self.kinds:
            return "No column is left to learn from."
        score = default_score_of(self.kinds).name
        kind = "discrete and continuous" if len(self.kinds) > 1 else str(next(iter(self.kinds)))
        ends = "It ends by itself"
        if self.columns <= QUICK:
            ends = "It ends by itself after a bounded amount of work"
        elif self.columns > WIDE:
            ends = f"It ends by itself after about {OWN_SECONDS / 60:.0f} minutes at the latest"
        return (
            f"{self.columns} {kind} columns: auto maximises {score}, by tabu search and then a search over "
            f"orders; {method_named('auto').promise.partition(';')[0]}. {ends}; Stop returns the best graph "
            "so far."
        )


def first_discrete(overview: Overview) -> str:
    """The first discrete column; empty where there is none."""
    return next((column.name for column in overview.columns if column.type == Kind.DISCRETE), "")


def method_entry(method: Method, reason: str) -> dict[str, Any]:
    """A method for the page."""
    return {
        "name": method.name,
        "summary": method.summary,
        "promise": method.promise,
        "reference": method.reference,
        "own_objective": method.own_objective,
        "needs_equivalence": method.needs_equivalence,
        "obeys": method.obeys,
        "returns": method.returns,
        "options": [option_entry(option) for option in method.options if option.type != "graph"],
        "why_not": reason,
    }


def score_entry(score: Score, reason: str) -> dict[str, Any]:
    """A score for the page."""
    return {
        "name": score.name,
        "summary": score.summary,
        "equivalent": score.equivalent,
        "options": [option_entry(option) for option in score.options],
        "why_not": reason,
    }


def option_entry(option: Option) -> dict[str, Any]:
    """An option for the page."""
    wanted = ("name", "type", "default", "summary", "low", "high", "choices", "words")
    return {key: value for key, value in asdict(option).items() if key in wanted}
