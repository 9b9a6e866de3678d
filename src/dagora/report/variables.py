"""The parts of a report about the data and about each variable: its distribution and its neighbours.

Without scripts, variables are folded paragraphs that link to each other. With the script, choosing a node
of the picture shows its part beside it, with all that is marked as being about the same variable
(`data-about`), such as its fitted probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dagora.data.columns.missing_pattern import describe_missing
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph, split_name
from dagora.graph.separation import moral_graph
from dagora.report.distribution import ColumnDistribution, draw_distribution
from dagora.report.page import Content, Section, attribute, fold, table, text

BLANKET = (
    "The Markov blanket of a variable are those it is joined with, and those that have a common child with "
    "it: given the values of these, the graph says, no other variable tells anything more about it."
)
SAME = "All graphs that the data cannot tell apart have the same blankets."
IN_TIME = "Here it is meant among the steps that are shown."


def variable_section(
    graph: AnyGraph, distributions: Mapping[str, ColumnDistribution], *, class_only: bool, summary: str = ""
) -> Section:
    """A folded part for each variable; a graph that sums up others is one of none, and `summary` names it."""
    note = "" if isinstance(graph, PAG) else BLANKET
    in_time = LaggedGraph.of_window(graph) is not None
    if summary:
        note += f" Here it is that of {summary}."
    elif note:
        note += f" {IN_TIME}" if in_time else f" {SAME}" * (class_only or not isinstance(graph, DAG))
    joined, through = _neighbourhoods(graph)
    links = [
        f'<a href="#variable-{k}" data-choose={attribute(name)}>{text(name)}</a>'
        for k, name in enumerate(graph.nodes)
    ]
    parts = []
    for place, name in enumerate(graph.nodes):
        shown = distributions.get(split_name(name)[0] if in_time else name)
        drawing = "" if shown is None else draw_distribution(name, shown)
        said = f"<p>{_members(graph, links, joined[place], through[place])}</p>"
        body = f'<div id="variable-{place}">{drawing}{said}</div>'
        parts.append(fold(name, body, about=name))
    lead = f'<p class="soft">{text(note)}</p>' if note else ""
    return Section("Variables", f'{lead}<div class="listed">{"".join(parts)}</div>')


def _neighbourhoods(graph: AnyGraph) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each node its neighbours, and the others of its blanket; none of these in a PAG."""
    if isinstance(graph, PAG):
        place = {name: k for k, name in enumerate(graph.nodes)}
        near = np.zeros((len(graph), len(graph)), dtype=np.bool_)
        for one, _, other in graph.marked_edges:
            near[place[one], place[other]] = near[place[other], place[one]] = True
        rest = np.zeros_like(near)
    else:
        matrix = graph.to_numpy()
        near = matrix | matrix.T
        rest = moral_graph(graph) & ~near
    return [np.flatnonzero(row) for row in near], [np.flatnonzero(row) for row in rest]


def _members(graph: AnyGraph, links: Sequence[str], near: np.ndarray, rest: np.ndarray) -> str:
    """The neighbours and the rest of the blanket in words, each a link to its part."""
    what = "Joined with" if isinstance(graph, PAG) else "Markov blanket"
    if not len(near):
        return f"{what}: nothing."
    found = f"{what}: {_listed(links, near)}"
    if len(rest):
        found += f"; through a common child: {_listed(links, rest)}"
    return f"{found}."


def _listed(links: Sequence[str], places: Iterable[int]) -> str:
    return ", ".join(links[k] for k in places)


def data_section(data: Mapping[str, Any]) -> list[Section]:
    """A section about the columns as they were read and the rows left out; none if that is not known."""
    if not data:
        return []
    rows, dropped = data["rows"], data["rows_dropped"]
    lost = f"; {dropped} of them ({dropped / rows:.1%}) dropped, because a cell is missing" if dropped else ""
    head = ("column", "type", "levels or range", "missing", "why")
    listed: list[list[Content]] = [
        [column["name"], column["type"], column["values"], column["missing"], column["why"]]
        for column in data["columns"]
    ]
    body = f"<p>{text(f'{rows} rows{lost}.')}</p>"
    return [
        Section(
            "The data", body + fold("columns", table(head, listed)) + missing_values(data.get("holes", {}))
        )
    ]


def missing_values(pattern: Mapping[str, Any]) -> str:
    """The number of missing values and their most frequent patterns."""
    if not pattern:
        return ""
    listed: list[list[Content]] = [[", ".join(each["missing"]), each["rows"]] for each in pattern["patterns"]]
    line = f"{describe_missing(pattern)}; {pattern['distinct_patterns']} patterns of missing values."
    return f"<p>{text(line)}</p>" + fold("most frequent patterns", table(("missing", "rows"), listed))
