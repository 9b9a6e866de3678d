"""The effect by the fitted functions of a Gaussian-process network, with the curve over the values of x."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dagora.base.errors import OptionError
from dagora.base.phrases import some_of
from dagora.effects.by_graph import effect_by_graph
from dagora.effects.contrast import EffectContrast
from dagora.effects.curve import curve_values
from dagora.effects.effect_rows import EffectRows
from dagora.effects.one_graph import assumptions_of
from dagora.effects.overlap import unseen_values
from dagora.effects.process_simulation import DRAWS, column_of, graph_of_paths, simulate_means
from dagora.effects.result import CurvePoint, Effect
from dagora.effects.set_estimate import Support, summarise
from dagora.graph.adjustment import Adjustment
from dagora.graph.any_graph import AnyGraph, without_pag
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.network.gaussian_process.network import GaussianProcessNetwork

OUTSIDE = 0.05
"""Share of simulated values outside of the rows from which it is told: few rows leave some there anyway."""
SMOOTH = "a column that depends on others is a smooth function of them plus normal noise of one size"
ADDITIVE = "what they contribute adds up: combinations that no row has are answered from others"
PAIRS = "what they contribute adds up but for products of two: other combinations are answered from others"
DRAWN = (
    "length-scales and noise vary as rows and priors leave them open: in simulations, such 95 % intervals "
    "held 94 % of the effects"
)
TAKEN_AS_KNOWN = "length-scales and noise are taken as known, so that the interval is too narrow"


def effect_by_processes(
    graph: AnyGraph,
    fitted: GaussianProcessNetwork | Callable[[DAG], GaussianProcessNetwork],
    rows: EffectRows,
    contrast: EffectContrast,
    notes: Sequence[str] = (),
    seed: int = 0,
    *,
    curve: bool = False,
) -> Effect:
    """The effect by functions that are fitted, or are to be fitted to what lies between x and y.

    Of a class of graphs that determines the effect, any DAG gives it.
    """
    class_ = without_pag(graph, "a Gaussian-process network")
    refuse_other_questions(rows, contrast)
    found = Adjustment(class_, contrast.x, contrast.y, notes)
    if found.verdict == "zero":
        return effect_by_graph(class_, rows, contrast, notes, seed)
    if found.verdict == "not identified":
        raise OptionError(
            f"the graph leaves the effect open, and Gaussian processes need it known: {found.reason}"
        )
    if not isinstance(fitted, GaussianProcessNetwork):
        dag = class_.extension() if isinstance(class_, CPDAG) else class_
        fitted = fitted(graph_of_paths(dag, contrast.x, contrast.y))
    effect = effect_by_functions(fitted, rows, contrast, seed, curve=curve)
    return replace(effect, notes=found.notes, graph=graph)


def effect_by_functions(
    network: GaussianProcessNetwork,
    rows: EffectRows,
    contrast: EffectContrast,
    seed: int = 0,
    *,
    curve: bool = False,
) -> Effect:
    """The effect that the functions of a network give, and the mean of y over the values of one x."""
    values = np.array([contrast.to, contrast.base], dtype=np.float64)
    if curve:
        values = np.concatenate([values, curve_values(rows.table, contrast)[:, None]])
    simulated = simulate_means(network, rows.table, contrast, values, np.random.default_rng(seed))
    change = simulated.change
    return Effect(
        contrast,
        "functions",
        {"difference": summarise(float(change.mean()), change)},
        how=f"Gaussian processes, {DRAWS} draws of their functions",
        rows=rows.n_rows,
        support=Support(
            rows.n_rows, notes=(*unseen_values(network.table, contrast), *told_outside(simulated.outside))
        ),
        curve=tuple(
            CurvePoint(float(value), summarise(float(means.mean()), means))
            for value, means in zip(values[2:, 0], simulated.means[:, 2:].T, strict=True)
        ),
        assumptions=(
            *assumptions_of(network.graph),
            *assumed_of_functions(network.score, known=not network.has_draws),
        ),
    )


def assumed_of_functions(score: str, *, known: bool = False) -> tuple[str, ...]:
    """The assumptions of effects by functions besides the graph; their hyperparameters may be `known`."""
    return SMOOTH, ADDITIVE if score == "gp" else PAIRS, TAKEN_AS_KNOWN if known else DRAWN


def told_outside(shares: Mapping[str, float]) -> list[str]:
    """Notes about columns of which many simulated values lie beyond the rows."""
    return [
        f"extrapolation: {share:.0%} of the simulated values of {name} are beyond those of its rows"
        for name, share in shares.items()
        if share > OUTSIDE
    ]


def refuse_other_questions(rows: EffectRows, contrast: EffectContrast) -> None:
    """Refuse what the functions of a network do not answer."""
    if rows.interventions is not None:
        raise OptionError(
            "Gaussian processes are fitted to rows in which nothing was set: give these rows alone, without "
            "saying what was set"
        )
    if rows.design is not None:
        raise rows.design.refusal("Gaussian processes take every row for one")
    for name in (*contrast.x, contrast.y):
        column_of(rows.table, name)
    if contrast.given:
        raise OptionError(
            "Gaussian processes give an effect among all rows: take those with "
            f"{some_of(f'{name}={level}' for name, level in contrast.given.items())} and leave the rest out"
        )
