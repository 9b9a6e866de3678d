"""Numbers as people write them: 12 %, $3.50, 1,234,567, 5 000, and with a decimal comma 3,14 or 1.234,5.

Negative ones may have a long minus sign (−3.5), a blank after it (- 3.50), the sign on either side of a
currency's (-$3.50, $-3.50), or parentheses, as in accounts: (3.50); if all cells are like (1), they count
something. A text column is rewritten with a decimal point if all of its cells are spelled in one of these
ways; words that often mean missing may stand between them. `1,234` can be a thousand or one and a bit: if
every cell can be read either way, the column stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dagora.data.columns.column_profile import SEEN_EACH
from dagora.data.columns.levels import NUMBER, THOUSANDS
from dagora.data.columns.missing import often_means_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

CURRENCY = "$€£¥"
NUMBER_ALONE = re.compile(NUMBER)
# With a comma between thousands and a decimal point; with a point between thousands and a decimal comma.
WITH_POINT = re.compile(f"({NUMBER}|{THOUSANDS})")
WITH_COMMA = re.compile("[+-]?([0-9]+(,[0-9]+)?|[1-9][0-9]{0,2}([.][0-9]{3})+(,[0-9]+)?)")
DECIMAL = re.compile("[+-]?[0-9]+(,[0-9]+)?")
PADDED = re.compile("[+-]?0[0-9]")
SIGN_AND_BLANK = re.compile("([+-]) +(?=[0-9])")
IN_PARENTHESES = re.compile("[(][^()+-]+[)]")
AMOUNT = re.compile(f"(?P<sign>[+-]?) ?[{CURRENCY}] ?(?P<after>.*)|(?P<before>.*?) ?[{CURRENCY}]")
# Long minus signs, spaces that do not break, and curly apostrophes, each as its plain kin.
MINUS = "\N{MINUS SIGN}"
PLAIN_MARKS = str.maketrans(
    {
        MINUS: "-",
        "\N{NO-BREAK SPACE}": " ",
        "\N{NARROW NO-BREAK SPACE}": " ",
        "\N{THIN SPACE}": " ",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    }
)
GROUPED = {
    name: (mark, re.compile(f"[+-]?[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+([.,][0-9]+)?"))
    for name, mark in (("spaces", " "), ("apostrophes", "'"))
}


def rewrite_numbers(
    column: pa.ChunkedArray, fewest: int, cells: int | None = None
) -> tuple[pa.ChunkedArray, str] | None:
    """A text column with its numbers written plainly, and how they were written; None if that is not so.

    A column of at most `fewest` different texts is left alone, unless they are surely numbers. `cells` is how
    many there are, where the column has each text once.

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
    ends = [next((w for w in some if not often_means_missing(w)), "") for some in (words, reversed(words))]
    if not any(map(str.isdigit, "".join(ends))):
        return None
    spelled = [word for word in words if not often_means_missing(word)]
    found = None if all(map(NUMBER_ALONE.fullmatch, spelled)) else plainly(spelled)
    if found is None:
        return None
    plain, how = found
    number = len(column) - column.null_count if cells is None else cells
    if len(words) <= fewest and not surely_numbers(words, plain, number):
        return None
    written = iter(plain)
    new = [word if often_means_missing(word) else next(written) for word in words]
    return pa.chunked_array([pa.array(new, column.type).take(encoded.indices)]), how


def surely_numbers(words: Sequence[str], numbers: Sequence[str], cells: int) -> bool:
    """Return True if a few different texts of so many cells are numbers, not levels to be kept as named.

    Whole numbers, and texts that are each seen some times, may be levels. Answers to a question with several
    choices look like 1,2 and 2,4: a comma alone says little.

    >>> [surely_numbers(["0,5", "1,25"], ["0.5", "1.25"], cells) for cells in (2, 10)]
    [True, False]
    >>> surely_numbers(["1", "1,2", "2,4"], ["1", "1.2", "2.4"], 3)
    False
    """
    values = set(map(float, numbers))
    if len(values) < 2 or all(map(float.is_integer, values)) or len(words) <= cells // SEEN_EACH:
        return False
    if any(map(often_means_missing, words)):
        return False
    if not all(map(DECIMAL.fullmatch, words)):  # %, a currency's sign, thousands
        return True
    shares = [word.partition(",")[2] for word in words if "," in word]
    return min(map(len, shares)) > 1 or any(word.startswith(("0,", "-")) for word in words)


def plainly(words: Sequence[str]) -> tuple[list[str], str] | None:
    """Texts as plain numbers, and how they were written; None where they are not of one spelling.

    >>> plainly(["1.234.567,89", "12"])
    (['1234567.89', '12'], 'written with a decimal comma')
    >>> plainly(["($5 000.50)", "$12"])
    (['-5000.50', '12'], 'amounts, negative ones in parentheses, written with spaces between thousands')
    """
    marked = [SIGN_AND_BLANK.sub(r"\1", word.translate(PLAIN_MARKS)) for word in words]
    texts = without_parentheses(marked)
    bare = [text.removesuffix("%").rstrip() for text in texts]
    if not texts or any(text == left for text, left in zip(texts, bare, strict=True)):
        bare = [without_currency(text) for text in texts]
        amounts = all(text != left for text, left in zip(texts, bare, strict=True))
        kind = ["amounts"] if amounts else []
    else:
        kind = ["per cent"]
    if texts != marked:
        kind.append("negative ones in parentheses")
    if any(MINUS in word for word in words):
        kind.append("with long minus signs")
    if any(SIGN_AND_BLANK.match(word) for word in words):
        kind.append("with blanks after signs")
    if not bare or any(PADDED.match(word) for word in bare):
        return None
    name = next((name for name, (_, shape) in GROUPED.items() if any(map(shape.fullmatch, bare))), None)
    found = by_comma_or_point(bare) if name is None else remove_grouping(bare, name)
    if found is None:
        return None
    numbers, how = found
    kind += filter(None, [how])
    return (numbers, ", ".join(kind)) if kind else None


def without_parentheses(texts: list[str]) -> list[str]:
    """Texts with a minus instead of parentheses, unless all are whole numbers in parentheses: those count."""
    inside = [bool(IN_PARENTHESES.fullmatch(text)) for text in texts]
    if all(inside) and all(text[1:-1].strip().isdigit() for text in texts):
        return texts
    return [f"-{text[1:-1].strip()}" if sign else text for text, sign in zip(texts, inside, strict=True)]


def without_currency(text: str) -> str:
    """A text without the sign of a currency.

    >>> [without_currency(text) for text in ("-$3.50", "$-3.50", "3,50 €", "7")]
    ['-3.50', '-3.50', '3,50', '7']
    """
    found = AMOUNT.fullmatch(text)
    if found is None:
        return text
    return found["before"] if found["after"] is None else f"{found['sign']}{found['after']}"


def remove_grouping(words: list[str], name: str) -> tuple[list[str], str] | None:
    """Numbers with spaces or apostrophes between thousands, without them; a comma is a decimal one then."""
    mark, shape = GROUPED[name]
    plain = [word.replace(mark, "") if shape.fullmatch(word) else word for word in words]
    how = f"written with {name} between thousands"
    if any("," in word for word in plain):
        how += " and a decimal comma"
        return ([w.replace(",", ".") for w in plain], how) if all(map(DECIMAL.fullmatch, plain)) else None
    return (plain, how) if all(map(NUMBER_ALONE.fullmatch, plain)) else None


def by_comma_or_point(words: list[str]) -> tuple[list[str], str] | None:
    """Numbers with a point, and with no comma; and how commas and points were meant, where it matters."""
    point = all(map(WITH_POINT.fullmatch, words))
    comma = all(map(WITH_COMMA.fullmatch, words))
    if point and not any("," in word or word.count(".") > 1 for word in words):
        return words, ""
    if point == comma:
        return None
    if point:
        return [word.replace(",", "") for word in words], "written with commas between thousands"
    mark = "a decimal comma" if any("," in word for word in words) else "points between thousands"
    return [word.replace(".", "").replace(",", ".") for word in words], f"written with {mark}"
