"""`dagora.effect`: what happens to one variable if another is set, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dagora.api.bootstrap import bootstrap
from dagora.api.fit import PROCESSES
from dagora.api.graph_source import GIVEN, GraphSource, class_of, notes_on_directions
from dagora.api.learn import learn
from dagora.api.sample import sample
from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.interventions import GivenInterventions
from dagora.effects.averaged import average_effect
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast, Levels, Value, read_contrast, read_names
from dagora.effects.curve import with_curve
from dagora.effects.directed_rows import directed_by_rows
from dagora.effects.drawn_graphs import DrawnGraphs, drawn_from, drawn_from_samples
from dagora.effects.drawn_processes import ProcessModel
from dagora.effects.effect_rows import EffectRows
from dagora.effects.process_effects import effect_by_processes, refuse_other_questions
from dagora.effects.result import Effect
from dagora.effects.set_rows import with_set_rows
from dagora.graph.directions import Directions
from dagora.graph.interventions import with_knowledge
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import check_circumstances
from dagora.learners.source import read_rows
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.posterior.registry import SAMPLERS
from dagora.stats.capabilities import capabilities_of
from dagora.stats.statistics import Statistics

BOOTSTRAP = "bootstrap"
MOST_EXACT = 10
"""Columns up to which graphs are drawn exactly by default: about a second."""
ONE_LEARNED = (
    "the graph was learned and is taken as true: in simulations, such 95 % intervals held about half of the "
    "effects that were not zero; averages over graphs hold more"
)

NOT_BENT = "the score that chose graphs does not see relations that bend without a slope"


@takes_reading()
def effect(
    data: object,
    x: str | Iterable[str],
    y: str,
    *,
    graph: GraphSource | None = None,
    method: str | None = None,
    model: str | None = None,
    levels: Levels | None = None,
    event: Value | None = None,
    given: Mapping[str, Value] | None = None,
    curve: bool = False,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    interventions: GivenInterventions | None = None,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - of reading, and of the method
) -> Effect:
    """Tell the effect of setting `x` on `y`, with a 95 % interval and what it rests on.

    Parameters
    ----------
    {data}
    x : str or names
        What is set: one variable, or several at once.
    y : str
        The outcome; of a discrete one with more than two levels, "name=level" says what is looked at.
    graph : DAG, CPDAG, PAG, Result, network or file, optional
        As for `adjustment`. Where it leaves the effect open, the effects of all graphs of its class are told.
        A Gaussian-process network gives the effect by its fitted functions, among the rows of the data.
    method : str, optional
        Without a graph: a sampler, whose draws are averaged over ("exact", "partition", …); "bootstrap",
        which averages over the classes learned from samples of the rows; or a method that learns one graph.
        Default: "exact" up to 10 columns, else "partition".
    model : str, optional
        "gp" or "gp2" fits Gaussian processes to what lies between x and y, so that relations between
        continuous columns may bend; without a graph, to each of those drawn, by samplers with the same score.
        Default: regression, linear in continuous columns.
    levels : two values, or mapping of name to two values, optional
        The value to set, and that instead of which. Default: the second level instead of the first; one unit
        more of a continuous x, or its upper instead of its lower quartile if y is discrete or relations bend.
    event : str, optional
        The level of a discrete y that is looked at. Default: the second of two.
    given : mapping of name to level, optional
        The effect among rows with these levels.
    curve : bool, default False
        With a graph: also the mean of y, or the probability of its event, over the values of a continuous x.
    {knowledge, interventions, seed}
    {reading}
    **options
        Options of the method, such as `draws` of a sampler.

    Returns
    -------
    Effect
        `.estimate` and `.interval` are the difference; `.estimates` has all scales, `.verdict` says how it
        was found, `.members` the effects over a class, `.where_set` that of the rows alone in which x was set
        (`interventions`), `.to_text()` all of it in words.

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> rows = {"ill": [0] * 40 + [1] * 40, "drug": ([0] * 30 + [1] * 10) + ([0] * 10 + [1] * 30)}
    >>> rows["death"] = ([0] * 27 + [1] * 3 + [0] * 9 + [1]) + ([0] * 4 + [1] * 6 + [0] * 18 + [1] * 12)
    >>> graph = DAG(rows, [("ill", "drug"), ("ill", "death"), ("drug", "death")])
    >>> found = effect(rows, "drug", "death", graph=graph)
    >>> found.verdict, found.adjustment, round(found.estimate, 2)
    ('adjustment', ('ill',), -0.1)
    """
    check_circumstances(seed, None, 1)
    if "time" in options:
        raise OptionError("effects over the steps of a series are told by effect_in_time")
    known = as_knowledge(knowledge, None).edges_only("an effect")
    asked = read_names(x)
    read, others = split_reading(options, (*known.mentioned, *asked, y, *(given or {})))
    if graph is not None and (method is not None or others):
        raise OptionError(f"a graph is given: leave {option(next(iter(others), 'method'))} out")
    if curve and graph is None:
        raise OptionError(f"{option('curve')} goes with a graph")
    check_model(model, graph)
    bends = model is not None or isinstance(graph, GaussianProcessNetwork)
    source = None if graph is None else class_of(graph)  # a bad graph is refused before data are read
    rows = read_rows(data, reading=read, interventions=interventions)
    table = EffectRows.of(rows)
    design = capabilities_of(rows).design
    weighed = [] if design is None else [design.message]
    contrast = read_contrast(table.table, asked, y, levels, event, given, linear=not bends)
    if source is None and averages(method):
        if model is not None:
            return average_bent_effect(rows, table, contrast, method, model, known, seed, others)
        drawn, settings = draw_graphs(rows, method, known, seed, others)
        averaged = average_effect(drawn, rows, table, contrast, settings, seed)
        return with_set_rows(replace(averaged, notes=(*averaged.notes, *weighed)), table, seed)
    if source is None:
        source = class_of(learn(rows, method or "auto", knowledge=known, seed=seed, **others))
    class_, directions = source
    class_, shown = directed_by_rows(with_knowledge(class_, known), rows)
    notes = [*notes_on_graph(directions), *shown, *weighed]
    if graph is None and model is not None and others.get("score") not in PROCESSES:
        notes.append(NOT_BENT)
    if bends:
        from dagora.scores.gp.fitted import fit_processes

        to_rows = partial(fit_processes, statistics=rows, score=model or "")
        fitted = graph if isinstance(graph, GaussianProcessNetwork) else to_rows
        found = effect_by_processes(class_, fitted, table, contrast, notes, seed, curve=curve)
    else:
        found = with_set_rows(effect_by_graph(class_, table, contrast, notes, seed), table, seed)
    return with_curve(found, class_, table) if curve and not found.curve else found


def check_model(model: str | None, graph: GraphSource | None) -> None:
    """Refuse a model that there is not, or that does not go with the graph."""
    if model is None:
        return
    if model not in PROCESSES:
        raise OptionError(f"{option('model')} is one of {', '.join(PROCESSES)}, not '{model}'")
    if isinstance(graph, GaussianProcessNetwork):
        raise OptionError(f"the network is fitted already: leave {option('model')} out")


def notes_on_graph(directions: Directions) -> list[str]:
    """Notes on what the directions of a graph rest on, and that it was learned."""
    return notes_on_directions(directions) + ([] if directions is GIVEN else [ONE_LEARNED])


def averages(method: str | None) -> bool:
    """Return True if a method gives many graphs."""
    return method is None or method.lower() in {BOOTSTRAP, *(sampler.name for sampler in SAMPLERS)}


def average_bent_effect(
    rows: Statistics,
    table: EffectRows,
    contrast: EffectContrast,
    method: str | None,
    model: str,
    known: Knowledge,
    seed: int,
    options: Mapping[str, Any],
) -> Effect:
    """The effect averaged over graphs with Gaussian processes; a sampler draws them by the same score."""
    from dagora.scores.gp.fitted import ProcessFits

    refuse_other_questions(table, contrast)
    if method is None or method.lower() != BOOTSTRAP:
        options = {"score": model, **options}
    drawn, settings = draw_graphs(rows, method, known, seed, options)
    if options.get("score") not in PROCESSES:
        drawn = replace(drawn, notes=(*drawn.notes, NOT_BENT))
    bent = ProcessModel(model, ProcessFits(rows, drawn.distinct.names, model).network)
    return average_effect(drawn, rows, table, contrast, settings, seed, bent)


def draw_graphs(
    rows: Statistics, method: str | None, known: Knowledge, seed: int, options: Mapping[str, Any]
) -> tuple[DrawnGraphs, Mapping[str, Any]]:
    """Graphs to average over, and the settings of their score."""
    marks = capabilities_of(rows).interventions
    regimes = () if marks is None else marks.regimes
    if method is not None and method.lower() == BOOTSTRAP:
        found = bootstrap(rows, knowledge=known, seed=seed, **options)
        return drawn_from_samples(found, known, regimes, seed), {}
    chosen = method or ("exact" if len(rows.schema) <= MOST_EXACT else "partition")
    posterior = sample(rows, chosen, knowledge=known, seed=seed, **options)
    return drawn_from(posterior, known, regimes), posterior.settings
