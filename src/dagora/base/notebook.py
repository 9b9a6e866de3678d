"""Display of objects in notebooks, apart from how pictures and tables are made.

Graphs and results stand on low floors of the house, pages on a high one. What is to be shown inherits
`NotebookView`; the front door says once what makes its HTML (`provide`), which is imported when first shown.
"""

from __future__ import annotations

from collections.abc import Callable

_maker: list[Callable[[object], str]] = []


def provide(maker: Callable[[object], str]) -> None:
    """Say what makes HTML of an object."""
    _maker[:] = [maker]


class NotebookView:
    """Something that a notebook shows as a picture or a table, when it is the last line of a cell."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _maker[0](self) if _maker else None
