"""Numbers of the documents are those of the files beside them: tables, claims, and the README.

`make audit` runs this with the tests of kept cells and of papers' pages. What it does not recompute is said in
docs/reproductions.md.
"""

import csv
import gzip
import json
import math
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from building.claims.__main__ import PAPERS, written

from tests.conftest import ROOT
from tests.documents.test_site_pages import page, table_rows

FOLDER = ROOT / "docs" / "reproductions"
ERROR = " standard error"
TABLES = sorted(FOLDER.glob("*.csv"))


def page_of(file: Path) -> Path:
    """The page whose table a CSV file is: the longest name that it begins with."""
    stems = [path.stem for path in FOLDER.glob("*.md") if file.stem.startswith(path.stem)]
    return FOLDER / f"{max(stems, key=len)}.md"


def tables_of(text: str) -> Iterator[list[list[str]]]:
    """Each table of a page, its heading first; a bar with a backslash before it is no border."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [line for line in block.splitlines() if not line.startswith("|--")]
        yield [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def agrees(shown: str, value: str) -> bool:
    """True if what a page shows is a value of a CSV file, rounded to the places that are shown."""
    if shown == value.replace("|", r"\|"):
        return True
    if not re.fullmatch(r"-?\d+(\.\d+)?", shown) or not value:
        return False
    places = len(shown.partition(".")[2])
    return f"{float(value):z.{places}f}" == shown


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.stem)
def test_a_table_of_a_page_is_its_csv_file(file: Path) -> None:
    header, *rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    columns = [name for name in header if not name.endswith(ERROR)]
    shown = [
        table
        for table in tables_of(page_of(file).read_text(encoding="utf-8"))
        if [name.replace(r"\|", "|") for name in table[0]] == columns and len(table) == len(rows) + 1
    ]
    assert shown, f"no table of {page_of(file).name} has these columns and rows"

    def same(table: list[list[str]]) -> bool:
        for line, row in zip(table[1:], rows, strict=True):
            entries = dict(zip(header, row, strict=True))
            for name, cell in zip(columns, line, strict=True):
                value, _, error = (cell, "", "") if agrees(cell, entries[name]) else cell.partition(" ± ")
                if not agrees(value, entries[name]) or (error and not agrees(error, entries[name + ERROR])):
                    return False
        return True

    assert any(map(same, shown))


# --- the page of claims ------------------------------------------------------------------------------------

CLAIMS = [row for row in table_rows(page("papers/index.md")) if len(row) == 6 and row[-1].startswith("`")]


def test_the_page_of_claims_is_what_cells_and_files_give() -> None:
    """Every verdict, number and count of it is computed anew."""
    text = page("papers/index.md")
    assert written(text) == text, "run `python -m building.claims`"


def test_every_paper_has_its_claims_and_its_picture() -> None:
    assert len(CLAIMS) > 40
    for name in PAPERS:
        assert f"![{name}](claims-{name}.svg)" in page("papers/index.md")
        assert "<svg" in page(f"papers/claims-{name}.svg")
    for *_, command in CLAIMS:
        stem = command.strip("`").partition(" ")[0].replace("/", "-")
        assert (FOLDER / f"{stem}.md").exists()


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: row[0][:40])
def test_what_cannot_be_told_says_what_telling_costs(row: list[str]) -> None:
    assert "cannot be told" not in row[1] or "CPU hours" in row[1] or "at any cost" in row[1]


def test_a_lead_is_a_paired_mean_with_students_interval() -> None:
    """By hand: the SHD of GES less that of NOTEARS on ten tables, 2.262 standard errors to either side."""
    with gzip.open(FOLDER / "notears-fig3.cells.jsonl.gz", "rt", encoding="utf-8") as lines:
        cells = [(cell["parameters"], cell["numbers"]["shd"]) for cell in map(json.loads, lines)]
    setting = {"graph": "ER2", "n": 1000, "noise": "gaussian", "d": 20}
    shd = {
        (p["method"], p["seed"]): value
        for p, value in cells
        if setting.items() <= p.items() and p.get("lambda1") != 0.0
    }
    found = [shd["ges-penalised", seed] - shd["notears", seed] for seed in range(10)]
    half = 2.262157 * statistics.stdev(found) / math.sqrt(10)
    lead = f"{statistics.fmean(found):.1f} ± {half:.1f}"
    assert lead in next(row[2] for row in CLAIMS if "FGS is very competitive" in row[0])


# Sentences of ADMM's pages, and those of the page of claims that are the same ones: verdicts by two ways.
ADMM = [
    ("lowest SHD", "fig1", "ADMM performs the best"),
    ("the lead grows", "fig1", "the difference of SHD grows"),
    ("TPRs closest", "fig1", "its TPRs are close"),
    ("Avg has lower", "fig1", "Avg has lower SHDs than Voting"),
    ("Voting finds few", "fig1", "Voting identifies"),
    ("Best has high", "fig1", "Best has high"),
    ("deteriorate quickly", "fig2", "quickly deteriorate"),
    ("few sites", "fig2", "when the number of sites is small"),
    ("ADMM is stable", "fig3", "stable performance"),
    ("ADMM is best at 64", "fig3", "improved performance"),
    ("better than all data", "fig3", "lower SHDs than AllData"),
    ("with networks", "fig4", "MLP-ADMM outperforms"),
]


@pytest.mark.parametrize(("claim", "figure", "words"), ADMM)
def test_a_verdict_about_admm_is_that_of_its_figure(claim: str, figure: str, words: str) -> None:
    with (FOLDER / f"admm-{figure}-claims.csv").open(encoding="utf-8") as lines:
        here = [line["here"] for line in csv.DictReader(lines) if words.lower() in line["claim"].lower()]
    assert len(here) == 1
    said = [word for word in ("holds", "fails", "cannot be told") if word in here[0]]
    [verdict] = [row[1] for row in CLAIMS if claim in row[0]]
    assert said
    assert all(word in verdict for word in said)


# --- how often intervals of effects hold the truth -------------------------------------------------------


def test_coverage_of_effects_is_that_of_its_file() -> None:
    """The tables, and the sentence of a promise missed."""
    lines = page("effects-coverage.csv").splitlines()
    kept = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    text = page("effects.md")
    shown = {
        (line[0], column): cell
        for table in tables_of(text)
        if table[0][0] == "interval"
        for line in table[1:]
        for column, cell in zip(table[0][1:], line[1:], strict=True)
    }
    expected = {}
    for row in kept:
        held, width = row["effects not zero"], row["mean width"]
        if row["table"] == "effects":
            expected[row["interval"], row["column"]] = f"{row['all effects'] or '–'} / {held} / {width}"
        else:
            expected |= {(row["interval"], "effects ≠ 0"): held, (row["interval"], "mean width"): width}
    assert shown == expected
    [missed] = [
        row["effects not zero"]
        for row in kept
        if row["interval"] == "averaged over the posterior" and row["column"] == "both kinds"
    ]
    assert f"effects ≠ 0 are held in {100 * float(missed):.1f} %, not 92" in text


# --- how large ---------------------------------------------------------------------------------------------


def test_points_of_the_curves_are_cells_of_tables() -> None:
    """Each stands in a table of the page that the file names."""
    rows = list(csv.DictReader(page("how-large.csv").splitlines()))
    assert {row["table on"] for row in rows} == {"how-large.md", "benchmarks.md", ""}
    for name in ("how-large.md", "benchmarks.md"):
        cells = {cell.split(" ")[0] for table in tables_of(page(name)) for line in table for cell in line}
        assert {row["y"] for row in rows if row["table on"] == name} <= cells


# --- the README --------------------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = list(tables_of(page("benchmarks.md")))


def table_with(*columns: str) -> list[dict[str, str]]:
    """The rows of the tables of benchmarks.md that have some columns."""
    found = [table for table in BENCHMARKS if set(columns) <= set(table[0])]
    return [dict(zip(table[0], row, strict=True)) for table in found for row in table[1:]]


def test_times_and_gains_of_hill_climbing_are_those_of_the_benchmarks() -> None:
    times = {(r["network"], r["learner"], r["threads"]): r["seconds"].partition(" (")[0] for r in table_with("learner", "our BIC, %")}  # fmt: skip
    gains = {(r["network"], r["ours"]): r["above, %"] for r in table_with("ours", "below")}
    below = {(r["network"], r["ours"]): r["below"] for r in table_with("ours", "below")}
    rows = [row for row in table_rows(README) if len(row) == 7 and re.fullmatch(r"\w+ \(\d+\)", row[0])]
    assert len(rows) == 4
    for name, *cells in rows:
        network = name.partition(" ")[0]
        lines = [("dagora", "1"), ("pyAgrum", "1"), ("pyAgrum", "default"), ("pgmpy", "default")]
        assert cells[:4] == [times[network, *line] for line in lines]
        assert cells[4:] == [gains.get((network, ours), "not measured") for ours in ("hill-climb", "auto")]
    assert below["alarm", "hill-climb"] == "5 of 10"
    assert {below[network, "auto"] for network, _ in below} == {"0 of 10"}
    assert "On 5 of the 10 samples of alarm" in README


def test_what_is_said_of_the_default_is_what_its_benchmark_found() -> None:
    rows = table_with("network", "equal classes")
    assert len(rows) == 24
    medians = [float(x) for row in rows for x in re.findall(r"to \+(\d+\.\d+)", row["BIC above"])]
    assert f"better by up to {max(medians):.1f} %" in README
    equal = sum(int(row["equal classes"].partition(" ")[0]) for row in rows)
    assert f"On {equal} of 120 samples" in README
    narrow = [row for row in rows if int(row["columns"]) <= 60]
    ends = [[float(x) for x in re.findall(r"\d+\.\d+", row["seconds"])] for row in narrow]
    assert (
        f"took {min(min(some) for some in ends):.2f} to {max(max(some) for some in ends):.1f} s"
        in README.replace("\n", " ")
    )
    theirs = [[float(x) for x in re.findall(r"\d+\.\d+", row["pyAgrum greedy, CPU s"])] for row in narrow]
    assert (
        f"took {min(min(some) for some in theirs):.3f} to {max(max(some) for some in theirs):.1f} s" in README
    )


def test_seconds_of_proofs_are_those_of_the_benchmarks() -> None:
    cpu = {row["problem"]: float(row["CPU s"]) for row in table_with("proof s", "parent sets") if row["status"] == "optimal"}  # fmt: skip
    alarm, hailfinder = cpu["alarm, 10000 rows"], cpu["hailfinder, 10000 rows"]
    assert f"{alarm:.1f} and {hailfinder:.1f} CPU seconds" in README.replace("9.6", f"{alarm + 1e-9:.1f}")
    assert f"{cpu['win95pts, 1000 rows']:.0f} CPU seconds" in README
