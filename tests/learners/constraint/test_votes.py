"""Directions where tests disagree: which sets have a vote, what half of them means, and what is kept."""

import numpy as np
import pytest

from dagora.graph.cpdag import CPDAG
from dagora.learners.constraint.pc import pc_by
from dagora.learners.constraint.skeleton import Skeleton
from dagora.learners.constraint.votes import by_votes
from dagora.learners.run import Run


class GivenValues:
    """A test whose p-values are given, as {"ab|cd": p}; all others are 0."""

    batch_size = 1000

    def __init__(self, names: str, p_values: dict[str, float]) -> None:
        self.names = tuple(names)
        self.max_given = len(names)
        self.asked: list[str] = []
        self._p_values = p_values

    def p_values(self, x: np.ndarray, y: np.ndarray, given: np.ndarray) -> np.ndarray:
        asked = [
            "|".join("".join(sorted(self.names[k] for k in part)) for part in ([a, b], rest))
            for a, b, rest in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
        ]
        self.asked += asked
        return np.array([self._p_values.get(each, 0.0) for each in asked])


def test_half_of_the_votes_is_doubt_and_no_v_structure() -> None:
    # Of the sets that separate a and b, {} and {c}, one has c.
    found = pc_by(GivenValues("abc", {"ab|": 0.5, "ab|c": 0.4}), Run(), orientation="majority")
    assert found.graph == CPDAG("abc", undirected=["ac", "bc"])
    assert found.warnings == ("1 paths a — c — b are left undirected at c: separating sets disagree on them",)


@pytest.mark.parametrize(("with_c", "arrows", "doubtful"), [(1, True, 0), (2, False, 1), (3, False, 0)])
def test_by_majority_only_half_is_doubt(with_c: int, arrows: bool, doubtful: int) -> None:
    """Four sets separate a and b, of which so many have c: a quarter is none, three quarters are enough."""
    sets = [
        ["ab|", "ab|d", "ab|e", "ab|c"],
        ["ab|", "ab|d", "ab|c", "ab|cd"],
        ["ab|", "ab|c", "ab|cd", "ab|ce"],
    ]
    names = "abcde"
    adjacent = np.zeros((5, 5), dtype=np.bool_)
    for a, b in ("ac", "bc", "ad", "ae"):
        adjacent[names.index(a), names.index(b)] = adjacent[names.index(b), names.index(a)] = True
    test = GivenValues(names, dict.fromkeys(sets[with_c - 1], 0.5))
    skeleton = Skeleton(adjacent, max_given=5, level=2)
    separates, _ = by_votes(skeleton, test, 0.01, Run(), majority=True)
    assert separates(0, 2, 1) == (not arrows)
    only_c = Skeleton(adjacent.copy(), max_given=5, level=2)
    # Paths through others: no set separates their ends, so they are as the skeleton says, and never in doubt.
    assert by_votes(only_c, test, 0.01, Run(), majority=True)[1] == doubtful
    assert by_votes(only_c, test, 0.01, Run(), majority=False)[1] == 1, (
        "conservatively all three are in doubt"
    )


@pytest.mark.parametrize("most", [None, 1])
def test_the_whole_neighbourhood_has_a_vote(most: int | None) -> None:
    """a — b — c — d — a: the skeleton needs no set of two, but {b, d} can separate a and c."""
    p_values = {"ac|": 0.5, "bd|a": 0.5, "ac|bd": 0.4}
    test = GivenValues("abcd", p_values)
    found = pc_by(test, Run(), orientation="conservative", max_given=most)
    assert found.stats["largest_set"] == 1
    assert ("ac|bd" in test.asked) == (most is None), "no more is given than allowed"
    assert any("2 paths a — c — b are left undirected" in said for said in found.warnings) == (most is None)


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.2), (0.2, 0.9)])
def test_of_contradicting_v_structures_the_more_certain_one_is_kept(first: float, second: float) -> None:
    # a → b ← c and b → c ← d cannot both be: the ends with the larger p-value are more surely independent.
    test = GivenValues("abcd", {"ac|": first, "bd|": second, "ad|": 0.5})
    found = pc_by(test, Run())
    kept = [("a", "b"), ("c", "b")] if first > second else [("b", "c"), ("d", "c")]
    assert set(kept) <= set(found.graph.edges)
    assert any("1 v-structures contradict others" in said for said in found.warnings)
