"""The results of a Gaussian-process score as arrays that can be written to a file and read again.

Besides the scores there are the modes of pairs, from which the climbs of larger families start. A score that
reads both computes the rest as if it had never been interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Key = tuple[int, tuple[int, ...]]
Pair = tuple[int, int]
Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True)
class Details:
    """A family's score, its standard error, effective points of how many, best mode, and number of modes.

    The mode is in the parameters' own units, not in logarithms.
    """

    log_score: float
    standard_error: float
    ess: float
    points: int
    mode: tuple[float, ...]
    modes: int


def to_arrays(known: Mapping[Key, Details], alone: Mapping[Pair, Array]) -> dict[str, NDArray[np.generic]]:
    """The scored families and the modes of pairs, a row each."""
    details = list(known.values())
    return {
        "children": np.array([child for child, _ in known], dtype=np.int64),
        "parents": pad_rows([parents for _, parents in known], -1).astype(np.int64),
        "log_scores": np.array([each.log_score for each in details]),
        "standard_errors": np.array([each.standard_error for each in details]),
        "ess": np.array([each.ess for each in details]),
        "points": np.array([each.points for each in details], dtype=np.int64),
        "mode": pad_rows([each.mode for each in details], np.nan),
        "modes": np.array([each.modes for each in details], dtype=np.int64),
        "pairs": np.array(list(alone), dtype=np.int64).reshape(-1, 2),
        "pair_modes": pad_rows([mode.tolist() for mode in alone.values()], np.nan),
    }


def from_arrays(arrays: Arrays) -> tuple[dict[Key, Details], dict[Pair, Array]]:
    """Undo `to_arrays`.

    >>> root, pair = Details(-4.0, 0.0, 0.0, 0, (), 1), Details(-3.5, 0.01, 200.0, 256, (1.0, 2.0, 0.5), 1)
    >>> known = {(1, ()): root, (2, (0, 1)): pair}
    >>> from_arrays(to_arrays(known, {}))[0] == known
    True
    """
    columns = ("log_scores", "standard_errors", "ess", "points", "mode", "modes")
    keys = zip(arrays["children"].tolist(), arrays["parents"].tolist(), strict=True)
    rows = zip(*(arrays[name].tolist() for name in columns), strict=True)
    known = {
        (child, tuple(j for j in parents if j >= 0)): Details(
            value, error, ess, points, tuple(x for x in mode if not np.isnan(x)), modes
        )
        for (child, parents), (value, error, ess, points, mode, modes) in zip(keys, rows, strict=True)
    }
    points_of = np.asarray(arrays["pair_modes"], dtype=np.float64)
    alone = {
        (child, parent): mode[~np.isnan(mode)]
        for (child, parent), mode in zip(arrays["pairs"].tolist(), points_of, strict=True)
    }
    return known, alone


def pad_rows(rows: Sequence[Sequence[float]], filling: float) -> Array:
    """Rows of different lengths as one array."""
    array = np.full((len(rows), max(map(len, rows), default=0)), filling)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array
