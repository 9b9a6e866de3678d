"""The rules of Zhang (2008) that turn circles into arrows and tails, until none applies.

For nodes a, b, c, d (a star stands for any mark; "apart" for not joined):

- R0  a *–* b *–* c, a and c apart, b not in what separates them: a *→ b ←* c.
- R1  a *→ b o–* c, a and c apart: b → c.
- R2  a → b *→ c or a *→ b → c, and a *–o c: a *→ c.
- R3  a *→ b ←* c, a *–o d o–* c, a and c apart, d *–o b: d *→ b.
- R4  d, …, a, b, c discriminates for b, and b o–* c: b → c if b is in what separates d and c, else
      a ↔ b ↔ c.
- R5  a o–o b, and an uncovered path of circles a, c, …, d, b with a and d apart, b and c apart: all of these
      edges become —.
- R6  a — b o–* c: a tail at b on b – c.
- R7  a –o b o–* c, a and c apart: a tail at b on b – c.
- R8  a → b → c or a –o b → c, and a o→ c: a → c.
- R9  a o→ c, and an uncovered potentially directed path a, b, …, c with b and c apart: a → c.
- R10 a o→ c, b → c ← d, uncovered potentially directed paths from a to b and from a to d whose first nodes
      after a differ and are apart: a → c.

R0 to R4 find every arrow, R5 to R10 every tail that all graphs with the same independences have in common.
R5 to R7 can only apply where rows were selected by what is studied; without selection they are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.paths import circles_only, discriminating_path, may_be_directed, uncovered_path

# Whether the second node is in the set that separates the first and the third.
Separates = Callable[[int, int, int], bool]
# What R4 does with a discriminating path: orient it, or find that an edge must go; whether anything changed.
Settle = Callable[[EndMarks, list[int]], bool]
# Whether there is time; rules that look for paths ask at every node.
GoOn = Callable[[], bool]


def unshielded_triples(marks: EndMarks) -> list[tuple[int, int, int]]:
    """All a, b, c with a < c not joined, and b joined to both."""
    return [
        (a, b, c)
        for b in range(len(marks))
        for a, c in combinations(marks.near(b), 2)
        if not marks.are_joined(a, c)
    ]


def apply_rules(marks: EndMarks, settle: Settle, *, selection: bool, go_on: GoOn = lambda: True) -> None:
    """Apply R1 to R10 until nothing changes, or until `go_on` says that time is up."""
    rules: list[Callable[[EndMarks], bool]] = [rule_1, rule_2, rule_3]
    rules.append(lambda found: rule_4(found, settle))
    if selection:
        rules += [lambda found: rule_5(found, go_on), rule_6_and_7]
    rules += [rule_8, lambda found: rule_9(found, go_on), lambda found: rule_10(found, go_on)]
    # After each change, the rules are tried from the first on: what is cheap comes before paths.
    while any(go_on() and rule(marks) for rule in rules):
        pass


def settle_by(separates: Separates) -> Settle:
    """R4 as Zhang has it: by whether b is in what separates the ends of a discriminating path."""

    def settle(marks: EndMarks, path: list[int]) -> bool:
        return orient_discriminating_path(marks, path, in_set=separates(path[0], path[-2], path[-1]))

    return settle


def orient_discriminating_path(marks: EndMarks, path: list[int], *, in_set: bool) -> bool:
    """Mark the end of a discriminating path, whose last three nodes are a, b, c."""
    a, b, c = path[-3:]
    if in_set:
        return any([marks.put_tail(c, b), marks.put_arrow(b, c)])
    return any([marks.put_arrow(a, b), marks.put_arrow(c, b), marks.put_arrow(b, c)])


def rule_1(marks: EndMarks) -> bool:
    """R1."""
    changed = False
    for b in range(len(marks)):
        near = marks.near(b)
        into = [a for a in near if marks.is_arrow(a, b)]
        for c in near if into else ():
            if marks.is_circle(c, b) and any(a != c and not marks.are_joined(a, c) for a in into):
                changed |= any([marks.put_tail(c, b), marks.put_arrow(b, c)])
    return changed


def rule_2(marks: EndMarks) -> bool:
    """R2."""
    changed = False
    for a in range(len(marks)):
        for c in marks.near(a):
            if marks.is_circle(a, c) and any(
                marks.is_arrow(a, b)
                and marks.is_arrow(b, c)
                and (marks.is_directed(a, b) or marks.is_directed(b, c))
                for b in marks.near(a)
            ):
                changed |= marks.put_arrow(a, c)
    return changed


def rule_3(marks: EndMarks) -> bool:
    """R3."""
    changed = False
    for b in range(len(marks)):
        near = marks.near(b)
        into = [a for a in near if marks.is_arrow(a, b)]
        for d in near if len(into) > 1 else ():
            if not marks.is_circle(d, b):
                continue
            sides = [a for a in into if a != d and marks.is_circle(a, d)]
            if any(not marks.are_joined(a, c) for a, c in combinations(sides, 2)):
                changed |= marks.put_arrow(d, b)
    return changed


def rule_4(marks: EndMarks, settle: Settle) -> bool:
    """R4."""
    changed = False
    for b in range(len(marks)):
        for c in marks.near(b):
            for a in marks.near(b):
                # Edges may be removed on the way.
                if a == c or not marks.is_circle(c, b):
                    continue
                path = discriminating_path(marks, a, b, c)
                changed |= path is not None and settle(marks, path)
    return changed


def rule_5(marks: EndMarks, go_on: GoOn) -> bool:
    """R5."""
    allowed = circles_only(marks)
    changed = False
    for a in range(len(marks)):
        if not go_on():
            break
        for b in marks.near(a):
            for c in marks.near(a):
                if b == c or marks.are_joined(b, c) or not (allowed(a, b) and allowed(a, c)):
                    continue
                path = uncovered_path(marks, (a, c), b, allowed, forbidden_last=a)
                for one, other in zip(path or (), (path or [])[1:], strict=False):
                    changed |= any([marks.put_tail(one, other), marks.put_tail(other, one)])
                if path is not None:
                    changed |= any([marks.put_tail(a, b), marks.put_tail(b, a)])
    return changed


def rule_6_and_7(marks: EndMarks) -> bool:
    """R6 and R7."""
    changed = False
    for b in range(len(marks)):
        near = marks.near(b)
        tails = [a for a in near if marks.is_tail(b, a) and not marks.is_arrow(a, b)]
        for c in near if tails else ():
            if marks.is_circle(c, b) and any(
                a != c and (marks.is_tail(a, b) or not marks.are_joined(a, c)) for a in tails
            ):
                changed |= marks.put_tail(c, b)
    return changed


def rule_8(marks: EndMarks) -> bool:
    """R8."""
    changed = False
    for a in range(len(marks)):
        for c in marks.near(a):
            if is_half_directed(marks, a, c) and any(
                marks.is_tail(b, a) and not marks.is_tail(a, b) and marks.is_directed(b, c)
                for b in marks.near(a)
            ):
                changed |= marks.put_tail(c, a)
    return changed


def rule_9(marks: EndMarks, go_on: GoOn) -> bool:
    """R9."""
    allowed = may_be_directed(marks)
    changed = False
    for a in range(len(marks)):
        if not go_on():
            break
        for c in marks.near(a):
            if is_half_directed(marks, a, c) and any(
                b != c
                and not marks.are_joined(b, c)
                and allowed(a, b)
                and uncovered_path(marks, (a, b), c, allowed) is not None
                for b in marks.near(a)
            ):
                changed |= marks.put_tail(c, a)
    return changed


def rule_10(marks: EndMarks, go_on: GoOn) -> bool:
    """R10."""
    allowed = may_be_directed(marks)
    changed = False
    for a in range(len(marks)):
        if not go_on():
            break
        for c in marks.near(a):
            if not is_half_directed(marks, a, c):
                continue
            starts = [first for first in marks.near(a) if first != c and allowed(a, first)]
            parents = [b for b in marks.near(c) if b != a and marks.is_directed(b, c)]
            firsts = [
                {first for first in starts if uncovered_path(marks, (a, first), b, allowed) is not None}
                for b in parents
            ]
            if any(
                one != other and not marks.are_joined(one, other)
                for some, others in combinations(firsts, 2)
                for one in some
                for other in others
            ):
                changed |= marks.put_tail(c, a)
    return changed


def is_half_directed(marks: EndMarks, a: int, c: int) -> bool:
    """Return True if a o→ c."""
    return marks.is_circle(c, a) and marks.is_arrow(a, c)
