"""Words that mean missing, in all columns or in one, and what is advised about missing values."""

import pyarrow as pa
import pytest

from dagora.base.errors import OptionError
from dagora.base.wording import render
from dagora.data.columns.find_missing import find_missing
from dagora.data.columns.missing import na_words
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.columns.refuse_missing import instead_of_missing


def test_the_longest_name_before_a_colon_is_meant() -> None:
    assert na_words("a:b:1,a:2", ["a", "a:b"]).own == {"a:b": ("1",), "a": ("2",)}


def test_what_is_said_about_one_column_settles_it() -> None:
    words = na_words("sex:,age:-1", ["sex", "age", "dose"])
    assert [words.finds(name) for name in ("sex", "age", "dose")] == [False, True, True]
    assert [words.leaves_codes(name) for name in ("sex", "age", "dose")] == [False, False, True]
    assert words.of("age") == ("-1",)
    none = na_words("none")
    assert (none.finds("age"), none.leaves_codes("age"), none.of("age")) == (False, False, ())


@pytest.mark.parametrize("nothing", ["", ",", [], {}])
def test_no_word_at_all_is_refused(nothing: object) -> None:
    with pytest.raises(OptionError, match="is auto, none, or the words that mean missing"):
        na_words(nothing)  # type: ignore[arg-type]


def test_advice_is_what_can_be_done() -> None:
    """A series must keep every step, and a method for numbers has no levels."""
    assert instead_of_missing(ReadingOptions(in_time=True)).startswith("fill in what is missing")
    numbers = render(instead_of_missing(ReadingOptions(numbers_for="NOTEARS")))
    assert numbers == 'choose missing="drop" to leave out such rows, or fill in what is missing'
    assert 'missing="level"' in render(instead_of_missing(ReadingOptions()))


@pytest.mark.parametrize(
    ("levels", "doubtful"),
    [
        (["yes", "no", "unk"], ["unk"]),
        (["yes", "no", "dk"], ["dk"]),
        (["DE", "DK", "SE"], []),
        (["low", "high", "Prefer not to say"], ["Prefer not to say"]),
        (["yes", "no", "declined"], ["declined"]),
        (["approved", "declined"], []),
        (["valid", "invalid"], []),
        (["ja", "nein", "nicht bekannt", "n.k."], ["nicht bekannt", "n.k."]),
    ],
)
def test_words_that_mean_missing_beside_their_like(levels: list[str], doubtful: list[str]) -> None:
    cells = pa.chunked_array([levels * 5])
    assert list(find_missing(cells, wanted=False).doubtful) == doubtful
    assert list(find_missing(cells, wanted=True).holes) == doubtful


@pytest.mark.parametrize(
    ("word", "others"),
    [
        *(
            (word, ["a", "b"])
            for word in ("sin dato", "Non renseigné", "not done", "okänd", "TBD", "...", "No Data")
        ),
        *((word, ["yes", "no"]) for word in ("NR", "nd", "pending")),
    ],
)
def test_words_for_missing_are_noticed(word, others) -> None:
    assert find_missing(pa.chunked_array([[word, *others]]), wanted=False).doubtful == {word: 1}


@pytest.mark.parametrize("word", ["NR", "ND", "pending"])
def test_short_words_are_levels_beside_others(word) -> None:
    assert not find_missing(pa.chunked_array([[word, "approved", "SD", "MN"]]), wanted=False).doubtful
