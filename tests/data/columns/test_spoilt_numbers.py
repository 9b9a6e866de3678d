"""Words among numbers: all columns are named at once, and the row that is no row of data."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.stats.table import TableStatistics

ROWS = 60
DRAW = np.random.default_rng(0)
CELLS = {
    "weight": DRAW.normal(70, 9, ROWS).round(1).astype(str).tolist(),
    "height": DRAW.normal(170, 8, ROWS).round(1).astype(str).tolist(),
    "pain": DRAW.integers(0, 4, ROWS).astype(str).tolist(),
    "sex": ["f", "m", "m"] * (ROWS // 3),
}
CELLS["mood"] = CELLS["pain"][::-1]
NAMES = ("weight", "height", "pain", "sex")
DOORS = [dagora.inspect, dagora.read_table, dagora.open_rows]


def written(tmp_path, *lines, after=None, names=NAMES):
    """A file of the columns, with other lines after so many rows."""
    rows = [",".join(row) for row in zip(*(CELLS[name] for name in names), strict=True)]
    after = ROWS if after is None else after
    file = tmp_path / "t.csv"
    file.write_text("\n".join([",".join(names), *rows[:after], *lines, *rows[after:], ""]), encoding="utf-8")
    return file


def refusal(read, file, **options):
    with pytest.raises(DataError) as refused:
        read(file, **options)
    return str(refused.value)


@pytest.mark.parametrize("read", DOORS)
@pytest.mark.parametrize("line", ["WEIGHT,HEIGHT,PAIN,SEX", "Weight, Height ,Pain,Sex"])
def test_a_header_in_other_letters_is_named(tmp_path, read, line):
    assert "data row 31 repeats the names of the columns" in refusal(read, written(tmp_path, line, after=30))


def test_levels_called_like_their_columns_in_other_letters_are_levels(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b\n" + "A,B\nA,C\nD,B\n" * 20)
    for read in DOORS:
        read(file)


@pytest.mark.parametrize("read", DOORS)
def test_units_below_the_header_name_all_columns_and_the_row(tmp_path, read):
    said = refusal(read, written(tmp_path, "kg,cm,,", after=0))
    assert "2 columns have numbers, but also words: 'kg' in 'weight'" in said
    assert "'cm' in 'height'" in said
    assert "if data row 1, which has words in all of them, is no row of data, remove it" in said
    assert 'na="weight:kg,height:cm"' in said


@pytest.mark.parametrize("read", DOORS)
def test_words_in_different_rows_name_all_columns_at_once(tmp_path, read):
    file = written(tmp_path, "about 70,170.5,1,f", "70.5,tall,2,m", after=10)
    said = refusal(read, file)
    assert "'about 70' in 'weight' (first in data row 11); 'tall' in 'height' (first in data row 12)" in said
    assert "remove it" not in said
    advice = said.partition('na="')[2].partition('"')[0]
    assert "words" not in "".join(dagora.inspect(file, na=advice, missing="drop").warnings)


@pytest.mark.parametrize("read", DOORS)
def test_some_of_the_columns_share_a_row(tmp_path, read):
    said = refusal(read, written(tmp_path, "kg,cm,1,f", "heavy,170.5,2,m", after=10))
    assert "if data row 11, which has words in all of them, is no row of data" in said


@pytest.mark.parametrize("read", DOORS)
def test_one_column_with_a_unit_or_a_total(tmp_path, read):
    for line, after, row in (("kg,,,", 0, 1), ("Total,,,", ROWS, ROWS + 1)):
        said = refusal(read, written(tmp_path, line, after=after))
        assert f"column 'weight' has numbers, but also '{line[:-3]}' (first in data row {row})" in said
        assert f"if data row {row} is no row of data, remove it" in said
    assert "remove it" not in refusal(read, written(tmp_path, "few,,,", after=5))


@pytest.mark.parametrize("after", [0, ROWS])
@pytest.mark.parametrize("read", DOORS)
def test_words_at_the_edge_of_a_table_of_few_numbers(tmp_path, read, after):
    file = written(tmp_path, "points,stars,x", after=after, names=("pain", "mood", "sex"))
    said = refusal(read, file)
    assert f"data row {after + 1} has words in columns that are numbers otherwise: 'points' in 'pain'" in said
    read(file, discrete=["pain", "mood"])
    read(written(tmp_path, "points,2,x", after=after, names=("pain", "mood", "sex")))
    read(written(tmp_path, "points,stars,x", after=9, names=("pain", "mood", "sex")))


def test_a_total_beside_words_is_told(tmp_path):
    file = written(tmp_path, "4200.5,10221,90,Total")
    for read in (dagora.inspect, dagora.open_rows):
        found = read(file)
        (line,) = [line for line in getattr(found, "overview", found).warnings if "adds up" in line]
        assert line == (
            f"data row {ROWS + 1}, the last one, has 'Total' in 'sex': if it adds up the others, remove it"
        )
    middle = written(tmp_path, "4200.5,10221,90,Total", after=5)
    assert "adds up" not in "".join(dagora.inspect(middle).warnings)


def test_frames_and_rows_with_missing_values_are_told_alike():
    frame = pd.DataFrame({name: ["kg", *CELLS[name]] for name in ("weight", "height", "pain")})
    frame.loc[7, "pain"] = None
    with pytest.raises(
        DataError, match=r"2 columns have numbers, but also words.*data row 1, which has words"
    ):
        dagora.learn(frame)


def test_a_file_without_such_rows_is_read_as_before(tmp_path):
    file = written(tmp_path)
    assert TableStatistics(dagora.read_table(file)).n_rows == dagora.open_rows(file).n_rows == ROWS
    assert not dagora.inspect(file).warnings
