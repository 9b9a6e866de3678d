"""Zhang's rules find exactly the marks that all graphs with the same independences have in common."""

from itertools import combinations, product

import numpy as np
import pytest

from dagora.graph.ancestral import rules
from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import pag_of_mag
from tests.graph.ancestral.all_mags import (
    ARROW,
    EDGES,
    ancestors,
    classes,
    connected,
    independences,
    is_ancestral,
    subsets,
)


@pytest.mark.full
@pytest.mark.parametrize(("size", "selection", "count"), [(3, False, 11), (4, False, 248), (4, True, 251)])
def test_the_marks_of_every_class_over_few_nodes(size, selection, count):
    common, members = classes(size, selection=selection)
    assert len(common) == count
    for said, marks in common.items():
        one, other = members[said][0], members[said][-1]
        for member in (one, other):
            assert np.array_equal(pag_of_mag(PAG.from_numpy(member)).to_numpy(), marks)


def colliders(marks):
    size = len(marks)
    return {
        (a, b, c)
        for a, b, c in product(range(size), repeat=3)
        if a < c and not marks[a, c] and marks[a, b] == marks[c, b] == ARROW
    }


def common_marks(mag, *, selection):
    """What all MAGs on the same skeleton with the same independences share, by trying all marks."""
    pairs = [tuple(pair) for pair in np.argwhere(np.triu(mag)).tolist()]
    said, ends = independences(mag), colliders(mag)
    found = []
    for edges in product(EDGES[1:] if selection else EDGES[1:4], repeat=len(pairs)):
        marks = np.zeros_like(mag)
        for (i, j), both in zip(pairs, edges, strict=True):
            marks[j, i], marks[i, j] = both
        if colliders(marks) == ends and is_ancestral(marks) and same(marks, said):
            found.append(marks)
    return np.where(np.all(np.array(found) == found[0], axis=0), found[0], 1)


def same(marks, said):
    """Whether a graph has these independences; ends with the first difference."""
    above, _ = ancestors(marks)
    size = len(marks)
    return all(
        connected(marks, above, x, y, given) != ((x, y, given) in said)
        for x, y in combinations(range(size), 2)
        for given in subsets([z for z in range(size) if z not in {x, y}])
    )


def random_mag(rng, size, edges, *, selection):
    """A MAG with so many edges: marks at random until they make one."""
    pairs = list(combinations(range(size), 2))
    while True:
        marks = np.zeros((size, size), dtype=np.int8)
        for k in rng.choice(len(pairs), edges, replace=False):
            i, j = pairs[k]
            marks[j, i], marks[i, j] = EDGES[1 + rng.integers(4 if selection else 3)]
        if not is_ancestral(marks):
            continue
        apart = {(x, y) for x, y, _ in independences(marks)}
        if apart == {pair for pair in pairs if not marks[pair]}:
            return marks


@pytest.mark.parametrize("seed", range(12))
def test_the_marks_of_random_graphs_over_five_nodes(seed):
    rng = np.random.default_rng(seed)
    mag = random_mag(rng, 5, 6, selection=False)
    assert np.array_equal(pag_of_mag(PAG.from_numpy(mag)).to_numpy(), common_marks(mag, selection=False))


# Graphs in which a rule finds what no other does, as edges of a MAG: without it, marks are missing.
NEEDED = {
    "rule_1": ["a --> b", "c --> b", "b --> d"],
    "rule_2": ["a --> c", "a <-> d", "a <-> e", "b --> e", "c <-> e"],
    "rule_3": ["a --> b", "c --> b", "d --> a", "d --> c", "d --> b"],
    "rule_4": ["d --> a", "b --> a", "a --> c", "b --> c"],
    "rule_5": ["a --- b", "b --- c", "c --- d", "d --- a"],
    "rule_6_and_7": ["a --- b", "b --- c", "c --- d", "d --- a", "a --> e"],
    "rule_9": ["a <-> b", "a --> c", "b --> d", "c --> d"],
    "rule_10": ["a --> b", "a --> c", "a --> d", "c --> b", "b --> e", "c --> d", "c --> e", "d --> e"],
}


def test_rule_8_by_itself():
    marks = EndMarks(~np.eye(3, dtype=bool))
    for a, b in ((0, 1), (1, 2), (0, 2)):
        marks.put_arrow(a, b)
    for a, b in ((1, 0), (2, 1)):
        marks.put_tail(a, b)
    assert rules.rule_8(marks)
    assert marks.is_directed(0, 2)


def test_rule_10_needs_first_nodes_that_are_apart():
    """Every path from g to a parent of f begins with b or c, which are joined: g has no tail at f."""
    edges = "b --> c, b --> e, b --> f, b --> g, c --> e, c --> f, c <-> g, d --> e, e --> f, f <-> g"
    mag = PAG.from_text(edges.replace(", ", "\n"))
    found = pag_of_mag(mag)
    assert ("g", "o->", "f") in found.marked_edges
    marks, known = mag.to_numpy(), found.to_numpy()
    assert np.array_equal(np.where(known == 1, marks, known), marks)


@pytest.mark.parametrize("rule", NEEDED)
def test_no_rule_can_be_left_out(rule, monkeypatch):
    mag = PAG.from_text("\n".join(NEEDED[rule]))
    selection = rule in {"rule_5", "rule_6_and_7"}
    expected = common_marks(mag.to_numpy(), selection=selection)
    assert np.array_equal(pag_of_mag(mag).to_numpy(), expected)
    monkeypatch.setattr(rules, rule, lambda *_: False)
    assert not np.array_equal(pag_of_mag(mag).to_numpy(), expected)
