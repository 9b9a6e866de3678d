"""Names and order of the levels of a discrete column.

Levels are text. They are always sorted by the same rule, so that a file, a frame and the parts of a federated
table agree on the codes: by value if all of them are numbers, by their bounds if all are intervals such as
"(0.5, 2]", and by code point otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING

from dagora.data.columns.missing import often_means_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NUMBER = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
# 1E5 without a point or a sign may be a code; beside 1A5 it is one.
CODE_WITH_E = "[0-9]+[eE][0-9]+"
CODE_WITH_LETTER = "[0-9]+[A-DF-Za-df-z][0-9]+"
NUMBER_BESIDE_CODES = r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-][0-9]+)?"
THOUSANDS = "[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]+)?"
DECIMAL_COMMA = "[+-]?[0-9]+,[0-9]+"
FEW_DECIMALS = "[+-]?[0-9]+,[0-9]{1,2}"  # 1,234 may be more than a thousand
MINUS_BEHIND = "[0-9]+([.][0-9]+)?-"
NEARLY_NUMBER = f"{FEW_DECIMALS}|{MINUS_BEHIND}"  # beside numbers, these are numbers in other words
# Behind a number; Arrow reads the pattern too.
UNIT_OF_MEASURE = "[A-Za-z°‰µμΩ][^0-9 ,;:()']{0,11}[23]?"
IS_NUMBER = re.compile(NUMBER)
IS_INTERVAL = re.compile(rf"[(\[](?P<low>-inf|{NUMBER}), (?P<high>inf|{NUMBER})[)\]]")


def sort_levels(levels: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct levels in order.

    >>> sort_levels(["10", "9", "-1"]), sort_levels(["10", "9", "few"])
    (('-1', '9', '10'), ('10', '9', 'few'))
    >>> sort_levels(["(9, 10]", "(10, inf)", "(-inf, 9]"])
    ('(-inf, 9]', '(9, 10]', '(10, inf)')
    """
    distinct = sorted(set(levels))
    if all(IS_NUMBER.fullmatch(level) for level in distinct):
        return tuple(sorted(distinct, key=Decimal))
    intervals = [IS_INTERVAL.fullmatch(level) for level in distinct]
    bounds = {match[0]: (Decimal(match["low"]), Decimal(match["high"])) for match in intervals if match}
    if len(bounds) == len(distinct):
        return tuple(sorted(distinct, key=bounds.__getitem__))
    return tuple(distinct)


def level_name(value: object) -> str:
    """Return the level that a value stands for: whole numbers without a point, text without margins.

    >>> [level_name(value) for value in (True, 3, 3.0, 0.25, " low ")]
    ['True', '3', '3', '0.25', 'low']
    """
    if isinstance(value, float):
        # Beyond 2**53 not all digits of a whole float are significant: keep the short form.
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value).strip()


# Words for one of two things, in the order in which they are chosen as a name: truth, and sex.
TRUTHS = (("yes", "true", "ja", "oui", "y", "t", "j", "1"), ("no", "false", "nein", "non", "n", "f", "0"))
SEXES = (("female", "weiblich", "f", "w", "woman", "frau"), ("male", "männlich", "m", "man", "mann"))


def as_seen(level: str) -> str:
    r"""A level as a reader sees it: an accent is stored in one way only, signs of no width are left out.

    >>> as_seen("Ge\u0301ne\u0300ve\u200b") == "Génève", as_seen("a\xa0 b")
    (True, 'a b')
    """
    if level.isascii():
        return " ".join(level.split())
    joined = unicodedata.normalize("NFKC", level)
    return " ".join("".join(sign for sign in joined if unicodedata.category(sign) != "Cf").split())


# Letters of other alphabets beside the Latin ones that nobody can tell from them.
LOOK_ALIKE = str.maketrans("АВЕКМНОРСТУХаеорсухіΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTYXaeopcyxiABEZHIKMNOPTYXo")


def looks_of(levels: Sequence[str]) -> list[str]:
    """Levels as a reader sees them, in Latin letters where another level has those.

    >>> looks_of(["A", "\N{CYRILLIC CAPITAL LETTER A}", "\N{CYRILLIC CAPITAL LETTER VE}"])
    ['A', 'A', 'В']
    """
    seen = [as_seen(level) for level in levels]
    known = set(seen)
    return [latin if (latin := level.translate(LOOK_ALIKE)) in known else level for level in seen]


def join_levels(levels: Sequence[str]) -> list[str]:
    """Levels in small letters where they differ only in case; one word each where all mean two things.

    >>> join_levels(["Yes", "yes", "NO", "Maybe"]), join_levels(["TRUE", "1", "0"])
    (['yes', 'yes', 'NO', 'Maybe'], ['true', 'true', '0'])
    >>> join_levels(["m", "male", "w"]), join_levels(["m", "f", "unknown", "female"])
    (['male', 'male', 'w'], ['m', 'female', 'unknown', 'female'])
    """
    folded = [level.casefold() for level in looks_of(levels)]
    named = folded
    for sides in (TRUTHS, SEXES):
        side = {word: words for words in sides for word in words}
        known = {level for level in folded if not often_means_missing(level)}
        if known <= set(side) and len({side[level] for level in known}) == 2:
            named = [next((word for word in side.get(each, ()) if word in folded), each) for each in folded]
            break
    spellings: dict[str, set[str]] = {}
    for level, name in zip(levels, named, strict=True):
        spellings.setdefault(name, set()).add(level)
    return [name if len(spellings[name]) > 1 else level for level, name in zip(levels, named, strict=True)]


def same_levels(levels: Sequence[str]) -> list[list[str]]:
    """Levels that would be joined, those of each group together.

    >>> same_levels(["Yes", "yes", "no"]), same_levels(["a", "b"])
    ([['Yes', 'yes']], [])
    """
    groups: dict[str, list[str]] = {}
    for level, name in zip(levels, join_levels(levels), strict=True):
        groups.setdefault(name, []).append(level)
    return [group for group in groups.values() if len(group) > 1]
