"""Questions from text, word by word.

Names and levels that hold blanks or one of , | = ( ) ' " stand in quotes of either kind; so do names that
hold a sign which compares. After the bar stand levels and values, ranges, `do(…)`, `likelihood(…)` and
`soft(…)`. `P(…) - P(…)` and `P(…) / P(…)` compare two answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dagora.base.errors import QueryError
from dagora.network.inference.question import SHAPE, Question, Value, find_number, make_question
from dagora.network.inference.ranges import COMPARISON, Range, parse_range

WORD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s,|=()'"]+)|([,|=()]))""")
T = TypeVar("T")
CONTRAST = re.compile(r"([-−/])([pP]?)")


@dataclass(frozen=True)
class Word:
    """A word of a question: a name, a level, a number or a mark."""

    text: str
    is_mark: bool = False
    is_quoted: bool = False


@dataclass
class Conditions:
    """The entries behind the bar."""

    given: dict[str, Value] = field(default_factory=dict)
    do: dict[str, Value] = field(default_factory=dict)
    within: dict[str, Range] = field(default_factory=dict)
    likelihood: dict[str, dict[str, float]] = field(default_factory=dict)
    soft: dict[str, dict[str, float]] = field(default_factory=dict)


def words(text: str) -> list[Word]:
    """The words of a question."""
    found: list[Word] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = WORD.match(text, position)
        if not match:
            raise QueryError(f"{text!r} has a quote that does not end: {SHAPE}")
        position = match.end()
        inside = match.group(1) if match.group(1) is not None else match.group(2)
        if inside is not None:
            found.append(Word(re.sub(r"\\(.)", r"\1", inside), is_quoted=True))
        else:
            found.append(Word(match.group(3) or match.group(4), match.group(4) is not None))
    return found


def parse(text: object) -> Question:
    """Read a question.

    >>> question = parse("MAP(a, b | c=1)")
    >>> question.kind, question.of, question.given
    ('MAP', ('a', 'b'), {'c': '1'})
    >>> parse("P(120 < sbp <= 140 | age>60, soft(smoker, yes=0.7, no=0.3)) - P(sbp > 140)").given_within
    {'age': Range(low=60.0, high=inf, with_low=False, with_high=False)}
    >>> parse("P(a")
    Traceback (most recent call last):
    dagora.QueryError: 'P(a' ends too early: questions look like P(a, b | c=yes, do(d=no)) or ...
    """
    if not isinstance(text, str):
        raise QueryError(f"a question is text, not a {type(text).__name__}: {SHAPE}")
    return QuestionReader(text).whole()


class QuestionReader:
    """Reads the words of one question from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.position = 0

    def whole(self) -> Question:
        """The whole text: a question, or two that are compared."""
        first = self.question(self.next())
        if self.position == len(self.words):
            return first
        sign = self.next()
        match = None if sign.is_mark or sign.is_quoted else CONTRAST.fullmatch(sign.text)
        if match is None:
            raise QueryError(f"{self.text!r} goes on where it should end: {SHAPE}")
        second = self.question(Word(match[2]) if match[2] else self.next())
        if self.position < len(self.words):
            raise QueryError(f"{self.text!r} goes on where it should end: two questions can be compared")
        if "MAP" in {first.kind, second.kind}:
            raise QueryError(f"{self.text!r} compares a MAP, which has no number: compare P(…) with P(…)")
        return replace(first, against=("/" if match[1] == "/" else "-", second))

    def question(self, kind: Word) -> Question:
        """One question, of which the first word is given."""
        if kind.is_mark or kind.text.upper() not in {"P", "MAP"}:
            raise QueryError(f"{self.text!r} begins with neither P( nor MAP(: {SHAPE}")
        self.expect("(")
        of: list[str] = []
        event: dict[str, Value] = {}
        within: dict[str, Range] = {}
        known = Conditions()
        end = ","
        while end == ",":
            if (found := self.comparison()) is not None:
                of.append(found[0])
                within[found[0]] = found[1]
                end = self.punctuation()
                continue
            name = self.word()
            of.append(name)
            end = self.punctuation()
            if end == "=":
                event[name] = self.word()
                end = self.punctuation()
        if end == "|":
            end = ","
            while end == ",":
                end = self.condition(known)
        if end != ")":
            raise QueryError(f"{self.text!r} goes on where it should end: {SHAPE}")
        return make_question(
            kind.text.upper(),
            of,
            event,
            known.given,
            known.do,
            within,
            known.within,
            known.likelihood,
            known.soft,
        )

    def condition(self, known: Conditions) -> str:
        """One entry after the bar; returns the mark that follows."""
        if (found := self.comparison()) is not None:
            add_once(known.within, *found)
            return self.punctuation()
        name = self.word()
        mark = self.punctuation()
        if name == "do" and mark == "(":
            mark = ","
            while mark == ",":
                variable = self.word()
                self.expect("=")
                add_once(known.do, variable, self.word())
                mark = self.punctuation()
            if mark != ")":
                raise QueryError(f"{self.text!r} has a do( that does not end: {SHAPE}")
            return self.punctuation()
        if name in {"likelihood", "soft"} and mark == "(":
            variable, numbers = self.word(), self.numbers(name)
            add_once(known.likelihood if name == "likelihood" else known.soft, variable, numbers)
            return self.punctuation()
        if mark != "=":
            raise QueryError(f"what is known of '{name}' in {self.text!r}? Write {name}=LEVEL: {SHAPE}")
        add_once(known.given, name, self.word())
        return self.punctuation()

    def numbers(self, kind: str) -> dict[str, float]:
        """The numbers of `likelihood(…)` or `soft(…)`, each after a level."""
        found: dict[str, float] = {}
        mark = self.punctuation()
        while mark == ",":
            level = self.word()
            self.expect("=")
            word = self.word()
            number = find_number(word)
            if number is None:
                raise QueryError(f"{self.text!r} has '{word}' where {kind}( needs a number")
            add_once(found, level, number)
            mark = self.punctuation()
        if mark != ")" or not found:
            raise QueryError(
                f"{self.text!r} has a {kind}( that does not end: write {kind}(a, yes=0.8, no=0.2)"
            )
        return found

    def comparison(self) -> tuple[str, Range] | None:
        """The variable and the range, if one stands here; else None."""
        item = []
        for word in self.words[self.position :]:
            if word.is_mark and word.text != "=":
                break
            item.append(word)
        plain = [bool(not word.is_quoted and COMPARISON.search(word.text)) for word in item]
        is_equality = len(item) > 1 and not plain[0] and item[1].is_mark
        if not any(plain) or is_equality:
            return None
        operands: list[str] = []
        signs: list[str] = []
        expects_operand = True
        for word in item:
            parts = [word.text] if word.is_quoted or word.is_mark else COMPARISON.split(word.text)
            for part in filter(None, parts):
                is_sign = not word.is_quoted and bool(COMPARISON.fullmatch(part))
                if word.is_mark and expects_operand and signs and signs[-1] in {"<", ">"}:
                    signs[-1] += "="
                elif is_sign and not expects_operand:
                    signs.append(part)
                    expects_operand = True
                elif not is_sign and not word.is_mark and expects_operand:
                    operands.append(part)
                    expects_operand = False
                else:
                    raise QueryError(
                        f"{self.text!r} has a range that is not understood: write x > 1, x <= 2, or 1 < x < 2"
                    )
        if expects_operand:
            raise QueryError(f"{self.text!r} has a range without an end: write x > 1, x <= 2, or 1 < x < 2")
        self.position += len(item)
        return parse_range(operands, signs, self.text)

    def next(self) -> Word:
        """The next word."""
        if self.position >= len(self.words):
            raise QueryError(f"{self.text!r} ends too early: {SHAPE}")
        self.position += 1
        return self.words[self.position - 1]

    def word(self) -> str:
        """A name or a level."""
        word = self.next()
        if word.is_mark:
            raise QueryError(f"{self.text!r} has '{word.text}' where a name belongs: {SHAPE}")
        return word.text

    def punctuation(self) -> str:
        """A mark."""
        word = self.next()
        if not word.is_mark:
            raise QueryError(
                f"{self.text!r} has '{word.text}' where , | = or ) belongs (quotes hold blanks): {SHAPE}"
            )
        return word.text

    def expect(self, wanted: str) -> None:
        """A certain mark."""
        if self.punctuation() != wanted:
            raise QueryError(f"{self.text!r} lacks a '{wanted}': {SHAPE}")


def add_once(known: dict[str, T], name: str, value: T) -> None:
    """Add the value of a variable; refuse a second one."""
    if name in known:
        raise QueryError(f"'{name}' is given twice: say once what is known of it")
    known[name] = value
