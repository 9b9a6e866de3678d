"""Original names in a BIF file: a network in words that every reader reads, and back.

The words are those of `bif_words`. A variable with one level gets a second one of probability 0, because
pyAgrum reads no other and bnlearn leaves the variable out. Where something was changed, a comment in the
block keeps the original as JSON in ASCII:

    // original name: "blood pressure"
    // original levels: ["(-inf, 0.5]", "(0.5, inf)"]

A comment in the block of the network keeps what the parameters rest on, in the same way:

    // origin: {"n_rows": 812, ...}

All readers skip comments. Ours takes all this from them, so that a network survives its file unchanged.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dagora.base.errors import FormatError
from dagora.base.parsing import parse_json
from dagora.formats.bif_words import level_words, network_words, variable_words
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from dagora.network.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Spelling = Callable[[Sequence[str]], list[str]]

NEVER = "never"
"""The level that is added to a single one."""

COMMENT = re.compile(r"// original (name|levels): (.*)")

ORIGIN = "// origin: "


@dataclass
class Originals:
    """The original texts behind words: the network's name, names of variables, and their levels."""

    network: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_changes(self) -> bool:
        """Return True if any word differs from its original."""
        return self.network is not None or bool(self.names or self.levels)

    def texts(self, word: str | None) -> list[str]:
        """The originals of a variable, or of the network (None), as lines of text."""
        name = self.network if word is None else self.names.get(word)
        return [
            *([] if name is None else [f"original name: {json.dumps(name)}"]),
            *([f"original levels: {json.dumps(self.levels[word])}"] if word in self.levels else []),
        ]

    def comments(self, word: str | None) -> list[str]:
        """The comment lines of a variable, or of the network (None)."""
        return [f"  // {text}" for text in self.texts(word)]

    def take(self, word: str | None, texts: Iterable[str], declared: tuple[str, ...]) -> None:
        """Take the originals of a variable, or of the network (None), from texts; others are skipped."""
        for text in texts:
            found = parse_original(f"// {text.strip()}")
            if isinstance(found, tuple) and word is not None:
                check_levels(word, found, declared)
                self.levels[word] = found
            elif isinstance(found, str) and word is not None:
                self.names[word] = found
            elif isinstance(found, str):
                self.network = found


def origin_comment(origin: Origin | None) -> list[str]:
    """The comment line with what the parameters rest on, if it is known."""
    return [] if origin is None else [f"  {ORIGIN}{json.dumps(origin.to_dict())}"]


def parse_origin(comment: str, network: DiscreteNetwork) -> Origin:
    """Read the comment that says what the parameters of a network rest on."""
    return Origin.from_dict(parse_json(comment.removeprefix(ORIGIN)), network.graph, network.levels)


def in_words(
    network: DiscreteNetwork,
    variables: Spelling = variable_words,
    levels_of: Spelling = level_words,
    network_name: Spelling = network_words,
    *,
    second_levels: bool = True,
) -> tuple[DiscreteNetwork, Originals]:
    """Write a network in the words of a format; return it with what they stand for.

    `second_levels` gives a variable with one level a second one of probability 0.

    >>> one = DiscreteNetwork(DAG(["a b"]), {"a b": ("x, y",)}, {"a b": np.ones(1)}, "n")
    >>> plain, originals = in_words(one)
    >>> plain.levels, plain.tables["a_b"].tolist(), originals.names
    ({'a_b': ('x_y', 'never')}, [1.0, 0.0], {'a_b': 'a b'})
    """
    graph = network.graph
    (name,) = network_name([network.name])
    word = dict(zip(graph.nodes, variables(graph.nodes), strict=True))
    originals = Originals(None if name == network.name else network.name)
    levels: dict[str, tuple[str, ...]] = {}
    for node in graph:
        given = tuple(network.levels[node])
        spelled = levels_of(given)
        alone = second_levels and len(given) == 1
        added = [NEVER if spelled[0] != NEVER else f"{NEVER}_2"] if alone else []
        levels[word[node]] = (*spelled, *added)
        if word[node] != node:
            originals.names[word[node]] = node
        if levels[word[node]] != given:
            originals.levels[word[node]] = given
    tables = {
        word[node]: _with_second_levels(network.tables[node]) if second_levels else network.tables[node]
        for node in graph
    }
    edges = [(word[tail], word[head]) for tail, head in graph.edges]
    return DiscreteNetwork(DAG(levels, edges), levels, tables, name), originals


def from_words(network: DiscreteNetwork, originals: Originals) -> DiscreteNetwork:
    """Undo `in_words`."""
    graph = network.graph
    name = {node: originals.names.get(node, node) for node in graph}
    levels = {node: originals.levels.get(node, network.levels[node]) for node in graph}
    tables = {}
    for node in graph:
        family = (*graph.parents(node), node)
        kept = tuple(slice(len(levels[member])) for member in family)
        tables[name[node]] = np.ascontiguousarray(network.tables[node][kept])
    return DiscreteNetwork(
        DAG(name.values(), [(name[tail], name[head]) for tail, head in graph.edges]),
        {name[node]: levels[node] for node in graph},
        tables,
        network.name if originals.network is None else originals.network,
    )


def restored(network: DiscreteNetwork, originals: Originals) -> DiscreteNetwork:
    """The network with its original names, where words stand in their place."""
    return from_words(network, originals) if originals.has_changes else network


def parse_original(comment: str) -> str | tuple[str, ...] | None:
    """Read a comment that keeps a name or levels; None for any other comment.

    >>> parse_original('// original levels: ["x, y", "z"]'), parse_original("// original sin")
    (('x, y', 'z'), None)
    """
    found = COMMENT.fullmatch(comment.rstrip())
    if found is None:
        return None
    try:
        content = parse_json(found[2])
    except FormatError:
        content = None
    if found[1] == "name" and isinstance(content, str):
        return content
    if found[1] == "levels" and isinstance(content, list) and all(isinstance(x, str) for x in content):
        return tuple(content)
    raise FormatError(f"the comment with the original {found[1]} is damaged: mend or remove it")


def check_levels(word: str, originals: tuple[str, ...], declared: tuple[str, ...]) -> None:
    """Refuse original levels that do not fit those of the file."""
    fits = len(originals) == len(declared) or (len(originals) == 1 and len(declared) == 2)
    if not fits or len(set(originals)) < len(originals):
        raise FormatError(
            f"'{word}' has {len(declared)} levels, but the comment with the original ones lists "
            f"{len(set(originals))} different ones: mend or remove it"
        )


def _with_second_levels(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give every axis of length 1 a second entry: the same row for a parent, 0 for the variable itself."""
    own = table.ndim - 1
    for axis, length in enumerate(table.shape):
        if length == 1:
            added = np.zeros_like(table) if axis == own else table
            table = np.concatenate([table, added], axis=axis)
    return table
