"""Questions to a graph that modules above it answer: graphs stand below all that is computed from them.

The front door says once what answers (`provide`), which is imported when first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_adjustment: list[Callable[[object, str | Iterable[str], str], object]] = []


def provide(adjustment: Callable[[object, str | Iterable[str], str], object]) -> None:
    """Say what tells what to adjust for, by a graph."""
    _adjustment[:] = [adjustment]


class AskedGraph:
    """A graph that tells what to adjust for."""

    __slots__ = ()

    def adjustment(self, x: str | Iterable[str], y: str) -> Any:  # noqa: ANN401 - an `Adjustment`, from above
        """Tell what to adjust for, so that observed rows tell the effect of setting x on y: an `Adjustment`.

        >>> import dagora
        >>> dagora.DAG("zxy", ["zx", "zy", "xy"]).adjustment("x", "y").optimal
        ('z',)
        >>> dagora.CPDAG("zxy", [], ["zx", "zy", "xy"]).adjustment("x", "y").open_edges
        (('x', 'z'), ('x', 'y'))
        >>> dagora.PAG("ab", [("a", "o->", "b")]).adjustment("a", "b").verdict
        'not identified'
        """
        return _adjustment[0](self, x, y)
