"""The heat map of edge probabilities is sound XML that says every number."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dagora.errors import GraphError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.posterior.summary.picture import colour, draw_probabilities

SVG = "{http://www.w3.org/2000/svg}"


def test_every_pair_has_a_square_with_its_number() -> None:
    names = ["a<b", "b&c", 'd"e']
    probability = np.array([[0, 0.25, 0.5], [0.004, 0, 1.0], [0.126, 0.75, 0]])
    root = ET.fromstring(draw_probabilities(names, probability, title="edges < all"))
    assert root.find(f"{SVG}title").text == "edges < all"
    squares = {g.find(f"{SVG}title").text: g for g in root.iter(f"{SVG}g")}
    assert set(squares) == {
        f"{names[i]} → {names[j]}: {probability[i, j]:.4g}" for i in range(3) for j in range(3) if i != j
    }
    shown = squares['d"e → a<b: 0.126'].find(f"{SVG}text").text
    assert shown == "0.13"
    assert squares["b&c → a<b: 0.004"].find(f"{SVG}text") is None, "small numbers are left out"
    rows = {key.partition(" → ")[0]: float(g.find(f"{SVG}rect").get("y")) for key, g in squares.items()}
    assert sorted(rows, key=rows.get) == names, "parents are rows"


def test_the_surer_the_darker() -> None:
    light = [int(colour(p)[1:3], 16) + int(colour(p)[3:5], 16) for p in np.linspace(0, 1, 11)]
    assert light == sorted(light, reverse=True)
    assert colour(1.5) == colour(1.0)


def test_frames_mark_the_truth() -> None:
    flat = np.full((3, 3), 0.1)

    def framed(truth: object) -> int:
        root = ET.fromstring(draw_probabilities("abc", flat, truth=truth))
        return sum(element.get("class") == "true" for element in root.iter())

    assert framed(None) == 0
    assert framed(DAG("cab", [("a", "b"), ("c", "b")])) == 2
    assert framed(CPDAG("abc", [("a", "b")], [("b", "c")])) == 3


def test_many_nodes_without_numbers() -> None:
    names = [f"v{k}" for k in range(40)]
    root = ET.fromstring(draw_probabilities(names, np.full((40, 40), 0.5)))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert "0.50" not in texts
    assert texts.count("v7") == 2


def test_shapes_are_checked() -> None:
    with pytest.raises(GraphError, match="2 names"):
        draw_probabilities("ab", np.zeros((3, 3)))
    assert "#cccccc" in draw_probabilities("ab", np.full((2, 2), np.nan))
