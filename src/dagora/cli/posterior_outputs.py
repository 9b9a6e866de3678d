"""Write and print a posterior, and the strengths of edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dagora.base.files import write_whole
from dagora.base.phrases import amount
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagora.graph.cpdag import Graph
    from dagora.posterior.resample.strengths import Strengths
    from dagora.posterior.summary.mixing import Diagnostics
    from dagora.posterior.summary.posterior import Posterior

MOST_EDGES = 40  # of edges or pairs that are printed
LEAST_PROBABLE = 0.05  # probability or strength that is printed
SMALLEST_ERROR = 0.0005  # the smallest that three decimals show


def write_posterior(posterior: Posterior, path: str) -> None:
    """Write the posterior with all its draws."""
    write_whole(path, posterior.to_json() + "\n")


def write_probabilities(posterior: Posterior, path: str, *, truth: Graph | None = None) -> None:
    """Draw the edge probabilities, with the edges of the truth framed."""
    from dagora.cli.outputs import check_picture
    from dagora.posterior.summary.picture import draw_probabilities

    check_picture(path)
    title = f"Edge probabilities: {posterior.method}, {posterior.score_name}"
    write_whole(
        path, draw_probabilities(posterior.nodes, posterior.edge_probability, truth=truth, title=title)
    )


def expectations(posterior: Posterior | Strengths, truth: Graph) -> dict[str, Any]:
    """E-SHD, E-TP and E-FP with their standard errors, of DAGs and of their equivalence classes."""
    content: dict[str, Any] = {}
    for on in ("dag", "cpdag"):
        found = {
            "shd": posterior.expected_shd(truth, on=on),
            "tp": posterior.expected_tp(truth, on=on),
            "fp": posterior.expected_fp(truth, on=on),
        }
        part: dict[str, Any] = {name: value.mean for name, value in found.items()}
        part["errors"] = {name: _finite(value.error) for name, value in found.items()}
        content |= part if on == "dag" else {on: part}
    return content


def show_posterior(posterior: Posterior, truth: Graph | None, written: Sequence[str]) -> None:
    """Print a posterior for people; doubtful convergence is shown even where warnings are switched off."""
    from dagora.scores.estimation import describe_errors

    draws = posterior.draws
    score = "" if posterior.score_name is None else f", score {posterior.score_name}"
    number = f"{draws.chains} × {draws.per_chain} graphs"
    if draws.particles:
        number = f"{amount(draws.per_chain, 'distinct graph')} of particles"
    echo(f"{posterior.method}: {number} on {len(posterior.nodes)} variables{score}")
    echo(f"{posterior.status}: {posterior.message} ({posterior.seconds:.2f} s)")
    echo(f"prior: {posterior.prior}")
    if posterior.parameter_prior:
        echo(f"prior of parameters: {posterior.parameter_prior}")
    echo(f"space: {posterior.space}")
    if "score_error_median" in posterior.stats:
        echo(describe_errors(posterior.stats))
    echo("")
    for line in edge_lines(posterior):
        echo(line)
    if posterior.prior_effect is not None:
        echo("")
        for line in posterior.prior_effect.lines():
            echo(line)
    echo("")
    if draws.independent or draws.particles:
        echo(f"draws: {posterior.diagnostics.verdict}")
    else:
        echo(f"{mixing_label(posterior.diagnostics)}: {posterior.diagnostics}")
    if posterior.score is not None:
        echo(f"highest log score: {posterior.score:.4f}")
    if truth is not None:
        echo("")
        show_expectations(expectations(posterior, truth))
    for path in written:
        echo(f"written: {path}", err=True)


def mixing_label(found: Diagnostics) -> str:
    """Say in a word or two if the chains have mixed; `doubtful` if there are warnings all the same."""
    from dagora.posterior.summary.mixing import MIXED, mixing_warnings

    if found.verdict == MIXED:
        return "mixing (doubtful)" if mixing_warnings(found) else "mixing"
    return found.verdict


def edge_lines(posterior: Posterior) -> list[str]:
    """The most probable edges, a line each, those of the consensus graph marked."""
    from dagora.base.phrases import amount

    probability, error = posterior.edge_probability, posterior.edge_error
    chosen = posterior.consensus()
    marked = chosen.to_numpy()
    likely = (probability >= LEAST_PROBABLE) | marked
    np.fill_diagonal(likely, val=False)
    order = sorted(np.argwhere(likely).tolist(), key=lambda at: -probability[at[0], at[1]])
    names = posterior.nodes
    shown = [
        (f"{names[i]} → {names[j]}", probability[i, j], error[i, j], marked[i, j])
        for i, j in order[:MOST_EDGES]
    ]
    width = max((len(edge) for edge, *_ in shown), default=0)
    lines = [
        f"{'*' if mark else ' '} {edge:{width}}  {value:.3f}{spread(wide)}"
        for edge, value, wide, mark in shown
    ]
    if len(order) > MOST_EDGES:
        lines.append(f"  and {amount(len(order) - MOST_EDGES, 'more edge')} above {LEAST_PROBABLE:g}")
    if not lines:
        lines.append(f"  no edge is more probable than {LEAST_PROBABLE:g}")
    return [*lines, f"* consensus graph: {amount(len(chosen.edges), 'edge')} above 0.5, without a cycle"]


def spread(error: float) -> str:
    """Standard error to print after a value; empty where it is too small to show.

    >>> spread(0.0123), spread(0.0), spread(1e-9)
    (' ± 0.012', '', '')
    """
    return f" ± {error:.3f}" if math.isfinite(error) and error >= SMALLEST_ERROR else ""


def show_expectations(found: dict[str, Any]) -> None:
    """Print expected distances as a small table."""
    echo(f"{'':8}{'E-SHD':>16}{'E-TP':>16}{'E-FP':>16}")
    for label, part in (("DAG", found), ("CPDAG", found["cpdag"])):
        cells = (f"{part[key]:.2f}{spread(part['errors'][key] or 0.0)}" for key in ("shd", "tp", "fp"))
        echo(f"{label:8}" + "".join(f"{cell:>16}" for cell in cells))


def strengths_content(strengths: Strengths | None, truth: Graph | None = None) -> dict[str, Any]:
    """The strengths of edges for the JSON form of a result, with their distance from a truth."""
    from dagora.posterior.resample.strengths import account_of

    if strengths is None:
        return {}
    found = account_of(strengths)
    if truth is not None and strengths.samples:
        found["expected"] = expectations(strengths, truth)
    return {"bootstrap": found}


def show_strengths(strengths: Strengths, learned: Graph, truth: Graph | None) -> None:
    """Print how often pairs were joined, and in which direction."""
    echo("")
    echo(f"strengths: {strengths.message}")
    if not strengths.samples:
        return
    for line in strength_lines(strengths, learned, pooled=strengths.settings.get("resample") == "impute"):
        echo(line)
    if truth is not None:
        echo("")
        show_expectations(expectations(strengths, truth))


def strength_lines(strengths: Strengths, learned: Graph, *, pooled: bool = False) -> list[str]:
    """The strongest pairs, a line each; those that the graph learned from all rows joins are marked."""
    names, joined = strengths.nodes, strengths.adjacency_frequency
    edge, sure = strengths.edge_frequency, strengths.compelled_frequency
    marks = learned.to_numpy()
    shown = np.triu((joined >= LEAST_PROBABLE) | marks | marks.T, k=1)
    order = sorted(np.argwhere(shown).tolist(), key=lambda at: -joined[at[0], at[1]])
    rows = []
    for a, b in order[:MOST_EDGES]:
        i, j = (a, b) if edge[a, b] >= edge[b, a] else (b, a)
        mark = "*" if marks[i, j] or marks[j, i] else " "
        rows.append((mark, f"{names[i]} → {names[j]}", joined[i, j], edge[i, j], sure[i, j]))
    width = max((len(row[1]) for row in rows), default=0)
    lines = [f"  {'':{width}}  either way  this way  compelled"]
    lines += [
        f"{mark} {pair:{width}}  {either:10.3f}  {way:8.3f}  {told:9.3f}"
        for mark, pair, either, way, told in rows
    ]
    if len(order) > MOST_EDGES:
        lines.append(f"  and {len(order) - MOST_EDGES} more pairs above {LEAST_PROBABLE:g}")
    whose = "more than half of these graphs" if pooled else "the graph learned from all rows"
    return [*lines, f"* joined in {whose}"]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
