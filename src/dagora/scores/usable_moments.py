"""Checks that linear regressions can use some moments: continuous columns that vary, of a usable magnitude.

A regression weight can be as large as the ratio of two standard deviations. Methods square weights and
multiply variances, so variances must not only be finite but also leave room for their products.

Two columns that are equal up to scale and shift explain each other perfectly, and everything else equally
well. Methods that return weights or test independence have no unique answer there, and refuse such columns. A
marginal likelihood or a BIC is still defined (graphs that exchange the two columns score the same), and
accepts them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.wording import col, option
from dagora.data.schema import Kind, Schema
from dagora.scores.gaussian import COLLINEAR
from dagora.stats.statistics import Moments, Statistics

# Products and ratios of two variances within these bounds, and sums of such, neither overflow nor vanish.
LARGEST_VARIANCE, SMALLEST_VARIANCE = 1e140, 1e-140
# A standard deviation below this share of the mean is rounding (a double has a relative precision of 1e-16):
# below the first, of a constant; below the second, values have lost most of their digits.
CONSTANT, UNSURE = 5e-16, 1e-14


def gaussian_moments(statistics: Statistics, owner: str) -> Moments:
    """Moments of columns that linear regressions can use: all continuous, none constant, huge or tiny.

    Refusals name the `owner`, such as "the score bge" or "the method notears".
    """
    refuse_discrete(statistics.schema, owner)
    moments = statistics.moments()
    variances = np.diag(moments.scatter) / max(1, moments.n)
    refuse_unusable(statistics.schema.names, moments.mean, variances, owner)
    return moments


def refuse_discrete(schema: Schema, owner: str) -> None:
    """Refuse columns that are not continuous."""
    for variable in schema:
        if variable.kind is not Kind.CONTINUOUS:
            raise DataError(
                f"{owner} needs continuous columns, but '{variable.name}' is discrete: "
                "declare it continuous if it is a number, leave it out, or use a method and score for such "
                "columns"
            )


def refuse_unusable(
    names: Sequence[str], means: NDArray[np.float64], variances: NDArray[np.float64], owner: str
) -> None:
    """Refuse columns that are constant, or whose variances are too large or too small for computations.

    >>> refuse_unusable(["a"], np.array([0.0]), np.array([np.inf]), "the method notears")
    Traceback (most recent call last):
    dagora.DataError: the values of column 'a' are too large to be squared: scale it down
    """
    for name, mean, variance in zip(names, means, variances, strict=True):
        if not (np.isfinite(mean) and variance <= LARGEST_VARIANCE):
            raise DataError(f"the values of {col(name)} are too large to be squared: scale it down")
        if mean == variance == 0:
            raise DataError(
                f"{col(name)} is constant, or too small to be squared, and {owner} is not defined on it: "
                f"leave it out ({option('drop', name)}), or scale it up"
            )
        vanishing = variance < SMALLEST_VARIANCE
        share = np.sqrt(variance) / abs(mean) if mean else np.inf
        if share <= UNSURE and not (vanishing and mean**2 < SMALLEST_VARIANCE):
            if share > CONSTANT:
                raise DataError(
                    f"the values of {col(name)} differ only in their last digits (about {mean:.3g} ± "
                    f"{np.sqrt(variance):.2g}), too few for {owner}: subtract {mean:.17g} before it is "
                    f"written, or leave it out ({option('drop', name)})"
                )
            raise DataError(
                f"{col(name)} is constant, and {owner} is not defined on it: leave it out "
                f"({option('drop', name)})"
            )
        if vanishing:
            raise DataError(f"the values of {col(name)} are too small to be squared: scale it up")


def refuse_duplicates(moments: Moments, schema: Schema, owner: str) -> None:
    """Refuse two columns that are equal up to scale and shift: their edges cannot be distinguished."""
    spread = np.sqrt(np.diag(moments.scatter))
    # The share of the variance of column j that column i alone does not explain.
    left = 1 - (moments.scatter / np.outer(spread, spread)) ** 2
    pairs = np.argwhere(np.triu(left <= COLLINEAR, 1))
    if len(pairs):
        one, other = (schema[int(i)].name for i in pairs[0])
        raise DataError(
            f"columns '{one}' and '{other}' are equal up to scale and shift, so {owner} cannot tell their "
            "edges apart: leave one of them out"
        )
