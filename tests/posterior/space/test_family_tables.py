"""Family tables against weights and sums taken one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.events import Event
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.space.family_tables import FamilyTables, family_tables, family_tables_in_time
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from tests.posterior.oracle import RandomScore, discrete, gaussian

UNIFORM = prior_named("uniform")
PLUS_ONE = Space.plus_one([(1, 2), (0,), (), (0, 1, 2), (3,)], "a few")
SPACES = {"full": Space.full(5), "plus one": PLUS_ONE, "cores only": Space(PLUS_ONE.cores, ((),) * 5, "")}
KNOWN = {
    "nothing": Knowledge(),
    "forbidden": Knowledge(forbidden=[("x1", "x0"), ("x4", "x3")]),
    "tiers": Knowledge(tiers=[["x2"], ["x0", "x4"]]),
    # x4 has no core with x1 and x2 in it: they must come in all the same.
    "required": Knowledge(required=[("x1", "x4"), ("x2", "x4"), ("x0", "x1")]),
    "few parents": Knowledge(max_parents=1),
    "all": Knowledge([("x1", "x4")], [("x2", "x0")], [["x1"], ["x3", "x0"]], 2),
}


def parents_of(tables: FamilyTables, child: int, row: int, mask: int) -> tuple[int, ...]:
    core = [int(tables.cores[child, c]) for c in range(tables.sizes[child]) if mask >> c & 1]
    return tuple(sorted([*core, *([int(tables.extras[child, row - 1])] if row else [])]))


def entries(tables: FamilyTables, child: int) -> list[tuple[int, int, int]]:
    """Row, mask and place of all entries of a child."""
    size = int(tables.sizes[child])
    return [
        (row, mask, int(tables.starts[child]) + (row << size) + mask)
        for row in range(1 + int(tables.counts[child]))
        for mask in range(1 << size)
    ]


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("space", SPACES)
def test_weights_and_sums_are_those_of_each_family(space: str, known: str) -> None:
    score, prior, knowledge = RandomScore(5, 3.0), prior_named("sparse"), KNOWN[known]
    tables = family_tables(score, SPACES[space], prior, Run(knowledge=knowledge))
    asked, score.asked = score.asked, []
    names = score.schema.names
    weighed = set()
    for child in range(5):
        weights = {}
        for row, mask, place in entries(tables, child):
            parents = parents_of(tables, child, row, mask)
            graph = DAG.from_parents(names, [parents if i == child else () for i in range(5)])
            broken = [
                text
                for text in knowledge.violations(graph)
                if not (text.endswith("is required") and f"→ {names[child]} " not in text)
            ]
            expected = -np.inf
            if not broken:
                expected = score.families([(child, parents)])[0] - len(parents) * math.log(5)
                weighed.add((child, parents))
            assert tables.log_weights[place] == pytest.approx(expected, abs=1e-12)
            weights[row, mask] = expected
        for row, mask, place in entries(tables, child):
            inside = [w for (r, m), w in weights.items() if r == row and m & ~mask == 0]
            assert tables.log_sums[place] == pytest.approx(np.logaddexp.reduce(inside), abs=1e-10)
    # Scores can be expensive: what has no weight is not scored, and nothing twice.
    assert sorted(asked) == sorted(weighed)
    for child, core in enumerate(SPACES[space].cores):
        wanted = {j for j in core if not knowledge.forbidden_matrix(names)[j, child]}
        wanted |= set(np.flatnonzero(knowledge.required_matrix(names)[:, child]).tolist())
        assert set(tables.cores[child, : tables.sizes[child]].tolist()) == wanted


@pytest.mark.parametrize(
    "make",
    [lambda: make_score(gaussian(6, 50, 1.0), "bge"), lambda: make_score(discrete(6, 50, 0.5), "bdeu")],
)
def test_scores_in_blocks_are_the_scores_of_families(make) -> None:
    score = make()
    tables = family_tables(score, Space.plus_one([(1, 2, 3)] + [(0,)] * 5, ""), UNIFORM, Run())
    for child in range(6):
        for row, mask, place in entries(tables, child):
            expected = score.families([(child, parents_of(tables, child, row, mask))])[0]
            assert tables.log_weights[place] == pytest.approx(expected, rel=1e-10)


def test_sums_stay_sound_where_weights_are_far_apart_and_far_from_zero() -> None:
    score = RandomScore(5, 2000.0, level=-1e6)
    tables = family_tables(score, Space.full(5), UNIFORM, Run())
    for child in range(5):
        block = tables.log_weights[tables.starts[child] :][:16]
        assert tables.log_sums[tables.starts[child] + 15] == pytest.approx(
            np.logaddexp.reduce(block), rel=1e-14
        )


def test_a_space_too_large_for_memory_is_refused_before_anything_is_scored() -> None:
    score = RandomScore(6, 1.0)
    with pytest.raises(OptionError, match=r"has 192 families.*'memory' allows 1e-06.*5 parents"):
        family_tables(score, Space.full(6), UNIFORM, Run(), memory=1e-6)
    assert not score.asked


def test_when_time_runs_out_small_families_have_been_weighed_and_it_is_said() -> None:
    budget = Budget()
    seen: list[Event] = []

    def observe(event: Event) -> None:
        seen.append(event)
        if event.message == "sets of 2 parents":
            budget.stop("interrupted")

    run = Run(budget=budget, on_event=observe)
    tables, missing = family_tables_in_time(RandomScore(5, 1.0), Space.full(5), UNIFORM, run)
    assert missing == "sets of 2 or more parents were left out"
    for child in range(5):
        for row, mask, place in entries(tables, child):
            assert np.isfinite(tables.log_weights[place]) == (mask.bit_count() <= 1), (row, mask)
    assert seen[-1].phase == "scoring"
    assert seen[-1].total == 80
    with pytest.raises(OptionError, match="interrupted before all families were scored"):
        family_tables(RandomScore(5, 1.0), Space.full(5), UNIFORM, run)


def test_a_size_that_is_scored_in_part_is_left_out_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagora.posterior.space.family_scoring.MOST_TOGETHER", 1)  # each child on its own
    budget = Budget()

    def observe(event: Event) -> None:
        # After 5 empty sets, 20 of one parent and the 6 of two parents of the first child, which are written.
        if event.step > 31:
            budget.stop("interrupted")

    run = Run(budget=budget, on_event=observe)
    tables, missing = family_tables_in_time(RandomScore(5, 1.0), Space.full(5), UNIFORM, run)
    assert missing == "sets of 2 or more parents were left out"
    for child in range(5):
        for _, mask, place in entries(tables, child):
            assert np.isfinite(tables.log_weights[place]) == (mask.bit_count() <= 1)


def test_all_families_are_counted_for_progress() -> None:
    for space, known in itertools.product(SPACES.values(), KNOWN.values()):
        seen: list[Event] = []
        score = RandomScore(5, 1.0)
        family_tables(score, space, UNIFORM, Run(knowledge=known, on_event=seen.append))
        assert seen[-1].step == seen[-1].total == len(score.asked)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(wrong: float) -> None:
    score = RandomScore(3, 1.0)
    score._values[1, 5] = wrong
    with pytest.raises(DataError, match=f"the score of 'x1' with x0, x2 is {wrong}"):
        family_tables(score, Space.full(3), UNIFORM, Run())
