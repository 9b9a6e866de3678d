"""The page of a check: tests of independences, rows held out, simulated tables, single changes."""

from __future__ import annotations

import numpy as np

from dagora.graph.any_graph import number_of_edges
from dagora.graph.drawing import draw_svg
from dagora.posterior.criticism.check import Check
from dagora.posterior.criticism.falsification import Falsification
from dagora.posterior.criticism.held_out import HeldOut
from dagora.posterior.criticism.predictive import Curve, Predictive, Statistic
from dagora.report.line_chart import Line, draw_lines
from dagora.report.page import Content, Section, facts, fold, number, page, table, text

# By hand, so that the page stays readable.
MOST_DRAWN_NODES = 100
MOST_CURVES = 30
RELABELED = (
    "The curve is the share of relabeled graphs that violate at most so many of their independences; the "
    "vertical line is this graph. A good graph stands left of the curve."
)
CURVES = (
    "Quantiles of the data (blue) beside the middle 95 % of simulated tables. Where the blue line leaves the "
    "others, the column has another shape than the network allows. Parameters are as fitted, so that means "
    "agree by construction."
)


def check_page(check: Check, names: tuple[str, str]) -> str:
    """A whole HTML document about a check; `names` are those of the graph and of the data."""
    lead = (
        f"<p>{text(names[0])} against {text(names[1])}.</p>"
        + facts(
            [
                ("variables", number(len(check.graph))),
                ("edges", number(number_of_edges(check.graph))),
                ("rows", number(check.rows)),
                ("seed", number(check.seed)),
            ]
        )
        + f"<pre>{text(check.to_text())}</pre>"
    )
    sections = [Section("Independences", falsification_body(check.falsification))]
    if len(check.graph) <= MOST_DRAWN_NODES:
        sections.insert(0, Section("The graph", f'<div class="canvas fitted">{draw_svg(check.graph)}</div>'))
    if check.held_out is not None:
        sections.append(Section("Rows held out", held_out_body(check.held_out)))
    if check.predictive is not None:
        sections.append(Section("Simulated tables", predictive_body(check.predictive)))
    if check.changes is not None:
        rows: list[list[Content]] = [
            [change.kind, f"{change.tail} → {change.head}", change.gain] for change in check.changes
        ]
        body = f"<p>{text(check.best_change())}</p>" + (
            table(("change", "edge", "gain"), rows) if rows else ""
        )
        sections.append(Section("Single changes", body))
    return page(f"{names[0]}: a check", lead, sections)


def falsification_body(found: Falsification) -> str:
    """The tests of independences, and a picture of the relabelings."""
    lines = "".join(f"<p>{text(line)}</p>" for line in found.to_lines()[:2])
    picture = ""
    if found.p_value is not None:
        shares = np.sort(found.permuted_shares)
        chart = draw_lines(
            [
                Line(shares, np.arange(1, len(shares) + 1) / len(shares), steps=True),
                Line([found.share, found.share], [0.0, 1.0]),
            ],
            across="share of independences that are violated",
            up="share of relabelings",
        )
        picture = f'<div class="canvas">{chart}</div><p class="soft">{text(RELABELED)}</p>'
    rows: list[list[Content]] = [
        [str(one.independence), one.strength, one.p_value, one.adjusted] for one in found.worst
    ]
    head = ("violated", "strength", "p", "adjusted p")
    return lines + picture + (table(head, rows, sortable=True) if rows else "")


def held_out_body(found: HeldOut) -> str:
    """The log-likelihood beside that of other graphs."""
    rows: list[list[Content]] = [[one.name, one.difference, one.error] for one in found.references]
    lines = f"<p>{text(found.to_lines()[0])}</p>"
    return lines + table(("against", "nats more per row", "standard error"), rows)


def predictive_body(found: Predictive) -> str:
    """Statistics of the data beside simulated ones, and a picture for each continuous column."""
    note = f"<p>{text(found.to_lines()[0])}</p>"
    farthest = sorted((*found.columns, *found.pairs), key=lambda one: -abs(one.z))
    head = ("of", "statistic", "observed", "simulated from", "to", "z", "p")
    listed = fold(
        "All statistics", table(head, [row_of(one) for one in farthest], sortable=True), opened=True
    )
    pictures = "".join(
        fold(one.column, f'<div class="canvas">{draw_curve(one)}</div>', about=one.column)
        for one in found.curves[:MOST_CURVES]
    )
    about = f'<p class="soft">{text(CURVES)}</p>' if pictures else ""
    return note + listed + about + pictures


def row_of(one: Statistic) -> list[Content]:
    """A statistic as a row of a table."""
    return [" and ".join(one.columns), one.name, one.observed, one.low, one.high, one.z, one.p_value]


def draw_curve(one: Curve) -> str:
    """Quantiles of a column beside simulated ones."""
    lines = [Line(one.probabilities, values) for values in (one.observed, one.low, one.high)]
    return draw_lines(lines, across="share of rows below", up=one.column)
