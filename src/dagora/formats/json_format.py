"""Graphs and networks as JSON.

A graph is `{"nodes": ["a", "b"], "edges": [["a", "b"]]}`, and `"undirected"` lists undirected edges; other
keys are ignored. A PAG has `"marked_edges": [["a", "o->", "b"]]`, and `"edges"` may be left out. A graph in
time is its window, over x, x[t-1], …, with the same edges as `"lagged_edges"` (`["x", "y", 1]`),
`"variables"` and `"lags"` beside it. A network is the same object with its parameters added, so that it can
be read as a graph:

- `"kind": "discrete"`: `"levels": {x: [...]}` and `"tables": {x: nested lists}`, one level of nesting per
  parent in the order of `"nodes"`, the levels of x last;
- `"kind": "gaussian"`: `"intercepts": {x: number}`, `"coefficients": {x: {parent: number}}`
  and `"sds": {x: number}`;
- `"kind": "mixed"`: `"levels"` and `"tables"` as above, of discrete nodes only; `"lines": {x: {"intercepts",
  "slopes": {parent: …}, "sds"}}`, each nested by the discrete parents of x, for continuous nodes;
  `"choices": {x: {"intercepts", "slopes": {parent: …}}}`, nested by the discrete parents and then the levels
  of x, for discrete nodes with continuous parents.

`"origin"` says what fitted parameters rest on (`network/origin.py`): the number of rows, the rows for each
configuration of discrete parents, the ranges of continuous nodes, the pseudocount, open directions.

The file of a learned result is a graph with many other keys. Its `"parameters"` hold what a network has
beside its graph: `"kind"` and the collections above. Where there are none, `"no_parameters"` says why.

The older form of published linear-Gaussian networks can be read, too. Its `"nodes"` is an object
`{x: {"parents": [...], "intercept": number, "coefficients": [...], "sd": number}}`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dagora.base.errors import FormatError
from dagora.base.files import json_text
from dagora.base.parsing import parse_json
from dagora.base.phrases import find_repeated
from dagora.formats.graphs import build_graph, build_pag, check_number
from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.network.origin import Origin
from dagora.network.regressions import Lines, Softmax

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph

Object = dict[str, Any]


def parse_graph(text: str) -> AnyGraph:
    """Read the graph; parameters and other keys are ignored.

    >>> parse_graph('{"nodes": ["a", "b"], "edges": [["a", "b"]], "score": -12.5}').edges
    (('a', 'b'),)
    """
    return _graph(_object(text))


def parse(text: str) -> AnyGraph | Network:
    """Read what the text holds: a network where it has parameters, else a graph.

    >>> network = parse('{"kind": "discrete", "nodes": ["a"], "edges": [],'
    ...                 ' "levels": {"a": ["no", "yes"]}, "tables": {"a": [0.25, 0.75]}}')
    >>> network.levels["a"], network.tables["a"].tolist()
    (('no', 'yes'), [0.25, 0.75])
    """
    document = _object(text)
    if isinstance(document.get("parameters"), dict):
        document = {**document, **document["parameters"]}
    kind = document.get("kind")
    if kind == "discrete":
        return _discrete(document)
    if kind == "gaussian":
        return _gaussian(document)
    if kind == "mixed":
        return _mixed_network(document)
    if isinstance(document.get("nodes"), dict):
        return _regressions(document["nodes"], _name(document))
    return _graph(document)


def render_graph(graph: Graph) -> str:
    """Write a graph, one edge a line.

    >>> print(render_graph(DAG("ab", [("a", "b")])), end="")
    {
     "nodes": ["a", "b"],
     "edges": [
      ["a", "b"]
     ]
    }
    """
    return _layout(_graph_object(graph))


def render_pag(graph: PAG) -> str:
    """Write a PAG, one edge a line; `edges` has those with a direction, for readers that know no marks.

    >>> print(render_pag(PAG("ab", [("a", "o->", "b")])), end="")
    {
     "nodes": ["a", "b"],
     "edges": [],
     "marked_edges": [
      ["a", "o->", "b"]
     ]
    }
    """
    return _layout(
        {
            "nodes": list(graph.nodes),
            "edges": [list(edge) for edge in graph.edges],
            "marked_edges": [list(edge) for edge in graph.marked_edges],
        }
    )


def render_network(network: Network) -> str:
    """Write a network with its parameters; the numbers are read back as they were, to the last bit."""
    content = _parameters(network)
    kind, name = content.pop("kind"), content.pop("name")
    return _layout({"kind": kind, "name": name, **_graph_object(network.graph), **content})


def render_result(content: Object, network: Network | None, reason: str | None) -> str:
    """Write a result with the parameters of its network, or the reason why there are none."""
    document = {**content, "parameters": None if network is None else _parameters(network)}
    if network is None:
        document["no_parameters"] = reason
    return _layout(document)


def reason_without_parameters(text: str) -> str | None:
    """The reason why the file of a result has no parameters, if it has one."""
    reason = _object(text).get("no_parameters")
    return reason if isinstance(reason, str) else None


def _parameters(network: Network) -> Object:
    """The parameters of a network and what they rest on, as JSON."""
    origin = {} if network.origin is None else {"origin": network.origin.to_dict()}
    return {**_numbers_of(network), **origin}


def _numbers_of(network: Network) -> Object:
    """The parameters of a network as JSON."""
    graph = network.graph
    if isinstance(network, DiscreteNetwork):
        return {
            "kind": "discrete",
            "name": network.name,
            "levels": {node: list(network.levels[node]) for node in graph},
            "tables": {node: network.tables[node].tolist() for node in graph},
        }
    if isinstance(network, MixedNetwork):
        return _mixed_parameters(network)
    return {
        "kind": "gaussian",
        "name": network.name,
        "intercepts": {node: float(network.intercepts[node]) for node in graph},
        "coefficients": {
            node: dict(zip(graph.parents(node), network.coefficients[node].tolist(), strict=True))
            for node in graph
        },
        "sds": {node: float(network.sds[node]) for node in graph},
    }


def _mixed_parameters(network: MixedNetwork) -> Object:
    graph, lines, choices = network.graph, network.lines, network.choices

    def slopes(node: str, given: NDArray[np.float64]) -> Object:
        parents = network.model.continuous_parents(node)
        return {parent: given[..., position].tolist() for position, parent in enumerate(parents)}

    return {
        "kind": "mixed",
        "name": network.name,
        "levels": {node: list(network.levels[node]) for node in graph if node in network.levels},
        "tables": {node: network.tables[node].tolist() for node in graph if node in network.tables},
        "choices": {
            node: {
                "intercepts": choices[node].intercepts.tolist(),
                "slopes": slopes(node, choices[node].slopes),
            }
            for node in graph
            if node in choices
        },
        "lines": {
            node: {
                "intercepts": lines[node].intercepts.tolist(),
                "slopes": slopes(node, lines[node].slopes),
                "sds": lines[node].sds.tolist(),
            }
            for node in graph
            if node in lines
        },
    }


def _graph_object(graph: Graph) -> Object:
    document: Object = {"nodes": list(graph.nodes), "edges": [list(edge) for edge in graph.edges]}
    if graph.undirected:
        document["undirected"] = [list(edge) for edge in graph.undirected]
    in_time = LaggedGraph.of_window(graph)
    return document if in_time is None else in_time.to_dict()


def _layout(document: Object) -> str:
    """Text with one line per key, and per item of a collection other than the nodes: easy to compare."""
    lines = []
    for key, value in document.items():
        head = f" {json.dumps(key)}: "
        if key == "nodes" or not value or not isinstance(value, list | dict):
            lines.append(head + json_text(value))
        elif isinstance(value, dict):
            items = [f"  {json_text(name)}: {json_text(item)}" for name, item in value.items()]
            lines.append(head + "{\n" + ",\n".join(items) + "\n }")
        else:
            lines.append(head + "[\n" + ",\n".join(f"  {json_text(item)}" for item in value) + "\n ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _object(text: str) -> Object:
    def refuse_constant(constant: str) -> NoReturn:
        raise FormatError(f"the number {constant} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> Object:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = find_repeated(key for key, _ in pairs)
            raise FormatError(f"the key '{twice}' occurs twice in one object")
        return found

    document = parse_json(text, parse_constant=refuse_constant, object_pairs_hook=unique)
    if not isinstance(document, dict):
        raise FormatError('a graph is an object {"nodes": [...], "edges": [...]}')
    return document


def _graph(document: Object) -> AnyGraph:
    nodes = document.get("nodes")
    if isinstance(nodes, dict):
        return DAG(
            check_number(nodes), [(parent, node) for node in nodes for parent in _parents(nodes, node)]
        )
    marked = "marked_edges" in document
    if not isinstance(nodes, list) or not (marked or "edges" in document):
        raise FormatError('a graph needs "nodes": [names] and "edges": [[from, to], ...]')
    if marked:
        pag = build_pag(nodes, _triples(document, "marked_edges"))
        if "edges" in document and set(_pairs(document, "edges")) != set(pag.edges):
            raise FormatError('"edges" must have the edges a --> b of "marked_edges" and no others')
        return pag
    graph = build_graph(nodes, _pairs(document, "edges"), _pairs(document, "undirected"))
    in_time = LaggedGraph.of_window(graph) if "lagged_edges" in document else None
    if in_time is not None:
        usual = in_time.to_dict()
        edges = document["lagged_edges"]
        if not isinstance(edges, list) or sorted(map(repr, edges)) != sorted(
            map(repr, usual["lagged_edges"])
        ):
            raise FormatError('"lagged_edges" must have the edges of "edges" and no others: change both')
        for key in ("variables", "lags"):
            if document.get(key, usual[key]) != usual[key]:
                raise FormatError(f'"{key}" must be that of "nodes": change both')
    return graph


def _triples(document: Object, key: str) -> list[tuple[str, str, str]]:
    return [
        (one, sign, other) for one, sign, other in _lists(document, key, 3, 'triples like ["a", "o->", "b"]')
    ]


def _pairs(document: Object, key: str) -> list[tuple[str, str]]:
    return [(tail, head) for tail, head in _lists(document, key, 2, "pairs of names")]


def _lists(document: Object, key: str, length: int, what: str) -> list[list[str]]:
    listed = document.get(key, [])
    if not isinstance(listed, list):
        raise FormatError(f'"{key}" must be a list of {what}')
    for one in listed:
        if not isinstance(one, list) or len(one) != length or not all(isinstance(text, str) for text in one):
            raise FormatError(f'"{key}" must be a list of {what}, but has {_brief(one)}')
    return listed


def _dag(document: Object) -> DAG:
    graph = _graph(document)
    if not isinstance(graph, DAG):
        raise FormatError("a network with parameters cannot have undirected edges or marks")
    return graph


def _discrete(document: Object) -> DiscreteNetwork:
    graph = _dag(document)
    levels = _levels(document, graph)
    tables = {node: _array(_entry(document, "tables", node), f"the table of '{node}'") for node in graph}
    return DiscreteNetwork(graph, levels, tables, _name(document), _origin(document, graph, levels))


def _origin(document: Object, graph: DAG, levels: Mapping[str, tuple[str, ...]]) -> Origin | None:
    given = document.get("origin")
    return None if given is None else Origin.from_dict(given, graph, levels)


def _levels(document: Object, nodes: Iterable[str]) -> dict[str, tuple[str, ...]]:
    levels: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        listed = _entry(document, "levels", node)
        if not isinstance(listed, list) or not all(isinstance(level, str) for level in listed):
            raise FormatError(f"the levels of '{node}' must be a list of texts")
        if not listed or len(set(listed)) < len(listed):
            raise FormatError(f"the levels of '{node}' must be one or more different texts")
        levels[node] = tuple(listed)
    return levels


def _mixed_network(document: Object) -> MixedNetwork:
    graph = _dag(document)
    for key in ("levels", "tables", "choices", "lines"):
        if not isinstance(document.setdefault(key, {}), dict):
            raise FormatError(f'a network of kind "mixed" needs "{key}": {{name: ...}}')
    discrete = [node for node in graph if node in document["levels"]]
    tables = {
        node: _array(document["tables"][node], f"the table of '{node}'")
        for node in graph
        if node in document["tables"]
    }
    choices, lines = {}, {}
    for node in graph:
        parents = [parent for parent in graph.parents(node) if parent not in document["levels"]]
        if node in document["choices"]:
            choices[node] = Softmax(*_regression(document["choices"][node], node, parents))
        if node in document["lines"]:
            intercepts, slopes = _regression(document["lines"][node], node, parents)
            sds = _array(document["lines"][node].get("sds"), f"the sds of '{node}'")
            if sds.shape != intercepts.shape:
                raise FormatError(f"the sds of '{node}' must be nested as its intercepts are")
            lines[node] = Lines(intercepts, slopes, sds)
    levels = _levels(document, discrete)
    origin = _origin(document, graph, levels)
    return MixedNetwork(graph, levels, tables, choices, lines, _name(document), origin)


def _regression(
    given: object, node: str, parents: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intercepts, and slopes with one axis more: the continuous parents."""
    if not isinstance(given, dict):
        raise FormatError(f"the regression of '{node}' must be an object with intercepts and slopes")
    intercepts = _array(given.get("intercepts"), f"the intercepts of '{node}'")
    by_parent = given.get("slopes")
    if not isinstance(by_parent, dict) or set(by_parent) != set(parents):
        raise FormatError(f"the slopes of '{node}' must be an object with one entry per continuous parent")
    slopes = np.zeros((*intercepts.shape, len(parents)))
    for position, parent in enumerate(parents):
        column = _array(by_parent[parent], f"the slopes of '{node}'")
        if column.shape != intercepts.shape:
            raise FormatError(f"the slopes of '{node}' must be nested as its intercepts are")
        slopes[..., position] = column
    return intercepts, slopes


def _gaussian(document: Object) -> GaussianNetwork:
    graph = _dag(document)
    coefficients = {}
    for node in graph:
        given = _entry(document, "coefficients", node)
        if not isinstance(given, dict) or set(given) != set(graph.parents(node)):
            raise FormatError(f"the coefficients of '{node}' must be an object with one number per parent")
        coefficients[node] = _vector([given[parent] for parent in graph.parents(node)], node)
    return GaussianNetwork(
        graph,
        {node: _number(_entry(document, "intercepts", node), f"the intercept of '{node}'") for node in graph},
        coefficients,
        {node: _number(_entry(document, "sds", node), f"the sd of '{node}'") for node in graph},
        _name(document),
        _origin(document, graph, {}),
    )


def _regressions(nodes: Object, name: str) -> GaussianNetwork:
    """Build the published form, in which each node holds its own regression."""
    parents = {node: _parents(nodes, node) for node in nodes}
    graph = DAG(nodes, [(parent, node) for node in nodes for parent in parents[node]])
    intercepts, coefficients, sds = {}, {}, {}
    for node, regression in nodes.items():
        given = regression.get("coefficients", [])
        if not isinstance(given, list) or len(given) != len(parents[node]):
            raise FormatError(f"'{node}' has {len(parents[node])} parents and needs as many coefficients")
        by_parent = dict(zip(parents[node], given, strict=True))
        intercepts[node] = _number(regression.get("intercept"), f"the intercept of '{node}'")
        coefficients[node] = _vector([by_parent[parent] for parent in graph.parents(node)], node)
        sds[node] = _number(regression.get("sd"), f"the sd of '{node}'")
    return GaussianNetwork(graph, intercepts, coefficients, sds, name)


def _parents(nodes: Object, node: str) -> list[str]:
    content = nodes[node]
    parents = content.get("parents", []) if isinstance(content, dict) else None
    if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
        raise FormatError(f"the node '{node}' must be an object with \"parents\": [names]")
    if len(set(parents)) < len(parents):
        raise FormatError(f"the node '{node}' lists a parent twice")
    return parents


def _entry(document: Object, key: str, node: str) -> Any:  # noqa: ANN401 - what JSON holds
    collection = document.get(key)
    if not isinstance(collection, dict):
        raise FormatError(f'a network of kind "{document["kind"]}" needs "{key}": {{name: ...}}')
    if node not in collection:
        raise FormatError(f"\"{key}\" has no entry for '{node}'")
    return collection[node]


def _name(document: Object) -> str:
    name = document.get("name", "network")
    return name if isinstance(name, str) else "network"


def _number(value: object, what: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise FormatError(f"{what} must be a number, not {_brief(value)}")


def _vector(values: Sequence[object], node: str) -> NDArray[np.float64]:
    return np.array([_number(value, f"a coefficient of '{node}'") for value in values], dtype=np.float64)


def _array(value: object, what: str) -> NDArray[np.float64]:
    try:
        array = np.array(value)
    except ValueError:
        raise FormatError(f"{what} must be nested lists of equal lengths") from None
    # Booleans, texts and nulls have other dtypes; only numbers may pass.
    if array.dtype.kind not in "fiu":
        raise FormatError(f"{what} must be made of numbers")
    return array.astype(np.float64)


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
