"""The registry: every learner by name, what it takes, what it promises, where it comes from.

A new method adds an entry here; the command, the contract tests and `dagora methods` then know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from dagora.options import Option, find
from dagora.result import Outcome


@dataclass(frozen=True)
class Method:
    """A learner's entry; `learner` is imported only when the method is used.

    `takes` says what the learner is given: a `score` (any LocalScore), or the `statistics` themselves.
    """

    name: str
    summary: str
    takes: str
    returns: str
    promise: str
    reference: str
    learner: str
    options: tuple[Option, ...] = ()

    def load(self) -> Callable[..., Outcome]:
        """Import the learner."""
        module, function = self.learner.split(":")
        return cast("Callable[..., Outcome]", getattr(import_module(module), function))


RESTARTS = (
    Option(
        "start",
        "graph",
        None,
        "graph to start from (a file on the command line); without it, the empty graph",
    ),
    Option(
        "restarts", "int", 0, "climb again this many times from a disturbed copy of the best graph", low=0
    ),
    Option("perturb", "int", None, "random moves per restart (a tenth of the nodes, at least 2)", low=1),
    Option("max_steps", "int", None, "stop after this many moves", low=0),
)

METHODS = (
    Method(
        name="hill-climb",
        summary="greedy search over single edges, from the empty graph",
        takes="score",
        returns="dag",
        promise="a local optimum: no added, deleted or reversed edge improves the score",
        reference="Heckerman, Geiger & Chickering 1995",
        learner="dagora.search.hill_climb:hill_climb",
        options=RESTARTS,
    ),
    Method(
        name="tabu",
        summary="hill climbing that leaves local optima and does not go back",
        takes="score",
        returns="dag",
        promise="the best graph seen, at least as good as hill climbing's first optimum",
        reference="Glover 1989",
        learner="dagora.search.hill_climb:tabu_search",
        options=(
            Option("length", "int", 100, "how many graphs visited last are not visited again", low=1),
            Option("patience", "int", 100, "stop after this many moves without a better graph", low=1),
            *RESTARTS,
        ),
    ),
)


def method_named(name: str) -> Method:
    """Find a method, or say which there are.

    >>> method_named("hill-climb").promise
    'a local optimum: no added, deleted or reversed edge improves the score'
    """
    return find("method", name, {method.name: method for method in METHODS})
