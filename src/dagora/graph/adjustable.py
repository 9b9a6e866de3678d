"""The question that graphs of all kinds answer themselves: what to adjust for."""

from __future__ import annotations

from collections.abc import Iterable

from dagora.graph.adjustment import Adjustment
from dagora.graph.identification import CausalGraph


class AdjustableGraph(CausalGraph):
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
        return Adjustment(self, x, y)
