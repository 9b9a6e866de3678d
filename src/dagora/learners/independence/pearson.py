"""Tails of a distribution of which the first three moments are known: Pearson's type III, a shifted gamma."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
# Below this skewness the distribution is taken for normal: the gamma's shape would be beyond 4e8.
NO_SKEWNESS = 1e-4


def upper_tail(values: ArrayLike, means: ArrayLike, variances: ArrayLike, thirds: ArrayLike) -> Floats:
    """P(T ≥ value), with `thirds` the third central moments; 1 where T does not vary.

    An exponential distribution is one of them: mean 1, variance 1, third moment 2.

    >>> upper_tail([3.0, 5.0], [1.0, 1.0], [1.0, 0.0], [2.0, 0.0]).round(6)
    array([0.049787, 1.      ])
    """
    from scipy.special import gammainc, gammaincc, ndtr

    value, mean, variance, third = (
        np.asarray(each, dtype=np.float64) for each in (values, means, variances, thirds)
    )
    varies = variance > 0
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    z = (value - mean) / deviation
    skewness = np.where(varies, third / deviation**3, 0.0)
    skewed = np.abs(skewness) > NO_SKEWNESS
    shape = 4 / np.where(skewed, skewness, 1.0) ** 2
    # In units of a gamma of this shape; mirrored where the long tail is on the left.
    place = np.maximum(0.0, shape + np.sign(skewness) * z * np.sqrt(shape))
    tail = np.where(skewness > 0, gammaincc(shape, place), gammainc(shape, place))
    found: Floats = np.where(varies, np.where(skewed, tail, ndtr(-z)), 1.0)
    return found
