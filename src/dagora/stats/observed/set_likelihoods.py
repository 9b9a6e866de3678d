"""The largest likelihood of what was seen of a set of discrete columns, by EM over the set's own cells.

g(S) = max over p of Σ over rows of ln Σ p(cells of S that agree with what was seen of S in the row): the
likelihood of a table of probabilities over all cells of S, without any structure. It is concave in p, so EM
ends at the maximum from anywhere inside. Without missing values it is Σ n ln(n / N). Rows without an
observed value in S do not count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel

# Cells, missing values counted as one more level of each column, above which a set is not scored.
MOST_CELLS = 1 << 17
# EM ends where the likelihood that is still to be gained is estimated to be below this.
TOLERANCE = 1e-5
MOST_STEPS = 2000


@kernel
def observed_likelihoods(
    codes: NDArray[np.int32],
    cardinalities: NDArray[np.int64],
    columns: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tolerance: float,
    most_cells: int,
    found: NDArray[np.float64],
) -> None:
    """Fill `found` with g of each set; −∞ where a set has more than `most_cells` cells.

    A missing value is the code one above a column's last level.
    """
    n = codes.shape[1]
    place = np.empty(n, dtype=np.int64)
    for k in range(len(offsets) - 1):
        first, size = offsets[k], offsets[k + 1] - offsets[k]
        patterns = 1.0
        for a in range(size):
            patterns *= cardinalities[columns[first + a]] + 1
        if patterns > most_cells:
            found[k] = -np.inf
            continue
        levels = np.empty(size, dtype=np.int64)
        strides = np.empty(size, dtype=np.int64)
        number = 1
        for a in range(size - 1, -1, -1):
            levels[a] = cardinalities[columns[first + a]]
            strides[a] = number
            number *= levels[a]
        for row in range(n):
            place[row] = 0
        for a in range(size):
            column = columns[first + a]
            for row in range(n):
                place[row] = place[row] * (levels[a] + 1) + codes[column, row]
        tally = np.zeros(int(patterns), dtype=np.int64)
        for row in range(n):
            tally[place[row]] += 1
        found[k] = saturated_likelihood(tally, levels, strides, number, tolerance)


@kernel
def saturated_likelihood(
    tally: NDArray[np.int64],
    levels: NDArray[np.int64],
    strides: NDArray[np.int64],
    number: int,
    tolerance: float,
) -> float:
    """Find g of one set from the counts of its patterns, a missing value being one more level."""
    size = len(levels)
    whole = np.zeros(number)
    digits = np.empty(size, dtype=np.int64)
    partial, entries, total, complete = 0, 0, 0, 0
    for pattern in range(len(tally)):
        if tally[pattern] > 0:
            rest, cell, agreeing, holes = pattern, 0, 1, 0
            for a in range(size - 1, -1, -1):
                digit = rest % (levels[a] + 1)
                rest //= levels[a] + 1
                if digit == levels[a]:
                    agreeing *= levels[a]
                    holes += 1
                else:
                    cell += digit * strides[a]
            if holes == 0:
                whole[cell] += tally[pattern]
                complete += tally[pattern]
            elif holes < size:
                partial += 1
                entries += agreeing
            if holes < size:
                total += tally[pattern]
    if total == 0:
        return 0.0
    if partial == 0:
        value = 0.0
        for cell in range(number):
            if whole[cell] > 0:
                value += whole[cell] * np.log(whole[cell] / total)
        return value
    # For each pattern with missing values: how often it was seen, and the cells that agree with it.
    seen = np.empty(partial)
    starts = np.empty(partial + 1, dtype=np.int64)
    agree = np.empty(entries, dtype=np.int64)
    starts[0] = 0
    at, written = 0, 0
    for pattern in range(len(tally)):
        if tally[pattern] > 0:
            rest, cell, holes = pattern, 0, 0
            for a in range(size - 1, -1, -1):
                digits[a] = rest % (levels[a] + 1)
                rest //= levels[a] + 1
                if digits[a] == levels[a]:
                    holes += 1
                else:
                    cell += digits[a] * strides[a]
            if 0 < holes < size:
                seen[at] = tally[pattern]
                agree[written] = cell
                end = written + 1
                for a in range(size):
                    if digits[a] == levels[a]:
                        block = end - written
                        for level in range(1, levels[a]):
                            for each in range(block):
                                agree[end] = agree[written + each] + level * strides[a]
                                end += 1
                written = end
                at += 1
                starts[at] = written
    p = np.empty(number)
    expected = np.empty(number)
    for cell in range(number):
        p[cell] = (whole[cell] + (total - complete + 1.0) / number) / (total + 1.0)
    before, gain_before = -np.inf, 0.0
    value = -np.inf
    for step in range(MOST_STEPS):
        value = 0.0
        for cell in range(number):
            expected[cell] = whole[cell]
            if whole[cell] > 0:
                value += whole[cell] * np.log(p[cell])
        for pattern in range(partial):
            mass = 0.0
            for entry in range(starts[pattern], starts[pattern + 1]):
                mass += p[agree[entry]]
            value += seen[pattern] * np.log(mass)
            share = seen[pattern] / mass
            for entry in range(starts[pattern], starts[pattern + 1]):
                expected[agree[entry]] += share * p[agree[entry]]
        for cell in range(number):
            p[cell] = expected[cell] / total
        gain = value - before
        if step > 1:
            ratio = gain / gain_before if gain_before > 0 else 0.0
            if gain <= 0 or (ratio < 1 and gain * ratio / (1 - ratio) < tolerance):
                break
        before, gain_before = value, gain
    return value
