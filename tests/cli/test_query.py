"""`dagora query`: text and JSON, several questions at once, and the same numbers as in Python."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.network.inference import sharing
from dagora.network.inference.question_reader import parse
from dagora.network.inference.settings import check_settings
from dagora.network.inference.sharing import ask_all
from tests.conftest import ROOT
from tests.network.inference.random_networks import random_discrete, random_mixed


def test_people_get_lines(run: Callable, garden: Path) -> None:
    network = dagora.read_network(garden / "garden.bif")
    target, known = network.graph.nodes[-1], network.graph.nodes[0]
    level = network.levels[known][0]
    question = f"P({target} | {known}={level})"
    ran = run("query", garden / "garden.bif", question, f"MAP(* | {known}={level})")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{network.query(question)}\n\n{network.query(f'MAP(* | {known}={level})')}\n"
    assert ran.out.startswith(question + "\n")


def test_the_page_shows_what_is_printed(run: Callable, garden: Path) -> None:
    page = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
    questions = ["P(pests | yellow_leaves=yes)", "P(harvest=late | do(watering=sparse))"]
    assert f'dagora query greenhouse.bif "{questions[0]}" "{questions[1]}"' in page
    assert run("query", garden / "garden.bif", *questions).out in page
    fever = dagora.MixedNetwork(
        dagora.DAG(["ill", "fever"], [("ill", "fever")]),
        levels={"ill": ("no", "yes")},
        tables={"ill": np.array([0.9, 0.1])},
        lines={"fever": dagora.Lines([36.8, 38.9], np.zeros((2, 0)), [0.3, 0.6])},
    )
    assert repr(fever.query("P(fever)")) in page


def test_json_has_the_numbers(run: Callable, garden: Path) -> None:
    network = dagora.read_network(garden / "garden.bif")
    target = network.graph.nodes[-1]
    ran = run("query", garden / "garden.bif", f"P({target})", "--json")
    (answer,) = json.loads(ran.out)["answers"]
    assert answer["question"] == f"P({target})"
    assert answer["method"] == "exact"
    found = [entry["probability"] for entry in answer["probabilities"]]
    assert found == pytest.approx(list(network.query(of=target).table))
    assert [entry["levels"] for entry in answer["probabilities"]] == [
        [level] for level in network.levels[target]
    ]


def test_samples_and_seed_reach_the_answer(run: Callable, garden: Path) -> None:
    target = dagora.read_network(garden / "garden.bif").graph.nodes[-1]
    line = [
        "query",
        garden / "garden.bif",
        f"P({target})",
        "--method",
        "sampling",
        "--samples",
        500,
        "--seed",
        7,
    ]
    ran = run(*line)
    assert "estimated from 500 weighted samples" in ran.out
    assert "seed 7" in ran.out
    assert run(*line).out == ran.out


def test_numbers_and_mixtures_are_told(run: Callable, tmp_path: Path) -> None:
    network = random_mixed(6, 1)
    dagora.write_network(network, tmp_path / "mixed.json")
    name = next(node for node in network.graph if node in network.lines)
    ran = run("query", tmp_path / "mixed.json", f"P({name})")
    assert ran.code == 0
    assert f"{name}  mean " in ran.out
    (answer,) = json.loads(run("query", tmp_path / "mixed.json", f"P({name})", "--json").out)["answers"]
    assert answer["mean"][name] == pytest.approx(network.query(of=name).mean[name])
    assert sum(part["weight"] for part in answer["components"]) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_questions_that_share_a_tree_have_the_same_answers(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = random_discrete(7, seed)
    row = dagora.sample_network(network, 1, seed)
    first, second, *rest = np.random.default_rng(seed).permutation(network.graph.nodes)
    level = {name: network.levels[name][row.codes(network.graph.index(name))[0]] for name in network.graph}
    known = f"{first}={level[first]}"
    if seed % 2:
        known += f", do({second}={level[second]})"
        rest = list(rest)
    texts = [
        *(f"P({name} | {known})" for name in rest),
        f"P({rest[0]}={level[rest[0]]} | {known})",
        f"P({first})",
    ]
    questions = [parse(text) for text in texts]
    settings = check_settings("auto", 1, 0, None)
    trees = []
    monkeypatch.setattr(sharing, "JunctionTree", lambda *a, **k: trees.append(1) or made(*a, **k))
    made = dagora.network.inference.junction_tree.JunctionTree
    together = ask_all(network.model, questions, settings)
    assert len(trees) == 1
    for text, answer in zip(texts, together, strict=True):
        assert answer.probabilities == pytest.approx(network.query(text).probabilities, abs=1e-12)
    small = check_settings("auto", 1, 0, 1000)  # too little for a tree
    monkeypatch.setattr(sharing, "shared_tree", lambda *_: None)
    for one, other in zip(ask_all(network.model, questions, small), together, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-12)


def test_impossible_evidence_is_refused_by_a_tree_too(run: Callable, tmp_path: Path) -> None:
    tables = {"a": np.array([1.0, 0.0]), "b": np.array([0.5, 0.5])}
    network = dagora.DiscreteNetwork(dagora.DAG("ab"), dict.fromkeys("ab", ("n", "y")), tables)
    dagora.write_network(network, tmp_path / "ab.bif")
    ran = run("query", tmp_path / "ab.bif", *["P(b | a=y)"] * 3)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "dagora: error: the evidence has probability zero, so there is no answer: a=y\n"


def test_one_impossible_question_leaves_the_others_their_answers(run: Callable, tmp_path: Path) -> None:
    graph = dagora.DAG(["rain", "wet"], [("rain", "wet")])
    tables = {"rain": np.array([0.8, 0.2]), "wet": np.array([[1.0, 0.0], [0.3, 0.7]])}
    network = dagora.DiscreteNetwork(graph, dict.fromkeys(graph.nodes, ("no", "yes")), tables)
    dagora.write_network(network, tmp_path / "n.bif")
    impossible = "P(wet | rain=no, wet=yes)"
    asked = ["P(rain | wet=yes)", "P(rain=no | wet=perhaps)", "P(wet)", "MAP(rain | wet=yes)"]
    ran = run("query", tmp_path / "n.bif", *asked)
    assert ran.code == 2
    assert [line for line in ran.out.splitlines() if "(" in line] == [asked[0], *asked[2:]]
    assert ran.err.count("no answer to ") == 1
    assert "dagora: error: no answer to P(rain=no | wet=perhaps): " in ran.err
    content = json.loads(run("query", tmp_path / "n.bif", *asked, "--json").out)["answers"]
    assert ["error" in answer for answer in content] == [False, True, False, False]
    assert content[1]["question"] == asked[1]
    alone = run("query", tmp_path / "n.bif", impossible)
    assert (alone.code, alone.out) == (2, "")
