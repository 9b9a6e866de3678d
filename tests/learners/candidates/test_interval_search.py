"""BDeu's candidates without a limit on parents, against brute force over all subsets."""

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import OptionError, RowsUnavailableError
from dagora.graph.knowledge import Knowledge
from dagora.learners.candidates import interval_search, level_search
from dagora.learners.candidates.interval_kernels import count_levels, interval_bound, split
from dagora.learners.candidates.interval_search import IntervalSearch
from dagora.learners.candidates.level_search import find_candidates
from dagora.learners.run import Run
from dagora.scores.local_score import TIE
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.learners.candidates.test_level_search import subsets
from tests.random_tables import discrete_table, random_discrete

ESS = [0.1, 1.0, 10.0, 100.0]


def bdeu(table, ess=1.0):
    return score_named("bdeu").make(TableStatistics(table), ess=ess)


def brute_force(score, knowledge):
    """Per child: permitted sets that score more than every permitted proper subset, by more than a tie."""
    names = score.schema.names
    forbidden, required = knowledge.forbidden_matrix(names), knowledge.required_matrix(names)
    most = len(names) if knowledge.max_parents is None else knowledge.max_parents
    kept = []
    for child in range(len(names)):
        needed = {i for i in range(len(names)) if required[i, child]}
        allowed = [i for i in range(len(names)) if not forbidden[i, child]]
        sets = [q for q in subsets(allowed, min(most, len(allowed))) if needed <= set(q)]
        value = dict(zip(sets, score.families([(child, q) for q in sets]).tolist(), strict=True))
        best = {}  # of each set and its permitted subsets
        found = {}
        for q in sets:
            smaller = [tuple(j for j in q if j != i) for i in q if i not in needed]
            below = max((best[p] for p in smaller), default=-np.inf)
            best[q] = max(below, value[q])
            if not smaller or value[q] > below + TIE * abs(below):
                found[q] = value[q]
        kept.append(found)
    return kept


def noisy_parity(rng, rows, columns):
    """Columns of which some are exclusive ors of others with errors: no subset says what the whole set does."""
    data = rng.integers(0, 2, (columns, rows))
    data[0] = data[1] ^ data[2] ^ data[3] ^ (rng.random(rows) < 0.05)
    data[4] = np.where(rng.random(rows) < 0.9, data[5], data[4])
    return discrete_table(data, [2] * columns)


def tables(rng):
    yield random_discrete(rng, 12, rng.integers(2, 6, 8).tolist())  # hardly a row for a cell
    yield random_discrete(rng, 60, rng.integers(2, 6, 8).tolist())
    yield random_discrete(rng, 300, rng.integers(2, 4, 8).tolist())
    yield noisy_parity(rng, 200, 8)


@pytest.mark.parametrize("ess", ESS)
def test_the_same_sets_as_brute_force(ess):
    largest = 0
    for table in tables(np.random.default_rng(int(10 * ess))):
        score = bdeu(table, ess)
        found = IntervalSearch(score, ess, Run()).find()
        assert found.complete
        for entry, kept in zip(found, brute_force(score, Knowledge()), strict=True):
            assert set(entry.parents) == set(kept)
            assert entry.scores.tolist() == [kept[parents] for parents in entry.parents]
            largest = max(largest, *map(len, entry.parents))
    assert largest >= 3


KNOWLEDGE = {
    "limit": Knowledge(max_parents=2),
    "no parents": Knowledge(max_parents=0),
    "edges": Knowledge(required=[("x1", "x0"), ("x2", "x0")], forbidden=[("x3", "x0"), ("x0", "x4")]),
    "limit and edges": Knowledge(required=[("x1", "x0"), ("x5", "x4")], max_parents=3),
}


@pytest.mark.parametrize("knowledge", KNOWLEDGE.values(), ids=KNOWLEDGE.keys())
def test_it_obeys_knowledge(knowledge):
    score = bdeu(noisy_parity(np.random.default_rng(3), 150, 7))
    found = IntervalSearch(score, 1.0, Run(knowledge)).find()
    for entry, kept in zip(found, brute_force(score, knowledge), strict=True):
        assert set(entry.parents) == set(kept)


@pytest.mark.parametrize("ess", ESS)
def test_no_set_between_scores_more_than_the_bound(ess):
    """Every set P of the first columns, every tail after it, every set between P and P with the tail."""
    tight = 0
    for table in tables(np.random.default_rng(int(10 * ess) + 1)):
        score = bdeu(table, ess)
        search = IntervalSearch(score, ess, Run())
        free = np.arange(1, 7)
        child, path, room = search.start(0, free)
        value = {q: score.families([(0, free[list(q)].tolist())])[0] for q in subsets(range(6), 6)}
        for chosen in subsets(range(4), 3):
            labels, cells, size = path.labels[0], 1, 1.0
            for column in chosen:
                wider = np.empty_like(labels)
                cells = split(labels, cells, child.codes[column], child.levels[column], room, wider)
                labels, size = wider, size * child.levels[column]
            own, occupied = count_levels(labels, cells, size, child, room)
            assert own == pytest.approx(value[chosen], rel=1e-12)
            for tail in range(max(chosen, default=-1) + 1, 7):
                between = [tuple(sorted({*chosen, *more})) for more in subsets(range(tail, 6), 6)]
                best = max(value[q] for q in between)
                bound = interval_bound(labels, size, occupied, tail, child, room)
                assert bound >= best - 1e-9 * abs(best)
                tight += bound <= best + 0.02 * abs(best)
    assert tight > 0


@pytest.mark.full
def test_it_takes_over_where_the_levels_have_no_end():
    """Seventeen columns have more than a million families; few of them are scored."""
    rng = np.random.default_rng(5)
    table = discrete_table([*noisy_parity(rng, 70, 8).columns, *rng.integers(0, 2, (9, 70))], [2] * 17)
    found = dagora.candidates(table, score="bdeu")
    assert found.complete
    limited = dagora.candidates(table, score="bdeu", max_parents=3)
    for entry, few in zip(found, limited, strict=True):
        assert {parents for parents in entry.parents if len(parents) <= 3} == set(few.parents)
    assert {(1, 2, 3)} <= set(found.sets[0].parents)


def test_threads_change_nothing():
    score = bdeu(noisy_parity(np.random.default_rng(6), 100, 9))
    one, two = (IntervalSearch(score, 1.0, Run(jobs=jobs)).find() for jobs in (1, 2))
    assert one.flat.scores.tolist() == two.flat.scores.tolist()
    assert (one.flat.masks == two.flat.masks).all()


def test_running_out_of_time_leaves_the_small_sets():
    score = bdeu(noisy_parity(np.random.default_rng(7), 100, 8))
    budget = Budget()
    budget.stop("interrupted")
    found = IntervalSearch(score, 1.0, Run(budget=budget)).find()
    assert not found.complete
    assert found.note.startswith("not looked at: sets of more than 2 parents of x0, x1")
    assert found.note.endswith("(interrupted)")
    small = brute_force(score, Knowledge(max_parents=2))
    assert [set(entry.parents) for entry in found] == [set(kept) for kept in small]


def test_a_child_that_takes_too_long_is_named(monkeypatch):
    monkeypatch.setattr(interval_search, "AFFORDABLE", 0)
    monkeypatch.setattr(interval_search, "STEPS", 3)
    score = bdeu(noisy_parity(np.random.default_rng(8), 50, 6))
    found = IntervalSearch(score, 1.0, Run()).find()
    assert found.note == (
        "not looked at: sets of more than 2 parents of x0, x1, x2, x3, x4, x5 (there are too many)"
    )


def test_time_may_end_within_a_walk(monkeypatch):
    class ThirdLook(Budget):
        """Time is up when one looks at the clock for the third time."""

        looks = 0

        @property
        def exhausted(self):
            self.looks += 1
            return self.looks > 2

    monkeypatch.setattr(interval_search, "STEPS", 3)
    score = bdeu(noisy_parity(np.random.default_rng(8), 50, 6))
    found = IntervalSearch(score, 1.0, Run(budget=ThirdLook())).find()
    assert not found.complete
    assert found.note.startswith("not looked at: sets of more than 2 parents of x0, x1")


def test_without_rows_or_with_many_columns_a_limit_is_needed(monkeypatch):
    table = random_discrete(np.random.default_rng(3), 10, [2] * 18)
    statistics = TableStatistics(table)

    def refuse():
        raise RowsUnavailableError("no rows")

    monkeypatch.setattr(level_search, "MOST_COLUMNS", 17)
    with pytest.raises(OptionError, match="18 columns have too many: set max_parents"):
        find_candidates(score_named("bdeu").make(statistics), Run())
    monkeypatch.undo()
    monkeypatch.setattr(statistics, "rows", refuse)
    with pytest.raises(OptionError, match="18 columns have too many: set max_parents"):
        find_candidates(score_named("bdeu").make(statistics), Run())


def test_columns_of_one_level_and_equal_columns():
    rng = np.random.default_rng(9)
    a = rng.integers(0, 2, 40)
    b = np.where(rng.random(40) < 0.8, a, 1 - a)
    table = discrete_table([a, a, b, np.zeros(40, dtype=int)], [2, 2, 2, 3])
    score = bdeu(table)
    found = IntervalSearch(score, 1.0, Run()).find()
    assert [set(entry.parents) for entry in found] == [set(kept) for kept in brute_force(score, Knowledge())]
