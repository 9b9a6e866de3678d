"""Hand a graph or network over to another library, as its own objects.

The other library is imported when a function is called and is no dependency of dagora. Files are the
other way: BIF for networks, DAGitty and Tetrad's text for graphs.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dagora.base.errors import GraphError, OptionError
from dagora.graph.adjustment import Adjustment
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Network, require_network


def to_pgmpy(network: Network) -> Any:  # noqa: ANN401 (an object of another library)
    """A discrete or linear-Gaussian network as a model of pgmpy, with its parameters.

    >>> to_pgmpy(network).check_model()  # doctest: +SKIP
    True
    """
    require_network(network)
    models = library("pgmpy", "pgmpy.models")
    factors = library("pgmpy", "pgmpy.factors.discrete")
    if isinstance(network, GaussianNetwork):
        return gaussian_for_pgmpy(network, models)
    discrete = require_discrete(network, "pgmpy", "discrete and linear-Gaussian networks")
    model = models.DiscreteBayesianNetwork(list(discrete.graph.edges))
    model.add_nodes_from(discrete.graph.nodes)
    for node in discrete.graph:
        parents = discrete.graph.parents(node)
        # pgmpy: the node's levels down, configurations of the parents across, the last parent fastest.
        table = np.moveaxis(discrete.tables[node], -1, 0).reshape(len(discrete.levels[node]), -1)
        model.add_cpds(
            factors.TabularCPD(
                node,
                len(discrete.levels[node]),
                table,
                evidence=list(parents),
                evidence_card=[len(discrete.levels[parent]) for parent in parents],
                state_names={name: list(discrete.levels[name]) for name in (node, *parents)},
            )
        )
    return model


def gaussian_for_pgmpy(network: GaussianNetwork, models: Any) -> Any:  # noqa: ANN401
    """A linear-Gaussian network as a model of pgmpy."""
    factors = library("pgmpy", "pgmpy.factors.continuous")
    model = models.LinearGaussianBayesianNetwork(list(network.graph.edges))
    model.add_nodes_from(network.graph.nodes)
    for node in network.graph:
        beta = [network.intercepts[node], *map(float, network.coefficients[node])]
        model.add_cpds(
            factors.LinearGaussianCPD(
                node, beta, network.sds[node], evidence=list(network.graph.parents(node))
            )
        )
    return model


def to_pyagrum(network: Network) -> Any:  # noqa: ANN401
    """A discrete network as a `BayesNet` of pyAgrum.

    pyAgrum needs at least two levels of a variable; one that never varies is refused.

    >>> to_pyagrum(network).size()  # doctest: +SKIP
    8
    """
    discrete = require_discrete(require_network(network), "pyAgrum", "discrete networks")
    pyagrum = library("pyagrum", "pyagrum")
    for node, levels in discrete.levels.items():
        if len(levels) < 2:
            raise GraphError(f"'{node}' has one level, and pyAgrum needs two: leave it out of the network")
    model = pyagrum.BayesNet(discrete.name)
    for node in discrete.graph:
        model.add(pyagrum.LabelizedVariable(node, node, list(discrete.levels[node])))
    for node in discrete.graph:
        for parent in discrete.graph.parents(node):
            model.addArc(parent, node)
    for node in discrete.graph:
        table = model.cpt(node)
        # As arrays, the axes of pyAgrum's tables run backwards through its variables: the node is last.
        order = [table.variable(i).name() for i in reversed(range(table.nbrDim()))]
        own = [*discrete.graph.parents(node), node]
        turned = discrete.tables[node].transpose([own.index(name) for name in order])
        table[:] = np.ascontiguousarray(turned)
    return model


def to_dowhy(graph: DAG, frame: Any, treatment: str, outcome: str) -> Any:  # noqa: ANN401
    """A `CausalModel` of DoWhy: the question what `treatment` does to `outcome`, by graph and rows.

    `frame` is a pandas data frame with the graph's variables as columns.

    >>> model = to_dowhy(graph, frame, "dose", "effect")  # doctest: +SKIP
    """
    if not isinstance(graph, DAG):
        raise GraphError(
            f"DoWhy needs a DAG, not a {type(graph).__name__}: choose a member of the class (extension())"
        )
    for name in (treatment, outcome):
        graph.parents(name)  # refuses a name that is no node
    dowhy = library("dowhy", "dowhy")
    return dowhy.CausalModel(data=frame, treatment=treatment, outcome=outcome, graph=graph.to_networkx())


def dowhy_question(found: Adjustment) -> dict[str, Any]:
    """A question and its adjustment set as arguments of DoWhy's `CausalModel`, which is not needed for it.

    The graph is text in GML: a DAG as it is; of a class or a PAG, which DoWhy does not take, the variables of
    the question with the adjustment set as their common causes.

    >>> question = dowhy_question(Adjustment(DAG("xyz", ["zx", "zy", "xy"]), "x", "y"))
    >>> question["treatment"], question["outcome"], question["adjustment"]
    (['x'], 'y', ['z'])
    >>> model = dowhy.CausalModel(  # doctest: +SKIP
    ...     data=frame, treatment=question["treatment"], outcome=question["outcome"], graph=question["graph"]
    ... )
    """
    adjusted = found.minimal if found.optimal is None else found.optimal
    if adjusted is None:
        raise GraphError(f"there is no adjustment set to hand over: the verdict is '{found.verdict}'")
    graph = found.graph
    if not isinstance(graph, DAG):
        edges = [(z, node) for z in adjusted for node in (*found.x, found.y)]
        graph = DAG((*adjusted, *found.x, found.y), [*edges, *((x, found.y) for x in found.x)])
    return {"treatment": list(found.x), "outcome": found.y, "adjustment": list(adjusted), "graph": gml(graph)}


def gml(graph: DAG) -> str:
    """A DAG as text in GML, which networkx and DoWhy read.

    >>> print(gml(DAG("ab", [("a", "b")])), end="")
    graph [
    directed 1
    node [ id 0 label "a" ]
    node [ id 1 label "b" ]
    edge [ source 0 target 1 ]
    ]
    """
    lines = [f'node [ id {place} label "{gml_text(name)}" ]' for place, name in enumerate(graph.nodes)]
    lines += [f"edge [ source {graph.index(tail)} target {graph.index(head)} ]" for tail, head in graph.edges]
    return "graph [\ndirected 1\n" + "".join(line + "\n" for line in lines) + "]\n"


def gml_text(name: str) -> str:
    """A name as GML has it: letters beyond ASCII, quotes and ampersands by number.

    >>> gml_text('"pH" & größe')
    '&#34;pH&#34; &#38; gr&#246;&#223;e'
    """
    return "".join(one if " " <= one <= "~" and one not in '"&' else f"&#{ord(one)};" for one in name)


def library(package: str, module: str) -> Any:  # noqa: ANN401
    """A module of another library, or one line that says how to get it.

    >>> library("no-such-library", "no_such_library")
    Traceback (most recent call last):
    dagora.OptionError: this needs the package 'no-such-library': pip install no-such-library
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise OptionError(f"this needs the package '{package}': pip install {package}") from None


def require_discrete(network: Network, library_name: str, holds: str) -> DiscreteNetwork:
    """Refuse a network that the other library has no class for."""
    if not isinstance(network, DiscreteNetwork):
        raise GraphError(f"{library_name} takes {holds}, not a {type(network).__name__}: write it as .json")
    return network
