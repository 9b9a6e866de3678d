import numpy as np
import pytest

from dagora.data.partition import split_rows
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DataError, RowsUnavailableError
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.statistics import secure_statistics as module
from dagora.parties.horizontal.statistics.secure_statistics import SecureStatistics
from dagora.parties.horizontal.tasks import TASKS
from dagora.stats.table import TableStatistics
from tests.random_tables import continuous_table, random_continuous, random_discrete


class Watched(OpenFederation):
    """Sums as the fixed point would refuse them, and a record of what was asked."""

    asked: list = []  # noqa: RUF012

    def count(self, task, question):
        self.asked.append(task)
        return super().count(task, question)

    def total(self, task, question, *, largest):
        self.asked.append(task)
        sums = super().total(task, question, largest=largest)
        assert np.abs(sums).max(initial=0.0) <= largest
        return sums

    def gather(self, task, question):
        raise AssertionError("statistics never look at one site's answer")


def secure(table, parties, seed=0):
    Watched.asked = []
    sites = [Site(f"s{k}", part) for k, part in enumerate(split_rows(table, parties, seed=seed))]
    return SecureStatistics(Watched(sites, TASKS), table.schema)


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
    assert Watched.asked == ["cells"]


def test_rounds_are_bounded_in_size(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 12)
    table = random_discrete(np.random.default_rng(0), 50, [2, 3, 4])
    sums = secure(table, 3)
    assert len(sums.counts([(0,), (0, 1), (1, 2), (2,)]).offsets) == 5
    assert Watched.asked == ["cells"] * 3
    with pytest.raises(DataError, match="3 columns with 24 cells"):
        sums.counts([(0, 1, 2)])


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
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-12)
    spread = np.sqrt(np.diag(theirs.scatter))
    assert ours.scatter / np.outer(spread, spread) == pytest.approx(
        theirs.scatter / np.outer(spread, spread), abs=1e-9
    )
    assert Watched.asked == ["size-and-orders", "sums", "squares", "products"]


def test_columns_that_are_constant_or_zero():
    table = continuous_table([[0.0, 5.0, 1.0], [0.0, 5.0, 2.0], [0.0, 5.0, 4.0]])
    moments = secure(table, 3).moments()
    assert moments.mean == pytest.approx([0.0, 5.0, 7 / 3], rel=1e-12)
    assert np.diag(moments.scatter) == pytest.approx([0.0, 0.0, 14 / 3], abs=1e-12)


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


@pytest.mark.parametrize("sets", [[range(12)], [range(10)] * 9], ids=["one set", "many sets"])
def test_a_site_refuses_to_count_without_bounds(sets):
    """Twelve columns of four levels have 4¹² cells, above the limit; ten have 4¹⁰, of which eight sets are allowed."""
    table = random_discrete(np.random.default_rng(0), 20, [4] * 12)
    offsets = np.cumsum([0, *map(len, sets)])
    question = {"columns": np.concatenate([list(some) for some in sets]), "offsets": offsets}
    with pytest.raises(DataError, match="more cells"):
        TASKS["cells"](Site("a", table), question)
