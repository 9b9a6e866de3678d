"""A test of independence that reads the answer off a DAG: d-separation."""

import numpy as np

from dagora.graph.dag import DAG
from dagora.graph.separation import d_separated


class SeparationOracle:
    """Says 1 where a DAG implies independence, and 0 where it does not."""

    def __init__(self, dag: DAG) -> None:
        self._dag = dag
        self.names = dag.nodes
        self.most = len(dag.nodes)
        self.at_a_time = 1000

    def p_values(self, x, y, given):
        names = self.names
        return np.array(
            [
                float(d_separated(self._dag, names[a], names[b], [names[c] for c in rest]))
                for a, b, rest in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
            ]
        )
