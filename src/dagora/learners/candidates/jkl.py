"""Candidates in `.jkl` files, the exchange format of exact learners.

First the number of variables; then for each variable its name and its number of parent sets; then for each
set its score, its size and its parents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from dagora.base.errors import FormatError
from dagora.base.files import read_text
from dagora.learners.candidates.candidates import Candidates


def check_names(names: Iterable[str]) -> None:
    """Refuse names that a `.jkl` file cannot hold."""
    for name in names:
        if not name or any(character.isspace() for character in name):
            raise FormatError(f"a .jkl file cannot hold the name '{name}': rename the column without spaces")


def render_jkl(candidates: Candidates) -> str:
    """Text of a `.jkl` file."""
    check_names(candidates.names)
    lines = [str(len(candidates))]
    for entry in candidates:
        lines.append(f"{candidates.names[entry.child]} {len(entry)}")
        for parents, value in zip(entry.parents, entry.scores.tolist(), strict=True):
            lines.append(" ".join([repr(value), str(len(parents)), *(candidates.names[i] for i in parents)]))
    return "\n".join(lines) + "\n"


def read_jkl(path: str | Path) -> Candidates:
    """Read a `.jkl` file; errors name the line at fault."""
    return JklReader(str(path), read_text(path).splitlines()).read()


class JklReader:
    """Walks the lines of a `.jkl` file."""

    def __init__(self, source: str, lines: list[str]) -> None:
        self._source = source
        self._lines = [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]
        self._next = 0

    def read(self) -> Candidates:
        """Read the whole file."""
        number, words = self._take("the number of variables")
        size = self._whole(number, words[0]) if len(words) == 1 else self._fail(number, "expected one number")
        raw: list[tuple[str, list[tuple[float, list[str], int]]]] = []
        for _ in range(size):
            number, words = self._take("a variable and its number of parent sets")
            if len(words) != 2:
                self._fail(number, "expected a variable and its number of parent sets")
            entries = [self._parent_set() for _ in range(self._whole(number, words[1]))]
            if not entries:
                self._fail(number, f"'{words[0]}' has no parent set")
            raw.append((words[0], entries))
        if self._next < len(self._lines):
            self._fail(self._lines[self._next][0], f"more text after {size} variables")
        names = tuple(name for name, _ in raw)
        index = {name: position for position, name in enumerate(names)}
        if len(index) < size:
            raise FormatError(f"{self._source}: a variable is listed twice")
        return Candidates.of(names, [self._sets(index, name, entries) for name, entries in raw])

    def _parent_set(self) -> tuple[float, list[str], int]:
        number, words = self._take("a parent set")
        try:
            value = float(words[0])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self._fail(number, f"'{words[0]}' is not a score")
        if len(words) < 2 or len(words) != 2 + self._whole(number, words[1]):
            self._fail(number, "expected a score, a number of parents, and that many parents")
        return value, words[2:], number

    def _sets(
        self, index: dict[str, int], name: str, entries: list[tuple[float, list[str], int]]
    ) -> list[tuple[tuple[int, ...], float]]:
        sets: dict[tuple[int, ...], float] = {}
        for value, words, number in entries:
            for word in words:
                if word not in index or word == name:
                    self._fail(number, f"'{word}' cannot be a parent of '{name}'")
            parents = tuple(sorted(index[word] for word in words))
            if len(set(parents)) < len(parents) or parents in sets:
                self._fail(number, f"a parent or a parent set of '{name}' is listed twice")
            sets[parents] = value
        return list(sets.items())

    def _take(self, expected: str) -> tuple[int, list[str]]:
        if self._next >= len(self._lines):
            raise FormatError(f"{self._source}: the file ends where {expected} should follow")
        self._next += 1
        return self._lines[self._next - 1]

    def _whole(self, number: int, word: str) -> int:
        if not word.isdecimal() or len(word) > 9:
            self._fail(number, f"'{word[:20]}' is not a whole number below a billion")
        return int(word)

    def _fail(self, number: int, problem: str) -> int:
        raise FormatError(f"{self._source}, line {number}: {problem}")
