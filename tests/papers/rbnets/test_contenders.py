"""The contenders on a small network, against all its orders."""

import itertools
from pathlib import Path

import pytest

from dagora.base.budget import Budget
from dagora.base.errors import DagoraError
from dagora.graph.dag import DAG
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.papers.rbnets import contenders
from dagora.papers.rbnets.contenders import (
    ALONE,
    CLIMB,
    DESCENDED,
    EXACT,
    LONGER,
    NULL_MODELS,
    PARENT_SETS,
    POLICY,
    RANDOM,
    RANDOMISED,
    SETS,
    contender_cells,
    identity,
    measure_cell,
    parent_sets,
    score_of,
)
from dagora.papers.rbnets.published import (
    CATEGORIES,
    KNOWN_STRUCTURES,
    SECONDS,
    SECONDS_COLUMNS,
    UNKNOWN_STRUCTURES,
    category,
    seconds_in_paper,
)
from dagora.scores.local_score import graph_score
from tests.papers.rbnets.tiny import NODES, tiny

__all__ = ["tiny"]
DATA = {"data": "net*", "rows": 300}


@pytest.fixture(autouse=True)
def forget() -> None:
    contenders._found.clear()
    score_of.cache_clear()


def optimum() -> float:
    """The best sum of local scores over all orders and all parent sets."""
    score = score_of(identity(DATA))
    d = len(NODES)
    subsets = [tuple(s) for k in range(d) for s in itertools.combinations(range(d), k)]
    families = [(child, s) for child in range(d) for s in subsets if child not in s]
    value = dict(zip(families, score.families(families).tolist(), strict=True))

    def worth(order: tuple[int, ...]) -> float:
        before = [set(order[:k]) for k in range(d)]
        return sum(
            max(value[x, s] for s in subsets if x not in s and set(s) <= allowed)
            for x, allowed in zip(order, before, strict=True)
        )

    return max(map(worth, itertools.permutations(range(d))))


def small(options: dict) -> dict:
    """As few steps as show that a contender works."""
    less = {"episodes": 8, "restarts": 20, "orders": 30, "restarts_per_variable": 4, "orders_per_variable": 6}
    return {name: min(value, less[name]) if name in less else value for name, value in options.items()}


@pytest.mark.parametrize("label", [*EXACT, *CLIMB, *RANDOMISED, *LONGER, *NULL_MODELS])
def test_no_contender_exceeds_the_optimum_and_exact_ones_reach_it(tiny: Path, label: str) -> None:
    everything = {**EXACT, **CLIMB, **RANDOMISED, **LONGER, **NULL_MODELS}
    (cell,) = contender_cells(DATA, {label: small(everything[label])}, limit=60.0, seed=1)
    numbers = measure_cell(cell, Run())
    best = optimum()
    assert numbers["bic"] <= best + 1e-6
    if label in {*EXACT, DESCENDED, "order-search", "RBNets improved", "ASOBS"}:
        assert numbers["bic"] == pytest.approx(best)
    if label in EXACT:
        assert (numbers["status"], numbers["proved"], numbers["gap"]) == ("optimal", True, 0.0)
    if label in ALONE:
        assert numbers["bic"] == pytest.approx(max(numbers["best_seen"], numbers["greedy"]))
    assert numbers["cpu_seconds"] >= 0


def test_rl_bic_stands_beside_as_many_random_dags(tiny: Path) -> None:
    network = {"rounds": 20, "hidden": 2, "heads": 1, "blocks": 1}
    (cell,) = contender_cells(DATA, {"RL-BIC": {**POLICY["RL-BIC"], **network}}, limit=60.0, seed=1)
    numbers = measure_cell(cell, Run())
    assert (numbers["status"], numbers["graphs"], numbers["rounds"]) == ("finished", 1280, 20)
    assert 0 < numbers["acyclic"] <= 1280
    assert numbers["device"]
    assert max(numbers["bic"], numbers["random_dags"]) <= optimum() + 1e-6
    assert numbers["compile_seconds"] > 0


def test_the_same_cell_gives_the_same_bic(tiny: Path) -> None:
    for label in (RANDOM, "OBS"):
        (cell,) = contender_cells(
            DATA, {label: small({**RANDOMISED, **NULL_MODELS}[label])}, limit=60.0, seed=3
        )
        assert measure_cell(cell, Run())["bic"] == measure_cell(cell, Run())["bic"]


def test_parent_sets_are_found_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = contenders.scored_candidates

    def counting(score, run):
        asked.append(run.budget.left)
        return real(score, run)

    contenders.warm_up("obs")
    monkeypatch.setattr(contenders, "scored_candidates", counting)
    (cell,) = contender_cells(DATA, SETS)
    numbers = measure_cell(cell, Run(budget=Budget(500)))
    assert (numbers["variables"], numbers["rows_used"], numbers["complete"]) == (5, 300, True)
    again = measure_cell(cell, Run())
    # How much time there is in all says nothing about the parent sets.
    assert asked == [float("inf")]
    assert again == numbers
    assert cell["contender"] == PARENT_SETS


def test_parent_sets_cut_short_are_not_kept(tiny: Path) -> None:
    stopped = Budget()
    stopped.stop("interrupted")
    parent_sets(DATA, Run(budget=stopped))
    assert not contenders._found
    assert parent_sets(DATA, Run()) is parent_sets(DATA, Run())


def test_a_limit_ends_a_search_and_is_told(tiny: Path) -> None:
    (cell,) = contender_cells(DATA, {RANDOM: NULL_MODELS[RANDOM]}, limit=1e-9, seed=0)
    numbers = measure_cell(cell, Run())
    assert (numbers["status"], numbers["tried"]) == ("time-limit", contenders.NULL_TOGETHER)


def test_the_papers_numbers_add_up() -> None:
    for counts in (UNKNOWN_STRUCTURES, KNOWN_STRUCTURES):
        assert all(sum(column) == 30 for column in counts.values())
        assert all(len(column) == len(CATEGORIES) for column in counts.values())
    assert all(len(row) == len(SECONDS_COLUMNS) for row in SECONDS.values())
    assert seconds_in_paper("alarm*", "RBNets") == 80.5
    assert seconds_in_paper("semeion", "ILP") == "OM"
    assert seconds_in_paper("alarm*", "order-search") is None


def test_categories_follow_the_bounds_of_the_text() -> None:
    inside = {12.0: 0, 8.0: 1, 4.0: 2, 1.0: 3, -1.0: 3, -4.0: 4, -8.0: 5, -12.0: 6}
    assert {value: CATEGORIES.index(category(value)) for value in inside} == inside


def test_a_score_that_is_not_the_graphs_own_is_an_error(tiny):
    score = score_of(identity(DATA))
    graph = DAG(NODES)
    bic = graph_score(score, graph)
    assert contenders.evaluate_outcome(Outcome(graph, "finished", "", bic), score, None)["bic"] == bic
    for wrong in (bic + 1e-3 * abs(bic), None):
        with pytest.raises(DagoraError, match=f"for a graph of BIC {bic:.6f}"):
            contenders.evaluate_outcome(Outcome(graph, "finished", "", wrong), score, None)
