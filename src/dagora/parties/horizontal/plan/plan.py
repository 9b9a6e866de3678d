"""The plan of a run: one document, signed by the coordinator and every site before anything depends on rows.

It says who takes part (by the fingerprints of their certificates), over which columns and codes, what will be
learned, and the most that may be asked. There is one way to write a plan, so that equal plans have equal
bytes; its digest is signed, and all keys of the run are derived from it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import comb, prod
from typing import Any

from dagora.base.errors import DagoraError, FormatError, ProtocolError
from dagora.base.phrases import among
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.privacy.release import feature_size
from dagora.parties.privacy.terms import PrivacyTerms
from dagora.parties.transport.transport import check_name

VERSION = 2  # of plans and of the messages of a run: parties with another one refuse each other's plans
# Methods whose answers are shown, not summed, and the tasks that each of them may need.
SHOWN_BY = {
    "admm": ("own-squares", "admm-step", "admm-loss"),
    "admm-mlp": ("own-squares", "admm-mlp-step", "admm-mlp-loss"),
    "vote": ("local-weights", "local-graph"),
    "average": ("local-weights",),
    "best": ("local-weights",),
    "admm-dynamic": ("admm-lagged-step", "admm-lagged-loss"),
}
# Tasks of which a run asks one question, which its plan holds; the others go on in rounds.
SHOWN_ONCE = ("local-weights", "local-graph")
# Models of a vote that are weights; all others are methods that find a graph.
WEIGHT_MODELS = ("linear", "mlp")
COUNTS, MOMENTS, BASIS, INDICATORS, RELEASE = "counts", "moments", "basis", "indicators", "release"
LAGGED, FOURTH, WEIGHTS = "lagged", "fourth", "weights"
QUESTIONS = (COUNTS, MOMENTS, BASIS, INDICATORS, LAGGED, FOURTH, WEIGHTS, RELEASE)
# Sums that rows with weights go into.
WEIGHED = (COUNTS, MOMENTS, BASIS, INDICATORS, WEIGHTS)
# The usual bound on the rows of all sites leaves 20 bits for a continuous value (`fraction_bits`), the
# largest one 11. A sum of MOST_CELLS numbers is a message of 32 MB.
LARGEST_ROWS = 1 << 22
MOST_ROWS = 1 << 40
MOST_CELLS = 1 << 22
# Of a release a site keeps its part in its log: a line of about 20 MB at most, beside a message of 8 MB.
MOST_RELEASED = 1 << 20
MOST_SITES = 1000
MOST_FUNCTIONS = 32
MOST_LAGS = 100
LONGEST_PLAN = 1 << 22
# A log keeps every plan. Settings are a few options of a method; a question to a site alone has knowledge, of
# up to 40,000 edges between names of ten letters. Columns must be those of the owner's policy.
LONGEST_SETTINGS, LONGEST_SETS, LONGEST_QUESTIONS = 1 << 14, 1 << 16, 1 << 20
LONGEST_SETTING = 1000
LOGGED_QUESTION = 4000  # characters of a question that the log holds before it is asked
FINGERPRINT = "sha256:"

FIELDS = {
    "version", "coordinator", "sites", "method", "settings", "columns", "questions", "columns_per_table",
    "cells_per_table", "tables", "functions", "lags", "step", "largest_rows", "shows", "privacy",
}  # fmt: skip
# Fields that only plans with such questions have.
ASKED_ALONE, SETS, LARGEST_WEIGHT = "shown_questions", "sets", "largest_weight"
MOST_SETS = 1000  # that a plan names
# How deep a question in a plan is nested: named values, the parts of knowledge, lists of edges, names.
DEEPEST_QUESTION = 4


@dataclass(frozen=True)
class RunPlan:
    """The questions that a run may ask, and of which sites.

    `questions` are the kinds of sums (`counts` of tables of at most `columns_per_table` columns,
    `cells_per_table` cells and `tables` in all; `moments`; `basis`: moments of `functions` functions of each
    column; `indicators`: moments of continuous columns, their squares and indicators of levels; `lagged`:
    moments of windows that reach `lags` steps of time back, where all steps are `step` long; `fourth`:
    sums of products of up to four columns of each of the `sets`; `weights`: the sums of the weights and of
    their squares, where the codebook has a largest weight: then all other sums are weighed; `release`:
    once, with noise, by the terms of `privacy`, and then nothing else). `shows` are the tasks whose answers
    each site shows as its own, and `shown_questions` what they ask, word for word, where they are asked once.
    `sets` are column sets that the plan names: then nothing else is asked for, and there are no other
    columns; with `fourth`, they are regressions of continuous columns, the outcome first.
    `largest_rows` bounds the rows of all sites together. `method` and `settings` say what the coordinator
    does with the sums: its word.
    """

    sites: Mapping[str, str]
    codebook: Codebook
    method: str
    questions: tuple[str, ...]
    coordinator: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns_per_table: int = 3
    cells_per_table: int = 4096
    tables: int = 0
    functions: int = 0
    lags: int = 0
    step: float = 0.0
    largest_rows: int = LARGEST_ROWS
    shows: tuple[str, ...] = ()
    privacy: PrivacyTerms | None = None
    shown_questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sets: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        noisy = self.privacy is not None
        more = len(self.questions) > 1 or self.shows or self.tables or self.functions or self.lags
        if noisy is not (RELEASE in self.questions) or (noisy and more):
            raise FormatError("with privacy a plan asks for one release and nothing else")
        if (self.lags > 0) is not (LAGGED in self.questions) or (self.step > 0) is not (self.lags > 0):
            raise FormatError("a plan about series has the question lagged, lags and a step, or none of them")
        self._check_windows()
        self._check_weights()
        self._check_sets()
        for what, content, most in (
            ("settings", self.settings, LONGEST_SETTINGS),
            (ASKED_ALONE, self.shown_questions, LONGEST_QUESTIONS),
            (SETS, {SETS: self.sets}, LONGEST_SETS),
        ):
            if len(json.dumps(dict(content))) > most:
                raise FormatError(f"the {what} of a plan have at most {most} characters")
        if not set(self.shows) <= set(SHOWN_BY.get(self.method, ())):
            raise FormatError(f"the method {self.method} does not need to be shown {', '.join(self.shows)}")
        if not set(self.shown_questions) <= set(self.shows) & set(SHOWN_ONCE):
            raise FormatError(f"{ASKED_ALONE} must be those of tasks that are shown, and asked once")
        if self.privacy is not None:
            self._check_release(self.privacy)

    def _check_sets(self) -> None:
        regresses = FOURTH in self.questions
        if regresses and not self.sets:
            raise FormatError("a plan that asks for fourth moments names its regressions")
        if self.sets and (self.questions not in {(COUNTS,), (FOURTH,)} or self.shows):
            raise FormatError("a plan that names sets of columns asks for their sums and nothing else")
        for names in self.sets:
            codings = [coding for name in names if (coding := self.codebook.get(name)) is not None]
            if not len(set(names)) == len(names) == len(codings) > regresses:
                raise FormatError("sets must be different columns of the plan")
            if any(coding.continuous is not regresses for coding in codings):
                raise FormatError(
                    "sets are regressions of continuous columns, or tables of discrete ones: not of both"
                )
            cells = prod(len(coding.variable.levels) for coding in codings)
            if regresses:
                cells = comb(len(names) + 4, 4)
            if cells > self.cells_per_table:
                what = "sums of products" if regresses else "cells"
                raise FormatError(
                    f"{', '.join(names)} have {cells} {what}, and {self.cells_per_table} are allowed "
                    "(cells_per_table of the codebook): use fewer columns, or agree on more"
                )
        if self.sets and {name for names in self.sets for name in names} != set(self.codebook.schema.names):
            raise FormatError("a plan that names sets of columns has no other columns")

    def _check_weights(self) -> None:
        if self.shows:
            self.codebook.refuse_ranks("a method that learns from each site alone")
        weighing = self.codebook.largest_weight > 0
        if weighing is not (WEIGHTS in self.questions):
            raise FormatError("a plan for rows with weights has the question weights, and a largest weight")
        if weighing and (self.shows or not set(self.questions) <= set(WEIGHED)):
            raise FormatError(
                "rows with weights go into counts and moments, and into nothing that is about series, "
                "effects, noise or one site alone: leave largest_weight out of the codebook, or choose "
                "another method"
            )

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """The places of some columns: in order for a table, as they are named for a regression."""
        places = map(self.codebook.schema.index, names)
        return tuple(places if FOURTH in self.questions else sorted(places))

    def _check_windows(self) -> None:
        if not self.lags:
            return
        discrete = [coding.name for coding in self.codebook if not coding.continuous]
        if discrete:
            raise FormatError(f"windows of time need numbers, and column '{discrete[0]}' has levels")
        columns = len(self.codebook.columns) * (self.lags + 1)
        if columns * (columns + 1) // 2 > MOST_CELLS:
            raise FormatError(
                f"windows of {self.lags + 1} steps of {len(self.codebook.columns)} columns are too wide for "
                "one sum: use fewer lags, or fewer columns"
            )

    def _check_release(self, terms: PrivacyTerms) -> None:
        if terms.sites != len(self.sites):
            raise FormatError(f"the terms of privacy are for {terms.sites} sites")
        size = feature_size(terms, self.codebook.schema)
        if size > MOST_RELEASED:
            raise FormatError(
                f"a release of {size:,} numbers is too large, at most {MOST_RELEASED:,} are possible: "
                "use fewer columns, or fewer levels"
            )
        largest = self._released_cells(terms)
        if largest > self.cells_per_table:
            raise FormatError(
                f"a release has tables of up to {largest} cells, and the plan allows "
                f"{self.cells_per_table} (cells_per_table): use fewer levels, or allow more cells"
            )

    def new_answers(self, known: Collection[str]) -> int:
        """The number of answers of a site alone that a run adds; rounds are one, in every run anew."""
        asked = {self.shown_name(task) for task in self.shows if task in SHOWN_ONCE}
        return len(asked.difference(known)) + self.shows_rounds

    @property
    def shows_rounds(self) -> bool:
        """True if sites show answers round by round."""
        return any(task not in SHOWN_ONCE for task in self.shows)

    def shown_name(self, task: str) -> str:
        """The name under which the answer to one of the plan's questions is counted."""
        return shown_name(self.codebook.digest, task, self.shown_questions.get(task, {}))

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON holds it."""
        asked = {task: dict(question) for task, question in self.shown_questions.items()}
        return {
            "version": VERSION,
            "coordinator": self.coordinator,
            "sites": dict(self.sites),
            "method": self.method,
            "settings": dict(self.settings),
            "columns": self.codebook.to_list(),
            "questions": list(self.questions),
            "columns_per_table": self.columns_per_table,
            "cells_per_table": self.cells_per_table,
            "tables": self.tables,
            "functions": self.functions,
            "lags": self.lags,
            "step": self.step,
            "largest_rows": self.largest_rows,
            "shows": list(self.shows),
            "privacy": None if self.privacy is None else self.privacy.to_dict(),
            **({ASKED_ALONE: asked} if asked else {}),
            **({SETS: [list(names) for names in self.sets]} if self.sets else {}),
            **({LARGEST_WEIGHT: self.codebook.largest_weight} if self.codebook.largest_weight else {}),
        }

    def for_log(self) -> dict[str, Any]:
        """The plan as a log holds it: of a long question to a site alone its hash, until it is asked."""
        short = {
            task: question
            if len(json.dumps(dict(question))) <= LOGGED_QUESTION
            else {"sha256": self.shown_name(task).split()[-1]}
            for task, question in self.shown_questions.items()
        }
        return replace(self, shown_questions=short).to_dict()

    def encode(self) -> bytes:
        """The one way to write this plan."""
        text = json.dumps(
            self.to_dict(), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return text.encode()

    @cached_property
    def digest(self) -> bytes:
        """The hash of the plan, which every party signs."""
        return sha256(b"dagora plan\0" + self.encode()).digest()

    @cached_property
    def roster_digest(self) -> str:
        """A name for exactly these sites."""
        listed = json.dumps(sorted(self.sites.items()))
        return sha256(b"dagora roster\0" + listed.encode()).hexdigest()

    @property
    def largest_table(self) -> int:
        """The most cells that a table of this plan can have; for regressions, the most sums of products.

        A release has the tables of pairs, or one of all columns.
        """
        if FOURTH in self.questions:
            return max(comb(len(names) + 4, 4) for names in self.sets)
        if self.privacy is not None:
            return min(self.cells_per_table, self._released_cells(self.privacy))
        return min(self.cells_per_table, self._cells(self.columns_per_table))

    def _released_cells(self, terms: PrivacyTerms) -> int:
        return self._cells(len(self.codebook.columns) if terms.release == "table" else 2)

    def _cells(self, columns: int) -> int:
        """The most cells that a table of so many columns can have."""
        cards = (len(variable.levels) for variable in self.codebook.schema if variable.levels)
        return prod(sorted(cards, reverse=True)[:columns])

    @classmethod
    def decode(cls, payload: bytes) -> RunPlan:
        """Read and check a plan that came from elsewhere; only bytes that `encode` writes are accepted."""
        if len(payload) > LONGEST_PLAN:
            raise ProtocolError("the plan is too long")
        try:
            content = json.loads(payload.decode(), parse_int=_short_integer)
            plan = cls.from_dict(content)
            same = plan.encode() == payload
        except DagoraError as error:
            raise ProtocolError(f"the plan is not valid: {error.text}") from None
        except (ValueError, RecursionError):
            raise ProtocolError("the plan is not valid: it cannot be read") from None
        if not same:
            raise ProtocolError("the plan is not valid: it is not written in the one way")
        return plan

    @classmethod
    def from_dict(cls, content: object) -> RunPlan:
        """Read a plan, and check every part of it."""
        if not isinstance(content, dict):
            raise FormatError("a plan is a table of named values")
        unknown, lacking = set(content) - FIELDS - {ASKED_ALONE, SETS, LARGEST_WEIGHT}, FIELDS - set(content)
        if unknown:
            raise FormatError(f"a plan has no '{min(unknown)}': {among(sorted(FIELDS))}")
        if lacking:
            raise FormatError(f"a plan needs '{min(lacking)}'")
        if content["version"] != VERSION:
            raise FormatError(f"plans of version {VERSION} are understood: use the same dagora everywhere")
        method, settings, privacy = content["method"], content["settings"], content["privacy"]
        if not (isinstance(method, str) and method.isprintable() and 0 < len(method) <= 80):
            raise FormatError("method must be a short printable text")
        if not isinstance(settings, dict) or not all(map(_is_setting, settings.items())):
            raise FormatError("settings must be named numbers, texts, or lists of texts")
        return cls(
            sites=read_sites(content["sites"]),
            codebook=Codebook.from_list(content["columns"], content.get(LARGEST_WEIGHT, 0.0)),
            method=method,
            questions=_words("questions", content["questions"], QUESTIONS),
            coordinator=read_fingerprint("coordinator", content["coordinator"]),
            settings=settings,
            columns_per_table=whole_number("columns_per_table", content["columns_per_table"], 0, 64),
            cells_per_table=whole_number("cells_per_table", content["cells_per_table"], 1, MOST_CELLS),
            tables=whole_number("tables", content["tables"], 0, 1 << 62),
            functions=whole_number("functions", content["functions"], 0, MOST_FUNCTIONS),
            lags=whole_number("lags", content["lags"], 0, MOST_LAGS),
            step=read_number("step", content["step"]),
            largest_rows=whole_number("largest_rows", content["largest_rows"], 1, MOST_ROWS),
            shows=_words("shows", content["shows"], None),
            privacy=None if privacy is None else PrivacyTerms.from_dict(privacy),
            shown_questions=_questions(content.get(ASKED_ALONE, {})),
            sets=_sets(content.get(SETS, [])),
        )


def shown_name(codebook: str, task: str, question: Mapping[str, Any]) -> str:
    """The name under which an answer that is shown is counted: columns and question, whatever the plan."""
    asked = json.dumps([codebook, question], sort_keys=True)
    return f"{task} {sha256(asked.encode()).hexdigest()}"


def _short_integer(digits: str) -> int:
    # A seed has up to 128 bits.
    if len(digits) > 40 or not -(1 << 128) < int(digits) < 1 << 128:
        raise FormatError("it holds a number of too many digits")
    return int(digits)


def _questions(content: object) -> dict[str, dict[str, Any]]:
    if not isinstance(content, dict) or not _is_question(content, DEEPEST_QUESTION + 1):
        raise FormatError(f"{ASKED_ALONE} must be named values for each task")
    if not all(isinstance(question, dict) for question in content.values()):
        raise FormatError(f"{ASKED_ALONE} must be named values for each task")
    return content


def _sets(content: object) -> tuple[tuple[str, ...], ...]:
    """Lists of names; whether the plan has these columns is checked with the plan."""
    if not isinstance(content, list) or len(content) > MOST_SETS:
        raise FormatError(f"{SETS} must be a list of at most {MOST_SETS} lists of columns")
    for names in content:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FormatError(f"{SETS} must be a list of at most {MOST_SETS} lists of columns")
    return tuple(map(tuple, content))


def _is_question(value: object, depth: int) -> bool:
    """True for numbers, texts, and a few levels of lists and named values of them."""
    if isinstance(value, list | dict):
        inner = value if isinstance(value, list) else value.values()
        return depth > 0 and all(_is_question(each, depth - 1) for each in inner)
    return isinstance(value, bool | int | float | str)


def worst_case(columns: int, columns_per_table: int) -> int:
    """The number of tables of one up to so many columns.

    >>> worst_case(37, 3)
    8473
    """
    return sum(comb(columns, size) for size in range(1, min(columns, columns_per_table) + 1))


def whole_number(name: str, value: object, least: int, most: int) -> int:
    """Check a whole number of a plan or policy."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise FormatError(f"{name} must be a whole number from {least} to {most}")
    return value


def read_number(name: str, value: object) -> float:
    """Check a number of a plan or policy: the length of a step of time (0 without series), or a limit."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e18:
        raise FormatError(f"{name} must be a number, 0 or more")
    return float(value)


def read_fingerprint(name: str, value: object) -> str:
    """Check the fingerprint of a certificate; it may still be unknown (empty)."""
    if not isinstance(value, str) or (value and not _is_fingerprint(value)):
        raise FormatError(f"{name} must be a fingerprint, {FINGERPRINT} and 64 hexadecimal digits")
    return value


def _is_fingerprint(value: str) -> bool:
    digits = value.removeprefix(FINGERPRINT)
    return len(digits) == 64 and value.startswith(FINGERPRINT) and set(digits) <= set("0123456789abcdef")


def read_sites(content: object) -> dict[str, str]:
    """Check the sites of a plan or policy: their names and the fingerprints of their certificates."""
    if not isinstance(content, dict) or not 2 <= len(content) <= MOST_SITES:
        raise FormatError(
            f"sites must be 2 to {MOST_SITES} names with the fingerprints of their certificates"
        )
    sites = {}
    for name, fingerprint in content.items():
        try:
            sites[check_name(name)] = read_fingerprint(f"the certificate of '{name}'", fingerprint)
        except ProtocolError as error:
            raise FormatError(str(error)) from None
    known = [fingerprint for fingerprint in sites.values() if fingerprint]
    if len(set(known)) < len(known):
        raise FormatError("two sites have the same certificate")
    return dict(sorted(sites.items()))


def _is_setting(item: tuple[str, object]) -> bool:
    name, value = item
    texts = [name, *(value if isinstance(value, list) else [value])]
    return all(
        (isinstance(text, str) and text.isprintable() and len(text) <= LONGEST_SETTING)
        or (isinstance(text, bool | int | float) and text is value)
        for text in texts
    )


def _words(name: str, value: object, allowed: tuple[str, ...] | None) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.isprintable() for word in value):
        raise FormatError(f"{name} must be a list of words")
    for word in value:
        if allowed is not None and word not in allowed:
            raise FormatError(f"there are no {name} of the kind '{word}': {among(allowed)}")
    if len(set(value)) < len(value) or len(value) > 20:
        raise FormatError(f"{name} must be a short list of different words")
    return tuple(value)
