"""Cells that count as missing, and words that often stand for a missing value.

An empty cell and NaN are missing, always. Words such as `NA` or `?` are levels in some tables and missing in
others, so the user chooses: `na` is "none" (they are levels), a list of words (those are missing), or "auto".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import comma_list, nearest, split_list
from dagora.base.wording import option

EVERY = "all"  # in place of a name: every column
Na: TypeAlias = "str | Iterable[str] | Mapping[str, Any]"

MISSING_WORDS = ("", "nan", "NaN", "NAN")
# In small letters.
MARKS = (
    "na",
    "n/a",
    "#n/a",
    "n.a.",
    "k.a.",
    "k. a.",
    "n.k.",
    "n. k.",
    "<na>",
    "null",
    "#null!",
    "none",
    "nil",
    "?",
    "??",
    ".",
    "..",
    "...",
    "…",
    "tbd",
    "-",
    "--",
    "\\n",
)
WORDS = (
    "missing",
    "missing data",
    "unknown",
    "unk",
    "not known",
    "not available",
    "not reported",
    "not recorded",
    "not stated",
    "no answer",
    "no response",
    "don't know",
    "refused",
    "declined",
    "declined to answer",
    "prefer not to say",
    "prefer not to answer",
    "not applicable",
    "not done",
    "not determined",
    "not measured",
    "not collected",
    "no data",
    "illegible",
    "invalid",
    "unspecified",
    "undefined",
    "(blank)",
    "#value!",
    "#div/0!",
    "keine angabe",
    "keine angaben",
    "unbekannt",
    "nicht bekannt",
    "weiß nicht",
    "fehlend",
    "inconnu",
    "sans réponse",
    "desconocido",
    "sin respuesta",
    "sin dato",
    "sin datos",
    "non renseigné",
    "non renseignée",
    "nicht erhoben",
    "okänd",
    "nieznane",
    "nieznany",
    "brak danych",
    "ukjent",
    "sem resposta",
    "sconosciuto",
    "onbekend",
)
# As they are written: short ones in small and capital letters in any order, longer ones word by word.
ALL_OFTEN_MISSING = tuple(
    sorted(
        {"".join(letters) for word in MARKS for letters in product(*({one, one.upper()} for one in word))}
        | {
            " ".join(words)
            for phrase in WORDS
            for words in product(*({one, one.upper(), one.capitalize()} for one in phrase.split()))
        }
    )
)
ELEMENTS = frozenset({"K", "Cl", "Ca", "Mg", "Li", "Fe", "Zn", "Cu", "Mn", "Al", "Si", "Pb", "NaCl", "KCl"})
OFTEN_MISSING = frozenset(ALL_OFTEN_MISSING)
# Words that are levels beside some others, and words that mean missing beside some others only.
LEVELS_BESIDE = {
    "declined": frozenset({"approved", "accepted", "granted", "agreed", "consented", "improved", "stable"}),
    "invalid": frozenset({"valid"}),
}
YES_OR_NO = frozenset({"yes", "no", "ja", "nein", "y", "n", "true", "false", "oui", "non", "si", "sí"})
RESULTS = YES_OR_NO | {"positive", "negative", "pos", "neg", "present", "absent", "normal", "abnormal"}
MISSING_BESIDE = {"dk": YES_OR_NO, "nr": YES_OR_NO, "nd": RESULTS, "pending": RESULTS}


def is_missing_word(level: str) -> bool:
    """Return True if a text cell counts as missing: only an empty one and NaN do."""
    return level.strip() in MISSING_WORDS


def often_means_missing(word: str) -> bool:
    """Return True if a word often stands for a missing value.

    >>> [often_means_missing(word) for word in ("NA", "n/a", "?", "no")]
    [True, True, True, False]
    """
    return word.strip() in OFTEN_MISSING


def means_missing_among(word: str, others: Collection[str]) -> bool:
    """Return True if a word often stands for a missing value beside such other words in its column.

    >>> means_missing_among("Na", ["Na", "K", "Cl"]), means_missing_among("Na", ["yes", "no"])
    (False, True)
    >>> means_missing_among("dk", ["dk", "no"]), means_missing_among("DK", ["DE", "DK", "SE"])
    (True, False)
    >>> means_missing_among("declined", ["yes"]), means_missing_among("declined", ["Approved"])
    (True, False)
    """
    if word.strip() == "Na" and not ELEMENTS.isdisjoint(others):
        return False
    small = word.strip().lower()
    beside = LEVELS_BESIDE.get(small, frozenset()) | MISSING_BESIDE.get(small, frozenset())
    among = bool(beside) and not beside.isdisjoint(other.strip().lower() for other in others)
    return among if small in MISSING_BESIDE else often_means_missing(word) and not among


@dataclass(frozen=True)
class NaWords:
    """The words that mean missing: in all columns (None: those that often do are found), and in single ones.

    A column whose own list is empty has none.
    """

    shared: tuple[str, ...] | None = None
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, column: str) -> tuple[str, ...]:
        """The words that the user says are missing in a column."""
        return (*(self.shared or ()), *self.own.get(column, ()))

    def finds(self, column: str) -> bool:
        """Return True if words that often mean missing are found in a column."""
        return self.shared is None and self.own.get(column) != ()

    def leaves_codes(self, column: str) -> bool:
        """Return True if nothing was said about the numbers of a column."""
        return self.shared != () and column not in self.own


def na_words(na: Na, names: Sequence[str] | None = None, others: Collection[str] | None = ()) -> NaWords:
    """The words that the user says are missing; entries such as `age:-1` are about one column.

    `others` are columns that may be named though they are not read (None: any).

    >>> na_words("NA, ?").shared, na_words("none").shared, na_words("auto").shared
    (('NA', '?'), (), None)
    >>> na_words("age:-1,age:-9,sex:", ["age", "sex"]).own
    {'age': ('-1', '-9'), 'sex': ()}
    >>> na_words({"age": [-1, -9], "all": "NA"}, ["age"])
    NaWords(shared=('NA',), own={'age': ('-1', '-9')})
    """
    if na in ("auto", "none"):
        return NaWords(None if na == "auto" else ())
    shared: list[str] = []
    own: dict[str, list[str]] = {}
    for column, word in na_entries(na, names):
        if column is None or column == EVERY:
            shared.append(word)
        elif names is None or column in names:
            own.setdefault(column, []).extend(filter(None, [word]))
        elif others is not None and column not in others:
            near = nearest(column, names)
            hint = f"did you mean '{near}'?" if near else "name a column, then a colon and the word"
            raise DataError(f"{option('na', f'{column}:{word}')} names no column: {hint}")
    if not shared and not own and others == ():
        raise OptionError(
            f"{option('na')} is auto, none, or the words that mean missing, such as NA,? or age:-1"
        )
    return NaWords(tuple(shared) or None, {name: tuple(words) for name, words in own.items()})


def na_entries(na: Na, names: Sequence[str] | None) -> Iterator[tuple[str | None, str]]:
    """The words with the column of each; None where a word is about all columns."""
    if isinstance(na, Mapping):
        for column, words in na.items():
            listed = [words] if isinstance(words, str) or not isinstance(words, Iterable) else list(words)
            for word in listed or [""]:
                yield str(column), str(word).strip()
        return
    for entry in split_list(na) if isinstance(na, str) else (str(word).strip() for word in na):
        known = [name for name in names or () if entry.startswith(f"{name}:")]
        if not entry or entry.startswith(":") or ":" not in entry:
            yield from [(None, entry)] if entry else []
            continue
        column = max(known, key=len, default=entry.partition(":")[0])
        yield column, entry[len(column) + 1 :].strip()


def extend_na(na: Na, found: Iterable[tuple[str, str]]) -> str:
    """The words that mean missing as one text: those that were given, and more in single columns.

    >>> extend_na("auto", [("age", "-1")]), extend_na("NA", [("a, b", "9")])
    ('age:-1', 'NA,"a, b:9"')
    """
    given = [] if na in ("auto", "none") else list(na_entries(na, None))
    entries = [word if column is None else f"{column}:{word}" for column, word in (*given, *found)]
    return comma_list(dict.fromkeys(entries))
