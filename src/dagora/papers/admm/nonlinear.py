"""Figure 4 (with 8 of the appendix): networks of nonlinear relations over the number of sites.

Each variable is a random perceptron of 100 sigmoid units of its parents, plus Gaussian noise. The paper's
size is d = 50 with 512 rows at 2 to 16 sites; the quick size is small.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.papers.admm.contenders import ALL_DATA, NONLINEAR, judged, simulated
from dagora.papers.admm.curves import charts_of, table_of, unsettled
from dagora.papers.cell import Measured, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.reports import Report, paragraphs
from dagora.run import Run

SETTINGS: Parameters = {"sem": "mlp", "lambda1": 0.01, "threshold": 0.3}
# Variables, rows, and the numbers of sites.
QUICK: tuple[int, int, tuple[int, ...]] = (6, 128, (2, 4))
FULL: tuple[int, int, tuple[int, ...]] = (50, 512, (2, 4, 8, 16))
QUICK_RUNS, FULL_RUNS = 2, 30

NOTES = paragraphs("""
Means ± standard errors over random graphs: Erdős–Rényi with d edges expected, each variable a random
perceptron of 100 sigmoid units of its parents plus standard Gaussian noise; ten hidden units in every learned
network, threshold 0.3.

λ = 0.01 for all methods, where the paper has 0.001: its code adds up signed weights in the place of their
sizes, so that its penalty is none; ours is one, and 0.01 is the library's default.

“ADMM, published” is the published schedule on rows as they are; “ADMM” is ours: ρ follows the residuals, rows
are centred on the mean of all sites, and rounds go on with the graph fixed until sites agree. Networks have
no finite sufficient statistics: there is no secure-sum line here, and ADMM is the method of choice.

“best” is chosen by who knows the truth. Votes and means are cut to a DAG (“cut”: edges per run); the paper
leaves their cycles. Its figure shows curves without numbers. CPU seconds are for all sites together,
compilation included.
""")


def fig4(size: Size) -> Experiment:
    """Make the experiment."""
    d, n, sites = FULL if size.full else QUICK
    cells = [
        {**SETTINGS, "d": d, "n": n, "sites": k, **options, "seed": seed}
        for label, options in NONLINEAR.items()
        for k in ((1,) if label == ALL_DATA else sites)
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    return Experiment("admm/fig4", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """One method on one table."""
    simulation = simulated(parameters)
    return judged(parameters, simulation.table, simulation.graph, run)


def report(measured: Sequence[Measured]) -> Report:
    """The table, and charts over the number of sites."""
    table = table_of(measured, NONLINEAR, "d", name="fig4", title="Distance to the truth")
    title = "NOTEARS-MLP-ADMM, figures 4 and 8"
    charts = charts_of(measured, NONLINEAR, "d", "sites", title=title, x_label="sites K")
    notes = (*NOTES, *unsettled(measured, NONLINEAR))
    return Report("admm/fig4: nonlinear networks, varying number of sites", (table,), charts, notes)
