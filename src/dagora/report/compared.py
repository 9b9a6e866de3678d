"""The report of a comparison: two graphs side by side, how far they differ, and where."""

from __future__ import annotations

from collections import Counter

from dagora.graph.adjustment_distances import RULES
from dagora.graph.ancestral.pag import PAG, SHOWN
from dagora.graph.any_graph import AnyGraph, number_of_edges
from dagora.graph.compare import compare
from dagora.graph.metrics import Comparison
from dagora.graph.pag_metrics import PAGComparison, both_pags
from dagora.graph.side_by_side import WORDS, draw_pair
from dagora.graph.strokes import Stroke, Verdict, strokes_of
from dagora.report.learned import comparison_table, searchable
from dagora.report.page import Content, Section, facts, number, page, table, text

NOTE = (
    "Blue: in both graphs. Yellow, dashed: in both, but not the same way. Red, dotted: only in that one. "
    "Every variable has the same place in both pictures. An undirected edge agrees with a directed one if "
    "that one is of a DAG: it stands for a class in which both directions occur."
)


def comparison_page(estimate: AnyGraph, truth: AnyGraph, names: tuple[str, str]) -> str:
    """A whole HTML document about two graphs; `names` are theirs, such as those of their files."""
    comparison = compare(estimate, truth)
    if isinstance(estimate, PAG) or isinstance(truth, PAG):
        estimate, truth = both_pags(estimate, truth)
    rows = differing(estimate, truth, names)
    counts = Counter(row[-1] for row in rows)
    named = [("variables", number(len(truth)))]
    named += [(word, number(counts[word])) for word in words(names, truth)]
    lead = (
        f"<p>{text(names[0])} has {number_of_edges(estimate)} edges, {text(names[1])} has "
        f"{number_of_edges(truth)}.</p>{facts(named)}"
    )
    pictures = "".join(
        f'<figure><figcaption>{text(name)}</figcaption><div class="canvas fitted">{drawing}</div></figure>'
        for name, drawing in zip(names, draw_pair(estimate, truth), strict=True)
    )
    side_by_side = f'<div class="explorer pair">{pictures}</div><p class="soft">{text(NOTE)}</p>'
    head = (*names, "verdict")
    sections = [
        Section("Both graphs", side_by_side),
        Section("How far apart", comparison_table(comparison)),
        *effect_sections(comparison),
        Section("Edges", searchable(table(head, rows, sortable=True))),
    ]
    return page(f"{names[0]} against {names[1]}", lead, sections)


def effect_sections(comparison: Comparison | PAGComparison) -> list[Section]:
    """The section on the effects that the estimate gets wrong, where that is defined."""
    distances = comparison.adjustment_distances() if isinstance(comparison, Comparison) else None
    if distances is None:
        return []
    note = f'<p class="soft">{text(distances.describe())}</p>'
    rows: list[list[Content]] = [[label, *shares] for label, shares in distances.rows()]
    return [Section("Effects that would be wrong", note + table(("compared as", *RULES), rows))]


def words(names: tuple[str, str], graph: AnyGraph) -> tuple[str, ...]:
    """The relation of a pair of nodes that is joined in either graph."""
    other = "other marks" if isinstance(graph, PAG) else WORDS["reversed"]
    return (WORDS["correct"], other, f"only in {names[0]}", f"only in {names[1]}")


def differing(estimate: AnyGraph, truth: AnyGraph, names: tuple[str, str]) -> list[list[Content]]:
    """Each pair that is joined in either graph: the edge in both, and the verdict."""
    verdicts: tuple[Verdict, ...] = ("correct", "reversed", "extra", "missing")
    said = dict(zip(verdicts, words(names, truth), strict=True))
    true = {frozenset(stroke.edge): stroke for stroke in strokes_of(truth)}
    rows: list[list[Content]] = []
    for stroke in strokes_of(estimate, truth):
        there = true.get(frozenset(stroke.edge))
        found = "" if stroke.verdict == "missing" else edge_text(stroke)
        rows.append([found, "" if there is None else edge_text(there), said[stroke.verdict]])
    return rows


def edge_text(stroke: Stroke) -> str:
    """An edge as people read it.

    >>> edge_text(Stroke(("a", "b"), "-->", "plain", None))
    'a → b'
    """
    return f"{stroke.edge[0]} {SHOWN[stroke.sign]} {stroke.edge[1]}"
