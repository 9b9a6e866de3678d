"""A small line chart as SVG, so that reports need no plotting package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.graph.drawing import FONT, INK, clean_text

Floats = NDArray[np.float64]

# In pixels, chosen by eye.
WIDTH, HEIGHT = 760.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 92.0, 16.0, 12.0, 44.0
MOST_POINTS = 500  # fewer than pixels: more are not seen
COLOURS = ("#004488", "#bb5566", "#b98500", "#4a5869", "#228833", "#66ccee")


@dataclass(frozen=True)
class Line:
    """Points of one line; `steps` holds each value until the next."""

    x: ArrayLike
    y: ArrayLike
    steps: bool = False


@dataclass(frozen=True)
class Scale:
    """Maps values to positions on the page between `start` and `end`."""

    ticks: list[float]
    start: float
    end: float

    def at(self, value: float) -> float:
        """Position of a value."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def draw_lines(lines: Sequence[Line], *, across: str, up: str) -> str:
    """Draw lines over common axes, labelled; values that are not finite are left out.

    >>> draw_lines([Line([0, 1], [2, 3])], across="seconds", up="score")[:4]
    '<svg'
    """
    points = [_thin(line) for line in lines]
    both = np.concatenate([some for some in points if len(some)] or [np.zeros((1, 2))])
    x_scale = Scale(ticks(*_range(both[:, 0])), LEFT, WIDTH - RIGHT)
    y_scale = Scale(ticks(*_range(both[:, 1])), HEIGHT - BOTTOM, TOP)
    size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT} font-size="11" fill="{INK}">',
        f"<title>{clean_text(up)} against {clean_text(across)}</title>",
    ]
    for value in y_scale.ticks:
        y, label = y_scale.at(value), tick_text(value, y_scale.ticks)
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="#e4e8ee"/>')
        parts.append(f'<text x="{LEFT - 8:g}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    low = HEIGHT - BOTTOM + 18
    for value in x_scale.ticks:
        x, label = x_scale.at(value), tick_text(value, x_scale.ticks)
        parts.append(f'<text x="{x:.1f}" y="{low:g}" text-anchor="middle">{label}</text>')
    middle, half = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="translate(14 {half:g}) rotate(-90)"'
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 8:g}" text-anchor="middle">{clean_text(across)}</text>')
    parts.append(f'<text {turned} text-anchor="middle">{clean_text(up)}</text>')
    for k, some in enumerate(points):
        corners = " ".join(f"{x_scale.at(x):.1f},{y_scale.at(y):.1f}" for x, y in some)
        colour = COLOURS[k % len(COLOURS)]
        parts.append(f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="1.4"/>')
    return "\n".join([*parts, "</svg>"])


def _range(values: Floats) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _thin(line: Line) -> Floats:
    """Finite points, at most `MOST_POINTS`, always with the last one."""
    points = np.column_stack([np.asarray(line.x, dtype=np.float64), np.asarray(line.y, dtype=np.float64)])
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) > MOST_POINTS:
        points = points[np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))]
    if line.steps and len(points) > 1:
        held = np.column_stack([points[1:, 0], points[:-1, 1]])
        points = np.insert(points, np.arange(1, len(points)), held, axis=0)
    return points


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that enclose a range.

    >>> ticks(0.0, 9.3)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    >>> ticks(3.0, 3.0)
    [2.0, 3.0, 4.0]
    """
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = max(1.0, abs(low) * 1e-3)
        return [low - room, low, low + room]
    rough = (high - low) / about
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * unit for unit in (1.0, 2.0, 5.0, 10.0) if scale * unit >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * k for k in range(first, last + 1)]


def tick_text(value: float, among: Sequence[float]) -> str:
    """A tick with as many decimals as its step needs."""
    step = among[1] - among[0]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals > 6:
        return f"{value:.3g}"
    return f"{value:,.{decimals}f}".replace(",", "\u202f").replace("-", "−")
