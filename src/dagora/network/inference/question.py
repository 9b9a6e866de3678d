"""Questions: `P(cancer | smoker=yes)`, `P(a=yes | do(b=no))`, `MAP(a, b | c=1, x=0.5)`, `P(x > 1 | a=no)`.

`question_reader` reads them from text. Here their names, levels and numbers are looked up in a network.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from dagora.base.errors import QueryError
from dagora.base.phrases import among, find_repeated, some_of
from dagora.network.inference.problem import NodeEvidence
from dagora.network.inference.ranges import COMPARISON, Range
from dagora.network.model import NetworkModel

SHAPE = "questions look like P(a, b | c=yes, do(d=no)) or MAP(a, b | c=yes)"
EVERYTHING = "*"
MOST_NAMED = 10
"""Entries of evidence that a message names."""
LARGEST = 1e150  # a number whose square is one, too

Value = str | int | float
Uncertain = Mapping[str, Mapping[str, float]]
"""Of each variable a number for every level; or the value and the sd of a measurement."""


@dataclass(frozen=True)
class Question:
    """A question, before it is checked against a network.

    >>> Question("P", ("cancer",), given={"smoker": "yes"}, do={"diet": "very good"})
    Question(P(cancer | smoker=yes, do(diet='very good')))
    """

    kind: str
    """`P` for a distribution, `MAP` for the most probable levels."""
    of: tuple[str, ...]
    event: Mapping[str, Value] = field(default_factory=dict)
    """Levels whose probability is asked for, as in P(a=yes)."""
    given: Mapping[str, Value] = field(default_factory=dict)
    do: Mapping[str, Value] = field(default_factory=dict)
    within: Mapping[str, Range] = field(default_factory=dict)
    """Ranges whose probability is asked for, as in P(x > 1)."""
    given_within: Mapping[str, Range] = field(default_factory=dict)
    """Ranges that are known, as in P(a | x > 1)."""
    likelihood: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Likelihood evidence: how probable what was noticed is at each level; or a measurement: value and sd."""
    soft: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Soft evidence: the probabilities that levels have once all is known."""
    against: tuple[str, Question] | None = None
    """`-` or `/` and the question whose answer is taken from this one's, or divides it."""

    @property
    def known_of(self) -> tuple[str, ...]:
        """The variables that are not set, but of which something is known."""
        return (*self.given, *self.given_within, *self.likelihood, *self.soft)

    @property
    def is_certain(self) -> bool:
        """True if all that is known are values of variables."""
        return not (self.given_within or self.likelihood or self.soft)

    def __str__(self) -> str:
        asked = [self._asked(name) for name in self.of]
        known = [f"{quote_name(name)}={quote(value)}" for name, value in self.given.items()]
        known += [range_.written(quote_name(name)) for name, range_ in self.given_within.items()]
        if self.do:
            known.append(f"do({', '.join(f'{quote_name(n)}={quote(v)}' for n, v in self.do.items())})")
        for word, found in (("likelihood", self.likelihood), ("soft", self.soft)):
            for name, numbers in found.items():
                listed = ", ".join(f"{quote(level)}={number!r}" for level, number in numbers.items())
                known.append(f"{word}({quote_name(name)}, {listed})")
        alone = f"{self.kind}({', '.join(asked)}{' | ' if known else ''}{', '.join(known)})"
        return alone if self.against is None else f"{alone} {self.against[0]} {self.against[1]}"

    def _asked(self, name: str) -> str:
        if name in self.within:
            return self.within[name].written(quote_name(name))
        return f"{quote_name(name)}={quote(self.event[name])}" if name in self.event else quote_name(name)

    def __repr__(self) -> str:
        return f"Question({self})"


def quote(value: object) -> str:
    r"""Return a word as it can stand in a question.

    >>> quote("yes"), quote("very often"), quote("it's")
    ('yes', "'very often'", '"it\'s"')
    """
    text = str(value)
    if text and not re.search(r"[\s,|=()'\"\\]", text):
        return text
    mark = '"' if "'" in text else "'"
    escaped = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return f"{mark}{escaped}{mark}"


def quote_name(name: str) -> str:
    """Return a name as it can stand in a question, where signs that compare are not part of a name.

    >>> quote_name("a<b"), quote_name("a")
    ("'a<b'", 'a')
    """
    quoted = quote(name)
    bare = quoted == name and COMPARISON.search(name)
    return f"'{name}'" if bare else quoted


def make_question(
    kind: str,
    of: str | Iterable[str] | Mapping[str, Value],
    event: Mapping[str, Value] | None = None,
    given: Mapping[str, Value] | None = None,
    do: Mapping[str, Value] | None = None,
    within: Mapping[str, Range] | None = None,
    given_within: Mapping[str, Range] | None = None,
    likelihood: Mapping[str, Mapping[str, float]] | None = None,
    soft: Mapping[str, Mapping[str, float]] | None = None,
) -> Question:
    """Make a question and check what needs no network.

    >>> make_question("P", "a", given={"a": "yes"})
    Traceback (most recent call last):
    dagora.QueryError: 'a' is asked for and given: ask for it, or give it
    """
    if isinstance(of, Mapping):
        event = of
    asked = (of,) if isinstance(of, str) else tuple(of)
    event, given, do = dict(event or {}), dict(given or {}), dict(do or {})
    within, ranges = dict(within or {}), dict(given_within or {})
    weights, soft = dict(likelihood or {}), dict(soft or {})
    if not asked:
        raise QueryError(f"nothing is asked for: {SHAPE}")
    if (twice := find_repeated(asked)) is not None:
        raise QueryError(f"'{twice}' is asked for twice")
    for name in asked:
        if name in given or name in do or name in ranges:
            raise QueryError(f"'{name}' is asked for and given: ask for it, or give it")
    for name in given:
        if name in do:
            raise QueryError(f"'{name}' is given twice: it was either seen or set by do({name}=...)")
    for name in (*ranges, *weights, *soft):
        if name in given or name in do or sum(name in known for known in (ranges, weights, soft)) > 1:
            raise QueryError(f"'{name}' is given twice: say once what is known of it")
    if (event or within) and (len(event) + len(within) < len(asked) or kind == "MAP"):
        raise QueryError(
            "either all variables asked for have a level, as in P(a=yes, b=no), or none, as in P(a, b)"
        )
    return Question(kind, asked, event, given, do, within, ranges, weights, soft)


def with_uncertain(question: Question, likelihood: Uncertain, soft: Uncertain) -> Question:
    """The question with likelihood and soft evidence besides what it has; of a contrast, on both sides.

    >>> with_uncertain(Question("P", ("a",)), {"b": {"yes": 0.8, "no": 0.2}}, {})
    Question(P(a | likelihood(b, yes=0.8, no=0.2)))
    """
    if not likelihood and not soft:
        return question
    added = make_question(
        question.kind,
        question.of,
        question.event,
        question.given,
        question.do,
        question.within,
        question.given_within,
        {**question.likelihood, **by_level(likelihood)},
        {**question.soft, **by_level(soft)},
    )
    for name in (*likelihood, *soft):
        if name in question.likelihood or name in question.soft:
            raise QueryError(f"'{name}' is given twice: say once what is known of it")
    if question.against is None:
        return added
    sign, other = question.against
    return replace(added, against=(sign, with_uncertain(other, likelihood, soft)))


def by_level(uncertain: Uncertain) -> dict[str, dict[str, float]]:
    """The numbers by level, checked."""
    found: dict[str, dict[str, float]] = {}
    for name, numbers in uncertain.items():
        if not isinstance(numbers, Mapping):
            raise QueryError(f"evidence of '{name}' has a number for every level: {{'yes': 0.8, 'no': 0.2}}")
        found[name] = {}
        for level, value in numbers.items():
            number = find_number(value)
            if number is None or isinstance(value, bool):
                raise QueryError(f"evidence of '{name}' needs a finite number for '{level}', not {value!r}")
            found[name][str(level)] = number
    return found


def check_variable(model: NetworkModel, name: object) -> str:
    """Return the name of a variable; refuse an unknown one with the nearest name.

    >>> from dagora.graph.dag import DAG
    >>> check_variable(NetworkModel(DAG(["smoker"])), "smokr")
    Traceback (most recent call last):
    dagora.QueryError: there is no variable 'smokr' in the network: did you mean 'smoker'?
    """
    if isinstance(name, str) and name in model.parents:
        return name
    near = difflib.get_close_matches(str(name), model.parents, n=1)
    hint = f"did you mean '{near[0]}'?" if near else among(model.parents)
    raise QueryError(f"there is no variable '{name}' in the network: {hint}")


def check_value(model: NetworkModel, name: str, value: object) -> float:
    """Return the code of a level, or a number.

    >>> from dagora.graph.dag import DAG
    >>> check_value(NetworkModel(DAG(["a"]), {"a": ("no", "yes")}), "a", "maybe")
    Traceback (most recent call last):
    dagora.QueryError: 'a' has no level 'maybe': known are no, yes
    """
    if name in model.levels:
        try:
            return model.levels[name].index(str(value))
        except ValueError:
            raise QueryError(f"'{name}' has no level '{value}': {among(model.levels[name])}") from None
    number = find_number(value)
    if number is None:
        raise QueryError(
            f"'{name}' is continuous: it needs a finite number of at most {LARGEST:g}, not '{value}'"
        )
    return number


def find_number(value: object) -> float | None:
    """The number that a value is; None where it is none, or too large.

    >>> find_number("1.5"), find_number("high"), find_number(-1e200), find_number(10**400)
    (1.5, None, None, None)
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) <= LARGEST else None


def check_known(model: NetworkModel, given: Mapping[str, object], do: Mapping[str, object]) -> NodeEvidence:
    """Look up evidence and interventions: codes and numbers."""
    return NodeEvidence(
        {check_variable(model, name): check_value(model, name, value) for name, value in given.items()},
        {check_variable(model, name): check_value(model, name, value) for name, value in do.items()},
    )


def check_targets(model: NetworkModel, question: Question, known: NodeEvidence) -> tuple[str, ...]:
    """Return the variables that are asked for; `*` is all that are not in the conditioning set."""
    if question.of == (EVERYTHING,) and EVERYTHING not in model.parents:
        return tuple(node for node in model.graph if node not in known.seen and node not in known.do)
    return tuple(check_variable(model, name) for name in question.of)


def describe(model: NetworkModel, known: Mapping[str, float]) -> str:
    """The evidence as text, in the form of a question."""
    listed = [
        f"{name}={model.levels[name][int(value)] if name in model.levels else format(value, 'g')}"
        for name, value in known.items()
    ]
    return some_of(listed, MOST_NAMED)


def kinds_of(model: NetworkModel, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Divide names into discrete and continuous ones."""
    listed = list(names)
    return [n for n in listed if n in model.levels], [n for n in listed if n not in model.levels]
