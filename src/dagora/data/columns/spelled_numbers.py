"""Numbers as people write them: 12 %, $3.50, 1,234,567, 5 000, and with a decimal comma 3,14 or 1.234,5.

Negative ones may have a long minus sign (−3.5), a blank after it (- 3.50), the sign on either side of a
currency's (-$3.50, $-3.50), or parentheses, as in accounts: (3.50); if all cells are like (1), they count
something. A text column is rewritten with a decimal point if all of its cells are spelled in one of these
ways; words that often mean missing may stand between them. `1,234` can be a thousand or one and a bit: if
every cell can be read either way, the other columns of the file decide (`decimal_mark.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dagora.data.columns.cells import code_with_e
from dagora.data.columns.levels import NUMBER, THOUSANDS
from dagora.data.columns.missing import often_means_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

SEEN_EACH = 5  # times that each value of a float column is seen on average, if it is discrete
CURRENCY = "$€£¥"
AMOUNTS_IN = "amounts in "  # several currencies
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
OTHER_DIGITS = {zero + k: str(k) for zero in (0x660, 0x6F0, 0x966, 0xFF10) for k in range(10)}  # ٣, ۳, ३, ３
WITH_EXPONENTS = "written with exponents such as"
GROUPED = {
    name: (mark, re.compile(f"[+-]?[1-9][0-9]{{0,2}}({mark}[0-9]{{3}})+([.,][0-9]+)?"))
    for name, mark in (("spaces", " "), ("apostrophes", "'"))
}


class DecimalMarks(NamedTuple):
    """The mark before decimals that the numbers of a column have, `point` or `comma`, as an example shows.

    Where all can be read either way, it is `either`; `beside` is then a number that has neither mark.
    """

    mark: str
    example: str
    beside: str = ""


class Spelling(NamedTuple):
    """Numbers written plainly (None where they stay as they are), how they were written, and their marks."""

    numbers: list[str] | None
    how: str = ""
    marks: DecimalMarks | None = None


class Rewritten(NamedTuple):
    """A text column with its numbers written plainly, or as it was; how they were written; their marks."""

    cells: pa.ChunkedArray
    how: str = ""
    marks: DecimalMarks | None = None


def rewrite_numbers(
    column: pa.ChunkedArray, fewest: int, cells: int | None = None, decimal: str | None = None
) -> Rewritten:
    """A text column with its numbers written plainly, and how they were written.

    A column of at most `fewest` different texts is left alone, unless they are surely numbers. `cells` is how
    many there are, where the column has each text once. `decimal` decides where there are two readings.

    >>> import pyarrow as pa
    >>> rewrite_numbers(pa.chunked_array([["12,5 %", "3 %", None, "NA"]]), fewest=0).how
    'per cent, written with a decimal comma'
    >>> rewrite_numbers(pa.chunked_array([["$1,200", "$3.50"]]), fewest=0).cells.to_pylist()
    ['1200', '3.50']
    >>> rewrite_numbers(pa.chunked_array([["3.762", "95"]]), fewest=0).marks
    DecimalMarks(mark='either', example='3.762', beside='95')
    >>> rewrite_numbers(pa.chunked_array([["3.762", "95"]]), fewest=0, decimal="comma").cells.to_pylist()
    ['3762', '95']
    """
    import pyarrow as pa

    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    words = encoded.dictionary.to_pylist()
    ends = [next((w for w in some if not often_means_missing(w)), "") for some in (words, reversed(words))]
    if not any(map(str.isdigit, "".join(ends))):
        return Rewritten(column)
    spelled = [word for word in words if not often_means_missing(word)]
    if all(map(NUMBER_ALONE.fullmatch, spelled)):
        code = code_with_e(pa.array(spelled, column.type))
        if code is not None:
            return Rewritten(column, f"{WITH_EXPONENTS} '{code}'")
        marks = marks_of_plain(spelled)
        if marks is None or marks.mark == "point" or decimal != "comma":
            return Rewritten(column, marks=marks)
        plain, how, _ = by_comma_or_point(spelled, decimal)
        assert plain is not None
    else:
        plain, how, marks = spelling_of(spelled, decimal)
        number = len(column) - column.null_count if cells is None else cells
        few = len(words) <= fewest
        if few and (plain is None or not surely_numbers(words, plain, number)):
            return Rewritten(column)
        if plain is None or not how:
            return Rewritten(column, marks=marks)
    written = iter(plain)
    new = [word if often_means_missing(word) else next(written) for word in words]
    return Rewritten(pa.chunked_array([pa.array(new, column.type).take(encoded.indices)]), how, marks)


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


def plainly(words: Sequence[str], decimal: str | None = None) -> tuple[list[str], str] | None:
    """Texts as plain numbers, and how they were written; None where they are not of one spelling.

    >>> plainly(["1.234.567,89", "12"])
    (['1234567.89', '12'], 'written with a decimal comma')
    >>> plainly(["($5 000.50)", "$12"])
    (['-5000.50', '12'], 'amounts, negative ones in parentheses, written with spaces between thousands')
    """
    numbers, how, _ = spelling_of(words, decimal)
    return None if numbers is None or not how else (numbers, how)


def spelling_of(words: Sequence[str], decimal: str | None = None) -> Spelling:
    """Texts as plain numbers, how they were written, and what their marks say."""
    marked = [SIGN_AND_BLANK.sub(r"\1", word.translate(PLAIN_MARKS | OTHER_DIGITS)) for word in words]
    texts = without_parentheses(marked)
    bare = [text.removesuffix("%").rstrip() for text in texts]
    if not texts or any(text == left for text, left in zip(texts, bare, strict=True)):
        bare = [without_currency(text) for text in texts]
        amounts = all(text != left for text, left in zip(texts, bare, strict=True))
        kind = [name_amounts(texts)] if amounts else []
    else:
        kind = ["per cent"]
    if texts != marked:
        kind.append("negative ones in parentheses")
    if any(MINUS in word for word in words):
        kind.append("with long minus signs")
    if any(word != word.translate(OTHER_DIGITS) for word in words):
        kind.append("with digits of another script")
    if any(SIGN_AND_BLANK.match(word) for word in words):
        kind.append("with blanks after signs")
    if not bare or any(PADDED.match(word) for word in bare):
        return Spelling(None)
    name = next((name for name, (_, shape) in GROUPED.items() if any(map(shape.fullmatch, bare))), None)
    found = by_comma_or_point(bare, decimal) if name is None else remove_grouping(bare, name)
    return found._replace(how=", ".join([*kind, *filter(None, [found.how])]))


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


def name_amounts(texts: Sequence[str]) -> str:
    """Amounts, and of which currencies, where there are several.

    >>> name_amounts(["$5", "$7"]), name_amounts(["$5", "7 €"])
    ('amounts', 'amounts in $ and €')
    """
    signs = [sign for sign in CURRENCY if any(sign in text for text in texts)]
    return "amounts" if len(signs) == 1 else f"{AMOUNTS_IN}{' and '.join(signs)}"


def remove_grouping(words: list[str], name: str) -> Spelling:
    """Numbers with spaces or apostrophes between thousands, without them; a comma is a decimal one then."""
    mark, shape = GROUPED[name]
    plain = [word.replace(mark, "") if shape.fullmatch(word) else word for word in words]
    how = f"written with {name} between thousands"
    comma = next((word for word in plain if "," in word), None)
    if comma is not None:
        if not all(map(DECIMAL.fullmatch, plain)):
            return Spelling(None)
        return Spelling(
            [w.replace(",", ".") for w in plain], f"{how} and a decimal comma", DecimalMarks("comma", comma)
        )
    if not all(map(NUMBER_ALONE.fullmatch, plain)):
        return Spelling(None)
    point = next((word for word in plain if "." in word), None)
    return Spelling(plain, how, None if point is None else DecimalMarks("point", point))


def by_comma_or_point(words: list[str], decimal: str | None = None) -> Spelling:
    """Numbers with a point, and with no comma; and how commas and points were meant, where it matters.

    `decimal` decides where each number can be read in two ways.
    """
    point = all(map(WITH_POINT.fullmatch, words))
    comma = all(map(WITH_COMMA.fullmatch, words))
    example = next((word for word in words if "," in word or "." in word), None)
    if not (point or comma) or example is None:
        return Spelling(words if point else None)
    with_commas = any("," in word for word in words)
    marks = DecimalMarks("point" if point else "comma", telling(words, point=point) or example)
    if point and comma:
        marks = DecimalMarks("either", example, next((w for w in words if "," not in w and "." not in w), ""))
        if decimal is None and with_commas:
            return Spelling(None, marks=marks)
    if point and not (comma and decimal == "comma"):
        if not with_commas:
            return Spelling(words, marks=marks)
        return Spelling([w.replace(",", "") for w in words], "written with commas between thousands", marks)
    mark = "a decimal comma" if with_commas else "points between thousands"
    return Spelling([w.replace(".", "").replace(",", ".") for w in words], f"written with {mark}", marks)


def marks_of_plain(words: Sequence[str]) -> DecimalMarks | None:
    """The decimal mark that the points of plain numbers show; None where there are none.

    >>> marks_of_plain(["3.762", "95", "0.5"])
    DecimalMarks(mark='point', example='0.5', beside='')
    """
    dotted = [word for word in words if "." in word]
    if not dotted:
        return None
    odd = telling(dotted, point=True)
    if odd is not None:
        return DecimalMarks("point", odd)
    return DecimalMarks("either", dotted[0], next((word for word in words if "." not in word), ""))


def telling(words: Sequence[str], *, point: bool) -> str | None:
    """A number that can be read in one way only."""
    other = WITH_COMMA if point else WITH_POINT
    return next((word for word in words if not other.fullmatch(word)), None)
