"""The report of a reproduction: tables, pictures and notes, as one Markdown page with its files beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagora.base.files import write_whole
from dagora.papers.tables import ResultTable


@dataclass(frozen=True)
class Report:
    """Tables, pictures (SVG by a short name) and what a reader must know to judge them."""

    title: str
    tables: tuple[ResultTable, ...]
    pictures: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON form, without the pictures."""
        return {
            "title": self.title,
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
        }


def page(report: Report, *, command: str, stem: str, size: str, missing: str = "") -> str:
    """Write a report as Markdown, ready to be pasted into a document; the first line states its size.

    `missing` says what is not measured.
    """
    parts = [f"## {report.title} ({size}{f'; {missing}' if missing else ''})", f"`{command}`"]
    if missing:
        parts.append(f"**Incomplete: {missing}.**")
    for table in report.tables:
        parts += [f"### {table.title}"] * (len(report.tables) > 1) + [table.to_markdown()]
    parts += [f"![{name}]({picture_name(stem, name)})" for name in report.pictures]
    parts += ["\n".join(f"- {note}" for note in report.notes)] * bool(report.notes)
    return "\n\n".join(parts) + "\n"


def write_report(
    report: Report, folder: Path, stem: str, *, command: str, size: str, missing: str = ""
) -> list[Path]:
    """Write a page, a CSV file per table and an SVG file per picture, each whole or not at all."""
    files: dict[Path, str] = {}
    for table in report.tables:
        name = f"{stem}.csv" if len(report.tables) == 1 else f"{stem}-{table.name}.csv"
        files[folder / name] = table.to_csv()
    for name, picture in report.pictures.items():
        files[folder / picture_name(stem, name)] = picture
    files[folder / f"{stem}.md"] = page(report, command=command, stem=stem, size=size, missing=missing)
    for path, content in files.items():
        write_whole(path, content)
    return list(files)


def paragraphs(text: str) -> tuple[str, ...]:
    r"""Cut a text at its empty lines and unwrap each paragraph.

    >>> paragraphs("One\ntwo.\n\nThree.")
    ('One two.', 'Three.')
    """
    return tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip())


def picture_name(stem: str, name: str) -> str:
    """File name of a picture.

    >>> picture_name("notears-fig3", "shd")
    'notears-fig3-shd.svg'
    """
    return f"{stem}-{name}.svg"
