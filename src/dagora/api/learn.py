"""Learn a graph from data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dagora.base.events import Budget, Event, Observer, ignore
from dagora.base.version import versions
from dagora.base.wording import announce
from dagora.data.interventions import Said
from dagora.data.series import Timing
from dagora.graph.ancestral.pag import PAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge, as_knowledge
from dagora.learners.checks import check_circumstances
from dagora.learners.edge_gains import edge_gains
from dagora.learners.registry import method_named
from dagora.learners.request import prepare
from dagora.learners.result import Result, TracePoint
from dagora.learners.run import Run
from dagora.learners.screening import screen
from dagora.scores.estimation import estimation
from dagora.scores.local_score import ScoreCapabilities

# Most rounds of structural EM.
EM_ROUNDS = 6


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
    discrete: Iterable[str] = (),
    continuous: Iterable[str] = (),
    drop: Iterable[str] = (),
    missing: str = "auto",
    na: str | Iterable[str] = "auto",
    discretise: str | None = None,
    bins: int | None = None,
    separator: str | None = None,
    interventions: Said | None = None,
    em_rounds: int = EM_ROUNDS,
    time: str | None = None,
    series: str | None = None,
    **options: Any,  # noqa: ANN401 - checked against the registry
) -> Result:
    """Learn a graph from a file, a data frame, a matrix, a mapping of columns, a table or any `Statistics`.

    Scored `Candidates` and `.jkl` files will do for methods that search on scores. From `discrete` to
    `separator`, the options say how the data are to be understood; `read_table` explains them.
    `interventions` names the column that says which variables were set from outside in a row, or lists them
    for each row: those rows do not count for what the variable depends on. Options of the method and of the
    score are keyword arguments too; `dagora methods NAME` lists them.

    `missing` may also be "model": learn from what was seen, under the assumption that cells are missing at
    random. "auto" does so where there are holes and method and score can, and else refuses missing cells.
    `em_rounds` is the most rounds of structural EM then; with 0, the method runs once on what was seen.

    `time` and `series` name the columns that say when a row was and which series it belongs to, for methods
    that learn from series, such as dynotears.

    >>> rows = {"smoker": ["no", "yes"] * 20, "cough": [0, 1] * 20}
    >>> result = learn(rows, score="bdeu", ess=2)
    >>> result.graph.edges
    (('cough', 'smoker'),)
    >>> rows = {"switch": [0, 1] * 60, "lamp": [0, 1] * 40 + [0, 0, 1, 1] * 10}
    >>> rows["set"] = [""] * 80 + ["lamp"] * 40
    >>> learn(rows, interventions="set").cpdag.edges
    (('switch', 'lamp'),)
    """
    entry = method_named(method)
    known = as_knowledge(knowledge, max_parents)
    clock = budget or Budget(check_circumstances(seed, time_limit, jobs))
    reading = {
        "discrete": discrete,
        "continuous": continuous,
        "drop": drop,
        "missing": missing,
        "na": na,
        "discretise": discretise,
        "bins": bins,
        "separator": separator,
    }
    prepared = prepare(
        data,
        method,
        reading,
        options,
        clock=clock,
        score=score,
        knowledge=known,
        jobs=jobs,
        interventions=interventions,
        em_rounds=em_rounds,
        timing=Timing.read(time, series),
    )
    searching, source, known = prepared.searching, prepared.source, prepared.knowledge
    chosen = searching.score
    trace: list[TracePoint] = []
    steps: dict[str, int] = {}  # the last step of each phase; every phase counts from zero

    def observe(event: Event) -> None:
        if event.score is not None:
            steps[event.phase] = max(event.step, steps.get(event.phase, 0))
            if not trace or event.score > trace[-1].score:
                trace.append(TracePoint(clock.elapsed, sum(steps.values()), event.score))
        on_event(event)

    run = Run(known, seed, entry.time_to_search(len(source.names), clock), jobs, observe)
    local = None if chosen is None else searching.make(source.statistics)
    capabilities = ScoreCapabilities() if local is None else local.capabilities
    capabilities.check_knowledge(known)
    screened = screen(searching, source, local, run)
    outcome, notes, work = searching.with_holes(source, local, run, em_rounds)
    errors, doubts = estimation(local)
    gains = {}
    worth = local is not None and chosen is not None and chosen.in_nats and source.in_memory
    if local is not None and worth and not isinstance(outcome.graph, PAG):
        gains = edge_gains(local, outcome.graph, run)
    settings = prepared.settings(time_limit)
    if source.noise is not None:
        settings["privacy"] = source.noise.terms()
        doubts += source.noise.warnings(entry.name)
    doubts = [*notes, *doubts, *outcome.warnings, *source.data_warnings]
    announce(doubts)  # those about reading were given when the data were read
    return Result(
        graph=outcome.graph,
        method=entry.name,
        status=outcome.status,
        message="; ".join(
            filter(
                None,
                (
                    outcome.message,
                    *capabilities.messages(),
                    *source.lost_cells,
                    source.rows_set,
                    source.queries,
                    screened,
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
        warnings=(*source.reading_warnings, *doubts),
        dropped=outcome.dropped,
        curves=outcome.curves,
        raw_weights=outcome.raw_weights,
        class_only=not isinstance(outcome.graph, DAG) or (chosen is not None and chosen.tells_class_only),
        edge_gains=gains,
        separating_sets=outcome.separating_sets,
        data=source.account,
        interventions=source.regimes,
    )
