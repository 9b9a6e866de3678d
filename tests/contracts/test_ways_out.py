"""Sixty mistakes on the command line: one line that names the way out; where that is a command, it works."""

import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

RANDOM = random.Random(1)
PEOPLE = ["smoker,cough,ward"]
PEOPLE += [f"{RANDOM.choice(('no', 'yes'))},{RANDOM.choice(('no', 'yes'))},{i % 4}" for i in range(80)]
NUMBERS = ["u,v,w"]
NUMBERS += [f"{RANDOM.gauss(0, 1)},{RANDOM.gauss(0, 1)},{RANDOM.gauss(0, 1)}" for _ in range(80)]
MIXED = ["smoker,weight"] + [f"{RANDOM.choice(('no', 'yes'))},{RANDOM.gauss(70, 9)}" for _ in range(80)]
FILES = {
    "people.csv": PEOPLE,
    "numbers.csv": NUMBERS,
    "mixed.csv": MIXED,
    "holes.csv": [*PEOPLE, "no,,2"],
    "number_holes.csv": [*NUMBERS, "0.5,,1.5"],
    "words.csv": [*NUMBERS, "0.5,see note,1.5"],
    "semicolons.csv": [line.replace(",", ";") for line in NUMBERS],
    "decimal_semicolons.csv": [line.replace(",", ";").replace(".", ",") for line in NUMBERS],
    "tabs.csv": [line.replace(",", "\t") for line in PEOPLE],
    "table.txt": PEOPLE,
    "names.csv": ['a,"b, c"', *(f"{i % 2},{i % 3}" for i in range(40))],
    "key.csv": ["key,smoker", *(f"k{i},{'yes' if i % 3 else 'no'}" for i in range(80))],
    "constant.csv": ["u,v", *(f"{RANDOM.gauss(0, 1)},4.5" for _ in range(40))],
    "truth.json": [json.dumps({"nodes": ["smoker", "cough", "ward"], "edges": [["smoker", "cough"]]})],
    "other.json": [json.dumps({"nodes": ["smoker", "fever", "ward"], "edges": []})],
    "circle.json": [json.dumps({"required": [["smoker", "cough"], ["cough", "smoker"]]})],
    "known.json": [json.dumps({"required": [["smoker", "cough"]]})],
    "strange.json": [json.dumps({"forbidden": [["smoker", "fever"]]})],
    "coin.json": [
        '{"kind": "discrete", "nodes": ["coin"], "edges": [], "levels": {"coin": ["heads", "tails"]},',
        ' "tables": {"coin": [0.5, 0.5]}}',
    ],
    "typo.json": [json.dumps({"forbiden": [["smoker", "cough"]]})],
}

# What is typed, what the line must say, and the command that follows its advice (None: no single one does).
MISTAKES: list[tuple[str, str, str | None]] = [
    ("lern people.csv", "did you mean 'learn'?", None),
    ("learn", "DATA", None),
    ("learn peeple.csv", "there is no such file", "learn people.csv"),
    ("learn table.txt", "--separator", "learn table.txt --separator ,"),
    ("learn people.csv --separator ';;'", "one character", "learn people.csv --separator ,"),
    ("learn mixed.csv --score bic", "--score bic-mixed", "learn mixed.csv --score bic-mixed"),
    ("learn holes.csv --missing error", "--missing model", "learn holes.csv --missing model"),
    ("learn holes.csv --missing error", "--missing drop", "learn holes.csv --missing drop"),
    ("learn holes.csv --score bdeu", "--missing level", "learn holes.csv --score bdeu --missing level"),
    ("learn number_holes.csv --missing level", "--missing drop", "learn number_holes.csv --missing drop"),
    (
        "learn number_holes.csv --missing level",
        "--discretise quantile",
        "learn number_holes.csv --missing level --discretise quantile",
    ),
    ("learn words.csv", "--na 'v:see note'", "learn words.csv --na 'v:see note' --missing drop"),
    ("learn words.csv --continuous v", "--na 'v:see note'", "learn words.csv --na 'v:see note' --missing drop"),
    ("learn people.csv --missing ignore", "error", "learn people.csv --missing drop"),
    ("learn people.csv --bins 3", "--discretise", "learn numbers.csv --bins 3 --discretise width"),
    ("learn numbers.csv --discretise thirds", "quantile", "learn numbers.csv --discretise quantile"),
    ("learn numbers.csv --discretise mean --bins 3", "choose width or quantile", None),
    ("learn people.csv --drop smokr", "did you mean 'smoker'", "learn people.csv --drop smoker"),
    ("learn names.csv --drop b", "--drop '\"b, c\"'", None),
    ("learn people.csv --discrete wards", "did you mean 'ward'", "learn people.csv --discrete ward"),
    ("learn people.csv --continuous smoker", "--discrete smoker", "learn people.csv --discrete smoker"),
    ("learn people.csv --discrete ward --continuous ward", "choose one", "learn people.csv --discrete ward"),
    ("learn key.csv", "--discrete key", "learn key.csv --discrete key"),
    ("learn people.csv --drop smoker,cough", "a network needs 2", "learn people.csv --drop smoker"),
    ("learn people.csv --na ,", "such as NA,?", "learn people.csv --na 'NA,?'"),
    ("learn constant.csv", "--discrete v", "learn constant.csv --discrete v"),
    ("learn constant.csv --continuous v", "leave it out (--drop v)", None),
    ("learn people.csv --method hillclimb", "did you mean 'hill-climb'", "learn people.csv --method hill-climb"),
    ("learn people.csv --method magic", "known are", "learn people.csv --method Tabu"),
    ("learn people.csv --score bdue", "did you mean 'bdeu'", "learn people.csv --score BDeu"),
    ("learn people.csv --score bge", "discrete", "learn people.csv --score bdeu"),
    ("learn numbers.csv --score bic", "discretise", "learn numbers.csv --score bic-gaussian"),
    ("learn people.csv --score bdeu --option ess", "NAME=VALUE", "learn people.csv --score bdeu --option ess=2"),
    ("learn people.csv --score bdeu --option ess=0", "larger than 0", None),
    ("learn people.csv --option penalty=-1", "larger than 0", "learn people.csv --option penalty=2"),
    ("learn people.csv --option speed=9", "known:", None),
    ("learn people.csv --max-parents -1", "--max-parents", "learn people.csv --max-parents 1"),
    ("learn people.csv --time-limit 0", "positive number of seconds", "learn people.csv --time-limit 30"),
    ("learn people.csv --seed -1", "--seed", "learn people.csv --seed 1"),
    ("learn people.csv --jobs 0", "--jobs", "learn people.csv --jobs 1"),
    ("learn people.csv -o net.xyz", ".bif", "learn people.csv -o net.bif"),
    ("learn numbers.csv -o net.bif", ".json", "learn numbers.csv -o net.json"),
    ("learn people.csv -o nowhere/net.json", "there is no folder 'nowhere'", "learn people.csv -o net.json"),
    ("learn people.csv --report page.pdf", ".html", "learn people.csv --report page.html"),
    ("learn people.csv --picture graph.png", ".svg", "learn people.csv --picture graph.svg"),
    ("learn people.csv --truth other.json", "must have the same variables", "learn people.csv --truth truth.json"),
    ("learn people.csv --knowledge circle.json", "smoker → cough → smoker", "learn people.csv --knowledge known.json"),
    ("learn people.csv --knowledge strange.json", "'fever'", "learn people.csv --knowledge known.json"),
    ("learn people.csv --knowledge typo.json", "'forbiden'", None),
    ("learn people.csv --method ges --knowledge known.json", "use hill-climb or tabu", None),
    ("learn people.csv --method notears", "discrete", "learn numbers.csv --method notears"),
    ("learn numbers.csv --method notears --score bge", "takes no score", "learn numbers.csv --method notears"),
    ("sample people.csv --draws 0", "--draws", "sample people.csv --draws 5 --method exact"),
    ("sample people.csv --prior flat --method exact", "uniform", None),
    ("sample people.csv --method gibbs", "known are", "sample people.csv --draws 5 --method exact"),
    ("sample people.csv -o p.csv", ".json", "sample people.csv --draws 5 --method exact -o p.json"),
    ("score people.csv -o s.csv", ".jkl", "score people.csv -o s.jkl"),
    ("compare truth.json other.json", "'", None),
    ("convert truth.json truth.pdf", ".bif", "convert truth.json truth.dot"),
    ("convert truth.json truth.bif", "parameters", "convert truth.json truth.graphml"),
    ("simulate --sem gaussian --rows 10 -o t.csv", "--nodes", None),
    ("query coin.json 'P(coin'", "look like", "query coin.json 'P(coin)'"),
    ("query coin.json 'P(cion)'", "did you mean 'coin'", "query coin.json 'MAP(coin)' --json"),
    ("query coin.json 'P(coin=edge)'", "known are heads, tails", "query coin.json 'P(coin=tails)'"),
    ("query coin.json 'P(coin | coin=heads)'", "ask for it, or give it", None),
    ("query coin.json 'P(coin)' --memory lots", "--memory must be", "query coin.json 'P(coin)' --memory 1GB"),
    ("query coin.json 'P(coin)' --memory 8", "8 are allowed", None),
    ("query coin.json 'P(coin)' --method guess", "sampling", "query coin.json 'P(coin)' --method sampling"),
    ("query truth.json 'P(smoker)'", "fit them by giving data", None),
    ("methods nothing", "known are", "methods notears"),
    ("federate simulate people.csv --parties 2 --in-memory", "--minimum 2", None),
    ("federate simulate people.csv --parties 3 --in-memory --method notears-mlp", "needs rows", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands name."""
    place = tmp_path_factory.mktemp("mistakes")
    for name, lines in FILES.items():
        (place / name).write_text("\n".join(lines) + "\n")
    return place


def test_there_are_sixty() -> None:
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("mistake", MISTAKES, ids=[f"{i}: {line}" for i, (line, *_) in enumerate(MISTAKES)])
def test_one_line_names_the_way_out(
    run: Callable, folder: Path, monkeypatch: pytest.MonkeyPatch, mistake: tuple[str, str, str | None]
) -> None:
    typed, way_out, _ = mistake
    monkeypatch.chdir(folder)
    before = set(folder.iterdir())
    ran = run(*shlex.split(typed))
    assert ran.code == 2, ran.err
    (line,) = ran.err.splitlines()
    assert line.startswith("dagora: error: ")
    assert way_out in line
    assert ran.out == ""
    assert set(folder.iterdir()) == before


FOLLOWED = sorted({follow for _, _, follow in MISTAKES if follow})


@pytest.mark.parametrize("line", FOLLOWED)
def test_the_way_out_is_one(run: Callable, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.chdir(folder)
    ran = run(*shlex.split(line))
    assert ran.code == 0, ran.err
