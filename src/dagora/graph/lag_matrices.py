"""A graph in time as one small matrix for each lag: rows are causes, columns what depends on them."""

from __future__ import annotations

from collections.abc import Collection

from dagora.graph.dag import Edge
from dagora.graph.drawing import FONT, INK, clean_text, short_label, text_width
from dagora.graph.lagged_graph import LaggedGraph, window_edge

# In pixels, chosen by eye.
CELL = 17.0
FULL = 'fill="#004488"'
HOLLOW = 'fill="none" stroke="#7c8794" stroke-width="1.4" stroke-dasharray="3 2"'


def draw_lags(graph: LaggedGraph, weak: Collection[Edge] = ()) -> list[str]:
    """A picture for each number of steps, 0 first; `weak` edges of the window are hollow, lines are bars.

    >>> pictures = draw_lags(LaggedGraph("ab", 1, [("a", "b", 0), ("b", "b", 1)]), [("b[t-1]", "b")])
    >>> [picture.count("</title></rect>") for picture in pictures], "stroke-dasharray" in pictures[1]
    ([1, 1], True)
    """
    return [draw_lag(graph, lag, weak) for lag in range(graph.lags + 1)]


def draw_lag(graph: LaggedGraph, lag: int, weak: Collection[Edge]) -> str:
    """The matrix of one lag."""
    names = graph.variables
    place = {name: k for k, name in enumerate(names)}
    room = max(text_width(short_label(name)) for name in names) * 0.85 + 8
    side = CELL * len(names)
    width, height = room + side + 2, 20 + room + side + 2
    heading = f"t − {lag}" if lag else "t"
    size, view = f'width="{width:.0f}" height="{height:.0f}"', f'viewBox="0 0 {width:.0f} {height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" {FONT} font-size="11">',
        f"<title>Edges from {heading}</title>",
        f'<rect {size} fill="#ffffff"/>',
        f'<text x="2" y="13" font-size="13" font-weight="600" fill="{INK}">from {heading}</text>',
        f'<g transform="translate({room:.1f} {20 + room:.1f})">',
    ]
    grid = "".join(f"M0 {CELL * k:g}H{side:g}M{CELL * k:g} 0V{side:g}" for k in range(len(names) + 1))
    parts.append(f'<path d="{grid}" stroke="#d5dbe3" stroke-width="1"/>')
    for k, name in enumerate(names):
        label, middle = clean_text(short_label(name)), CELL * (k + 0.5)
        parts.append(f'<text x="-5" y="{middle + 4:g}" text-anchor="end" fill="{INK}">{label}</text>')
        turned = f'transform="translate({middle + 4:g} -5) rotate(-90)"'
        parts.append(f'<text {turned} fill="{INK}">{label}</text>')
    for edge in graph.edges:
        if edge[2] == lag:
            is_weak = window_edge(edge) in weak
            words = f"{window_edge(edge)[0]} → {edge[1]}{' (weak)' * is_weak}"
            parts.append(cell(place[edge[0]], place[edge[1]], HOLLOW if is_weak else FULL, words))
    for one, other in () if lag else graph.undirected:
        for row, column in ((one, other), (other, one)):
            parts.append(cell(place[row], place[column], FULL, f"{one} — {other}", high=4.0))
    return "\n".join([*parts, "</g>", "</svg>"])


def cell(row: int, column: int, style: str, words: str, high: float = CELL - 7) -> str:
    """A mark in the middle of a cell."""
    x, y = CELL * column + 3.5, CELL * (row + 0.5) - high / 2
    size = f'width="{CELL - 7:g}" height="{high:g}"'
    return f'<rect x="{x:g}" y="{y:g}" {size} {style}><title>{clean_text(words)}</title></rect>'
