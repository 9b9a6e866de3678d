"""One figure as SVG, for every kind of chart: one style, text stored as text, the same bytes each time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dagora.base.extras import MATPLOTLIB

INK = "#3a4552"
GREY = "#6b7683"

# Sizes of letters in points; by eye.
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dagora",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica Neue", "Arial"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass
class Drawing:
    """A figure of matplotlib to draw on; `svg` is there after the block that draws."""

    figure: Any
    svg: str = ""


@contextmanager
def svg_figure(width: float, height: float, title: str) -> Iterator[Drawing]:
    """Draw on a figure of so many inches; needs no window."""
    MATPLOTLIB.require("a chart")
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = STYLE
    with rc_context(style), warnings.catch_warnings():
        # A missing glyph or a tight layout is no reason to fail: the SVG holds the text itself.
        warnings.simplefilter("ignore", UserWarning)
        drawing = Drawing(Figure(figsize=(width, height), layout="constrained"))
        FigureCanvasSVG(drawing.figure)
        yield drawing
        drawing.figure.suptitle(title, fontsize=11)
        drawn = io.StringIO()
        drawing.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None, "Title": title})
        drawing.svg = drawn.getvalue()
