"""Searches on scanned rows that were tried on a sample: the same results to the last bit, in fewer passes."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.scan import row_sample, screening_sample
from dagora.learners import screening
from dagora.stats.scan import scan_statistics
from tests.stats.scan.test_scan import DOORS, frame

DISCRETE = ["cold", "cough", "word", "dose"]


@pytest.fixture
def small_samples(monkeypatch):
    """Samples of a quarter of the rows, however few there are."""
    monkeypatch.setattr(screening_sample, "FEWEST_ROWS", 1)
    monkeypatch.setattr(screening_sample, "ONE_OF", 4)


@pytest.fixture(scope="module")
def arrow():
    """Rows of a random network of 12 columns."""
    rng = np.random.default_rng(4)
    graph = dagora.random_dag("er", 12, 2.0, seed=rng)
    levels = {node: tuple("abc"[: rng.integers(2, 4)]) for node in graph}
    tables = {
        node: rng.dirichlet(
            np.full(len(levels[node]), 1.0), size=[len(levels[parent]) for parent in graph.parents(node)]
        )
        for node in graph
    }
    return dagora.sample_network(dagora.DiscreteNetwork(graph, levels, tables), 8000, 1).to_arrow()


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "score"),
    [("hill-climb", "bic"), ("hill-climb", "bdeu"), ("tabu", "bic"), ("ges", "aic"), ("auto", "bic")],
)
def test_results_are_the_same_to_the_last_bit_in_fewer_passes(method, score, arrow, monkeypatch):
    plain = dagora.open_rows(arrow.to_batches)
    assert plain.sample is None
    monkeypatch.setattr(screening_sample, "FEWEST_ROWS", 1)
    monkeypatch.setattr(screening_sample, "ONE_OF", 4)
    screened = dagora.open_rows(arrow.to_batches)
    assert screened.passes == plain.passes == 1, "the sample takes no pass of its own"
    expected = dagora.learn(plain, method, score=score)
    found = dagora.learn(screened, method, score=score)
    assert (found.graph, found.score) == (expected.graph, expected.score)
    assert found.stats.get("steps") == expected.stats.get("steps")
    assert found.stats["passes"] <= 0.75 * expected.stats["passes"]
    assert "every family was then counted on all 8,000 rows" in found.message
    assert "a sample of 2,000 rows" in found.message
    assert "sample" not in expected.message


@pytest.mark.parametrize("door", DOORS)
def test_a_sample_of_all_rows_is_the_table(door, tmp_path, monkeypatch):
    """Codes and levels are those in memory, without the rows that have a missing value."""
    monkeypatch.setattr(screening_sample, "FEWEST_ROWS", 1)
    monkeypatch.setattr(screening_sample, "ONE_OF", 1)
    made = frame()[DISCRETE]
    made.loc[[5, 9], "word"] = None
    source = door(made, tmp_path)
    drawn = dagora.open_rows(source, missing="drop").sample
    read = dagora.open_rows(source, missing="drop", sample=10_000)
    assert drawn.n_rows == len(made) - 2
    assert drawn.schema.variables == read.schema.variables
    assert [each.tolist() for each in drawn.columns] == [each.tolist() for each in read.columns]


def test_columns_that_are_left_out_are_not_held(small_samples, tmp_path):
    made = frame()[DISCRETE]
    made["comment"] = [f"text {k}" for k in range(len(made))]
    made["row"] = range(len(made))
    with pytest.warns(dagora.DagoraWarning, match="2 columns are left out"):
        drawn = dagora.open_rows(DOORS[0](made, tmp_path)).sample
    assert (drawn.names, drawn.n_rows) == (tuple(DISCRETE), len(made) // 4)


def test_no_sample_where_none_helps_or_rows_may_not_leave(small_samples, monkeypatch):
    assert dagora.open_rows(DOORS[-1](frame(), None)).sample is None, "moments take one pass"
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        made = frame()[DISCRETE]
        connection.execute("CREATE TABLE visits AS SELECT * FROM made")
        assert dagora.open_rows(connection, table="visits").sample is not None
        assert dagora.open_rows(connection, table="visits", push_down=True).sample is None
    monkeypatch.setattr(screening_sample, "FEWEST_ROWS", 176)
    assert dagora.open_rows(DOORS[-1](made, None)).sample is None, "175 rows are too few"


def test_rows_that_change_before_they_are_counted_early(small_samples, arrow, tmp_path):
    pq.write_table(arrow, tmp_path / "rows.parquet")
    scanned = dagora.open_rows(tmp_path / "rows.parquet")
    pq.write_table(arrow[:7000], tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="changed during the run"):
        dagora.learn(scanned, "hill-climb")


def test_sets_with_large_tables_are_not_counted_early(small_samples, arrow, monkeypatch):
    scanned = dagora.open_rows(arrow.to_batches)
    levels = scanned.schema.cardinalities
    sets = [(0,), (0, 1), tuple(range(12)), (1, 0), (2, 3, 4)]
    monkeypatch.setattr(scan_statistics, "EARLY_NUMBERS", 4000)
    scanned.count_early(sets)
    assert scanned.passes == 2
    assert scanned.knows([(0,), (1, 0), (2, 3, 4), (4, 3, 2)])
    assert not scanned.knows([tuple(range(12))])
    monkeypatch.setattr(scan_statistics, "EARLY_NUMBERS", 16 * 3 * int(levels[1] * levels[2]))
    scanned.count_early([(1, k) for k in range(2, 12)] * 100)
    assert scanned.knows([(1, 2)])
    before = scanned.passes
    scanned.count_early(sets[:2])
    assert scanned.passes == before, "what is known takes no pass"


class Slow:
    """Rows a pass over which takes a tenth of a second; it notes when passes begin."""

    def __init__(self, arrow):
        self.arrow, self.begun = arrow, []

    def __call__(self):
        self.begun.append(time.monotonic())
        time.sleep(0.1)
        return self.arrow.to_batches()


@pytest.mark.parametrize("limit", [1e-9, 0.3])
@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "auto"])
def test_no_pass_begins_after_the_time_limit(limit, method, small_samples, arrow):
    """But for the one without which there is no score; the search on the sample counts, too."""
    rows = Slow(arrow)
    scanned = dagora.open_rows(rows)
    rows.begun.clear()
    begun = time.monotonic()
    dagora.learn(scanned, method, time_limit=limit)
    late = [at for at in rows.begun if at - begun > limit + 0.05]
    assert not late or len(rows.begun) == 1


@pytest.mark.full
def test_what_would_take_too_long_is_not_counted_early(small_samples, arrow, monkeypatch):
    """What a trial took, times as many rows, may be a share of the time that is left."""
    early = []
    monkeypatch.setattr(
        scan_statistics.ScanStatistics, "count_early", lambda _, sets: early.append(len(sets))
    )
    for limit, share in ((None, 0.0), (1000, 0.3), (1000, 1e-9)):
        monkeypatch.setattr(screening, "EARLY", share)
        found = dagora.learn(dagora.open_rows(arrow.to_batches), "hill-climb", time_limit=limit)
        assert "sample" not in found.message, "nothing was counted early"
    assert len(early) == 2
    assert early[0] == early[1] > 66


def test_only_the_run_that_was_screened_says_so(small_samples, arrow):
    scanned = dagora.open_rows(arrow.to_batches)
    assert "sample" in dagora.learn(scanned, "hill-climb").message
    assert "sample" not in dagora.learn(scanned, "pc").message


def test_categories_of_each_file_are_put_together(small_samples, tmp_path):
    """100 in each of two files have places of 8 bits, which 200 have not."""
    for k in range(2):
        words = pa.array([f"{k} {word}" for word in range(100)]).dictionary_encode()
        places = pa.array(np.arange(1200) % 100, pa.int8())
        word = pa.DictionaryArray.from_arrays(places, words.dictionary)
        other = pa.array(np.arange(1200) % 3)
        pq.write_table(pa.table({"word": word, "other": other}), tmp_path / f"{k}.parquet")
    scanned = dagora.open_rows(tmp_path)
    assert len(scanned.sample.schema[0].levels) == 200
    assert dagora.open_rows(tmp_path, sample=2400).n_rows == 2400
    assert dagora.learn(scanned, "hill-climb").status


def test_rows_are_put_together_before_they_take_much_memory(small_samples, tmp_path, monkeypatch):
    """And the sample does not depend on when: words of rows that were not drawn are not kept either."""
    made = frame()[DISCRETE]
    source = DOORS[0](made, tmp_path)
    plain = dagora.open_rows(source).sample
    monkeypatch.setattr(row_sample, "MOST_ADDED", 1)
    assert dagora.open_rows(source).sample.equals(plain)
    words = pa.array(["a", "b"] * 500).dictionary_encode()
    taken = pa.table({"word": words.take(pa.array([0, 2, 4]))})
    assert row_sample.compact_words(taken).column("word").chunk(0).dictionary.to_pylist() == ["a"]


@pytest.mark.full
def test_a_time_limit_that_is_not_reached_takes_no_more_passes():
    """Of many columns, too, all families of a round are counted in one pass."""
    columns = {f"x{k}": np.random.default_rng(k).integers(0, 2, 50) for k in range(70)}
    scanned = dagora.open_rows(pa.table(columns).to_batches)
    dagora.learn(scanned, "hill-climb", time_limit=100, max_steps=0)
    assert scanned.passes == 2


def test_warnings_about_columns_take_no_pass_of_their_own(arrow):
    scanned = dagora.open_rows(arrow.to_batches)
    dagora.learn(scanned, "pc", max_given=0)
    assert scanned.passes == 2
