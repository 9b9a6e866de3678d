"""Random tables with nasty names, levels and numbers."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from dagora.data.columns.levels import IS_NUMBER, sort_levels
from dagora.data.columns.missing import MISSING_WORDS
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table

# The first example pays for imports, and the machine may be busy: no deadline.
quick = settings(deadline=None, max_examples=60)
NASTY = (
    "NA",
    "None",
    "null",
    "a,b",
    'say "hi"',
    "two\nlines",
    "semi;colon",
    "tab\there",
    "ünïcode 漢字",
    "'",
    "#x",
    "sep=x",
    "\\n",
    "0x1F",
)
text = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=8),
).map(str.strip)


def is_word(cell):
    """Text that stays text: not missing, and not to be taken for a number (nor for infinity)."""
    return (
        cell not in MISSING_WORDS
        and not IS_NUMBER.fullmatch(cell)
        and cell.lower().strip("+-") not in ("inf", "infinity", "nan")
    )


words = text.filter(is_word)
names = words.filter(lambda name: "\ufeff" not in name)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def columns(draw, name, rows, unseen):
    kind = draw(st.sampled_from(["words", "integers", "numbers"]))
    if kind == "numbers":
        values = draw(st.lists(numbers, min_size=rows, max_size=rows))
        return Variable(name, Kind.CONTINUOUS), np.array(values, dtype=np.float64)
    some = (
        st.lists(words, min_size=1, max_size=5)
        if kind == "words"
        else st.lists(st.integers(-9, 99).map(str), min_size=1, max_size=5)
    )
    levels = sort_levels(draw(some))
    codes = np.array(
        draw(st.lists(st.integers(0, len(levels) - 1), min_size=rows, max_size=rows)), dtype=np.uint16
    )
    if not unseen:
        seen, codes = np.unique(codes, return_inverse=True)
        levels = tuple(levels[i] for i in seen)
    return Variable(name, Kind.DISCRETE, levels), codes.astype(np.uint16)


@st.composite
def tables(draw, unseen=True):
    rows = draw(st.integers(1, 6))
    drawn = [
        draw(columns(name, rows, unseen))
        for name in draw(st.lists(names, min_size=1, max_size=4, unique=True))
    ]
    return Table(Schema(variable for variable, _ in drawn), tuple(values for _, values in drawn))
