"""Effects of linear models by their definition: the oracle for everything that is said about adjustment."""

from itertools import chain, combinations

import numpy as np

from dagora.graph.equivalence import cpdag_matrix, meek_closure


def subsets(members):
    return list(chain.from_iterable(combinations(members, size) for size in range(len(members) + 1)))


def total_effect(weights, causes, outcome):
    """The slopes of the outcome's mean in the values that the causes are set to."""
    cut = weights.copy()
    cut[:, causes] = 0
    return np.linalg.inv(np.eye(len(cut)) - cut)[causes, outcome]


def random_weights(rng, dag):
    return np.where(dag, rng.uniform(0.4, 1.4, dag.shape) * rng.choice([-1, 1], dag.shape), 0)


def covariance(weights):
    inverse = np.linalg.inv(np.eye(len(weights)) - weights)
    return inverse.T @ np.diag(1 + 0.3 * np.arange(len(weights))) @ inverse


def weights_of(covariances, dag):
    """The weights that give a DAG these covariances."""
    weights = np.zeros(dag.shape)
    for child in range(len(dag)):
        parents = np.flatnonzero(dag[:, child])
        weights[parents, child] = slopes(covariances, parents, child)
    return weights


def slopes(covariances, columns, outcome):
    columns = list(columns)
    return np.linalg.solve(covariances[np.ix_(columns, columns)], covariances[columns, outcome])


def asymptotic_variances(covariances, causes, outcome, chosen):
    """Of the slopes of the causes in the regression on them and a set, times the number of rows."""
    columns = [*causes, *chosen]
    inside = covariances[np.ix_(columns, columns)]
    left = covariances[outcome, outcome] - covariances[columns, outcome] @ slopes(
        covariances, columns, outcome
    )
    return left * np.diag(np.linalg.inv(inside))[: len(causes)]


def classes_with_knowledge(dags):
    """Every maximally oriented graph that knowledge makes of the class of some DAG, with its members."""
    classes = {}
    for dag in dags:
        classes.setdefault(cpdag_matrix(dag).tobytes(), []).append(dag)
    found = {}
    for key, members in classes.items():
        base = np.frombuffer(key, dtype=bool).reshape(dags[0].shape)
        for dag in members:
            for chosen in subsets(np.argwhere(base & base.T & dag).tolist()):
                known = base.copy()
                for tail, head in chosen:
                    known[head, tail] = False
                known = meek_closure(known)
                found[known.tobytes()] = known, [one for one in members if not (one & ~known).any()]
    return list(found.values())
