"""Random odd tables, as people have them: few rows, constants, copies, rare levels, huge numbers, holes."""

from __future__ import annotations

import numpy as np
import pandas as pd

NAMES = ("a", "b b", "c,d", "größe", "x[1]", "Yes", "'q'", "a.b", "P(x)", "id2", "=1", "π")


def odd_table(rng: np.random.Generator) -> pd.DataFrame:
    """A table of 2 to 6 columns, of one kind or both, with oddities."""
    rows = int(rng.choice([4, 7, 12, 30, 80]))
    width = int(rng.integers(2, 7))
    kinds = rng.choice(["discrete", "continuous", "mixed"])
    names = list(rng.choice(NAMES, width, replace=False))
    columns: dict[str, np.ndarray] = {}
    for name in names:
        before = list(columns.values())
        number = kinds == "continuous" or (kinds == "mixed" and rng.random() < 0.5)
        columns[name] = odd_numbers(rng, rows, before) if number else odd_levels(rng, rows, before)
    frame = pd.DataFrame(columns)
    if rng.random() < 0.25:
        share = rng.uniform(0.02, 0.5)
        for name in names:
            frame[name] = frame[name].where(rng.random(rows) > share)
    if rng.random() < 0.2:
        frame = pd.concat([frame, frame], ignore_index=True)
    return frame


def odd_numbers(rng: np.random.Generator, rows: int, before: list[np.ndarray]) -> np.ndarray:
    """Numbers that may depend on a column before: copies, constants, outliers, far scales, few values."""
    base = rng.normal(size=rows)
    numbers = [column for column in before if column.dtype == float]
    if numbers and rng.random() < 0.5:
        base = base * rng.choice([0.0, 0.1, 1.0]) + numbers[int(rng.integers(len(numbers)))]
    change = rng.choice(["none", "scale", "outlier", "constant", "few", "shift", "ties"])
    if change == "scale":
        return base * 10.0 ** rng.integers(-12, 13)
    if change == "outlier":
        base[int(rng.integers(rows))] = 1e6
    elif change == "constant":
        base[:] = 2.5
    elif change == "few":
        return np.round(base, 0) + 0.5
    elif change == "shift":
        return base + 1e9
    elif change == "ties":
        return np.maximum(base, 0.0)
    return base


def odd_levels(rng: np.random.Generator, rows: int, before: list[np.ndarray]) -> np.ndarray:
    """Levels that may depend on a column before: one level, rare ones, one for each row, odd words."""
    count = int(rng.choice([1, 2, 2, 3, 5, max(2, rows // 2)]))
    starts = ("lo ", "é", "=", "None", "-")
    words = np.array([f"{starts[k % len(starts)]}{k}" for k in range(count)])
    codes = rng.integers(0, count, rows)
    if before and rng.random() < 0.5:
        codes = pd.factorize(before[int(rng.integers(len(before)))])[0] % count
    if rng.random() < 0.3:
        codes[:-1] = 0  # one row has another level
    return words[codes].astype(object)
