"""The sensitivity of an answer: parameters and pieces of evidence by how far they move it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dagora.base.files import json_text
from dagora.network.inference.answer import Answer

SHOWN = 15
"""Parameters that are shown as text."""


@dataclass(frozen=True)
class ParameterInfluence:
    """One parameter, its range, and the answer at both ends."""

    name: str
    value: float
    low: float
    high: float
    answer_low: float
    answer_high: float
    derivative: float
    """The change of the answer for a small change of the parameter, divided by it."""

    def swing(self, answer: float) -> float:
        """The largest distance of an end from the answer."""
        return max(abs(self.answer_low - answer), abs(self.answer_high - answer))

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "parameter": self.name,
            "value": self.value,
            "range": [self.low, self.high],
            "answers": [self.answer_low, self.answer_high],
            "derivative": self.derivative,
        }


@dataclass(frozen=True)
class EvidenceInfluence:
    """A piece of evidence, and the answer without it."""

    variable: str
    evidence: str
    answer_without: float

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {"variable": self.variable, "evidence": self.evidence, "answer_without": self.answer_without}


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """The moves of an answer with each parameter, strongest first, and without each piece of evidence.

    `spread` is the share of its value by which each parameter is moved down and up; the others of its row of
    a table keep their proportions. Parameters that do not move the answer are left out.
    """

    answer: Answer
    value: float
    spread: float
    parameters: tuple[ParameterInfluence, ...]
    evidence: tuple[EvidenceInfluence, ...]
    closed_form: bool
    """True where derivatives are exact; else they are central differences."""

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "question": str(self.answer.question),
            "answer": self.value,
            "spread": self.spread,
            "derivatives": "closed form" if self.closed_form else "central differences",
            "parameters": [one.to_dict() for one in self.parameters],
            "evidence": [one.to_dict() for one in self.evidence],
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        return json_text(self.to_dict())

    def lines(self) -> list[str]:
        """The strongest parameters and the evidence as lines of text."""
        lines = [f"answer {self.value:.6g}; each parameter is moved by {self.spread:.3g} of its value"]
        shown = self.parameters[:SHOWN]
        if not shown:
            lines.append("no parameter moves it")
        wide = max((len(one.name) for one in shown), default=0)
        for one in shown:
            ends = f"{one.answer_low:.6g} to {one.answer_high:.6g}"
            lines.append(
                f"{one.name:<{wide}}  {one.low:.4g} to {one.high:.4g}: {ends}  slope {one.derivative:.4g}"
            )
        if len(self.parameters) > SHOWN:
            lines.append(f"… {len(self.parameters) - SHOWN} more")
        order = sorted(self.evidence, key=lambda one: -abs(one.answer_without - self.value))
        lines += [f"without {one.evidence}: {one.answer_without:.6g}" for one in order]
        return lines

    def __repr__(self) -> str:
        return "\n".join([f"{self.answer.question}", *(f"  {line}" for line in self.lines())])
