"""The lines of a class of graphs that rows direct in which one of their ends was set.

Setting the child of an edge cuts it, setting the parent does not. The ways to direct the lines at what was
set are scored, each family on the rows in which the child was not set; a line is directed where all ways have
it so whose score is within `WEAK` nats of the best.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from dagora.base.errors import DataError
from dagora.base.phrases import some_of, was_or_were
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.directions import WEAK
from dagora.graph.interventions import directed_by_knowledge, separated_by_regimes
from dagora.graph.knowledge import Knowledge
from dagora.graph.parent_sets import MOST_CHOICES, parent_choices
from dagora.scores.local_score import LocalScore
from dagora.scores.registry import default_score
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Statistics


def directed_by_rows(graph: AnyGraph, rows: Statistics) -> tuple[AnyGraph, list[str]]:
    """The class with those lines directed that rows direct in which one end was set, and notes about them.

    >>> import numpy as np
    >>> from dagora.data.interventions import Interventions
    >>> from dagora.data.table import Table
    >>> from dagora.stats.interventional import InterventionalStatistics
    >>> noise = np.random.default_rng(0).standard_normal((2, 200))
    >>> table = Table.from_numpy(np.stack([noise[0], noise[0] + noise[1]], axis=1), names="ab")
    >>> marks = Interventions.of_rows(["a", None] * 100, "ab")
    >>> directed_by_rows(CPDAG("ab", [], ["ab"]), InterventionalStatistics(table, marks))[1]
    ['the rows in which a was set direct a → b']
    """
    marks = capabilities_of(rows).interventions
    if marks is None or not isinstance(graph, CPDAG) or not set(graph.nodes) <= set(rows.schema.names):
        return graph, []
    apart = separated_by_regimes(graph.nodes, marks.regimes)
    shown = {edge for edge in graph.undirected if apart[graph.index(edge[0]), graph.index(edge[1])]}
    targets = [name for name in marks.targets if any(name in edge for edge in shown)]
    if not targets:
        return graph, []
    x = some_of(targets)
    choices = list(islice(parent_choices(graph, targets), MOST_CHOICES + 1))
    if len(choices) > MOST_CHOICES:
        return graph, [f"there are too many ways to direct the lines at {x}: the rows are not asked for them"]
    try:
        score = default_score(rows.schema).make(rows)
        values = scores_of(score, [member.extension() for _, member in choices], graph)
    except DataError as error:
        return graph, [f"the rows in which {x} {was_or_were(targets)} set direct no line: {error.text}"]
    good = [
        set(member.edges)
        for (_, member), value in zip(choices, values, strict=True)
        if value >= max(values) - WEAK
    ]
    directed = [
        edge for pair in sorted(shown) for edge in (pair, pair[::-1]) if all(edge in edges for edges in good)
    ]
    if not directed:
        return graph, []
    told = some_of([f"{tail} → {head}" for tail, head in directed])
    known = directed_by_knowledge(graph, Knowledge(required=tuple(directed)))
    return known, [f"the rows in which {x} {was_or_were(targets)} set direct {told}"]


def scores_of(score: LocalScore, dags: Sequence[DAG], graph: CPDAG) -> list[float]:
    """The scores of some members of a class, less what they share."""
    place = score.schema.index
    children = {name for edge in graph.undirected for name in edge}
    members = [[(place(child), places_of(score, dag.parents(child))) for child in children] for dag in dags]
    asked = list(dict.fromkeys(family for families in members for family in families))
    values = dict(zip(asked, score.families(asked).tolist(), strict=True))
    return [sum(values[family] for family in families) for families in members]


def places_of(score: LocalScore, names: Collection[str]) -> tuple[int, ...]:
    """The columns of some names, in their order."""
    return tuple(sorted(score.schema.index(name) for name in names))
