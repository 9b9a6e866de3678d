"""Merge the profiles of a column in several partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dagora.data.columns.cells import is_text
from dagora.data.columns.missing_codes import NumberFacts
from dagora.data.scan.examples import Examples
from dagora.data.scan.profile import WRAP, Profile, facts_of_tallies

Profiles = dict[str, Profile]


def merge_profiles(a: Profiles, b: Profiles) -> Profiles:
    """The profiles of partition `a` followed by partition `b`: as if one had been read after the other."""
    return {name: append_profile(a[name], b[name]) for name in a}


def append_profile(a: Profile, b: Profile) -> Profile:
    """The profile of a column whose cells of `a` are followed by those of `b`.

    >>> import pyarrow as pa
    >>> def seen(cells):
    ...     profile = Profile("x", pa.array(cells).type, None, False)
    ...     profile.look(pa.array(cells), ())
    ...     return profile
    >>> whole = append_profile(seen([3, 1]), seen([2, None, 1]))
    >>> whole.rows, whole.firsts, whole.first_missing, whole.low, whole.high
    (5, {3: 0, 1: 1, 2: 2}, 3, 1.0, 3.0)
    >>> append_profile(seen([1.0, 2.0]), seen([2.5, 4.0])).whole
    False
    """
    firsts = None
    if a.firsts is not None and b.firsts is not None:
        firsts = {**{value: row + a.rows for value, row in b.firsts.items()}, **a.firsts}
        firsts = dict(sorted(firsts.items(), key=lambda item: item[1]))
    elif is_text(a.type):
        a, b = judge_many(a), judge_many(b)
    together = None if firsts is None or len(firsts) > a.most_values else firsts
    whole = replace(
        a,
        rows=a.rows + b.rows,
        missing=a.missing + b.missing,
        first_missing=first_of(a.first_missing, b.first_missing, a.rows),
        firsts=together,
        numbers=a.numbers and b.numbers,
        whole=a.whole and b.whole,
        integers=a.integers and b.integers,
        repeats=a.repeats or b.repeats,
        suspects={**{word: row + a.rows for word, row in b.suspects.items()}, **a.suspects},
        suspected=a.suspected + b.suspected,
        examples=a.examples.append(b.examples, a.rows),
        spells_days=a.spells_days and b.spells_days,
        same_numbers=a.same_numbers | b.same_numbers,
        tallies={} if together is None else add_tallies(a, b),
        facts=facts_together(a, b) if together is None else NumberFacts(),
        infinite=first_of(a.infinite, b.infinite, a.rows),
        infinities=a.infinities + b.infinities,
        low=min(a.low, b.low),
        high=max(a.high, b.high),
        sums=[(one + other) & WRAP for one, other in zip(a.sums, b.sums, strict=True)],
    )
    if together is None and firsts is not None and is_text(a.type):
        whole.judge_text(firsts)  # too many together, though not in either
    return whole


def add_tallies(a: Profile, b: Profile) -> dict[Any, int]:
    """The counts of the values of both."""
    return {value: a.tallies.get(value, 0) + b.tallies.get(value, 0) for value in {**a.tallies, **b.tallies}}


def facts_together(a: Profile, b: Profile) -> NumberFacts:
    """The facts about the numbers of both, which are too many to be kept."""
    one, other = (
        part.facts if part.firsts is None else facts_of_tallies(part.tallies, part.reader) for part in (a, b)
    )
    return one.add(other)


def judge_many(part: Profile) -> Profile:
    """A profile of text whose values, still few, are judged as if they were too many."""
    if not part.firsts:
        return part
    found = replace(part, sums=list(part.sums), same_numbers=dict(part.same_numbers), examples=Examples())
    found.judge_text(part.firsts)
    return found


def first_of(a: int, b: int, rows: int) -> int:
    """The first row of two, where that of the second counts from `rows`; −1 is none.

    >>> first_of(-1, 2, 10), first_of(3, 2, 10), first_of(-1, -1, 10)
    (12, 3, -1)
    """
    if a >= 0:
        return a
    return -1 if b < 0 else b + rows
