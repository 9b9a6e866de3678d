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
SPEAKS = r"^dagora: |^the data determine|rests on|left out|ordered|if they are codes"
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


@case(r"determine 0 of 3 directions")
def direction_of_confounded_drug(rng: Rng) -> Columns:
    n = 2000
    severe = rng.random(n) < 0.5
    drug = np.where(rng.random(n) < np.where(severe, 0.8, 0.3), "B", "A")
    death = np.where(rng.random(n) < 0.1 + 0.5 * severe + 0.2 * (drug == "A"), "yes", "no")
    return {"severe": np.where(severe, "yes", "no"), "drug": drug, "death": death}


@case(r"rests on|determine 0")
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


@case(r"outlier|influen|one row|single row", apart("a", "b"))
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
