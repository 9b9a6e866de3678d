"""Columns of text as people write them, each of which has to be of one type wherever its rows are."""

from __future__ import annotations

import datetime as dt
import random

ROWS = 240
UNIT = random.Random(7)


def some(values, rows=ROWS):
    """So many cells, each value as often as the next, in a random order."""
    cells = [str(values[k % len(values)]) for k in range(rows)]
    UNIT.shuffle(cells)
    return cells


def spread(form, rows=ROWS):
    """Different cells: the form of a random number in each."""
    return [form.format(UNIT.uniform(-500, 500)) for _ in range(rows)]


def with_some(cells, odd, every):
    """Cells of which every so many are odd."""
    return [odd if k % every == 3 else cell for k, cell in enumerate(cells)]


def days(form):
    """Dates, nearly all of them different."""
    return [form.format(y=2020 + k % 4, m=1 + k % 12, d=1 + k % 28) for k in range(ROWS)]


ODD_COLUMNS = {
    # Times and moments.
    "timestamp": [str(1_520_000_000 + 86_399 * k) for k in range(ROWS)],
    "created_at_ms": [str(1_520_000_000_123 + 86_399_001 * k) for k in range(ROWS)],
    "seconds_by_another_name": [str(1_520_000_000 + 86_399 * k) for k in range(ROWS)],
    # Integers and codes.
    "binary": some([0, 1]),
    "codes_19": some(range(19)),
    "codes_20": some(range(20)),
    "codes_21": some(range(21)),
    "codes_50": some(range(50)),
    "codes_51": some(range(51)),
    "negative_codes": some([-2, -1, 0, 1, 2]),
    "plus_signs": some(["+1", "+2", "-3"]),
    "likert": some([1, 2, 3, 4, 5]),
    "ages": [str(UNIT.randrange(18, 90)) for _ in range(ROWS)],
    "zip_codes": some(["00501", "10115", "02139", "94043", "01067"]),
    "many_zip_codes": [f"{UNIT.randrange(100_000):05d}" for _ in range(ROWS // 4)] * 4,
    "leading_zeros": some([f"{k:03d}" for k in range(30)]),
    "huge_integers": some([2**53 + k for k in range(15)]),
    "many_huge_integers": [str(2**53 + 3 * k) for k in UNIT.sample(range(10**6), ROWS)],
    "beyond_64_bits": some([10**20 + k for k in range(15)]),
    "hexadecimal": some(["0x1F", "0x2A", "0x00"]),
    "one_integer": some([7]),
    "one_float": some(["7.5"]),
    "one_word": some(["same"]),
    "row_number": [str(k + 1) for k in range(ROWS)],
    "shuffled_numbers": [str(k) for k in UNIT.sample(range(100, 100 + ROWS), ROWS)],
    "customer_id": [str(k) for k in UNIT.sample(range(10**6), ROWS)],
    "id_as_float": [f"{k}.0" for k in UNIT.sample(range(10**6), ROWS)],
    "order_key": [f"{k}" for k in UNIT.sample(range(10**6), ROWS // 2)] * 2,
    # Floats.
    "measured": spread("{:.3f}"),
    "scientific": spread("{:.4e}"),
    "whole_floats": some([f"{k}.0" for k in range(8)]),
    "many_whole_floats": [f"{UNIT.randrange(1000)}.0" for _ in range(ROWS)],
    "whole_floats_30": some([f"{k}.0" for k in range(30)]),
    "fractions_10": some([f"{k / 4}" for k in range(10)]),
    "fractions_11": some([f"{k / 4}" for k in range(11)]),
    "rare_fractions": spread("{:.1f}"),
    "trailing_points": some(["1.", "2.", "3."]),
    "leading_points": some([".5", ".25", ".75"]),
    "negative_zero": some(["-0.0", "0.0", "1.5"]),
    "equal_spellings": some(["1", "1.0", "1.00", "2"]),
    "infinite": with_some(spread("{:.3f}"), "inf", 50),
    "all_infinite": some(["inf", "-inf"]),
    "tiny": some(["1e-320", "2e-310", "3e-300"]),
    "overflowing": with_some(spread("{:.3f}"), "1e400", 50),
    # Numbers in other spellings.
    "decimal_comma": spread("{:.2f}"),
    "few_decimal_commas": some(["0,5", "1,25", "2,75"]),
    "thousands_dots": [f"{UNIT.randrange(1000, 10**7):,}".replace(",", ".") for _ in range(ROWS)],
    "thousands_commas": [f"{UNIT.randrange(10**6, 10**8):,}" for _ in range(ROWS)],
    "ambiguous_commas": [f"{UNIT.randrange(1000, 10**6):,}" for _ in range(ROWS)],
    "thousands_blanks": [f"{UNIT.randrange(1000, 10**7):,}".replace(",", " ") for _ in range(ROWS)],
    "per_cent": spread("{:.1f} %"),
    "few_per_cent": some(["10 %", "20 %", "30 %"]),
    "dollars": [f"${UNIT.uniform(0, 2000):,.2f}" for _ in range(ROWS)],
    "euros": [f"{UNIT.uniform(0, 900):.2f} €".replace(".", ",") for _ in range(ROWS)],
    "accounts": [f"({abs(v):.2f})" if v < 0 else f"{v:.2f}" for v in map(float, spread("{:.2f}"))],
    "long_minus": [cell.replace("-", "\N{MINUS SIGN}") for cell in spread("{:.2f}")],
    "blanks_around": [f"  {cell} " for cell in spread("{:.2f}")],
    "apostrophes": [f"{UNIT.randrange(1000, 10**7):,}".replace(",", "'") for _ in range(ROWS)],
    "unit_kilograms": spread("{:.1f} kg"),
    "unit_glued": spread("{:.2f}cm"),
    "unit_of_area": [cell.replace(".", ",") for cell in spread("{:.1f} kg/m2")],
    "unit_whole": [f"{UNIT.randrange(1000)} mg" for _ in range(ROWS)],
    "unit_and_na": with_some(spread("{:.1f} kg"), "NA", 40),
    "unit_and_word": with_some(spread("{:.1f} kg"), "heavy", 40),
    "unit_in_two": [f"{cell} {'kg' if k % 2 else 'lb'}" for k, cell in enumerate(spread("{:.1f}"))],
    "unit_in_some": [f"{cell} kg" if k % 3 else cell for k, cell in enumerate(spread("{:.1f}"))],
    "capital_in_codes": [f"{k}A" for k in UNIT.sample(range(10**6), ROWS)],
    "unicode_digits": some(["٣", "٤", "٥"]),
    "fullwidth_digits": some([f"{k}" for k in "１２３"]),
    # Words.
    "yes_no": some(["yes", "no"]),
    "true_false": some(["true", "false"]),
    "TRUE_FALSE": some(["TRUE", "FALSE"]),
    "T_F": some(["T", "F"]),
    "cases": some(["Yes", "yes", "YES"]),
    "words_30": some([f"word {k}" for k in range(30)]),
    "free_text": [f"note {k}: {UNIT.random():.9f}" for k in range(ROWS)],
    "long_text": some(["a" * 5000, "b" * 5000]),
    "accents": some(["ä", "é", "ß", "日本"]),
    "quotes": some(['say "no"', "it's", "a, b"]),
    "intervals": some(["(-inf, 1]", "(1, 10]", "(10, inf)"]),
    "e_mail": [f"user{k}@example.org" for k in range(ROWS)],
    # Missing values.
    "na_among_numbers": with_some(spread("{:.3f}"), "NA", 40),
    "na_among_codes": with_some(some([1, 2, 3]), "NA", 40),
    "na_among_words": with_some(some(["low", "high"]), "NA", 40),
    "question_marks": with_some(some(range(40)), "?", 40),
    "dots": with_some(spread("{:.3f}"), ".", 40),
    "several_words": with_some(with_some(spread("{:.3f}"), "n/a", 40), "null", 41),
    "na_among_padded": with_some(some(["00501", "02139"]), "NA", 40),
    "na_among_per_cent": with_some(spread("{:.1f} %"), "NA", 40),
    "none_and_some": some(["none", "some", "many"]),
    "blank_cells": with_some(spread("{:.3f}"), "", 40),
    "blank_words": with_some(some(["low", "high"]), " ", 40),
    "nan_cells": with_some(spread("{:.3f}"), "NaN", 40),
    "nearly_all_missing": ["" if k % 100 else "3.5" for k in range(ROWS)],
    "all_missing": [""] * ROWS,
    "all_na": ["NA"] * ROWS,
    "minus_999": with_some([str(UNIT.randrange(18, 90)) for _ in range(ROWS)], "-999", 40),
    # Mixed.
    "spoilt_numbers": with_some(spread("{:.3f}"), "broken", 60),
    "spoilt_codes": with_some(some(range(10)), "other", 40),
    "half_words": some([f"{k}" if k % 2 else f"w{k}" for k in range(60)]),
    "numbers_and_units": some(["5 kg", "7 kg", "9 kg"]),
    "number_ranges": some(["0-9", "10-19", "20-29"]),
    "booleans_and_numbers": some(["true", "1", "0"]),
    # Dates and times.
    "iso_dates": days("{y}-{m:02d}-{d:02d}"),
    "german_dates": days("{d}.{m}.{y}"),
    "slashed_dates": days("{m}/{d}/{y}"),
    "few_dates": some(["2024-01-01", "2024-02-01"]),
    "times_of_day": some([f"{k:02d}:30" for k in range(24)]),
    "timestamps": [f"2024-03-{1 + k % 28:02d} {k % 24:02d}:{k % 60:02d}:00" for k in range(ROWS)],
    "years": some(range(1990, 2030)),
    "months": some(["2024-01", "2024-02", "2024-03"]),
    "codes_with_e": some(["1E5", "2E10", "101", "10E4"]),
    "codes_with_e_and_others": [f"{k % 7 + 1}{'DEEE'[k // 2 % 4]}{k % 3 + 1}" for k in range(ROWS)],
}
ODD_COLUMNS["decimal_comma"] = [cell.replace(".", ",") for cell in ODD_COLUMNS["decimal_comma"]]

# More different texts than a scan keeps.
LONG_ROWS = 10_400


def long_days(form):
    """Dates that all differ."""
    first = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return [form.format(first + dt.timedelta(days=k)) for k in range(LONG_ROWS)]


def long_numbers(form, low=-5e6, high=5e6):
    """Numbers in a form, nearly all of them different."""
    return [form.format(UNIT.uniform(low, high)) for _ in range(LONG_ROWS)]


LONG_COLUMNS = {
    "plain": long_numbers("{:.3f}"),
    "plain_whole": long_numbers("{:.0f}"),
    "plain_then_word": [*long_numbers("{:.3f}")[:-2], "few", "many"],
    "plain_with_na": with_some(long_numbers("{:.3f}"), "NA", 900),
    "plain_infinite": [*long_numbers("{:.3f}")[:-1], "inf"],
    "row_number": [str(k + 1) for k in range(LONG_ROWS)],
    "person_id": [str(k) for k in UNIT.sample(range(10**6), LONG_ROWS)],
    "padded": [f"{k:07d}" for k in UNIT.sample(range(10**7), LONG_ROWS)],
    "late_padded": [*(str(k) for k in UNIT.sample(range(10**6, 10**7), LONG_ROWS - 1)), "0000007"],
    "per_cent": long_numbers("{:.3f} %"),
    "per_cent_with_na": with_some(long_numbers("{:.3f} %"), "NA", 900),
    "late_per_cent": [*long_numbers("{:.3f}")[:-1], "12 %"],
    "per_cent_and_word": [*long_numbers("{:.3f} %")[:-1], "few"],
    "unit_kilograms": long_numbers("{:.3f} kg"),
    "unit_and_na": with_some(long_numbers("{:.3f}kg"), "NA", 900),
    "unit_then_other": [*long_numbers("{:.3f} kg")[:-1], "12 lb"],
    "unit_and_word": [*long_numbers("{:.3f} kg")[:-1], "few"],
    "dollars": long_numbers("${:,.2f}", 0),
    "thousands_commas": [f"{UNIT.randrange(10**6, 10**9):,}" for _ in range(LONG_ROWS)],
    "ambiguous_commas": [f"{UNIT.randrange(1000, 10**6):,}" for _ in range(LONG_ROWS)],
    "late_decimal_comma": [*(f"{UNIT.randrange(1000, 10**6):,}" for _ in range(LONG_ROWS - 1)), "0,5"],
    "thousands_points": [f"{UNIT.randrange(1000, 10**7):,}".replace(",", ".") for _ in range(LONG_ROWS)],
    "decimal_comma": [cell.replace(".", ",") for cell in long_numbers("{:.2f}")],
    "blanks": [f"{UNIT.randrange(1000, 10**8):,}".replace(",", " ") for _ in range(LONG_ROWS)],
    "accounts": [f"({-v:.3f})" if v < 0 else f"{v:.3f}" for v in map(float, long_numbers("{:.3f}"))],
    "long_minus": [cell.replace("-", "\N{MINUS SIGN}") for cell in long_numbers("{:.2f}")],
    "whole_per_cent": [f"{k} %" for k in UNIT.sample(range(10**6), LONG_ROWS)],
    "iso_dates": long_days("{:%Y-%m-%d}"),
    "moments": long_days("{:%Y-%m-%d %H:%M:%S}"),
    "slashed_dates": long_days("{:%m/%d/%Y}"),
    "dates_and_word": [*long_days("{:%Y-%m-%d}")[:-1], "unclear"],
    "dates_as_numbers": long_days("{:%Y%m%d}"),
    "names": [f"person {k}" for k in range(LONG_ROWS)],
    "names_twice": [f"person {k // 2}" for k in range(2 * LONG_ROWS)],
    "hashes": [f"{UNIT.getrandbits(64):016x}" for _ in range(LONG_ROWS)],
    "phones": [f"+49 30 {UNIT.randrange(10**5, 10**8)}" for _ in range(LONG_ROWS)],
    "addresses": [".".join(str(UNIT.randrange(256)) for _ in range(4)) for _ in range(LONG_ROWS)],
    "mostly_words": [f"{k}" if k % 3 == 0 else f"w{k}" for k in range(LONG_ROWS)],
    "mostly_numbers": [f"{k}.5" if k % 3 else f"w{k}" for k in range(LONG_ROWS)],
    "words_after_numbers": [f"{k}.5" if k < LONG_ROWS * 0.6 else f"w{k}" for k in range(LONG_ROWS)],
    "numbers_after_words": [f"{k}.5" if k > LONG_ROWS * 0.6 else f"w{k}" for k in range(LONG_ROWS)],
    "minus_999": with_some(long_numbers("{:.3f}", 0, 90), "-999", 40),
}
