"""Convergence of chains: R-hat, effective sample size and the error of a mean.

Take `chains × draws` values and cut each chain in halves of length n. Let B be n times the variance of the
means of the halves, and W the mean of their variances (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021):

    R-hat = sqrt(((n − 1) / n · W + B / n) / W)
    ESS   = number of draws / (1 + 2 Σ ρ_t)         (ρ_t: autocorrelation at lag t, summed as Geyer does)

Rank-normalised R-hat is the larger of R-hat of the ranks' normal scores and of those of |x − median|. Bulk
ESS is that of the normal scores, tail ESS the smaller of those of "below the 5 % quantile" and of "below the
95 % quantile". Weighted draws are worth (Σ w)² / Σ w² equally weighted ones (Kish). A Pareto distribution
fitted to the largest weights shows if a weighted mean can be trusted: not if its shape k is above 0.7
(Vehtari, Simpson, Gelman, Yao & Gabry 2024).

Values are arrays `[chains, draws]` or `[chains, draws, variables]`, answers are one number per variable. A
value that never changes has R-hat 1. If every half is constant but their values differ, R-hat is infinite.
With fewer than four draws per chain the answer is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.data.columns.ordinal import mean_ranks

Floats = NDArray[np.float64]
Measure = Callable[[Floats], Floats]

FEWEST_DRAWS = 4  # halves of a chain need two draws each for a variance
BLOCK = 1 << 22  # numbers handled at a time; the Fourier transforms take several times that


def rhat(values: ArrayLike) -> Floats:
    """Rank-normalised split R-hat, one per variable.

    >>> apart = np.arange(40.0).reshape(2, 20) % 20 + [[0], [100]]
    >>> float(rhat(apart)) > 1.8, float(rhat(np.ones((4, 100)))), float(rhat([[0.0] * 9, [1.0] * 9]))
    (True, 1.0, inf)
    """

    def one(block: Floats) -> Floats:
        halves = split(block)
        folded = np.abs(halves - np.median(halves, axis=(0, 1)))
        return np.maximum(_rhat(normal_scores(halves)), _rhat(normal_scores(folded)))

    return _per_variable(values, one)


def plain_rhat(values: ArrayLike) -> Floats:
    """Split R-hat without ranks; for values 0 and 1 it equals the one with ranks, and is faster."""
    return _per_variable(values, lambda block: _rhat(split(block)))


def bulk_ess(values: ArrayLike) -> Floats:
    """Effective number of draws for the bulk of the distribution, by rank-normalised values."""
    return _per_variable(values, lambda block: _ess(normal_scores(split(block))))


def tail_ess(values: ArrayLike) -> Floats:
    """Effective number of draws for the 5 % and 95 % quantiles, the smaller of the two."""

    def one(block: Floats) -> Floats:
        low, high = np.quantile(block, (0.05, 0.95), axis=(0, 1))
        below = [_ess(split((block <= bound).astype(np.float64))) for bound in (low, high)]
        return np.minimum(*below)

    return _per_variable(values, one)


def mean_ess(values: ArrayLike) -> Floats:
    """Effective number of draws for the mean of the values themselves."""
    return _per_variable(values, lambda block: _ess(split(block)))


def mean_error(values: ArrayLike, groups: int = 1) -> Floats:
    """Monte Carlo standard error of the mean of the values; 0 if all are equal.

    Chains that stand in `groups` of equal size, each about a target of its own, are one observation a group.

    >>> mean_error([[1.0, 1.0], [3.0, 3.0]], groups=2).tolist()
    1.0
    """
    if groups > 1:
        array = np.asarray(values, dtype=np.float64)
        means = array.reshape(groups, -1, *array.shape[2:]).mean(axis=1)
        return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(groups))

    def one(block: Floats) -> Floats:
        return np.asarray(block.std(axis=(0, 1), ddof=1) / np.sqrt(_ess(split(block))), dtype=np.float64)

    return _per_variable(values, one)


def weight_ess(log_weights: ArrayLike) -> float:
    """Return how many equally weighted draws the weights are worth (Kish).

    >>> weight_ess([0.0, 0.0, -np.inf]), weight_ess(np.log([0.5, 0.25, 0.25])).__round__(3)
    (2.0, 2.667)
    """
    given = np.asarray(log_weights, dtype=np.float64).ravel()
    weights = np.exp(given - given.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def pareto_shape(log_weights: ArrayLike) -> float:
    """Shape k of a generalised Pareto distribution fitted to the largest weights (Zhang & Stephens 2009).

    Above 0.7 weighted means are not reliable. −inf if the largest weights are all equal, NaN if there are too
    few draws to tell. The last line shrinks k towards 0.5 with the weight of ten draws (Vehtari et al. 2024).
    """
    weights = np.sort(np.asarray(log_weights, dtype=np.float64).ravel())
    number = len(weights)
    tail = math.ceil(min(0.2 * number, 3.0 * math.sqrt(number)))
    if tail < 5:
        return math.nan
    excess = np.exp(weights[-tail:] - weights[-1]) - math.exp(weights[-tail - 1] - weights[-1])
    if not excess[-1] - excess[0] > 1e-12:
        return -math.inf
    # Equal graphs have equal weights: weights equal to the largest one outside the tail do not belong to it.
    excess = excess[excess > 1e-12]
    tail = len(excess)
    if tail < 5:
        return math.nan
    points = 30 + int(math.sqrt(tail))
    grid = 1.0 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    grid = grid / (3.0 * excess[int(tail / 4 + 0.5) - 1]) + 1.0 / excess[-1]
    shapes = np.log1p(-grid[:, None] * excess).mean(axis=1)
    # At b = 0 the distribution is exponential; tied weights can put a grid point there.
    level = shapes == 0.0
    rates = np.where(level, 1.0 / excess.mean(), -grid / np.where(level, 1.0, shapes))
    fit = tail * (np.log(rates) - shapes - 1.0)
    share = np.exp(fit - fit.max())
    best = float((grid * share).sum() / share.sum())
    shape = float(np.log1p(-best * excess).mean())
    return (tail * shape + 10 * 0.5) / (tail + 10)


def split(values: Floats) -> Floats:
    """Cut each chain in halves, which then count as chains; the middle one of an odd number is left out."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def normal_scores(values: Floats) -> Floats:
    """Normal quantiles of the ranks among all values of a variable; equal values share their mean rank."""
    from scipy.special import ndtri

    flat = values.reshape(-1, values.shape[2])
    ranks = np.column_stack([mean_ranks(column) for column in flat.T])
    return np.asarray(ndtri((ranks + 0.625) / (len(flat) + 0.25)), dtype=np.float64).reshape(values.shape)


def _check_chains(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in {2, 3}:
        raise ValueError(
            f"values are [chains, draws] or [chains, draws, variables], not of shape {array.shape}"
        )
    return array if array.ndim == 3 else array[:, :, None]


def _per_variable(values: ArrayLike, measure: Measure) -> Floats:
    """Apply a measure of `[chains, draws, variables]` to some variables at a time."""
    array = np.asarray(values, dtype=np.float64)
    cube = _check_chains(array)
    chains, draws, variables = cube.shape
    found = np.full(variables, math.nan)
    if draws >= FEWEST_DRAWS and chains:
        step = max(1, BLOCK // (chains * draws))
        for start in range(0, variables, step):
            block = cube[:, :, start : start + step]
            sound = np.isfinite(block).all(axis=(0, 1))
            found[start : start + step] = np.where(sound, measure(np.where(sound, block, 0.0)), math.nan)
    return found if array.ndim == 3 else found[0]


def _rhat(chains: Floats) -> Floats:
    """R-hat of `[chains, draws, variables]`."""
    number = chains.shape[1]
    still = (chains.max(axis=1) == chains.min(axis=1)).all(axis=0)
    constant = chains.max(axis=(0, 1)) == chains.min(axis=(0, 1))
    within = np.where(still, 1.0, chains.var(axis=1, ddof=1).mean(axis=0))
    between = number * chains.mean(axis=1).var(axis=0, ddof=1)
    found = np.sqrt((between / within + number - 1) / number)
    return np.where(constant, 1.0, np.where(still, math.inf, found))


def _ess(chains: Floats) -> Floats:
    """Effective number of draws of `[chains, draws, variables]`, for the mean."""
    number, length, _ = chains.shape
    size = number * length
    constant = chains.max(axis=(0, 1)) == chains.min(axis=(0, 1))
    covariances = _autocovariances(chains)
    inside = covariances[0] * length / (length - 1.0)
    variance = covariances[0] + chains.mean(axis=1).var(axis=0, ddof=1)
    correlations = 1.0 - (inside - covariances) / np.where(constant, 1.0, variance)
    correlations[0] = 1.0
    # Geyer: sums of two neighbouring lags should fall and stay positive; the first that is not positive ends
    # it.
    last = max(0, (length - 3) // 2)
    pairs = correlations[0 : 2 * last + 2 : 2] + correlations[1 : 2 * last + 2 : 2]
    ended = pairs <= 0.0
    end = np.where(ended.any(axis=0), ended.argmax(axis=0), last)
    inner = np.arange(last + 1)[:, None] < end
    final = np.take_along_axis(correlations, 2 * end[None], axis=0)[0]
    kept = np.take_along_axis(pairs, end[None], axis=0)[0] >= 0.0
    falling = np.minimum.accumulate(pairs, axis=0)
    time = -1.0 + 2.0 * np.where(inner, falling, 0.0).sum(axis=0) + np.where(kept, final, np.fmax(final, 0.0))
    return np.where(constant, float(size), size / np.maximum(time, 1.0 / math.log10(size)))


def _autocovariances(chains: Floats) -> Floats:
    """Autocovariances at every lag, mean over chains, by the Fourier transform: `[lags, variables]`."""
    from scipy.fft import irfft, next_fast_len, rfft

    length = chains.shape[1]
    padded = next_fast_len(2 * length, real=True)
    spectrum = rfft(chains - chains.mean(axis=1, keepdims=True), n=padded, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    return np.asarray(irfft(power, n=padded, axis=0)[:length] / length, dtype=np.float64)
