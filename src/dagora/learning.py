"""The library's front door: learn a graph from data, or score one."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol, cast

from dagora.compiling import compilation
from dagora.data.columns.hole_pattern import check_holes, holes_in_words
from dagora.data.columns.overview import Overview
from dagora.data.columns.reading_options import ReadingOptions, split_reading
from dagora.data.interventions import Interventions, Marks, Said
from dagora.data.schema import Kind
from dagora.errors import OptionError
from dagora.events import Budget, Event, Observer, ignore
from dagora.graph.cpdag import CPDAG, Graph, require_graph
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge, read_knowledge
from dagora.method_registry import Method, method_named, methods_with
from dagora.network.incomplete.completion import Completion
from dagora.network.incomplete.filling import filling_of
from dagora.options import Option, Value, check_options
from dagora.result import Outcome, Result, TracePoint
from dagora.run import Run
from dagora.scores.candidates.candidate_score import CandidateScore
from dagora.scores.candidates.candidates import Candidates
from dagora.scores.candidates.jkl import read_jkl
from dagora.scores.candidates.level_search import find_candidates
from dagora.scores.estimation import estimation, told_of
from dagora.scores.local_score import LocalScore, check_possible, graph_score
from dagora.scores.registry import Score, default_score, default_score_of, score_named
from dagora.search.auto import ColumnOrders
from dagora.search.column_order import in_column_order
from dagora.search.greedy.hill_climb import tabu_search
from dagora.search.order.widen import Widening
from dagora.search.structural_em import structural_em
from dagora.stats.accepting import as_statistics
from dagora.stats.data_warnings import check_learnable, data_warnings
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.name_order import in_name_order
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import HasFederation, HasPrivacy, Statistics
from dagora.stats.table import TableStatistics
from dagora.version import __version__
from dagora.wording import announce, option, spoken

# What a method is given that has an objective of its own and takes no score.
OWN_OBJECTIVE = frozenset({"statistics", "federation"})
# Beyond this many columns candidates are rarely complete.
WIDE = 100
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
    reading = ReadingOptions(
        discrete,
        continuous,
        drop,
        missing,
        na,
        discretise,
        bins,
        separator,
        wanted=known.mentioned,
        numbers_for=numbers_for(entry, score),
        marks=marked_column(interventions),
        clock=clock,
        check_width=entry.check_width,
        why_not_model=partial(why_not_model, entry, score, marked=interventions is not None),
    )
    source = read_source(data, jobs, reading, interventions)
    refuse_interventions(entry, source)
    known.check_nodes(source.names)
    known = source.obeying(known, entry)
    if isinstance(em_rounds, bool) or not isinstance(em_rounds, int) or em_rounds < 0:
        raise OptionError(f"em_rounds must be a whole number, 0 or more, not {em_rounds!r}")
    chosen = choose_score(entry, score, source)
    method_options, score_options = split_options(
        entry, chosen, {**source.noise_defaults(entry.name), **options}
    )
    trace: list[TracePoint] = []
    steps: dict[str, int] = {}  # the last step of each phase; every phase counts from zero

    def observe(event: Event) -> None:
        if event.score is not None:
            steps[event.phase] = max(event.step, steps.get(event.phase, 0))
            if not trace or event.score > trace[-1].score:
                trace.append(TracePoint(clock.elapsed, sum(steps.values()), event.score))
        on_event(event)

    run = Run(known, seed, entry.time_to_search(len(source.names), clock), jobs, observe)
    local = None if chosen is None else chosen.make(source.statistics, **score_options)
    check_possible(local, known)
    searching = Searching(entry, chosen, method_options, score_options)
    outcome, notes, work = searching.with_holes(source, local, run, em_rounds)
    errors, doubts = estimation(local)
    settings = {**method_options, **score_options, "knowledge": known.to_dict(), "time_limit": time_limit}
    if isinstance(source.rows, IncompleteStatistics):
        settings.update(missing="model", em_rounds=em_rounds)
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
                    *told_of(local),
                    *source.lost_cells,
                    source.rows_set,
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
        stats={**work, **errors, **outcome.stats},
        settings={key: plain(value) for key, value in settings.items()},
        versions=versions(),
        warnings=(*source.reading_warnings, *doubts),
        dropped=outcome.dropped,
        curves=outcome.curves,
        raw_weights=outcome.raw_weights,
        data=source.account,
        interventions=source.regimes,
    )


@dataclass(frozen=True)
class Searching:
    """A method and a score with their options: what learns a graph from statistics."""

    entry: Method
    score: Score | None
    method_options: Mapping[str, object]
    score_options: Mapping[str, object]

    def once(
        self, source: Source, local: LocalScore | None, run: Run
    ) -> tuple[Outcome, list[str], dict[str, float]]:
        """Run the method; also return warnings for the user and numbers about the work done."""
        given, notes, work = learner_input(self.entry, source, local, run)
        if self.entry.in_both_orders and self.score is not None and local is not None:
            ordered = in_name_order(source.statistics)
            same = ordered is source.statistics
            given = ColumnOrders(local, local if same else self.score.make(ordered, **self.score_options))
        if isinstance(given, Candidates):
            compilation.wait_for_helper(run.budget.left)
        outcome = self.entry.load()(given, run, **self.method_options)
        if isinstance(given, Candidates) and isinstance(outcome.graph, DAG):
            outcome = replace(outcome, graph=in_column_order(outcome.graph, given))
        if outcome.status == "optimal" and isinstance(given, Candidates) and not given.complete:
            # The best graph over some of the parent sets need not be the best over all of them.
            late = f"{outcome.message}; {run.budget.reason}" if run.budget.exhausted else outcome.message
            status = "time-limit" if run.budget.exhausted else "finished"
            outcome = replace(outcome, status=status, message=late)
        return outcome, notes, work

    def with_holes(
        self, source: Source, local: LocalScore | None, run: Run, rounds: int
    ) -> tuple[Outcome, list[str], dict[str, float]]:
        """Run the method once, or, where cells are missing, in rounds of structural EM."""
        penalty = cast("float", self.score_options.get("penalty", 1.0))
        holes = source.rows if isinstance(source.rows, IncompleteStatistics) else None
        if holes is not None and self.entry.in_both_orders:
            # Draws follow the columns: by name, the graph does not depend on where they stand.
            holes = cast("IncompleteStatistics", in_name_order(holes))
        if holes is None or not rounds or self.score is None:
            return self.once(source, local, run)
        seen = self.make(holes)
        filling = filling_of(holes, run.seed, penalty, partial(graph_score, seen))

        def search(completion: Completion, run: Run) -> Outcome:
            n, copies = holes.n_rows, completion.copies
            scale = copies * math.log(n) / math.log(copies * n)
            again = replace(self, score_options={**self.score_options, "penalty": penalty * scale})
            some = Source(rows=completion.statistics)
            return again.once(some, again.make(completion.statistics), run)[0]

        quiet = replace(run, on_event=lambda event: run.on_event(replace(event, score=None)))
        start = tabu_search(seen, quiet)
        outcome = structural_em(start, filling, search, run, rounds)
        if outcome.graph.nodes != source.names and isinstance(outcome.graph, DAG):
            outcome = replace(outcome, graph=outcome.graph.reorder(source.names))
        return outcome, [], {"rows": float(holes.n_rows)}

    def make(self, statistics: Statistics) -> LocalScore:
        """The score on some statistics."""
        return cast("Score", self.score).make(statistics, **self.score_options)


@dataclass(frozen=True)
class Source:
    """What to learn from: statistics of rows, or candidate parent sets that were scored before."""

    rows: Statistics | None = None
    scored: Candidates | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return self.statistics.schema.names if self.scored is None else self.scored.names

    @property
    def statistics(self) -> Statistics:
        """The statistics; an error where there are only scores."""
        if self.rows is None:
            raise OptionError("a .jkl file holds scores and no rows: choose a method that searches on scores")
        return self.rows

    @property
    def data_warnings(self) -> list[str]:
        """Warnings about odd data."""
        return [] if self.rows is None or self.noise is not None else data_warnings(self.rows)

    @property
    def noise(self) -> HasPrivacy | None:
        """The statistics, where they carry noise for privacy."""
        return self.rows if isinstance(self.rows, HasPrivacy) else None

    @property
    def noise_account(self) -> list[str]:
        """What noise promises, and what to expect from it; empty without noise."""
        return [] if self.noise is None else self.noise.account()

    def noise_defaults(self, method: str) -> Mapping[str, Value]:
        """Options of a method that noise changes."""
        return {} if self.noise is None else self.noise.defaults(method)

    def obeying(self, knowledge: Knowledge, method: Method) -> Knowledge:
        """The knowledge, with the parent limit of noisy data where it has none; a higher one is refused."""
        most = None if self.noise is None else self.noise.max_parents
        if most is None or method.takes in OWN_OBJECTIVE:
            return knowledge
        if (knowledge.max_parents or 0) > most:
            raise OptionError(
                f"{option('max_parents', knowledge.max_parents)} asks for more than was released with noise: "
                f"set {option('max_parents', most)}"
            )
        return as_knowledge(knowledge, most)

    @property
    def overview(self) -> Overview | None:
        """How the source of the data was understood, where it was a table."""
        known = isinstance(self.rows, TableStatistics | IncompleteStatistics)
        return cast("TableStatistics", self.rows).overview if known else None

    @property
    def reading_warnings(self) -> tuple[str, ...]:
        """Warnings about how the data were understood."""
        return () if self.overview is None else self.overview.warnings

    @property
    def dropped_rows(self) -> str:
        """How many rows were dropped, in words; empty where none was."""
        return "" if self.overview is None else self.overview.dropped_rows

    @property
    def regimes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that were set from outside; empty where none was."""
        return self.rows.interventions.regimes if isinstance(self.rows, InterventionalStatistics) else ()

    @property
    def rows_set(self) -> str:
        """In how many rows each variable was set, in words; empty where none was."""
        if not isinstance(self.rows, InterventionalStatistics):
            return ""
        interventions = self.rows.interventions
        left_out = (f"{name} {int((~interventions.unset(name)).sum())}" for name in interventions.targets)
        return f"rows in which a variable was set do not count for it ({', '.join(left_out)})"

    @property
    def lost_cells(self) -> list[str]:
        """How many rows were dropped and how many missing cells were modelled, in words."""
        if isinstance(self.rows, IncompleteStatistics):
            return [holes_in_words(self.rows.table.pattern)]
        return [self.dropped_rows]

    @property
    def account(self) -> dict[str, Any]:
        """How the data were understood, as JSON."""
        return {} if self.overview is None else self.overview.to_dict()


def read_source(
    data: object,
    jobs: int,
    reading: ReadingOptions | None = None,
    interventions: Said | None = None,
) -> Source:
    """Read a table or a `.jkl` file, or take what is given."""
    if isinstance(data, str | Path) and str(data).lower().removesuffix(".gz").endswith(".jkl"):
        data = read_jkl(data)
    if isinstance(data, Candidates):
        said = list(reading.stated()) if reading else []
        if said:
            raise OptionError(f"a .jkl file holds scores and no rows: leave {option(said[0])} out")
        if interventions is not None:
            raise OptionError(f"a .jkl file holds scores and no rows: leave {option('interventions')} out")
        return Source(scored=data)
    rows = as_statistics(data, jobs, reading)
    source = Source(rows if interventions is None else intervened(rows, interventions, jobs))
    check_learnable(source.statistics.schema, source.statistics.n_rows, source.overview)
    if isinstance(source.rows, IncompleteStatistics):
        check_holes(source.names, source.rows.table.seen)
    return source


def marked_column(interventions: Said | None) -> str | None:
    """The column that says which variables were set, where one does."""
    return Marks.read(interventions).column if isinstance(interventions, str | Mapping) else None


def intervened(rows: Statistics, interventions: Said, jobs: int) -> InterventionalStatistics:
    """Statistics of a table in some of whose rows variables were set."""
    if type(rows) is not TableStatistics:
        raise OptionError(f"{option('interventions')} needs a table of rows, not statistics of them")
    table = rows.rows()
    if not isinstance(interventions, Mapping | Sequence):
        raise OptionError(
            "interventions takes a column, a mapping of its levels to variables, or a list with an entry per "
            f"row, not {interventions!r}"
        )
    if isinstance(interventions, str | Mapping):
        return InterventionalStatistics.of_marked(table, Marks.read(interventions), jobs)
    return InterventionalStatistics(table, Interventions.of_rows(interventions, table.names), jobs)


def refuse_interventions(method: Method, source: Source) -> None:
    """Refuse interventions to a method that would count every row for every variable."""
    if isinstance(source.rows, InterventionalStatistics) and method.takes in OWN_OBJECTIVE:
        raise OptionError(
            f"the method {method.name} has an objective of its own, which knows of no interventions: choose "
            "one that searches on scores, such as auto or ges"
        )


def learner_input(
    method: Method, source: Source, score: LocalScore | None, run: Run
) -> tuple[object, list[str], dict[str, float]]:
    """Make the input of a method; also return warnings for the user and numbers about the work done."""
    work = {} if source.rows is None else {"rows": float(source.rows.n_rows)}
    if method.takes == "statistics":
        return source.statistics, [], work
    if method.takes == "federation":
        if not isinstance(source.statistics, HasFederation):
            door = spoken(python="learn_federated", command="`dagora federate`")
            raise OptionError(f"the method {method.name} works on rows over sites: use {door}")
        return source.statistics.federation, [], work
    if method.takes == "score" and source.scored is None:
        return score, [], work
    if method.takes == "score" and not method.in_both_orders:
        return CandidateScore(cast("Candidates", source.scored)), [], work
    if score is None:
        found = source.scored.obeying(run.knowledge) if source.scored is not None else None
    else:
        started = run.budget.elapsed
        found = scored_candidates(score, run)
        work["scoring_seconds"] = run.budget.elapsed - started
    if found is None:
        raise OptionError(f"the method {method.name} needs a score")
    work["parent_sets"] = float(sum(len(child) for child in found))
    notes = [f"the candidate parent sets are incomplete; {found.note}"] if found.note else []
    return found, notes, work


def scored_candidates(score: LocalScore, run: Run) -> Candidates:
    """Find candidates; where they are incomplete, add the families of a graph found by tabu search.

    A search over the candidates can then always reach the score of that graph. With a time limit, and with
    many columns, where candidates are rarely complete, the tabu search comes first and ends by itself: what
    follows never comes out below it, however few parent sets can be scored in the time that is left.
    """
    limited = not math.isinf(run.budget.left)
    climbed = climb(score, run) if limited or len(score.schema.names) > WIDE else None
    found = find_candidates(score, replace(run, budget=run.budget.part(0.5)))
    if found.complete:
        return found
    graph = climbed or climb(score, run)
    families = [(child, graph.parent_indices(child)) for child in range(len(graph))]
    return replace(found.adding(graph, score.families(families)), widen=Widening(score, run.knowledge))


def climb(score: LocalScore, run: Run) -> DAG:
    """Find a good graph by tabu search."""
    return cast("DAG", tabu_search(score, replace(run, on_event=ignore)).graph)


def score_graph(data: object, graph: Graph, score: str | None = None, **options: Any) -> float:  # noqa: ANN401
    """Score a graph on data of any kind; options of `read_table` say how they are to be understood.

    >>> round(score_graph({"a": [0, 1] * 20, "b": [0, 1] * 20}, DAG(["a", "b"]), score="bic"), 3)
    -59.141
    """
    require_graph(graph)
    directed = graph.extension() if isinstance(graph, CPDAG) else graph
    reading, options = split_reading(options, graph.nodes, numbers_for(None, score))
    return graph_score(make_score(as_statistics(data, reading=reading), score, **options), directed)


def make_score(data: object, score: str | None = None, jobs: int = 1, **options: Any) -> LocalScore:  # noqa: ANN401
    """Make the named score (or the default one) of some data."""
    reading, options = split_reading(options, numbers_for=numbers_for(None, score))
    statistics = as_statistics(data, jobs, reading)
    entry = default_score(statistics.schema) if score is None else score_named(score)
    return entry.make(statistics, **options)


def candidates(
    data: object,
    score: str | None = None,
    *,
    max_parents: int | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    jobs: int = 1,
    on_event: Observer = ignore,
    budget: Budget | None = None,
    **options: Any,  # noqa: ANN401
) -> Candidates:
    """Find the parent sets of each column that could be part of a best network, with their scores.

    >>> table = {"a": [0, 1] * 20, "b": [0, 1] * 20}
    >>> [(child.parents, child.scores.round(2).tolist()) for child in candidates(table, score="bic")]
    [(((1,), ()), [-3.69, -29.57]), (((0,), ()), [-3.69, -29.57])]
    """
    check_circumstances(0, None, jobs)
    known = as_knowledge(knowledge, max_parents)
    reading, options = split_reading(options, known.mentioned, numbers_for(None, score))
    statistics = as_statistics(data, jobs, reading)
    check_learnable(statistics.schema, statistics.n_rows)
    local = make_score(statistics, score, **options)
    known.check_nodes(local.schema.names)
    check_possible(local, known)
    return find_candidates(local, Run(known, budget=budget or Budget(), jobs=jobs, on_event=on_event))


def as_knowledge(
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None, max_parents: int | None
) -> Knowledge:
    """Make a `Knowledge` of what is given, with the smaller of its own parent limit and `max_parents`."""
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


def check_circumstances(seed: int, time_limit: float | None, jobs: int) -> float | None:
    """Refuse a seed, time limit or number of jobs that is not valid; return the time limit."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError(f"the seed must be a whole number, 0 or more, not {seed!r}")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise OptionError(f"jobs must be a whole number, 1 or more, not {jobs!r}")
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and 0 < time_limit <= sys.float_info.max):
        raise OptionError(f"the time limit must be a positive number of seconds, not {time_limit!r}")
    return time_limit


def choose_score(method: Method, name: str | None, source: Source) -> Score | None:
    """Find the score of a run: the named one, else the default for the columns; None where none is used."""
    if source.scored is not None and name is not None:
        raise OptionError(f"a .jkl file brings its own scores: leave {option('score')} out")
    if name is not None:
        return named_score(method, name)
    if method.takes in OWN_OBJECTIVE or source.scored is not None:
        return None
    return default_score(source.statistics.schema)


def why_not_model(method: Method, score: str | None, kinds: frozenset[Kind], *, marked: bool = False) -> str:
    """Why missing cells of columns of some kinds cannot be modelled; empty where they can.

    `marked` says that variables were set in some rows.

    >>> why_not_model(method_named("auto"), None, frozenset({Kind.DISCRETE}))
    ''
    >>> why_not_model(method_named("auto"), "bdeu", frozenset({Kind.DISCRETE}))
    'the score bdeu needs complete rows'
    """
    if marked:
        return f"{option('interventions')} needs complete rows"
    if method.takes in OWN_OBJECTIVE:
        return f"the method {method.name} needs complete rows"
    chosen = default_score_of(kinds) if score is None else score_named(score)
    return "" if chosen.observed else f"the score {chosen.name} needs complete rows"


def numbers_for(method: Method | None, score: str | None) -> str:
    """What takes numbers only, of a method and a score that were asked for; empty where neither does.

    >>> numbers_for(None, "bge"), numbers_for(None, "bdeu")
    ('the score bge', '')
    """
    if score is not None:
        chosen = score_named(score)
        return f"the score {chosen.name}" if chosen.kind is Kind.CONTINUOUS else ""
    return f"the method {method.name}" if method is not None and method.takes in OWN_OBJECTIVE else ""


def named_score(method: Method, name: str) -> Score:
    """Find a score by name; refuse one that the method cannot use."""
    if method.takes in OWN_OBJECTIVE:
        raise OptionError(f"the method {method.name} has an objective of its own and takes no score")
    chosen = score_named(name)
    if method.needs_equivalence and not chosen.equivalent:
        raise OptionError(
            f"the method {method.name} needs a score that is equal for equivalent graphs; "
            f"{chosen.name} is not"
        )
    return chosen


class Entry(Protocol):
    """A method or a sampler, which declares options of its own."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options."""


def split_options(
    method: Entry, score: Score | None, options: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Check options, fill in defaults, and return those of the method and those of the score.

    An option that both have is meant for both: `published` with rbnets and gp2. The result's message then
    names both.
    """
    of_score = score.options if score else ()
    names = {option.name for option in of_score}
    own = {option.name for option in method.options}
    owner = f"the method {method.name}" + (f" with the score {score.name}" if score else "")
    checked = check_options(owner, (*method.options, *of_score), options, methods_with)
    for key, value in checked.items():
        if isinstance(value, CPDAG):
            checked[key] = value.extension()
    return (
        {key: value for key, value in checked.items() if key in own or key not in names},
        {key: value for key, value in checked.items() if key in names},
    )


def plain(value: object) -> object:
    """Turn a setting into what JSON can hold."""
    return [list(edge) for edge in value.edges] if isinstance(value, DAG) else value


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    others = {package: version_of(package) for package in ("numpy", "numba", "scipy")}
    return {"python": platform.python_version(), "dagora": __version__, **others}


@cache
def version_of(package: str) -> str:
    """Version of an installed package; looking it up is slow, so it is remembered."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
