"""Numbers as people write them, dates as days, categories in their order."""

import numpy as np
import pandas as pd
import pytest

from dagora import DataError, Table, inspect, learn, open_rows, read_table
from dagora.data.columns.spelled_numbers import plainly
from dagora.data.schema import Kind


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("words", "numbers", "how"),
    [
        (["12%", "3.5 %"], ["12", "3.5"], "per cent"),
        (["12,5%", "3%"], ["12.5", "3"], "per cent, written with a decimal comma"),
        (["$3.50", "$12"], ["3.50", "12"], "amounts"),
        (["3,50 €", "12 €"], ["3.50", "12"], "amounts, written with a decimal comma"),
        (["1,234,567", "12.5"], ["1234567", "12.5"], "written with commas between thousands"),
        (["1.234.567", "12"], ["1234567", "12"], "written with points between thousands"),
        (["0,369", "1,474"], ["0.369", "1.474"], "written with a decimal comma"),
        (["1.234,5", "-0,25"], ["1234.5", "-0.25"], "written with a decimal comma"),
        (["−3.5", "2"], ["-3.5", "2"], "with long minus signs"),
        (["−3,5", "2"], ["-3.5", "2"], "with long minus signs, written with a decimal comma"),
        (["(3.50)", "2"], ["-3.50", "2"], "negative ones in parentheses"),
        (["(12 %)", "2 %"], ["-12", "2"], "per cent, negative ones in parentheses"),
        (["($3.50)", "$2"], ["-3.50", "2"], "amounts, negative ones in parentheses"),
        (["(3.50)", "(2)"], ["-3.50", "-2"], "negative ones in parentheses"),
        (
            ["(1,234)", "(12.50)"],
            ["-1234", "-12.50"],
            "negative ones in parentheses, written with commas between thousands",
        ),
        (
            ["- 1,234.50", "3"],
            ["-1234.50", "3"],
            "with blanks after signs, written with commas between thousands",
        ),
        (["-$3.50", "$2", "$-1"], ["-3.50", "2", "-1"], "amounts"),
        (["−$3.50", "$2"], ["-3.50", "2"], "amounts, with long minus signs"),
        (
            ["5 000", "12", "-1 234 567.5"],
            ["5000", "12", "-1234567.5"],
            "written with spaces between thousands",
        ),
        (
            ["5\u202f000,5", "1\u00a0234"],
            ["5000.5", "1234"],
            "written with spaces between thousands and a decimal comma",
        ),
        (["5'000", "7’500.25"], ["5000", "7500.25"], "written with apostrophes between thousands"),
        (["5 000 €", "12 €"], ["5000", "12"], "amounts, written with spaces between thousands"),
        (["5 000", "1,234"], ["5000", "1.234"], "written with spaces between thousands and a decimal comma"),
    ],
)
def test_spellings(words, numbers, how):
    assert plainly(words) == (numbers, how)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "words",
    [
        ["1,234", "5,678"],
        ["(1,234)", "(5,678)"],
        ["1", "2"],
        ["12%", "3"],
        ["007,5", "1,5"],
        ["a,5", "1,5"],
        ["1,5", "1.5"],
        [],
        ["%"],
        ["(1)", "(2)"],
        ["5 000", "6'000"],
        ["5 00", "6 00"],
        ["05 000", "6 000"],
        ["-$-3", "$2"],
        ["(-3)", "2"],
        ["5 000.5", "1,5"],
        ["$", "€"],
        [""],
    ],
)
def test_what_is_not_of_one_spelling_stays(words):
    assert plainly(words) is None


def column_of(values, tmp_path, **options):
    path = tmp_path / "t.csv"
    path.write_text("x;g\n" + "".join(f"{value};{k % 2}\n" for k, value in enumerate(values)))
    table = read_table(path, separator=";", **options)
    return table, table.schema[table.schema.index("x")]


def test_a_file_with_decimal_commas_is_read_as_numbers(tmp_path):
    values = np.round(np.random.default_rng(0).normal(size=100), 3)
    table, variable = column_of([str(value).replace(".", ",") for value in values], tmp_path)
    assert variable.kind is Kind.CONTINUOUS
    assert np.array_equal(table.values(0), values)
    assert "decimal comma" in str(inspect(tmp_path / "t.csv", separator=";"))


def test_a_word_for_missing_among_per_cent_is_a_hole(tmp_path):
    texts = [f"{k / 7:.2f} %" for k in range(60)]
    texts[7] = "NA"
    table, variable = column_of(texts, tmp_path, missing="drop")
    assert variable.kind is Kind.CONTINUOUS
    assert table.n_rows == 59


def test_few_per_cent_stay_levels_with_their_names(tmp_path):
    _, variable = column_of(["5%", "10%", "20%"] * 20, tmp_path)
    assert variable.levels == ("10%", "20%", "5%")


def as_commas(values):
    return [str(value).replace(".", ",") for value in values]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(15) / 8, Kind.CONTINUOUS),  # 15 different ones in 15 cells
        (np.arange(100) % 10 / 2, Kind.DISCRETE),  # each of 10 is seen ten times: codes
        (np.arange(49) % 10 / 2, Kind.CONTINUOUS),  # less than five times
    ],
)
def test_few_decimal_commas_are_numbers_where_decimal_points_are(values, kind, tmp_path):
    _, variable = column_of(as_commas(values), tmp_path)
    _, plain = column_of(values, tmp_path)
    assert variable.kind is plain.kind is kind
    if kind is Kind.DISCRETE:
        assert variable.levels[:2] == ("0,0", "0,5"), "levels keep their names"
    assert read_alike(as_commas(values), tmp_path) == variable


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2", "3", "1,2", "2,3", "1,3"] * 4,  # answers to a question with several choices
        ["1,2", "2,3", "1,3"] * 30,
        ["12,5 %"] * 20,
        ["0,25", "1,5", "2,75", "NA"] * 3,
    ],
)
def test_few_texts_that_may_be_levels_keep_their_names(texts, tmp_path):
    _, variable = column_of(texts, tmp_path, na="none")
    assert set(variable.levels) == set(texts)
    assert read_alike(texts, tmp_path, na="none") == variable


def read_alike(texts, tmp_path, **options):
    """The column as it is where rows are scanned."""
    column_of(texts, tmp_path, **options)
    return open_rows(tmp_path / "t.csv", separator=";", **options).schema[0]


def test_where_missing_words_stand_does_not_matter(tmp_path):
    numbers = as_commas(np.arange(60) / 8)
    for texts in (["NA", *numbers, "?"], [*numbers[:9], "NA", "?", *numbers[9:]]):
        _, variable = column_of(texts, tmp_path, missing="drop")
        assert variable.kind is Kind.CONTINUOUS
        assert read_alike(texts, tmp_path, missing="drop") == variable


def test_rows_that_are_dropped_count_for_how_numbers_are_written(tmp_path):
    texts = [*as_commas(np.arange(12) / 4), *[""] * 40]
    texts = texts + ["0,25"] * 30
    path = tmp_path / "t.csv"
    path.write_text(
        "x;g\n" + "".join(f"{value};{'' if 3 < k < 12 else k % 2}\n" for k, value in enumerate(texts))
    )
    read = read_table(path, separator=";", missing="drop")
    assert open_rows(path, separator=";", missing="drop").schema == read.schema


@pytest.mark.parametrize("spelled", ["−{}.5", "({}.50)", "{} 000", "-${}.50"])
def test_other_spellings_are_read_from_files(spelled, tmp_path):
    texts = [spelled.format(k) for k in range(1, 41)] + ["7.25"] * 20
    if "$" in spelled:
        texts[40:] = ["$7.25"] * 20
    table, variable = column_of(texts, tmp_path)
    assert variable.kind is Kind.CONTINUOUS
    assert table.values(0)[40] == 7.25
    assert abs(table.values(0)[4]) == (5000 if "000" in spelled else 5.5)
    assert (table.values(0)[4] < 0) == ("000" not in spelled)


def test_a_message_about_many_odd_cells_is_short(tmp_path):
    texts = [f"{k}.5" for k in range(100)] + [f"about {k}" for k in range(90)]
    with pytest.raises(DataError, match=r"has numbers, but also 'about 0'.*and others") as refused:
        column_of(texts, tmp_path)
    assert len(str(refused.value)) < 350
    assert "about 50" not in str(refused.value)


def test_what_can_be_read_in_two_ways_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"say which .decimal=.point. or decimal=.comma."):
        column_of([f"{k},{k}" for k in range(100, 160)], tmp_path)


@pytest.mark.parametrize(
    "texts",
    [
        [f"2024-01-{k:02d}" for k in range(1, 31)],
        [f"{k}.1.2024" for k in range(1, 31)],
        [f"2024-01-{k:02d}T00:00" for k in range(1, 31)],
        [f"2024-01-{k:02d} 00:00:00" for k in range(1, 31)],
    ],
)
def test_dates_declared_continuous_are_days(texts, tmp_path):
    table, _ = column_of(texts, tmp_path, continuous=["x"])
    assert table.values(0).tolist() == [19723.0 + k for k in range(30)]


def test_dates_of_a_frame_are_left_out_or_days():
    frame = pd.DataFrame({"day": pd.date_range("1970-01-02", periods=30, freq="12h"), "x": np.arange(30) % 2})
    assert Table.from_frame(frame, continuous=["day"]).values(0).tolist() == [1 + k / 2 for k in range(30)]
    with pytest.warns(match="dates or times"):
        assert Table.from_frame(frame).names == ("x",)


def test_dates_that_can_be_read_in_two_ways_are_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read as days: write them all as 2024-12-31"):
        column_of([f"{k}/1/2024" for k in range(1, 13)] * 3, tmp_path, continuous=["x"])


def test_a_day_that_its_month_does_not_have_is_refused(tmp_path):
    texts = [f"2024-01-{k:02d}" for k in range(1, 31)] + ["2024-02-30"]
    with pytest.raises(DataError, match="cannot be read as days"):
        column_of(texts, tmp_path, continuous=["x"])


def test_the_order_of_categories_is_kept_where_it_is_declared():
    grades = ["low", "medium", "high"]
    for ordered in (True, False):
        column = pd.Categorical(["high", "low", "medium"] * 10, categories=grades, ordered=ordered)
        table = Table.from_frame(pd.DataFrame({"grade": column, "x": [0, 1] * 15}))
        assert table.schema[0].levels == (tuple(grades) if ordered else tuple(sorted(grades)))
        assert [table.schema[0].levels[code] for code in table.codes(0)[:3]] == ["high", "low", "medium"]
    assert learn(table).graph.nodes == ("grade", "x")


@pytest.mark.parametrize("spelling", ["{:,}", "-{:,}", "({:,})", "- {:,}"])
def test_commas_that_can_be_read_in_two_ways_are_refused_however_negative_numbers_are_written(
    spelling, tmp_path
):
    file = tmp_path / "amounts.csv"
    cells = [spelling.format(1234 + 7 * k) for k in range(60)]
    file.write_text("a,amount\n" + "".join(f'{k % 2},"{cell}"\n' for k, cell in enumerate(cells)))
    with pytest.raises(DataError, match=r"say which .decimal=.point. or decimal=.comma."):
        read_table(file)
