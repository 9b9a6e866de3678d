"""A small chart of a fitted function: the rows as points, the posterior mean as a line in its band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagora.graph.drawing import FONT, INK, clean_text
from dagora.report.line_chart import COLOURS, Scale, ticks, written

if TYPE_CHECKING:
    from dagora.network.gaussian_process.network import ParentFunction

WIDTH, HEIGHT = 330.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 10.0, 10.0, 40.0
MOST_POINTS = 300
BAND = 2.0  # standard deviations


def draw_function(curve: ParentFunction) -> str:
    """Draw a child's function of one parent as SVG.

    >>> from dagora.network.gaussian_process.network import ParentFunction
    >>> x = np.linspace(0, 1, 5)
    >>> draw_function(ParentFunction("b", "a", x, x, 0.1 + 0 * x, x, x))[:4]
    '<svg'
    """
    kept = np.unique(np.linspace(0, len(curve.data_x) - 1, min(len(curve.data_x), MOST_POINTS)).astype(int))
    points = curve.data_x[kept], curve.data_y[kept]
    low, high = curve.mean - BAND * curve.sd, curve.mean + BAND * curve.sd
    across = Scale(ticks(float(curve.x.min()), float(curve.x.max()), 4), LEFT, WIDTH - RIGHT)
    bottom, top = min(low.min(), points[1].min()), max(high.max(), points[1].max())
    up = Scale(ticks(float(bottom), float(top), 4), HEIGHT - BOTTOM, TOP)
    child, parent = clean_text(curve.child), clean_text(curve.parent)
    size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT} font-size="10" fill="{INK}">',
        f"<title>{child} as a function of {parent}</title>",
    ]
    for value in up.ticks:
        y = up.at(value)
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="#e4e8ee"/>')
        parts.append(
            f'<text x="{LEFT - 6:g}" y="{y + 3:.1f}" text-anchor="end">{written(value, up.ticks)}</text>'
        )
    for value in across.ticks:
        x, y = across.at(value), HEIGHT - BOTTOM + 15
        label = written(value, across.ticks)
        parts.append(f'<text x="{x:.1f}" y="{y:g}" text-anchor="middle">{label}</text>')
    middle, half = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    band = f"{corners(curve.x, high, across, up)} {corners(curve.x[::-1], low[::-1], across, up)}"
    parts += [
        f'<text x="{middle:g}" y="{HEIGHT - 7:g}" text-anchor="middle">{parent}</text>',
        f'<text transform="translate(12 {half:g}) rotate(-90)" text-anchor="middle">{child}</text>',
        f'<polygon points="{band}" fill="{COLOURS[0]}" fill-opacity="0.18"/>',
    ]
    parts += [
        f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="1.6" fill="{INK}" fill-opacity="0.45"/>'
        for x, y in zip(*points, strict=True)
    ]
    line = corners(curve.x, curve.mean, across, up)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[0]}" stroke-width="1.8"/>')
    return "\n".join([*parts, "</svg>"])


def corners(x: NDArray[np.float64], y: NDArray[np.float64], across: Scale, up: Scale) -> str:
    """Points of a line on the page."""
    return " ".join(f"{across.at(one):.1f},{up.at(other):.1f}" for one, other in zip(x, y, strict=True))
