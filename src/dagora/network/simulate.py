"""Simulate data from a structural equation model: a column is a function of its parents and its own noise.

`gaussian`, `exponential`, `gumbel`: linear, x = Σ w·parent + scale · noise with noise N(0, 1), Exp(1) or
Gumbel(0, 1); the last two are not centred (means 1 and 0.577), as in Zheng et al. (2018). `mlp`, `fourier`: a
nonlinear function (see `mechanisms`) plus scale · N(0, 1). `logistic`: x ~ Bernoulli(σ(Σ w·parent)), a
discrete column of levels 0 and 1. `poisson`: x ~ Poisson(exp(Σ w·parent)), a count; its column is continuous.
The predictor Σ w·parent of a root is 0. `mixed`: half of the columns discrete, related in one of four ways
(see `mixed_mechanisms`).

With the usual weights, ±[0.5, 2], the rates of a Poisson model overflow after a few generations, because
large counts cause larger ones. Its weights are therefore ±[0.1, 0.5] by default, and its predictor is clipped
to ±5 (rates between 0.007 and 148), which affects a few per cent of the cells where nodes have 2–4 parents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dagora.base.errors import OptionError
from dagora.base.wording import by_door, option
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.cpdag import require_dag
from dagora.network.drawing import check_rows, seed_sequence
from dagora.network.mechanisms import (
    Linear,
    Mechanism,
    Range,
    draw_fourier,
    draw_linear,
    draw_perceptron,
    sigmoid,
)
from dagora.network.mixed_mechanisms import RELATIONS, SLOPES, simulate_mixed

if TYPE_CHECKING:
    from dagora.graph.dag import DAG

Noise = Callable[[np.random.Generator, int], NDArray[np.float64]]

NOISES: Mapping[str, Noise] = {
    "gaussian": lambda rng, rows: rng.standard_normal(rows),
    "exponential": lambda rng, rows: rng.standard_exponential(rows),
    "gumbel": lambda rng, rows: rng.gumbel(size=rows),
    "mlp": lambda rng, rows: rng.standard_normal(rows),
    "fourier": lambda rng, rows: rng.standard_normal(rows),
}
"""The additive noise of each model that has one."""

SEMS = ("gaussian", "exponential", "gumbel", "logistic", "poisson", "mlp", "fourier", "mixed")
WEIGHT_RANGE: Range = (0.5, 2.0)  # of NOTEARS (Zheng et al. 2018), with either sign
POISSON_WEIGHT_RANGE: Range = (0.1, 0.5)  # counts grow exponentially in the weights
POISSON_CLIP = 5.0  # rates from 0.007 to 148


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated table with the model that it was drawn from.

    `mechanisms[x]` is the function of the parents of x, in the order of `graph.parents(x)`. `weights` has the
    weight of the edge i → j at [i, j] where all mechanisms are linear and is None elsewhere; `noise_scale`
    has one entry per node and is None where noise is not additive (logistic, poisson).

    >>> from dagora.graph.dag import DAG
    >>> simulation = simulate(DAG("ab", [("a", "b")]), "gaussian", rows=100, seed=1)
    >>> simulation.table, simulation.graph.edges, simulation.noise_scale
    (Table(100 rows, 2 columns), (('a', 'b'),), array([1., 1.]))
    """

    graph: DAG
    table: Table
    sem: str
    mechanisms: Mapping[str, Mechanism]
    weights: NDArray[np.float64] | None
    noise_scale: NDArray[np.float64] | None


def simulate(
    graph: DAG,
    sem: str,
    rows: int,
    seed: int,
    *,
    noise_scale: float | Sequence[float] | NDArray[np.float64] = 1.0,
    weight_range: Range | None = None,
    nonlinearity: float | None = None,
    published: bool = False,
    relations: str | None = None,
) -> Simulation:
    """Draw a random model for a graph, and rows from it.

    The model depends on the graph and the seed, not on the number of rows.

    Parameters
    ----------
    graph : DAG
        The graph to simulate from.
    sem : str
        Structural equation model: "gaussian", "exponential" or "gumbel" (linear, with such noise), "logistic"
        or "poisson" (generalised linear), "mlp" or "fourier" (nonlinear), "mixed" (columns of both kinds).
    rows : int
        Number of rows, 1 or more.
    seed : int
        The same seed gives the same result.
    noise_scale : float or one per node, default 1.0
        Scale of the additive noise, above 0, in the graph's order of nodes. Not for "logistic", "poisson" and
        "mixed", whose noise has no scale.
    weight_range : two numbers 0 < low <= high, optional
        Range of the weights' absolute values (of the coefficients β under "fourier"). Default: (0.5, 2), for
        "poisson" (0.1, 0.5), for "mixed" (0.5, 1.5).
    nonlinearity : float, optional
        For "fourier": λ, 0 or more, default 1; 0 is linear.
    published : bool, default False
        For "fourier": follow the simulator published with the paper (see `network/mechanisms.py`).
    relations : str, optional
        For "mixed": "clg", "shift", "both" (default) or "curved" (see `network/mixed_mechanisms.py`).

    Returns
    -------
    Simulation
        `.table`, `.graph`, and the model: `.mechanisms`, `.weights`, `.noise_scale`.

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> truth = DAG(["cause", "effect"], [("cause", "effect")])
    >>> simulation = simulate(truth, "gaussian", rows=500, seed=1, noise_scale=[1.0, 0.001])
    >>> cause, effect = simulation.table.columns
    >>> bool(abs(effect - simulation.weights[0, 1] * cause).max() < 0.01)
    True
    """
    if sem not in SEMS:
        raise OptionError(f"there is no sem named '{sem}': choose one of {', '.join(SEMS)}")
    require_dag(graph)
    check_rows(rows)
    mechanism_source, noise_source = seed_sequence(seed).spawn(2)
    scales = check_scales(graph, sem, noise_scale)
    sizes = check_range(sem, weight_range)
    chosen = check_relations(sem, relations)
    draw = choose_draw(sem, sizes, nonlinearity, published=published)
    mechanism_rng = np.random.default_rng(mechanism_source)
    if sem == "mixed":
        configured, table = simulate_mixed(
            graph, chosen, sizes, rows, mechanism_rng, np.random.default_rng(noise_source)
        )
        return Simulation(graph, table, sem, configured, None, None)
    mechanisms = {node: draw(len(graph.parents(node)), mechanism_rng) for node in graph}
    values = generate(graph, sem, mechanisms, scales, rows, np.random.default_rng(noise_source))
    return Simulation(
        graph, make_table(graph, sem, values), sem, mechanisms, weight_matrix(graph, mechanisms), scales
    )


def generate(
    graph: DAG,
    sem: str,
    mechanisms: Mapping[str, Mechanism],
    scales: NDArray[np.float64] | None,
    rows: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw all columns, parents before children; column i of the matrix is node i."""
    values = np.zeros((rows, len(graph)), order="F")
    for i in graph.order_indices:
        node = graph.nodes[i]
        parents = list(graph.parent_indices(i))
        with np.errstate(over="ignore", invalid="ignore"):
            signal = mechanisms[node](values[:, parents]) if parents else np.zeros(rows)
            if scales is not None:
                values[:, i] = signal + scales[i] * NOISES[sem](rng, rows)
            elif sem == "logistic":
                values[:, i] = rng.random(rows) < sigmoid(signal)
            else:
                values[:, i] = rng.poisson(np.exp(np.clip(signal, -POISSON_CLIP, POISSON_CLIP)))
        if not np.isfinite(values[:, i]).all():
            smaller = by_door(python="weight_range or noise_scale", command="--noise-scale")
            raise OptionError(f"the values of '{node}' overflow: choose a smaller {smaller}")
    return values


def make_table(graph: DAG, sem: str, values: NDArray[np.float64]) -> Table:
    """Type the columns: binary ones are discrete, all others continuous."""
    if sem == "logistic":
        schema = Schema(Variable(node, Kind.DISCRETE, ("0", "1")) for node in graph)
        return Table(schema, tuple(np.ascontiguousarray(column) for column in values.astype(np.uint16).T))
    schema = Schema(Variable(node, Kind.CONTINUOUS) for node in graph)
    return Table(schema, tuple(np.ascontiguousarray(column) for column in values.T))


def weight_matrix(graph: DAG, mechanisms: Mapping[str, Mechanism]) -> NDArray[np.float64] | None:
    """Collect the weights of linear mechanisms; None where one is not linear."""
    matrix = np.zeros((len(graph), len(graph)))
    for i, node in enumerate(graph):
        mechanism = mechanisms[node]
        if not isinstance(mechanism, Linear):
            return None
        matrix[list(graph.parent_indices(i)), i] = mechanism.weights
    return matrix


def choose_draw(
    sem: str, sizes: Range, nonlinearity: float | None, *, published: bool
) -> Callable[[int, np.random.Generator], Mechanism]:
    """Return the function that draws a mechanism for a number of parents."""
    if sem == "fourier":
        decay = 1.0 if nonlinearity is None else nonlinearity
        if not isinstance(decay, int | float | np.number) or not 0 <= decay < np.inf:
            raise OptionError(
                f"{option('nonlinearity')} must be a finite number of at least 0, not {nonlinearity!r}"
            )
        return lambda parents, rng: draw_fourier(
            parents, sizes, rng, nonlinearity=float(decay), published=published
        )
    if nonlinearity is not None or published:
        raise OptionError(
            f"{option('nonlinearity')} and {option('published')} belong to the sem 'fourier', not to '{sem}'"
        )
    drawer = draw_perceptron if sem == "mlp" else draw_linear
    return lambda parents, rng: drawer(parents, sizes, rng)


def check_relations(sem: str, relations: str | None) -> str:
    """The relations between columns of a mixed table; other models have no such choice."""
    if relations is not None and sem != "mixed":
        raise OptionError(f"{option('relations')} belongs to the sem 'mixed', not to '{sem}'")
    if relations is not None and relations not in RELATIONS:
        raise OptionError(f"{option('relations')} is one of {', '.join(RELATIONS)}, not '{relations}'")
    return relations or "both"


def check_range(sem: str, weight_range: Range | None) -> Range:
    """Range of the weights' sizes: the given one, checked, or the model's default."""
    if weight_range is None:
        return {"poisson": POISSON_WEIGHT_RANGE, "mixed": SLOPES}.get(sem, WEIGHT_RANGE)
    try:
        low, high = map(float, weight_range)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0 < low <= high < np.inf:
        raise OptionError(option="weight_range", value=weight_range, must="be two numbers 0 < low ≤ high")
    return low, high


def check_scales(graph: DAG, sem: str, noise_scale: ArrayLike) -> NDArray[np.float64] | None:
    """One noise scale per node; None for models whose noise has no scale."""
    try:
        scales = np.asarray(noise_scale, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{option('noise_scale')} must be numbers above 0, not {noise_scale!r}") from None
    if sem not in NOISES:
        if (scales != 1).any():
            raise OptionError(
                f"the sem '{sem}' has no {option('noise_scale')}: its noise is that of the distribution"
            )
        return None
    if scales.shape not in {(), (len(graph),)}:
        raise OptionError(
            f"{option('noise_scale')} must be one number or one per node ({len(graph)}), not {scales.size}"
        )
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise OptionError(f"{option('noise_scale')} must be finite and above 0")
    return np.broadcast_to(scales, len(graph)).copy()
