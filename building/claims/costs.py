"""The CPU hours that each item took, as far as its files tell."""

from __future__ import annotations

from pathlib import Path

from building.claims.row import FOLDER, hours_of, kept_lines, table

from dagora.papers.registry import ITEMS

# Items whose CPU seconds stand in a table: its name, the column, and the column of how often they were spent.
IN_TABLES = {
    "admm/fig4": ("admm-fig4-fig4", "CPU s", "runs"),
    "admm/dynamic": ("admm-dynamic-within", "CPU s", "runs"),
    "private-k2/scaling": ("private-k2-scaling", "CPU s", ""),
    "private-k2/published": ("private-k2-published-protocol", "CPU s", ""),
}


def costs() -> str:
    """A table of all items."""
    lines, unknown = ["| item | size | CPU hours | from |", "|---|---|---|---|"], []
    for item in ITEMS:
        stem = item.name.replace("/", "-")
        first = (FOLDER / f"{stem}.md").read_text(encoding="utf-8").splitlines()[0]
        size = first.rpartition(" size: ")[2].rstrip(")")
        known = hours_and_source(item.name)
        if known is None:
            unknown.append(f"`{item.name}`")
        else:
            lines.append(f"| `{item.name}` | {size} | {' | '.join(known)} |")
    return "\n".join(lines) + f"\n\nNot kept: {', '.join(unknown)}."


def hours_and_source(name: str) -> tuple[str, str] | None:
    """The hours of an item, and where they are from."""
    stem = name.replace("/", "-")
    if kept_lines(stem):
        return as_hours(hours_of(stem)), "kept cells"
    if name not in IN_TABLES:
        return None
    file, column, often = IN_TABLES[name]
    spent = [
        float(row[column]) * (int(row[often]) if often else 1)
        for row in table(file)
        if row[column] and (not often or row[often])
    ]
    return as_hours(sum(spent) / 3600), f"[CSV](../reproductions/{Path(file).name}.csv)"


def as_hours(hours: float) -> str:
    """Hours as people read them.

    >>> as_hours(0.004), as_hours(0.26)
    ('< 0.05', '0.3')
    """
    return "< 0.05" if hours < 0.05 else f"{hours:.1f}"
