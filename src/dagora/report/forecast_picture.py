"""The picture of forecasts: the last rows of each series, and what is forecast with its intervals."""

from __future__ import annotations

import re

import numpy as np

from dagora.base.phrases import some_of
from dagora.graph.drawing import FONT, INK, clean_text
from dagora.network.time.histories import Histories, SeriesHistory
from dagora.network.time.trajectory import Trajectory, TrajectorySeries
from dagora.report.line_chart import HEIGHT, WIDTH, Line, draw_lines

BEFORE = 60
"""Rows before the forecasts that are drawn."""

HEADING = 22.0
MOST_CHARTS = 24


def draw_forecast(histories: Histories, found: Trajectory) -> str:
    """Draw a chart for each number and each discrete variable of each series, one below the other.

    A chart of a number has the rows (first colour), the means ahead (second) and the ends of their intervals
    (third and fourth); one of a discrete variable the probabilities of its levels.
    """
    charts = []
    for history, one in zip(histories.series, found.series, strict=True):
        for k, name in enumerate(found.variables):
            label = f"{name} ({one.label})" if one.label else name
            charts.append(
                (
                    heading(found, label, name),
                    draw_lines(lines_of(found, history, one, k), across="steps from the last row", up=name),
                )
            )
    left_out = max(0, len(charts) - MOST_CHARTS)
    height = (HEIGHT + HEADING) * min(len(charts), MOST_CHARTS) + (HEADING if left_out else 0)
    size = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT} fill="{INK}">']
    for place, (words, chart) in enumerate(charts[:MOST_CHARTS]):
        top = place * (HEIGHT + HEADING)
        parts.append(f'<text x="8" y="{top + 15:g}" font-size="12">{clean_text(words)}</text>')
        parts.append(re.sub(r"^<svg ", f'<svg y="{top + HEADING:g}" ', chart))
    if left_out:
        parts.append(f'<text x="8" y="{height - 6:g}" font-size="12">and {left_out} more, not drawn</text>')
    return "\n".join([*parts, "</svg>\n"])


def heading(found: Trajectory, label: str, name: str) -> str:
    """The words above a chart."""
    if name in found.levels:
        return f"{label}: probabilities of {some_of(found.levels[name], 6)}"
    return f"{label}: rows, forecasts and {found.level * 100:g} % intervals"


def lines_of(found: Trajectory, history: SeriesHistory, one: TrajectorySeries, k: int) -> list[Line]:
    """The lines of one chart."""
    name, ahead = found.variables[k], np.array(one.steps, dtype=np.float64)
    if name in found.levels:
        return [Line(ahead, one.probabilities[name][:, level]) for level in range(len(found.levels[name]))]
    first = max(0, history.steps - BEFORE)
    seen = np.flatnonzero(history.seen[first:, k]) + first
    rows = Line(seen - history.steps + 1.0, history.values[seen, k])
    return [rows, *(Line(ahead, part[name]) for part in (one.means, one.lows, one.highs))]
