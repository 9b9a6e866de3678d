"""Random graphs for property tests."""

import numpy as np
from hypothesis import strategies as st

from dagora.graph.dag import DAG


@st.composite
def dags(draw, min_nodes=1, max_nodes=8):
    """DAGs of any density whose topological order is hidden by a permutation."""
    size = draw(st.integers(min_nodes, max_nodes))
    count = size * (size - 1) // 2
    bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    matrix = np.zeros((size, size), dtype=bool)
    matrix[np.triu_indices(size, 1)] = bits
    order = draw(st.permutations(range(size)))
    return DAG.from_numpy(matrix[np.ix_(order, order)])


@st.composite
def mixed_matrices(draw, max_nodes=6):
    """Any partially directed graph: each pair has no edge, an arrow either way, or a line."""
    size = draw(st.integers(1, max_nodes))
    matrix = np.zeros((size, size), dtype=bool)
    for i in range(size):
        for j in range(i):
            mark = draw(st.integers(0, 3))
            matrix[i, j], matrix[j, i] = mark & 1, mark >> 1
    return matrix
