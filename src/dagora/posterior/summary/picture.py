"""A picture of edge probabilities as one self-contained SVG: a square for each pair, darker if more probable.

Rows are parents, columns children. Squares go from white to the blue that `graph.drawing` gives correct
edges, getting darker evenly, so that they can be read in grey print and by colour-blind readers; negative
values, of effects, go to red. Frames mark
the edges of the truth, if that is given, and squares hold numbers if there are few enough nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import GraphError
from dagora.graph.cpdag import Graph
from dagora.graph.drawing import FONT, FONT_SIZE, INK, MARGIN, clean_text, short_label, text_width

DARK = (0, 68, 136)  # red, green and blue of one
DARK_NEGATIVE = (187, 85, 102)  # of minus one
FRAME = 'fill="none" stroke="#b98500" stroke-width="2.4"'
NUMBERED = 25  # nodes up to which the squares hold numbers
SHOWN = 0.05  # smaller numbers are only in the tooltips
GAP = 8.0  # in pixels, as the next
LEGEND = 46.0


def draw_probabilities(
    names: Sequence[str],
    probability: NDArray[np.float64],
    *,
    truth: Graph | None = None,
    title: str | None = None,
    what: str = "probability",
    axes: tuple[str, str] = ("parent", "child"),
    signed: bool = False,
) -> str:
    """Draw a matrix of probabilities, [i, j] for i → j; `truth` frames its edges, `what` is their name.

    `signed` values lie between -1 and 1, or are drawn as if they did; `axes` name rows and columns.

    >>> draw_probabilities(["a", "b"], np.array([[0, 0.25], [0.75, 0]]))[:4]
    '<svg'
    """
    if probability.shape != (len(names), len(names)):
        raise GraphError(f"{len(names)} names for probabilities of shape {probability.shape}")
    numbered = len(names) <= NUMBERED
    side, font = (34.0, 12.0) if numbered else (15.0, 10.0)
    extent = side * len(names)
    labels = max(text_width(short_label(name)) for name in names) * font / FONT_SIZE
    left = MARGIN + labels + GAP + 20.0
    top = left + 30.0 * (title is not None)
    width = max(left + extent, 2 * MARGIN + 330.0, MARGIN + text_width(title or "") * 1.3) + MARGIN
    height = top + extent + LEGEND + MARGIN

    size = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    summary = title or f"Edge probabilities of {len(names)} nodes"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" {FONT} fill="{INK}">',
        f"<title>{clean_text(summary)}</title>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    if title is not None:
        parts.append(_text((MARGIN, MARGIN + 12), title, 17.0, 'font-weight="600"'))
    middle = extent / 2
    parts += [
        _text((left + middle, top - labels - GAP - 8), axes[1], 11.0, 'text-anchor="middle"'),
        _text((left - labels - GAP - 8, top + middle), axes[0], 11.0, 'text-anchor="middle"', turned=True),
    ]
    for k, name in enumerate(names):
        at = side * (k + 0.5) + font * 0.36
        parts.append(_text((left - GAP, top + at), short_label(name), font, 'text-anchor="end"'))
        parts.append(_text((left + at, top - GAP), short_label(name), font, "", turned=True))
    places = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j]
    for i, j in places:
        value = float(probability[i, j])
        note = f"{names[i]} → {names[j]}: {value:.4g}"
        corner = (left + side * j, top + side * i)
        parts.append(
            f"<g><title>{clean_text(note)}</title>{_square(corner, side, value, numbered=numbered)}</g>"
        )
    known = true_edges(truth)
    for i, j in places:  # frames lie on top of the neighbours' squares
        if (names[i], names[j]) in known:
            x, y, inner = left + side * j + 1.2, top + side * i + 1.2, side - 2.4
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{inner:g}" height="{inner:g}" class="true" {FRAME}/>'
            )
    parts.append(_legend(MARGIN, top + extent + 18.0, what, framed=truth is not None, signed=signed))
    return "\n".join([*parts, "</svg>", ""])


def true_edges(truth: Graph | None) -> set[tuple[str, str]]:
    """Edges of the truth; an undirected edge counts in both directions."""
    if truth is None:
        return set()
    return {*truth.edges, *truth.undirected, *((head, tail) for tail, head in truth.undirected)}


def _square(corner: tuple[float, float], side: float, value: float, *, numbered: bool) -> str:
    x, y = corner
    shade = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:g}" height="{side:g}" fill="{colour(value)}" '
        'stroke="#d8dde4" stroke-width="0.8"/>'
    )
    if not numbered or not abs(value) >= SHOWN:
        return shade
    ink = "#ffffff" if value > 0.55 or value < -0.9 else INK  # what can be read on blue and on red
    middle = (x + side / 2, y + side / 2 + 3.8)
    return shade + _text(middle, f"{value:.2f}".replace("-", "−"), 10.5, f'text-anchor="middle" fill="{ink}"')


def colour(value: float) -> str:
    """Shade of a probability or effect; one that is not known is grey.

    >>> colour(0.0), colour(1.0), colour(-2.0), colour(float("nan"))
    ('#ffffff', '#004488', '#bb5566', '#cccccc')
    """
    if not np.isfinite(value):
        return "#cccccc"
    share = min(1.0, abs(value))
    dark = DARK if value >= 0 else DARK_NEGATIVE
    return "#" + "".join(f"{round(255 + share * (end - 255)):02x}" for end in dark)


def _legend(x: float, y: float, what: str, *, framed: bool, signed: bool) -> str:
    parts = [_text((x, y + 13), what, 11.0, "")]
    at = x + max(70.0, 7.0 * len(what))
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0) if signed else (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_square((at, y), 18.0, value, numbered=False))
        parts.append(_text((at + 9, y + 30), f"{value:g}".replace("-", "−"), 10.0, 'text-anchor="middle"'))
        at += 26.0
    if framed:
        parts.append(f'<rect x="{at + 26:.1f}" y="{y + 1:.1f}" width="16" height="16" {FRAME}/>')
        parts.append(_text((at + 50, y + 13), "edge of the truth", 11.0, ""))
    return "".join(parts)


def _text(at: tuple[float, float], text: str, size: float, style: str, *, turned: bool = False) -> str:
    x, y = at
    place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"' if turned else f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="{size:g}" {style}>{clean_text(text)}</text>'
