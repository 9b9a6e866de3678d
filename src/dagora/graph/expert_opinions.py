"""Opinions of experts about edges, read from a CSV file: from,to,probability, and perhaps kind.

Several lines about one edge are joined by the mean of their log odds (the logarithmic opinion pool), so that
experts who agree count as one who says the same, and not as surer.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable

from dagora.base.errors import KnowledgeError
from dagora.graph.knowledge_entries import Opinion, log_odds

COLUMNS = ("from", "to", "probability")
KINDS = ("direction", "adjacency")


def parse_opinions(text: str) -> dict[str, list[Opinion]]:
    r"""The entries `prior` and `prior_adjacent` of knowledge, from the text of a CSV file.

    >>> parse_opinions("from,to,probability\na,b,0.8\na,b,0.5\n")
    {'prior': [('a', 'b', 0.6666666666666666)], 'prior_adjacent': []}
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    header = [name.strip().lower() for name in next(reader, [])]
    for name in COLUMNS:
        if name not in header:
            raise KnowledgeError(
                f"a file of opinions has the columns {', '.join(COLUMNS)} (and perhaps kind: "
                f"{' or '.join(KINDS)}): '{name}' is missing"
            )
    place = {name: header.index(name) for name in (*COLUMNS, "kind") if name in header}
    found: dict[str, dict[tuple[str, ...], list[float]]] = {"prior": {}, "prior_adjacent": {}}
    for number, row in enumerate(reader, start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(place.values()):
            raise KnowledgeError(f"line {number} has {len(row)} cells, and the header has {len(header)}")
        tail, head, said = (row[place[name]].strip() for name in COLUMNS)
        kind = row[place["kind"]].strip().lower() if "kind" in place else KINDS[0]
        if kind not in KINDS:
            raise KnowledgeError(f"line {number}: kind is {' or '.join(KINDS)}, not '{kind}'")
        try:
            chance = float(said)
        except ValueError:
            chance = math.nan
        if not 0 < chance < 1:
            raise KnowledgeError(
                f"line {number}: the probability is a number between 0 and 1, without them, not '{said}'"
            )
        directed = kind == KINDS[0]
        pair = (tail, head) if directed else tuple(sorted((tail, head)))
        found["prior" if directed else "prior_adjacent"].setdefault(pair, []).append(chance)
    return {
        key: [(pair[0], pair[1], pooled(chances)) for pair, chances in entries.items()]
        for key, entries in found.items()
    }


def pooled(chances: Iterable[float]) -> float:
    """The probability whose log odds are the mean of those of some probabilities.

    >>> pooled([0.8]), round(pooled([0.9, 0.1]), 9)
    (0.8, 0.5)
    """
    listed = list(chances)
    if len(set(listed)) == 1:
        return listed[0]
    mean = sum(map(log_odds, listed)) / len(listed)
    return 1 / (1 + math.exp(-mean))
