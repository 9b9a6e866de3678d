"""Charts of effects: intervals one below the other, and how an effect is distributed over graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagora.effects.effect_histogram import EffectHistogram
from dagora.effects.set_estimate import Interval, written_number
from dagora.graph.drawing import FONT, INK, clean_text
from dagora.report.line_chart import COLOURS, Scale, tick_text, ticks

# In pixels, chosen by eye: narrow, so that letters can be read on a telephone.
WIDTH, LEFT, RIGHT = 460.0, 14.0, 14.0
ROW, AXIS = 40.0, 44.0
BAR, HISTOGRAM = 24.0, 150.0
LETTER = 12.5
LONGEST = 44  # letters of a label
GREY, LINES = "#7c8794", "#e4e8ee"


@dataclass(frozen=True)
class IntervalRow:
    """An interval with its label; a `main` one is drawn stronger."""

    label: str
    found: Interval
    main: bool = False


def draw_intervals(rows: Sequence[IntervalRow], *, across: str) -> str:
    """Draw intervals with their values over one axis, with a line at zero.

    >>> draw_intervals([IntervalRow("by the graph", Interval(-0.19, -0.24, -0.14))], across="difference")[:4]
    '<svg'
    """
    ends = [end for row in rows for end in (row.found.low, row.found.high)]
    scale = Scale(_around_zero(ends), LEFT, WIDTH - RIGHT)
    bottom = ROW * len(rows) + 4
    parts = [_start(bottom + AXIS, f"{across}, with 95 % intervals")]
    zero = scale.at(0.0)
    for top in (ROW * place for place in range(len(rows))):  # beside the words, not behind them
        parts.append(_grid(scale, top + 21, top + 37))
        parts.append(f'<path d="M{zero:.1f} {top + 21:g}V{top + 37:g}" stroke="{GREY}" stroke-width="1.6"/>')
    parts += [_interval(row, scale, ROW * place) for place, row in enumerate(rows)]
    return "\n".join([*parts, _axis(scale, bottom, across), "</svg>"])


def _around_zero(values: Sequence[float]) -> list[float]:
    """Round numbers around some values and zero, with room beside zero."""
    found = ticks(min(0.0, *values), max(0.0, *values), 4)
    step = found[1] - found[0]
    return [*([-step] if found[0] == 0 else []), *found, *([step] if found[-1] == 0 else [])]


def _interval(row: IntervalRow, scale: Scale, top: float) -> str:
    found, y = row.found, top + 29
    colour, thick = (COLOURS[0], 3.4) if row.main else ("#4a5869", 2.2)
    low, high, middle = (scale.at(value) for value in (found.low, found.high, found.value))
    name = row.label if len(row.label) <= LONGEST else row.label[: LONGEST - 1] + "…"
    weight = ' font-weight="600"' if row.main else ""
    value = clean_text(written_number(found.value) if found.low == found.high else str(found))
    value = value.replace("-", "−")
    return (
        f"<g><title>{clean_text(row.label)}: {value}</title>"
        f'<text x="{LEFT:g}" y="{top + 16:g}"{weight}>{clean_text(name)}</text>'
        f'<text x="{WIDTH - RIGHT:g}" y="{top + 16:g}" text-anchor="end"{weight}>{value}</text>'
        f'<path d="M{low:.1f} {y:g}H{high:.1f}" stroke="{colour}" stroke-width="{thick:g}" '
        f'stroke-linecap="round"/><circle cx="{middle:.1f}" cy="{y:g}" r="5" fill="{colour}"/></g>'
    )


def draw_over_graphs(cause: float, histogram: EffectHistogram | None, *, across: str) -> str:
    """Draw how probable it is that there is an effect, and below, where there is one, how large it is.

    >>> draw_over_graphs(0.4, EffectHistogram((0.0, 0.1, 0.2), (0.1, 0.3)), across="difference")[:4]
    '<svg'
    """
    top = 2 * BAR + 34
    height = 2 * BAR + 8 if histogram is None else top + HISTOGRAM + AXIS
    words = "how the effect is distributed over graphs"
    bars = [_bar("no effect", 1 - cause, GREY, 0.0), _bar("an effect", cause, COLOURS[0], BAR)]
    parts = [_start(height, words), *bars]
    if histogram is None:
        return "\n".join([*parts, "</svg>"])
    edges, shares = histogram.edges, histogram.shares
    scale = Scale(_around_zero(edges), LEFT, WIDTH - RIGHT)
    bottom = top + HISTOGRAM
    parts += [
        f'<text x="{LEFT:g}" y="{top - 10:g}" fill="#5b6b7f">where there is one:</text>',
        _grid(scale, top, bottom),
        f'<path d="M{scale.at(0.0):.1f} {top:g}V{bottom:g}" stroke="{GREY}" stroke-width="1.6"/>',
    ]
    most, total = max(shares), sum(shares)
    for place, share in enumerate(shares):
        low, high = edges[place], edges[place + 1]
        x, wide = scale.at(low), max(scale.at(high) - scale.at(low) - 0.8, 0.5)
        tall = (HISTOGRAM - 8) * share / most
        said = f"{_ends(low, high, first=not place, last=place == len(shares) - 1)}: {share / total:.1%}"
        parts.append(
            f'<rect x="{x:.1f}" y="{bottom - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}" '
            f'fill="{COLOURS[0]}"><title>{said}</title></rect>'
        )
    return "\n".join([*parts, _axis(scale, bottom, across), "</svg>"])


def _ends(low: float, high: float, *, first: bool, last: bool) -> str:
    if first:
        return f"up to {high:.3g}"
    return f"{low:.3g} and more" if last else f"{low:.3g} to {high:.3g}"


def _bar(label: str, share: float, colour: str, top: float) -> str:
    left, room = LEFT + 72, WIDTH - RIGHT - LEFT - 72 - 52
    return (
        f'<text x="{LEFT:g}" y="{top + 17:g}">{label}</text>'
        f'<rect x="{left:g}" y="{top + 5:g}" width="{max(room * share, 0.6):.1f}" height="{BAR - 8:g}" '
        f'fill="{colour}"/><text x="{left + room * share + 6:.1f}" y="{top + 17:g}">{share:.0%}</text>'
    )


def _start(height: float, words: str) -> str:
    size = f'viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT} font-size="{LETTER:g}"'
    return f'{head} fill="{INK}"><title>{clean_text(words)}</title>'


def _grid(scale: Scale, top: float, bottom: float) -> str:
    lines = (f"M{scale.at(value):.1f} {top:g}V{bottom:g}" for value in scale.ticks)
    return f'<path d="{"".join(lines)}" stroke="{LINES}"/>'


def _axis(scale: Scale, bottom: float, across: str) -> str:
    anchors = ["start", *["middle"] * (len(scale.ticks) - 2), "end"]
    labels = "".join(
        f'<text x="{scale.at(value):.1f}" y="{bottom + 17:g}" text-anchor="{anchor}">'
        f"{tick_text(value, scale.ticks)}</text>"
        for value, anchor in zip(scale.ticks, anchors, strict=True)
    )
    middle = f'x="{WIDTH / 2:g}" y="{bottom + 36:g}" text-anchor="middle" fill="#5b6b7f"'
    return f"{labels}<text {middle}>{clean_text(across)}</text>"
