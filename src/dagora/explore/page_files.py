"""The files of the page: its own, and the ones that it shares with reports, which are the same files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dagora.explore.reading_fields import fill_fields

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
SCRIPTS = (
    "app api columns dom edges effects estimates methods picture questions results run so_far tables tiers"
)
OWN = ("explore.css", *(f"{name}.js" for name in SCRIPTS.split()))
SHARED = {"report.css": "page.css", "graph_view.css": "graph_view.css", "graph_view.js": "graph_view.js"}
"""Files of `dagora.report`, under the names that the page gives them."""


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
