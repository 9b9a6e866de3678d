"""Requests of the page, checked by the same code as options of the command and of Python.

Nothing that the page sends names a file: options that take one are refused, and knowledge is an object.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dagora.base.errors import OptionError
from dagora.base.extras import require_all
from dagora.base.options import Option, check_options
from dagora.base.phrases import comma_list
from dagora.data.columns.reading_options import READING, ReadingOption, ReadingOptions, always
from dagora.graph.knowledge import Knowledge
from dagora.learners.checks import check_circumstances, named_score
from dagora.learners.method import Method
from dagora.learners.registry import method_named, methods_with
from dagora.posterior.resample.row_draws import check_number, way_for
from dagora.scores.registry import SCORES, score_named

KEYS = ("reading", "method", "score", "options", "knowledge", "seed", "time_limit", "bootstrap")
PLAIN = ("method", "score", "seed", "time_limit", "bootstrap", "jobs")


@dataclass(frozen=True)
class ExploreRequest:
    """A request to learn: how to read the table, what to run, what is known."""

    reading: Mapping[str, Any] = field(default_factory=dict)
    method: str = "auto"
    score: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Knowledge = field(default_factory=Knowledge)
    seed: int = 0
    time_limit: float | None = None
    bootstrap: int = 0  # samples of the rows to learn from as well
    jobs: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The message to the process that learns."""
        plain = {name: getattr(self, name) for name in PLAIN}
        known = self.knowledge.to_dict()
        return {**plain, "reading": dict(self.reading), "options": dict(self.options), "knowledge": known}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ExploreRequest:
        """Undo `to_dict`."""
        return cls(**{**content, "knowledge": Knowledge.from_dict(content["knowledge"])})

    def command(self, data: str) -> str:
        """The line that learns the same without the page; the knowledge is to be saved beside it.

        >>> ExploreRequest(reading={"drop": ["i"]}, method="tabu", options={"patience": 5}).command("a b.csv")
        "dagora learn 'a b.csv' --method tabu --option patience=5 --drop i"
        """
        line = ["dagora", "learn", data, "--method", self.method]
        line += ["--score", self.score] if self.score else []
        line += [word for name, value in self.options.items() for word in ("--option", f"{name}={value}")]
        line += self.reading_words()
        if not replace(self.knowledge, max_parents=None).is_empty:
            line += ["--knowledge", "knowledge.json"]
        elif self.knowledge.max_parents is not None:
            line += ["--max-parents", str(self.knowledge.max_parents)]
        line += ["--seed", str(self.seed)] * (self.seed != 0)
        line += ["--time-limit", f"{self.time_limit:g}"] if self.time_limit is not None else []
        line += ["--bootstrap", str(self.bootstrap)] if self.bootstrap else []
        return shlex.join(line)

    def reading_words(self) -> list[str]:
        """The reading options as a command takes them."""
        words = []
        for name, value in self.reading.items():
            words += [
                f"--{name.replace('_', '-')}",
                comma_list(value) if READING[name].type == "names" else str(value),
            ]
        return words


def parse_request(content: Mapping[str, Any], jobs: int = 1) -> ExploreRequest:
    """Check a request; whatever is wrong with it is one line.

    >>> parse_request({"method": "tabu", "options": {"patience": "5"}}).options
    {'patience': 5}
    >>> parse_request({"method": "tabbu"})
    Traceback (most recent call last):
    dagora.OptionError: there is no method named 'tabbu': did you mean 'tabu'? known are auto, ...
    """
    refuse_unknown(content, KEYS, "a request")
    method = method_named(text_of(content, "method", "auto"))
    require_all(method.needs, f"the method {method.name}")
    score = text_of(content, "score", "") or None
    if score is not None:
        score = named_score(method, score).name
    seed, time_limit = content.get("seed", 0), content.get("time_limit")
    return ExploreRequest(
        reading=reading_of(content.get("reading", {})),
        method=method.name,
        score=score,
        options=options_of(method, score, content.get("options", {})),
        knowledge=knowledge_of(content.get("knowledge", {})),
        seed=seed,
        time_limit=check_circumstances(seed, time_limit, jobs),
        bootstrap=samples_of(content.get("bootstrap"), method),
        jobs=jobs,
    )


def samples_of(number: object, method: Method) -> int:
    """The number of samples to learn from as well; 0 if none were asked for.

    >>> samples_of(None, method_named("pc")), samples_of(200, method_named("pc"))
    (0, 200)
    """
    if number is None or (type(number) is int and number == 0):
        return 0
    check_number(number)
    way_for("auto", method)
    assert isinstance(number, int)
    return number


def knowledge_of(content: object) -> Knowledge:
    """Knowledge from its JSON form."""
    if not isinstance(content, Mapping):
        raise OptionError("knowledge is an object with required, forbidden, tiers and max_parents")
    return Knowledge.from_dict(content)


def reading_of(content: object) -> dict[str, Any]:
    """The options of `read_table` that are not at their default."""
    if not isinstance(content, Mapping):
        raise OptionError("reading is an object")
    refuse_unknown(content, tuple(READING), "reading")
    chosen: dict[str, Any] = {}
    for name, value in content.items():
        if value is None or value in ("", []):
            continue
        check_type(READING[name], value)
        if (name, value) != ("missing", "auto"):
            chosen[name] = value
    looking_at(chosen)
    return chosen


def check_type(entry: ReadingOption, value: object) -> None:
    """Refuse a value of another type than a reading option has."""
    name = entry.name
    if entry.type == "names":
        if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise OptionError(f"{name} takes a list of names of columns")
    elif entry.type == "integer":
        if isinstance(value, bool) or not isinstance(value, int):
            raise OptionError(f"{name} takes a whole number, not {value!r}")
        if entry.low is not None and value < entry.low:
            raise OptionError(f"{name} must be at least {entry.low}, not {value}")
    elif not isinstance(value, str):
        raise OptionError(f"{name} takes a text, not {value!r}")


def looking_at(reading: Mapping[str, Any], **purpose: Any) -> ReadingOptions:  # noqa: ANN401
    """The same as the readers of tables take it."""
    said = {"missing": "auto", **{name: reading[name] for name in READING if name in reading}}
    return ReadingOptions(**said, why_not_model=always, constants=False, **purpose)


def options_of(method: Method, score: str | None, content: object) -> dict[str, Any]:
    """Options of the method and the score, written as on a command line."""
    if not isinstance(content, Mapping):
        raise OptionError("options is an object with a text for each name")
    entries = [score_named(score)] if score else [] if method.own_objective else list(SCORES)
    known: dict[str, Option] = {option.name: option for entry in entries for option in entry.options}
    known |= {option.name: option for option in method.options}
    given: dict[str, Any] = {}
    for name, value in content.items():
        option = known.get(name)
        if not isinstance(value, str):
            raise OptionError(f"option '{name}' takes a text, not {value!r}")
        if option is None:
            raise OptionError(
                f"the method {method.name} or its score has no option '{name}'{methods_with(name)}"
            )
        if option.type == "graph":
            raise OptionError(f"option '{name}' takes the name of a file: use `dagora learn`")
        given[name] = option.parse(value)
    check_options(f"the method {method.name}", tuple(known.values()), given)
    return given


def refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Refuse keys that mean nothing."""
    for name in content:
        if name not in known:
            raise OptionError(f"{what} has no '{name}': use {', '.join(known)}")


def text_of(content: Mapping[str, Any], name: str, default: str) -> str:
    """A text of a request."""
    value = content.get(name, default)
    if value is None:
        return default
    if not isinstance(value, str):
        raise OptionError(f"{name} takes a text, not {value!r}")
    return value
