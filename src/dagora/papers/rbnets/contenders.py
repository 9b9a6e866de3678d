"""The methods compared in tables 2 to 4, all on the same parent sets of one data set, timed in the same way.

Parent sets are found once per data set and process, without a time limit, so that they do not depend on the
load of the machine; finding them is a cell of its own, whose seconds can be added to a method's. Where they
cannot be complete they include the families of a tabu search, as everywhere in the library, and are not
widened later. Hill climbing needs none and works on the score. There are two null models without any
learning: the best of 300 random orders, and the best of 300 random orders each followed by one insertion
descent.

RBNets alone has three lines. `RBNets` is the paper's: states from random walks (figure 1b), rewards that are
scores as they are (equation 7). The other two learn from scaled gains and see walks or plain sets.

RL-BIC draws whole graphs and takes no parent sets, but rows and the score. Beside its BIC stands that of the
best of as many random DAGs as it drew graphs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, cast

import numpy as np

from dagora.api.score import make_score
from dagora.base.errors import DagoraError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.candidates.candidates import Candidates
from dagora.learners.one_run import scored_candidates
from dagora.learners.outcome import Outcome
from dagora.learners.registry import method_named
from dagora.learners.run import Run
from dagora.learners.search.rl_bic.objective import Objective
from dagora.learners.search.rl_bic.rl_bic import ScoredRows
from dagora.papers.cell import Numbers, Parameters
from dagora.papers.rbnets.data_sets import prepare_table
from dagora.scores.local_score import LocalScore, graph_score

ORDERS = 300  # the paper's episodes, each of which tries one order
PARENT_SETS = "parent sets"
PUBLISHED, WALK, SET = "RBNets", "RBNets, walk, gains", "RBNets, set, gains"
IMPROVED, GREEDY = "RBNets improved", "RBNets, greedy policy"
RANDOM, DESCENDED = "300 random orders", "300 descents"
EXACT: dict[str, Parameters] = {"A*": {"method": "astar"}, "ILP": {"method": "ilp"}}
CLIMB: dict[str, Parameters] = {"GHC": {"method": "hill-climb"}}
ALONE: dict[str, Parameters] = {
    PUBLISHED: {"method": "rbnets", "published": 1, "episodes": ORDERS},
    WALK: {"method": "rbnets", "published": 1, "state": "walk", "reward": "gain", "episodes": ORDERS},
    SET: {"method": "rbnets", "published": 1, "state": "set", "reward": "gain", "episodes": ORDERS},
}
# OBS gets as many orders as RBNets; those of ASOBS are by hand.
RANDOMISED: dict[str, Parameters] = {
    "OBS": {"method": "obs", "restarts": ORDERS},
    "ASOBS": {"method": "asobs", "orders": 20_000},
    **ALONE,
    IMPROVED: {"method": "rbnets", "published": 0, "episodes": ORDERS},
    "order-search": {"method": "order-search"},
}
# The paper does not say how long its OBS and ASOBS searched. These still take less time than 300 episodes.
LONGER: dict[str, Parameters] = {
    "OBS, longer": {"method": "obs", "restarts_per_variable": 1000},
    "ASOBS, longer": {"method": "asobs", "orders_per_variable": 20_000},
}
NULL_MODELS: dict[str, Parameters] = {
    RANDOM: {"method": "random_orders", "orders": ORDERS},
    DESCENDED: {"method": "descended_orders", "orders": ORDERS},
}
POLICY: dict[str, Parameters] = {"RL-BIC": {"method": "rl-bic"}}
SETS: dict[str, Parameters] = {PARENT_SETS: {"method": PARENT_SETS}}
OPTIONS = (
    "restarts",
    "orders",
    "episodes",
    "state",
    "reward",
    "memory",
    "rounds",
    "hidden",
    "heads",
    "blocks",
)
WITHOUT_SETS = ("hill-climb", "rl-bic")
IDENTITY = ("data", "reading", "half", "rows")
NULL_TOGETHER = 10  # orders of a null model between two looks at the clock


def contender_cells(
    data: Parameters, contenders: Mapping[str, Parameters], **settings: float
) -> list[Parameters]:
    """The cells of given contenders on a data set.

    >>> contender_cells({"data": "alarm*"}, CLIMB, seed=3)
    [{'data': 'alarm*', 'contender': 'GHC', 'method': 'hill-climb', 'seed': 3}]
    """
    return [{**data, "contender": label, **options, **settings} for label, options in contenders.items()]


@dataclass(frozen=True)
class TimedParentSets:
    """The parent sets of a data set, and what it took to find them."""

    candidates: Candidates
    seconds: float
    cpu_seconds: float


def identity(parameters: Parameters) -> tuple[tuple[str, str | int | float], ...]:
    """The parameters that determine the data set of a cell."""
    return tuple((name, parameters[name]) for name in IDENTITY if name in parameters)


@lru_cache(maxsize=1)
def score_of(data: tuple[tuple[str, str | int | float], ...]) -> LocalScore:
    """The BIC of a data set; cells of one data set follow each other."""
    return make_score(prepare_table(dict(data)), "bic")


_found: dict[tuple[tuple[str, str | int | float], ...], TimedParentSets] = {}


def parent_sets(parameters: Parameters, run: Run) -> TimedParentSets:
    """The parent sets of a cell's data set, found once by a process; only those of one data set are kept."""
    data = identity(parameters)
    if data not in _found:
        warm_up("obs")
        score = score_of(data)
        started, cpu_started = time.perf_counter(), time.process_time()
        found = scored_candidates(score, replace(run, budget=run.budget.at_most(None)))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        if run.budget.exhausted:
            # They may be incomplete: good enough for this cell, which will be discarded, but not for others.
            return TimedParentSets(replace(found, widen=None), seconds, cpu_seconds)
        _found.clear()
        _found[data] = TimedParentSets(replace(found, widen=None), seconds, cpu_seconds)
    return _found[data]


def measure_cell(parameters: Parameters, run: Run) -> Numbers:
    """Run the contender of a cell on its data set."""
    method = str(parameters["method"])
    score = score_of(identity(parameters))
    if method == PARENT_SETS:
        return describe_parent_sets(parent_sets(parameters, run), score)
    candidates = None if method in WITHOUT_SETS else parent_sets(parameters, run).candidates
    if method != "rl-bic":
        warm_up(method)
    compiling = (
        {} if method != "rbnets" or candidates is None else compile_policy(parameters, candidates, run)
    )
    own = replace(
        run, seed=int(parameters["seed"]), budget=run.budget.at_most(float(parameters["limit"])), jobs=1
    )
    started, cpu_started = time.perf_counter(), time.process_time()
    if method in {"random_orders", "descended_orders"}:
        ended: Outcome | Numbers = null_model(candidates, own, method, int(parameters["orders"]))
    elif method == "rl-bic":
        ended = learn_cell(parameters, ScoredRows(score, prepare_table(parameters)), own)
    else:
        ended = learn_cell(parameters, score if candidates is None else candidates, own)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    numbers = evaluate_outcome(ended, score, candidates) if isinstance(ended, Outcome) else ended
    if method == "rl-bic" and isinstance(ended, Outcome):
        numbers = {**numbers, **drawing(ended), **random_dags(score, own, int(ended.stats["graphs"]))}
    return {**numbers, **compiling, "seconds": seconds, "cpu_seconds": cpu_seconds}


_compiled: dict[tuple[object, ...], Numbers] = {}


def compile_policy(parameters: Parameters, candidates: Candidates, run: Run) -> Numbers:
    """Compile the networks for a data set once, by a short run, so that no measured run contains it."""
    key = (identity(parameters), parameters["published"], parameters.get("state"))
    if key not in _compiled:
        short = replace(run, budget=run.budget.at_most(float(parameters["limit"])))
        outcome = learn_cell({**parameters, "episodes": 1}, candidates, short)
        _compiled[key] = {"first_compile_seconds": outcome.stats.get("compile_seconds", 0.0)}
    return _compiled[key]


def describe_parent_sets(found: TimedParentSets, score: LocalScore) -> Numbers:
    """The number of parent sets, whether they are complete, and the size of their data set."""
    candidates = found.candidates
    return {
        "variables": len(candidates),
        "rows_used": getattr(score, "n_rows", None),
        "sets": sum(len(child) for child in candidates),
        "complete": candidates.complete,
        "note": candidates.note,
        "seconds": found.seconds,
        "cpu_seconds": found.cpu_seconds,
    }


def drawing(outcome: Outcome) -> Numbers:
    """The number of RL-BIC's draws, and the device of its network, on which that number depends."""
    import jax

    told = ("rounds", "acyclic", "best_round")
    return {**{name: outcome.stats[name] for name in told}, "device": jax.devices()[0].device_kind}


def random_dags(score: LocalScore, run: Run, graphs: int) -> Numbers:
    """The BIC of the best of so many random DAGs, pruned as RL-BIC's is."""
    from dagora.learners.search.rl_bic.rewards import best_random_dag

    objective = Objective.of(score, run.knowledge, "different")
    best = best_random_dag(objective, graphs, np.random.default_rng(run.seed))[1]
    return {"graphs": graphs, "random_dags": best}


def learn_cell(parameters: Parameters, given: Candidates | LocalScore | ScoredRows, run: Run) -> Outcome:
    """Run one of the library's methods."""
    options: dict[str, Any] = {name: parameters[name] for name in OPTIONS if name in parameters}
    for name in ("restarts", "orders"):
        if f"{name}_per_variable" in parameters:
            options[name] = int(parameters[f"{name}_per_variable"]) * len(given_names(given))
    if "published" in parameters:
        options["published"] = bool(parameters["published"])
    return method_named(str(parameters["method"])).load()(given, run, **options)


def given_names(given: Candidates | LocalScore | ScoredRows) -> tuple[str, ...]:
    """The variables that a method is given."""
    if isinstance(given, ScoredRows):
        return given.rows.names
    return given.names if isinstance(given, Candidates) else given.schema.names


def evaluate_outcome(outcome: Outcome, score: LocalScore, candidates: Candidates | None) -> Numbers:
    """The BIC of a graph, computed anew from the data, and how the search ended."""
    numbers: dict[str, Any] = {"status": outcome.status, "bic": None}
    if outcome.status == "failed":
        return {**numbers, "message": outcome.message}
    graph = cast("DAG", outcome.graph)
    bic = graph_score(score, graph)
    if outcome.score is None or abs(bic - outcome.score) > 1e-6 * max(1.0, abs(bic)):
        raise DagoraError(f"a search reported the BIC {outcome.score} for a graph of BIC {bic:.6f}")
    numbers |= {"bic": bic, "edges": len(graph.edges)}
    complete = candidates is not None and candidates.complete
    numbers["proved"] = outcome.status == "optimal" and complete
    told = ("gap", "best_seen", "greedy", "compile_seconds")
    return numbers | {name: outcome.stats[name] for name in told if name in outcome.stats}


def null_model(candidates: Candidates | None, run: Run, name: str, orders: int) -> Numbers:
    """The best of so many random orders; if time runs out, of those that were tried."""
    from dagora.learners.search.rbnets import null_models

    if candidates is None:
        raise ValueError("a null model needs parent sets")
    rng = np.random.default_rng(run.seed)
    best, tried = -np.inf, 0
    while tried < orders and not (run.budget.exhausted and tried):
        some = min(NULL_TOGETHER, orders - tried)
        best = max(best, float(getattr(null_models, name)(candidates, some, rng).max()))
        tried += some
    return {"status": "finished" if tried == orders else "time-limit", "bic": best, "tried": tried}


@cache
def warm_up(method: str) -> None:
    """Compile once per process, so that no cell's time contains it; networks compile anew for every size."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=(60, 4))
    rows[:, 1] = rows[:, 0] ^ (rng.random(60) < 0.2)
    rows[:, 2] = rows[:, 1] ^ (rng.random(60) < 0.2)
    names = list("abcd")
    score = make_score(Table.from_numpy(rows, names, discrete=names), "bic")
    found = scored_candidates(score, Run())
    if method in {"random_orders", "descended_orders"}:
        null_model(found, Run(), method, 2)
        return
    given = score if method == "hill-climb" else found
    variants: tuple[Parameters, ...] = ({},)
    if method == "rbnets":
        variants = ({"published": 1, "episodes": 2}, {"published": 0, "episodes": 2})
    for options in variants:
        learn_cell({"method": method, **options}, given, Run())
