r"""Words for the names and levels in a BIF file: what pyAgrum, pgmpy and bnlearn all read.

Where the three differ, the strictest rule holds:

- bnlearn finds the variable of a probability block as `\w+`, and splits lists at commas and blanks;
- pyAgrum takes `3days`, `_a` and `a-b.c` for words, `1e5` and `0.5` for numbers, and refuses numbers other
  than whole ones, and the keywords of the format; nothing helps in quotes but plain text;
- pgmpy takes quotes for blanks, does not tell upper from lower case in the names of variables, looks for
  `table` and `default` with a number after it even inside the name of a variable, and for `variable` and
  `probability` inside the name of the network.

A name that keeps these rules is written as it is. Any other becomes a word of ASCII letters, digits and
underscores that is like it; equal ones are numbered. The same names always become the same words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

START = r"(?:[0-9]+(?![eE0-9]))?[A-Za-z_]"
VARIABLE = re.compile(START + r"[A-Za-z0-9_]*")
LEVEL = re.compile(r"[+-]?[0-9]+|" + START + r"[A-Za-z0-9_.-]*")
KEYWORDS = frozenset(
    {"network", "variable", "probability", "type", "discrete", "property", "table", "default"}
)
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED = frozenset({"class", "data", "decision", "label", "net", "node", "position", "potential", "states"})
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LIKE_A_ROW = re.compile(r"(table|default)(?=[-+.eE0-9])")
LIKE_A_BLOCK = re.compile(r"variable|probability")
INTERVAL = re.compile(r"[(\[]\s*([^\s,]+)\s*,\s*([^\s,]+)\s*[)\]]")
SIGNS = {"<=": " le ", ">=": " ge ", "<": " lt ", ">": " gt ", "+": " plus ", "%": " percent ", "&": " and "}
SIGN = re.compile("|".join(map(re.escape, SIGNS)))


def variable_words(names: Sequence[str]) -> list[str]:
    """Words for the names of variables, all different in lower case, too.

    >>> variable_words(["age", "blood pressure", "Größe", "table", "2020", "年龄", "blood-pressure", "AGE"])
    ['age', 'blood_pressure', 'Gro_e', 'table_', 'V2020', 'V6', 'blood_pressure_2', 'AGE_2']
    """

    def spell(name: str) -> str:
        return LIKE_A_ROW.sub(r"\1_", _ascii(name, "A-Za-z0-9_"))

    def plain(name: str) -> bool:
        return bool(VARIABLE.fullmatch(name)) and name not in KEYWORDS and not LIKE_A_ROW.search(name)

    return _different(names, plain, spell, "V", fold=str.lower)


def level_words(levels: Sequence[str]) -> list[str]:
    """Words for the levels of one variable.

    >>> level_words(["low", "-1", "0.5", "(-inf, 0.5]", ">= 7.5", "12+", "", "a, b", "a;b"])
    ['low', '-1', 'L0.5', 'from_-inf_to_0.5', 'ge_7.5', '12_plus', 'L7', 'a_b', 'a_b_2']
    """

    def spell(level: str) -> str:
        if bounds := INTERVAL.fullmatch(level.strip()):
            # No sign in an exponent: 1e+06 is 1e06, and stays apart from 1e-06.
            level = f"from {bounds[1]} to {bounds[2]}".replace("e+", "e")
        return _ascii(level, "A-Za-z0-9_.-")

    def plain(level: str) -> bool:
        return bool(LEVEL.fullmatch(level)) and level not in KEYWORDS

    return _different(levels, plain, spell, "L")


def network_word(name: str) -> str:
    """The word for the name of the network.

    >>> network_word("asia"), network_word("my network"), network_word("one variable"), network_word("")
    ('asia', 'my_network', 'one_v_ariable', 'unknown')
    """
    word = variable_words([name])[0] if name else "unknown"
    return LIKE_A_BLOCK.sub(lambda found: f"{found[0][0]}_{found[0][1:]}", word)


def network_words(names: Sequence[str]) -> list[str]:
    """Words for names of networks, as `network_word` finds each."""
    return [network_word(name) for name in names]


def trimmed_words(names: Sequence[str]) -> list[str]:
    r"""Words for names in XML: without control characters, and without blanks that a reader takes away.

    >>> trimmed_words(["blood pressure", " age", "a<b", "nul\x00", ""])
    ['blood pressure', 'age', 'a<b', 'nul_', 'V5']
    """

    def plain(name: str) -> bool:
        return name == " ".join(name.split()) != "" and not NOT_XML.search(name)

    return _different(names, plain, lambda name: " ".join(NOT_XML.sub("_", name).split()), "V")


def identifier_words(names: Sequence[str]) -> list[str]:
    """Words for names where only ASCII letters, digits and underscores may stand, and a letter first.

    >>> identifier_words(["age", "blood pressure", "2020", "_a", "node"])
    ['age', 'blood_pressure', 'V2020', 'a', 'node_']
    """

    def plain(name: str) -> bool:
        return bool(IDENTIFIER.fullmatch(name)) and name not in RESERVED

    def spell(name: str) -> str:
        spelled = _ascii(name, "A-Za-z0-9_")
        return f"{spelled}_" if spelled in RESERVED else spelled

    return _different(names, plain, spell, "V")


def _ascii(name: str, kept: str) -> str:
    """Signs as words, letters without their accents, and one underscore for every run of other characters."""
    spelled = SIGN.sub(lambda sign: SIGNS[sign[0]], name)
    letters = "".join(
        letter for letter in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(letter)
    )
    return re.sub(f"[^{kept}]+", "_", letters).strip("_")


def _different(
    names: Sequence[str],
    plain: Callable[[str], bool],
    spell: Callable[[str], str],
    initial: str,
    fold: Callable[[str], str] = str,
) -> list[str]:
    """Plain names keep their spelling; each of the others gets a word that is plain and not taken."""
    words: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if plain(name) and fold(name) not in taken:
            words[name] = name
            taken.add(fold(name))
    for position, name in enumerate(names, start=1):
        if name in words:
            continue
        stem = spell(name) or f"{initial}{position}"
        word = stem if plain(stem) else f"{stem}_" if stem in KEYWORDS else f"{initial}{stem}"
        number = 1
        while fold(word) in taken:
            number += 1
            numbered = f"{stem}_{number}"
            word = numbered if plain(numbered) else f"{initial}{numbered}"
        words[name] = word
        taken.add(fold(word))
    return [words[name] for name in names]
