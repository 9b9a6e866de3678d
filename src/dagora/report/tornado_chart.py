"""The tornado: how far each parameter, moved down and up, moves an answer; the strongest on top."""

from __future__ import annotations

from dagora.graph.drawing import FONT, INK, clean_text
from dagora.network.inference.sensitivity_result import Sensitivity
from dagora.report.line_chart import COLOURS, Scale, tick_text, ticks

# In pixels, chosen by eye; as wide as the charts of effects.
WIDTH, LEFT, RIGHT = 460.0, 14.0, 14.0
ROW, AXIS, HEAD = 38.0, 44.0, 22.0
LETTER = 12.5
LONGEST = 60  # letters of a label
MOST = 15  # bars
DOWN, GREY, LINES = "#c26a4a", "#7c8794", "#e4e8ee"


def draw_tornado(found: Sensitivity) -> str:
    """Draw the strongest parameters, and the answer without each piece of evidence below them.

    >>> import numpy as np
    >>> import dagora
    >>> coin = dagora.DiscreteNetwork(dagora.DAG("a"), {"a": ("t", "h")}, {"a": np.array([0.5, 0.5])})
    >>> draw_tornado(coin.sensitivity("P(a=h)"))[:4]
    '<svg'
    """
    bars = found.parameters[:MOST]
    ends = [end for one in bars for end in (one.answer_low, one.answer_high)]
    points = [one.answer_without for one in found.evidence]
    values = [found.value, *ends, *points]
    room = 0.02 * (max(values) - min(values)) or 0.01
    scale = Scale(ticks(min(values) - room, max(values) + room, 4), LEFT, WIDTH - RIGHT)
    rows = len(bars) + len(points)
    bottom = HEAD + ROW * max(rows, 1) + 4
    height = bottom + AXIS
    title = clean_text(f"sensitivity of {found.answer.question}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}" '
    start = f'{head}height="{height:g}" role="img" {FONT} font-size="{LETTER:g}" fill="{INK}">'
    parts = [f"{start}<title>{title}</title>"]
    at = scale.at(found.value)
    keys = ((COLOURS[0], "parameter raised"), (DOWN, f"lowered, each by {found.spread:.3g} of its value"))
    for place, (colour, words) in enumerate(keys):
        x = LEFT + 140 * place
        parts.append(f'<rect x="{x:g}" y="4" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 15:g}" y="13" fill="#5b6b7f">{words}</text>')
    for place, one in enumerate(bars):
        top = HEAD + ROW * place
        parts.append(_label(one.name, f"{one.answer_low:.4g} to {one.answer_high:.4g}", top))
        for end, colour in ((one.answer_low, DOWN), (one.answer_high, COLOURS[0])):
            x = scale.at(end)
            left, wide = min(at, x), max(abs(x - at), 0.6)
            parts.append(
                f'<rect x="{left:.1f}" y="{top + 20:g}" width="{wide:.1f}" height="12" fill="{colour}"/>'
            )
    for place, without in enumerate(found.evidence, start=len(bars)):
        top = HEAD + ROW * place
        parts.append(_label(f"without {without.evidence}", f"{without.answer_without:.4g}", top))
        x = scale.at(without.answer_without)
        parts.append(f'<path d="M{at:.1f} {top + 26:g}H{x:.1f}" stroke="{GREY}" stroke-width="1.6"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{top + 26:g}" r="4.5" fill="{GREY}"/>')
    parts.append(f'<path d="M{at:.1f} {HEAD:g}V{bottom:g}" stroke="{GREY}" stroke-width="1.2"/>')
    parts += [
        f'<text x="{scale.at(value):.1f}" y="{bottom + 17:g}" text-anchor="middle">'
        f"{tick_text(value, scale.ticks)}</text>"
        for value in scale.ticks
    ]
    question = clean_text(str(found.answer.question)[: LONGEST + 8])
    middle = f'x="{WIDTH / 2:g}" y="{bottom + 36:g}" text-anchor="middle" fill="#5b6b7f"'
    return "\n".join([*parts, f"<text {middle}>{question}</text></svg>"])


def _label(name: str, value: str, top: float) -> str:
    shown = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    return (
        f'<text x="{LEFT:g}" y="{top + 15:g}">{clean_text(shown)}</text>'
        f'<text x="{WIDTH - RIGHT:g}" y="{top + 15:g}" text-anchor="end">{clean_text(value)}</text>'
    )
