"""The heat map of edge probabilities shows every pair in its place, with its shade, number and frame."""

import xml.etree.ElementTree as ET
from itertools import pairwise, permutations

import numpy as np
import pytest

from dagora.base.errors import GraphError
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG
from dagora.posterior.summary.picture import colour, draw_probabilities

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["a<b", "b&c", 'd"e']
PROBABILITY = np.array([[0, 0.25, 0.5], [0.004, 0, 1.0], [0.126, 0.75, 0]])


def drawn(*arguments: object, **options: object) -> ET.Element:
    return ET.fromstring(draw_probabilities(*arguments, **options))


def squares(root: ET.Element) -> dict[tuple[str, str], ET.Element]:
    """The group of each pair (parent, child), by its tooltip."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        pair, _, _ = group.find(f"{SVG}title").text.rpartition(": ")
        parent, _, child = pair.partition(" → ")
        found[parent, child] = group
    return found


def box(element: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a rectangle."""
    x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def test_every_pair_has_a_square_with_its_probability_shade_and_number() -> None:
    root = drawn(NAMES, PROBABILITY, title="edges < all")
    assert root.find(f"{SVG}title").text == "edges < all"
    found = squares(root)
    assert set(found) == set(permutations(NAMES, 2))
    for (parent, child), group in found.items():
        value = PROBABILITY[NAMES.index(parent), NAMES.index(child)]
        assert group.find(f"{SVG}title").text == f"{parent} → {child}: {value:.4g}"
        assert group.find(f"{SVG}rect").get("fill") == colour(value)
    numbers = {pair: group.findtext(f"{SVG}text") for pair, group in found.items()}
    assert numbers == {
        ("a<b", "b&c"): "0.25",
        ("a<b", 'd"e'): "0.50",
        ("b&c", "a<b"): None,  # small numbers are only in the tooltip
        ("b&c", 'd"e'): "1.00",
        ('d"e', "a<b"): "0.13",
        ('d"e', "b&c"): "0.75",
    }


def test_rows_are_parents_and_columns_are_children() -> None:
    root = drawn(NAMES, PROBABILITY)
    boxes = {pair: box(group.find(f"{SVG}rect")) for pair, group in squares(root).items()}
    lefts = {child: {b[0] for (_, head), b in boxes.items() if head == child} for child in NAMES}
    tops = {parent: {b[1] for (tail, _), b in boxes.items() if tail == parent} for parent in NAMES}
    # Each child has one column and each parent one row, in the order of the names and side by side.
    columns = [lefts[name].pop() for name in NAMES]
    rows = [tops[name].pop() for name in NAMES]
    assert not any(lefts.values())
    assert not any(tops.values())
    side = boxes[NAMES[0], NAMES[1]][2] - boxes[NAMES[0], NAMES[1]][0]
    assert [b - a for a, b in pairwise(columns)] == pytest.approx([side] * 2, abs=0.11)
    assert [b - a for a, b in pairwise(rows)] == pytest.approx([side] * 2, abs=0.11)
    for (parent, child), group in squares(root).items():
        text = group.find(f"{SVG}text")
        if text is not None:
            left, top, right, bottom = boxes[parent, child]
            assert left < float(text.get("x")) < right
            assert top < float(text.get("y")) < bottom
    # The names beside the rows stand at their rows' height, left of all squares.
    labels = {t.text: t for t in root.findall(f"{SVG}text") if t.get("text-anchor") == "end"}
    for name, top in zip(NAMES, rows, strict=True):
        assert top < float(labels[name].get("y")) < top + side
        assert float(labels[name].get("x")) < min(columns)


def test_the_more_probable_the_darker() -> None:
    light = [int(colour(p)[1:3], 16) + int(colour(p)[3:5], 16) for p in np.linspace(0, 1, 11)]
    assert light == sorted(light, reverse=True)
    assert len(set(light)) == len(light)
    assert (colour(0.0), colour(0.5), colour(1.0)) == ("#ffffff", "#80a2c4", "#004488")
    assert (colour(1.5), colour(-1.5)) == (colour(1.0), colour(-1.0))
    negative = [int(colour(-p)[3:5], 16) for p in np.linspace(0, 1, 11)]
    assert negative == sorted(set(negative), reverse=True), "effects that lower, in red"


def test_numbers_can_be_read_on_their_squares() -> None:
    found = squares(drawn("abc", np.full((3, 3), 0.9)))
    assert {group.find(f"{SVG}text").get("fill") for group in found.values()} == {"#ffffff"}
    found = squares(drawn("abc", np.full((3, 3), 0.3)))
    assert "#ffffff" not in {group.find(f"{SVG}text").get("fill") for group in found.values()}


@pytest.mark.parametrize(
    ("truth", "framed"),
    [
        (None, set()),
        (DAG("cab", [("a", "b"), ("c", "b")]), {("a", "b"), ("c", "b")}),
        (CPDAG("abc", [("a", "b")], [("b", "c")]), {("a", "b"), ("b", "c"), ("c", "b")}),
    ],
)
def test_frames_lie_on_the_squares_of_true_edges(truth: Graph | None, framed: set[tuple[str, str]]) -> None:
    root = drawn("abc", np.full((3, 3), 0.1), truth=truth)
    boxes = {pair: box(group.find(f"{SVG}rect")) for pair, group in squares(root).items()}
    frames = [box(element) for element in root.iter(f"{SVG}rect") if element.get("class") == "true"]
    around = [
        pair
        for left, top, right, bottom in frames
        for pair, square in boxes.items()
        if square[0] <= left and square[1] <= top and right <= square[2] + 0.1 and bottom <= square[3] + 0.1
    ]
    assert len(frames) == len(framed)
    assert sorted(around) == sorted(framed)
    legend = [t.text for t in root.iter(f"{SVG}text")]
    assert ("edge of the truth" in legend) == (truth is not None)


def test_many_nodes_without_numbers() -> None:
    names = [f"v{k}" for k in range(40)]
    root = drawn(names, np.full((40, 40), 0.5))
    assert len(squares(root)) == 40 * 39
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert "0.50" not in texts
    assert texts.count("v7") == 2


def test_shapes_are_checked_and_what_is_not_known_is_grey() -> None:
    with pytest.raises(GraphError, match="2 names"):
        draw_probabilities("ab", np.zeros((3, 3)))
    unknown = squares(drawn("ab", np.full((2, 2), np.nan)))
    assert {group.find(f"{SVG}rect").get("fill") for group in unknown.values()} == {"#cccccc"}
    assert all(group.find(f"{SVG}text") is None for group in unknown.values())
