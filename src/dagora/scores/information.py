"""BIC and AIC of discrete families: maximised log-likelihood minus a price per free parameter.

log L(X | P) = Σ n ln n over the cells of P ∪ {X} − Σ n ln n over the cells of P;
BIC = log L − c (ln m)/2 · (r − 1) q and AIC = log L − (r − 1) q, with m rows, natural logarithms, and r, q
the declared numbers of levels (Schwarz 1978; Akaike 1974). The factor c is 1 unless the option `penalty` says
more or less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.scores.discrete import TABLED, DiscreteScore, Floats, Terms, require_discrete
from dagora.stats.statistics import Cells, Statistics


def bic(statistics: Statistics, *, penalty: float = 1.0) -> DiscreteScore:
    """Bayesian information criterion; `penalty` is a factor on the price of a parameter."""
    require_discrete(statistics, "bic")
    price = penalty * np.log(max(1, statistics.n_rows)) / 2
    return penalised_likelihood(statistics, price, penalty)


def aic(statistics: Statistics) -> DiscreteScore:
    """Akaike's information criterion."""
    require_discrete(statistics, "aic")
    return penalised_likelihood(statistics, price=1.0)


def penalised_likelihood(statistics: Statistics, price: float, penalty: float | None = None) -> DiscreteScore:
    """Log-likelihood minus `price` per free parameter; `penalty` is the user's factor in it, if any."""
    n = np.arange(min(statistics.n_rows + 1, TABLED), dtype=np.float64)
    n_log_n = n * np.log(np.maximum(n, 1.0))

    def joint(counts: Cells, cells: Floats) -> Floats:  # noqa: ARG001 - the number of cells plays no part
        if counts.values.dtype == np.float64:
            return sum_x_log_x(counts.values, counts.starts, counts.stops)
        return sum_n_log_n(counts.values, counts.starts, counts.stops, n_log_n)

    def parents(counts: Cells, configurations: Floats, levels: Floats) -> Floats:  # noqa: ARG001
        return joint(counts, configurations)

    return DiscreteScore(statistics, Terms(joint, parents, price, same=True), penalty)


@kernel
def sum_x_log_x(values: Floats, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Floats:
    """Σ x ln x over the sums x of the weights in each cell of each set."""
    sums = np.empty(len(starts))
    for k in range(len(sums)):
        total = 0.0
        for cell in range(starts[k], stops[k]):
            total += values[cell] * np.log(values[cell])
        sums[k] = total
    return sums


@kernel
def sum_n_log_n(
    values: NDArray[np.int64], starts: NDArray[np.int64], stops: NDArray[np.int64], table: Floats
) -> Floats:
    """Σ n ln n over the counts n of each set; the table has it for small counts."""
    sums = np.empty(len(starts))
    for k in range(len(sums)):
        total = 0.0
        for cell in range(starts[k], stops[k]):
            n = values[cell]
            total += table[n] if n < len(table) else n * np.log(np.float64(n))
        sums[k] = total
    return sums
