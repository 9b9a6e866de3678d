import numpy as np
import pytest

from dagora.base.errors import DataError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session import secure_statistics as module
from dagora.parties.horizontal.session.federation import LargestTable, OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, random_continuous, random_discrete


class Watched(OpenFederation):
    """Sums in the clear, and a record of what was asked."""

    asked: list = []  # noqa: RUF012

    def counts(self, sets):
        self.asked.append("counts")
        return super().counts(sets)

    def moments(self):
        self.asked.append("moments")
        return super().moments()

    def gather(self, task, question):
        raise AssertionError("statistics never look at one site's answer")


def secure(table, parties, seed=0):
    Watched.asked = []
    sites = [Site(f"s{k}", part) for k, part in enumerate(split_rows(table, parties, seed=seed))]
    return SecureStatistics(Watched.over(sites, TASKS))


@pytest.mark.parametrize("parties", [1, 3, 7])
def test_counts_equal_the_pooled_ones(parties):
    table = random_discrete(np.random.default_rng(parties), 80, [2, 3, 4, 2])
    sums, pooled = secure(table, parties), TableStatistics(table)
    sets = [(), (0,), (2, 1), (1, 2), (0, 1, 2, 3), (3,), (0,)]
    for ours, theirs in ((sums.counts(sets), pooled.counts(sets)),):
        assert ours.values.tolist() == theirs.values.tolist()
        assert ours.offsets.tolist() == theirs.offsets.tolist()
    for columns in ((0,), (2, 1), (3, 0, 1)):
        ours, theirs = sums.contingency(columns), pooled.contingency(columns)
        assert ours.cells.tolist() == theirs.cells.tolist()
        assert ours.counts.tolist() == theirs.counts.tolist()
    assert sums.n_rows == 80


def test_many_sets_take_one_round_and_known_sets_none():
    table = random_discrete(np.random.default_rng(0), 50, [2, 3, 4])
    sums = secure(table, 3)
    sums.counts([(0,), (1,), (0, 1), (2, 1)])
    sums.counts(np.array([[0, 1], [2, 1]]))
    assert Watched.asked == ["counts"]


def test_rounds_are_bounded_in_size(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 12)
    table = random_discrete(np.random.default_rng(0), 50, [2, 3, 4])
    sums = secure(table, 3)
    assert len(sums.counts([(0,), (0, 1), (1, 2), (2,)]).offsets) == 5
    assert Watched.asked == ["counts"] * 3


def test_larger_tables_than_the_plan_allows_are_refused(monkeypatch):
    monkeypatch.setattr(Watched, "largest_table", LargestTable(2, 12))
    sums = secure(random_discrete(np.random.default_rng(0), 50, [2, 3, 4]), 3)
    for columns in ((0, 1, 2), (0,) * 3):
        with pytest.raises(DataError, match=r"3 columns and \d+ cells is larger than the plan"):
            sums.counts([columns])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_moments_equal_the_pooled_ones(scale, offset):
    rows = random_continuous(np.random.default_rng(1), 90, 4)
    matrix = (np.column_stack(rows.columns) + offset) * scale * np.array([1, 1e-3, 1e3, -1])
    table = continuous_table(matrix)
    if scale == 1e200:
        matrix[:, 1:] /= scale
        table = continuous_table(matrix / np.array([1e100, 1, 1, 1]))
    ours, theirs = secure(table, 5).moments(), TableStatistics(table).moments()
    assert ours.n == theirs.n
    # To the rounding of values: 2⁻²⁷ of the half-width of the range, which is a few standard deviations.
    spread = np.sqrt(np.diag(theirs.scatter))
    assert np.all(np.abs(ours.mean - theirs.mean) <= 1e-8 * spread)
    assert ours.scatter / np.outer(spread, spread) == pytest.approx(
        theirs.scatter / np.outer(spread, spread), abs=3e-8
    )
    assert Watched.asked == ["moments"]


def test_columns_that_are_constant_or_zero():
    table = continuous_table([[0.0, 5.0, 1.0], [0.0, 5.0, 2.0], [0.0, 5.0, 4.0]])
    moments = secure(table, 3).moments()
    assert moments.mean == pytest.approx([0.0, 5.0, 7 / 3], abs=1e-8)
    assert np.diag(moments.scatter) == pytest.approx([0.0, 0.0, 14 / 3], abs=1e-7)


def test_mixed_columns_and_refusals():
    schema = Schema([Variable("k", Kind.DISCRETE, ("a", "b")), Variable("x", Kind.CONTINUOUS)])
    table = Table(schema, (np.array([0, 1, 1], dtype=np.uint16), np.array([1.0, 2.0, 4.0])))
    sums = secure(table, 3)
    assert sums.moments().mean == pytest.approx([7 / 3])
    assert sums.counts([(0,)]).values.tolist() == [1, 2]
    with pytest.raises(DataError, match="'x' is continuous"):
        sums.counts([(1,)])
    with pytest.raises(RowsUnavailableError, match="rows"):
        sums.rows()
