"""Levels that are spelled in several ways, and headers within a table, at every door."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.base.errors import DataError

SMOKER = ["Yes", "yes", "NO", "no", "No", "yes"] * 10
ILL = ["TRUE", "1", "0", "FALSE", "1", "TRUE"] * 10
SEX = ["f", "m", "m", "f", "m", "f"] * 10


def written(tmp_path, **columns):
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def doors(file, **options):
    """The same rows in memory and scanned."""
    return [dagora.read_table(file, **options), dagora.open_rows(file, **options)]


def test_levels_that_differ_only_in_case_are_told(tmp_path):
    file = written(tmp_path, smoker=SMOKER, ill=ILL, sex=SEX)
    for table in doors(file):
        (line,) = [line for line in table.overview.warnings if "seem to be the same" in line]
        assert "'Yes', 'yes'" in line
        assert "'NO', 'No', 'no'" in line
        assert "'1', 'TRUE' in 'ill'" in line
        assert "'sex'" not in line
        assert 'join=["all"] joins them' in line


def test_words_for_a_sex_are_told_and_joined(tmp_path):
    words = ["m", "male", "f", "female", "unknown", "w"] * 10
    file = written(tmp_path, sex=words, other=["m", "f", "d"] * 20)
    for table in doors(file):
        (line,) = [line for line in table.overview.warnings if "seem to be the same" in line]
        assert "'f', 'female', 'w' and 'm', 'male' in 'sex'; " in line
    assert dagora.read_table(file, join="sex").schema[0].levels == ("female", "male", "unknown")


def test_they_are_joined_where_asked_for(tmp_path):
    file = written(tmp_path, smoker=SMOKER, ill=ILL, sex=SEX)
    expected = [word.lower() for word in SMOKER]
    for table in doors(file, join="smoker"):
        assert table.schema[0].levels == ("no", "yes")
        assert table.schema[1].levels == ("0", "1", "FALSE", "TRUE")
    table = doors(file, join="all")[0]
    assert [table.schema[0].levels[code] for code in table.codes(0)] == expected
    assert table.schema[1].levels == ("false", "true")
    assert [table.schema[1].levels[code] == "true" for code in table.codes(1)] == [
        w in ("TRUE", "1") for w in ILL
    ]
    scanned = dagora.open_rows(file, join="all")
    assert (
        scanned.contingency([0, 1]).counts.tolist()
        == dagora.stats.table.TableStatistics(table).contingency([0, 1]).counts.tolist()
    )
    with pytest.raises(DataError, match="did you mean 'smoker'"):
        dagora.read_table(file, join="smokr")


def test_other_levels_are_not_suspected(tmp_path):
    file = written(
        tmp_path, sex=SEX, code=["a1", "A2", "a3"] * 20, answer=["yes", "no"] * 30, number=["1", "0"] * 30
    )
    for table in doors(file):
        assert not [line for line in table.overview.warnings if "seem to be the same" in line]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_repeated_header_is_named(tmp_path, mark):
    """Also where the second of two files that were put together begins with the mark of its encoding."""
    file = written(tmp_path, age=[str(20 + k % 40) for k in range(60)], sex=SEX)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:31], mark + lines[0], *lines[31:], ""]), encoding="utf-8")
    for read in (dagora.read_table, dagora.inspect, dagora.open_rows):
        with pytest.raises(DataError, match="data row 31 repeats the names of the columns"):
            read(file)


def test_a_row_of_data_in_place_of_names_is_named(tmp_path):
    """Each name is a value of its column in many rows, some of which repeat the whole line."""
    draw = np.random.default_rng(0)
    rows = zip(
        *(draw.choice(words, 300) for words in (["no", "yes"], ["ill", "well"], ["f", "m"])), strict=True
    )
    file = tmp_path / "t.csv"
    file.write_text("no,well,f\n" + "no,well,f\n" + "".join(",".join(row) + "\n" for row in rows))
    for read in (dagora.read_table, dagora.inspect, dagora.open_rows):
        with pytest.raises(DataError, match="look like a row of data"):
            read(file)


def test_a_level_called_like_its_column_is_no_header(tmp_path):
    file = written(tmp_path, side=["side", "front"] * 30, sex=SEX)
    assert doors(file)[0].n_rows == 60


def test_frames_where_files_or_tables_are_expected():
    frame = pd.DataFrame({"a": [0, 1] * 20, "b": ["x", "y"] * 20})
    with pytest.raises(
        DataError, match=r"read_table reads a file, not an object of type DataFrame: Table\.from_frame"
    ):
        dagora.read_table(frame)
    assert dagora.punch_holes(frame, "mcar:0.2").missing > 0


def test_levels_that_look_alike_are_told_and_joined(tmp_path):
    """A Mac stores an accent as a sign of its own, and web pages bring blanks of no width."""
    city = ["Gen\xe8ve", "Gene\u0300ve", "Basel", "Basel\u200b", "Basel", "Bern"] * 10
    file = written(tmp_path, city=city, sex=SEX)
    for table in doors(file):
        (line,) = [line for line in table.overview.warnings if "seem to be the same" in line]
        assert line.count("which look alike, and are stored in different ways") == 2
    for table in doors(file, join="city"):
        assert table.schema[0].levels == ("Bern", "basel", "gen\xe8ve")


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_codes_with_an_e_among_whole_numbers_are_told_and_kept_where_declared(tmp_path):
    file = written(tmp_path, sex=SEX, room=["101", "1E5", "2E10", "102", "10E4", "3E7"] * 10)
    for table in doors(file):
        (line,) = [line for line in table.overview.warnings if "'room'" in line]
        assert line.startswith("column 'room' has numbers written with exponents such as '1E5': if they are")
        assert 'discrete=["room"] keeps them as written' in line
    for table in doors(file, discrete="room"):
        assert table.schema[1].levels == ("101", "102", "10E4", "1E5", "3E7", "2E10")
        assert not table.overview.warnings
    for size in ("1e-5", "2.5e10", "1e+05"):
        clean = written(tmp_path, sex=SEX, size=["101", "1e5", size, "102", "3", "7"] * 10)
        assert not any("exponents" in line for line in dagora.inspect(clean).warnings)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_codes_with_an_e_beside_codes_with_other_letters_are_text(tmp_path):
    wells = [f"{k % 9 + 1}{'D' if k % 40 == 0 else 'E'}{k % 7 + 1}" for k in range(630)]
    for table in doors(written(tmp_path, sex=["f", "m"] * 315, well=wells)):
        assert table.schema[1].levels == tuple(sorted({*wells}))
