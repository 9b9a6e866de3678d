"""Messy tables with a known truth: is the result right, does the output say what is wrong, or neither?

    OMP_NUM_THREADS=1 python benchmarks/silence.py [--only NAME ...] [--seed 0]

Every table is written as a file and read by `dagora learn FILE`, as a newcomer would. A case has a truth
about the table: the columns that are variables, their kind, the edges that must or must not be there. The
result is `right` if it agrees with all of it, `said` if a warning, an error or a line about directions names
the trouble, else `silent`. The last column is the first such line.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dagora.cli.main import run
from report import markdown_table

Columns = dict[str, object]
Rng = np.random.Generator

CASES: dict[str, Case] = {}
SPEAKS = r"^dagora: |^the data determine|rests on|left out|ordered|if they are codes|if they are amounts"
"""Lines that say something about a table; others list its columns and edges."""


@dataclass(frozen=True)
class Case:
    """A messy table: how it is made, what the output should name, and what would be right without a word."""

    make: Callable[[Rng], str]
    said: str
    right: Callable[[dict], bool]
    options: tuple[str, ...] = ()


def never(_: dict) -> bool:
    """Nothing that is learned from this table is right without a word."""
    return False


def case(said: str, right: Callable[[dict], bool] = never, *options: str) -> Callable:
    """Register a table under the name of its function."""

    def add(make: Callable[[Rng], Columns | str]) -> Callable:
        def text(rng: Rng) -> str:
            made = make(rng)
            return made if isinstance(made, str) else as_csv(made)

        CASES[make.__name__] = Case(text, said, right, options)
        return make

    return add


def as_csv(columns: Columns, separator: str = ",") -> str:
    """Columns as the text of a file."""
    rows = zip(*columns.values(), strict=True)
    lines = [separator.join(columns), *(separator.join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def adjacent(one: str, other: str) -> Callable[[dict], bool]:
    """Return a check that two variables are adjacent."""
    return lambda result: {one, other} in map(set, result["edges"] + result["undirected"])


def apart(one: str, other: str) -> Callable[[dict], bool]:
    """Return a check that both are variables, and not adjacent."""
    return lambda result: {one, other} <= {*result["nodes"]} and not adjacent(one, other)(result)


def without(name: str) -> Callable[[dict], bool]:
    """Return a check that a column is not among the variables."""
    return lambda result: name not in result["nodes"]


def kind(name: str, wanted: str) -> Callable[[dict], bool]:
    """Return a check of the kind of a column."""

    def check(result: dict) -> bool:
        return any(one["name"] == name and one["type"] == wanted for one in result["data"]["columns"])

    return check


def both(*checks: Callable[[dict], bool]) -> Callable[[dict], bool]:
    """Return a check that all checks hold."""
    return lambda result: all(check(result) for check in checks)


def normal(rng: Rng, n: int = 600) -> np.ndarray:
    """Normal numbers, rounded as people write them."""
    return rng.normal(size=n).round(3)


def linked(rng: Rng, n: int = 600, slope: float = 1.0) -> Columns:
    """Two linked columns and a third by itself."""
    x = rng.normal(size=n)
    return {"x": x.round(3), "y": (slope * x + rng.normal(size=n)).round(3), "z": normal(rng, n)}


def yes_no(rng: Rng, n: int = 600) -> np.ndarray:
    """Yes or no."""
    return rng.choice(["no", "yes"], n)


# --- directions -------------------------------------------------------------------------------------------


@case("determine 0 of 1 direction")
def direction_of_two(rng: Rng) -> Columns:
    return linked(rng)


@case(r"determine 0 of [23] directions")
def direction_of_confounded_drug(rng: Rng) -> Columns:
    n = 2000
    severe = rng.random(n) < 0.5
    drug = np.where(rng.random(n) < np.where(severe, 0.8, 0.3), "B", "A")
    death = np.where(rng.random(n) < 0.1 + 0.5 * severe + 0.2 * (drug == "A"), "yes", "no")
    return {"severe": np.where(severe, "yes", "no"), "drug": drug, "death": death}


@case(r"rests on|determine 0", lambda r: {("a", "c"), ("b", "c")} == {tuple(edge) for edge in r["edges"]})
def direction_on_a_weak_edge(rng: Rng) -> Columns:
    n = 250
    a, b = rng.normal(size=n), rng.normal(size=n)
    return {"a": a.round(3), "b": b.round(3), "c": (a + 0.17 * b + rng.normal(size=n)).round(3)}


# --- numbers as text --------------------------------------------------------------------------------------


@case(r"decimal|thousand", both(adjacent("betrag", "menge")))
def thousands_dots(rng: Rng) -> str:
    amount = rng.gamma(2, 2000, 500)
    written = [f"{value:,.0f}".replace(",", ".") for value in amount]
    quantity = [f"{value / 500 + rng.normal():.2f}".replace(".", ",") for value in amount]
    return as_csv({"betrag": written, "menge": quantity}, ";")


@case(r"decimal|comma", both(adjacent("x", "y"), kind("x", "continuous")))
def decimal_commas(rng: Rng) -> str:
    columns = linked(rng)
    text = {name: [str(value).replace(".", ",") for value in values] for name, values in columns.items()}
    return as_csv(text, ";")


@case(r"unit|percent|text|number", both(adjacent("x", "y"), kind("x", "continuous")))
def numbers_with_units(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": [f"{value} mg" for value in columns["x"]]}


@case(r"unit|factor|scale|apart")
def mixed_units(rng: Rng) -> Columns:
    n = 400
    hb = rng.normal(14, 1.2, n)
    other = hb * 2 + rng.normal(size=n)
    return {
        "hb": np.where(rng.random(n) < 0.2, hb * 10, hb).round(1),
        "iron": other.round(2),
        "z": normal(rng, n),
    }


@case(r"outlier|influen|one row|single row|row 1 alone", apart("a", "b"))
def one_outlier_makes_an_edge(rng: Rng) -> Columns:
    a, b = normal(rng, 200), normal(rng, 200)
    a[0], b[0] = 60.0, 55.0
    return {"a": a, "b": b, "c": normal(rng, 200)}


# --- missing values in disguise ---------------------------------------------------------------------------


def with_codes(rng: Rng, codes: list[object], share: float = 0.15) -> Columns:
    """A link between columns of which one has codes for missing values, at the same rows as the other."""
    n = 600
    x, y = rng.normal(50, 10, n), rng.normal(50, 10, n)
    gone = rng.random(n) < share
    place = rng.integers(len(codes), size=n)
    shown = [codes[place[i]] if gone[i] else f"{x[i]:.1f}" for i in range(n)]
    return {"x": shown, "y": np.where(gone & (rng.random(n) < 0.7), y + 30, y).round(1)}


@case(r"-99\b.*miss|miss.*-99\b")
def code_minus_99(rng: Rng) -> Columns:
    return with_codes(rng, [-99])


@case(r"888.*999|999.*888")
def codes_888_and_999(rng: Rng) -> Columns:
    return with_codes(rng, [888, 999])


@case(r"-8.*-9|-9.*-8")
def codes_minus_8_and_9(rng: Rng) -> Columns:
    return with_codes(rng, [-8, -9])


@case(r"\b0\b.*miss|miss.*\b0\b")
def zero_far_away(rng: Rng) -> Columns:
    return with_codes(rng, [0])


@case(r"-1\b.*miss|miss.*-1\b")
def code_minus_1(rng: Rng) -> Columns:
    return with_codes(rng, [-1])


@case(r"\b9\b.*miss|miss.*\b9\b")
def code_9_in_few_values(rng: Rng) -> Columns:
    n = 600
    smoker = rng.choice([0, 1, 2], n)
    gone = rng.random(n) < 0.1
    return {"smoker": np.where(gone, 9, smoker), "lung": np.where(gone, 1, rng.choice([0, 1], n))}


@case(r"\b99\b.*miss|miss.*\b99\b")
def code_99_in_few_values(rng: Rng) -> Columns:
    n = 600
    grade = rng.choice([1, 2, 3, 4], n)
    return {"grade": np.where(rng.random(n) < 0.1, 99, grade), "sex": rng.choice(["f", "m"], n)}


@case(r"unknown.*miss|miss.*unknown|'unknown'")
def word_unknown(rng: Rng) -> Columns:
    n = 600
    a = yes_no(rng)
    gone = rng.random(n) < 0.1
    return {"a": np.where(gone, "unknown", a), "b": np.where(gone, "yes", yes_no(rng))}


@case(r"keine Angabe")
def word_keine_angabe(rng: Rng) -> Columns:
    n = 600
    gone = rng.random(n) < 0.1
    return {"a": np.where(gone, "keine Angabe", yes_no(rng)), "b": np.where(gone, "yes", yes_no(rng))}


@case(r"miss", kind("x", "continuous"))
def question_marks(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": np.where(rng.random(600) < 0.1, "?", columns["x"].astype(str))}


# --- columns that are not variables -----------------------------------------------------------------------


def visits(rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """120 patients of 10 visits: numbers that belong to the patient, independent between columns."""
    patient = np.repeat(np.arange(120), 10)
    own = rng.normal(size=(120, 2))[patient]
    return (
        patient,
        (own[:, 0] + 0.1 * rng.normal(size=1200)).round(2),
        (own[:, 1] + 0.1 * rng.normal(size=1200)).round(2),
    )


@case(r"not independent|identif|repeat")
def repeated_patients(rng: Rng) -> Columns:
    patient, a, b = visits(rng)
    return {"patient_id": patient, "bmi": a, "sbp": b}


@case(r"not independent|identif|repeat")
def repeated_mrn(rng: Rng) -> Columns:
    patient, a, b = visits(rng)
    return {"mrn": patient * 7919 % 100003 + 200000, "visit": np.tile(np.arange(10), 120), "a": a, "b": b}


@case(r"identif|left out", without("id"))
def row_numbers(rng: Rng) -> Columns:
    return {"id": np.arange(600), **linked(rng)}


@case(r"cop(y|ies)|duplicate|twice|identical")
def copied_rows(rng: Rng) -> Columns:
    columns = linked(rng, 300)
    again = rng.integers(0, 300, 300)
    return {name: np.concatenate([values, np.asarray(values)[again]]) for name, values in columns.items()}


@case(r"count|weight|freq")
def table_of_counts(rng: Rng) -> Columns:
    rows = [(a, b, c) for a in ("no", "yes") for b in ("no", "yes") for c in ("f", "m")]
    counts = rng.integers(20, 400, len(rows))
    a, b, c = zip(*rows, strict=True)
    return {"smoker": a, "mi": b, "sex": c, "n": counts}


@case(r"weight")
def survey_weights(rng: Rng) -> Columns:
    return {**linked(rng), "weight": rng.gamma(4, 0.25, 600).round(4)}


@case(r"date", without("day"))
def dates_as_numbers(rng: Rng) -> Columns:
    day = np.array(["2018-01-01"], dtype="datetime64[D]") + rng.integers(0, 900, 600)
    return {"day": [str(one).replace("-", "") for one in day], **linked(rng)}


@case(r"zip|code|identif", without("zip"))
def zip_codes(rng: Rng) -> Columns:
    return {"zip": rng.choice(rng.integers(10000, 99999, 60), 600), **linked(rng)}


@case(r"hospital|code|identif", kind("hospital", "discrete"))
def hospital_numbers(rng: Rng) -> Columns:
    return {"hospital": rng.choice(rng.integers(100, 999, 30), 600), **linked(rng)}


@case(r"date|time", without("visit"))
def iso_dates(rng: Rng) -> Columns:
    day = np.array(["2018-01-01"], dtype="datetime64[D]") + rng.integers(0, 900, 600)
    return {"visit": day, **linked(rng)}


@case(r"constant|never changes|one level|left out", without("c"))
def constant_column(rng: Rng) -> Columns:
    return {**linked(rng), "c": [5.0] * 600}


@case(r"text|left out|name", without("comment"))
def free_text(rng: Rng) -> Columns:
    words = np.array(["pain", "cough", "better", "worse", "home", "again"])
    return {**linked(rng), "comment": [" ".join(rng.choice(words, 5)) + f" {i}" for i in range(600)]}


# --- spellings and headers --------------------------------------------------------------------------------


@case(r"case|spelling|differ only|the same")
def yes_in_three_spellings(rng: Rng) -> Columns:
    a = rng.choice([0, 1], 600)
    spelled = np.array([["no", "No", "NO"], ["yes", "Yes", "YES"]])[a, rng.integers(0, 3, 600)]
    return {"a": spelled, "b": np.where(rng.random(600) < 0.8, a, 1 - a)}


@case(r"TRUE|true|case|spelling|differ only")
def true_and_one(rng: Rng) -> Columns:
    a = rng.choice([0, 1], 600)
    return {"a": np.array([["FALSE", "0"], ["TRUE", "1"]])[a, rng.integers(0, 2, 600)], "b": a}


@case(r"blank|space|differ only|case|spelling", lambda r: r["data"]["columns"][0]["levels"] == 2)
def trailing_blanks(rng: Rng) -> Columns:
    a = yes_no(rng)
    return {"a": np.where(rng.random(600) < 0.5, np.char.add(a, " "), a), "b": a}


@case(r"header|names of the columns")
def repeated_header(rng: Rng) -> str:
    lines = as_csv(linked(rng)).splitlines()
    return "\n".join([*lines[:200], lines[0], *lines[200:]]) + "\n"


@case(r"name|header|twice|same")
def two_columns_of_one_name(rng: Rng) -> str:
    return as_csv(linked(rng)).replace("x,y,z", "x,x,z", 1)


@case(r"separator|semicolon|;", both(adjacent("x", "y"), apart("x", "z")))
def semicolons(rng: Rng) -> str:
    return as_csv(linked(rng), ";")


@case(r"separator|tab", both(adjacent("x", "y"), apart("x", "z")))
def tabs_in_a_csv(rng: Rng) -> str:
    return as_csv(linked(rng), "\t")


# --- kinds of columns -------------------------------------------------------------------------------------


@case(r"ordered|continuous|trend", adjacent("age", "height"))
def ages_of_children(rng: Rng) -> Columns:
    age = rng.integers(0, 18, 150)
    return {"age": age, "height": (age * 0.25 + rng.normal(0, 4, 150)).round(1), "z": normal(rng, 150)}


@case(r"ordered|continuous|trend", adjacent("item1", "item2"))
def likert_items(rng: Rng) -> Columns:
    trait = rng.normal(size=150)

    def item() -> np.ndarray:
        return np.clip(np.round(4 + 0.75 * trait + 1.6 * rng.normal(size=150)), 1, 7).astype(int)

    return {"item1": item(), "item2": item(), "z": rng.integers(1, 8, 150)}


@case(r"ordered|continuous|trend", adjacent("visits", "score"))
def counts_of_visits(rng: Rng) -> Columns:
    visits_made = np.minimum(rng.poisson(6, 150), 16)
    return {
        "visits": visits_made,
        "score": (visits_made * 0.35 + rng.normal(0, 2.2, 150)).round(2),
        "z": normal(rng, 150),
    }


@case(r"discrete", kind("region", "discrete"))
def codes_of_regions(rng: Rng) -> Columns:
    region = rng.integers(1, 9, 600)
    effect = rng.permutation(8)[region - 1]
    return {"region": region, "income": (effect + rng.normal(0, 1, 600)).round(2), "z": normal(rng)}


@case(r"cop(y|ies)|same|collinear|linearly")
def kilograms_and_pounds(rng: Rng) -> Columns:
    kg = rng.normal(75, 12, 600)
    return {
        "kg": kg.round(1),
        "lb": (kg * 2.20462).round(1),
        "sbp": (kg * 0.5 + rng.normal(0, 8, 600)).round(0),
    }


@case(r"collinear|linearly|sum of")
def parts_and_total(rng: Rng) -> Columns:
    a, b = rng.gamma(4, 5, 600).round(1), rng.gamma(4, 5, 600).round(1)
    return {"a": a, "b": b, "total": (a + b).round(1)}


@case(r"level|rare|sparse|rows")
def many_levels(rng: Rng) -> Columns:
    code = rng.integers(0, 90, 300)
    return {
        "diagnosis": [f"D{value:02d}" for value in code],
        "ward": rng.choice(list("abcdef"), 300),
        "sex": rng.choice(["f", "m"], 300),
    }


# --- rows -------------------------------------------------------------------------------------------------


@case(r"time|autocorrel|follow")
def random_walks(rng: Rng) -> Columns:
    return {name: rng.normal(size=500).cumsum().round(3) for name in "abcd"}


@case(r"rows|columns|few|penalty", lambda r: len(r["edges"]) + len(r["undirected"]) <= 3)
def fewer_rows_than_columns(rng: Rng) -> Columns:
    return {f"v{i}": normal(rng, 30) for i in range(60)}


@case(r"row", lambda r: not r["edges"])
def five_rows(rng: Rng) -> Columns:
    return {name: normal(rng, 5) for name in "abc"}


@case(r"determined by|others determine|lose|function of", adjacent("either", "xray"), "--method", "pc")
def a_column_that_others_determine(rng: Rng) -> Columns:
    n = 5000
    tub, lung = rng.random(n) < 0.1, rng.random(n) < 0.2
    either = tub | lung
    xray = rng.random(n) < np.where(either, 0.95, 0.05)
    return {
        name: np.where(column, "yes", "no")
        for name, column in {"tub": tub, "lung": lung, "either": either, "xray": xray}.items()
    }


@case(r"miss", both(adjacent("x", "y"), apart("x", "z")))
def half_of_the_cells_missing(rng: Rng) -> Columns:
    columns = linked(rng)
    return {
        name: np.where(rng.random(600) < 0.5, "", np.asarray(values).astype(str))
        for name, values in columns.items()
    }


@case(r"miss|not at random|depend", never)
def missing_depends_on_another(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "y": np.where(columns["x"] > 0.5, "", np.asarray(columns["y"]).astype(str))}


@case(r"determine 2 of 2|→", both(adjacent("a", "c"), adjacent("b", "c")))
def a_clean_collider(rng: Rng) -> Columns:
    a, b = rng.normal(size=600), rng.normal(size=600)
    return {"a": a.round(3), "b": b.round(3), "c": (a + b + rng.normal(size=600)).round(3)}


@case(r"nothing", lambda r: not r["edges"])
def clean_noise(rng: Rng) -> Columns:
    return {"a": normal(rng), "b": normal(rng), "c": normal(rng)}


@case(r"square|linear|nonlinear|curve", adjacent("x", "y"))
def a_parabola(rng: Rng) -> Columns:
    x = rng.normal(size=600)
    return {"x": x.round(3), "y": (x**2 + 0.3 * rng.normal(size=600)).round(3)}


@case(r"tail|outlier|normal|skew", lambda r: not r["edges"])
def heavy_tails(rng: Rng) -> Columns:
    return {name: rng.standard_cauchy(400).round(3) for name in "abc"}


# --- cells as other programs write them -------------------------------------------------------------------


def written(values: np.ndarray, form: Callable[[float], str]) -> list[str]:
    """Numbers in a form of writing."""
    return [form(float(value)) for value in values]


LINKED = both(adjacent("x", "y"), apart("x", "z"))
"""What is true of `linked` tables."""

LINKED_NUMBERS = both(LINKED, kind("x", "continuous"))


@case(r"<|limit|censor|text", LINKED_NUMBERS)
def values_below_a_limit(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": written(columns["x"], lambda v: "<-1.0" if v < -1 else str(v))}


@case(r"currency|\$|sign|text", LINKED_NUMBERS)
def currency_signs(rng: Rng) -> str:
    columns = linked(rng)
    price = written(columns["x"], lambda v: f'"${1000 + 300 * v:,.2f}"')
    return as_csv({**columns, "x": price})


@case(r"scientific|text|number", LINKED_NUMBERS)
def scientific_notation_in_some_cells(rng: Rng) -> Columns:
    columns = linked(rng)
    odd = rng.random(600) < 0.3
    shown = [f"{v / 1000:.3e}" if e else f"{v / 1000:.6f}" for v, e in zip(columns["x"], odd, strict=True)]
    return {**columns, "x": shown}


@case(r"inf|large|finite")
def infinities(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": written(columns["x"], lambda v: "inf" if v > 1.5 else str(v))}


@case(r"#DIV|#N/A|miss|text", LINKED_NUMBERS)
def errors_of_a_spreadsheet(rng: Rng) -> Columns:
    columns = linked(rng)
    broken = rng.choice(["#DIV/0!", "#N/A", "#REF!", ""], 600, p=[0.03, 0.02, 0.01, 0.94])
    return {**columns, "x": [b or str(v) for b, v in zip(broken, columns["x"], strict=True)]}


@case(r"parenthes|bracket|negative|text", LINKED_NUMBERS)
def losses_in_parentheses(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": written(columns["x"], lambda v: f"({-v:.3f})" if v < 0 else f"{v:.3f}")}


@case(r"percent|%|unit|text")
def percent_signs_in_some_cells(rng: Rng) -> Columns:
    columns = linked(rng)
    share = 1 / (1 + np.exp(-np.asarray(columns["x"])))
    odd = rng.random(600) < 0.4
    shown = [f"{100 * v:.1f}%" if e else f"{v:.3f}" for v, e in zip(share, odd, strict=True)]
    return {**columns, "x": shown}


@case(r"unit|text|mg|level")
def two_units_in_the_cells(rng: Rng) -> Columns:
    columns = linked(rng)
    dose = 500 + 100 * np.asarray(columns["x"])
    odd = rng.random(600) < 0.3
    shown = [f"{v / 1000:.4f} g" if e else f"{v:.1f} mg" for v, e in zip(dose, odd, strict=True)]
    return {**columns, "x": shown}


@case(r"blank|space|thousand|text", LINKED_NUMBERS)
def blanks_between_thousands(rng: Rng) -> str:
    columns = linked(rng)
    amount = written(columns["x"], lambda v: f"{20000 + 5000 * v:,.1f}".replace(",", " "))
    return as_csv({**columns, "x": amount})


@case(r"date|time|text", without("day"))
def dates_in_three_forms(rng: Rng) -> str:
    day = np.array(["2018-01-01"], dtype="datetime64[D]") + rng.integers(0, 900, 600)
    forms = ("%Y-%m-%d", "%d.%m.%Y", '"%B %d, %Y"')
    shown = [one.item().strftime(forms[k]) for one, k in zip(day, rng.integers(0, 3, 600), strict=True)]
    return as_csv({"day": shown, **linked(rng)})


@case(r"time|text|date", without("wake"))
def times_of_day(rng: Rng) -> Columns:
    minute = rng.integers(300, 600, 600)
    return {"wake": [f"{m // 60}:{m % 60:02d}" for m in minute], **linked(rng)}


@case(r"date|time|second", without("stamp"))
def seconds_since_1970(rng: Rng) -> Columns:
    return {"stamp": 1_520_000_000 + np.sort(rng.integers(0, 80_000_000, 600)), **linked(rng)}


@case(r"quot", LINKED_NUMBERS)
def quoted_numbers(rng: Rng) -> str:
    columns = linked(rng)
    return as_csv({name: written(np.asarray(values), lambda v: f'"{v}"') for name, values in columns.items()})


# --- files as other programs write them -------------------------------------------------------------------


@case(r"nothing", LINKED_NUMBERS)
def byte_order_mark(rng: Rng) -> str:
    return "\ufeff" + as_csv(linked(rng))


@case(r"cell|line|row|cut|end", LINKED_NUMBERS)
def truncated_file(rng: Rng) -> str:
    text = as_csv(linked(rng))
    return text[: text.rstrip().rfind(",") - 2]


@case(r"header|table|cell|line|row|text")
def two_tables_in_one_file(rng: Rng) -> str:
    other = {"dose": normal(rng, 200), "weight": normal(rng, 200), "age": normal(rng, 200)}
    return as_csv(linked(rng, 300)) + "\n" + as_csv(other)


@case(r"header|name|unnamed|text|row", LINKED_NUMBERS)
def header_over_two_lines(rng: Rng) -> str:
    return "Lab,,Vitals\n" + as_csv(linked(rng))


@case(r"header|unit|text|row", LINKED_NUMBERS)
def units_below_the_header(rng: Rng) -> str:
    lines = as_csv(linked(rng)).splitlines()
    return "\n".join([lines[0], "mg,kg,cm", *lines[1:]]) + "\n"


@case(r"header|comment|line|cell|column", LINKED_NUMBERS)
def remarks_above_the_header(rng: Rng) -> str:
    return "# exported 2024-03-01 by LabSystem 4\n# confidential\n" + as_csv(linked(rng))


@case(r"total|alone|outlier|apart|row")
def total_in_the_last_row(rng: Rng) -> Columns:
    columns = {name: np.round(np.abs(normal(rng, 300)) * 10 + 5, 1) for name in ("jan", "feb", "mar")}
    region = [f"R{k}" for k in rng.integers(0, 8, 300)]
    summed = {name: [*values, round(float(values.sum()), 1)] for name, values in columns.items()}
    return {"region": [*region, "Total"], **summed}


@case(r"has no name", LINKED_NUMBERS)
def empty_lines_and_columns(rng: Rng) -> str:
    lines = [line + ",," for line in as_csv(linked(rng)).splitlines()]
    return "\n".join([*lines, ",,,,", ",,,,"]) + "\n"


@case(r"unnamed|name|left out|row number", LINKED)
def row_names_without_a_header(rng: Rng) -> str:
    lines = as_csv(linked(rng)).splitlines()
    return "\n".join(["," + lines[0], *(f"{k},{line}" for k, line in enumerate(lines[1:]))]) + "\n"


@case(r"cell|line|row")
def a_row_with_a_cell_too_many(rng: Rng) -> str:
    lines = as_csv(linked(rng)).splitlines()
    lines[300] += ",oops"
    return "\n".join(lines) + "\n"


@case(r"name|differ only|case|blank")
def names_that_differ_in_case(rng: Rng) -> str:
    return as_csv(linked(rng)).replace("x,y,z", "Age,age ,z", 1)


@case(r"rows|columns|left out|few|text")
def a_table_on_its_side(rng: Rng) -> str:
    columns = linked(rng, 80)
    lines = [",".join(["name", *(f"p{k}" for k in range(80))])]
    return "\n".join([*lines, *(",".join([name, *map(str, v)]) for name, v in columns.items())]) + "\n"


# --- columns that hang together by construction -----------------------------------------------------------


@case(r"sum|linearly|100")
def percents_that_add_up(rng: Rng) -> Columns:
    parts = rng.dirichlet([4, 3, 2, 2], 600) * 100
    shown = {name: parts[:, k].round(1) for k, name in enumerate(("fat", "water", "protein"))}
    return {**shown, "rest": (100 - sum(shown.values())).round(1), "age": normal(rng)}


@case(r"one-hot|indicator|exclu|exactly one")
def indicators_of_one_variable(rng: Rng) -> Columns:
    region = rng.integers(0, 4, 600)
    block = {f"region_{name}": (region == k).astype(int) for k, name in enumerate("nesw")}
    return {**block, "smoker": yes_no(rng)}


@case(r"say the same|cop(y|ies)|one to one|leak")
def the_outcome_in_other_words(rng: Rng) -> Columns:
    outcome = rng.choice([0, 1], 600)
    age = (50 + 5 * outcome + rng.normal(0, 10, 600)).round(1)
    return {"age": age, "died": np.where(outcome, "yes", "no"), "status_code": outcome + 3}


@case(r"shift|lag|row before")
def a_copy_shifted_by_a_row(rng: Rng) -> Columns:
    x = normal(rng, 601)
    return {"x": x[1:], "previous": x[:-1], "z": normal(rng)}


@case(r"mean of|imput|filled")
def holes_filled_by_the_mean(rng: Rng) -> Columns:
    columns = linked(rng)
    x = np.asarray(columns["x"])
    gone = rng.random(600) < 0.4
    return {**columns, "x": np.where(gone, x[~gone].mean().round(3), x)}


@case(r"constant|miss|left out", without("flag"))
def constant_but_for_holes(rng: Rng) -> Columns:
    return {**linked(rng), "flag": np.where(rng.random(600) < 0.3, "yes", "")}


@case(r"level|alone|one row", apart("ward", "lab"))
def a_level_of_two_rows(rng: Rng) -> Columns:
    ward = rng.choice(list("abc"), 300).astype(object)
    lab = rng.choice(["low", "high"], 300).astype(object)
    ward[[7, 90]], lab[[7, 90]] = "icu", "extreme"
    return {"ward": ward, "lab": lab, "sex": rng.choice(["f", "m"], 300)}


# --- rows that differ from each other ---------------------------------------------------------------------


@case(r"nothing", lambda r: LINKED(r) and not any("time" in line for line in r["warnings"]))
def rows_sorted_by_a_column(rng: Rng) -> Columns:
    columns = linked(rng)
    order = np.argsort(columns["x"])
    return {name: np.asarray(values)[order] for name, values in columns.items()}


@case(r"alike|cop(y|ies)|repeat|not independent|equal another")
def rows_entered_twice_with_one_change(rng: Rng) -> Columns:
    n = 300
    columns = {name: rng.integers(0, 1000, n) / 10 for name in "abcd"}
    again = rng.choice(n, 120, replace=False)
    twice = {name: np.concatenate([values, values[again]]) for name, values in columns.items()}
    return {**twice, "d": np.concatenate([columns["d"], rng.integers(0, 1000, 120) / 10])}


@case(r"site", both(adjacent("site", "x"), adjacent("site", "y")))
def simpson_by_site(rng: Rng) -> Columns:
    site = rng.integers(0, 4, 800)
    x = 3 * site + rng.normal(size=800)
    y = 4 * site - 0.8 * (x - 3 * site) + rng.normal(size=800)
    return {"site": [f"S{k}" for k in site], "x": x.round(3), "y": y.round(3)}


@case(r"batch", both(adjacent("batch", "a"), adjacent("batch", "b"), apart("a", "b")))
def batch_effects(rng: Rng) -> Columns:
    batch = rng.integers(0, 4, 800)
    shifts = rng.normal(0, 2, (3, 4))
    measured = {name: (shifts[k][batch] + rng.normal(size=800)).round(3) for k, name in enumerate("abc")}
    return {"batch": [f"B{k}" for k in batch], **measured}


# --- distributions ----------------------------------------------------------------------------------------


@case(r"skew|log|tail|outlier|normal|alone", LINKED)
def products_of_skewed_columns(rng: Rng) -> Columns:
    x = np.exp(rng.normal(0, 2, 600))
    y = x * np.exp(rng.normal(0, 1, 600))
    return {"x": x.round(4), "y": y.round(4), "z": np.exp(rng.normal(0, 2, 600)).round(4)}


@case(r"round|heap", both(adjacent("age", "sbp"), kind("age", "continuous")))
def ages_at_round_numbers(rng: Rng) -> Columns:
    age = rng.integers(20, 90, 600)
    heaped = np.where(rng.random(600) < 0.6, 10 * np.round(age / 10), age).astype(int)
    return {"age": heaped, "sbp": (100 + 0.6 * age + rng.normal(0, 12, 600)).round(0), "z": normal(rng)}


@case(r"limit|censor|same value|often|repeat", LINKED_NUMBERS)
def values_at_the_end_of_a_scale(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": np.minimum(columns["x"], 0.5)}


@case(r"zero|often|skew", LINKED_NUMBERS)
def mostly_zero(rng: Rng) -> Columns:
    columns = linked(rng)
    x = np.where(rng.random(600) < 0.7, 0.0, np.abs(np.asarray(columns["x"])) + 0.1).round(2)
    return {**columns, "x": x, "y": (2 * x + normal(rng)).round(3)}


@case(r"angle|circle|circular|360|curve|square")
def directions_of_wind(rng: Rng) -> Columns:
    angle = rng.uniform(-90, 90, 600)
    rain = np.cos(np.radians(angle)) * 3 + rng.normal(0, 0.5, 600)
    return {"wind": np.round(angle % 360, 0), "rain": rain.round(2), "z": normal(rng)}


# --- exports as people have them --------------------------------------------------------------------------


def shown(values: object, form: str = "{}") -> list[str]:
    """Values written in one form."""
    return [form.format(value) for value in values]


@case(r"several answers|together|digits")
def answers_written_together(rng: Rng) -> Columns:
    picked = rng.random((600, 5)) < [0.6, 0.3, 0.5, 0.2, 0.4]
    picked[~picked.any(1), 0] = True
    answer = ["".join(str(k + 1) for k in np.flatnonzero(row)) for row in picked]
    happy = rng.random(600) < np.where(picked[:, 2], 0.8, 0.3)
    return {"q7": answer, "happy": np.where(happy, "yes", "no"), "z": normal(rng)}


@case(r"several answers")
def answers_in_words(rng: Rng) -> Columns:
    drinks = np.array(["Tea", "Coffee", "Water", "Juice"])
    picked = rng.random((600, 4)) < [0.6, 0.3, 0.5, 0.2]
    picked[~picked.any(1), 0] = True
    return {"drinks": [";".join(drinks[row]) for row in picked], "sex": rng.choice(["f", "m"], 600)}


@case(r"<|limit|censor", LINKED_NUMBERS)
def a_laboratory_with_limits(rng: Rng) -> Columns:
    columns = linked(rng)
    crp = np.exp(np.asarray(columns["x"]))
    return {**columns, "x": ["<0.5" if v < 0.5 else ">5" if v > 5 else f"{v:.1f}" for v in crp]}


@case(r"number|text|approximat|~", LINKED_NUMBERS)
def approximate_numbers(rng: Rng) -> Columns:
    columns = linked(rng)
    odd = rng.random(600) < 0.3
    x = 50 + 10 * np.asarray(columns["x"])
    return {**columns, "x": [f"~{v:.1f}" if e else f"{v:.1f}" for v, e in zip(x, odd, strict=True)]}


@case(r"number|text|thousand|abbrev", LINKED_NUMBERS)
def abbreviated_thousands(rng: Rng) -> Columns:
    columns = linked(rng)
    x = np.exp(7 + np.asarray(columns["x"]))
    return {**columns, "x": [f"{v / 1000:.1f}k" if v >= 1000 else f"{v:.0f}" for v in x]}


@case(r"date", without("admission_date"))
def days_as_a_spreadsheet_counts_them(rng: Rng) -> Columns:
    return {"admission_date": 43101 + rng.integers(0, 900, 600), **linked(rng)}


@case(r"date|text", without("seen"))
def dates_in_two_orders(rng: Rng) -> Columns:
    day = np.array(["2018-01-01"], dtype="datetime64[D]") + rng.integers(0, 900, 600)
    forms = ("%m/%d/%Y", "%d/%m/%Y")
    seen = [one.item().strftime(forms[k]) for one, k in zip(day, rng.integers(0, 2, 600), strict=True)]
    return {"seen": seen, **linked(rng)}


@case(r"time|date", without("bedtime"))
def bedtimes_over_midnight(rng: Rng) -> Columns:
    columns = linked(rng)
    minute = (1380 + 60 * np.asarray(columns["x"])).astype(int) % 1440
    return {"bedtime": [f"{m // 60:02d}:{m % 60:02d}" for m in minute], **columns}


@case(r"identif|left out|different", without("ref"))
def numbers_of_nine_digits(rng: Rng) -> Columns:
    return {"ref": rng.choice(900_000_000, 600, replace=False) + 100_000_000, **linked(rng)}


@case(r"identif|left out|text", without("batch"))
def numbers_of_twenty_digits(rng: Rng) -> Columns:
    return {"batch": [f"{a}{b}" for a, b in rng.integers(10**9, 10**10, (600, 2))], **linked(rng)}


@case(r"level|text|left out|code", lambda r: without("unit")(r) or kind("unit", "discrete")(r))
def codes_with_zeros_in_front(rng: Rng) -> Columns:
    return {"unit": shown(rng.integers(0, 90, 600), "{:05d}"), **linked(rng)}


@case(r"\$ and €|currenc")
def prices_in_two_currencies(rng: Rng) -> Columns:
    columns = linked(rng)
    price = 100 + 20 * np.asarray(columns["x"])
    euro = rng.random(600) < 0.4
    return {
        **columns,
        "x": [f"{v * 0.9:.2f} €" if e else f"${v:.2f}" for v, e in zip(price, euro, strict=True)],
    }


@case(r"same|cop(y|ies)")
def one_column_under_two_names(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x_final": columns["x"]}


@case(r"same|other words|cop(y|ies)")
def one_question_in_two_languages(rng: Rng) -> Columns:
    smokes = yes_no(rng)
    cough = np.where(rng.random(600) < np.where(smokes == "yes", 0.6, 0.2), "yes", "no")
    return {"smoker": smokes, "raucher": np.where(smokes == "yes", "ja", "nein"), "cough": cough}


@case(r"same|joins|differ|language|mean")
def answers_in_two_languages(rng: Rng) -> Columns:
    smokes = yes_no(rng)
    german = rng.random(600) < 0.5
    cough = np.where(rng.random(600) < np.where(smokes == "yes", 0.6, 0.2), "yes", "no")
    return {"smoker": np.where(german, np.where(smokes == "yes", "ja", "nein"), smokes), "cough": cough}


@case(r"row|cell|line|word|text|note|number", LINKED_NUMBERS)
def footnotes_below_the_table(rng: Rng) -> str:
    return as_csv(linked(rng)) + "Source: registry 2023,,\n* provisional,,\n"


@case(r"marks|\*|text|number", LINKED_NUMBERS)
def stars_behind_some_numbers(rng: Rng) -> Columns:
    columns = linked(rng)
    odd = rng.random(600) < 0.1
    return {**columns, "x": [f"{v}*" if e else str(v) for v, e in zip(columns["x"], odd, strict=True)]}


@case(r"copies|not independent")
def values_copied_down(rng: Rng) -> Columns:
    x = np.repeat(rng.normal(size=100), 6).round(2)
    return {
        "region": np.repeat(shown(range(100), "R{}"), 6),
        "income": x,
        "rain": np.repeat(normal(rng, 100), 6),
    }


@case(r"empty|merged|above|missing")
def years_in_merged_cells(rng: Rng) -> Columns:
    year = [str(2000 + i // 30) if i % 30 == 0 else "" for i in range(600)]
    return {"year": year, **linked(rng)}


@case(r"time", lambda r: all(adjacent(f"sales_{m:02d}", f"sales_{m + 1:02d}")(r) for m in range(1, 12)))
def a_wide_series(rng: Rng) -> Columns:
    walk = rng.normal(size=(200, 12)).cumsum(1)
    return {f"sales_{m:02d}": walk[:, m - 1].round(2) for m in range(1, 13)}


@case(r"log|same|cop(y|ies)|ranks")
def a_quantity_and_its_logarithm(rng: Rng) -> Columns:
    x = np.exp(rng.normal(3, 0.8, 600))
    return {
        "dose": x.round(3),
        "log_dose": np.log10(x.round(3)).round(4),
        "y": (np.log(x) + normal(rng)).round(3),
    }


@case(r"constant|once|alone|only", lambda r: not r["edges"])
def constant_but_for_one_row(rng: Rng) -> Columns:
    flag = np.array(["no"] * 600, dtype=object)
    flag[17] = "yes"
    return {"flag": flag, "a": normal(rng), "b": yes_no(rng)}


@case(r"limit|ceiling|same value|often|end of", LINKED_NUMBERS)
def answers_cut_at_a_ceiling(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": np.minimum(40 + 20 * np.asarray(columns["x"]), 50).round(1)}


@case(r"weight")
def weights_called_w(rng: Rng) -> Columns:
    w = rng.gamma(4, 0.25, 600)
    return {**linked(rng), "w": (w / w.mean()).round(4)}


@case(r"seen only where")
def an_outcome_that_leaks(rng: Rng) -> Columns:
    died = rng.random(600) < 0.3
    age = (60 + 8 * died + rng.normal(0, 10, 600)).round(1)
    days = np.where(died, rng.integers(1, 60, 600).astype(str), "")
    return {"age": age, "died": np.where(died, "yes", "no"), "days_to_death": days}


@case(r"median|often|imput|filled|one value")
def holes_filled_by_the_median(rng: Rng) -> Columns:
    columns = linked(rng)
    x = np.exp(np.asarray(columns["x"]))
    gone = rng.random(600) < 0.3
    return {**columns, "x": np.where(gone, np.median(x[~gone]), x).round(3)}


@case(r"percent|%|unit|text|number", LINKED_NUMBERS)
def per_cent_behind_every_number(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": [f"{50 + 10 * v:.1f} %" for v in columns["x"]]}


@case(r"seen only where")
def a_question_for_smokers_alone(rng: Rng) -> Columns:
    smokes = rng.random(800) < 0.5
    cigarettes = np.where(smokes, np.maximum(rng.normal(14, 5, 800).round(0), 1).astype(int).astype(str), "")
    lung = rng.random(800) < np.where(smokes, 0.5, 0.1)
    return {
        "smoker": np.where(smokes, "yes", "no"),
        "cigarettes": cigarettes,
        "lung": np.where(lung, "yes", "no"),
    }


# --- tables of a second audit -----------------------------------------------------------------------------


@case(r"declined")
def declined_among_answers(rng: Rng) -> Columns:
    smoker = rng.choice(["yes", "no", "declined"], 600, p=[0.35, 0.5, 0.15])
    return {"smoker": smoker, "cough": np.where(rng.random(600) < 0.2 + 0.4 * (smoker == "yes"), "yes", "no")}


@case(r"'unk'")
def unk_among_levels(rng: Rng) -> Columns:
    return {**linked(rng), "stage": rng.choice(["I", "II", "III", "unk"], 600, p=[0.4, 0.3, 0.2, 0.1])}


@case(r"'dk'")
def dk_beside_yes_and_no(rng: Rng) -> Columns:
    return {**linked(rng), "vaccinated": rng.choice(["yes", "no", "dk"], 600, p=[0.5, 0.4, 0.1])}


@case(r"prefer not to say")
def prefer_not_to_say(rng: Rng) -> Columns:
    incomes = ["low", "middle", "high", "Prefer not to say"]
    return {**linked(rng), "income": rng.choice(incomes, 600, p=[0.3, 0.3, 0.2, 0.2])}


def panel(rng: Rng, people: int = 120, times: int = 5) -> tuple[np.ndarray, Columns]:
    """Who each row is about, and two columns that only resemble themselves within a person."""
    person = np.repeat(np.arange(people), times)

    def own() -> np.ndarray:
        return (3 * rng.normal(size=people)[person] + rng.normal(size=people * times)).round(2)

    return person, {"pulse": own(), "mood": own()}


@case(r"not independent")
def patients_called_patnr(rng: Rng) -> Columns:
    person, columns = panel(rng)
    return {"patnr": 20_417 + 3 * person, **columns}


@case(r"not independent")
def households_in_any_order(rng: Rng) -> Columns:
    person, columns = panel(rng)
    order = rng.permutation(len(person))
    return {"hhid": 100 + 7 * person[order], **{name: cells[order] for name, cells in columns.items()}}


@case(r"not independent")
def waves_of_a_panel(rng: Rng) -> Columns:
    columns = panel(rng, 200, 3)[1]
    return {"wave": np.tile([1, 2, 3], 200), **columns}


@case(r"digits|unit|year")
def years_of_two_and_four_digits(rng: Rng) -> Columns:
    year = rng.integers(1950, 2000, 600)
    short = rng.random(600) < 0.3
    return {**linked(rng), "born": np.where(short, year % 100, year), "age": 2020 - year}


@case(r"unit")
def kelvin_among_celsius(rng: Rng) -> Columns:
    celsius = rng.normal(37, 0.8, 600)
    return {**linked(rng), "temperature": (celsius + 273.15 * (rng.random(600) < 0.2)).round(1)}


@case(r"unit|per cent")
def shares_among_per_cents(rng: Rng) -> Columns:
    share = rng.beta(4, 3, 600)
    return {**linked(rng), "filled": [f"{v:.2f}" if rng.random() < 0.3 else f"{100 * v:.0f}" for v in share]}


@case(r"date")
def ranges_turned_into_dates(rng: Rng) -> Columns:
    return {**linked(rng), "cigarettes": rng.choice(["0", "5-Jan", "10-Jun", "11-20", "over 20"], 600)}


@case(r"dates|days|spreadsheet", without("admitted"))
def spreadsheet_days_called_admitted(rng: Rng) -> Columns:
    return {**linked(rng), "admitted": rng.integers(43_000, 44_500, 600)}


@case(r"seem to be the same")
def sex_in_letters_and_words(rng: Rng) -> Columns:
    return {**linked(rng), "sex": rng.choice(["m", "male", "f", "female"], 600, p=[0.4, 0.1, 0.35, 0.15])}


@case(r"weight")
def weights_with_a_mean_near_one(rng: Rng) -> Columns:
    return {**linked(rng), "pw": rng.gamma(4, 0.2525, 600).round(3)}


@case(r"count")
def counts_called_anzahl(rng: Rng) -> Columns:
    cells = [(a, b, c) for a in ("ja", "nein") for b in ("jung", "alt") for c in ("nord", "süd", "west")]
    raucht, alter, ort = zip(*cells, strict=True)
    return {"raucht": raucht, "alter": alter, "ort": ort, "Anzahl": rng.integers(3, 90, len(cells))}


# --- what devices, typists and designs leave -------------------------------------------------------------


def device(rng: Rng, codes: list[float]) -> Columns:
    """A sensor that writes a code where it has no value, just when the load is high."""
    n = 600
    value, gone = rng.normal(21, 2, n), rng.random(n) < 0.06
    load = 5 * value + rng.normal(size=n) * 6 + 60 * gone
    return {"value": np.where(gone, rng.choice(codes, n), value).round(2), "load": load.round(1)}


@case(r"-127|85")
def error_codes_of_a_thermometer(rng: Rng) -> Columns:
    return device(rng, [85, -127])


@case(r"65535")
def overflow_of_a_counter(rng: Rng) -> Columns:
    return device(rng, [65535])


@case(r"one value for many rows", apart("a", "b"))
def two_sensors_stuck_together(rng: Rng) -> Columns:
    a, b = rng.normal(20, 2, 1000), rng.normal(5, 1, 1000)
    a[200:500], b[200:500] = a[200], b[200]
    return {"a": a.round(2), "b": b.round(2)}


@case(r"above 120")
def ages_of_centuries(rng: Rng) -> Columns:
    age = rng.integers(20, 90, 600)
    sbp = (100 + 0.5 * age + rng.normal(0, 10, 600)).round()
    age[rng.choice(600, 5, replace=False)] = [450, 520, 310, 610, 280]
    return {"age": age, "sbp": sbp}


@case(r"change places")
def height_and_weight_swapped(rng: Rng) -> Columns:
    height = rng.normal(172, 8, 600)
    weight = height * 0.9 - 85 + rng.normal(0, 8, 600)
    swapped = rng.random(600) < 0.08
    one, other = np.where(swapped, weight, height), np.where(swapped, height, weight)
    return {"height": one.round(1), "weight": other.round(1), "sbp": rng.normal(130, 15, 600).round()}


@case(r"misspell")
def misspelt_levels(rng: Rng) -> Columns:
    sex = rng.choice(["male", "female"], 800).astype(object)
    height = np.where(sex == "male", 178, 165) + rng.normal(0, 7, 800)
    sex[rng.choice(800, 8, replace=False)] = ["mael", "femlae", "femal", "femalle"] * 2
    return {"sex": sex, "height": height.round(1)}


@case(r"two digits")
def years_of_birth_over_the_century(rng: Rng) -> Columns:
    age = rng.integers(20, 90, 600)
    return {"yob": (2023 - age) % 100, "sbp": (100 + 0.5 * age + rng.normal(0, 10, 600)).round()}


@case(r"chosen by")
def cases_and_controls(rng: Rng) -> Columns:
    status = rng.permutation(np.repeat(["case", "control"], 200))
    smoker = np.where(rng.random(400) < np.where(status == "case", 0.6, 0.3), "yes", "no")
    return {"status": status, "smoker": smoker, "age": rng.normal(60, 8, 400).round()}


@case(r"watching stopped|censor")
def censored_times(rng: Rng) -> Columns:
    drug = rng.choice(["A", "B"], 600)
    time, watched = rng.exponential(np.where(drug == "A", 20, 60), 600), rng.uniform(0, 40, 600)
    months = np.minimum(time, watched).round(1)
    return {"drug": drug, "followup_months": months, "death": (time < watched).astype(int)}


@case(r"one in each row")
def a_long_table(rng: Rng) -> Columns:
    means = np.tile([170, 70, 72], 200)
    names = np.tile(["height", "weight", "pulse"], 200)
    return {"variable": names, "value": (means + rng.normal(0, 8, 600)).round(1)}


@case(r"computed from")
def body_mass_index_beside_its_parts(rng: Rng) -> Columns:
    height = rng.normal(1.7, 0.09, 600).round(2)
    weight = (22 * height**2 + rng.normal(0, 9, 600)).round(1)
    sbp = (100 + 0.4 * weight + rng.normal(0, 9, 600)).round()
    return {"height": height, "weight": weight, "bmi": (weight / height**2).round(1), "sbp": sbp}


@case(r"computed from")
def change_in_per_cent(rng: Rng) -> Columns:
    before = rng.normal(50, 6, 400).round(1)
    after = (before + rng.normal(3, 5, 400)).round(1)
    return {"before": before, "after": after, "pct_change": (100 * (after - before) / before).round(1)}


@case(r"say the same")
def scores_beside_their_z_scores(rng: Rng) -> Columns:
    score = rng.normal(50, 9, 600)
    return {
        "score": score.round(1),
        "z": ((score - score.mean()) / score.std()).round(2),
        "y": (score / 2 + rng.normal(0, 5, 600)).round(1),
    }


@case(r"say the same")
def age_beside_the_year_of_birth(rng: Rng) -> Columns:
    age = rng.integers(18, 90, 600)
    return {
        "age": age,
        "born": 2023 - age - (rng.random(600) < 0.3),
        "sbp": (100 + 0.5 * age + rng.normal(0, 9, 600)).round(),
    }


@case(r"beyond a limit", LINKED_NUMBERS)
def a_german_laboratory_with_limits(rng: Rng) -> str:
    x = np.exp(rng.normal(1, 1.2, 500))
    crp = ["<0,6" if value < 0.6 else f"{value:.1f}".replace(".", ",") for value in x]
    y = [f"{value:.1f}".replace(".", ",") for value in np.log(x) + rng.normal(size=500)]
    return as_csv({"x": crp, "y": y}, ";")


@case(r"plain numbers", LINKED_NUMBERS)
def points_and_commas_in_one_column(rng: Rng) -> str:
    columns = linked(rng)
    x = [f"{v:.1f}" if rng.random() < 0.5 else f"{v:.1f}".replace(".", ",") for v in columns["x"]]
    return as_csv({**columns, "x": x}, ";")


@case(r"plain numbers", LINKED_NUMBERS)
def minus_signs_behind(rng: Rng) -> Columns:
    columns = linked(rng)
    return {**columns, "x": [f"{abs(v)}-" if v < 0 else f"{v}" for v in columns["x"]]}


@case(r"further from the median")
def one_slip_hides_an_edge(rng: Rng) -> Columns:
    weight = rng.normal(72, 8, 200).round(1)
    sbp = (60 + weight + rng.normal(0, 8, 200)).round()
    weight[40] = 70000
    return {"weight": weight, "sbp": sbp, "z": normal(rng, 200)}


@case(r"look like a row of")
def no_header_and_levels_alone(rng: Rng) -> str:
    rows = zip(yes_no(rng), rng.choice(["ill", "well"], 600), rng.choice(["f", "m"], 600), strict=True)
    return "".join(",".join(row) + "\n" for row in rows)


@case(r"seems to count the rows")
def counts_of_persons(rng: Rng) -> Columns:
    cells = np.array([(a, b, c) for a in ("no", "yes") for b in ("low", "mid", "high") for c in "nsw"])
    return dict(zip(("smoker", "income", "region"), cells.T, strict=True)) | {"persons": rng.poisson(90, 18)}


@case(r"but for one cell")
def near_copies_beside_one_copy(rng: Rng) -> Columns:
    rows = rng.normal(size=(300, 6)).round(3)
    again = rows.copy()
    again[np.arange(1, 300), rng.integers(0, 6, 299)] = normal(rng, 299)
    return dict(zip("xyzuvw", np.vstack([rows, again]).T, strict=True))


@case(r"with a decimal comma")
def thousands_points_in_every_cell(rng: Rng) -> str:
    amounts = [f"{v / 1000:.3f}" for v in rng.integers(1000, 9999, 300)]
    return as_csv({"betrag": amounts, "stück": rng.integers(20, 90, 300)}, ";")


@case(r"often mean missing")
def missing_words_in_other_languages(rng: Rng) -> Columns:
    words = {
        "fuma": ("si", "no", "sin dato"),
        "toux": ("oui", "non", "non renseigné"),
        "rökare": ("ja", "nej", "okänd"),
    }
    return {name: rng.choice(levels, 600, p=[0.45, 0.45, 0.1]) for name, levels in words.items()}


@case(r"indicators of one variable")
def indicators_in_words(rng: Rng) -> Columns:
    region = rng.integers(0, 4, 600)
    block = {f"region_{k}": np.where(region == i, "yes", "no") for i, k in enumerate("nswe")}
    return {**block, "y": (region + normal(rng)).round(2)}


@case(r"bring them to one coding")
def a_coding_that_differs_by_site(rng: Rng) -> Columns:
    site, smoker = rng.choice(["A", "B"], 600), rng.integers(0, 2, 600)
    return {
        "site": site,
        "smoker": smoker + (site == "B"),
        "ill": (rng.random(600) < 0.2 + 0.4 * smoker).astype(int),
    }


@case(r"runs of blanks")
def cells_between_runs_of_blanks(rng: Rng) -> str:
    return as_csv(linked(rng), "   ")


@case(r"are sorted from")
def every_column_sorted_by_itself(rng: Rng) -> Columns:
    return {name: np.sort(normal(rng, 300)) for name in "xyz"}


@case(r"computed from others")
def a_product_of_both_signs(rng: Rng) -> Columns:
    x, y = rng.normal(size=(2, 400))
    return {"x": x.round(3), "y": y.round(3), "xy": (x * y).round(3), "z": normal(rng, 400)}


@case(r"are called 'Minimum'")
def a_summary_below_the_data(rng: Rng) -> Columns:
    x, y = rng.normal(50, 9, (2, 80)).round(1)
    names = [f"P{k:03} {rng.choice(['Abel', 'Berg', 'Conti'])}" for k in range(80)]
    below = [[np.min(one), np.max(one), 80] for one in (x, y)]
    return {"who": [*names, "Minimum", "Maximum", "N"], "x": [*x, *below[0]], "y": [*y, *below[1]]}


@case(r"one or two numbers lie")
def two_slips_in_one_column(rng: Rng) -> Columns:
    weight = rng.normal(72, 8, 200).round(1)
    sbp = (60 + weight + rng.normal(0, 8, 200)).round()
    weight[[40, 90]] = 7000, 6900
    return {"weight": weight, "sbp": sbp, "z": normal(rng, 200)}


def learn(file: Path, options: tuple[str, ...]) -> tuple[dict, str]:
    """The result and everything that is printed for people."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        result = file.with_suffix(".json")
        code = run(["learn", str(file), "-o", str(result), "--time-limit", "60", *options])
    content = json.loads(result.read_text()) if code == 0 and result.exists() else {}
    return content, out.getvalue() + err.getvalue()


def judge(one: Case, seed: int) -> tuple[str, str]:
    """The verdict on a table, and the first line that names the trouble."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.csv")
        file.write_text(one.make(np.random.default_rng(seed)))
        result, printed = learn(file, one.options)
        printed = printed.replace(f"{folder}/", "")
    spoken = [line.strip() for line in printed.splitlines() if re.search(SPEAKS, line)]
    lines = [line for line in spoken if re.search(one.said, line, re.IGNORECASE)]
    if result and one.right(result):
        return "right", ""
    return ("said", lines[0][:110]) if lines else ("silent", "")


def verdicts(names: list[str], seed: int) -> Iterator[tuple[str, str, str]]:
    """The verdicts on all tables."""
    for name in names:
        verdict, line = judge(CASES[name], seed)
        yield name.replace("_", " "), verdict, line


def main() -> None:
    """Judge every table and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = list(verdicts(given.only or list(CASES), given.seed))
    print(markdown_table(("table", "verdict", "what is said"), rows))
    counts = {word: sum(verdict == word for _, verdict, _ in rows) for word in ("right", "said", "silent")}
    print(f"{len(rows)} tables:", ", ".join(f"{word} {count}" for word, count in counts.items()))


if __name__ == "__main__":
    main()
