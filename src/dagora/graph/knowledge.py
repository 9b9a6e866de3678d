"""Prior knowledge: edges, tiers, roots and leaves, causes, probabilities of edges, a limit on parents.

Every learner obeys a `Knowledge` or refuses it with a message that names what it cannot obey. Tiers are
groups of variables in temporal order: an edge may not lead from a later tier to an earlier one. A root has no
parents, a leaf no children. `causes` says that a path leads from one variable to another, `not_causes` that
none does. `prior` has the probability p of an edge a → b, `prior_adjacent` that of an edge in either
direction: its odds p / (1 − p) multiply those of a graph that has it, so that 0.5 says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import KnowledgeError
from dagora.base.phrases import among, nearest
from dagora.base.wording import option
from dagora.graph.dag import DAG, Edge
from dagora.graph.knowledge_entries import Opinion, groups, listed_names, log_odds, opinions, pairs
from dagora.graph.topological import cycle_in_words

ROUNDING = 1e-9
"""Probabilities that two directions may be above 1 together."""


@dataclass(frozen=True)
class Knowledge:
    """Required and forbidden edges, tiers, roots, leaves, causes, probabilities of edges, most parents.

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
    roots: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    causes: tuple[Edge, ...] = ()
    not_causes: tuple[Edge, ...] = ()
    prior: tuple[Opinion, ...] = ()
    prior_adjacent: tuple[Opinion, ...] = ()

    def __post_init__(self) -> None:
        for key in ("required", "forbidden", "causes", "not_causes"):
            object.__setattr__(self, key, pairs(key, getattr(self, key)))
        for key in ("roots", "leaves"):
            object.__setattr__(self, key, listed_names(key, getattr(self, key)))
        for key in ("prior", "prior_adjacent"):
            object.__setattr__(self, key, opinions(key, getattr(self, key), directed=key == "prior"))
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
            if (tail, head) in self.forbidden:
                raise KnowledgeError(
                    f"the edge {tail} → {head} is both required and forbidden: keep it in one of them"
                )
            if head in self.roots or tail in self.leaves:
                what = f"'{head}' is a root" if head in self.roots else f"'{tail}' is a leaf"
                raise KnowledgeError(
                    f"the edge {tail} → {head} is required, and {what}: leave out one of them"
                )
            if self._leads_back(tail, head):
                raise KnowledgeError(
                    f"the required edge {tail} → {head} leads from a later tier to an earlier one: "
                    "change the edge or the tiers"
                )
        self._refuse_cycles()
        self._check_causes()
        self._check_prior()
        for name, number in Counter(head for _, head in dict.fromkeys(self.required)).items():
            if limit is not None and number > limit:
                raise KnowledgeError(
                    f"'{name}' has {number} required parents, but {option('max_parents')} is {limit}"
                )

    def _check_causes(self) -> None:
        """Refuse causes that contradict each other, or edges, tiers, roots and leaves."""
        for a, c in self.causes:
            entry = f"'causes' says that {a} is a cause of {c}"
            if self._leads_back(a, c):
                raise KnowledgeError(f"{entry}, which is in an earlier tier: change one of them")
            if c in self.roots or a in self.leaves:
                what = f"'{c}' is a root" if c in self.roots else f"'{a}' is a leaf"
                raise KnowledgeError(f"{entry}, and {what}: leave out one of them")
            if self.max_parents == 0:
                raise KnowledgeError(f"{entry}, and {option('max_parents')} is 0: no edge leads anywhere")
        try:
            TopologicalSorter(self._known_parents).prepare()
        except CycleError as found:
            raise KnowledgeError(
                f"the required edges and causes cannot all be there: {cycle_in_words(found.args[1])}; "
                "leave out one of these"
            ) from None
        for a, c in self.not_causes:
            if a in self._known_ancestors(c):
                entry = f"'not_causes' says that {a} is no cause of {c}"
                raise KnowledgeError(
                    f"{entry}, and required edges or causes lead there: leave out one of them"
                )

    @property
    def _known_parents(self) -> dict[str, list[str]]:
        """For each variable those that required edges and causes say to be before it."""
        before: dict[str, list[str]] = {}
        for tail, head in (*self.required, *self.causes):
            before.setdefault(tail, [])
            before.setdefault(head, []).append(tail)
        return before

    def _known_ancestors(self, name: str) -> set[str]:
        """The variables that lead to one, by required edges and causes."""
        before, found, left = self._known_parents, set[str](), [name]
        while left:
            for parent in before.get(left.pop(), ()):
                if parent not in found:
                    found.add(parent)
                    left.append(parent)
        return found

    def _check_prior(self) -> None:
        """Refuse probabilities of what is settled anyway, and of one pair what cannot be together."""
        required = set(self.required)
        chances = {(a, b): chance for a, b, chance in self.prior}
        directed = {frozenset((a, b)) for a, b, _ in self.prior}
        for a, b, _ in self.prior:
            if (a, b) in required:
                raise KnowledgeError(f"the edge {a} → {b} is required and has a prior: leave out one of them")
            if not self.allows(a, b):
                raise KnowledgeError(
                    f"the knowledge forbids the edge {a} → {b}, which has a prior: leave out one of them"
                )
            back = chances.get((b, a), 0.0)
            if chances[a, b] + back > 1 + ROUNDING:
                raise KnowledgeError(
                    f"the edges {a} → {b} ({chances[a, b]:g}) and {b} → {a} ({back:g}) exclude each other, "
                    "and their probabilities are more than 1 together: lower one of them"
                )
        for a, b, _ in self.prior_adjacent:
            if frozenset((a, b)) in directed:
                raise KnowledgeError(
                    f"{a} and {b} are in 'prior' and in 'prior_adjacent': keep them in one of them"
                )
            if (a, b) in required or (b, a) in required:
                raise KnowledgeError(
                    f"an edge between {a} and {b} is required and has a prior: leave out one of them"
                )
            if not self.allows(a, b) and not self.allows(b, a):
                raise KnowledgeError(
                    f"the knowledge forbids every edge between {a} and {b}, which has a prior: leave out one "
                    "of them"
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
        return not self.directs and not self.has_prior and self.max_parents is None

    @property
    def has_prior(self) -> bool:
        """True if edges have probabilities.

        >>> Knowledge(prior=[("a", "b", 0.8)]).has_prior, Knowledge(roots=["a"]).has_prior
        (True, False)
        """
        return bool(self.prior or self.prior_adjacent)

    @property
    def ancestral(self) -> bool:
        """True if paths are known to be there, or not to be.

        >>> Knowledge(causes=[("a", "b")]).ancestral, Knowledge(roots=["a"]).ancestral
        (True, False)
        """
        return bool(self.causes or self.not_causes)

    @property
    def directs(self) -> bool:
        """True if it may direct an edge.

        >>> Knowledge(tiers=[["a"], ["b"]]).directs, Knowledge(max_parents=2).directs
        (True, False)
        """
        edges = self.required or self.forbidden or self.tiers or self.roots or self.leaves
        return bool(edges) or self.ancestral

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The variables that it names, each once.

        >>> Knowledge(required=[("a", "b")], tiers=[["b"], ["c"]]).mentioned
        ('a', 'b', 'c')
        """
        listed = (*self.required, *self.forbidden, *self.causes, *self.not_causes)
        edges = (name for edge in listed for name in edge)
        likely = (name for entry in (*self.prior, *self.prior_adjacent) for name in entry[:2])
        ends = (*self.roots, *self.leaves)
        return tuple(dict.fromkeys((*edges, *(name for tier in self.tiers for name in tier), *ends, *likely)))

    def without_parents(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Marks of the nodes that have no parents by what they are, as those of earlier steps: none here.

        >>> Knowledge().without_parents("ab").tolist()
        [False, False]
        """
        return np.zeros(len(nodes), dtype=np.bool_)

    def allows(self, tail: str, head: str) -> bool:
        """Return True if tiers, roots, leaves, causes and forbidden edges permit tail → head."""
        ends = head in self.roots or tail in self.leaves
        return (tail, head) not in self._forbidden and not self._leads_back(tail, head) and not ends

    def _leads_back(self, tail: str, head: str) -> bool:
        """True if an edge would lead from a later tier to an earlier one."""
        rank = self._rank
        return tail in rank and head in rank and rank[tail] > rank[head]

    @cached_property
    def _rank(self) -> dict[str, int]:
        """The tier of each variable that is in one."""
        return {name: position for position, tier in enumerate(self.tiers) for name in tier}

    @cached_property
    def _forbidden(self) -> frozenset[Edge]:
        """Edges that are forbidden, those against `causes` and along `not_causes` among them."""
        return frozenset((*self.forbidden, *((c, a) for a, c in self.causes), *self.not_causes))

    def forbidden_matrix(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """Boolean matrix over `nodes`: entry [i, j] says that i → j is forbidden; so is all of the diagonal.

        An edge that would close a cycle with required edges, such as the reverse of one, is forbidden too.

        >>> Knowledge(required=[("a", "b")]).forbidden_matrix("ab").astype(int).tolist()
        [[1, 0], [1, 1]]
        """
        index = self._index(nodes)
        matrix = np.eye(len(nodes), dtype=np.bool_)
        for tail, head in self._forbidden:
            matrix[index[tail], index[head]] = True
        matrix[:, [index[name] for name in self.roots]] = True
        matrix[[index[name] for name in self.leaves]] = True
        for head in self._known_parents:
            matrix[index[head], [index[ancestor] for ancestor in self._known_ancestors(head)]] = True
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

    def prior_matrix(self, nodes: Sequence[str]) -> NDArray[np.float64]:
        """The log odds that priors add to a graph for each edge [i, j] that it has.

        >>> Knowledge(prior=[("a", "b", 0.8)]).prior_matrix("ab").round(2).tolist()
        [[0.0, 1.39], [0.0, 0.0]]
        """
        index = self._index(nodes)
        matrix = np.zeros((len(nodes), len(nodes)))
        for a, b, chance in self.prior:
            matrix[index[a], index[b]] = log_odds(chance)
        for a, b, chance in self.prior_adjacent:
            matrix[index[a], index[b]] = matrix[index[b], index[a]] = log_odds(chance)
        return matrix

    def edges_only(self, what: str) -> Knowledge:
        """The knowledge, if it is about edges that are there or not; a prior and paths are refused.

        >>> Knowledge(causes=[("a", "b")]).edges_only("an effect")
        Traceback (most recent call last):
        dagora.KnowledgeError: an effect takes required and forbidden edges, tiers, roots and leaves, and ...
        """
        for key in ("prior", "prior_adjacent", "causes", "not_causes"):
            if getattr(self, key):
                raise KnowledgeError(
                    f"{what} takes required and forbidden edges, tiers, roots and leaves, and not '{key}': "
                    "leave it out, or learn with it first"
                )
        return self

    def _check_reachable(self, nodes: Sequence[str]) -> None:
        """Refuse causes from which no edges that are allowed lead to what they cause."""
        allowed = ~self.forbidden_matrix(nodes)
        index = self._index(nodes)
        for a, c in self.causes:
            reached = np.zeros(len(nodes), dtype=np.bool_)
            reached[index[a]] = True
            for _ in nodes:
                reached |= allowed[reached].any(axis=0)
            if not reached[index[c]]:
                raise KnowledgeError(
                    f"'causes' says that {a} is a cause of {c}, and no edges that are allowed lead from "
                    f"{a} to {c}: leave it out, or forbid less"
                )

    def check_nodes(self, nodes: Sequence[str]) -> None:
        """Refuse knowledge about variables that are not among `nodes`, or that no graph of them obeys.

        >>> Knowledge(required=[("a", "z")]).check_nodes(["a", "b"])
        Traceback (most recent call last):
        dagora.KnowledgeError: the knowledge names 'z', which is not a variable of the data: known ...
        """
        self._index(nodes)
        if self.causes:
            self._check_reachable(nodes)

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
        found += [f"{a} is no cause of {c}" for a, c in self.causes if a not in graph.ancestors(c)]
        found += [f"{a} is a cause of {c}" for a, c in self.not_causes if a in graph.ancestors(c)]
        return found

    def among(self, names: Sequence[str]) -> Knowledge:
        """The part about edges between some of the variables; paths may lead through the others.

        >>> Knowledge(required=[("a", "b")], roots=["a", "c"], causes=[("a", "b")]).among(["a", "b"])
        Knowledge(required=(('a', 'b'),), forbidden=(), tiers=(), max_parents=None, roots=('a',))
        """
        some = set(names)
        parts: dict[str, Any] = {
            key: tuple(entry for entry in getattr(self, key) if some.issuperset(entry[:2]))
            for key in ("required", "forbidden", "prior", "prior_adjacent")
        }
        ends: dict[str, Any] = {
            key: tuple(name for name in getattr(self, key) if name in some) for key in ("roots", "leaves")
        }
        tiers = tuple(tuple(name for name in tier if name in some) for tier in self.tiers)
        return replace(self, **parts, **ends, tiers=tiers, causes=(), not_causes=())

    def __repr__(self) -> str:
        shown = {key: getattr(self, key) for key in ("required", "forbidden", "tiers", "max_parents")}
        others = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in shown}
        shown |= {key: value for key, value in others.items() if value}
        return f"Knowledge({', '.join(f'{key}={value!r}' for key, value in shown.items())})"

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Knowledge:
        """Make knowledge from its JSON form; an unknown key is refused."""
        if not isinstance(content, Mapping):
            raise KnowledgeError("knowledge is a JSON object with required, forbidden, tiers and max_parents")
        known = {field.name for field in fields(cls)}
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
            "roots": list(self.roots),
            "leaves": list(self.leaves),
            "causes": [list(pair) for pair in self.causes],
            "not_causes": [list(pair) for pair in self.not_causes],
            "prior": [list(entry) for entry in self.prior],
            "prior_adjacent": [list(entry) for entry in self.prior_adjacent],
        }
        return {key: value for key, value in content.items() if value or value == 0}
