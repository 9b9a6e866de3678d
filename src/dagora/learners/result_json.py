"""Parts of the JSON form of results and samples of graphs, read back and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import FormatError
from dagora.base.parsing import parse_json
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG, Edge
from dagora.learners.outcome import RankedClass

T = TypeVar("T")


def graph_of(content: Mapping[str, Any]) -> AnyGraph:
    """The graph of a result's JSON form: of the kind that it was."""
    nodes = content["nodes"]
    if "marked_edges" in content:
        return PAG(nodes, [(one, sign, other) for one, sign, other in content["marked_edges"]])
    edges = [(tail, head) for tail, head in content["edges"]]
    undirected = [(tail, head) for tail, head in content["undirected"]]
    return DAG(nodes, edges) if content["directed_acyclic"] else CPDAG(nodes, edges, undirected)


def classes_of(content: Mapping[str, Any]) -> Iterator[RankedClass]:
    """The best classes of a result's JSON form."""
    for one in content.get("classes", ()):
        graph = CPDAG(
            content["nodes"], [tuple(edge) for edge in one["edges"]], [tuple(e) for e in one["undirected"]]
        )
        yield RankedClass(graph, float(one["score"]), None if one["dags"] is None else int(one["dags"]))


def pairs_of(content: Mapping[str, Any], key: str) -> Iterator[Edge]:
    """The pairs of nodes under a key of a result's JSON form.

    >>> list(pairs_of({"nodes": ["a"], "pairs": [["a", "b"]]}, "pairs"))
    Traceback (most recent call last):
    dagora.FormatError: "pairs" must be pairs of nodes, not ['a', 'b']
    """
    found = content.get(key, [])
    for pair in found if isinstance(found, list) else [found]:
        if not isinstance(pair, list) or len(pair) != 2 or not {*map(str, pair)} <= {*content["nodes"]}:
            raise FormatError(f'"{key}" must be pairs of nodes, not {pair!r}')
        yield pair[0], pair[1]


def as_matrix(rows: list[list[float]] | None) -> NDArray[np.float64] | None:
    """Rows of numbers as a matrix; None where there are none."""
    return None if rows is None else np.array(rows, dtype=np.float64)


def from_json_text(text: str, what: str, from_dict: Callable[[dict[str, Any]], T]) -> T:
    """Read an object from its JSON text; whatever is wrong with the text becomes a `FormatError`.

    >>> from_json_text("[1]", "a result", dict)
    Traceback (most recent call last):
        ...
    dagora.FormatError: the text is not a result in JSON: it is not an object
    """
    try:
        content = parse_json(text)
    except FormatError as error:
        raise FormatError(f"the text is not {what} in JSON: {error}") from None
    if not isinstance(content, dict):
        raise FormatError(f"the text is not {what} in JSON: it is not an object")
    try:
        check_kinds(content)
        return from_dict(content)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"the text is not {what} in JSON: {error!r}") from None


def check_kinds(content: Mapping[str, Any]) -> None:
    """Raise a ValueError where a field that all results share is of another kind.

    >>> check_kinds({"seconds": "soon"})
    Traceback (most recent call last):
    ValueError: 'seconds' cannot be 'soon'
    """
    for kinds, names in KINDS.items():
        for name in names:
            if name in content and not isinstance(content[name], kinds):
                raise ValueError(f"'{name}' cannot be {content[name]!r:.40}")
    for name in ("score", "seconds"):
        float(content.get(name) or 0)  # no integer beyond all floats
    if not all(isinstance(text, str) for text in content.get("warnings", ())):
        raise ValueError("'warnings' are texts")


# The kinds of the fields of a result or sample of graphs, as JSON holds them.
KINDS: Mapping[Any, tuple[str, ...]] = {
    str: ("method", "status", "message"),
    str | None: ("score_name", "command"),
    int | float: ("seconds",),
    int | float | None: ("score",),
    int: ("seed",),
    list: ("nodes", "warnings"),
    dict: ("stats", "settings", "versions", "data"),
}
# Fields of a result that its JSON form holds under the same name and as they are.
SCALARS = (
    "method",
    "score_name",
    "score",
    "status",
    "message",
    "seconds",
    "stats",
    "settings",
    "seed",
    "versions",
)
