"""The report of a posterior: edge probabilities, convergence of the chains, prior and search space."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dagora.base.phrases import amount
from dagora.graph.cpdag import Graph
from dagora.graph.drawing import draw_svg
from dagora.posterior.summary.mixing import MIXED, NOT_MIXED, UNKNOWN, mixing_warnings
from dagora.posterior.summary.picture import draw_probabilities, true_edges
from dagora.posterior.summary.posterior import Posterior
from dagora.posterior.summary.prior_effect import PriorEffect
from dagora.report.distribution import ColumnDistribution
from dagora.report.learned import canvas, searchable, sentence, warnings
from dagora.report.line_chart import Line, draw_lines
from dagora.report.page import Cell, Content, Section, facts, number, page, table, text
from dagora.report.repeating import repeating
from dagora.report.variables import data_section, variable_section

MOST_SQUARES = 60  # variables up to which all pairs are drawn
LEAST_PROBABLE = 0.01  # rarer edges would make the list long
MOST_GRAPHS = 10  # that are listed
VERDICTS = {
    MIXED: "They agree, but are worth few independent draws: see the warnings.",
    NOT_MIXED: "The chains have not mixed: see the warnings.",
    UNKNOWN: "These draws cannot show it: see the warnings.",
}


def posterior_page(
    posterior: Posterior,
    *,
    truth: Graph | None = None,
    source: str | None = None,
    distributions: Mapping[str, ColumnDistribution] | None = None,
) -> str:
    """A whole HTML document about a posterior; `distributions` are those of the variables, by name."""
    sections = [
        *warnings(posterior.warnings),
        edge_picture(posterior, truth),
        consensus_section(posterior, truth),
    ]
    if truth is not None:
        sections.append(Section("Against the truth", expectation_table(posterior, truth)))
    sections.append(edge_section(posterior, truth))
    if posterior.prior_effect is not None:
        sections.append(prior_section(posterior.prior_effect))
    sections.append(graphs_section(posterior))
    if not (posterior.draws.independent or posterior.draws.particles):
        sections.append(mixing_section(posterior))
    agreed = posterior.consensus()
    sections.append(
        variable_section(agreed, distributions or {}, class_only=False, summary="the consensus graph")
    )
    sections += data_section(posterior.data)
    sections.append(
        repeating(
            posterior.settings,
            posterior.seed,
            posterior.stats,
            posterior.versions,
            posterior.to_dict(draws=False),
        )
    )
    title = f"Posterior of graphs given {source}" if source else "A posterior of graphs"
    return page(title, lead(posterior), sections)


def lead(posterior: Posterior) -> str:
    """The draws and the distribution that they come from."""
    draws = posterior.draws
    named = [
        ("variables", number(len(posterior.nodes))),
        ("sampler", posterior.method),
        ("score", posterior.score_name or "none"),
        ("draws", f"{draws.chains} × {number(draws.per_chain)}"),
        ("seconds", number(posterior.seconds)),
        ("status", posterior.status),
    ]
    said = [posterior.message, f"prior: {posterior.prior}", f"space: {posterior.space}"]
    if posterior.parameter_prior:
        said.insert(2, f"prior of parameters: {posterior.parameter_prior}")
    return "".join(f"<p>{sentence(words)}</p>" for words in said) + facts(named)


def edge_picture(posterior: Posterior, truth: Graph | None) -> Section:
    """The probabilities of all pairs."""
    if len(posterior.nodes) > MOST_SQUARES:
        body = f"<p>{len(posterior.nodes)} variables are too many to draw all pairs: see the table.</p>"
    else:
        drawing = draw_probabilities(posterior.nodes, posterior.edge_probability, truth=truth)
        body = f'<div class="canvas shaded">{drawing}</div>'
    return Section("How probable each edge is", body)


def consensus_section(posterior: Posterior, truth: Graph | None) -> Section:
    """The graph of the edges that are more probable than not."""
    graph = posterior.consensus()
    drawing = draw_svg(graph, truth=truth, weights=posterior.edge_probability)
    note = (
        f"{amount(len(graph.edges), 'edge')} more probable than not, without a cycle; the numbers are "
        "probabilities."
    )
    return Section(
        "The consensus graph", f'<p class="soft">{text(note)}</p>{canvas([drawing], informed=True)}'
    )


def edge_section(posterior: Posterior, truth: Graph | None) -> Section:
    """Edges with their probabilities and Monte Carlo errors."""
    names, probability, error = posterior.nodes, posterior.edge_probability, posterior.edge_error
    known = true_edges(truth)
    chosen = posterior.consensus().to_numpy()
    shown = (probability >= LEAST_PROBABLE) | chosen
    np.fill_diagonal(shown, val=False)
    rows: list[list[Content]] = []
    for i, j in sorted(np.argwhere(shown).tolist(), key=lambda at: -probability[at[0], at[1]]):
        value, back, wide = float(probability[i, j]), float(probability[j, i]), float(error[i, j])
        row: list[Content] = [
            names[i],
            names[j],
            Cell(f"{value:.3f}", value),
            Cell("" if math.isnan(wide) else f"{wide:.3f}", wide),
        ]
        row += [Cell(f"{back:.3f}", back), Cell(f"{value + back:.3f}", value + back)]
        row.append("yes" if chosen[i, j] else "")
        row += ["yes" if (names[i], names[j]) in known else ""] if truth is not None else []
        rows.append(row)
    head = ["from", "to", "probability", "standard error", "other way round", "either way", "consensus"]
    note = f'<p class="soft">Edges of probability {LEAST_PROBABLE:g} and more.</p>'
    edges = table(head + ["in the truth"] * (truth is not None), rows, sortable=True)
    return Section("Edges", searchable(edges) + note)


def prior_section(effect: PriorEffect) -> Section:
    """Edge probabilities with the probabilities that were given beforehand, and without them."""
    rows: list[list[Content]] = []
    for i, j in effect.changed():
        known, plain = float(effect.with_prior[i, j]), float(effect.without[i, j])
        pair: list[Content] = [effect.names[i], effect.names[j]]
        rows.append([*pair, Cell(f"{known:.3f}", known), Cell(f"{plain:.3f}", plain)])
    worth = "" if effect.worth is None else f" Without it, by weights worth {effect.worth:.0f} draws."
    if not rows:
        return Section("What the prior changed", '<p class="soft">No edge by more than 0.005.</p>')
    note = f'<p class="soft">Edges whose probability changed by more than 0.005.{worth}</p>'
    head = ["from", "to", "with the prior", "without it"]
    return Section("What the prior changed", table(head, rows, sortable=True) + note)


def graphs_section(posterior: Posterior) -> Section:
    """The graphs that were drawn most often."""
    chosen = posterior.consensus().to_numpy()
    rows = []
    for rank, (graph, probability) in enumerate(posterior.graphs(MOST_GRAPHS), start=1):
        marks = graph.to_numpy()
        pairs = np.triu((marks != chosen) | (marks.T != chosen.T)).sum()
        rows.append((rank, Cell(f"{probability:.4f}", probability), len(graph.edges), int(pairs)))
    head = ("", "share of the draws", "edges", "pairs that differ from the consensus")
    return Section("The most probable graphs", table(head, rows))


def expectation_table(posterior: Posterior, truth: Graph) -> str:
    """Expected distance from the truth, of graphs and of their classes."""
    rows: list[tuple[Content, ...]] = []
    for label, on in (("DAG", "dag"), ("CPDAG", "cpdag")):
        found = (
            posterior.expected_shd(truth, on=on),
            posterior.expected_tp(truth, on=on),
            posterior.expected_fp(truth, on=on),
        )
        rows.append(
            (label, *(Cell(f"{value.mean:.2f}{_spread(value.error)}", value.mean) for value in found))
        )
    return table(("compared as", "E-SHD", "E-TP", "E-FP"), rows)


def _spread(error: float) -> str:
    return f" ± {error:.2f}" if error >= 0.005 else ""


def mixing_section(posterior: Posterior) -> Section:
    """The evidence that the chains have converged to the same distribution."""
    warnings = mixing_warnings(posterior.diagnostics)
    verdict = (
        VERDICTS[posterior.diagnostics.verdict] if warnings else "No diagnostic suggests that they have not."
    )
    lines = [Line(np.arange(chain.size), chain) for chain in posterior.draws.log_scores]
    chart = draw_lines(lines, across="draw", up="log score")
    return Section(
        "Have the chains mixed?",
        f"<p>{text(verdict)}</p><p>{text(posterior.diagnostics)}</p>{chart}"
        '<p class="soft">One line per chain: all of them should cover the same range.</p>',
    )
