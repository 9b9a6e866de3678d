"""The page of an effect: the answer in words, the graph with what is adjusted for, intervals, assumptions."""

from __future__ import annotations

from dataclasses import replace

from dagora.effects.in_words import effect_in_words
from dagora.effects.result import ClassMember, Effect
from dagora.effects.set_estimate import Interval, shown_number
from dagora.graph.adjustment import list_names
from dagora.graph.any_graph import number_of_edges
from dagora.graph.effect_paths import effect_paths
from dagora.graph.effect_picture import draw_effect, effect_legend, effect_roles
from dagora.report.effect_charts import IntervalRow, draw_intervals, draw_over_graphs
from dagora.report.learned import sentence_list
from dagora.report.line_chart import Line, draw_lines
from dagora.report.page import Cell, Content, Section, facts, fold, number, page, table, text

MOST_NODES, MOST_EDGES = 150, 600  # beyond, the picture shows nothing but lines
MOST_ROWS = 12  # intervals in one chart
VERDICTS = {
    "zero": "zero by the graph",
    "adjustment": "by adjustment",
    "g-formula": "by the g-formula",
    "functions": "by fitted functions",
    "not identified": "not identified",
    "averaged": "averaged over graphs",
    "set": "by rows in which it was set",
}


def effect_page(effect: Effect, source: str | None = None) -> str:
    """A whole HTML document about an effect."""
    title = f"The effect of {' and '.join(effect.x)} on {effect.y}"
    *sections, last = effect_sections(effect)
    told = fold("the whole answer as text", f"<pre>{text(effect.to_text())}</pre>")
    sections.append(Section(last.heading, last.body + told))
    return page(f"{title}, {source}" if source else title, effect_lead(effect), sections)


def effect_lead(effect: Effect) -> str:
    """The answer in words and a few numbers."""
    named = [("found", VERDICTS[effect.verdict])]
    found = effect.estimates.get("difference")
    if found is not None:
        named += [
            ("difference", shown_number(found.value)),
            ("95 % interval", between(found.low, found.high)),
        ]
    elif effect.range is not None:
        named.append(("over the class", between(*effect.range)))
    if effect.over_graphs is not None:
        cause = effect.over_graphs.cause_probability
        named.append((f"P({' or '.join(effect.x)} is a cause)", f"{cause:.2f}"))
    if effect.verdict == "adjustment" and effect.adjustment is not None:
        named.append(("adjusted for", list_names(effect.adjustment)))
    named.append(("rows", number(effect.rows)))
    return f'<p class="answer">{text(effect_in_words(effect))}</p>{facts(named)}'


def effect_sections(effect: Effect) -> list[Section]:
    """The parts of a page about an effect, below its lead."""
    sections = [*picture_section(effect), *chart_section(effect), *number_section(effect)]
    if effect.curve:
        sections.append(curve_section(effect))
    return [*sections, rests_section(effect)]


def picture_section(effect: Effect) -> list[Section]:
    """The graph that the effect is computed by; of an average, the most probable class."""
    best = None if effect.over_graphs is None else effect.over_graphs.best
    by = effect if best is None else best
    graph = by.graph
    if graph is None:
        return []
    if len(graph) > MOST_NODES or number_of_edges(graph) > MOST_EDGES:
        words = f"The graph of {len(graph)} variables is too large to be drawn here."
        return [Section("The graph", f'<p class="soft">{text(words)}</p>')]
    roles = effect_roles(by.x, by.y, by.adjustment or ())
    identified = by.verdict not in {"not identified", "set"}
    paths = effect_paths(graph, by.x, by.y, identified=identified)
    deciding = by.open_edges
    drawing = draw_effect(graph, roles, paths, deciding)
    keys = "".join(
        f"<li>{sample} {text(words)}</li>" for sample, words in effect_legend(roles, paths, deciding)
    )
    words = graph_in_words(effect, by)
    return [
        Section(
            "The graph",
            f'<ul class="legend">{keys}</ul><div class="explorer"><div class="pictures"><div class="canvas '
            f'fitted">{drawing}</div></div></div><p class="soft">{text(words)}</p>',
        )
    ]


def graph_in_words(effect: Effect, by: Effect) -> str:
    """The words below the picture of the effect."""
    words = []
    if effect.over_graphs is not None:
        chance = effect.over_graphs.best_probability
        words.append(
            f"The most probable class of graphs (probability {chance:.2f}); the average is over all."
        )
    if by.graph is not None and by.graph.undirected:
        words.append("A line without an arrow: the data do not tell its direction.")
    if by.verdict == "adjustment" and by.adjustment:
        words.append("Adjusting closes every path that is not causal.")
    if by.reason:
        words.append(f"{by.reason[:1].upper()}{by.reason[1:]}.")
    return " ".join(words)


def chart_section(effect: Effect) -> list[Section]:
    """Intervals, and the distribution over graphs."""
    across = f"difference in {effect.contrast.outcome}"
    rows = [row for row in interval_rows(effect) if finite(row.found)]
    charts = [draw_intervals(rows[:MOST_ROWS], across=across)] if rows else []
    over = effect.over_graphs
    if over is not None:
        charts.append(draw_over_graphs(over.cause_probability, over.histogram, across=across))
    if not charts:
        return []
    left = len(rows) - MOST_ROWS
    more = f'<p class="soft">… and {left} more: see the table.</p>' if left > 0 else ""
    said = f'<p class="soft">{text(chart_in_words(effect))}</p>'
    body = "".join(f"<div>{chart}</div>" for chart in charts)
    return [Section("How large, and how sure", f'<div class="charts beside">{body}</div>{more}{said}')]


def chart_in_words(effect: Effect) -> str:
    """The words below the charts: how to read them."""
    words = "A dot is the estimate, a line its 95 % interval; grey is no effect."
    if effect.verdict == "not identified":
        return f"{words} Each is the effect if the open edges are directed so: one of them is right."
    if effect.over_graphs is None:
        return words
    return f"{words} Averaged over {effect.over_graphs.source}."


def interval_rows(effect: Effect) -> list[IntervalRow]:
    """The intervals of an effect: of the graph, of all of its class, or averaged and by the best class."""
    beside = effect.where_set
    if beside is not None:
        last = IntervalRow("rows in which it was set", beside.estimates["difference"])
        return [*interval_rows(replace(effect, where_set=None)), last]
    over = effect.over_graphs
    if effect.verdict == "not identified":
        return [IntervalRow(condition(one), one.estimates["difference"]) for one in effect.members]
    found = effect.estimates.get("difference")
    if found is None:
        return []
    if over is None:
        by = "rows in which it was set" if effect.verdict == "set" else "by this graph"
        return [IntervalRow(by, found, main=True)]
    rows = [IntervalRow("averaged over graphs", found, main=True)]
    if 0 < over.cause_probability < 1 and "difference" in over.if_cause:
        where = "where it is a cause" if len(effect.x) == 1 else "where one of them is a cause"
        rows.append(IntervalRow(where, over.if_cause["difference"]))
    if over.best is not None:
        alone = interval_rows(over.best)
        rows += [
            IntervalRow(
                "the most probable class alone" if len(alone) == 1 else f"best class, {one.label}", one.found
            )
            for one in alone
        ]
    return rows


def condition(member: ClassMember) -> str:
    """The directions of a member of a class."""
    return "if " + ", ".join(f"{tail} → {head}" for tail, head in member.edges)


def number_section(effect: Effect) -> list[Section]:
    """All scales in a table; over a class, one row for each way to direct the open edges."""
    scales = effect.contrast.scales
    if effect.members:
        noted = any(one.support and one.support.notes for one in effect.members)
        counted = effect.graphs is not None
        rows: list[list[Content]] = [
            [
                condition(one),
                *[one.graphs or 0] * counted,
                *(cell(one.estimates[scale]) for scale in scales),
                one.way_in_words(),
                *["; ".join(one.support.notes) if one.support else ""] * noted,
            ]
            for one in effect.members
        ]
        head = ("directions", *["graphs"] * counted, *scales, "identified", *["support"] * noted)
        return [Section("Over the class", table(head, rows, sortable=True))]
    if len(scales) == 1 or not effect.estimates:
        return []
    listed_rows: list[list[Content]] = [
        [scale, shown_number(found.value), between(found.low, found.high)]
        for scale, found in effect.estimates.items()
    ]
    return [Section("On all scales", table(("scale", "estimate", "95 % interval"), listed_rows))]


def curve_section(effect: Effect) -> Section:
    """The section with the curve over the values of x and its band."""
    at = [point.x for point in effect.curve]
    lines = [
        Line(at, [getattr(point.y, name) for point in effect.curve]) for name in ("value", "low", "high")
    ]
    chart = draw_lines(lines, across=f"{' and '.join(effect.x)}, set to", up=effect.contrast.outcome)
    words = "Blue: the estimate. Red and yellow: the ends of its 95 % interval at each value."
    return Section("Over the values", f'<div class="charts">{chart}</div><p class="soft">{words}</p>')


def rests_section(effect: Effect) -> Section:
    """Assumptions, support by rows, what could be hidden, and notes."""
    parts = [("Assumed", list(effect.assumptions))]
    if effect.how:
        parts.append(("Computed by", [effect.how]))
    if effect.support is not None:
        at = [f"{value}: {number(rows)} rows" for value, rows in effect.support.rows_at.items()]
        parts.append(("Rows that carry it", [*at, *effect.support.notes]))
    if effect.hidden_cause is not None:
        parts.append(("What could be hidden", [effect.hidden_cause.to_text()]))
    if effect.where_set is not None:
        parts.append(("Where it was set", [line.strip() for line in effect.where_set.lines_beside()]))
    parts.append(("Notes", list(effect.notes)))
    body = "".join(f"<p><b>{text(name)}</b></p>{sentence_list(lines)}" for name, lines in parts if lines)
    return Section("What it rests on", body)


def cell(found: Interval) -> Cell:
    """An estimate with its interval, sorted by the estimate."""
    return Cell(str(found).replace("-", "−"), found.value)


def between(low: float, high: float) -> str:
    """The ends of an interval."""
    return f"{shown_number(low)} to {shown_number(high)}"


def finite(found: Interval) -> bool:
    """Return True if an interval can be drawn."""
    return all(abs(end) < 1e300 for end in (found.value, found.low, found.high))
