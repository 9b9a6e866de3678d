"""The strengths of edges, printed and in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

if TYPE_CHECKING:
    from dagora.graph.cpdag import Graph
    from dagora.posterior.resample.strengths import Strengths

MOST_PAIRS = 40
LEAST = 0.05


def strengths_content(strengths: Strengths | None, truth: Graph | None = None) -> dict[str, Any]:
    """The strengths of edges for the JSON form of a result, with their distance from a truth."""
    from dagora.cli.posterior_outputs import expectations
    from dagora.posterior.resample.strengths import account_of

    if strengths is None:
        return {}
    found = account_of(strengths)
    if truth is not None and strengths.samples:
        found["expected"] = expectations(strengths, truth)
    return {"bootstrap": found}


def show_strengths(strengths: Strengths, learned: Graph, truth: Graph | None) -> None:
    """Print how often pairs were joined, and in which direction."""
    from dagora.cli.posterior_outputs import expectations, show_expectations

    click.echo("")
    click.echo(f"strengths: {strengths.message}")
    if not strengths.samples:
        return
    for line in strength_lines(strengths, learned):
        click.echo(line)
    if truth is not None:
        click.echo("")
        show_expectations(expectations(strengths, truth))


def strength_lines(strengths: Strengths, learned: Graph) -> list[str]:
    """The strongest pairs, a line each; those that the graph learned from all rows joins are marked."""
    names, joined = strengths.nodes, strengths.adjacency_frequency
    edge, sure = strengths.edge_frequency, strengths.compelled_frequency
    marks = learned.to_numpy()
    shown = np.triu((joined >= LEAST) | marks | marks.T, k=1)
    order = sorted(np.argwhere(shown).tolist(), key=lambda at: -joined[at[0], at[1]])
    rows = []
    for a, b in order[:MOST_PAIRS]:
        i, j = (a, b) if edge[a, b] >= edge[b, a] else (b, a)
        mark = "*" if marks[i, j] or marks[j, i] else " "
        rows.append((mark, f"{names[i]} → {names[j]}", joined[i, j], edge[i, j], sure[i, j]))
    width = max((len(row[1]) for row in rows), default=0)
    lines = [f"  {'':{width}}  either way  this way  compelled"]
    lines += [
        f"{mark} {pair:{width}}  {either:10.3f}  {way:8.3f}  {told:9.3f}"
        for mark, pair, either, way, told in rows
    ]
    if len(order) > MOST_PAIRS:
        lines.append(f"  and {len(order) - MOST_PAIRS} more pairs above {LEAST:g}")
    return [*lines, "* joined in the graph learned from all rows"]
