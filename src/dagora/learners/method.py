"""A learner's entry in the registry, with checks of knowledge, width and time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError
from dagora.base.extras import Need
from dagora.base.loading import load
from dagora.base.memory import free_memory
from dagora.base.options import Option
from dagora.base.wording import by_door, option
from dagora.graph.knowledge import Knowledge
from dagora.learners.outcome import Outcome

# Seconds to begin and end a search, per ordered pair of columns: an upper estimate, for a slow machine.
SECONDS_A_PAIR = 2e-7
# Seconds to write a result and end the process: reserved from a time limit of at least `LONG` seconds.
ENDING, LONG = 0.25, 5.0
# Seconds by which a time limit may be exceeded.
ALLOWED = 0.3

Takes = Literal["score", "candidates", "statistics", "federation"]
Returns = Literal["dag", "cpdag", "pag"]
Growth = Literal["power", "exponential", "parent sets"]
KnowledgePart = Literal[
    "required", "forbidden", "forbidden pairs", "tiers", "max_parents", "prior", "adjacent prior", "causes"
]

# "forbidden pairs" is the weaker form of "forbidden": only edges that are forbidden in both directions. So is
# "adjacent prior" of "prior": probabilities of edges in either direction. "forbidden" covers roots and
# leaves, "causes" what is no cause.
ALL_KNOWLEDGE: tuple[KnowledgePart, ...] = ("required", "forbidden", "tiers", "max_parents")
NO_PARENT_LIMIT: tuple[KnowledgePart, ...] = ("required", "forbidden", "tiers")
WITH_PRIOR: tuple[KnowledgePart, ...] = (*ALL_KNOWLEDGE, "prior")
WITH_CAUSES: tuple[KnowledgePart, ...] = (*WITH_PRIOR, "causes")


@dataclass(frozen=True)
class Method:
    """One entry of the registry of learners."""

    name: str  # as users write it: "hill-climb"
    summary: str  # one phrase on how it works
    takes: Takes  # the learner's input: a LocalScore, its candidates, statistics, or a federation of sites
    returns: Returns  # the kind of graph
    promise: str  # one phrase on what is guaranteed of the result
    reference: str  # authors and years of the publications
    learner: str  # "module:function", imported on first use
    options: tuple[Option, ...] = ()  # its own options, the keyword arguments of the learner
    obeys: tuple[KnowledgePart, ...] = ALL_KNOWLEDGE  # parts of Knowledge; others are refused by name
    needs_equivalence: bool = False  # the score must be equal for equivalent graphs
    needs_rows: bool = False  # sums over rows are not enough; with a score it is given `ScoredRows`
    in_both_orders: bool = False  # is given the score twice (`ColumnOrders`): as columns stand, and by name
    any_kind: bool = False  # takes discrete columns although it has an objective of its own
    by_tests: bool = False  # decides by independence tests, which rows drawn with replacement mislead
    tests_seen_rows: bool = False  # with missing values, each test counts the rows that saw its columns
    in_time: bool = False  # makes windows of series itself; others are given them as rows (`in_windows`)
    instead_in_time: str = ""  # the method to take on series, where this one cannot know what time directs
    reach: int = 1  # of a method in time: windows reach back so many times as far as its edges
    screens: bool = False  # on scanned rows, a run on a sample decides what is counted early (`screening`)
    needs: tuple[Need, ...] = ()  # packages that must be installed
    seldom: bool = False  # rarely chosen: left out of short lists
    growth: Growth = "power"  # of time with columns; "parent sets": with their number, between the other two
    bytes_a_pair: int = 40  # most memory for each ordered pair of columns; decides how wide a table may be

    def check_knowledge(self, knowledge: Knowledge, names: Sequence[str], owner: str | None = None) -> None:
        """Refuse the first part of the knowledge about these columns that the method cannot obey.

        >>> from dagora.learners.registry import method_named
        >>> method_named("ges").check_knowledge(Knowledge(required=[("a", "b")]), "abc")
        Traceback (most recent call last):
        dagora.KnowledgeError: the method ges cannot obey required edges (a → b): it learns a class of ...
        >>> method_named("notears").check_knowledge(Knowledge(max_parents=1), "abc")
        Traceback (most recent call last):
        dagora.KnowledgeError: the method notears cannot obey max_parents: raise lambda1 or the threshold ...
        """
        for part in self._refusals(knowledge, names):
            raise KnowledgeError(f"{owner or f'the method {self.name}'} cannot obey {part}")

    def _refusals(self, knowledge: Knowledge, names: Sequence[str]) -> Iterator[str]:
        """Each part of the knowledge that is refused, with the reason or the way out."""
        undirected = "it learns a class of equivalent graphs, which leaves directions open: "
        other = f"{undirected if self.returns == 'cpdag' else ''}use hill-climb or tabu"
        if knowledge.required and "required" not in self.obeys:
            tail, head = knowledge.required[0]
            yield f"required edges ({tail} → {head}): {other}"
        if sum(map(bool, knowledge.tiers)) > 1 and "tiers" not in self.obeys:
            yield f"tiers: {other}"
        forbidden = set(knowledge.forbidden)
        for tail, head in knowledge.forbidden if "forbidden" not in self.obeys else ():
            if (head, tail) not in forbidden:
                only = f"forbidden edges in one direction only ({tail} → {head})"
                yield f"{only}: {other}, or forbid {head} → {tail} too"
        for names_of, what in ((knowledge.roots, "roots"), (knowledge.leaves, "leaves")):
            if names_of and "forbidden" not in self.obeys:
                yield f"{what} ('{names_of[0]}'): {other}"
        yield from self._prior_refusals(knowledge, undirected)
        if knowledge.ancestral and "causes" not in self.obeys:
            key = "causes" if knowledge.causes else "not_causes"
            a, c = getattr(knowledge, key)[0]
            yield f"{key} ({a}, {c}): use auto, hill-climb, tabu, order-search or ilp"
        limit = knowledge.max_parents
        # A limit that no graph of so many columns exceeds asks for nothing; in time there are more parents.
        if limit is not None and "max_parents" not in self.obeys and (self.in_time or limit < len(names) - 1):
            penalised = any(one.name == "lambda1" and not one.only_with for one in self.options)
            why = "it tests pairs and counts no parents; " if self.by_tests else ""
            fewer = "raise lambda1 or the threshold for fewer edges"
            yield f"{option('max_parents')}: {why}{fewer if penalised else 'use ges or hill-climb'}"

    def _prior_refusals(self, knowledge: Knowledge, undirected: str) -> Iterator[str]:
        """Refusals of probabilities of edges."""
        if "prior" in self.obeys:
            return
        use = "use auto, hill-climb or tabu"
        if knowledge.prior:
            a, b, _ = knowledge.prior[0]
            if "adjacent prior" in self.obeys:
                yield f"a prior of one direction only ({a} → {b}): {undirected}{use}, or prior_adjacent"
            else:
                yield f"a prior ({a} → {b}): it maximises no score that odds are added to; {use}"
        if knowledge.prior_adjacent and "adjacent prior" not in self.obeys:
            a, b, _ = knowledge.prior_adjacent[0]
            yield f"a prior ({a} — {b}): it maximises no score that odds are added to; {use}"

    def check_width(self, columns: int) -> None:
        """Refuse a table so wide that the method could not hold its matrices.

        >>> from dagora.learners.registry import method_named
        >>> method_named("notears").check_width(1000)
        """
        free = free_memory()
        need = self.bytes_a_pair * columns**2
        if free is not None and need > free:
            most = math.isqrt(free // self.bytes_a_pair)
            raise DataError(
                f"the method {self.name} needs about {need / 2**30:.0f} GiB for {columns} columns, and "
                f"{free / 2**30:.1f} GiB are free, enough for {most}: leave columns out "
                f"({option('drop')}), or choose another method"
            )

    def time_to_search(self, columns: int, clock: Budget) -> Budget:
        """Return the time left for the search itself, without that to begin and end with a wide table.

        Refuse a table so wide that too little time is left.

        >>> from dagora.learners.registry import method_named
        >>> method_named("tabu").time_to_search(100, Budget(1e-9)).left
        0.0
        """
        needed = SECONDS_A_PAIR * columns**2
        if needed - ALLOWED > clock.left:
            raise DataError(
                f"the method {self.name} needs {needed:.1f} s before and after a search on {columns} "
                f"columns, and {clock.left:.1f} s are left of the time limit: allow more time "
                f"({option('time_limit')}), or leave columns out ({option('drop')})"
            )
        ending = ENDING if (clock.limit or 0.0) >= LONG else 0.0
        return clock.but_for(needed / 2 + ending) if ending or needed > ALLOWED / 10 else clock

    def takes_any_kind(self, options: Mapping[str, object]) -> bool:
        """Return True if it takes columns of any kind with these options."""
        return self.any_kind or any(options.get(one.name) in one.any_kind for one in self.options)

    @property
    def own_objective(self) -> bool:
        """True if it has an objective of its own and so takes no score."""
        return self.takes in {"statistics", "federation"}

    @property
    def takes_in_words(self) -> str:
        """The input in words, which the door writes."""
        if not self.own_objective:
            return "any score" if self.takes == "score" else "candidate parent sets of any score"
        over_sites = by_door(python="learn_federated", command="dagora federate")
        data = "data" if self.takes == "statistics" else f"rows over sites (`{over_sites}`)"
        return f"{data}; it has an objective of its own and takes no score"

    def load(self) -> Callable[..., Outcome]:
        """Import the learner."""
        return cast("Callable[..., Outcome]", load(self.learner))
