"""Fitted parameters: a distribution or a regression for each variable, or a function for each edge."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from dagora.graph.drawing import FONT, INK, clean_text
from dagora.network.gaussian_process.network import GaussianProcessNetwork, ParentFunction
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.report.line_chart import COLOURS, Scale, tick_text, ticks
from dagora.report.page import Cell, Content, Section, attribute, fold, number, table, text

MOST_CONFIGURATIONS = 64  # rows of a table that is still read
MOST_LEVELS = 12  # columns of such a table
# In pixels, chosen by eye.
WIDTH, HEIGHT = 330.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 10.0, 10.0, 40.0
MOST_POINTS = 300
BAND = 2.0  # standard deviations


def parameters(network: Network | GaussianProcessNetwork) -> Section:
    """A table for every variable, or a chart for every edge; long tables are cut, with a note."""
    if isinstance(network, GaussianProcessNetwork):
        return Section("Functions", _functions(network))
    if isinstance(network, GaussianNetwork):
        return Section("Regressions", _regressions(network))
    if isinstance(network, MixedNetwork):
        return Section("Probabilities and regressions", _mixed_tables(network))
    return Section("Conditional probabilities", _distributions(network))


def _regressions(network: GaussianNetwork) -> str:
    rows: list[tuple[Content, ...]] = []
    for node in network.graph:
        terms = (
            f"{number(float(value))} · {parent}"
            for parent, value in zip(network.graph.parents(node), network.coefficients[node], strict=True)
        )
        mean = " + ".join([number(network.intercepts[node]), *terms])
        rows.append((node, mean, network.sds[node]))
    note = '<p class="soft">Least-squares regressions on the learned parents; the noise is the residual.</p>'
    head = ("variable", "mean", "standard deviation of the noise")
    return note + table(head, rows, about=network.graph.nodes)


def _functions(network: GaussianProcessNetwork) -> str:
    rows: list[tuple[Content, ...]] = []
    for node in network.graph:
        process = network.processes[node]
        scales = ", ".join(
            f"{parent} {number(float(scale))}"
            for parent, scale in zip(network.graph.parents(node), process.scales, strict=True)
        )
        rows.append((node, scales, process.noise))
    note = (
        '<p class="soft">Each variable as a sum of smooth functions of its parents (Gaussian processes, '
        "hyperparameters at their mode). Lines: posterior means, bands: two standard deviations of the "
        "function. Points: the rows, less what other parents explain. "
        + ("Interactions of parents are fitted too but not drawn. " if network.score == "gp2" else "")
        + "A function tells an association, not an effect.</p>"
    )
    charts = "".join(
        f"<div data-about={attribute(curve.child)}>{draw_function(curve)}</div>"
        for curve in network.functions()
    )
    units = '<p class="soft">Length-scales and noise in standard deviations of the columns.</p>'
    listed = table(("variable", "length-scales", "noise"), rows, about=network.graph.nodes)
    return f'{note}<div class="charts">{charts}</div>{units}{listed}'


def _distributions(network: DiscreteNetwork) -> str:
    note = (
        '<p class="soft">Relative frequencies given the learned parents. A combination of parent '
        "levels that does not occur in the data gets equal probabilities.</p>"
    )
    return note + _part_list(_distribution(network, node) for node in network.graph)


def _mixed_tables(network: MixedNetwork) -> str:
    """A table per node: probabilities, or one regression per combination of the discrete parents' levels."""
    note = (
        '<p class="soft">Relative frequencies, and regressions for each combination of the levels of '
        "discrete parents. A combination with too few rows has the regression over all rows, or equal "
        "probabilities.</p>"
    )
    return note + _part_list(
        _distribution(network, node) if node in network.tables else _node_regressions(network, node)
        for node in network.graph
    )


def _part_list(parts: Iterable[str]) -> str:
    """Folded parts below each other, in a box of their own where they are many."""
    return f'<div class="listed">{"".join(parts)}</div>'


def _node_regressions(network: MixedNetwork, node: str) -> str:
    model = network.model
    discrete, continuous = model.discrete_parents(node), model.continuous_parents(node)
    groups = [network.levels[parent] for parent in discrete]
    last: tuple[str, ...] = ()
    if node in network.lines:
        fitted = network.lines[node]
        last, title = ("standard deviation of the noise",), node
        columns = np.concatenate(
            [fitted.intercepts[..., None], fitted.slopes, fitted.sds[..., None]], axis=-1
        )
    else:
        choice = network.choices[node]
        groups.append(network.levels[node])
        discrete = (*discrete, node)
        title = f"{node}, as logarithms of odds"
        columns = np.concatenate([choice.intercepts[..., None], choice.slopes], axis=-1)
    head = (*discrete, "intercept", *continuous, *last)
    flat = columns.reshape(-1, columns.shape[-1])
    rows: list[tuple[Content, ...]] = [
        (*values, *(float(value) for value in flat[k]))
        for k, values in enumerate(islice(product(*groups), MOST_CONFIGURATIONS))
    ]
    cut = f'<p class="soft">Shown: {MOST_CONFIGURATIONS} of {len(flat)} combinations.</p>'
    return fold(title, table(head, rows) + (cut if len(flat) > MOST_CONFIGURATIONS else ""), about=node)


def _distribution(network: DiscreteNetwork | MixedNetwork, node: str) -> str:
    parents = network.graph.parents(node)
    levels = network.levels[node]
    probabilities = network.tables[node].reshape(-1, len(levels))
    configurations = product(*(network.levels[parent] for parent in parents))
    rows: list[tuple[Content, ...]] = [
        (*values, *(_share(share) for share in probabilities[k, :MOST_LEVELS]))
        for k, values in enumerate(islice(configurations, MOST_CONFIGURATIONS))
    ]
    head = (*parents, *(f"{node} = {level}" for level in levels[:MOST_LEVELS]))
    cut = []
    if len(probabilities) > MOST_CONFIGURATIONS:
        cut.append(f"{MOST_CONFIGURATIONS} of {len(probabilities)} combinations of parents")
    if len(levels) > MOST_LEVELS:
        cut.append(f"{MOST_LEVELS} of {len(levels)} levels")
    rest = f'<p class="soft">Shown: {text(" and ".join(cut))}.</p>' if cut else ""
    given = f" given {', '.join(parents)}" if parents else ""
    return fold(f"{node}{given}", table(head, rows) + rest, about=node)


def _share(value: np.float64) -> Cell:
    return Cell(f"{value:.3f}", float(value))


def draw_function(curve: ParentFunction) -> str:
    """Draw a child's function of one parent as SVG: rows as points, the posterior mean in its band.

    >>> from dagora.network.gaussian_process.network import ParentFunction
    >>> x = np.linspace(0, 1, 5)
    >>> draw_function(ParentFunction("b", "a", x, x, 0.1 + 0 * x, x, x))[:4]
    '<svg'
    """
    kept = np.unique(np.linspace(0, len(curve.data_x) - 1, min(len(curve.data_x), MOST_POINTS)).astype(int))
    points = curve.data_x[kept], curve.data_y[kept]
    low, high = curve.mean - BAND * curve.sd, curve.mean + BAND * curve.sd
    across = Scale(ticks(float(curve.x.min()), float(curve.x.max()), 4), LEFT, WIDTH - RIGHT)
    bottom, top = min(low.min(), points[1].min()), max(high.max(), points[1].max())
    up = Scale(ticks(float(bottom), float(top), 4), HEIGHT - BOTTOM, TOP)
    child, parent = clean_text(curve.child), clean_text(curve.parent)
    size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" height="{HEIGHT:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT} font-size="10" fill="{INK}">',
        f"<title>{child} as a function of {parent}</title>",
    ]
    for value in up.ticks:
        y = up.at(value)
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="#e4e8ee"/>')
        parts.append(
            f'<text x="{LEFT - 6:g}" y="{y + 3:.1f}" text-anchor="end">{tick_text(value, up.ticks)}</text>'
        )
    for value in across.ticks:
        x, y = across.at(value), HEIGHT - BOTTOM + 15
        label = tick_text(value, across.ticks)
        parts.append(f'<text x="{x:.1f}" y="{y:g}" text-anchor="middle">{label}</text>')
    middle, half = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    band = f"{corners(curve.x, high, across, up)} {corners(curve.x[::-1], low[::-1], across, up)}"
    parts += [
        f'<text x="{middle:g}" y="{HEIGHT - 7:g}" text-anchor="middle">{parent}</text>',
        f'<text transform="translate(12 {half:g}) rotate(-90)" text-anchor="middle">{child}</text>',
        f'<polygon points="{band}" fill="{COLOURS[0]}" fill-opacity="0.18"/>',
    ]
    parts += [
        f'<circle cx="{across.at(x):.1f}" cy="{up.at(y):.1f}" r="1.6" fill="{INK}" fill-opacity="0.45"/>'
        for x, y in zip(*points, strict=True)
    ]
    line = corners(curve.x, curve.mean, across, up)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[0]}" stroke-width="1.8"/>')
    return "\n".join([*parts, "</svg>"])


def corners(x: NDArray[np.float64], y: NDArray[np.float64], across: Scale, up: Scale) -> str:
    """Points of a line on the page."""
    return " ".join(f"{across.at(one):.1f},{up.at(other):.1f}" for one, other in zip(x, y, strict=True))
