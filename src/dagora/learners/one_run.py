"""Run a method on a score of statistics, once or in rounds of structural EM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from dagora.base.errors import OptionError
from dagora.base.events import ignore
from dagora.base.wording import by_door, option, setting
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.kernels.compilation import compilation
from dagora.learners.candidates.candidates import Candidates, CandidateScore
from dagora.learners.candidates.k_best_sets import find_k_best_sets
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.candidates.path_candidates import path_candidates
from dagora.learners.method import Method
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.auto import ColumnOrders
from dagora.learners.search.column_order import in_column_order
from dagora.learners.search.greedy.hill_climb import tabu_search
from dagora.learners.search.order.widen import Widening
from dagora.learners.search.rl_bic.rl_bic import ScoredRows
from dagora.learners.source import Source
from dagora.scores.edge_prior import with_prior
from dagora.scores.local_score import LocalScore, graph_score
from dagora.scores.registry import Score
from dagora.stats.capabilities import capabilities_of, row_numbers
from dagora.stats.name_order import in_name_order
from dagora.stats.observed.statistics import IncompleteStatistics
from dagora.stats.statistics import Statistics

if TYPE_CHECKING:
    from dagora.network.incomplete.filling import Completion

# Beyond this many columns candidates are rarely complete.
WIDE = 100


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
        given, notes, work = learner_input(self.entry, source, local, run, self.start, self.classes)
        if self.entry.in_both_orders and self.score is not None and local is not None:
            ordered = in_name_order(source.statistics)
            same = ordered is source.statistics
            given = ColumnOrders(local, local if same else self.make(ordered, run.knowledge))
        if isinstance(given, Candidates):
            compilation.wait_for_helper(run.budget.left)
        outcome = self.entry.load()(given, run, **self.method_options)
        equivalent = not run.knowledge.ancestral  # another graph of the class may lack a path
        if isinstance(given, Candidates) and isinstance(outcome.graph, DAG) and equivalent:
            outcome = replace(outcome, graph=in_column_order(outcome.graph, given))
        if outcome.status == "optimal" and isinstance(given, Candidates) and not given.complete:
            # The best graph over some of the parent sets need not be the best over all of them.
            late = f"{outcome.message}; {run.budget.reason}" if run.budget.exhausted else outcome.message
            status = "time-limit" if run.budget.exhausted else "finished"
            outcome = replace(outcome, status=status, message=late)
        return outcome, notes, work

    @property
    def start(self) -> DAG | None:
        """The graph to start from, where one was given."""
        found = self.method_options.get("start")
        return found if isinstance(found, DAG) else None

    @property
    def classes(self) -> int:
        """The number of best classes that are asked for; the score must not tell equivalent graphs apart."""
        asked = self.method_options.get("best", 1)
        if not isinstance(asked, int) or asked == 1:
            return 1
        if self.score is not None and not self.score.equivalent:
            raise OptionError(
                f"{setting('best')} ranks classes of equivalent graphs, to which {self.score.name} gives "
                "several scores: choose a score such as bic, bdeu, bic-gaussian or bge"
            )
        return asked

    def with_missing(
        self, source: Source, local: LocalScore | None, run: Run, rounds: int
    ) -> tuple[Outcome, list[str], dict[str, float]]:
        """Run the method once, or, if values are missing, in rounds of structural EM."""
        penalty = cast("float", self.score_options.get("penalty", 1.0))
        if self.classes > 1 and rounds and isinstance(source.rows, IncompleteStatistics):
            raise OptionError(
                f"{setting('best')} needs one score for every graph, which draws of missing values do not "
                f"give: {option('em_rounds', 0)} scores what was seen, {option('missing', 'drop')} leaves "
                "rows out"
            )
        incomplete = source.rows if isinstance(source.rows, IncompleteStatistics) else None
        if incomplete is not None and self.entry.in_both_orders:
            # Draws follow the columns: by name, the graph does not depend on where they stand.
            incomplete = cast("IncompleteStatistics", in_name_order(incomplete))
        if incomplete is None or not rounds or self.score is None:
            return self.once(source, local, run)
        from dagora.learners.search.structural_em import structural_em
        from dagora.network.incomplete.filling import filling_of

        seen = self.make(incomplete, run.knowledge)
        filling = filling_of(incomplete, run.seed, penalty, partial(graph_score, seen))

        def search(completion: Completion, run: Run) -> Outcome:
            n, copies = incomplete.n_rows, completion.copies
            scale = copies * math.log(n) / math.log(copies * n)
            again = replace(self, score_options={**self.score_options, "penalty": penalty * scale})
            some = Source(rows=completion.statistics)
            return again.once(some, again.make(completion.statistics, run.knowledge), run)[0]

        quiet = replace(run, on_event=lambda event: run.on_event(replace(event, score=None)))
        start = tabu_search(seen, quiet, start=self.start)
        outcome = structural_em(start, filling, search, run, rounds)
        if outcome.graph.nodes != source.names and isinstance(outcome.graph, DAG):
            outcome = replace(outcome, graph=outcome.graph.reorder(source.names))
        return outcome, [], {"rows": float(incomplete.n_rows)}

    def make(self, statistics: Statistics, knowledge: Knowledge) -> LocalScore:
        """The score on some statistics, with the prior odds that knowledge has."""
        score = cast("Score", self.score)
        plain = score.make(statistics, **self.score_options)
        return with_prior(plain, knowledge, in_nats=score.in_nats, name=score.name)


def learner_input(
    method: Method,
    source: Source,
    score: LocalScore | None,
    run: Run,
    start: DAG | None = None,
    classes: int = 1,
) -> tuple[object, list[str], dict[str, float]]:
    """Make the input of a method; also return warnings for the user and numbers about the work done."""
    work = {} if source.rows is None else row_numbers(source.rows)
    if method.takes == "statistics":
        return source.statistics, [], work
    if method.takes == "federation":
        federation = capabilities_of(source.statistics).federation
        if federation is None:
            door = by_door(python="learn_federated", command="`dagora federate`")
            raise OptionError(f"the method {method.name} works on rows over sites: use {door}")
        return federation, [], work
    if method.takes == "score" and method.needs_rows:
        return ScoredRows(cast("LocalScore", score), source.statistics.rows()), [], work
    if method.takes == "score" and source.scored is None:
        return score, [], work
    if source.scored is not None:
        refuse_scored(run.knowledge)
    if method.takes == "score" and not method.in_both_orders:
        return CandidateScore(cast("Candidates", source.scored)), [], work
    if score is None and classes > 1:
        raise OptionError(
            f"{setting('best')} needs rows: files of scores leave out sets that no best network has"
        )
    if classes > 1 and (run.knowledge.prior or run.knowledge.ancestral):
        raise OptionError(
            f"{setting('best')} ranks classes of equivalent graphs, which a prior on directions or paths "
            "tell apart: leave one of them out"
        )
    if score is None:
        found = source.scored.obeying(run.knowledge) if source.scored is not None else None
    else:
        started = run.budget.elapsed
        found = (
            scored_candidates(score, run, start) if classes == 1 else find_k_best_sets(score, run, classes)
        )
        work["scoring_seconds"] = run.budget.elapsed - started
    if found is None:
        raise OptionError(f"the method {method.name} needs a score")
    work["parent_sets"] = float(sum(len(child) for child in found))
    notes = [f"the candidate parent sets are incomplete; {found.note}"] if found.note else []
    return found, notes, work


def refuse_scored(knowledge: Knowledge) -> None:
    """Refuse what may need parent sets that a file of scores left out."""
    for there, what in ((knowledge.has_prior, "a prior"), (bool(knowledge.causes), "'causes'")):
        if there:
            raise OptionError(
                f"{what} may need parent sets that a .jkl file leaves out: learn from the table itself"
            )


def scored_candidates(score: LocalScore, run: Run, start: DAG | None = None) -> Candidates:
    """Find candidates; where they are incomplete, add the families of a graph found by tabu search.

    A search over the candidates can then always reach the score of that graph. With a time limit, and with
    many columns, where candidates are rarely complete, the tabu search comes first and ends by itself: what
    follows never comes out below it, however few parent sets can be scored in the time that is left.
    """
    if run.knowledge.ancestral:
        return path_candidates(score, run, climb(score, run, start))
    limited = not math.isinf(run.budget.left)
    wide = len(score.schema.names) > WIDE
    climbed = climb(score, run, start) if limited or wide or start is not None else None
    if climbed is not None and run.budget.exhausted:
        note = f"not looked at: any but those of a tabu search ({run.budget.reason})"
        nothing = Candidates.of(climbed.nodes, [[] for _ in climbed.nodes], complete=False, note=note)
        return with_families(nothing, climbed, score)
    found = find_candidates(score, replace(run, budget=run.budget.part(0.5)))
    if found.complete:
        return found if climbed is None or start is None else replace(found, hint=climbed.order_indices)
    widening = Widening(score, run.knowledge)
    return replace(with_families(found, climbed or climb(score, run, start), score), widen=widening)


def with_families(found: Candidates, graph: DAG, score: LocalScore) -> Candidates:
    """Candidates with the families of a graph among them."""
    families = [(child, graph.parent_indices(child)) for child in range(len(graph))]
    return found.adding(graph, score.families(families))


def climb(score: LocalScore, run: Run, start: DAG | None = None) -> DAG:
    """Find a good graph by tabu search."""
    return cast("DAG", tabu_search(score, replace(run, on_event=ignore), start=start).graph)
