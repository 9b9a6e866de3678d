"""Drawings side by side in one SVG, each keeping its own size and scale."""

from __future__ import annotations

import re
from collections.abc import Sequence

GAP = 12.0


def side_by_side(drawings: Sequence[str]) -> str:
    """Set SVG drawings next to each other, aligned at the top.

    >>> one = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20"></svg>'
    >>> side_by_side([one, one])[:70]
    '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="20" viewBox'
    """
    sizes = [_size(drawing) for drawing in drawings]
    width = sum(size[0] for size in sizes) + GAP * (len(drawings) - 1)
    height = max(size[1] for size in sizes)
    extent = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {extent} {view} role="img">',
        f'<rect {extent} fill="#ffffff"/>',
    ]
    x = 0.0
    for drawing, size in zip(drawings, sizes, strict=True):
        parts.append(drawing.strip().replace("<svg ", f'<svg x="{x:.0f}" ', 1))
        x += size[0] + GAP
    return "\n".join([*parts, "</svg>", ""])


def _size(drawing: str) -> tuple[float, float]:
    found = re.match(r'\s*<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', drawing)
    if found is None:
        raise ValueError("the drawing does not begin with an svg element of known size")
    return float(found[1]), float(found[2])
