"""All of the reference tables are read; their sizes are those of the folder's README."""

import csv
import gzip

import pytest

from dagora.base.errors import DataError
from dagora.data.columns.levels import IS_NUMBER, level_name
from dagora.data.discretise import discretise
from dagora.data.readers import read_table
from dagora.data.schema import Kind

# name: columns, rows, complete rows
TABLES = {
    "shuttle": (10, 58000, 58000),
    "adult": (15, 48842, 45222),
    "voting": (17, 435, 232),
    "segment": (20, 2305, 2305),
    "horse_colic": (28, 300, 6),
    "sponge": (46, 76, 54),
    "ozone": (74, 2534, 1847),
    "insurance_coil": (86, 9822, 9822),
    "gas_sensor": (130, 6697, 6697),
    "semeion": (257, 1593, 1593),
    "madelon": (500, 4399, 4399),
    "isolet5": (618, 1559, 1559),
    "parkinson": (755, 756, 756),
    "androgen": (1025, 1687, 1687),
}

# Columns that would be left out, because they name or number the rows.
WHOLE = {"sponge": {"discrete": "Name"}, "ozone": {"discrete": "date"}}


# The largest, seconds each.
LARGEST = {"gas_sensor", "isolet5", "parkinson"}


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGEST)) for name in TABLES]
)
def test_tables_of_the_rbnets_paper(data_dir, name):
    columns, rows, complete = TABLES[name]
    path = data_dir / "tables" / f"{name}.csv.gz"
    table = read_table(path, missing="drop", **WHOLE.get(name, {}))
    assert (len(table.schema), table.n_rows) == (columns, complete)
    if complete < rows:
        with pytest.raises(DataError, match=r"cells are missing, the first in column"):
            read_table(path)
    halves = discretise(table)
    assert halves.schema.kinds == {Kind.DISCRETE}
    assert all(
        halves.schema[i].cardinality <= 2 for i, v in enumerate(table.schema) if v.kind is Kind.CONTINUOUS
    )


@pytest.mark.parametrize("name", ["adult", "voting", "sponge"])
def test_missing_as_a_level(data_dir, name):
    columns, rows, _ = TABLES[name]
    table = read_table(data_dir / "tables" / f"{name}.csv.gz", missing="level", **WHOLE.get(name, {}))
    assert (len(table.schema), table.n_rows) == (columns, rows)
    assert any("missing" in variable.levels for variable in table.schema)


@pytest.mark.full
def test_measurements_cannot_be_missing_as_a_level(data_dir):
    with pytest.raises(DataError, match="'a1' is continuous and has 299 missing values"):
        read_table(data_dir / "tables" / "ozone.csv.gz", missing="level")


@pytest.mark.parametrize(
    ("name", "columns", "rows", "discrete"),
    [
        ("sachs/sachs_observational.csv.gz", 11, 853, 0),
        ("sachs/sachs_9_experiments.csv.gz", 12, 7466, 1),
        ("sachs/sachs_consensus_edges.csv", 2, 17, 2),
        ("scores/alarm_1000.csv.gz", 37, 1000, 37),
        ("scores/water_500c.csv.gz", 26, 500, 26),
    ],
)
def test_other_tables(data_dir, name, columns, rows, discrete):
    table = read_table(data_dir / name)
    assert (len(table.schema), table.n_rows) == (columns, rows)
    assert sum(variable.kind is Kind.DISCRETE for variable in table.schema) == discrete


def test_pythons_own_parser_reads_the_same_cells(data_dir):
    path = data_dir / "tables" / "segment.csv.gz"
    table = read_table(path)
    with gzip.open(path, "rt", newline="") as text:
        header, *rows = csv.reader(text)
    assert table.names == tuple(header)
    for i, (variable, cells) in enumerate(zip(table.schema, zip(*rows, strict=True), strict=True)):
        if variable.kind is Kind.CONTINUOUS:
            assert table.values(i).tolist() == [float(cell) for cell in cells]
        else:
            named = [level_name(float(cell)) if IS_NUMBER.fullmatch(cell) else cell for cell in cells]
            assert [variable.levels[code] for code in table.codes(i)] == named
