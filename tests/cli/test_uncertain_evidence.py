"""`dagora query` with likelihoods, soft evidence, ranges, contrasts, and `--sensitivity`."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.cli.uncertain_evidence import parse_uncertain
from dagora.network.greenhouse import greenhouse


def test_likelihood_and_soft_evidence_are_those_of_python(run: Callable, garden: Path) -> None:
    file = garden / "garden.bif"
    ran = run(
        "query", file, "P(pests)", "--likelihood", "yellow_leaves=yes:0.8,no:0.1",
        "--soft", "season=spring:0.5,summer:0.3,autumn:0.2", "--json",
    )  # fmt: skip
    expected = greenhouse().query(
        "P(pests)",
        likelihood={"yellow_leaves": {"yes": 0.8, "no": 0.1}},
        soft={"season": {"spring": 0.5, "summer": 0.3, "autumn": 0.2}},
    )
    (answer,) = json.loads(ran.out)["answers"]
    found = [entry["probability"] for entry in answer["probabilities"]]
    assert found == pytest.approx(list(expected.table))
    assert "soft(season, spring=0.5" in answer["question"]


def test_words_of_the_options() -> None:
    assert parse_uncertain("'a b'='x,y':1,z:0.5") == ("a b", {"x,y": 1.0, "z": 0.5})
    assert parse_uncertain("bp=value:140,sd:5") == ("bp", {"value": 140.0, "sd": 5.0})
    assert parse_uncertain("a=10:30:0.5,b:1") == ("a", {"10:30": 0.5, "b": 1.0})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("--likelihood", "pests"), "is not of the form smoker=yes:0.8,no:0.2"),
        (("--likelihood", "pests=yes"), "is not of the form"),
        (("--likelihood", "pests=absent:x,present:1"), "is not of the form"),
        (("--soft", "pests=absent:1,absent:0"), "is not of the form"),
        (("--soft", "harvest=late:0.5"), "says nothing of"),
        (("--soft", "harvest=late:1", "--soft", "harvest=late:1"), "--soft names a variable twice"),
        (("--spread", "0.2"), "--spread goes with --sensitivity"),
        (("--picture", "t.svg"), "--picture goes with --sensitivity"),
        (("--sensitivity",), "sensitivity is that of one number"),
        (("--sensitivity", "--method", "sampling"), "needs exact answers"),
    ],
)
def test_mistakes_are_told(run: Callable, garden: Path, line: tuple[str, ...], told: str) -> None:
    ran = run("query", garden / "garden.bif", "P(pests)", *line)
    assert ran.code == 2
    assert told in ran.err
    assert ran.out == ""


def test_sensitivity_has_json_and_a_picture(run: Callable, garden: Path, tmp_path: Path) -> None:
    question, picture = "P(pests=present | yellow_leaves=yes)", tmp_path / "t.svg"
    ran = run(
        "query",
        garden / "garden.bif",
        question,
        "--sensitivity",
        "--spread",
        0.2,
        "--json",
        "--picture",
        picture,
    )
    (found,) = json.loads(ran.out)["sensitivity"]
    expected = greenhouse().sensitivity(question, spread=0.2)
    assert found["answer"] == pytest.approx(expected.value)
    assert [one["parameter"] for one in found["parameters"]] == [one.name for one in expected.parameters]
    assert found["evidence"][0]["evidence"] == "yellow_leaves=yes"
    root = ET.parse(picture).getroot()
    assert root.tag.endswith("svg")
    assert any("without yellow_leaves=yes" in (text.text or "") for text in root.iter())
    shown = run("query", garden / "garden.bif", question, "--sensitivity").out
    assert "each parameter is moved by 0.1 of its value" in shown
    assert "without yellow_leaves=yes: 0.248613" in shown


def test_contrasts_of_fitted_networks_have_an_interval_of_their_own() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.8, a, 1 - a)
    rows = {"a": a.tolist(), "b": b.tolist()}
    network = dagora.fit(dagora.DAG("ab", [("a", "b")]), rows, pseudocount=1)
    found = network.query("P(b=1 | a=1) - P(b=1 | a=0)")
    low, high = (float(end[0]) for end in found.row_interval)
    assert low < 0.6 < high
    # The two shares vary apart: sqrt(p q / n + p q / n) with about 200 rows each.
    assert found.row_errors[0] == pytest.approx(np.sqrt(2 * 0.16 / 200), rel=0.35)
    assert "95 % interval from the rows" in repr(found)
    ranged = network.query("P(b=1 | likelihood(a, 0=0.3, 1=0.7))")
    assert ranged.row_interval is not None
