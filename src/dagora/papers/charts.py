"""Small multiples: a grid of line charts that share their axes' meaning and one legend, as one SVG.

Each series has its own colour (Okabe & Ito's, which colour-blind readers tell apart), marker and dashes, and
keeps them in every panel. Points have error bars of one standard error. A paper's own values are hollow and
grey, so that they are not mistaken for ours. Text is stored as text, and the same chart always gives the same
bytes. Drawn by matplotlib, which the extra `dagora[papers]` installs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dagora.papers.svg_figure import GREY, svg_figure
from dagora.papers.tables import Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# As many as there are colours; matplotlib's four named styles, then its way to write others.
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)))
PANEL_WIDTH, PANEL_HEIGHT = 2.7, 2.1  # inches


@dataclass(frozen=True)
class Series:
    """Points of one kind, from left to right; `published` marks a paper's own values."""

    label: str
    x: tuple[float | str, ...]
    y: tuple[Mean | float, ...]
    published: bool = False


@dataclass(frozen=True)
class ChartPanel:
    """One small chart."""

    title: str
    series: tuple[Series, ...]


def draw_panels(
    panels: Sequence[ChartPanel],
    *,
    columns: int,
    x_label: str,
    y_label: str,
    title: str,
    lines: bool = True,
    logarithmic_x: bool = False,
    logarithmic_y: bool = False,
    share_y: bool = True,
) -> str:
    """Draw panels in a grid, row by row; `lines` joins the points, `share_y` gives a row one scale from 0.

    Without `share_y` each panel has its own scale, which need not contain 0; a logarithmic scale never does.
    """
    if not panels:
        raise ValueError("a chart needs a panel")
    columns = min(columns, len(panels))
    n_rows = -(-len(panels) // columns)
    styles = series_styles(panels)
    with svg_figure(PANEL_WIDTH * columns + 0.6, PANEL_HEIGHT * n_rows + 0.9, title) as drawing:
        figure = drawing.figure
        grid = figure.subplots(n_rows, columns, squeeze=False, sharey="row" if share_y else False)
        for position, axes in enumerate(grid.flat):
            if position >= len(panels):
                axes.remove()
                continue
            draw_panel(axes, panels[position], styles, lines=lines)
            if logarithmic_x:
                spread_ticks(axes, panels[position])
            if position + columns >= len(panels):
                axes.set_xlabel(x_label)
            if position % columns == 0:
                axes.set_ylabel(y_label)
        # Only after everything is drawn: setting one limit of an axis stops matplotlib from adapting the
        # other.
        for axes in figure.axes:
            if logarithmic_y:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter("{x:g}")
                axes.yaxis.set_minor_formatter("")
            elif share_y:
                axes.set_ylim(bottom=0)
        handles: dict[str, object] = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=min(len(handles), 4),
            frameon=False,
        )
    return drawing.svg


def series_styles(panels: Iterable[ChartPanel]) -> dict[str, dict[str, Any]]:
    """Give each label a colour, marker and dash pattern; published values are hollow and grey."""
    styles: dict[str, dict[str, Any]] = {}
    own = 0
    for panel in panels:
        for series in panel.series:
            if series.label in styles:
                continue
            if series.published:
                styles[series.label] = {
                    "color": GREY,
                    "marker": "o",
                    "linestyle": ":",
                    "markerfacecolor": "none",
                    "markersize": 7,
                }
            else:
                again, kind = divmod(own, len(COLOURS))
                styles[series.label] = {
                    "color": COLOURS[kind],
                    "marker": MARKERS[(kind + 2 * again) % len(MARKERS)],
                    "linestyle": DASHES[(kind + again) % len(DASHES)],
                    "markersize": 4.5,
                }
                own += 1
    return styles


def draw_panel(axes: Axes, panel: ChartPanel, styles: dict[str, dict[str, Any]], *, lines: bool) -> None:
    """Draw the series of one panel with their standard errors."""
    axes.set_title(panel.title)
    axes.grid(axis="y", color="#e3e7ec", linewidth=0.6)
    axes.set_axisbelow(True)
    for series in panel.series:
        style = dict(styles[series.label])
        if not lines:
            style["linestyle"] = "none"
        values = [point.value if isinstance(point, Mean) else point for point in series.y]
        errors = [(point.error or 0.0) if isinstance(point, Mean) else 0.0 for point in series.y]
        axes.errorbar(
            list(series.x),  # words are categories
            values,
            yerr=errors if any(errors) else None,
            capsize=2,
            linewidth=1.4,
            elinewidth=1,
            label=series.label,
            **style,
        )


def spread_ticks(axes: Axes, panel: ChartPanel) -> None:
    """Use a logarithmic x axis with a labelled tick at every value of x."""
    ticks = sorted({float(x) for series in panel.series for x in series.x})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
