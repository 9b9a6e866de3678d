"""Tables written by hand, and joint distributions of small networks worked out apart from the package."""

from itertools import product

import numpy as np

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table


def discrete_table(columns, levels):
    """A table from lists of codes, one per name."""
    schema = Schema(Variable(name, Kind.DISCRETE, tuple(levels[name])) for name in columns)
    return Table(schema, tuple(np.array(codes, dtype=np.uint16) for codes in columns.values()))


def continuous_table(columns):
    """A table from lists of numbers, one per name."""
    schema = Schema(Variable(name, Kind.CONTINUOUS) for name in columns)
    return Table(schema, tuple(np.array(values, dtype=np.float64) for values in columns.values()))


def matrix(table):
    return np.stack([np.asarray(column, dtype=np.float64) for column in table.columns], axis=1)


def enumerate_joint(network):
    """Every joint configuration (codes in node order) with its probability, by the chain rule."""
    nodes = network.graph.nodes
    joint = {}
    for codes in product(*(range(len(network.levels[node])) for node in nodes)):
        value = dict(zip(nodes, codes, strict=True))
        probability = 1.0
        for node in nodes:
            row = network.tables[node]
            for parent in network.graph.parents(node):
                row = row[value[parent]]
            probability *= float(row[value[node]])
        joint[codes] = probability
    return joint


def implied_normal(network):
    """Mean and covariance of the joint distribution: x = b + Wᵀx + e, so cov = (I−W)⁻ᵀ D (I−W)⁻¹."""
    nodes = network.graph.nodes
    W = np.zeros((len(nodes), len(nodes)))
    for j, node in enumerate(nodes):
        for parent, coefficient in zip(network.graph.parents(node), network.coefficients[node], strict=True):
            W[nodes.index(parent), j] = coefficient
    inverse = np.linalg.inv(np.eye(len(nodes)) - W)
    mean = np.array([network.intercepts[node] for node in nodes]) @ inverse
    noise = np.diag([network.sds[node] ** 2 for node in nodes])
    return mean, inverse.T @ noise @ inverse
