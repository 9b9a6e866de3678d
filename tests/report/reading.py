"""A reader of HTML that knows what is open, and fails where the page is not well formed."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br"}


@dataclass
class Page(HTMLParser):
    """Texts by the tags around them, attributes of all tags; refuses tags that are not closed in order."""

    open: list[str] = field(default_factory=list)
    texts: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def within(self, *tags):
        """All text inside these tags."""
        return [data for around, data in self.texts if set(tags) <= set(around) and data.strip()]


def read(content: str) -> Page:
    page = Page()
    page.feed(content)
    page.close()
    assert page.open == [], "a tag is not closed"
    return page


def table_under(page: Page, *head: str) -> list[list[str]]:
    """Rows below the heading that begins like this."""
    start = next(k for k, row in enumerate(page.rows) if tuple(row[: len(head)]) == head)
    width = len(page.rows[start])
    heads = {k for k, row in enumerate(page.rows) if k > start and len(row) != width}
    return page.rows[start + 1 : min(heads, default=len(page.rows))]
