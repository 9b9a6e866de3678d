"""All methods, samplers and scores as a user sees them: a table, the details of one, and JSON."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal, overload

from dagora.base.options import Option, find_in_any_case
from dagora.base.wording import render
from dagora.learners import registry as method_registry
from dagora.learners.method import Method
from dagora.posterior import registry as samplers
from dagora.posterior.registry import Sampler
from dagora.scores import registry
from dagora.scores.registry import Score

KindOfEntry = Literal["method", "sampler", "score"]
# The headings of each kind's rows in the table.
HEADINGS: dict[KindOfEntry, tuple[str, str, str]] = {
    "method": ("Methods", "takes", "promise"),
    "sampler": ("Samplers", "takes", "promise"),
    "score": ("Scores", "columns", "summary"),
}
WHERE_CODE_IS = frozenset({"learner", "sampler", "factory"})
NAME_WIDTH, GIVEN_WIDTH, NARROWEST = 16, 13, 60  # characters: of columns, and of the narrowest screen


@dataclass(frozen=True, repr=False)
class Entry:
    """A method, sampler or score, with its options, promise and reference.

    >>> entry = methods("tabu")
    >>> entry.kind, entry.takes, entry.reference, entry.options[0].name
    ('method', 'any score', 'Glover 1989', 'length')
    >>> entry.to_dict()["options"][0]["default"]
    100
    """

    item: Method | Sampler | Score

    @property
    def kind(self) -> KindOfEntry:
        """The kind: method, sampler or score."""
        if isinstance(self.item, Method):
            return "method"
        return "sampler" if isinstance(self.item, Sampler) else "score"

    @property
    def name(self) -> str:
        """The name to call it by."""
        return self.item.name

    @property
    def summary(self) -> str:
        """A short description."""
        return self.item.summary

    @property
    def reference(self) -> str:
        """The publications it comes from."""
        return self.item.reference

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options: name, type, default, range and meaning."""
        return self.item.options

    @property
    def takes(self) -> str:
        """The input, in words."""
        if isinstance(self.item, Method):
            return render(self.item.takes_in_words)
        if isinstance(self.item, Sampler):
            return f"any score but {', '.join(samplers.REFUSED)}"
        return f"{self.item.kind} columns"

    @property
    def promise(self) -> str:
        """The guarantee; for a score, whether equivalent graphs score the same."""
        if isinstance(self.item, Score):
            return (
                f"equivalent graphs {'score the same' if self.item.equivalent else 'may score differently'}"
            )
        return self.item.promise

    @property
    def row(self) -> tuple[str, str, str]:
        """Its row in the table: name, what it is given, and what it promises."""
        if isinstance(self.item, Score):
            return self.name, str(self.item.kind), self.summary
        return self.name, self.item.takes if isinstance(self.item, Method) else "score", self.item.promise

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        return {key: value for key, value in asdict(self.item).items() if key not in WHERE_CODE_IS}

    def __repr__(self) -> str:
        lines = [f"{self.kind} {self.name}: {self.summary}"]
        if isinstance(self.item, Score):
            lines += [f"  columns    {self.item.kind}", f"  {self.promise}"]
        elif isinstance(self.item, Sampler):
            lines += [f"  promises   {self.promise}"]
        else:
            lines += [f"  takes      {self.takes}", f"  promises   {self.promise}"]
            lines += [f"  obeys      {', '.join(self.item.obeys)}"]
            lines += [f"  needs      {need.title}: {need.remedy}" for need in self.item.needs]
        lines += [f"  reference  {self.reference}", "  options"]
        lines += [
            f"    {option.name:13} {option.type:6} default {option.default_text:8} {render(option.meaning)}"
            for option in self.options
        ] or ["    none"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = (
            f"<p><b>{escape(self.name)}</b> ({self.kind}): {escape(self.summary)}<br>"
            f"takes: {escape(self.takes)}<br>promises: {escape(self.promise)}<br>"
            f"reference: {escape(self.reference)}</p>"
        )
        rows = [
            (option.name, option.type, option.default_text, render(option.meaning)) for option in self.options
        ]
        return head + html_table(("option", "type", "default", "meaning"), rows)


class Catalogue(Sequence[Entry]):
    """Methods, samplers and scores, in a table when shown; an entry is found by name or position.

    >>> everything = methods()
    >>> [entry.name for entry in everything.samplers], everything["bdeu"].options[0].name
    (['partition', 'order', 'exact', 'dibs', 'dibs-neural'], 'ess')
    >>> "hill-climb" in everything, "zebra" in everything
    (True, False)
    >>> everything.scores["k2"].takes, everything["k2"].kind
    ('discrete columns', 'method')
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)

    @property
    def methods(self) -> Catalogue:
        """The methods, for `learn`."""
        return self._of("method")

    @property
    def samplers(self) -> Catalogue:
        """The samplers, for `sample`."""
        return self._of("sampler")

    @property
    def scores(self) -> Catalogue:
        """The scores."""
        return self._of("score")

    def _of(self, kind: KindOfEntry) -> Catalogue:
        return Catalogue(entry for entry in self._entries if entry.kind == kind)

    def entries_named(self, name: str) -> list[Entry]:
        """All entries of a name: a method and a score may share one, as k2 does."""
        found = find_in_any_case("method, sampler or score", name, {entry.name: entry for entry in self})
        return [entry for entry in self if entry.name == found.name]

    @overload
    def __getitem__(self, key: int | str) -> Entry: ...
    @overload
    def __getitem__(self, key: slice) -> Catalogue: ...
    def __getitem__(self, key: int | str | slice) -> Entry | Catalogue:
        if isinstance(key, slice):
            return Catalogue(self._entries[key])
        return self._entries[key] if isinstance(key, int) else self.entries_named(key)[0]

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return any(key in {entry, entry.name} for entry in self._entries)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """JSON form: the entries under "methods", "samplers" and "scores"."""
        return {f"{kind}s": [entry.to_dict() for entry in self._of(kind)] for kind in HEADINGS}

    def __repr__(self) -> str:
        width = max(NARROWEST, shutil.get_terminal_size((100, 24)).columns)
        blocks = []
        for kind, headings in HEADINGS.items():
            if entries := self._of(kind):
                rows = [headings, *((f"  {name}", *rest) for name, *rest in (entry.row for entry in entries))]
                blocks.append("\n".join(text_row(row, width) for row in rows))
        return "\n\n".join([*blocks, 'methods("NAME") shows one with its options.'])

    def _repr_html_(self) -> str:
        return "".join(
            html_table(headings, [entry.row for entry in entries])
            for kind, headings in HEADINGS.items()
            if (entries := self._of(kind))
        )


@overload
def methods(name: str) -> Entry: ...
@overload
def methods(name: None = None) -> Catalogue: ...
def methods(name: str | None = None) -> Entry | Catalogue:
    """List all methods, samplers and scores with their guarantees, or show one with its options.

    Parameters
    ----------
    name : str, optional
        Name of a method, sampler or score; all of them by default.

    Returns
    -------
    Catalogue or Entry
        All entries, to be looked up by name or position; or the entry of that name.

    Examples
    --------
    >>> import dagora
    >>> dagora.methods()
    Methods         takes        promise
      auto          score        scores at least as well ...
    >>> dagora.methods("bdeu")
    score bdeu: marginal likelihood, uniform Dirichlet prior
      columns    discrete
      equivalent graphs score the same
      reference  Heckerman, Geiger & Chickering 1995
      options
        ess           float  default 1.0      equivalent sample size of the prior
    """
    # Read now and not on import: a user may have registered a method of their own.
    items = (*method_registry.METHODS, *samplers.SAMPLERS, *registry.SCORES)
    everything = Catalogue(Entry(item) for item in items)
    return everything if name is None else everything[str(name)]


def text_row(cells: Sequence[str], width: int) -> str:
    """One row of the table; its last cell is wrapped to fit the width."""
    name, given, last = cells
    indent = NAME_WIDTH + GIVEN_WIDTH
    wrapped = textwrap.fill(last, width - indent, break_on_hyphens=False).replace("\n", "\n" + " " * indent)
    return f"{name:{NAME_WIDTH}}{given:{GIVEN_WIDTH}}{wrapped}"


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook."""
    lines = [("th", headings), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) for tag, line in lines)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in cells) + "</table>"
