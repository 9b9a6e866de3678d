"""ln x! to thirty digits, and the scores of families as whole numbers: oracles for what circuits compute."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from math import comb, prod

import numpy as np

PI = Decimal("3.14159265358979323846264338327950288419716939937511")
# B_2k / (2k (2k − 1)) of Stirling's series for ln Γ
SERIES = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))


def log_factorial(x: int) -> Decimal:
    """By the series at 60 and beyond, and down from there."""
    z = Decimal(max(x, 60) + 1)
    value = (z - Decimal("0.5")) * z.ln() - z + (2 * PI).ln() / 2
    value += sum(Decimal(a) / b / z ** (2 * k + 1) for k, (a, b) in enumerate(SERIES))
    for y in range(max(x, 60), x, -1):
        value -= Decimal(y).ln()
    return value


def approximated(x: int) -> Decimal:
    """The paper's g in its place."""
    return Decimal(x).ln() * (x + Decimal("0.5")) - x if x > 0 else Decimal(0)


def in_units(counts: Sequence[int], score: str, bits: int) -> list[int]:
    """Values of counts in units of 2^-bits."""
    function = log_factorial if score == "f" else approximated
    with localcontext(prec=34):
        return [int((function(x) * (1 << bits)).to_integral_value()) for x in counts]


def whole_number(cells: Sequence[tuple[int, int]]) -> int:
    """N of a family with counts (α_j0, α_j1): its score is −ln N."""
    return prod((a + b + 1) * comb(a + b, b) for a, b in cells)


def log_ratio(a: int, b: int) -> float:
    """ln a/b of whole numbers near each other."""
    with localcontext(prec=50):
        return float((Decimal(a) / Decimal(b)).ln())


def words_of(families: Sequence[Sequence[tuple[int, int]]]) -> np.ndarray:
    """Counts of families as circuits take them: zeros of the child, its ones, and sums plus 1."""
    rows = [
        [*(a for a, _ in cells), *(b for _, b in cells), *(a + b + 1 for a, b in cells)] for cells in families
    ]
    return np.array(rows, dtype=np.uint64).T
