"""A graph in time: edges within a step, and edges from earlier steps, for any step t.

Its nodes are pairs of a variable and a lag. The edge (a, b, 0) says that b depends on a of the same step,
(a, b, k) that it depends on a of k steps earlier. Edges within a step form no cycle; an edge from an earlier
step never can, also not from a variable to itself.

The *window* is the same as a `DAG`: the variable x has the nodes x (at t), x[t-1], …, x[t-p], and all edges
lead to nodes at t. So a graph in time goes through every file format and comparison of graphs, and is
recognised by the names of its nodes alone. Where the data leave the direction of some edges within a step
open, the graph has lines there, and its window is a `CPDAG`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dagora.base.errors import GraphError
from dagora.base.notebook import NotebookView
from dagora.graph.cpdag import CPDAG, Graph
from dagora.graph.dag import DAG, Edge
from dagora.graph.interventions import interventional_cpdag

# Nobody writes a lag of more digits: it is a name.
LAGGED = re.compile(r"(?P<variable>.*)\[t-(?P<lag>[1-9][0-9]{0,8})\]", re.DOTALL)

LaggedEdge = tuple[str, str, int]


def lagged_name(variable: str, lag: int) -> str:
    """The node of a variable some steps earlier.

    >>> lagged_name("x", 0), lagged_name("x", 2)
    ('x', 'x[t-2]')
    """
    return f"{variable}[t-{lag}]" if lag else variable


def split_name(node: str) -> tuple[str, int]:
    """The variable and the lag of a node.

    >>> split_name("x"), split_name("x[t-2]")
    (('x', 0), ('x', 2))
    """
    found = LAGGED.fullmatch(node)
    return (node, 0) if found is None else (found["variable"], int(found["lag"]))


def window_names(variables: Sequence[str], lags: int) -> tuple[str, ...]:
    """The nodes of a window, slice by slice, the present first.

    >>> window_names(["x", "y"], 1)
    ('x', 'y', 'x[t-1]', 'y[t-1]')
    """
    for name in variables:
        if split_name(name)[1]:
            raise GraphError(f"'{name}' is named like a variable of an earlier step: rename it")
    return tuple(lagged_name(name, lag) for lag in range(lags + 1) for name in variables)


@dataclass(frozen=True)
class LaggedGraph(NotebookView):
    """Edges within a step (lag 0) and from up to `lags` steps earlier; `undirected` are lines within a step.

    >>> graph = LaggedGraph(("rain", "river"), 1, [("rain", "river", 0), ("river", "river", 1)])
    >>> graph.within.edges, graph.lagged
    ((('rain', 'river'),), (('river', 'river', 1),))
    >>> graph.window.edges
    (('rain', 'river'), ('river[t-1]', 'river'))
    >>> print(graph)
    rain -> river
    river[t-1] -> river
    >>> LaggedGraph.from_dict(graph.to_dict()) == graph
    True
    >>> LaggedGraph("ab", 1, [("a", "b", 1)], undirected=[("b", "a")]).within.undirected
    (('a', 'b'),)
    """

    variables: tuple[str, ...]
    lags: int
    edges: tuple[LaggedEdge, ...]
    undirected: tuple[Edge, ...]

    def __init__(
        self,
        variables: Iterable[str],
        lags: int,
        edges: Iterable[LaggedEdge] = (),
        undirected: Iterable[Edge] = (),
    ) -> None:
        names = tuple(variables)
        if isinstance(lags, bool) or not isinstance(lags, int) or lags < 0:
            raise GraphError(f"lags must be a whole number, 0 or more, not {lags!r}")
        listed = []
        for edge in edges:
            try:
                tail, head, lag = edge
            except (TypeError, ValueError):
                raise GraphError(f'edges are a list such as ("a", "b", 1), not {edge!r}') from None
            if isinstance(lag, bool) or not isinstance(lag, int) or not 0 <= lag <= lags:
                raise GraphError(f"the edge {tail} → {head} has the lag {lag!r}: choose 0 to {lags}")
            listed.append((tail, head, lag))
        lines = list(undirected)
        window = graph_of(window_names(names, lags), [window_edge(edge) for edge in listed], lines)
        for head in [*(head for _, head, _ in listed), *(end for line in lines for end in line)]:
            if head not in names:
                raise GraphError(f"there is no variable '{head}'")
        object.__setattr__(self, "variables", names)
        object.__setattr__(self, "lags", lags)
        ordered = ((split_name(tail), head) for tail, head in window.edges)
        object.__setattr__(self, "edges", tuple((tail, head, lag) for (tail, lag), head in ordered))
        object.__setattr__(self, "undirected", window.undirected)

    @cached_property
    def window(self) -> Graph:
        """The same as a DAG over x, x[t-1], x[t-2], or as a CPDAG where some edges are undirected."""
        nodes = window_names(self.variables, self.lags)
        return graph_of(nodes, [window_edge(edge) for edge in self.edges], self.undirected)

    @property
    def within(self) -> Graph:
        """The edges within a step."""
        edges = [(tail, head) for tail, head, lag in self.edges if not lag]
        return graph_of(self.variables, edges, self.undirected)

    @property
    def lagged(self) -> tuple[LaggedEdge, ...]:
        """The edges from earlier steps, as (cause, effect, lag)."""
        return tuple(edge for edge in self.edges if edge[2])

    def directed(self) -> LaggedGraph:
        """The same graph with its lines directed: as in a graph of its class, else by the order of variables.

        Tests on few rows may leave lines that no graph of one class has all of: each then gets the direction
        in which it closes no cycle, from the earlier variable where both are possible.

        >>> LaggedGraph("ab", 1, [("a", "a", 1)], [("a", "b")]).directed().edges
        (('a', 'b', 0), ('a', 'a', 1))
        """
        if not isinstance(self.window, CPDAG):
            return self
        try:
            window = self.window.extension()
        except GraphError:
            order = DAG(self.window.nodes, self.window.edges).order
            place = {node: k for k, node in enumerate(order)}
            lines = [tuple(sorted(line, key=place.__getitem__)) for line in self.undirected]
            window = DAG(self.window.nodes, [*self.window.edges, *((one, other) for one, other in lines)])
        edges = [(*split_name(tail), head) for tail, head in window.edges]
        return LaggedGraph(self.variables, self.lags, [(tail, head, lag) for tail, lag, head in edges])

    def unrolled(self, steps: int) -> DAG:
        """The same edges at every one of so many steps: a DAG over x, x[t-1], …, the last step first.

        The first steps have only those parents that are not earlier still. Paths and adjustment sets between
        `x[t-h]` and `y` are those of all time where the steps are `h + lags + 1` or more.

        >>> graph = LaggedGraph(("x", "y"), 1, [("x", "y", 0), ("x", "x", 1)])
        >>> graph.unrolled(3).edges
        (('x', 'y'), ('x[t-1]', 'x'), ('x[t-1]', 'y[t-1]'), ('x[t-2]', 'x[t-1]'), ('x[t-2]', 'y[t-2]'))
        >>> graph.unrolled(3).adjustment("x[t-1]", "y").minimal
        ()
        """
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise GraphError(f"a graph is unrolled over a whole number of steps, 1 or more, not {steps!r}")
        if self.undirected:
            raise GraphError("the graph has lines without a direction: choose one of its graphs (directed())")
        edges = [
            (lagged_name(tail, shift + lag), lagged_name(head, shift))
            for tail, head, lag in self.edges
            for shift in range(steps - lag)
        ]
        return DAG(window_names(self.variables, steps - 1), edges)

    @classmethod
    def of_unrolled(cls, graph: object) -> LaggedGraph | None:
        """The graph in time whose edges a DAG has into its last step; None where a DAG is none of steps.

        The first steps may have other edges: those of their initial distribution.

        >>> graph = LaggedGraph(("x", "y"), 1, [("x", "y", 0), ("x", "x", 1)])
        >>> LaggedGraph.of_unrolled(graph.unrolled(2)) == graph, LaggedGraph.of_unrolled(DAG("xy"))
        (True, None)
        """
        if not isinstance(graph, DAG):
            return None
        edges = [(split_name(tail), split_name(head)) for tail, head in graph.edges]
        if any(one[1] < other[1] for one, other in edges):
            return None
        present = [(lagged_name(*one), lagged_name(*other)) for one, other in edges if not other[1]]
        return cls.of_window(DAG(graph.nodes, present))

    @classmethod
    def of_window(cls, graph: object) -> LaggedGraph | None:
        """The graph in time that a DAG or CPDAG is the window of; None where a graph is not one.

        >>> LaggedGraph.of_window(DAG(["x", "x[t-1]"], [("x[t-1]", "x")])).edges
        (('x', 'x', 1),)
        >>> LaggedGraph.of_window(DAG(["x", "y"]))
        """
        if not isinstance(graph, DAG | CPDAG):
            return None
        found = [split_name(node) for node in graph.nodes]
        lags = max((lag for _, lag in found), default=0)
        variables = tuple(name for name, lag in found if not lag)
        if not lags or len(found) != (lags + 1) * len(variables):  # before a set of as many is made
            return None
        if set(found) != {(name, lag) for lag in range(lags + 1) for name in variables}:
            return None
        edges = [(*split_name(tail), *split_name(head)) for tail, head in graph.edges]
        if any(later for *_, later in edges) or any(
            split_name(end)[1] for line in graph.undirected for end in line
        ):
            return None
        try:
            return cls(variables, lags, [(tail, head, lag) for tail, lag, head, _ in edges], graph.undirected)
        except GraphError:
            return None  # directed edges with a cycle, which a CPDAG may hold

    def to_dict(self) -> dict[str, Any]:
        """JSON form; a file of it can also be read as the window, a graph."""
        content: dict[str, Any] = {
            "variables": list(self.variables),
            "lags": self.lags,
            "lagged_edges": [list(edge) for edge in self.edges],
            "nodes": list(self.window.nodes),
            "edges": [list(edge) for edge in self.window.edges],
        }
        if self.undirected:
            content["undirected"] = [list(edge) for edge in self.undirected]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LaggedGraph:
        """Undo `to_dict`."""
        try:
            edges = [(tail, head, lag) for tail, head, lag in content["lagged_edges"]]
            lines = [(one, other) for one, other in content.get("undirected", ())]
            return cls(content["variables"], content["lags"], edges, lines)
        except (KeyError, TypeError, ValueError) as error:
            raise GraphError(f"this is not a graph in time: {error!r}") from None

    def __str__(self) -> str:
        """One edge a line, as in the text format of graphs."""
        directed = [f"{tail} -> {head}" for tail, head in self.window.edges]
        return "\n".join([*directed, *(f"{one} -- {other}" for one, other in self.undirected)])


def window_edge(edge: LaggedEdge) -> Edge:
    """The edge of the window that an edge in time is.

    >>> window_edge(("a", "b", 1))
    ('a[t-1]', 'b')
    """
    tail, head, lag = edge
    return lagged_name(tail, lag), head


def present_step(nodes: Sequence[str]) -> list[tuple[str, ...]]:
    """The nodes at t of a window, as the regime that directs edges from earlier steps; none of other graphs.

    >>> present_step(["x", "y", "x[t-1]", "y[t-1]"]), present_step(["x", "y"])
    ([('x', 'y')], [])
    """
    present = tuple(node for node in nodes if not split_name(node)[1])
    return [present] if len(present) < len(nodes) else []


def graph_of(nodes: Sequence[str], edges: Sequence[Edge], undirected: Sequence[Edge]) -> Graph:
    """A DAG, or a CPDAG where some edges are undirected."""
    return CPDAG(nodes, edges, undirected) if undirected else DAG(nodes, edges)


def class_in_time(window: Graph, variables: Sequence[str]) -> CPDAG:
    """All windows that the data cannot tell from this one: time directs the edges from earlier steps.

    What the directions of these edges imply for those within a step is found as for interventions.

    >>> chain = DAG(["x", "y", "x[t-1]", "y[t-1]"], [("x", "y"), ("x[t-1]", "x")])
    >>> class_in_time(chain, ["x", "y"]).undirected
    ()
    """
    if isinstance(window, CPDAG):
        return window
    return interventional_cpdag(window, [tuple(variables)])
