"""`dagora.all_effects`: the total effects of all pairs of columns, averaged over graphs or over a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from dagora.api.effect import averages, draw_graphs, notes_on_graph
from dagora.api.graph_source import GraphSource, class_of
from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.interventions import GivenInterventions
from dagora.data.schema import Kind
from dagora.effects.all_pairs import AllEffects, average_all
from dagora.effects.effect_ranges import EffectRanges, effect_ranges
from dagora.effects.effect_rows import EffectRows
from dagora.effects.mixed_pairs import average_pairs
from dagora.graph.any_graph import without_pag
from dagora.graph.cpdag import Graph
from dagora.graph.interventions import with_knowledge
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.source import read_rows
from dagora.stats.capabilities import capabilities_of


@overload
def all_effects(
    data: object,
    *,
    graph: None = None,
    method: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    interventions: GivenInterventions | None = None,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - of reading, and of the method
) -> AllEffects: ...


@overload
def all_effects(
    data: object,
    *,
    graph: GraphSource,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> EffectRanges: ...


@takes_reading()
def all_effects(
    data: object,
    *,
    graph: GraphSource | None = None,
    method: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    interventions: GivenInterventions | None = None,
    seed: int = 0,
    **options: Any,
) -> AllEffects | EffectRanges:
    """Tell the total effects of all pairs of columns, averaged over graphs or over a class.

    Parameters
    ----------
    {data}
    graph : DAG, CPDAG, Result, network or file, optional
        The effects over all graphs of its class, each adjusted for the parents of the cause, from moments:
        between continuous columns.
    method : str, optional
        Without a graph: a sampler or "bootstrap", as for `effect`.
    {knowledge, interventions, seed}
    {reading}
    **options
        Options of the method, such as `draws` of a sampler.

    Returns
    -------
    AllEffects
        Matrices `.mean`, `.low`, `.high` and `.cause_probability`; `.pairs()` lists what matters most first.
        With a graph, `EffectRanges`: `.least`, `.greatest`, `.low`, `.high`, `.choices` and `.zeros`.

    Examples
    --------
    >>> import numpy as np
    >>> a, noise = np.random.default_rng(0).standard_normal((2, 200))
    >>> found = all_effects({"a": a, "b": a + noise}, draws=200)
    >>> found.names, round(float(found.cause_probability.sum()), 6)
    (('a', 'b'), 1.0)
    """
    known = as_knowledge(knowledge, None).edges_only("an effect")
    read, others = split_reading(options, known.mentioned)
    if graph is not None and (method is not None or others):
        raise OptionError(f"a graph is given: leave {option(next(iter(others), 'method'))} out")
    source = None if graph is None else class_of(graph)  # a bad graph is refused before data are read
    rows = read_rows(data, reading=read, interventions=interventions)
    table = EffectRows.of(rows)
    design = capabilities_of(rows).design
    weighed = () if design is None else (design.message,)
    if source is not None:
        class_, directions = source
        notes = notes_on_graph(directions)
        told = with_knowledge(without_pag(class_, "a table of all effects"), known)
        return over_class(without_pag(told, "a table of all effects"), table, [*notes, *weighed])
    if not averages(method):
        raise OptionError(
            f"effects of all pairs are averages over graphs: {option('method', method)} learns one"
        )
    drawn, settings = draw_graphs(rows, method, known, seed, others)
    if all(variable.kind is Kind.CONTINUOUS for variable in rows.schema):
        found = average_all(drawn, rows, settings, seed)
    else:
        found = average_pairs(drawn, table, seed)
    return replace(found, notes=(*found.notes, *weighed))


def over_class(graph: Graph, rows: EffectRows, notes: Sequence[str]) -> EffectRanges:
    """The effects of all pairs over the class of a graph."""
    if rows.interventions is not None:
        raise OptionError(
            "which rows tell an effect depends on what was set in them: ask about one pair at a time, or "
            f"leave {option('interventions')} out"
        )
    return effect_ranges(graph, rows.statistics(graph.nodes), tuple(notes))
