"""Learn a graph from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dagora.api.graph_source import with_start
from dagora.base.budget import Budget
from dagora.base.errors import announce
from dagora.base.events import Event, Observer, ignore
from dagora.base.phrases import amount
from dagora.base.version import versions
from dagora.data.columns.reading_options import takes_reading
from dagora.data.series import Timing
from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.around_target import around_target
from dagora.learners.checks import check_circumstances
from dagora.learners.constraint.determined import determined_warnings
from dagora.learners.edge_gains import NOT_KNOWN, edge_evidence
from dagora.learners.in_windows import of_the_present, score_of_the_past, watching_the_present
from dagora.learners.registry import method_named
from dagora.learners.request import GivenData, prepare
from dagora.learners.result import Result, TracePoint
from dagora.learners.row_warnings import row_warnings
from dagora.learners.run import Run
from dagora.learners.screening import screen
from dagora.learners.time.series_warnings import series_warnings
from dagora.scores.edge_prior import prior_warnings
from dagora.scores.estimation import estimation
from dagora.scores.local_score import ScoreCapabilities
from dagora.stats.stored.accepting_stored import without
from dagora.stats.table import TableStatistics
from dagora.stats.windows import panel_behind

# Seconds to find out what edges are worth where time is up; without that, no direction is determined.
ENDING = 0.25
# Most rounds of structural EM.
EM_ROUNDS = 6


@takes_reading(missing="auto")
def learn(
    data: object,
    method: str = "auto",
    *,
    score: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    max_parents: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    jobs: int = 1,
    on_event: Observer = ignore,
    budget: Budget | None = None,
    interventions: str | Mapping[str, Any] | Sequence[Any] | None = None,
    em_rounds: int = EM_ROUNDS,
    time: str | None = None,
    series: str | None = None,
    minus: object = None,
    lags: int | str | None = None,
    target: str | None = None,
    **options: Any,  # noqa: ANN401 - checked against the registry
) -> Result:
    """Learn the structure of a Bayesian network from data.

    Parameters
    ----------
    data : path, data frame, matrix, mapping of columns, Table or Statistics
        One row per observation. Types of columns are inferred; `inspect` shows how. Files of statistics
        (`statistics`), and lists of them, are added.
        Scored `Candidates` and `.jkl` files will do for methods that search on scores.
    method : str, default "auto"
        A name from `methods()`. "auto" is tabu search followed by a search over orders of the variables.
    score : str, optional
        What is maximised. Default: "bic" for discrete, "bic-gaussian" for continuous columns, "bic-mixed" for
        both. Methods with an objective of their own take none.
    {knowledge, max_parents, seed, time_limit, jobs, on_event, budget, interventions, em_rounds}
    time : str, optional
        Column that says when a row was. The rows are then series, and the graph is one in time.
    series : str, optional
        Column that says which series a row belongs to; by default there is one.
    minus : file of statistics, StoredStatistics, or a list of these, optional
        Statistics of rows to take away, where the data are statistics.
    lags : int or str, optional
        Steps back that a variable may depend on, with `time`. Default: 1. "auto" chooses by a score, "auto:6"
        among 1 to 6.
    target : str, optional
        The one variable to learn about: its Markov blanket, and the directions in it. Only columns near it
        are searched, so that 100,000 will do.
    {reading}
    **options
        Options of the method and of the score; `dagora.methods()[NAME]` lists them.

    Returns
    -------
    Result
        `.graph` (a DAG, CPDAG or PAG), `.score`, `.status`, `.message`, `.warnings`; `.cpdag` shows which
        directions the data determine.

    Examples
    --------
    >>> rows = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> result = learn(rows, score="bdeu", ess=2)
    >>> result.graph.edges
    (('cough', 'smoker'),)
    >>> rows = {"switch": [0, 1] * 60, "lamp": [0, 1] * 40 + [0, 0, 1, 1] * 10}
    >>> rows["set"] = [""] * 80 + ["lamp"] * 40
    >>> learn(rows, interventions="set").cpdag.edges
    (('switch', 'lamp'),)
    """
    if minus is not None:
        data = without(data, minus)
    entry = method_named(method)
    known = as_knowledge(knowledge, max_parents)
    clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
    prepared = prepare(
        GivenData(data, jobs, interventions, Timing.read(time, series), lags, scans=True, target=target),
        method,
        with_start(options),
        clock=clock,
        score=score,
        knowledge=known,
        em_rounds=em_rounds,
    )
    searching, source, known = prepared.searching, prepared.source, prepared.knowledge
    around = None
    if target is not None:
        around = around_target(target, searching, source, Run(known, seed, clock.part(0.5), jobs, on_event))
        source = around.source
        known = known.among(source.names)
    chosen = searching.score
    trace: list[TracePoint] = []
    steps: dict[str, int] = {}  # the last step of each phase; every phase counts from zero

    def observe(event: Event) -> None:
        if event.score is not None:
            steps[event.phase] = max(event.step, steps.get(event.phase, 0))
            if not trace or event.score > trace[-1].score:
                trace.append(TracePoint(clock.elapsed, sum(steps.values()), event.score))
        on_event(event)

    local = None if chosen is None else searching.make(source.statistics, known)
    past = score_of_the_past(local, source)
    watched = watching_the_present(observe, past)
    run = Run(known, seed, entry.time_to_search(len(source.names), clock), jobs, watched)
    capabilities = ScoreCapabilities() if local is None else local.capabilities
    capabilities.check_knowledge(known)
    screened = screen(searching, source, local, run)
    outcome, notes, work = searching.with_missing(source, local, run, prepared.em_rounds)
    outcome = of_the_present(outcome, past)
    errors, warnings = estimation(local)
    evidence = NOT_KNOWN
    worth = chosen is not None and chosen.in_nats and source.noise is None
    if local is not None and worth and not isinstance(outcome.graph, PAG):
        quick = source.in_memory and not capabilities.is_slow
        ending = clock if clock.left or not quick else Budget(ENDING)
        evidence = edge_evidence(local, outcome.graph, replace(run, budget=ending))
    settings = prepared.settings(time_limit)
    if source.noise is not None:
        settings["privacy"] = source.noise.terms()
        warnings += source.noise.warnings(entry.name)
    not_looked = ""
    if chosen is not None and type(source.rows) is TableStatistics:
        late = clock.exhausted
        seen, not_looked = row_warnings(source.rows.rows(), outcome.graph, chosen, evidence.gains, late=late)
        warnings += seen
    warnings = [
        *filter(None, [prepared.penalty.warning]),
        *notes,
        *warnings,
        *outcome.warnings,
        *source.data_warnings,
    ]
    warnings += determined_warnings(entry, source)
    warnings += prior_warnings(local, outcome.graph, known)
    panel = panel_behind(source.rows)
    if panel is not None and prepared.lags is not None and clock.left:
        warnings += series_warnings(panel, prepared.lags, outcome.graph)
    curves = dict(outcome.curves)
    if prepared.chosen_lags is not None:
        curves["steps back"] = prepared.chosen_lags.curve
    announce(warnings)  # those about reading were given when the data were read
    result = Result(
        graph=outcome.graph,
        method=entry.name,
        status=outcome.status,
        message="; ".join(
            filter(
                None,
                (
                    outcome.message,
                    started_in_words(searching.start),
                    source.windows_made,
                    "" if prepared.chosen_lags is None else prepared.chosen_lags.message,
                    prepared.order,
                    prepared.penalty.message,
                    *capabilities.messages(),
                    *source.lost_cells,
                    source.rows_set,
                    source.queries,
                    screened,
                    not_looked,
                    *source.noise_account,
                ),
            )
        ),
        score=outcome.score,
        score_name=None if chosen is None else chosen.name,
        seconds=clock.elapsed,
        seed=seed,
        weights=outcome.weights,
        trace=tuple(trace),
        stats={**work, **source.passes, **errors, **outcome.stats},
        settings=settings,
        versions=versions(),
        warnings=(*source.reading_warnings, *warnings),
        dropped=outcome.dropped,
        curves=curves,
        raw_weights=outcome.raw_weights,
        class_only=not isinstance(outcome.graph, DAG)
        or (chosen is not None and chosen.tells_class_only and settings.get("order") is None),
        edge_gains=evidence.gains,
        absent_costs=evidence.costs,
        unseen_pairs=tuple(source.unseen_pairs),
        separating_sets=outcome.separating_sets,
        link_tests=outcome.link_tests,
        classes=outcome.classes,
        data=source.account,
        interventions=source.regimes,
    )
    return result if around is None else around.on_blanket(result)


def started_in_words(start: DAG | None) -> str:
    """A sentence on the graph that a search started from; empty without one.

    >>> started_in_words(DAG("ab", [("a", "b")]))
    'it started from the given graph of 1 edge'
    """
    return "" if start is None else f"it started from the given graph of {amount(len(start.edges), 'edge')}"
