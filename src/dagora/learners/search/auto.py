"""The default learner: tabu search first, then a search over orders that starts from what it found.

Greedy search over single edges soon has a good graph, and often ends below the best one. A search over orders
leaves most of its local optima, on parent sets of which only the likeliest few are scored in advance: all
others that matter are near the graphs it reaches, and are added as it goes (see `widen`). Its result is never
below that of a tabu search that ended; a limit that comes earlier stops both in the same climb, a few steps
apart. Where cells are missing, or each score takes long, there is one greedy search alone. Of many continuous
columns, BIC has a search over orders of its own (see `wide_search`), without any list of parent sets.

Both searches settle ties by the order of the columns. The search over orders, and the tabu search that it
starts from, see them in the order of their names, so that the same columns give the same graph wherever they
stand. The first tabu search takes them as they stand, as the method `tabu` does; its graph is returned only
where it is better, or where there is no time for more.

Without a time limit, the search over orders ends by itself where it has not ended by then: on few columns
after a fixed amount of work, so that the graph does not depend on the clock, and on many after some minutes.
A limit that the user sets takes the place of both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

from dagora.base.events import ignore
from dagora.base.wording import option
from dagora.graph.dag import DAG
from dagora.kernels.compilation import compilation
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.candidates.level_search import quick_candidates
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.column_order import in_order_by_score
from dagora.learners.search.ges.ges import limits_of
from dagora.learners.search.greedy.hill_climb import hill_climb, tabu_beside, tabu_search
from dagora.learners.search.greedy.neighbour_scores import NeighbourScores
from dagora.learners.search.order.order_search import WorkLimit, order_search, search_orders
from dagora.learners.search.order.wide.wide_search import form_of_many, search_wide
from dagora.learners.search.order.widen import Widening
from dagora.scores.discrete import DiscreteScore
from dagora.scores.local_score import TIE, LocalScore, PivotForm

# Disturbances of each order without improvement after which the search ends, and the number of orders.
PATIENCE, CHAINS = 6000, 4
# Restarts of tabu search where paths are known, which a search over orders does not see.
RESTARTS = 5
# With no time limit, the search over orders ends after this work, in so many rounds: about a second on up to
# `QUICK` columns, and half a minute on more. Columns of which most depend on most others take all of it.
QUICK = 60
WORK, MORE_WORK, ROUNDS = 3e7, 1e9, 10
# With more columns than these and no time limit, the search over orders ends after so many seconds. With
# fewer, the graph must not depend on the clock.
WIDE = 100
OWN_SECONDS = 240.0


@dataclass(frozen=True)
class ColumnOrders:
    """One score twice: on the columns as they stand in the data, and in the order of their names."""

    given: LocalScore
    by_name: LocalScore


def auto(source: ColumnOrders | Candidates, run: Run, *, start: DAG | None = None) -> Outcome:
    """Learn a graph by what is best for the data; the message says what was done."""
    if isinstance(source, Candidates):
        return order_search(source, run, start=start)
    capabilities = source.given.capabilities
    if capabilities.is_expensive:
        climbed = hill_climb(source.given, run, start=start)
        return with_account(climbed, "hill climbing, as each score of this kind takes long")
    if source.by_name.capabilities.is_slow:
        return with_account(
            tabu_search(source.by_name, run, start=start), "tabu search, as cells are missing"
        )
    if run.knowledge.ancestral:
        climbed = tabu_search(source.by_name, run, start=start, restarts=RESTARTS)
        return with_account(climbed, "tabu search with restarts, as paths are known ('causes')")
    counts_rows = isinstance(source.given, DiscreteScore) and capabilities.counts_rows
    kept = NeighbourScores() if counts_rows else None
    first = tabu_beside(source.given, run, kept, start)
    if run.budget.exhausted:
        return with_account(first, "tabu search")
    form = None if run.knowledge.directs else form_of_many(source.by_name)
    if form is not None:
        return search_many(source, form, run, first)
    own = OwnLimit.of(run, len(source.given.schema))
    work = own_work(run, len(source.given.schema))
    found, sets = search_by_name(source, first, own.run, work, kept, start)
    if clearly_above(first, found):
        # From the graph of the first search, the search over orders ends in one at least as good.
        again = cast("DAG", first.graph).reorder(source.by_name.schema.names)
        found = search_from(again, sets, source.by_name, own.run, work)
    found = own.explain(found)
    graph = in_order_by_score(cast("DAG", found.graph), source.by_name, run.knowledge)
    done = f"tabu search, then a search over orders on {sum(map(len, sets)):,} parent sets"
    if not sets.complete:
        done += ", widened around each graph that it reached"
    stats = {**found.stats, "tabu_score": cast("float", first.score)}
    outcome = replace(found, graph=graph.reorder(source.given.schema.names), stats=stats)
    return with_account(outcome, done)


def search_many(source: ColumnOrders, form: PivotForm, run: Run, first: Outcome) -> Outcome:
    """Search orders of many continuous columns by name, from what tabu search found."""
    score = source.by_name
    own = OwnLimit.of(run, len(score.schema))
    rules = limits_of(run.knowledge, score.schema.names)
    found = own.explain(search_wide(score, form, rules, own.run, first))
    graph = in_order_by_score(cast("DAG", found.graph), score, run.knowledge)
    outcome = replace(found, graph=graph.reorder(source.given.schema.names))
    return with_account(outcome, "tabu search, then a search over orders")


@dataclass(frozen=True)
class OwnLimit:
    """The run of the search over orders, which ends by itself also where the user sets no time limit."""

    run: Run
    asked: Run

    @classmethod
    def of(cls, asked: Run, columns: int) -> OwnLimit:
        """Limit a run to what is left of `OWN_SECONDS`, or to half of them, unless it is limited already."""
        if columns <= WIDE or not math.isinf(asked.budget.left):
            return cls(asked, asked)
        left = max(OWN_SECONDS / 2, OWN_SECONDS - asked.budget.elapsed)
        return cls(replace(asked, budget=asked.budget.at_most(left)), asked)

    def explain(self, found: Outcome) -> Outcome:
        """The outcome; if it was not the user who ended the search, its message says so."""
        if found.status != "time-limit" or self.asked.budget.exhausted:
            return found
        effort = found.message.partition(":")[0]
        more = option("time_limit")
        why = f"with no time limit, auto ends after about {OWN_SECONDS:g} s ({more} allows more)"
        return replace(found, status="finished", message=f"{effort}: {why}")


def own_work(asked: Run, columns: int) -> WorkLimit | None:
    """The work of the search over orders, which also ends by itself where columns are few; or no limit."""
    if columns > WIDE or not math.isinf(asked.budget.left):
        return None
    most, long = (WORK, "a second") if columns <= QUICK else (MORE_WORK, "half a minute")
    more = option("time_limit")
    why = f"with no time limit, auto ends after about {long} of that ({more} allows more)"
    return WorkLimit(most / ROUNDS, most, why)


def search_by_name(
    source: ColumnOrders,
    first: Outcome,
    run: Run,
    work: WorkLimit | None,
    kept: NeighbourScores | None,
    start: DAG | None,
) -> tuple[Outcome, Candidates]:
    """Tabu search and search over orders on the columns by name; also the parent sets they began with."""
    score = source.by_name
    sets = quick_candidates(score, run)
    if score is source.given:
        climbed = cast("DAG", first.graph)
    else:
        climbed = cast("DAG", tabu_beside(score, replace(run, on_event=ignore), kept, start).graph)
    compilation.wait_for_helper(run.budget.left)
    return search_from(climbed, sets, score, run, work), sets


def search_from(start: DAG, sets: Candidates, score: LocalScore, run: Run, work: WorkLimit | None) -> Outcome:
    """Search orders from that of a graph, on parent sets that are widened where they are not complete."""
    if not sets.complete:
        families = score.families([(child, start.parent_indices(child)) for child in range(len(start))])
        sets = replace(sets.adding(start, families), widen=Widening(score, run.knowledge))
    found = search_orders(sets, run, CHAINS, PATIENCE, work)
    if found.status == "optimal" and not sets.complete:
        return replace(found, status="finished")
    return found


def clearly_above(one: Outcome, other: Outcome) -> bool:
    """Return True if an outcome scores more than another by more than a tie."""
    ours, theirs = cast("float", one.score), other.score
    return theirs is None or ours > theirs + TIE * abs(ours)


def with_account(outcome: Outcome, done: str) -> Outcome:
    """The outcome with a message that begins with what was done."""
    return replace(outcome, message=f"{done}: {outcome.message}")
