"""Tables against values worked out by hand."""

import csv
import io
import math

import pytest

from dagora.papers.cell import MeasuredCell
from dagora.papers.tables import Mean, ResultTable, group, mean, mean_of

CELLS = [
    MeasuredCell({"d": 10, "method": "a", "seed": 0}, {"shd": 1.0}),
    MeasuredCell({"d": 20, "method": "a", "seed": 0}, {"shd": 7.0}),
    MeasuredCell({"d": 10, "method": "a", "seed": 1}, {"shd": 5.0}),
    MeasuredCell({"d": 10, "method": "a", "seed": 2}, {"shd": None}),
]


def test_means_by_hand() -> None:
    # 1 and 5: mean 3, sample variance 8, standard error √(8/2) = 2
    assert mean([1.0, 5.0]) == Mean(3.0, 2.0, 2)
    assert mean([4.0]) == Mean(4.0, None, 1)
    assert mean([]) is None
    four = mean([2.0, 4.0, 4.0, 6.0])
    assert four is not None
    assert four.error == pytest.approx(math.sqrt(8 / 3) / 2)


def test_groups() -> None:
    groups = group(CELLS, ("d", "method"))
    assert {key: len(cells) for key, cells in groups.items()} == {(10, "a"): 3, (20, "a"): 1}
    assert mean_of(groups[10, "a"], "shd") == Mean(3.0, 2.0, 2)
    assert mean_of(groups[10, "a"], "nothing") is None
    assert mean_of([MeasuredCell({}, {"shd": shd}) for shd in (0, 4.0, None)], "shd").value == 2.0


TABLE = ResultTable(
    "t", "Title", ("graph | d", "SHD", "paper"),
    (("ER2, 10", Mean(3.0, 2.0, 2), 4), ("SF4", Mean(1.25, None, 1), None), ("x|y", None, 0.126)),
    (0, 1, 2),
)  # fmt: skip


def test_markdown() -> None:
    assert TABLE.to_markdown().splitlines() == [
        r"| graph \| d | SHD       | paper |",
        "|------------|-----------|-------|",
        "| ER2, 10    | 3.0 ± 2.0 | 4     |",
        "| SF4        | 1.2       |       |",
        r"| x\|y       |           | 0.13  |",
    ]


def test_csv_is_exact_and_has_the_errors() -> None:
    assert list(csv.reader(io.StringIO(TABLE.to_csv()))) == [
        ["graph | d", "SHD", "SHD standard error", "paper"],
        ["ER2, 10", "3.0", "2.0", "4"],
        ["SF4", "1.25", "", ""],
        ["x|y", "", "", "0.126"],
    ]


def test_json() -> None:
    rows = TABLE.to_dict()["rows"]
    assert rows[0] == ["ER2, 10", {"mean": 3.0, "standard_error": 2.0, "runs": 2}, 4]
    assert rows[1][1:] == [{"mean": 1.25, "standard_error": None, "runs": 1}, None]


def test_a_row_too_short_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="3 entries"):
        ResultTable("t", "Title", ("a", "b", "c"), (("x", 1),))
    with pytest.raises(ValueError, match="one name"):
        ResultTable("t", "Title", ("a", "a"), ())
