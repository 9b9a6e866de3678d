"""Questions: `P(cancer | smoker=yes)`, `P(a=yes | do(b=no))`, `MAP(a, b | c=1, x=0.5)`.

They are read from text, and their names, levels and numbers are looked up in a network. Names and levels that
hold blanks or one of , | = ( ) ' " stand in quotes of either kind.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dagora.base.errors import QueryError
from dagora.base.phrases import among, repeated, some_of
from dagora.network.inference.problem import NodeEvidence
from dagora.network.model import NetworkModel

WORD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s,|=()'"]+)|([,|=()]))""")
SHAPE = "questions look like P(a, b | c=yes, do(d=no)) or MAP(a, b | c=yes)"
EVERYTHING = "*"
MOST_NAMED = 10
"""Entries of evidence that a message names."""
LARGEST = 1e150  # a number whose square is one, too

Value = str | int | float


@dataclass(frozen=True)
class Question:
    """A question, before it is checked against a network.

    >>> parse("P(cancer | smoker=yes, do(diet='very good'))")
    Question(P(cancer | smoker=yes, do(diet='very good')))
    """

    kind: str
    """`P` for a distribution, `MAP` for the most probable levels."""
    of: tuple[str, ...]
    event: Mapping[str, Value] = field(default_factory=dict)
    """Levels whose probability is asked for, as in P(a=yes)."""
    given: Mapping[str, Value] = field(default_factory=dict)
    do: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        asked = [
            f"{quote(name)}={quote(self.event[name])}" if name in self.event else quote(name)
            for name in self.of
        ]
        known = [f"{quote(name)}={quote(value)}" for name, value in self.given.items()]
        if self.do:
            known.append(f"do({', '.join(f'{quote(n)}={quote(v)}' for n, v in self.do.items())})")
        return f"{self.kind}({', '.join(asked)}{' | ' if known else ''}{', '.join(known)})"

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


def words(text: str) -> list[tuple[str, bool]]:
    """The words of a question; the second entry is True for punctuation."""
    found: list[tuple[str, bool]] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = WORD.match(text, position)
        if not match:
            raise QueryError(f"{text!r} has a quote that does not end: {SHAPE}")
        position = match.end()
        inside = match.group(1) if match.group(1) is not None else match.group(2)
        if inside is not None:
            found.append((re.sub(r"\\(.)", r"\1", inside), False))
        else:
            found.append((match.group(3) or match.group(4), match.group(4) is not None))
    return found


def parse(text: object) -> Question:
    """Read a question.

    >>> question = parse("MAP(a, b | c=1)")
    >>> question.kind, question.of, question.given
    ('MAP', ('a', 'b'), {'c': '1'})
    >>> parse("P(a")
    Traceback (most recent call last):
    dagora.QueryError: 'P(a' ends too early: questions look like P(a, b | c=yes, do(d=no)) or ...
    """
    if not isinstance(text, str):
        raise QueryError(f"a question is text, not a {type(text).__name__}: {SHAPE}")
    return QuestionReader(text).question()


class QuestionReader:
    """Reads the words of one question from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.position = 0

    def question(self) -> Question:
        """The whole question."""
        kind, mark = self.next()
        if mark or kind.upper() not in {"P", "MAP"}:
            raise QueryError(f"{self.text!r} begins with neither P( nor MAP(: {SHAPE}")
        self.expect("(")
        of: list[str] = []
        event: dict[str, Value] = {}
        given: dict[str, Value] = {}
        do: dict[str, Value] = {}
        end = ","
        while end == ",":
            name = self.word()
            of.append(name)
            end = self.punctuation()
            if end == "=":
                event[name] = self.word()
                end = self.punctuation()
        if end == "|":
            end = ","
            while end == ",":
                end = self.condition(given, do)
        if end != ")" or self.position < len(self.words):
            raise QueryError(f"{self.text!r} goes on where it should end: {SHAPE}")
        return make_question(kind.upper(), of, event, given, do)

    def condition(self, given: dict[str, Value], do: dict[str, Value]) -> str:
        """One entry after the bar; returns the mark that follows."""
        name = self.word()
        mark = self.punctuation()
        if name == "do" and mark == "(":
            mark = ","
            while mark == ",":
                variable = self.word()
                self.expect("=")
                add_once(do, variable, self.word())
                mark = self.punctuation()
            if mark != ")":
                raise QueryError(f"{self.text!r} has a do( that does not end: {SHAPE}")
            return self.punctuation()
        if mark != "=":
            refuse_range(name)
            raise QueryError(f"what is known of '{name}' in {self.text!r}? Write {name}=LEVEL: {SHAPE}")
        add_once(given, name, self.word())
        return self.punctuation()

    def next(self) -> tuple[str, bool]:
        """The next word."""
        if self.position >= len(self.words):
            raise QueryError(f"{self.text!r} ends too early: {SHAPE}")
        self.position += 1
        return self.words[self.position - 1]

    def word(self) -> str:
        """A name or a level."""
        word, mark = self.next()
        if mark:
            raise QueryError(f"{self.text!r} has '{word}' where a name belongs: {SHAPE}")
        return word

    def punctuation(self) -> str:
        """A mark."""
        word, mark = self.next()
        if not mark:
            refuse_range(word)
            raise QueryError(
                f"{self.text!r} has '{word}' where , | = or ) belongs (quotes hold blanks): {SHAPE}"
            )
        return word

    def expect(self, wanted: str) -> None:
        """A certain mark."""
        if self.punctuation() != wanted:
            raise QueryError(f"{self.text!r} lacks a '{wanted}': {SHAPE}")


def refuse_range(word: str) -> None:
    """Refuse a word that compares, such as age>60."""
    if re.search("[<>≤≥]", word):
        raise QueryError(
            f"evidence is one value, such as age=60, and not a range ('{word}'): ask for several values, or "
            "learn with the column cut into intervals, which are levels then"
        )


def add_once(known: dict[str, Value], name: str, value: Value) -> None:
    """Add the value of a variable; refuse a second one."""
    if name in known:
        raise QueryError(f"'{name}' is given twice: say once what is known of it")
    known[name] = value


def make_question(
    kind: str,
    of: str | Iterable[str] | Mapping[str, Value],
    event: Mapping[str, Value] | None = None,
    given: Mapping[str, Value] | None = None,
    do: Mapping[str, Value] | None = None,
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
    if not asked:
        raise QueryError(f"nothing is asked for: {SHAPE}")
    if (twice := repeated(asked)) is not None:
        raise QueryError(f"'{twice}' is asked for twice")
    for name in asked:
        if name in given or name in do:
            raise QueryError(f"'{name}' is asked for and given: ask for it, or give it")
    for name in given:
        if name in do:
            raise QueryError(f"'{name}' is given twice: it was either seen or set by do({name}=...)")
    if event and (len(event) < len(asked) or kind == "MAP"):
        raise QueryError(
            "either all variables asked for have a level, as in P(a=yes, b=no), or none, as in P(a, b)"
        )
    return Question(kind, asked, event, given, do)


def check_variable(model: NetworkModel, name: object) -> str:
    """Return the name of a variable; refuse an unknown one with the nearest name.

    >>> from dagora.graph.dag import DAG
    >>> check_variable(NetworkModel(DAG(["smoker"])), "smokr")
    Traceback (most recent call last):
    dagora.QueryError: there is no variable 'smokr' in the network: did you mean 'smoker'?
    """
    if isinstance(name, str) and name in model.parents:
        return name
    refuse_range(str(name))
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
