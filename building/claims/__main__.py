"""Write the tables and pictures of docs/papers/index.md: `python -m building.claims`.

Verdicts and numbers are computed from the cells and tables that lie beside the pages of docs/reproductions.
The page's own words stay as they are; what stands between `<!-- claims: NAME -->` and `<!-- end -->` is
written anew.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

from building.claims import admm, gpn, notears, private_k2, rbnets
from building.claims.costs import costs
from building.claims.row import FAILS, HEADING, HOLDS, OPEN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers" / "index.md"
PAPERS: dict[str, ModuleType] = {
    "notears": notears,
    "admm": admm,
    "gpn": gpn,
    "private-k2": private_k2,
    "rbnets": rbnets,
}


def markdown(heading: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """A table."""
    ruler = "|" + "---|" * len(heading)
    return "\n".join([f"| {' | '.join(heading)} |", ruler, *(f"| {' | '.join(line)} |" for line in lines)])


def claims_of(name: str) -> str:
    """The picture and the table of a paper."""
    found = PAPERS[name].rows()
    return f"![{name}](claims-{name}.svg)\n\n{markdown(HEADING, [row.cells() for row in found])}"


def overview() -> str:
    """How many claims of each paper hold, fail or cannot be told; comparisons of our own are left out."""
    lines = []
    for name, paper in PAPERS.items():
        verdicts = [row.verdict for row in paper.rows() if not row.claim.startswith("(not in the paper)")]
        kinds = [kind_of(verdict) for verdict in verdicts]
        counts = (str(kinds.count(kind)) for kind in KINDS)
        lines.append((f"[{TITLES[name]}](#claims-of-{name})", *counts))
    return markdown(("paper", *KINDS), lines)


TITLES = {
    "notears": "NO TEARS",
    "admm": "ADMM over sites",
    "gpn": "Gaussian-process networks",
    "private-k2": "Private K2",
    "rbnets": "RBNets",
}
KINDS = ("holds", "in part", "fails", "cannot be told", "other")


def kind_of(verdict: str) -> str:
    """The kind of a verdict.

    >>> kind_of("holds: by much"), kind_of("holds on ER2; **fails** on SF4"), kind_of("measured")
    ('holds', 'in part', 'other')
    """
    said = {word for word in (HOLDS, FAILS, OPEN) if word in verdict}
    if not said:
        return "other"
    if len(said) > 1:
        return "in part"
    return said.pop().strip("*")


def written(page: str) -> str:
    """The page with all parts written anew."""

    def part(match: re.Match[str]) -> str:
        name = match[1]
        content = overview() if name == "overview" else costs() if name == "costs" else claims_of(name)
        return f"<!-- claims: {name} -->\n\n{content}\n\n<!-- end -->"

    return re.sub(r"<!-- claims: ([\w-]+) -->.*?<!-- end -->", part, page, flags=re.DOTALL)


def main() -> None:
    """Write the page and its pictures."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, paper in PAPERS.items():
        (PAGE.parent / f"claims-{name}.svg").write_text(paper.picture(), encoding="utf-8")
    print(f"written: {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
