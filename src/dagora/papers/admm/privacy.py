"""What the first round of ADMM reveals: every S_k as published, no single one from masked sums.

Four rows per site, as in the paper's largest setting (n = 256 at 64 sites). For each view of the exchange the
S_k of every site are reconstructed (see `attack`), and compared with the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.papers.admm.attack import centred, overheard, relative_error, rows_recovered, shown
from dagora.papers.admm.attack import covariance_from as invert
from dagora.papers.admm.contenders import dealt_out, simulated
from dagora.papers.cell import Measured, Numbers, Parameters
from dagora.papers.charts import Panel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, Mean, ResultTable, mean, mean_of
from dagora.run import Run

ROWS_PER_SITE = 4
# Variables and sites.
QUICK: tuple[tuple[int, int], ...] = ((20, 8),)
FULL: tuple[tuple[int, int], ...] = ((20, 8), (20, 64), (50, 64))
QUICK_RUNS, FULL_RUNS = 3, 10

VIEWS = {
    "shown": "published: every B_k is shown",
    "masked": "ours: a site's vector, self-mask off",
    "mean": "ours: Σ B_k / K taken for every B_k",
    "total": "secure sum: S / K taken for every S_k",
}
TICKS = {"shown": "B_k shown", "masked": "masked", "mean": "mean B", "total": "S / K"}

NOTES = paragraphs("""
Errors are ‖Ŝ_k − S_k‖ / ‖S_k‖ over all sites; a guess of zero has error 1. S_k = x_kᵀx_k / n of rows centred
at the site, four per site, which is three dimensions; ρ = 0.001.

As published, the coordinator is sent B_k = (S_k + ρI)⁻¹ S_k in round 1 and has S_k = ρ((I − B_k)⁻¹ − I). A
factor of n S_k is then the site's centred rows up to a rotation: “rows” counts those that the best rotation
brings within 10⁻⁶ of a true row.

Ours: a real run with masks and messages in memory. All that the coordinator has of one site is its masked
vector, and the seed of its self-mask, which is needed to open the sum; with that taken off, the pairwise
masks remain, and the vector read as a B_k gives Ŝ_k ≈ −ρI, as good as a guess of zero. The sum itself, Σ B_k,
and in secure-sum NOTEARS the total S, are what the coordinator is meant to see: their means say of one site
what sites have in common, and no row of it.

Not shown here: what several sites together with the coordinator could compute, and what the result gives
away.
""")


def privacy(size: Size) -> Experiment:
    """Make the experiment."""
    cells: list[Parameters] = [
        {"sem": "gaussian", "d": d, "n": ROWS_PER_SITE * sites, "sites": sites, "seed": seed}
        for d, sites in (FULL if size.full else QUICK)
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    return Experiment("admm/privacy", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """Reconstruct every S_k from each view, and count the rows that follow."""
    n = int(parameters["n"])
    tables = dealt_out(simulated(parameters).table, int(parameters["sites"]))
    rows = {name: centred(table) for name, table in tables.items()}
    published, ours = shown(tables, run), overheard(tables, run)
    from_mean = invert(ours.mean, ours.rho)
    total = sum(x.T @ x for x in rows.values()) / (n * len(rows))
    views: dict[str, Callable[[str], NDArray[np.float64]]] = {
        "shown": published.covariances().__getitem__,
        "masked": ours.covariances().__getitem__,
        "mean": lambda _: from_mean,
        "total": lambda _: np.asarray(total),
    }
    numbers: dict[str, float] = {"sum_error": relative_error(ours.mean, published.mean)}
    for view, found in views.items():
        errors = [relative_error(found(name), x.T @ x / n) for name, x in rows.items()]
        numbers |= {
            f"{view}_least": min(errors),
            f"{view}_median": float(np.median(errors)),
            f"{view}_most": max(errors),
            f"{view}_rows": sum(rows_recovered(found(name), x, n) for name, x in rows.items()),
        }
    return numbers


def report(measured: Sequence[Measured]) -> Report:
    """One row per setting and view; the picture counts digits and rows."""
    rows: list[tuple[Entry, ...]] = []
    panels: list[Panel] = []
    settings = sorted({(int(cell.parameters["d"]), int(cell.parameters["sites"])) for cell in measured})
    for d, sites in settings:
        cells = [c for c in measured if (c.parameters["d"], c.parameters["sites"]) == (d, sites)]
        digits: list[tuple[str, Mean]] = []
        recovered: list[tuple[str, Mean]] = []
        for view, words in VIEWS.items():
            least = min(cell.numbers[f"{view}_least"] for cell in cells)
            most = max(cell.numbers[f"{view}_most"] for cell in cells)
            middle = float(np.median([cell.numbers[f"{view}_median"] for cell in cells]))
            share = mean_of(cells, f"{view}_rows")
            spread = tuple(f"{error:.1e}" for error in (least, middle, most))
            rows.append((d, sites, words, *spread, share, ROWS_PER_SITE * sites, len(cells)))
            correct = mean(max(0.0, -math.log10(cell.numbers[f"{view}_median"])) for cell in cells)
            per_site = mean(cell.numbers[f"{view}_rows"] / sites for cell in cells)
            digits += [(TICKS[view], correct)] if correct else []
            recovered += [(TICKS[view], per_site)] if per_site else []
        for heading, points in (("correct digits of S_k", digits), ("rows per site, of 4", recovered)):
            series = Series("known", tuple(x for x, _ in points), tuple(y for _, y in points))
            panels.append(Panel(f"{heading} (d = {d}, K = {sites})", (series,)))
    columns = (
        "d", "sites", "what the coordinator uses", "least error", "median error", "largest error",
        "rows up to rotation", "of rows", "runs",
    )  # fmt: skip
    table = ResultTable("privacy", "Reconstructing every S_k after round 1", columns, tuple(rows), 1)
    picture = draw_panels(
        panels,
        columns=2,
        x_label="",
        y_label="",
        title="What round 1 of ADMM gives away of a site",
        lines=False,
    )
    opened = max(cell.numbers["sum_error"] for cell in measured)
    check = (
        f"The opened sums are those of the published round to {opened:.0e}: the masks were really taken off."
    )
    return Report(
        "admm/privacy: what the exchange gives away", (table,), {"recovered": picture}, (*NOTES, check)
    )
