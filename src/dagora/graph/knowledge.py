"""Prior knowledge: required and forbidden edges, tiers, and a limit on the number of parents.

Every learner obeys a `Knowledge` or refuses it with a message that names what it cannot obey. Tiers are
groups of variables in temporal order: an edge may not lead from a later tier to an earlier one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.base.files import PathLike, naming, read_text
from dagora.base.parsing import parse_json
from dagora.base.phrases import among, nearest
from dagora.base.wording import bare_names, option
from dagora.graph.dag import DAG, Edge, cycle_in_words

LOOKS_LIKE = '{"required": [["a", "b"]], "forbidden": [["b", "c"]], "tiers": [["a"], ["b", "c"]]}'


@dataclass(frozen=True)
class Knowledge:
    """Required and forbidden edges, tiers, and the largest number of parents.

    >>> Knowledge(required=[("a", "b")], forbidden=[("a", "b")])
    Traceback (most recent call last):
    dagora.KnowledgeError: the edge a → b is both required and forbidden: keep it in one of them
    >>> Knowledge(tiers=[["age"], ["dose", "effect"]]).allows("dose", "age")
    False
    """

    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", pairs("required", self.required))
        object.__setattr__(self, "forbidden", pairs("forbidden", self.forbidden))
        object.__setattr__(self, "tiers", groups(self.tiers))
        self._check()

    def _check(self) -> None:
        mentions = Counter(name for tier in self.tiers for name in tier)
        for name, count in mentions.items():
            if count > 1:
                raise KnowledgeError(f"'{name}' is in two tiers: keep it in one of them")
        limit = self.max_parents
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise KnowledgeError(option="max_parents", value=limit, must="be a whole number, 0 or more")
        for tail, head in self.required:
            if (tail, head) in self._forbidden:
                raise KnowledgeError(
                    f"the edge {tail} → {head} is both required and forbidden: keep it in one of them"
                )
            if not self.allows(tail, head):
                raise KnowledgeError(
                    f"the required edge {tail} → {head} leads from a later tier to an earlier one: "
                    "change the edge or the tiers"
                )
        self._refuse_cycles()
        for name, number in Counter(head for _, head in dict.fromkeys(self.required)).items():
            if limit is not None and number > limit:
                raise KnowledgeError(
                    f"'{name}' has {number} required parents, but {option('max_parents')} is {limit}"
                )

    def _refuse_cycles(self) -> None:
        """Refuse required edges with a cycle; a matrix of all that are named could fill the memory."""
        parents: dict[str, list[str]] = {name: [] for edge in self.required for name in edge}
        for tail, head in self.required:
            parents[head].append(tail)
        try:
            TopologicalSorter(parents).prepare()
        except CycleError as found:
            raise KnowledgeError(
                f"the required edges cannot all be there: {cycle_in_words(found.args[1])}; "
                "leave out one of these edges"
            ) from None

    @property
    def is_empty(self) -> bool:
        """Return True if nothing is known.

        >>> Knowledge().is_empty, Knowledge(max_parents=2).is_empty
        (True, False)
        """
        return not (self.required or self.forbidden or self.tiers) and self.max_parents is None

    @property
    def directs(self) -> bool:
        """True if it may direct an edge.

        >>> Knowledge(tiers=[["a"], ["b"]]).directs, Knowledge(max_parents=2).directs
        (True, False)
        """
        return bool(self.required or self.forbidden or self.tiers)

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The variables that it names, each once.

        >>> Knowledge(required=[("a", "b")], tiers=[["b"], ["c"]]).mentioned
        ('a', 'b', 'c')
        """
        edges = (name for edge in (*self.required, *self.forbidden) for name in edge)
        return tuple(dict.fromkeys((*edges, *(name for tier in self.tiers for name in tier))))

    def without_parents(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Marks of the nodes that have no parents by what they are, as those of earlier steps: none here.

        >>> Knowledge().without_parents("ab").tolist()
        [False, False]
        """
        return np.zeros(len(nodes), dtype=np.bool_)

    def allows(self, tail: str, head: str) -> bool:
        """Return True if tiers and forbidden edges permit tail → head."""
        rank = self._rank
        backwards = tail in rank and head in rank and rank[tail] > rank[head]
        return (tail, head) not in self._forbidden and not backwards

    @cached_property
    def _rank(self) -> dict[str, int]:
        """The tier of each variable that is in one."""
        return {name: position for position, tier in enumerate(self.tiers) for name in tier}

    @cached_property
    def _forbidden(self) -> frozenset[Edge]:
        return frozenset(self.forbidden)

    def forbidden_matrix(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Boolean matrix over `nodes`: entry [i, j] says that i → j is forbidden; so is all of the diagonal.

        An edge that would close a cycle with required edges, such as the reverse of one, is forbidden too.

        >>> Knowledge(required=[("a", "b")]).forbidden_matrix("ab").astype(int).tolist()
        [[1, 0], [1, 1]]
        """
        index = self._index(nodes)
        matrix = np.eye(len(nodes), dtype=np.bool_)
        for tail, head in self.forbidden:
            matrix[index[tail], index[head]] = True
        required = DAG(dict.fromkeys(name for edge in self.required for name in edge), self.required)
        for head in required:
            matrix[index[head], [index[ancestor] for ancestor in required.ancestors(head)]] = True
        earlier: list[int] = []
        for tier in filter(None, self.tiers):
            places = [index[name] for name in tier]
            matrix[np.ix_(places, earlier)] = True
            earlier += places
        return matrix

    def required_matrix(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Boolean matrix over `nodes`: entry [i, j] says that i → j is required.

        >>> Knowledge(required=[("a", "b")]).required_matrix("ab").astype(int).tolist()
        [[0, 1], [0, 0]]
        """
        index = self._index(nodes)
        matrix = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
        for tail, head in self.required:
            matrix[index[tail], index[head]] = True
        return matrix

    def check_nodes(self, nodes: Sequence[str]) -> None:
        """Refuse knowledge about variables that are not among `nodes`.

        >>> Knowledge(required=[("a", "z")]).check_nodes(["a", "b"])
        Traceback (most recent call last):
        dagora.KnowledgeError: the knowledge names 'z', which is not a variable of the data: known ...
        """
        self._index(nodes)

    def _index(self, nodes: Sequence[str]) -> dict[str, int]:
        index = {name: position for position, name in enumerate(nodes)}
        for name in self.mentioned:
            if name not in index:
                near = nearest(name, index)
                hint = f"did you mean '{near}'?" if near else among(index)
                raise KnowledgeError(
                    f"the knowledge names '{name}', which is not a variable of the data: {hint}"
                )
        return index

    def violations(self, graph: DAG) -> list[str]:
        """Sentences that say where a graph violates this knowledge; empty where it does not.

        >>> Knowledge(forbidden=[("a", "b")], max_parents=1).violations(DAG("ab", [("a", "b")]))
        ['a → b is forbidden']
        """
        present = graph.to_numpy()
        names = graph.nodes
        found = [
            f"{names[i]} → {names[j]} is forbidden"
            for i, j in np.argwhere(present & self.forbidden_matrix(names))
        ]
        found += [
            f"{names[i]} → {names[j]} is required"
            for i, j in np.argwhere(self.required_matrix(names) & ~present)
        ]
        if self.max_parents is not None:
            counts = present.sum(axis=0)
            found += [
                f"{names[j]} has {counts[j]} parents" for j in np.flatnonzero(counts > self.max_parents)
            ]
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Knowledge:
        """Make knowledge from its JSON form; an unknown key is refused."""
        if not isinstance(content, Mapping):
            raise KnowledgeError("knowledge is a JSON object with required, forbidden, tiers and max_parents")
        known = {"required", "forbidden", "tiers", "max_parents"}
        for key in content:
            if key not in known:
                raise KnowledgeError(f"unknown key '{key}' in the knowledge: use {', '.join(sorted(known))}")
        return cls(**content)

    def to_dict(self) -> dict[str, Any]:
        """JSON form; parts about which nothing is known are left out.

        >>> known = Knowledge(tiers=[["age"], ["dose"]], max_parents=2)
        >>> known.to_dict()
        {'tiers': [['age'], ['dose']], 'max_parents': 2}
        >>> Knowledge.from_dict(known.to_dict()) == known
        True
        """
        content: dict[str, Any] = {
            "required": [list(edge) for edge in self.required],
            "forbidden": [list(edge) for edge in self.forbidden],
            "tiers": [list(tier) for tier in self.tiers],
            "max_parents": self.max_parents,
        }
        return {key: value for key, value in content.items() if value or value == 0}


def pairs(key: str, edges: Iterable[object]) -> tuple[Edge, ...]:
    """Check that edges are pairs of names."""
    if not isinstance(edges, Iterable):
        raise KnowledgeError(f"'{key}' is a list of pairs of variable names, not {edges!r}")
    checked = []
    for edge in edges:
        if (
            isinstance(edge, str)
            or not isinstance(edge, Sequence)
            or [type(end) for end in edge] != [str, str]
        ):
            raise KnowledgeError(f"'{key}' is a list of pairs of variable names, not {edge!r}")
        checked.append((edge[0], edge[1]))
    return tuple(checked)


def groups(tiers: object) -> tuple[tuple[str, ...], ...]:
    """Check that tiers are lists of names."""
    if isinstance(tiers, Sequence) and not isinstance(tiers, str):
        checked = [tier for tier in tiers if isinstance(tier, Sequence) and not isinstance(tier, str)]
        if len(checked) == len(tiers) and all(isinstance(name, str) for tier in checked for name in tier):
            return tuple(tuple(tier) for tier in checked)
    raise KnowledgeError("'tiers' is a list of lists of variable names, one list per tier")


def read_knowledge(path: PathLike) -> Knowledge:
    """Read knowledge about the graph from a JSON file.

    Parameters
    ----------
    path : path
        A file with any of `required`, `forbidden`, `tiers` and `max_parents` (docs/reference.md).

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
    return Knowledge(known.required, known.forbidden, known.tiers, limit)
