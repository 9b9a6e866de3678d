"""Frequencies of edges in samples of the rows, as sections of a report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dagora.graph.cpdag import Graph
from dagora.graph.drawing import draw_svg
from dagora.posterior.resample.strengths import Strengths
from dagora.posterior.summary.picture import draw_probabilities, true_edges
from dagora.report.distribution import ColumnDistribution
from dagora.report.learned import canvas, searchable, sentence, warnings
from dagora.report.page import Cell, Content, Section, facts, number, page, table, text
from dagora.report.repeating import repeating
from dagora.report.variables import data_section, variable_section

MOST_SQUARES = 60  # variables up to which all pairs are drawn
LEAST = 0.01  # rarer pairs would make the list long
CAUTION = (
    "A share of samples says how far the edge depends on the rows that happened to be drawn. It is no "
    "probability that the edge is true: a method that errs in the same way on every sample is sure of it."
)


def strengths_page(
    strengths: Strengths,
    *,
    truth: Graph | None = None,
    source: str | None = None,
    distributions: Mapping[str, ColumnDistribution] | None = None,
) -> str:
    """A whole HTML document about strengths of edges; `distributions` are those of the variables, by name."""
    named = [
        ("variables", number(len(strengths.nodes))),
        ("method", strengths.method),
        ("score", strengths.score_name or "none"),
        ("samples", number(strengths.samples)),
        ("seconds", number(strengths.seconds)),
        ("status", strengths.status),
    ]
    sections = [
        *warnings(strengths.warnings),
        *strength_sections(strengths, truth, informed=True),
        *variables_of(strengths, distributions or {}),
        *data_section(strengths.data),
        repeating(
            strengths.settings,
            strengths.seed,
            strengths.stats,
            strengths.versions,
            strengths.to_dict(graphs=False),
        ),
    ]
    title = f"Strengths of edges given {source}" if source else "Strengths of edges"
    return page(title, f"<p>{sentence(strengths.message)}</p>{facts(named)}", sections)


def variables_of(strengths: Strengths, distributions: Mapping[str, ColumnDistribution]) -> list[Section]:
    """A part for each variable, with its place in the graph that most samples agree on."""
    if not strengths.samples:
        return []
    agreed, what = strengths.consensus(), "the graph that most samples agree on"
    return [variable_section(agreed, distributions, class_only=False, summary=what)]


def strength_sections(strengths: Strengths, truth: Graph | None, *, informed: bool = False) -> list[Section]:
    """The shares of all pairs, the graph that most samples agree on, and a table.

    The graph is `informed` on a page that has a part for each variable and no other picture beside which
    these are shown.
    """
    if not strengths.samples:
        return [Section("Strengths of edges", f"<p>{sentence(strengths.message)}</p>")]
    note = f'<p>{sentence(strengths.message)}</p><p class="soft">{text(CAUTION)}</p>'
    if len(strengths.nodes) <= MOST_SQUARES:
        drawing = draw_probabilities(
            strengths.nodes, strengths.edge_frequency, truth=truth, what="share of samples"
        )
        note += f'<div class="canvas shaded">{drawing}</div>'
    agreed = strengths.consensus()
    picture = draw_svg(agreed, truth=truth, weights=strengths.adjacency_frequency)
    words = "Pairs that more than half of the samples join; the numbers are the shares that do."
    return [
        Section("Strengths of edges", note),
        Section(
            "What most samples agree on",
            f'<p class="soft">{text(words)}</p>{canvas([picture], informed=informed)}',
        ),
        strength_table(strengths, agreed, truth),
    ]


def strength_table(strengths: Strengths, agreed: Graph, truth: Graph | None) -> Section:
    """Pairs with the shares of samples that join and direct them."""
    names, joined = strengths.nodes, strengths.adjacency_frequency
    edge, sure = strengths.edge_frequency, strengths.compelled_frequency
    known, chosen = true_edges(truth), agreed.to_numpy()
    rows: list[list[Content]] = []
    for a, b in sorted(np.argwhere(np.triu(joined) >= LEAST).tolist(), key=lambda at: -joined[at[0], at[1]]):
        i, j = (a, b) if edge[a, b] >= edge[b, a] else (b, a)
        shares = (joined[i, j], edge[i, j], edge[j, i], sure[i, j])
        row: list[Content] = [names[i], names[j], *(Cell(f"{share:.3f}", float(share)) for share in shares)]
        row.append("yes" if chosen[i, j] or chosen[j, i] else "")
        row += ["yes" if (names[i], names[j]) in known else ""] if truth is not None else []
        rows.append(row)
    head = ["from", "to", "either way", "this way", "other way round", "compelled", "most agree"]
    said = (
        f"Pairs that {LEAST:g} of the samples join, and more. “compelled”: every graph of the class has the "
        "edge this way. An undirected edge counts half each way."
    )
    listed = table(head + ["in the truth"] * (truth is not None), rows, sortable=True)
    return Section("Pairs", searchable(listed) + f'<p class="soft">{text(said)}</p>')
