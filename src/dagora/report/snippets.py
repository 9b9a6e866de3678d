"""The notebook view of an object: a picture, or a few facts and a table, as HTML without scripts."""

from __future__ import annotations

from dataclasses import asdict
from functools import singledispatch

import numpy as np

from dagora.base.phrases import amount
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Schema
from dagora.data.table import Table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.drawing import draw_svg
from dagora.graph.lagged_graph import LaggedGraph
from dagora.graph.metrics import Comparison
from dagora.graph.pag_metrics import PAGComparison
from dagora.graph.side_by_side import draw_pair
from dagora.learners.result import Result
from dagora.posterior.resample.strengths import Strengths
from dagora.posterior.summary.posterior import Posterior
from dagora.report.learned import comparison_table, in_words, sentence
from dagora.report.page import Content, number, table, text

MOST_ROWS = 30  # of a table in a notebook, to fit on a screen
LEAST_PROBABLE = 0.05  # rarer edges would make the list long
# Beyond this many nodes a picture within a notebook shows nothing but lines.
MOST_NODES = 150


@singledispatch
def snippet(shown: object) -> str:
    """HTML of an object; its name alone where nothing better is known."""
    return f"<code>{text(repr(shown))}</code>"


@snippet.register(DAG)
@snippet.register(CPDAG)
@snippet.register(PAG)
def graph_snippet(graph: DAG | CPDAG | PAG) -> str:
    """The picture; of a large graph its size."""
    if len(graph) > MOST_NODES:
        return f"<p>{text(repr(graph))}: too large to be drawn here; <code>write_report</code> draws it.</p>"
    return scrolling(draw_svg(graph))


@snippet.register
def lagged_snippet(graph: LaggedGraph) -> str:
    """The slices side by side."""
    return graph_snippet(graph.window)


@snippet.register
def result_snippet(result: Result) -> str:
    """The status, the picture, and its meaning."""
    score = "" if result.score is None else f"{result.score_name or 'score'} {number(result.score)}; "
    head = (
        f"<p><b>{text(result.method)}</b>: {text(score)}{text(result.status)} "
        f"after {number(result.seconds)} s. {sentence(result.message)}</p>"
    )
    warned = "".join(f"<p><b>Warning:</b> {sentence(line)}</p>" for line in result.warnings)
    drawing = scrolling(result.plot().svg) if len(result.graph) <= MOST_NODES else snippet(result.graph)
    return head + warned + drawing + f"<p>{text(in_words(result))}</p>"


@snippet.register
def posterior_snippet(posterior: Posterior) -> str:
    """The most probable edges."""
    head = f"<p>{text(repr(posterior))}. {sentence(posterior.message)}</p>"
    warned = "".join(f"<p><b>Warning:</b> {sentence(line)}</p>" for line in posterior.warnings)
    return head + warned + edge_table(posterior.nodes, posterior.edge_probability, "probability")


@snippet.register
def strengths_snippet(strengths: Strengths) -> str:
    """The most frequent edges."""
    head = f"<p>{text(repr(strengths))}. {sentence(strengths.message)}</p>"
    return head + edge_table(strengths.nodes, strengths.edge_frequency, "frequency")


@snippet.register(Comparison)
@snippet.register(PAGComparison)
def comparison_snippet(comparison: Comparison | PAGComparison) -> str:
    """Both graphs side by side, what differs in colours; distances and rates."""
    if comparison.graphs is None or len(comparison.graphs[0]) > MOST_NODES:
        return comparison_table(comparison)
    titles = ("estimate", "truth")
    halves = "".join(
        f'<div style="flex:1 1 20em;min-width:0"><b>{title}</b>{scrolling(drawing)}</div>'
        for title, drawing in zip(titles, draw_pair(*comparison.graphs), strict=True)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em">{halves}</div>' + comparison_table(comparison)


@snippet.register(Table)
@snippet.register(IncompleteTable)
def table_snippet(rows: Table | IncompleteTable) -> str:
    """The reading of each column; where it is not known, its type."""
    if rows.overview is None:
        return f"<p>{text(repr(rows))}</p>" + schema_snippet(rows.schema)
    columns = [asdict(column) for column in rows.overview.columns]
    listed: list[list[Content]] = [
        [column["name"], column["type"], column["values"], column["missing"], column["why"]]
        for column in columns
    ]
    return f"<p>{text(repr(rows))}</p>" + short_table(
        ("column", "type", "levels or range", "missing", "why"), listed, "column"
    )


@snippet.register
def schema_snippet(schema: Schema) -> str:
    """Names, types and levels."""
    listed: list[list[Content]] = [
        [variable.name, str(variable.kind), ", ".join(variable.levels)] for variable in schema
    ]
    return short_table(("column", "type", "levels"), listed, "column")


def edge_table(nodes: tuple[str, ...], probability: np.ndarray, named: str) -> str:
    """Edges with their numbers, largest first."""
    tails, heads = np.nonzero(probability >= LEAST_PROBABLE)
    order = np.argsort(-probability[tails, heads], kind="stable")
    listed: list[list[Content]] = [
        [nodes[tails[k]], nodes[heads[k]], float(probability[tails[k], heads[k]])] for k in order
    ]
    return short_table(("from", "to", named), listed, "edge")


def short_table(head: tuple[str, ...], rows: list[list[Content]], noun: str) -> str:
    """A table of the first rows, which says how many there are."""
    more = len(rows) - MOST_ROWS
    note = f"<p>… and {amount(more, noun)} more</p>" if more > 0 else ""
    return table(head, rows[:MOST_ROWS]) + note


def scrolling(drawing: str) -> str:
    """A picture that scrolls where it is wider than the page."""
    return f'<div style="overflow:auto;max-height:40em;background:#fff">{drawing}</div>'
