"""The question that graphs answer themselves, by a file that knows all kinds of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dagora.graph.adjustment import Adjustment


class AdjustableGraph:
    """A graph that tells what to adjust for."""

    __slots__ = ()

    def adjustment(self, x: str | Iterable[str], y: str) -> Adjustment:
        """Tell what to adjust for, or which edges leave the effect of setting x on y open.

        >>> from dagora.graph.cpdag import CPDAG
        >>> from dagora.graph.dag import DAG
        >>> DAG("zxy", ["zx", "zy", "xy"]).adjustment("x", "y").optimal
        ('z',)
        >>> CPDAG("zxy", [], ["zx", "zy", "xy"]).adjustment("x", "y").open_edges
        (('x', 'z'), ('x', 'y'))
        """
        from dagora.graph.adjustment import Adjustment

        return Adjustment(cast("Any", self), x, y)
