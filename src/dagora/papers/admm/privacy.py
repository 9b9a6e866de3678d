"""ADMM reveals every S_k: in one round as published, and also from sums alone after a few rounds.

Four rows per site, as in the paper's largest setting (n = 256 at 64 sites), and a small setting with many.
For each view of the exchange the S_k of every site are reconstructed (see `attack` and `power_sums`), and
compared with the true ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.learners.run import Run
from dagora.papers.admm.attack import (
    centre_rows,
    count_recovered_rows,
    relative_error,
    run_first_round,
    run_summed_rounds,
)
from dagora.papers.admm.contenders import dealt_out, simulate_cell
from dagora.papers.admm.power_sums import covariances_from
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, Mean, ResultTable, mean, mean_of

Matrix = NDArray[np.float64]

# Variables, sites, rows per site; the last has the paper's 256 rows at 64 sites (section 6.2), the others and
# the runs are by hand.
QUICK: tuple[tuple[int, int, int], ...] = ((4, 4, 16), (20, 8, 4))
FULL: tuple[tuple[int, int, int], ...] = ((4, 4, 16), (20, 4, 16), (20, 8, 4), (20, 64, 4))
QUICK_RUNS, FULL_RUNS = 3, 10
# Rounds whose sums are used: twice the number of sites, but no more than these.
MOST_ROUNDS = 24

VIEWS = {
    "shown": "published: every B_k of round 1",
    "sums": "masked sums of several rounds",
    "total": "one sum of moments: S / K taken for every S_k",
}
TICKS = {"shown": "B_k shown", "sums": "sums", "total": "S / K"}

NOTES = paragraphs("""
Errors are ‖Ŝ_k − S_k‖ / ‖S_k‖ over all sites; a guess of zero has error 1. S_k = x_kᵀx_k / n of rows centred
at the site. Four rows per site are three dimensions.

As published, the coordinator is sent B_k = (S_k + ρI)⁻¹ S_k in round 1 and has S_k = ρ((I − B_k)⁻¹ − I); ρ =
0.001. A factor of n S_k is then the site's centred rows up to a rotation: “rows” counts those that the best
rotation brings within 10⁻⁶ of a true row.

Masks that let the coordinator see nothing but Σ_k (ρB_k + β_k) do not change that. At one ρ, round t adds
Σ_k N_kᵗ⁺¹ with N_k = S_k (S_k + ρI)⁻¹, and 2K such sums, or fewer where sites have few rows, give the
eigenvalues and eigenvectors of every N_k (see `power_sums`). Each Ŝ_k is compared with the S_k nearest to it,
since a sum names no site. The attack here computes in double precision; where it falls short, that says
nothing about one with more digits.

So `admm` is a method whose sites show their covariances, and needs their consent. What is additive over rows
is different: n, Σx and Σxxᵀ are the same numbers however the rows are spread over the sites, so nothing that
is computed from them can tell whose a row is. Of one site, S / K says what the sites have in common.
`notears` over sites learns from that sum.

Not shown here: what several sites together with the coordinator could compute, and what the result gives
away.
""")


def privacy(size: Size) -> Experiment:
    """Make the experiment."""
    cells: list[Parameters] = [
        {"sem": "gaussian", "d": d, "n": rows * sites, "sites": sites, "seed": seed}
        for d, sites, rows in (FULL if size.full else QUICK)
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    return Experiment("admm/privacy", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """Reconstruct every S_k from each view, and count the rows that follow."""
    n, sites = int(parameters["n"]), int(parameters["sites"])
    tables = dealt_out(simulate_cell(parameters).table, sites)
    rows = {name: centre_rows(table) for name, table in tables.items()}
    truth = {name: x.T @ x / n for name, x in rows.items()}
    from_sums = covariances_from(run_summed_rounds(tables, min(2 * sites, MOST_ROUNDS), run), sites)
    mean: Matrix = np.mean(list(truth.values()), axis=0)
    views: dict[str, Mapping[str, Matrix]] = {
        "shown": run_first_round(tables).covariances(),
        "sums": {name: nearest(from_sums, S) for name, S in truth.items()},
        "total": dict.fromkeys(truth, mean),
    }
    numbers: dict[str, float] = {}
    for view, found in views.items():
        errors = [relative_error(found[name], S) for name, S in truth.items()]
        numbers |= {
            f"{view}_least": min(errors),
            f"{view}_median": float(np.median(errors)),
            f"{view}_most": max(errors),
            f"{view}_rows": sum(count_recovered_rows(found[name], x, n) for name, x in rows.items()),
        }
    return numbers


def nearest(found: Sequence[Matrix], truth: Matrix) -> Matrix:
    """The reconstruction that is nearest to the truth."""
    return min(found, key=lambda guess: relative_error(guess, truth))


def report(measured: Sequence[MeasuredCell]) -> Report:
    """One row per setting and view; the picture counts digits and rows."""
    rows: list[tuple[Entry, ...]] = []
    panels: list[ChartPanel] = []
    settings = sorted({tuple(int(cell.parameters[key]) for key in ("d", "sites", "n")) for cell in measured})
    for d, sites, n in settings:
        cells = [c for c in measured if (c.parameters["d"], c.parameters["sites"]) == (d, sites)]
        digits: list[tuple[str, Mean]] = []
        recovered: list[tuple[str, Mean]] = []
        for view, words in VIEWS.items():
            least = min(cell.numbers[f"{view}_least"] for cell in cells)
            most = max(cell.numbers[f"{view}_most"] for cell in cells)
            middle = float(np.median([cell.numbers[f"{view}_median"] for cell in cells]))
            share = mean_of(cells, f"{view}_rows")
            spread = tuple(f"{error:.1e}" for error in (least, middle, most))
            rows.append((d, sites, words, *spread, share, n, len(cells)))
            correct = mean(max(0.0, -math.log10(cell.numbers[f"{view}_median"])) for cell in cells)
            per_site = mean(cell.numbers[f"{view}_rows"] / sites for cell in cells)
            digits += [(TICKS[view], correct)] if correct else []
            recovered += [(TICKS[view], per_site)] if per_site else []
        for heading, points in (
            ("correct digits of S_k", digits),
            (f"rows per site, of {n // sites}", recovered),
        ):
            series = Series("known", tuple(x for x, _ in points), tuple(y for _, y in points))
            panels.append(ChartPanel(f"{heading} (d = {d}, K = {sites})", (series,)))
    columns = (
        "d", "sites", "what the coordinator uses", "least error", "median error", "largest error",
        "rows up to rotation", "of rows", "runs",
    )  # fmt: skip
    table = ResultTable("privacy", "Reconstructing every S_k", columns, tuple(rows), 1)
    picture = draw_panels(
        panels, columns=2, x_label="", y_label="", title="What ADMM gives away of a site", lines=False
    )
    return Report("admm/privacy: what the exchange gives away", (table,), {"recovered": picture}, NOTES)
