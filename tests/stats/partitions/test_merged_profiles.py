"""Profiles of partitions, merged: as if all cells had been looked at one after the other."""

import pyarrow as pa
import pytest

from dagora.data.scan.profile import Profile
from dagora.stats.partitions.merged_profiles import append_profile, first_of

PARTS = {
    pa.string(): (["low", None, "NA", "low"], ["", "?", "high", "low", "NA"]),
    pa.int64(): ([3, 1, 3], [None, 2, 1, 999]),
    pa.float64(): (
        [1.0, 0.0, float("inf"), 2.5],
        [float("nan"), float("inf"), -0.0, None, float("-inf"), 7.0],
    ),
}
TOLD = [
    "rows",
    "missing",
    "first_missing",
    "firsts",
    "tallies",
    "suspects",
    "suspected",
    "infinite",
    "infinities",
    "low",
    "high",
    "whole",
    "numbers",
    "integers",
    "numbers_the_rows",
    "n_values",
]


def looked(kind: pa.DataType, *batches: list[object]) -> Profile:
    profile = Profile("x", kind, None, text_cells=True)
    profile.integers = True
    for cells in batches:
        profile.look(pa.array(cells, kind), ())
    return profile


@pytest.mark.parametrize("kind", PARTS, ids=str)
def test_two_parts_make_the_profile_of_all_cells(kind: pa.DataType) -> None:
    for one, other in (PARTS[kind], PARTS[kind][::-1]):
        merged, whole = append_profile(looked(kind, one), looked(kind, other)), looked(kind, one, other)
        for name in TOLD:
            assert getattr(merged, name) == getattr(whole, name), name


def test_numbers_of_the_second_part_that_the_first_had_do_not_number_rows() -> None:
    """Each part runs on by itself, both together do not."""
    first, second = looked(pa.int64(), list(range(100))), looked(pa.int64(), list(range(100, 200)))
    assert append_profile(first, second).numbers_the_rows
    again = looked(pa.int64(), list(range(100)))
    assert not append_profile(first, again).numbers_the_rows


def test_texts_that_are_too_many_together_are_judged_as_numbers() -> None:
    parts = [looked(pa.string(), [str(k) for k in range(start, start + 6000)]) for start in (0, 6000)]
    assert all(part.firsts is not None for part in parts)
    merged = append_profile(*parts)
    assert merged.firsts is None
    assert merged.numbers
    assert merged.integers
    words = looked(pa.string(), [f"name {k}" for k in range(6000)])
    assert not append_profile(parts[0], words).numbers


def test_few_beside_many_are_judged_as_the_others() -> None:
    many = looked(pa.string(), [str(k) for k in range(12_000)])
    few, words = looked(pa.string(), ["-5", "3"]), looked(pa.string(), ["few"])
    for merged in (append_profile(many, few), append_profile(few, many)):
        assert merged.firsts is None
        assert (merged.numbers, merged.low, merged.high) == (True, -5, 11_999)
    assert not append_profile(many, words).numbers
    assert not append_profile(words, many).numbers


@pytest.mark.parametrize(("a", "b", "row"), [(3, 2, 3), (-1, 2, 12), (-1, -1, -1), (0, -1, 0)])
def test_rows_of_the_second_part_count_on(a: int, b: int, row: int) -> None:
    assert first_of(a, b, 10) == row
