"""Random small networks of every kind, and the joint distribution of discrete ones as one array."""

import numpy as np

from dagora.graph.random_graphs import random_dag
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Lines, MixedNetwork, Softmax


def random_table(rng, shape):
    """Probabilities of which some are zero."""
    table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    table[table < 0.1] = 0.0
    table[table.sum(axis=-1) == 0] = 1.0
    return table / table.sum(axis=-1, keepdims=True)


def random_discrete(nodes, seed):
    """Nodes of one to three levels."""
    rng = np.random.default_rng(seed)
    graph = random_dag("er", nodes, rng.uniform(0.5, 2), seed)
    levels = {node: tuple("uvw"[: rng.integers(1, 4)]) for node in graph}
    tables = {
        node: random_table(rng, [len(levels[name]) for name in (*graph.parents(node), node)])
        for node in graph
    }
    return DiscreteNetwork(graph, levels, tables)


def random_gaussian(nodes, seed):
    rng = np.random.default_rng(seed)
    graph = random_dag("er", nodes, rng.uniform(0.5, 2), seed)
    return GaussianNetwork(
        graph,
        {node: rng.normal() for node in graph},
        {node: rng.normal(size=len(graph.parents(node))) for node in graph},
        {node: rng.uniform(0.3, 2) for node in graph},
    )


def random_mixed(nodes, seed, *, choices=False):
    """Conditional linear Gaussians: no discrete node has a continuous parent, unless there may be choices."""
    rng = np.random.default_rng(seed)
    graph = random_dag("er", nodes, rng.uniform(0.5, 2), seed)
    levels = {}
    for node in graph.order:
        free = choices or all(parent in levels for parent in graph.parents(node))
        if free and rng.random() < 0.6:
            levels[node] = tuple("uvw"[: rng.integers(2, 4)])
    parts = {"tables": {}, "choices": {}, "lines": {}}
    for node in graph:
        shape = tuple(len(levels[parent]) for parent in graph.parents(node) if parent in levels)
        slopes = sum(parent not in levels for parent in graph.parents(node))
        if node not in levels:
            parts["lines"][node] = Lines(
                rng.normal(size=shape), rng.normal(size=(*shape, slopes)), rng.uniform(0.3, 2, size=shape)
            )
        elif slopes:
            shape = (*shape, len(levels[node]))
            parts["choices"][node] = Softmax(rng.normal(size=shape), rng.normal(size=(*shape, slopes)))
        else:
            parts["tables"][node] = random_table(rng, (*shape, len(levels[node])))
    return MixedNetwork(graph, levels, **parts)


def joint_array(network):
    """The joint distribution, one axis per node in the order of the graph."""
    nodes = network.graph.nodes
    joint = np.ones([len(network.levels[node]) for node in nodes])
    for node in nodes:
        axes = [nodes.index(name) for name in (*network.graph.parents(node), node)]
        shape = [size if axis in axes else 1 for axis, size in enumerate(joint.shape)]
        joint = joint * network.tables[node].transpose(np.argsort(axes)).reshape(shape)
    return joint


def given(network, joint, evidence):
    """The joint distribution with zeros where it contradicts the evidence, codes by name; not normalised."""
    nodes = network.graph.nodes
    for node, code in evidence.items():
        keep = np.arange(joint.shape[nodes.index(node)]) == code
        joint = joint * keep.reshape([-1 if name == node else 1 for name in nodes])
    return joint


def marginal(network, joint, names):
    """Sum the joint distribution to some nodes, in their order."""
    nodes = network.graph.nodes
    axes = [nodes.index(name) for name in names]
    summed = joint.sum(axis=tuple(axis for axis in range(len(nodes)) if axis not in axes))
    return summed.transpose(np.argsort(np.argsort(axes)))
