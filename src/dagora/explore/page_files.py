"""The files of the page: its own, and the ones that it shares with reports, which are the same files.

Fields for reading options are made from their declarations, in the words of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

from dagora.data.columns.reading_options import ReadingOption, select_options
from dagora.explore.page_words import CHOICES, TITLES, UNSET

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
SCRIPTS = (
    "app api columns dom edges effects estimates methods picture questions results run so_far tables tiers"
)
OWN = ("explore.css", *(f"{name}.js" for name in SCRIPTS.split()))
SHARED = {"report.css": "page.css", "graph_view.css": "graph_view.css", "graph_view.js": "graph_view.js"}
"""Files of `dagora.report`, under the names that the page gives them."""

FIELDS = re.compile("<!-- reading: (.*?) -->")


@dataclass(frozen=True)
class PageFile:
    """A file for the browser."""

    content: bytes
    type: str


@cache
def page_file(name: str) -> PageFile | None:
    """A file by its name, which is looked up and never made into a path; None where there is no such file."""
    if name in SHARED:
        place = files("dagora.report").joinpath(SHARED[name])
    elif name in OWN or name == "page.html":
        place = files("dagora.explore").joinpath("page", name)
    else:
        return None
    ending = name[name.rindex(".") :]
    content = place.read_text("utf-8")
    if ending == ".html":
        content = fill_fields(content)
    return PageFile(content.encode(), f"{TYPES[ending]}; charset=utf-8")


def fill_fields(page: str) -> str:
    """The page with fields in the place of the comments that list reading options."""
    return FIELDS.sub(lambda found: "\n".join(map(field_of, found[1].split())), page)


def field_of(name: str) -> str:
    """The field of a reading option, with what stands before it and a tooltip.

    >>> print(field_of("join"))
    <label title="Columns in which ...">
    <input id="join" type="checkbox"> join levels that differ only in case</label>
    """
    (entry,) = select_options([name], missing="auto")
    title, what = escape(TITLES[name]), escape(entry.help)
    if entry.type == "names":
        return f'<label title="{what}">\n<input id="{name}" type="checkbox"> {title}</label>'
    hidden = f' id="{name}-label" hidden' if entry.type == "integer" else ""
    return f'<label{hidden} title="{what}">{title}\n{input_of(entry)}</label>'


def input_of(entry: ReadingOption) -> str:
    """The list, number or text field of an option."""
    if entry.type == "integer":
        return f'<input id="{entry.name}" type="number" min="{entry.low}" value="{entry.low}" class="short">'
    if entry.name not in CHOICES:
        unset = UNSET.get(entry.name, entry.default)
        return f'<input id="{entry.name}" type="text" placeholder="{unset}" class="words">'
    choices = {entry.default or "": UNSET[entry.name], **CHOICES[entry.name]}
    listed = "".join(
        f'<option value="{escape(value)}">{escape(words)}</option>' for value, words in choices.items()
    )
    return f'<select id="{entry.name}">{listed}</select>'
