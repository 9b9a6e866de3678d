"""Simulate series from a linear network in time, a structural vector autoregression that is stable.

    x_t = Wᵀ x_t + A_1ᵀ x_{t−1} + … + A_pᵀ x_{t−p} + e_t,      e_t ~ N(0, scale²) or another noise

W has the edges of a given DAG, with weights ±[0.5, 2]. Each entry of A_k, also on its diagonal, is an edge
with probability lagged_degree / d, so that a variable has `lagged_degree` parents at each lag on average; its
weight is ±[0.3, 0.5] / 1.5^(k−1), so that influence falls with time (after Pamfil et al. 2020).

The series do not explode if the largest eigenvalue of the companion matrix is below 1 in size. Draws of A are
repeated up to 100 times until it is at most 0.95; if none is, in the best of them A_k is multiplied by s^k,
which multiplies all eigenvalues by s, so that it is 0.95. Weights are then smaller than said above. A series
begins 200 steps before its first row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.cpdag import require_dag
from dagora.graph.dag import DAG
from dagora.graph.lagged_graph import LaggedGraph, window_names
from dagora.network.drawing import check_rows, seed_sequence
from dagora.network.simulate import NOISES, WEIGHT_RANGE, check_scales

LAGGED_RANGE, DECAY = (0.3, 0.5), 1.5  # Pamfil et al. 2020
LARGEST_ROOT, DRAWS = 0.95, 100  # of a stationary process; if none is drawn, weights are shrunk to it
BURN_IN = 200  # 0.95²⁰⁰ = 4e-5 of the start is left
NOISE_NAMES = ("gaussian", "exponential", "gumbel")

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeriesSimulation:
    """Simulated series with the model that they were drawn from.

    `table` has the columns `series` and `t` before the variables. `weights` is over the nodes of the window:
    [i, j] is the weight of the edge i → j. `root` is the size of the largest eigenvalue.

    >>> simulation = simulate_series(DAG("ab", [("a", "b")]), steps=50, seed=1)
    >>> simulation.graph.window.nodes, simulation.weights.shape
    (('a', 'b', 'a[t-1]', 'b[t-1]'), (4, 4))
    """

    graph: LaggedGraph
    table: Table
    weights: Matrix
    root: float


def simulate_series(
    within: DAG,
    steps: int,
    seed: int,
    *,
    lags: int = 1,
    lagged_degree: float = 1.0,
    series: int = 1,
    noise: str = "gaussian",
    noise_scale: float = 1.0,
) -> SeriesSimulation:
    """Draw a random, stable linear model in time, and series from it.

    The model depends on the graph, the lags and the seed, not on the number of steps or series.

    Parameters
    ----------
    within : DAG
        Edges within a step of time.
    steps : int
        Number of rows of each series, 1 or more.
    seed : int
        The same seed gives the same result.
    lags : int, default 1
        Number of steps back from which edges come, 1 or more.
    lagged_degree : float, default 1.0
        Expected number of parents of a variable at each lag, 0 or more.
    series : int, default 1
        Number of series, 1 or more.
    noise : str, default "gaussian"
        "gaussian", "exponential" or "gumbel".
    noise_scale : float, default 1.0
        Scale of the noise, above 0.

    Returns
    -------
    SeriesSimulation
        `.table` with the columns `series` and `t` before the variables, `.graph`, `.weights` and `.root`.

    Examples
    --------
    >>> simulation = simulate_series(DAG("ab", [("a", "b")]), steps=50, seed=1, series=2)
    >>> simulation.table, simulation.table.names, simulation.root < 1
    (Table(100 rows, 4 columns), ('series', 't', 'a', 'b'), True)
    >>> simulation.graph.within.edges
    (('a', 'b'),)
    """
    require_dag(within)
    check_rows(steps)
    for name, value, least in (("lags", lags, 1), ("series", series, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise OptionError(f"{option(name)} must be a whole number, {least} or more, not {value!r}")
    if not isinstance(lagged_degree, int | float) or not 0 <= lagged_degree < np.inf:
        raise OptionError(f"{option('lagged_degree')} must be a number of at least 0, not {lagged_degree!r}")
    if noise not in NOISE_NAMES:
        raise OptionError(f"there is no noise named '{noise}': choose one of {', '.join(NOISE_NAMES)}")
    for name in within:
        if name in ("series", "t"):
            raise OptionError(f"a variable is named '{name}' like a column that is added: rename it")
    check_scales(within, noise, noise_scale)
    weight_source, noise_source = seed_sequence(seed).spawn(2)
    rng = np.random.default_rng(weight_source)
    present, past, root = draw_weights(within, lags, float(lagged_degree), rng)
    draws = np.random.default_rng(noise_source)
    rows = [
        draw_series(present, past, steps, noise, float(noise_scale), draws, len(within))
        for _ in range(series)
    ]
    names, d = within.nodes, len(within)
    weights = np.zeros(((lags + 1) * d, (lags + 1) * d))
    weights[:, :d] = np.vstack([present, *past])
    edges = [(names[i % d], names[j], int(i // d)) for i, j in np.argwhere(weights[:, :d])]
    window_names(names, lags)
    return SeriesSimulation(LaggedGraph(names, lags, edges), as_table(names, rows), weights, root)


def draw_weights(
    within: DAG, lags: int, degree: float, rng: np.random.Generator
) -> tuple[Matrix, list[Matrix], float]:
    """Weights within a step and from each earlier step, and the size of the largest eigenvalue."""
    d = len(within)
    present = within.to_numpy() * draw_signed(rng, WEIGHT_RANGE, d)
    best: tuple[float, list[Matrix]] | None = None
    for _ in range(DRAWS):
        past = [
            (rng.random((d, d)) < degree / d) * draw_signed(rng, LAGGED_RANGE, d) / DECAY**lag
            for lag in range(lags)
        ]
        root = largest_root(present, past)
        if best is None or root < best[0]:
            best = root, past
        if root <= LARGEST_ROOT:
            break
    if best is None:
        raise AssertionError("there is at least one draw")
    root, past = best
    if root > LARGEST_ROOT:
        shrink = LARGEST_ROOT / root
        past = [weights * shrink ** (lag + 1) for lag, weights in enumerate(past)]
        root = largest_root(present, past)
    return present, past, root


def draw_signed(rng: np.random.Generator, sizes: tuple[float, float], d: int) -> Matrix:
    """Draw weights of either sign."""
    weights: Matrix = rng.uniform(*sizes, (d, d)) * rng.choice([-1.0, 1.0], (d, d))
    return weights


def largest_root(present: Matrix, past: list[Matrix]) -> float:
    """The size of the largest eigenvalue of the companion matrix.

    One variable that keeps half of its value has the eigenvalue ½:

    >>> largest_root(np.zeros((1, 1)), [np.array([[0.5]])])
    0.5
    """
    d, lags = len(present), len(past)
    total = np.linalg.inv(np.eye(d) - present)
    companion = np.zeros((lags * d, lags * d))
    companion[:d] = np.hstack([(weights @ total).T for weights in past])
    companion[d:, : (lags - 1) * d] = np.eye((lags - 1) * d)
    return float(np.abs(np.linalg.eigvals(companion)).max())


def draw_series(
    present: Matrix,
    past: list[Matrix],
    steps: int,
    noise: str,
    scale: float,
    rng: np.random.Generator,
    d: int,
) -> Matrix:
    """One series, a row for each step."""
    lags = len(past)
    total = np.linalg.inv(np.eye(d) - present)
    whole = BURN_IN + steps + lags
    errors = scale * NOISES[noise](rng, whole * d).reshape(whole, d)
    values = np.zeros((whole, d))
    for t in range(lags, whole):
        before = errors[t].copy()
        for k, weights in enumerate(past):
            before += values[t - k - 1] @ weights
        values[t] = before @ total
    return values[-steps:]


def as_table(names: tuple[str, ...], rows: list[Matrix]) -> Table:
    """Series one below the other, with their numbers and the times of their steps, counted from 1."""
    steps = len(rows[0])
    values = np.vstack(rows)
    labels = tuple(str(k + 1) for k in range(len(rows)))
    schema = Schema(
        [
            Variable("series", Kind.DISCRETE, labels),
            Variable("t", Kind.CONTINUOUS),
            *(Variable(name, Kind.CONTINUOUS) for name in names),
        ]
    )
    which = np.repeat(np.arange(len(rows), dtype=np.uint16), steps)
    when = np.tile(np.arange(1.0, steps + 1.0), len(rows))
    return Table(schema, (which, when, *(np.ascontiguousarray(column) for column in values.T)))
