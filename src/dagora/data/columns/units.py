"""Units of one amount that are often mixed in a column, and how one becomes the other."""

from __future__ import annotations

from typing import NamedTuple


class Conversion(NamedTuple):
    """Two units: `slope` times a number in the first, plus `offset`, is the number in the second.

    `is_common` says that a few numbers are enough to suspect these units.
    """

    name: str
    slope: float
    offset: float = 0.0
    is_common: bool = False


CONVERSIONS = (
    Conversion("g/dl and g/l, or another factor of 10", 10, is_common=True),
    Conversion("shares and per cent, or another factor of 100", 100, is_common=True),
    Conversion("g and mg, or another factor of 1000", 1000, is_common=True),
    Conversion("kg and lb", 2.2046, is_common=True),
    Conversion("°C and °F", 1.8, 32),
    Conversion("inches and cm", 2.54),
    Conversion("kPa and mmHg", 7.5006),
    Conversion("HbA1c in % and mmol/mol", 10.93, -23.5),
    Conversion("glucose in mmol/l and mg/dl", 18.02),
    Conversion("cholesterol in mmol/l and mg/dl", 38.67),
    Conversion("creatinine in mg/dl and µmol/l", 88.4),
)
