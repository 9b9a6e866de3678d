"""Score g instead of f: how often K2 finds another graph, and how far each graph is from the truth.

K2 runs without encryption, in a topological order of the true graph, with at most three parents (see
`central`). Real sessions of two owners on a few samples check that private K2 finds the same graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.graph.metrics import compare
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.private_k2.central import SCORES, k2_graph
from dagora.papers.private_k2.networks import RANDOM, draw_rows, session_in_memory
from dagora.papers.reference_data import reference_file
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, Mean, ResultTable, group, mean, mean_of

NETWORKS = ("asia", "alarm", RANDOM)
# The paper has no experiment: limit, rows and runs are by hand.
LIMIT = 3
QUICK_ROWS, FULL_ROWS = (100, 1000, 10_000), (100, 1000, 10_000, 100_000)
QUICK_RUNS, FULL_RUNS = 10, 100
# Real sessions: network, rows, score, mode.
SESSIONS = (("asia", 500, "f", "hidden"), ("asia", 500, "g", "hidden"), (RANDOM, 300, "g", "adaptive"))
LABELS = {"f": "f", "g": "g", "stirling": "g′"}

NOTES = paragraphs("""
f = Σ_j [ln α_j0! + ln α_j1! − ln (α_j0 + α_j1 + 1)!] is K2's own score; g is the paper's, Stirling's formula
without ½ ln 2π and without its remainder (a reconstruction: the text at hand describes equation 6 and lacks
it); g′ is g with ½ ln 2π, and s(0) = ln 0! = 0 in both. K2 in an order
that the true graph permits, at most 3 parents. “asia” and “alarm” are samples of these networks, alarm with
each variable's levels cut in the middle, so that its graph is no longer exactly the truth, and with at most 3
parents where the network has up to 4; “random” are 20 binary variables with up to 3 parents, a new network
for each run.

“g ≠ f” is the share of runs in which g gives another graph than f; “only f” and “only g” are the edges that
one has and the other has not. SHDs are to the network's own graph; means ± standard errors.

The paper leaves ½ ln 2π ≈ 0.92 out because it is the same in all scores. It is not: each parent
configuration brings its own. Where both values of the child occur, a configuration has two terms added and
one taken away, and g is 0.92 too low; where one occurs, g is nearly right; where none does, f is −ln 1! = 0
and g is −s(1) = 1. Configurations double with each parent. So with rows enough g takes fewer parents than f,
and with few rows or rare values, where most configurations are empty, it takes parents for the sake of empty
ones (“only g”). Neither error falls with n; what falls is how many decisions are that close.

g′ has the constant and is left with the remainder of Stirling's formula, 1 / (12 x) and 0.08 for each
empty configuration. With rows enough that is next to nothing; with few rows it is not, and putting the
constant back is then no cure.
""")


def f_vs_g(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    for network in NETWORKS:
        if network != RANDOM:
            reference_file(f"networks/{network}.bif.gz")
    cells: list[Parameters] = [
        {"network": network, "n": n, "seed": seed}
        for n in (FULL_ROWS if size.full else QUICK_ROWS)
        for network in NETWORKS
        for seed in size.seeds(QUICK_RUNS, FULL_RUNS)
    ]
    cells += [
        {"network": network, "n": n, "score": score, "mode": mode, "seed": size.seed}
        for network, n, score, mode in SESSIONS
    ]
    return Experiment("private-k2/f-vs-g", tuple(cells), measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """One sample: all scores in the clear, or one of them in a session of two owners."""
    if "mode" in parameters:
        return session(parameters, run)
    rows = draw_rows(str(parameters["network"]), int(parameters["n"]), int(parameters["seed"]))
    numbers: dict[str, float] = {"true_edges": len(rows.truth.edges)}
    graphs = {}
    for score in SCORES:
        graphs[score] = k2_graph(rows.bits, rows.truth.nodes, rows.order, LIMIT, score)
        found = compare(graphs[score], rows.truth).dag
        numbers |= {
            f"{score}_edges": len(graphs[score].edges),
            f"{score}_shd": found.shd,
            f"{score}_extra": found.extra,
            f"{score}_missing": found.missing,
        }
    exact = set(graphs["f"].edges)
    for score in SCORES[1:]:
        other = set(graphs[score].edges)
        numbers |= {
            f"{score}_differs": float(exact != other),
            f"{score}_lacks": len(exact - other),
            f"{score}_adds": len(other - exact),
        }
    return numbers


def session(parameters: Parameters, run: Run) -> Numbers:
    """True if two owners, every other column each, find the graph of the joined columns."""
    from dagora.parties.vertical.agreement import TermsProposal

    rows = draw_rows(str(parameters["network"]), int(parameters["n"]), int(parameters["seed"]))
    score = str(parameters["score"])
    central = k2_graph(rows.bits, rows.truth.nodes, rows.order, LIMIT, score)
    proposal = TermsProposal(rows.written_order, LIMIT, score, str(parameters["mode"]))
    result = session_in_memory(rows, proposal, run.on_event)
    return {
        "edges": len(result.graph.edges),
        "same": set(result.graph.edges) == set(central.edges),
        "ands": result.stats["ands"],
    }


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A row per network and number of rows, the sessions, and two pictures."""
    samples = [cell for cell in measured if "mode" not in cell.parameters]
    tables = [comparison_table(samples)] if samples else []
    sessions = [cell for cell in measured if "mode" in cell.parameters]
    if sessions:
        tables.append(sessions_table(sessions))
    pictures = {}
    if samples:
        pictures["differs"] = draw_panels(
            panels(samples, {"g": "g_differs", "g′": "stirling_differs"}),
            columns=3, x_label="rows n", y_label="runs with another graph than f",
            title="Private K2: how often the approximate score changes the graph", logarithmic_x=True,
        )  # fmt: skip
        pictures["shd"] = draw_panels(
            panels(samples, {LABELS[score]: f"{score}_shd" for score in SCORES}),
            columns=3, x_label="rows n", y_label="SHD to the network",
            title="Private K2: distance to the network by score", logarithmic_x=True, share_y=False,
        )  # fmt: skip
    notes = (*NOTES, *excess(samples))
    return Report("private-k2/f-vs-g: the exact score and its approximation", tuple(tables), pictures, notes)


def excess(samples: Sequence[MeasuredCell]) -> tuple[str, ...]:
    """By how many edges g and g′ exceed f, where g does by one or more: what the constant puts right."""
    found = []
    for (network, n), cells in group(samples, ("network", "n")).items():
        f, g, stirling = (mean_of(cells, f"{score}_edges") for score in SCORES)
        if f is not None and g is not None and stirling is not None and g.value >= f.value + 1:
            found.append(
                f"{network} at n = {n}: f {f.value:.1f}, g {g.value:.1f}, g′ {stirling.value:.1f} edges "
                f"({g.runs} samples)"
            )
    if not found:
        return ()
    return (f"Where g has more edges than f, and what ½ ln 2π leaves of them: {'; '.join(found)}.",)


def comparison_table(samples: Sequence[MeasuredCell]) -> ResultTable:
    """Edges and SHDs by score, and how g differs from f."""
    rows: list[tuple[Entry, ...]] = []
    for (network, n), cells in sorted(
        group(samples, ("network", "n")).items(),
        key=lambda item: (NETWORKS.index(str(item[0][0])), item[0][1]),
    ):
        row: list[Entry] = [str(network), int(n), mean_of(cells, "true_edges")]
        row += [mean_of(cells, f"{score}_edges") for score in SCORES]
        row += [mean_of(cells, f"{score}_shd") for score in SCORES]
        for score in SCORES[1:]:
            share = mean(cell.numbers[f"{score}_differs"] for cell in cells)
            row.append("" if share is None else f"{100 * share.value:.0f} %")
        rows.append((*row, mean_of(cells, "g_lacks"), mean_of(cells, "g_adds"), len(cells)))
    columns = (
        "network", "n", "true edges", "edges f", "edges g", "edges g′", "SHD f", "SHD g", "SHD g′", "g ≠ f",
        "g′ ≠ f", "only f", "only g", "runs",
    )  # fmt: skip
    return ResultTable("scores", "K2 with f, g and g′", columns, tuple(rows), 1)


def sessions_table(sessions: Sequence[MeasuredCell]) -> ResultTable:
    """Real sessions beside the search in the clear."""
    rows = tuple(
        (
            *(cell.parameters[name] for name in ("network", "n", "score", "mode")),
            int(cell.numbers["edges"]),
            "the same graph" if cell.numbers["same"] else "ANOTHER GRAPH",
            int(cell.numbers["ands"]),
        )
        for cell in sessions
    )
    columns = ("network", "n", "score", "mode", "edges", "against the clear", "AND gates")
    return ResultTable("sessions", "Two owners, by garbled circuits", columns, rows)


def panels(samples: Sequence[MeasuredCell], lines: dict[str, str]) -> list[ChartPanel]:
    """A panel per network, with a line per number."""
    drawn_panels = []
    for (network,), cells in group(samples, ("network",)).items():
        series = []
        for label, number in lines.items():
            points: list[tuple[float, Mean]] = []
            for (n,), some in sorted(group(cells, ("n",)).items()):
                value = mean_of(some, number)
                points += [] if value is None else [(float(n), value)]
            series.append(Series(label, tuple(x for x, _ in points), tuple(y for _, y in points)))
        drawn_panels.append(ChartPanel(str(network), tuple(series)))
    return drawn_panels
