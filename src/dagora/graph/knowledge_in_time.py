"""Knowledge about a window of time: what a person knows, and that nothing leads into the past.

Nodes of earlier steps have no parents in a window, also not among each other: what they depend on lies in
steps before it, and the present step shows the same edges. So they are exogenous, and only the families of
nodes at t are searched. A plain name means the present step. `x[t-*]` stands for x at all earlier steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.graph.knowledge import Knowledge
from dagora.graph.lagged_graph import lagged_name, split_name, window_names

EARLIER = "[t-*]"


@dataclass(frozen=True)
class KnowledgeInTime(Knowledge):
    """Knowledge about the nodes of a window, of which those of earlier steps have no parents.

    >>> known = KnowledgeInTime(forbidden=[("x", "y")])
    >>> known.allows("x[t-1]", "y"), known.allows("x", "x[t-1]"), known.allows("x", "y")
    (True, False, False)
    >>> known.forbidden_matrix(["x", "y", "x[t-1]"]).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """

    @property
    def is_empty(self) -> bool:
        """False: time is known."""
        return False

    @property
    def directs(self) -> bool:
        """True: time directs edges."""
        return True

    def without_parents(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Marks of the nodes of earlier steps."""
        return earlier_nodes(nodes)

    def allows(self, tail: str, head: str) -> bool:
        """Return True if nothing that is known forbids tail → head."""
        return not split_name(head)[1] and super().allows(tail, head)

    def forbidden_matrix(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Boolean matrix over `nodes`: entry [i, j] says that i → j is forbidden; the diagonal is, too."""
        matrix = super().forbidden_matrix(nodes)
        matrix[:, self.without_parents(nodes)] = True
        return matrix


def earlier_nodes(nodes: Iterable[str]) -> NDArray[np.bool_]:
    """Marks of the nodes of earlier steps.

    >>> earlier_nodes(["x", "x[t-1]"]).tolist()
    [False, True]
    """
    return np.array([split_name(node)[1] > 0 for node in nodes], dtype=np.bool_)


def knowledge_in_time(known: Knowledge, variables: Sequence[str], lags: int) -> KnowledgeInTime:
    """The same knowledge about a window; what names a step outside it, or the past as an effect, is refused.

    >>> known = knowledge_in_time(Knowledge(forbidden=[("x[t-*]", "y"), ("x", "y")]), ["x", "y"], 2)
    >>> known.forbidden
    (('x[t-1]', 'y'), ('x[t-2]', 'y'), ('x', 'y'))
    >>> knowledge_in_time(Knowledge(required=[("x", "y[t-1]")]), ["x", "y"], 2)
    Traceback (most recent call last):
    dagora.KnowledgeError: the edge x → y[t-1] is required, and edges lead to the present step only: ...
    """
    for tail, head in known.required:
        if head.endswith("]") and (split_name(head)[1] or head.endswith(EARLIER)):
            raise KnowledgeError(
                f"the edge {tail} → {head} is required, and edges lead to the present step only: require the "
                "same edge some steps later"
            )
    paired = ("required", "forbidden", "causes", "not_causes", "prior", "prior_adjacent")
    parts: dict[str, Any] = {field.name: getattr(known, field.name) for field in fields(known)}
    found = KnowledgeInTime(**parts | {key: tuple(over_lags(parts[key], lags)) for key in paired})
    found.check_nodes(window_names(variables, lags))
    return found


def over_lags(entries: Iterable[tuple[Any, ...]], lags: int) -> Iterator[tuple[Any, ...]]:
    """Edges, perhaps with a probability, with one from each earlier step in the place of one from `x[t-*]`.

    >>> list(over_lags([("x[t-*]", "y", 0.8)], 2))
    [('x[t-1]', 'y', 0.8), ('x[t-2]', 'y', 0.8)]
    """
    for tail, *rest in entries:
        if not tail.endswith(EARLIER):
            yield tail, *rest
            continue
        for lag in range(1, lags + 1):
            yield lagged_name(tail.removesuffix(EARLIER), lag), *rest
