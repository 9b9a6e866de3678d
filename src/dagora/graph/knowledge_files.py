"""Knowledge from wherever it is given: a file of JSON or CSV, a mapping, or nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dagora.base.errors import KnowledgeError
from dagora.base.files import PathLike, naming, read_text
from dagora.base.parsing import parse_json
from dagora.base.wording import bare_names
from dagora.graph.expert_opinions import parse_opinions
from dagora.graph.knowledge import Knowledge

LOOKS_LIKE = '{"required": [["a", "b"]], "forbidden": [["b", "c"]], "tiers": [["a"], ["b", "c"]]}'


def read_knowledge(path: PathLike) -> Knowledge:
    """Read knowledge about the graph from a JSON file, or opinions of experts from a CSV file.

    Parameters
    ----------
    path : path
        A file of JSON with any of `required`, `forbidden`, `tiers`, `max_parents`, `roots`, `leaves`,
        `causes`, `not_causes`, `prior` and `prior_adjacent` (docs/knowledge.md); or a `.csv` file with the
        columns from, to, probability.

    Returns
    -------
    Knowledge

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "knowledge.json")
    ...     _ = file.write_text('{"required": [["a", "b"]], "max_parents": 2}')
    ...     read_knowledge(file).required
    (('a', 'b'),)
    """
    if not isinstance(path, str | os.PathLike):
        raise KnowledgeError(
            "knowledge is a Knowledge, a mapping with required, forbidden, tiers or max_parents, or the name "
            f"of a JSON file, not a {type(path).__name__}"
        )
    text = read_text(path, error=KnowledgeError)
    with naming(path):
        if str(path).lower().endswith(".csv"):
            return Knowledge.from_dict(parse_opinions(text))
        try:
            content = parse_json(text, error=KnowledgeError)
        except KnowledgeError as error:
            raise error.with_text(f"{error.text}; knowledge looks like {LOOKS_LIKE}") from None
        try:
            return Knowledge.from_dict(content)
        except KnowledgeError as error:
            raise error.with_text(bare_names(error.text)) from None


def as_knowledge(
    knowledge: Knowledge | Mapping[str, Any] | PathLike | None, max_parents: int | None
) -> Knowledge:
    """Return the knowledge, or an empty one, with the smaller of its own parent limit and `max_parents`."""
    if knowledge is None:
        known = Knowledge()
    elif isinstance(knowledge, Knowledge):
        known = knowledge
    elif isinstance(knowledge, Mapping):
        known = Knowledge.from_dict(knowledge)
    else:
        known = read_knowledge(knowledge)
    if max_parents is None:
        return known
    Knowledge(max_parents=max_parents)  # refuses a limit that is not valid
    limit = max_parents if known.max_parents is None else min(max_parents, known.max_parents)
    return replace(known, max_parents=limit)
