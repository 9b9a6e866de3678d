"""The page of forecasts, of filtered or smoothed levels, and of a backtest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagora.graph.drawing import draw_svg
from dagora.graph.lagged_graph import LaggedGraph
from dagora.network.time.backtest import COLUMNS, RIVALS, Backtest, SkillRow
from dagora.network.time.histories import Histories
from dagora.network.time.row_scores import UNUSUAL, RowScores
from dagora.network.time.trajectory import Trajectory
from dagora.report.forecast_picture import draw_forecast
from dagora.report.learned import sentence_list
from dagora.report.line_chart import Line, draw_lines
from dagora.report.page import Content, Section, facts, fold, number, page, table, text
from dagora.report.time_section import time_section

# By hand, so that the page stays readable.
MOST_DRAWN_NODES = 100
MOST_ROWS = 2000
MOST_CURVES = 30

CHART = (
    "Blue: the rows. Red: the means of the forecasts. Yellow and grey: the ends of their intervals. "
    "Of a discrete variable there is a line for the probability of each level."
)
CURVES = (
    "The error so many steps ahead. Blue: the network. Red: the last value. Yellow: the mean so far. Grey: a "
    "vector autoregression of every variable on all others."
)


def trajectory_page(
    found: Trajectory,
    graph: LaggedGraph,
    source: str,
    *,
    histories: Histories | None = None,
    scores: RowScores | None = None,
    notes: Sequence[str] = (),
) -> str:
    """A whole HTML document about forecasts, or about what was filtered or smoothed.

    `histories` are the rows before forecasts, which are drawn; `scores` say how surprising the rows were.
    """
    named = [
        ("variables", number(len(found.variables))),
        ("series", number(len(found.series))),
        ("steps", number(max((len(one.steps) for one in found.series), default=0))),
        ("lags", number(graph.lags)),
    ]
    sections = graph_sections(graph)
    if histories is not None:
        drawing = f'<div class="canvas">{draw_forecast(histories, found)}</div>'
        sections.insert(0, Section("Forecasts", f'{drawing}<p class="soft">{text(CHART)}</p>'))
    sections.append(Section("Numbers", numbers_body(found)))
    if scores is not None:
        sections.append(Section("Surprising rows", surprising_body(scores)))
    return page(f"{source}: {found.kind}", facts(named) + sentence_list([*notes, *found.notes]), sections)


def backtest_page(found: Backtest, graph: LaggedGraph, source: str) -> str:
    """A whole HTML document about the skill of forecasts."""
    rows: list[list[Content]] = [
        [row.variable, row.ahead, row.measure, *map(row.errors.get, RIVALS), row.coverage, row.forecasts]
        for row in found.rows
    ]
    listed = table(COLUMNS, rows, sortable=True)
    curves = "".join(
        fold(name, f'<div class="canvas">{draw_errors(of_it)}</div>', about=name)
        for name, of_it in list(by_variable(found).items())[:MOST_CURVES]
        if len(of_it) > 1
    )
    about = f'<p class="soft">{text(CURVES)}</p>' if curves else ""
    named = [("origins", number(found.origins)), ("level of the intervals", f"{found.level * 100:g} %")]
    sections = [Section("Errors of forecasts", listed + about + curves), *graph_sections(graph)]
    return page(f"{source}: backtest", facts(named) + sentence_list(found.notes), sections)


def graph_sections(graph: LaggedGraph) -> list[Section]:
    """The graph in time, drawn unless it is large, and its lags."""
    window = graph.window
    if len(window) > MOST_DRAWN_NODES:
        return time_section(graph)
    drawing = f'<div class="canvas fitted">{draw_svg(window)}</div>'
    return [Section("The graph", drawing), *time_section(graph)]


def numbers_body(found: Trajectory) -> str:
    """The records as a table."""
    rows: list[list[Content]] = [list(record.values()) for record in found.records()[:MOST_ROWS]]
    head = list(found.records()[0]) if rows else []
    cut = '<p class="soft">The first rows only: -o FILE.csv has them all.</p>'
    return table(head, rows, sortable=True) + cut * (len(rows) == MOST_ROWS)


def surprising_body(scores: RowScores) -> str:
    """The number of surprising rows, and a table of them."""
    rows: list[list[Content]] = [
        [row.row, row.series, row.time, row.surprise, row.p_value] for row in scores.unusual()[:MOST_ROWS]
    ]
    words = f"<p>{text(scores.to_text().splitlines()[0])}</p>"
    head = ("row", "series", "time", "surprise", f"p-value (below {UNUSUAL:g})")
    return words + (table(head, rows, sortable=True) if rows else "")


def by_variable(found: Backtest) -> dict[str, list[SkillRow]]:
    """The rows of each variable, by the number of steps ahead."""
    rows: dict[str, list[SkillRow]] = {}
    for row in found.rows:
        rows.setdefault(row.variable, []).append(row)
    return rows


def draw_errors(rows: Sequence[SkillRow]) -> str:
    """The errors of network and rivals by the number of steps ahead."""
    ahead = [row.ahead for row in rows]
    lines = [Line(ahead, [row.errors.get(name, np.nan) for row in rows]) for name in RIVALS]
    return draw_lines(lines, across="steps ahead", up=rows[0].measure)
