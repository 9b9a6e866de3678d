"""Networks in time drawn at random, and their answers by brute force: all histories, or one large normal."""

from itertools import product

import numpy as np

from dagora.graph.lagged_graph import LaggedGraph, lagged_name
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork
from dagora.network.regressions import Lines
from dagora.network.time.histories import SeriesHistory
from dagora.network.time.step_model import StepModel


def discrete_network(graph: LaggedGraph, sizes: dict[str, int], seed: int) -> DiscreteNetwork:
    """Random tables for every node of the window, the first steps with tables of their own."""
    rng = np.random.default_rng(seed)
    dag = graph.unrolled(graph.lags + 1)
    levels, tables = {}, {}
    for name in graph.variables:
        for lag in range(graph.lags + 1):
            levels[lagged_name(name, lag)] = tuple(f"{name}{k}" for k in range(sizes[name]))
    for node in dag:
        shape = tuple(len(levels[one]) for one in (*dag.parents(node), node))
        table = rng.gamma(0.7, size=shape) + 0.02
        tables[node] = table / table.sum(axis=-1, keepdims=True)
    return DiscreteNetwork(dag, levels, tables)


def gaussian_network(graph: LaggedGraph, seed: int, scale: float = 1.0) -> GaussianNetwork:
    """Random regressions for every node of the window."""
    rng = np.random.default_rng(seed)
    dag = graph.unrolled(graph.lags + 1)
    units = {name: scale**k for k, name in enumerate(graph.variables)}
    unit = {lagged_name(name, lag): units[name] for name in graph.variables for lag in range(graph.lags + 1)}
    return GaussianNetwork(
        dag,
        {node: float(rng.normal()) * unit[node] for node in dag},
        {
            node: np.array([rng.uniform(-0.7, 0.7) * unit[node] / unit[one] for one in dag.parents(node)])
            for node in dag
        },
        {node: float(rng.uniform(0.5, 1.5)) * unit[node] for node in dag},
    )


def mixed_network(seed: int) -> MixedNetwork:
    """A switch that depends on itself, and a number that depends on the switch and on itself."""
    rng = np.random.default_rng(seed)
    graph = LaggedGraph(("s", "x"), 1, [("s", "s", 1), ("s", "x", 0), ("x", "x", 1)])
    dag = graph.unrolled(2)
    levels = {"s": ("off", "on"), "s[t-1]": ("off", "on")}
    tables = {"s": np.array([[0.8, 0.2], [0.3, 0.7]]), "s[t-1]": np.array([0.6, 0.4])}
    lines = {
        "x": Lines(rng.normal(size=2), rng.uniform(-0.8, 0.8, (2, 1)), rng.uniform(0.5, 1.0, 2)),
        "x[t-1]": Lines(rng.normal(size=2), np.zeros((2, 0)), rng.uniform(0.5, 1.0, 2)),
    }
    return MixedNetwork(dag, levels, tables, {}, lines)


def history_of(values: np.ndarray, seen: np.ndarray) -> SeriesHistory:
    return SeriesHistory("", 0, np.asarray(values, dtype=np.float64), seen, np.arange(len(values)))


def all_histories(steps: StepModel, length: int, set_at: dict | None = None) -> dict[tuple, float]:
    """Every history, codes step by step and variable by variable, with its probability."""
    fixed = set_at or {}
    keys = [(name, step) for step in range(length) for name in steps.variables]
    found = {}
    for codes in product(*(range(len(steps.model.levels[name])) for name, _ in keys)):
        value = dict(zip(keys, codes, strict=True))
        chance = 1.0
        for (name, step), code in value.items():
            if (name, step) in fixed:
                chance *= float(code == fixed[name, step])
                continue
            row = steps.model.tables[steps.node(name, step)]
            for parent in steps.parents(name, step):
                row = row[value[parent]]
            chance *= float(row[code])
        found[codes] = chance
    return found


def agreeing(joint: dict[tuple, float], codes: np.ndarray, seen: np.ndarray) -> dict[tuple, float]:
    """The histories that have what was seen."""
    known = [
        (k, int(code)) for k, (code, here) in enumerate(zip(codes.ravel(), seen.ravel(), strict=True)) if here
    ]
    return {
        history: chance for history, chance in joint.items() if all(history[k] == code for k, code in known)
    }


def marginals(joint: dict[tuple, float], steps: StepModel, length: int) -> dict[str, np.ndarray]:
    """The distribution of every variable at every step."""
    d, total = len(steps.variables), sum(joint.values())
    found = {name: np.zeros((length, len(steps.model.levels[name]))) for name in steps.variables}
    for history, chance in joint.items():
        for k, code in enumerate(history):
            found[steps.variables[k % d]][k // d, code] += chance / total
    return found


def stacked_normal(
    steps: StepModel, length: int, set_at: dict | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all variables of all steps: z = B z + c + e."""
    fixed, d = set_at or {}, len(steps.variables)
    size = d * length
    weights, constant, noise = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for step in range(length):
        for k, name in enumerate(steps.variables):
            i = step * d + k
            if (name, step) in fixed:
                constant[i] = fixed[name, step]
                continue
            line = steps.model.lines[steps.node(name, step)]
            constant[i], noise[i] = line.intercepts, line.sds**2
            for slope, (parent, at) in zip(line.slopes, steps.parents(name, step), strict=True):
                weights[i, at * d + steps.variables.index(parent)] = slope
    total = np.linalg.inv(np.eye(size) - weights)
    return total @ constant, total @ np.diag(noise) @ total.T


def conditioned(mean, covariance, values, seen):
    """The normal given the seen coordinates, and the log density of these."""
    flat, here = values.ravel(), seen.ravel()
    a, b = np.flatnonzero(here), np.flatnonzero(~here)
    inner = covariance[np.ix_(a, a)]
    weights = np.linalg.solve(inner, covariance[np.ix_(a, b)]).T if len(a) else np.zeros((len(b), 0))
    off = flat[a] - mean[a]
    means, spread = mean.copy(), np.zeros_like(covariance)
    means[a] = flat[a]
    means[b] = mean[b] + weights @ off
    spread[np.ix_(b, b)] = covariance[np.ix_(b, b)] - weights @ covariance[np.ix_(a, b)]
    log = (
        -0.5 * (len(a) * np.log(2 * np.pi) + np.linalg.slogdet(inner)[1] + off @ np.linalg.solve(inner, off))
        if len(a)
        else 0.0
    )
    return means, spread, log


def draw_history(steps: StepModel, length: int, seed: int) -> np.ndarray:
    """A history drawn from a discrete or Gaussian network, as codes or values."""
    rng = np.random.default_rng(seed)
    values = np.zeros((length, len(steps.variables)))
    for step in range(length):
        for name in steps.order(step):
            k = steps.variables.index(name)
            parents = [values[at, steps.variables.index(one)] for one, at in steps.parents(name, step)]
            node = steps.node(name, step)
            if name in steps.model.levels:
                row = steps.model.tables[node][tuple(int(one) for one in parents)]
                values[step, k] = rng.choice(len(row), p=row)
            else:
                line = steps.model.lines[node]
                values[step, k] = line.intercepts + line.slopes @ np.array(parents) + line.sds * rng.normal()
    return values
