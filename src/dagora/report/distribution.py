"""The distribution of a column's values: counts of levels, or of intervals, and a small chart of them.

Only counts leave this module: a report holds no row of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dagora.base.phrases import amount
from dagora.data.incomplete import AnyTable, IncompleteTable
from dagora.data.schema import Kind
from dagora.graph.drawing import FONT, INK, clean_text, short_label
from dagora.report.line_chart import COLOURS, Scale, tick_text, ticks

MOST_LEVELS = 12  # bars; rarer levels share the last
LARGEST = float(np.finfo(np.float64).max)
FEWEST_BINS, MOST_BINS = 5, 24  # around Rice's rule, 2 n^⅓
# In pixels, chosen by eye.
WIDTH, LABELS, NUMBERS = 330.0, 118.0, 56.0
BAR, HISTOGRAM = 19.0, 130.0


@dataclass(frozen=True)
class ColumnDistribution:
    """Counts of a column's levels (`labels`), or of intervals between `edges`; cells that were not seen."""

    counts: tuple[int, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    unseen: int = 0


def distributions(table: AnyTable) -> dict[str, ColumnDistribution]:
    """The distribution of each column, but of numbers so far apart that their distance is no number.

    >>> from dagora.data.table import Table
    >>> rows = [["no", 1.0], ["yes", 2.0], ["no", 9.0]]
    >>> table = Table.from_numpy(rows, ["ill", "dose"], continuous=["dose"])
    >>> found = distributions(table)
    >>> found["ill"].labels, found["ill"].counts, found["dose"].counts
    (('no', 'yes'), (2, 1), (2, 0, 0, 0, 1))
    """
    found = {}
    for place, (variable, values) in enumerate(zip(table.schema, table.columns, strict=True)):
        kept = values[table.seen[place]] if isinstance(table, IncompleteTable) else values
        unseen = len(values) - len(kept)
        if variable.kind is Kind.DISCRETE:
            counts = np.bincount(kept.astype(np.int64), minlength=len(variable.levels))
            found[variable.name] = ColumnDistribution(tuple(counts.tolist()), variable.levels, unseen=unseen)
        elif len(kept) == 0 or kept.max() / 2 - kept.min() / 2 < LARGEST / 2:
            counts, edges = _histogram(kept)
            found[variable.name] = ColumnDistribution(
                tuple(counts.tolist()), edges=tuple(edges.tolist()), unseen=unseen
            )
    return found


def _histogram(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts in intervals of one width, twice the cube root of the rows of them (Rice's rule)."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    bins = int(np.clip(np.ceil(2 * np.cbrt(len(values))), FEWEST_BINS, MOST_BINS))
    low, high = float(values.min()), float(values.max())
    if not high - low > 1e-12 * max(abs(low), abs(high)):
        return np.array([len(values)]), np.array([low, high])
    return np.histogram(values, bins=bins, range=(low, high))


def draw_distribution(name: str, shown: ColumnDistribution) -> str:
    """A chart of a column: a bar for each level, or a histogram.

    >>> draw_distribution("ill", ColumnDistribution((2, 1), ("no", "yes")))[:4]
    '<svg'
    """
    total = sum(shown.counts)
    if not total:
        return "<p>No value was seen.</p>"
    if shown.labels:
        drawing = _bars(name, *_frequent_levels(shown.labels, shown.counts), total)
    elif len(shown.counts) == 1:
        drawing = f"<p>All {amount(total, 'value')} are {shown.edges[0]:g}.</p>"
    else:
        drawing = _columns(name, shown.edges, shown.counts)
    unseen = f'<p class="soft">{amount(shown.unseen, "missing value")}.</p>' if shown.unseen else ""
    return drawing + unseen


def _frequent_levels(labels: Sequence[str], counts: Sequence[int]) -> tuple[list[str], list[int]]:
    """The most frequent levels in their own order, and one bar for all others."""
    if len(labels) <= MOST_LEVELS:
        return list(labels), list(counts)
    frequent = sorted(sorted(range(len(labels)), key=lambda k: -counts[k])[: MOST_LEVELS - 1])
    rest = len(labels) - len(frequent)
    return (
        [*(labels[k] for k in frequent), f"{rest} other levels"],
        [*(counts[k] for k in frequent), sum(counts) - sum(counts[k] for k in frequent)],
    )


def _svg_start(name: str, height: float, words: str) -> str:
    size = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="distribution" {size} role="img" {FONT}'
    return f'{head} font-size="11" fill="{INK}"><title>{clean_text(name)}: {clean_text(words)}</title>'


def _bars(name: str, labels: Sequence[str], counts: Sequence[int], total: int) -> str:
    longest = max(counts)
    parts = [_svg_start(name, BAR * len(labels) + 4, "rows of each level")]
    for k, (label, count) in enumerate(zip(labels, counts, strict=True)):
        y = 2 + BAR * k
        length = (WIDTH - LABELS - NUMBERS) * count / longest
        said = f"{clean_text(label)}: {amount(count, 'row')}"
        parts.append(
            f'<g><title>{said}</title><text x="{LABELS - 8:g}" y="{y + 13:g}" text-anchor="end">'
            f"{clean_text(_cut(label))}</text>"
            f'<rect x="{LABELS:g}" y="{y + 2:g}" width="{length:.1f}" height="{BAR - 5:g}" '
            f'fill="{COLOURS[0]}"/><text x="{LABELS + length + 6:.1f}" y="{y + 13:g}">'
            f"{count / total:.1%}</text></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _cut(label: str) -> str:
    shown = short_label(label)
    return shown if len(shown) <= 17 else shown[:16] + "…"


def _columns(name: str, edges: Sequence[float], counts: Sequence[int]) -> str:
    left, right, top, bottom = 44.0, 12.0, 6.0, 22.0
    across = Scale(ticks(edges[0], edges[-1], 4), left, WIDTH - right)
    up = Scale(ticks(0.0, float(max(counts)), 3), HISTOGRAM - bottom, top)
    parts = [_svg_start(name, HISTOGRAM, "rows in each interval")]
    for value in up.ticks:
        y = up.at(value)
        parts.append(f'<path d="M{left:g} {y:.1f}H{WIDTH - right:g}" stroke="#e4e8ee"/>')
        parts.append(
            f'<text x="{left - 6:g}" y="{y + 4:.1f}" text-anchor="end">{tick_text(value, up.ticks)}</text>'
        )
    for value in across.ticks:
        label = tick_text(value, across.ticks)
        parts.append(
            f'<text x="{across.at(value):.1f}" y="{HISTOGRAM - 6:g}" text-anchor="middle">{label}</text>'
        )
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        x, y = across.at(low), up.at(count)
        wide = max(across.at(high) - x - 0.8, 0.5)
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{up.at(0.0) - y:.1f}" '
            f'fill="{COLOURS[0]}"><title>{low:.4g} to {high:.4g}: {amount(count, "row")}</title></rect>'
        )
    return "\n".join([*parts, "</svg>"])
