"""The type of a column is the same in memory, in a scan and at sites: one set of rules over one profile."""

import csv
import datetime as dt
import decimal
from itertools import cycle

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dagora
from dagora.base.errors import DagoraError
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.readers import read_any
from dagora.parties.horizontal.plan.coded_rows import follow_codebook
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.stats.table import TableStatistics
from tests.data.columns.odd_columns import LONG_COLUMNS, ODD_COLUMNS, ROWS

# A site knows its own rows only: what it cannot tell from them is refused, never guessed.
REFUSED_AT_SITES = {
    "long_text": "levels must be a list of printable texts",
    "spoilt_codes": "has words as levels at south and numbers at north: the sites must write it alike",
    "half_words": "has numbers, but also",
    "late_padded": "is a column of north but not of south",
    "per_cent_and_word": "is a column of north but not of south",
    "late_decimal_comma": "with a decimal comma",
}
SIDE = [("ab" * 2)[k % 4] for k in range(ROWS)]


def write(file, name, cells):
    """A file of the column and another one."""
    with file.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow([name, "side"])
        rows.writerows(zip(cells, cycle("ab"), strict=False))
    return file


def reading(missing, **others):
    """The reading options of `learn`, but for trends: only rows in memory have them."""
    return ReadingOptions(missing=missing, constants=False, cuts=False, trends=False, **others)


def answer(make, name):
    """Kind, levels and reason of a column; why it was left out; or that it is refused."""
    try:
        found = make()
    except DagoraError:
        return "refused"
    (why,) = (column.why for column in found.overview.columns if column.name == name)
    if name not in found.schema.names:
        # A scan looks for repeats block by block only, and says so.
        return "left out: " + why.replace(
            "whole numbers that hardly repeat", "a different number in every row"
        )
    variable = found.schema[found.schema.index(name)]
    return variable.kind, variable.levels, why


@pytest.mark.parametrize("missing", ["error", "drop"])
@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_a_column_of_text_has_one_type(tmp_path, name, missing):
    cells = ODD_COLUMNS[name]
    text = write(tmp_path / "t.csv", name, cells)
    in_memory = answer(lambda: read_any(text, reading(missing)), name)
    assert answer(lambda: dagora.open_rows(text, missing=missing), name) == in_memory
    stored = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: cells, "side": SIDE}), stored)
    expected = answer(lambda: read_any(stored, reading(missing)), name)
    assert answer(lambda: dagora.open_rows(stored, missing=missing), name) == expected


@pytest.mark.parametrize("missing", ["error", "drop"])
@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_two_sites_agree_with_all_rows(tmp_path, name, missing):
    cells = (ODD_COLUMNS | LONG_COLUMNS)[name]
    whole = answer(lambda: read_any(write(tmp_path / "t.csv", name, cells), reading(missing)), name)
    files = {
        site: write(tmp_path / f"{site}.csv", name, cells[k::2]) for k, site in enumerate(("north", "south"))
    }
    try:
        tables = {site: read_any(file, reading(missing)) for site, file in files.items()}
        book = codebook_of(tables)
    except DagoraError as problem:
        assert whole == "refused" or REFUSED_AT_SITES[name] in str(problem)
        return
    if isinstance(whole, str):
        assert name not in book.schema.names, whole
        return
    variable = book.schema[book.schema.index(name)]
    assert (variable.kind, variable.levels) == whole[:2]
    for table in tables.values():
        position = table.schema.index(name)
        coded = follow_codebook(table, book)
        if variable.kind is table.schema[position].kind is dagora.Kind.DISCRETE:
            before = [table.schema[position].levels[code] for code in table.columns[position]]
            assert before == [variable.levels[code] for code in coded.columns[book.schema.index(name)]]


@pytest.mark.parametrize("name", LONG_COLUMNS)
def test_more_texts_than_are_kept_have_one_type(tmp_path, name):
    """Beyond 10,000 different texts a scan judges examples of them, by the rules that memory has."""
    text = write(tmp_path / "t.csv", name, LONG_COLUMNS[name])
    in_memory = answer(lambda: read_any(text, reading("drop")), name)
    assert answer(lambda: dagora.open_rows(text, missing="drop"), name) == in_memory


@pytest.mark.full
@pytest.mark.parametrize("name", LONG_COLUMNS)
def test_more_texts_than_are_kept_in_other_files_and_at_sites(tmp_path, name):
    cells = LONG_COLUMNS[name]
    text = write(tmp_path / "t.csv", name, cells)
    stored = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: cells, "side": ["a", "b"] * (len(cells) // 2)}), stored)
    for file, asked in ((stored, {}), (text, {"continuous": [name]}), (stored, {"continuous": [name]})):
        expected = answer(lambda file=file, asked=asked: read_any(file, reading("error", **asked)), name)
        assert answer(lambda file=file, asked=asked: dagora.open_rows(file, **asked), name) == expected
    test_two_sites_agree_with_all_rows(tmp_path, name, "drop")


@pytest.mark.full
def test_numbers_too_many_to_be_kept_are_read_as_in_memory(tmp_path):
    names = ["per_cent_with_na", "dollars", "late_decimal_comma", "accounts", "iso_dates"]
    file = tmp_path / "t.csv"
    with file.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(names)
        rows.writerows(zip(*(LONG_COLUMNS[name] for name in names), strict=True))
    asked = {"missing": "drop", "continuous": ["iso_dates"]}
    known = TableStatistics(dagora.read_table(file, **asked))
    scanned = dagora.open_rows(file, **asked)
    assert (scanned.schema, scanned.n_rows) == (known.schema, known.n_rows)
    np.testing.assert_allclose(scanned.moments().mean, known.moments().mean, rtol=1e-12)
    np.testing.assert_allclose(scanned.moments().scatter, known.moments().scatter, rtol=1e-9)
    # What means missing may be written in another way there.
    lost = dagora.open_rows(file, drop=names[:-1], missing="drop", na="7", continuous=["iso_dates"])
    assert lost.n_rows == len(LONG_COLUMNS["iso_dates"]) - 1


def test_numbers_that_are_codes_only_together(tmp_path):
    """Nine values seen four times each are measurements, and codes if another site has them too."""
    cells = [f"{k % 9 / 4}" for k in range(72)]
    whole = read_any(write(tmp_path / "t.csv", "x", cells), reading("error"))
    parts = {k: read_any(write(tmp_path / f"{k}.csv", "x", cells[k::2]), reading("error")) for k in (0, 1)}
    assert {table.schema[0].kind for table in parts.values()} == {dagora.Kind.CONTINUOUS}
    book = codebook_of(parts)
    assert book.schema[0] == whole.schema[0]
    np.testing.assert_array_equal(follow_codebook(parts[0], book).columns[0], whole.columns[0][::2])


def test_codes_that_are_numbers_only_together(tmp_path):
    """Twelve whole numbers here and twelve others there are 24, too many for codes."""
    parts = {
        k: read_any(
            write(tmp_path / f"{k}.csv", "x", [str(n % 12 + 12 * k) for n in range(120)]), reading("error")
        )
        for k in (0, 1)
    }
    assert {table.schema[0].kind for table in parts.values()} == {dagora.Kind.DISCRETE}
    assert codebook_of(parts).schema[0].kind is dagora.Kind.CONTINUOUS


def test_declared_types_stay_at_sites(tmp_path):
    declared = ReadingOptions(discrete=["x"], cuts=False)
    parts = {
        k: read_any(write(tmp_path / f"{k}.csv", "x", [str(n % 12 + 12 * k) for n in range(120)]), declared)
        for k in (0, 1)
    }
    assert codebook_of(parts).schema[0].cardinality == 24


HALF = ROWS // 2
STORED = {
    "truth": pa.array([True, False] * HALF),
    "small": pa.array([1, 2] * HALF, pa.int8()),
    "unsigned": pa.array([2**63 + k for k in range(30)] * 8, pa.uint64()),
    "single": pa.array(np.arange(ROWS, dtype=np.float32) / 7),
    "half_steps": pa.array([k % 8 / 2 for k in range(ROWS)]),
    "negative_zero": pa.array([-0.0, 0.0, 1.5, 2.5] * 60),
    "decimals": pa.array([decimal.Decimal(k % 30) / 4 for k in range(ROWS)], pa.decimal128(10, 2)),
    "few_decimals": pa.array([decimal.Decimal(k % 3) / 4 for k in range(ROWS)], pa.decimal128(10, 2)),
    "days": pa.array([dt.date(2024, 1, 1 + k % 28) for k in range(ROWS)]),
    "moments": pa.array(np.arange(ROWS).astype("datetime64[s]")),
    "clock": pa.array([dt.time(k % 24) for k in range(ROWS)]),
    "categories": pa.array(["b", "a"] * HALF).dictionary_encode(),
    "numbers_as_categories": pa.array(["10", "9"] * HALF).dictionary_encode(),
    "long_words": pa.array(["x", "y"] * HALF, pa.large_string()),
    "nothing": pa.nulls(ROWS),
    "nans": pa.array([float("nan") if k % 9 == 0 else k / 7 for k in range(ROWS)]),
    "infinite": pa.array([float("inf") if k % 90 == 0 else k / 7 for k in range(ROWS)]),
    "row_id": pa.array(range(ROWS)),
    "user_id": pa.array([float(3 * k) for k in range(ROWS)]),
    "bytes": pa.array([b"x", b"y"] * HALF),
    "lists": pa.array([[1], [2]] * HALF),
}


@pytest.mark.parametrize("missing", ["error", "drop"])
@pytest.mark.parametrize("name", STORED)
def test_a_column_with_a_type_of_its_own_has_one_kind(tmp_path, name, missing):
    table = pa.table({name: STORED[name], "side": SIDE})
    pq.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    for file in (tmp_path / "t.parquet", tmp_path / "t.feather"):
        expected = answer(lambda file=file: read_any(file, reading(missing)), name)
        assert answer(lambda file=file: dagora.open_rows(file, missing=missing), name) == expected
