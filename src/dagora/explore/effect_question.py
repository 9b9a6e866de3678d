"""A question of the page about an effect: checked before it goes to the process that computes it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dagora.base.errors import OptionError
from dagora.base.phrases import among, comma_list
from dagora.explore.asking import ExploreRequest, refuse_unknown
from dagora.graph.drawing import short_label

KEYS = ("cause", "outcome", "levels", "event", "averaged")


@dataclass(frozen=True)
class EffectQuestion:
    """Which effect, by the graph of a result or `averaged` over graphs.

    `levels` are the value that is set, and that instead of which; `event` is the level of a discrete outcome.
    """

    cause: str
    outcome: str
    levels: tuple[str | float, str | float] | None = None
    event: str | None = None
    averaged: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The message to the process that computes it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> EffectQuestion:
        """Undo `to_dict`."""
        levels = content["levels"]
        return cls(**{**content, "levels": None if levels is None else tuple(levels)})

    def command(self, asked: ExploreRequest, data: str, result: int) -> str:
        """The line that tells the same without the page, beside the saved result.

        >>> question = EffectQuestion("drug", "death", ("yes", "no"), "yes")
        >>> question.command(ExploreRequest(), "a.csv", 2)
        'dagora effect a.csv --from drug --to death=yes --levels yes,no --graph result-2.json'
        """
        to = self.outcome if self.event is None else f"{self.outcome}={self.event}"
        line = ["dagora", "effect", data, "--from", self.cause, "--to", to]
        line += [] if self.levels is None else ["--levels", comma_list(map(value_text, self.levels))]
        line += [] if self.averaged else ["--graph", f"result-{result}.json"]
        known = self.averaged and not asked.knowledge.is_empty
        line += ["--knowledge", "knowledge.json"] * known
        line += ["--seed", str(asked.seed)] * (asked.seed != 0)
        return shlex.join([*line, *asked.reading_words()])


def value_text(value: str | float) -> str:
    """A level as it is, a number as short as it can be."""
    return value if isinstance(value, str) else f"{value:.17g}"


def parse_effect(content: Mapping[str, Any], names: Collection[str]) -> EffectQuestion:
    """Check a question about the variables of a result.

    >>> parse_effect({"cause": "a", "outcome": "b", "levels": ["yes", "no"]}, ["a", "b"]).levels
    ('yes', 'no')
    >>> parse_effect({"cause": "a", "outcome": "a"}, ["a", "b"])
    Traceback (most recent call last):
    dagora.OptionError: 'a' cannot be both set and the outcome
    """
    refuse_unknown(content, KEYS, "a question about an effect")
    cause, outcome = (name_of(content, key, names) for key in ("cause", "outcome"))
    if cause == outcome:
        raise OptionError(f"'{cause}' cannot be both set and the outcome")
    event, averaged = content.get("event"), content.get("averaged", False)
    if event is not None and not isinstance(event, str):
        raise OptionError("event takes a level of the outcome")
    if not isinstance(averaged, bool):
        raise OptionError("averaged is true or false")
    return EffectQuestion(cause, outcome, levels_of(content.get("levels")), event, averaged)


def name_of(content: Mapping[str, Any], key: str, names: Collection[str]) -> str:
    """The name of a variable."""
    name = content.get(key)
    if not isinstance(name, str):
        raise OptionError(f"{key} takes the name of a variable")
    if name not in names:
        raise OptionError(f"there is no variable named '{short_label(name)}': {among(names)}")
    return name


def levels_of(content: object) -> tuple[str | float, str | float] | None:
    """Two values to compare; None where they are left to the library."""
    if content is None:
        return None
    if not isinstance(content, list) or len(content) != 2 or not all(map(is_value, content)):
        raise OptionError("levels takes two values of the cause: the one to set, and that instead of which")
    return content[0], content[1]


def is_value(value: object) -> bool:
    """Return True if something can be a level or a number."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)
