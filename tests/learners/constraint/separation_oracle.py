"""A test of independence that reads the answer off a DAG: d-separation."""

import numpy as np

from dagora.graph.dag import DAG
from dagora.graph.separation import d_separated


class SeparationOracle:
    """Says 1 where a DAG implies independence, and 0 where it does not.

    `hidden` nodes are not among the columns; neither are the `selected` ones, which are given always.
    """

    def __init__(self, dag: DAG, hidden=(), selected=()) -> None:
        self._dag = dag
        self._selected = list(selected)
        self.names = tuple(name for name in dag.nodes if name not in {*hidden, *selected})
        self.max_given = len(self.names)
        self.batch_size = 1000

    def p_values(self, x, y, given):
        names = self.names
        return np.array(
            [
                float(
                    d_separated(self._dag, names[a], names[b], [*(names[c] for c in rest), *self._selected])
                )
                for a, b, rest in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
            ]
        )
