"""K2 in the clear by three scores: f is the library's own, g another writing of the paper's formula."""

import math

import numpy as np
import pytest

from dagora.papers.private_k2.central import family_score, k2_graph, log_factorials
from tests.parties.vertical.central import central_edges, formula_edges
from tests.parties.vertical.test_k2_schedule import random_data


@pytest.mark.parametrize("seed", range(12))
def test_graphs_of_f_and_g(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = random_data(rng, int(rng.integers(2, 300)), 6)
    order = rng.permutation(6).tolist()
    names = [f"x{k}" for k in range(6)]

    def found(score: str) -> set[tuple[int, int]]:
        graph = k2_graph(data.astype(np.uint8), names, order, 3, score)
        return {(int(tail[1:]), int(head[1:])) for tail, head in graph.edges}

    assert found("f") == central_edges(data, order, 3)
    assert found("g") == formula_edges(data, order, 3, "g")


def test_stirling_with_its_constant_is_near_and_without_it_is_not() -> None:
    counts = np.arange(0.0, 2000.0)
    exact, g, near = (log_factorials(counts, score) for score in ("f", "g", "stirling"))
    assert exact[5] == pytest.approx(math.log(120))
    assert exact[0] == g[0] == near[0] == 0.0
    np.testing.assert_allclose(near[1:] - g[1:], 0.5 * math.log(2 * math.pi))
    assert (np.abs(near - exact)[1:] <= 1 / (12 * counts[1:]) + 1e-9).all()


def test_the_error_of_g_for_a_configuration_depends_on_what_occurs_in_it() -> None:
    """What the notes of the experiment say: 0.92 too low, nearly right, or 1 too high."""
    both, one, none = [0] * 500 + [1] * 300, [0] * 800, []

    def error(rows: list[int]) -> float:
        patterns = np.array(rows, dtype=np.int64)
        return family_score(patterns, 1, "g") - family_score(patterns, 1, "f")

    assert error(both) == pytest.approx(-0.919, abs=2e-3)
    assert error(one) == pytest.approx(0.0, abs=2e-3)
    assert error(none) == pytest.approx(1.0)
