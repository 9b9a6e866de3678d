"""The page of all pairwise effects: a heat map, how probable each cause is, and a table."""

from __future__ import annotations

from itertools import islice

import numpy as np

from dagora.base.phrases import amount
from dagora.effects.all_pairs import AllEffects
from dagora.effects.effect_ranges import EffectRanges
from dagora.posterior.summary.picture import draw_probabilities
from dagora.report.effect_sections import between
from dagora.report.learned import searchable, sentence_list, warnings
from dagora.report.page import Cell, Content, Section, facts, number, page, table, text

MOST_SQUARES = 60  # variables up to which all pairs are drawn
AXES = ("set", "outcome")
MOST_PAIRS = 1000  # in the table
HEAT = (
    "The effect of one standard deviation more of the row's variable on the mean of the column's, in its "
    "standard deviations, averaged over graphs: blue raises it, red lowers it. Where graphs disagree on a "
    "direction, both squares are pale."
)

OF_ALL = (
    "The effect of one standard deviation more of the row's variable on the mean of the column's, in its "
    "standard deviations: of all graphs of the class, the one nearest to zero. White: some say zero, or they "
    "disagree on the sign."
)


def all_effects_page(found: AllEffects, source: str | None = None) -> str:
    """A whole HTML document about the effects of all pairs."""
    size = len(found.names)
    lead = facts([("variables", number(size)), ("pairs", number(size * (size - 1)))])
    lead = f"<p>{text(f'Averaged over {found.source}.')}</p>{lead}"
    sections = [*warnings(found.notes), *heat_sections(found), pair_section(found)]
    sections.append(Section("Assumed", sentence_list(found.assumptions)))
    return page(f"All effects in {source}" if source else "The effects of all pairs", lead, sections)


def effect_ranges_page(found: EffectRanges, source: str | None = None) -> str:
    """A whole HTML document about the effects of all pairs over a class of graphs."""
    size = len(found.names)
    lead = facts([("variables", number(size)), ("rows", number(found.moments.n))])
    lead = f"<p>Over all graphs of a class, each effect adjusted for the parents of the cause.</p>{lead}"
    spread = np.sqrt(np.diag(found.moments.scatter))
    nearest = np.where(np.abs(found.least) < np.abs(found.greatest), found.least, found.greatest)
    nearest = np.where(found.least * found.greatest > 0, nearest, 0.0) * spread[:, None] / spread
    drawing = draw_probabilities(found.names, nearest, what="effect, in sd", axes=AXES, signed=True)
    heat = f'<div class="canvas shaded">{drawing}</div><p class="soft">{text(OF_ALL)}</p>'
    rows: list[list[Content]] = [
        [
            found.names[i],
            found.names[j],
            float(found.least[i, j]),
            float(found.greatest[i, j]),
            Cell(between(found.low[i, j], found.high[i, j]), float(found.low[i, j])),
            int(found.choices[i]),
            int(found.zeros[i, j]),
        ]
        for i, j in islice(found.pairs(), MOST_PAIRS)
    ]
    head = ("set", "outcome", "least", "greatest", "all 95 % intervals", "choices of parents", "zero in")
    sections = [
        *warnings(found.notes),
        *([Section("How large at least", heat)] if size <= MOST_SQUARES else []),
    ]
    sections.append(
        Section("Pairs", searchable(table(head, rows, sortable=True)) + left_out(size, len(rows)))
    )
    sections.append(Section("Assumed", sentence_list(found.assumptions)))
    return page(f"All effects in {source}" if source else "The effects of all pairs", lead, sections)


def left_out(size: int, shown: int) -> str:
    """A line about the pairs that a table does not have."""
    left = size * (size - 1) - shown
    return f'<p class="soft">… and {amount(left, "weaker pair")}.</p>' if left > 0 else ""


def heat_sections(found: AllEffects) -> list[Section]:
    """The effects and the probabilities of causes as squares."""
    if len(found.names) > MOST_SQUARES:
        words = f"{amount(len(found.names), 'variable')} are too many to draw all pairs: see the table."
        return [Section("All pairs", f"<p>{text(words)}</p>")]
    effects = draw_probabilities(
        found.names, np.nan_to_num(found.standardised), what="effect, in sd", axes=AXES, signed=True
    )
    causes = draw_probabilities(found.names, found.cause_probability, what="probability", axes=AXES)
    return [
        Section("How large", f'<div class="canvas shaded">{effects}</div><p class="soft">{text(HEAT)}</p>'),
        Section("Which is a cause of which", f'<div class="canvas shaded">{causes}</div>'),
    ]


def cause_and_outcome(found: AllEffects, x: str, y: str) -> tuple[str, str]:
    """The variable that is set and the outcome, in words."""
    contrast = found.contrasts.get((x, y))
    if contrast is None:
        return x, y
    cause, _, _ = contrast.to_text().partition(", on ")
    return cause, contrast.outcome


def pair_section(found: AllEffects) -> Section:
    """The pairs in a table, what matters most first."""
    sizes = found.standardised
    place = {name: rank for rank, name in enumerate(found.names)}
    rows: list[list[Content]] = [
        [
            *cause_and_outcome(found, x, y),
            Cell(str(one).replace("-", "−"), one.value),
            float(sizes[place[x], place[y]]),
            Cell(f"{chance:.2f}", chance),
        ]
        for x, y, one, chance in islice(found.pairs(), MOST_PAIRS)
    ]
    unit = "effect" if found.contrasts else "effect of one unit"
    head = ("set", "outcome", f"{unit}, 95 % interval", "in sd", "P(cause)")
    note = left_out(len(found.names), len(rows))
    return Section("Pairs", searchable(table(head, rows, sortable=True)) + note)
