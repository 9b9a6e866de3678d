from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.data.columns.levels import TRUTHS, join_levels, level_name, sort_levels
from dagora.data.columns.missing import is_missing_word
from tests.data.table_strategies import quick


@quick
@given(st.lists(st.integers(-(10**30), 10**30)))
def test_integers_sort_by_value_however_large(values):
    assert sort_levels(map(str, values)) == tuple(str(value) for value in sorted(set(values)))


@quick
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0), unique=True))
def test_numbers_sort_by_value(values):
    assert sort_levels(map(repr, values)) == tuple(map(repr, sorted(values)))


@quick
@given(st.lists(st.text(), unique=True), st.randoms())
def test_the_order_does_not_depend_on_the_input_order(levels, random):
    shuffled = random.sample(levels, len(levels))
    assert sort_levels(levels) == sort_levels(shuffled)


def test_one_word_makes_all_of_them_words():
    assert sort_levels(["10", "9", "x"]) == ("10", "9", "x")
    assert sort_levels(["b", "a", "B", "é"]) == ("B", "a", "b", "é")
    # What Python and Decimal would take for numbers, but data mean as words.
    assert sort_levels(["10", "9", "1_0"]) == ("10", "1_0", "9")
    assert sort_levels(["10", "9", "inf"]) == ("10", "9", "inf")


def test_equal_numbers_written_differently_stay_apart():
    assert sort_levels(["1", "01", "1.0", "0"]) == ("0", "01", "1", "1.0")


def test_intervals_sort_by_their_bounds():
    levels = ("(-inf, -2]", "(-2, 10]", "(10, 1e+02]", "(1e+02, inf)")
    assert sort_levels(reversed(levels)) == levels


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("value", "name"),
    [(True, "True"), (7, "7"), (7.0, "7"), (-0.0, "0"), (0.1, "0.1"), (1e300, "1e+300"), ("  a b ", "a b")],
)
def test_names(value, name):
    assert level_name(value) == name


def test_only_empty_and_nan_are_missing():
    assert all(map(is_missing_word, ["", "  ", "nan", "NaN", " NaN "]))
    assert not any(map(is_missing_word, ["NA", "None", "null", "?", "-", "N/A", "0"]))


WORDS = [spelling for words in TRUTHS for word in words for spelling in {word, word.upper()}]


@quick
@given(st.lists(st.sampled_from([*WORDS, *WORDS, "m", "M", "2"]), min_size=1, max_size=5, unique=True))
def test_levels_are_joined_where_they_differ_in_case_or_where_all_are_words_for_true_and_false(levels):
    """Words for one of the two alone, such as n and f, are codes of something else."""
    sides = [next((words for words in TRUTHS if level.lower() in words), None) for level in levels]
    is_truth = set(sides) == set(TRUTHS)
    named = join_levels(levels)
    for (one, side, name), (two, other, another) in combinations(zip(levels, sides, named, strict=True), 2):
        assert (name == another) == (one.lower() == two.lower() or (is_truth and side == other))
    assert all(name == level or named.count(name) > 1 for name, level in zip(named, levels, strict=True))
