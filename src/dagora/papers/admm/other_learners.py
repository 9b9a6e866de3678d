"""Figure 5: votes on graphs that PC and FGES learn at each site, over the number of variables.

The setting is that of figure 1: n = 3d rows at 10 sites. Beside the votes are the same learners on secure
sums of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.papers.admm.claims import FIGURE5, Curves, claims_table
from dagora.papers.admm.contenders import LINEAR, PUBLISHED, VOTED, cells_of
from dagora.papers.admm.curves import charts_of, round_limit_notes, silent, size_of, table_of
from dagora.papers.admm.linear import (
    FIG1_FULL_NODES,
    FIG1_SITES,
    FULL_RUNS,
    QUICK_RUNS,
    ROWS_PER_NODE,
    SETTINGS,
    measure,
)
from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.reports import Report, paragraphs

# By hand; without d = 100 of section 6.1.
QUICK_NODES = (10, 20, 50)
LINES: dict[str, Parameters] = {
    "ADMM": LINEAR["ADMM"],
    PUBLISHED: LINEAR[PUBLISHED],
    **VOTED,
    "PC, secure sums": {"method": "pc"},
    "GES, secure sums": {"method": "ges"},
}

NOTES = paragraphs("""
Means ± standard errors over random graphs: Erdős–Rényi with exactly d edges, weights ±[0.5, 2], standard
Gaussian noise; n = 3d rows in equal parts at 10 sites, 0.3d rows each. These are the graphs and rows of
`admm/fig1`, where the votes of NOTEARS are.

“PC-Voting” and “FGES-Voting” keep the marks that more than half of the sites have; the voted graph is judged
as it is, with cycles if it has some. PC and GES return classes: an undirected edge counts as true if the
truth joins the pair in either direction (section 6.1), so the comparison favours them. PC has Fisher's z
at the level 0.01 and GES the plain Gaussian BIC; the paper states neither its level nor its penalty. With so
few rows plain BIC takes chance for edges at each site, but sites seldom agree on these.

With three rows (d = 10) Fisher's z has no degree of freedom: no test can be made, and PC's graph is taken to
be empty. The empty graph has SHD d: read every number against it.

“PC, secure sums” and “GES, secure sums” are not in the paper: the same learners on the second moments of
all rows, which secure sums give to the coordinator without showing it any site's graph (here added in the
clear, the same but for the fixed point).

A claim fails if the 95 % interval of any difference that it speaks of, over runs on the same rows, is on the
wrong side, and holds if those of all are on the right side (Student's); else it cannot be told. The paper's
figure shows curves without numbers. CPU seconds are for one run, all sites together, compilation excluded, on
the machine at hand.
""")


def fig5(size: Size) -> Experiment:
    """Make figure 5, from cheap to expensive."""
    cells = [
        cell
        for d in (FIG1_FULL_NODES if size.full else QUICK_NODES)
        for cell in cells_of(
            LINES,
            {**SETTINGS, "d": d, "n": ROWS_PER_NODE * d},
            (FIG1_SITES,),
            size.seeds(QUICK_RUNS, FULL_RUNS),
        )
    ]
    return Experiment("admm/fig5", tuple(cells), measure, report)


def report(measured: Sequence[MeasuredCell]) -> Report:
    """Everything over the number of variables."""
    table = table_of(measured, LINES, "d", name="fig5", title="Distance to the truth, n = 3d, 10 sites")
    size = size_of(measured, "d = 10 to 100, n = 3d, 10 sites, 30 runs")
    title = f"NOTEARS-ADMM, figure 5 (n = {ROWS_PER_NODE}d, {FIG1_SITES} sites)"
    charts = charts_of(measured, LINES, "", "d", title=title, x_label="variables d")
    return Report(
        f"admm/fig5: votes of PC and FGES, varying number of variables; {size}",
        (table, claims_table(FIGURE5, Curves.of(measured, LINES, "", "d"))),
        charts,
        (*NOTES, *round_limit_notes(measured, LINES), *silent(measured, LINES)),
    )
