"""Classes of equivalent graphs by brute force: all members, and every single-edge change of each."""

import numpy as np

from dagora.base.errors import GraphError
from dagora.data.schema import Kind, Schema, Variable
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.search.ges.class_graph import DELETE, INSERT, TURN
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.stats.statistics import Moments

KINDS = (INSERT, DELETE, TURN)


def members(dag):
    """All DAGs equivalent to this one: turning covered edges reaches every one (Chickering 1995)."""
    found, stack = {dag}, [dag]
    while stack:
        present = stack.pop().to_numpy()
        for x, y in np.argwhere(present):
            if (np.delete(present[:, x], x) == np.delete(present[:, y], x)).all():
                turned = present.copy()
                turned[x, y], turned[y, x] = False, True
                after = DAG.from_numpy(turned, dag.nodes)
                if after not in found:
                    found.add(after)
                    stack.append(after)
    return found


def edited(dag, kind):
    """Every DAG that inserting, deleting or turning one edge of `dag` gives."""
    present = dag.to_numpy()
    for x in range(len(dag)):
        for y in range(len(dag)):
            joined = present[x, y] or present[y, x]
            if x == y or (kind == INSERT and joined) or (kind != INSERT and not present[x, y]):
                continue
            changed = present.copy()
            changed[x, y] = kind == INSERT
            changed[y, x] = kind == TURN
            try:
                yield DAG.from_numpy(changed, dag.nodes)
            except GraphError:
                continue


def neighbouring_classes(dag, kind):
    """The classes, other than its own, that a change of one edge in any member of a graph's class leads to."""
    found = {CPDAG.from_dag(after) for member in members(dag) for after in edited(member, kind)}
    return found - {CPDAG.from_dag(dag)}


class Population:
    """Statistics of endless data from a linear model: its exact covariance and a huge number of rows.

    Not more of them: scores grow with the rows, and a parameter's price must stay above what counts as a tie.
    """

    def __init__(self, dag, seed, rows=10**7):
        rng = np.random.default_rng(seed)
        present = dag.to_numpy()
        weights = present * rng.uniform(0.5, 1.5, present.shape) * rng.choice([-1, 1], present.shape)
        mixing = np.linalg.inv(np.eye(len(dag)) - weights)
        self.schema = Schema(Variable(name, Kind.CONTINUOUS) for name in dag.nodes)
        self.n_rows = rows
        self._scatter = rows * mixing.T @ np.diag(rng.uniform(0.5, 2.0, len(dag))) @ mixing

    def moments(self):
        return Moments(self.n_rows, np.zeros(len(self.schema)), self._scatter)


def population_score(dag, seed):
    return GaussianBIC(Population(dag, seed))
