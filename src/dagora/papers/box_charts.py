"""Distributions side by side: a grid of panels with boxes, as one SVG in the style of `charts`.

A box reaches from the lower to the upper quartile, its line is the median, its whiskers reach to the 5 % and
95 % quantiles. A paper's own values are hollow and grey; of them only quartiles may be known (no whiskers),
or only the median (a line).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagora.papers.charts import COLOURS, PANEL_HEIGHT, PANEL_WIDTH
from dagora.papers.svg_figure import GREY, INK, svg_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of the distance between two boxes; by eye.
BOX_WIDTH = 0.6


@dataclass(frozen=True)
class Spread:
    """A median with its quartiles and whiskers, each a pair or not known.

    >>> Spread.of([1.0, 2.0, 3.0]).quartiles
    (1.5, 2.5)
    """

    median: float
    quartiles: tuple[float, float] | None = None
    whiskers: tuple[float, float] | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of some numbers."""
        low, first, middle, third, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
        return cls(middle, (first, third), (low, high))


@dataclass(frozen=True)
class Box:
    """A spread with its label; `published` marks a paper's own."""

    label: str
    spread: Spread
    published: bool = False


@dataclass(frozen=True)
class BoxPanel:
    """One small chart of boxes, from left to right."""

    title: str
    boxes: tuple[Box, ...]


def draw_boxes(
    panels: Sequence[BoxPanel],
    *,
    columns: int,
    y_label: str,
    title: str,
    logarithmic: bool = False,
    from_zero: bool = True,
) -> str:
    """Draw panels in a grid, row by row; those of a row share a scale, by default from 0."""
    if not panels:
        raise ValueError("a chart needs a panel")
    columns = min(columns, len(panels))
    n_rows = -(-len(panels) // columns)
    colours = box_colours(panels)
    most = max(len(panel.boxes) for panel in panels)
    width, height = max(PANEL_WIDTH, 0.32 * most), PANEL_HEIGHT + 1.2
    with svg_figure(width * columns + 0.6, height * n_rows + 0.5, title) as drawing:
        figure = drawing.figure
        grid = figure.subplots(n_rows, columns, squeeze=False, sharey="row")
        for position, axes in enumerate(grid.flat):
            if position >= len(panels):
                axes.remove()
                continue
            draw_panel(axes, panels[position], colours)
            if logarithmic:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")
            if position % columns == 0:
                axes.set_ylabel(y_label)
        if from_zero and not logarithmic:
            for axes in figure.axes:
                axes.set_ylim(bottom=0)
    return drawing.svg


def box_colours(panels: Sequence[BoxPanel]) -> dict[str, str]:
    """Give each label of ours a colour, the same in every panel; the paper's are grey."""
    labels = dict.fromkeys(box.label for panel in panels for box in panel.boxes if not box.published)
    return {label: COLOURS[k % len(COLOURS)] for k, label in enumerate(labels)}


def draw_panel(axes: Axes, panel: BoxPanel, colours: dict[str, str]) -> None:
    """Draw the boxes of one panel, each over its label."""
    axes.set_title(panel.title)
    axes.grid(axis="y", color="#e3e7ec", linewidth=0.6)
    axes.set_axisbelow(True)
    for place, box in enumerate(panel.boxes):
        spread = box.spread
        low, high = spread.quartiles or (spread.median, spread.median)
        least, most = spread.whiskers or (low, high)
        ink = GREY if box.published else colours[box.label]
        line = {"color": ink, "linewidth": 1.2}
        axes.bxp(
            [{"med": spread.median, "q1": low, "q3": high, "whislo": least, "whishi": most}],
            positions=[place],
            widths=BOX_WIDTH,
            showfliers=False,
            showcaps=spread.whiskers is not None,
            patch_artist=True,
            boxprops={
                "facecolor": "none" if box.published else f"{ink}33",
                "edgecolor": ink,
                "linewidth": 1.2,
                "linestyle": ":" if box.published else "-",
            },
            medianprops={"color": GREY if box.published else INK, "linewidth": 1.8},
            whiskerprops=line,
            capprops=line,
        )
    axes.set_xticks(
        range(len(panel.boxes)), [box.label for box in panel.boxes], rotation=60, ha="right", fontsize=7
    )
