"""Numbers as people write them: 12 %, $3.50, 1,234,567, and with a decimal comma 3,14 or 1.234,5.

A text column is rewritten with a decimal point if all of its cells are spelled in one of these ways; words
that often mean missing may stand between them. `1,234` can be a thousand or one and a bit: if every cell can
be read either way, the column stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.data.columns.levels import NUMBER, THOUSANDS
from dagora.data.columns.missing import often_means_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

CURRENCY = "$€£¥"
# With a comma between thousands and a decimal point; with a point between thousands and a decimal comma.
WITH_POINT = re.compile(f"({NUMBER}|{THOUSANDS})")
WITH_COMMA = re.compile("[+-]?([0-9]+(,[0-9]+)?|[1-9][0-9]{0,2}([.][0-9]{3})+(,[0-9]+)?)")
PADDED = re.compile("[+-]?0[0-9]")


def rewrite_numbers(column: pa.ChunkedArray, fewest: int) -> tuple[pa.ChunkedArray, str] | None:
    """A text column with its numbers written plainly, and how they were written; None if that is not so.

    A column of at most `fewest` different texts is left alone.

    >>> import pyarrow as pa
    >>> rewrite_numbers(pa.chunked_array([["12,5 %", "3 %", None, "NA"]]), fewest=0)[1]
    'per cent, written with a decimal comma'
    >>> rewrite_numbers(pa.chunked_array([["$1,200", "$3.50"]]), fewest=0)[0].to_pylist()
    ['1200', '3.50']
    >>> rewrite_numbers(pa.chunked_array([["1,200", "3,500"]]), fewest=0)  # thousands, or one and a bit?
    """
    import pyarrow as pa

    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    words = encoded.dictionary.to_pylist()
    if len(words) <= fewest or not any(letter.isdigit() for letter in words[0] + words[-1]):
        return None
    found = plainly([word for word in words if not often_means_missing(word)])
    if found is None:
        return None
    plain, how = found
    written = iter(plain)
    new = [word if often_means_missing(word) else next(written) for word in words]
    return pa.chunked_array([pa.array(new, column.type).take(encoded.indices)]), how


def plainly(words: Sequence[str]) -> tuple[list[str], str] | None:
    """Texts as plain numbers, and how they were written; None where they are not of one spelling.

    >>> plainly(["1.234.567,89", "12"])
    (['1234567.89', '12'], 'written with a decimal comma')
    """
    bare = [word.removesuffix("%").rstrip() for word in words]
    if not words or any(word == left for word, left in zip(words, bare, strict=True)):
        bare = [word.strip(CURRENCY).strip() for word in words]
        amounts = all(word[0] in CURRENCY or word[-1] in CURRENCY for word in words if word)
        kind = ["amounts"] if amounts else []
    else:
        kind = ["per cent"]
    if not bare or any(PADDED.match(word) for word in bare):
        return None
    point = all(WITH_POINT.fullmatch(word) for word in bare)
    comma = all(WITH_COMMA.fullmatch(word) for word in bare)
    marked = any("," in word or word.count(".") > 1 for word in bare)
    if not marked and point:
        return (bare, kind[0]) if kind else None
    if point == comma:
        return None
    if point:
        kind.append("written with commas between thousands")
        return [word.replace(",", "") for word in bare], ", ".join(kind)
    mark = "a decimal comma" if any("," in word for word in bare) else "points between thousands"
    kind.append(f"written with {mark}")
    return [word.replace(".", "").replace(",", ".") for word in bare], ", ".join(kind)
