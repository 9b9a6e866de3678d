"""The frame of a report: escaped text, tables, sections, and one HTML document around them.

Whatever comes from data (names, levels, messages) is escaped by `text` or `attribute`. The page's content
security policy forbids it to load or send anything.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dagora.graph.drawing import clean_letters, clean_text

HEADS_IN_NAME = 4  # columns that name a table
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Cell:
    """A cell that is sorted by a value and shows a text."""

    shown: str
    value: float


Content = str | float | Cell | None


@dataclass(frozen=True)
class Section:
    """A part of the page; `body` is HTML."""

    heading: str
    body: str


def text(content: object) -> str:
    """Escape text between tags.

    >>> text("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    return clean_text(str(content))


def attribute(content: object) -> str:
    """Escape and quote the value of an attribute.

    >>> attribute('say "a"')
    '"say &quot;a&quot;"'
    """
    return '"' + html.escape(clean_letters(str(content)), quote=True) + '"'


def number(value: float) -> str:
    """A number for people to read; a dash for NaN.

    >>> number(3), number(-678.91), number(0.12345678), number(float("nan"))
    ('3', '−678.9', '0.1235', '–')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        written = f"{int(value):,}"
    elif 1e3 <= abs(value) < 1e15:
        written = f"{value:,.1f}"
    else:
        written = f"{value:.4g}"
    return written.replace(",", "\u202f").replace("-", "−")


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[Content]],
    *,
    sortable: bool = False,
    about: Sequence[str] | None = None,
) -> str:
    """A table; numbers are aligned to the right and, if it is sortable, sorted as numbers.

    `about` names the variable that each row is about.
    """
    kind = ' class="sortable"' if sortable else ""
    # What scrolls must be in reach of the keyboard, and what is in its reach needs a name.
    name = f"table: {', '.join(filter(None, head[:HEADS_IN_NAME]))}"
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    marks = [""] * len(rows) if about is None else [_mark(name) for name in about]
    lines = (
        f"<tr{mark}>" + "".join(_cell(content) for content in row) + "</tr>"
        for mark, row in zip(marks, rows, strict=True)
    )
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label={attribute(name)}>'
        f"<table{kind}><thead><tr>{top}</tr></thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def _mark(name: str | None) -> str:
    return "" if name is None else f" data-about={attribute(name)}"


def _cell(content: Content) -> str:
    if content is None:
        return "<td></td>"
    if isinstance(content, str):
        return f"<td>{text(content)}</td>"
    shown, value = (content.shown, content.value) if isinstance(content, Cell) else (number(content), content)
    return f'<td class="number" data-value="{float(value)!r}">{text(shown)}</td>'


def facts(named: Sequence[tuple[str, str]]) -> str:
    """A row of names with their values."""
    boxes = (f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in named)
    return '<dl class="facts">' + "".join(boxes) + "</dl>"


def fold(summary: str, body: str, *, opened: bool = False, about: str | None = None) -> str:
    """A part that is folded away until its summary is clicked; it may be about a variable."""
    return f"<details{' open' * opened}{_mark(about)}><summary>{text(summary)}</summary>{body}</details>"


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole document; `lead` is HTML, headings and title are plain text."""
    parts = "\n".join(
        f"<section>\n<h2>{text(section.heading)}</h2>\n{section.body}\n</section>" for section in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{text(title)}</title>
<style>
{_resource("page.css")}
{_resource("graph_view.css")}</style>
</head>
<body>
<header>
<h1>{text(title)}</h1>
{lead}
</header>
<main>
{parts}
</main>
<script>
{_resource("graph_view.js")}
{_resource("page.js")}</script>
</body>
</html>
"""


@cache
def _resource(name: str) -> str:
    return files("dagora.report").joinpath(name).read_text(encoding="utf-8")
