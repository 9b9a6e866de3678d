"""The cost of private K2 to two owners, over the rows they share and over the variables they have.

The paper gives orders of growth: linear in n, polynomial in the number of variables, exponential in the limit
on parents. Here both parties are processes with certificates on a TLS connection, as `dagora private
simulate` starts them, and every session is compared with K2 in the clear.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dagora.base.events import Event
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell, Numbers, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.private_k2.central import k2_graph
from dagora.papers.private_k2.networks import NetworkRows, random_network, sample_rows, write_owner
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable, group
from dagora.parties.processes.simulation import BothResults, run_both

# By hand, as the sizes below: the paper has no experiment.
LIMIT = 3
MODES = ("hidden", "adaptive")
# Over rows: (rows, variables); over variables likewise.
QUICK = {
    "rlwe": ((100, 10), (1000, 10), (10_000, 10), (1000, 4), (1000, 8), (1000, 12)),
    "paillier": ((100, 6), (300, 6), (1000, 6), (100, 4), (100, 8)),
}
FULL = {
    "rlwe": (
        (1000, 20), (10_000, 20), (100_000, 20), (1_000_000, 20), (10_000, 10), (10_000, 30), (10_000, 40),
    ),
    "paillier": ((100, 20), (300, 20), (1000, 20), (100, 10), (100, 15)),
}  # fmt: skip

NOTES = paragraphs("""
Two processes with certificates of their own on a TLS connection of this machine, started as by `dagora
private simulate`; half of the variables at each, all keys common, at most 3 parents, score f. Seconds are
the host's, from the agreement to the result; starting Python, reading files and making certificates are not
in them, nor is compilation: a small session of each mode and encryption goes before. Both parties share the
machine's cores, with others at times: the CPU seconds of both together say more than the clock. MB are all
bytes of frames; memory is the larger of the two high-water marks.

“keys” is oblivious transfer and the intersection of keys; “moments” are the dot products of product columns
as shares, which with the keys is all that grows with n; “search” is garbled circuits, whose number of gates
follows from the variables, the limit and the bits of n + 1. Hidden mode reveals the graph alone; adaptive
mode also the steps of the search, as the paper's protocol does. Neither is that protocol: the paper takes
shares of ln x and x ln x (Lindell & Pinkas) for its score g, here circuits compute ln x! itself.

`rlwe` encrypts 4096 rows at a time; `paillier` is the encryption that the paper names as an example, here in
ciphertexts of 768 bytes that hold bits of many product columns each. In the paper each count of each
candidate family is a scalar product of its own with n fresh encryptions; here every column is encrypted once,
and counts follow from moments.

The random networks have up to 3 parents per variable. Each session's graph was compared with K2 on the
joined rows.
""")
COLUMNS = (
    "encryption", "mode", "n", "variables", "seconds", "keys s", "moments s", "search s", "CPU s",
    "MB to guest", "MB to host", "M AND gates", "rounds", "MB memory", "edges",
)  # fmt: skip
# Not close to 0 or 1, so that no column is constant on few rows: private K2 needs two levels in each.
PROBABILITIES = (0.2, 0.8)
PHASES = ("agreement", "transfer", "intersection", "moments", "search", "result")
MALICIOUS_PHASES = ("agreement", "rows", "transfer", "search")


def scaling(size: Size) -> Experiment:
    """Make the experiment, from cheap to expensive."""
    cells: list[Parameters] = [
        {"n": n, "variables": variables, "limit": LIMIT, "mode": mode, "crypto": crypto, "seed": size.seed}
        for crypto, settings in (FULL if size.full else QUICK).items()
        for n, variables in settings
        for mode in MODES
    ]
    cells.sort(key=lambda cell: int(cell["n"]) * int(cell["variables"]))
    return Experiment("private-k2/scaling", tuple(cells), measure, report, revision=3)


def measure(parameters: Parameters, run: Run) -> Numbers:
    """One session; the time limit does not interrupt it, since half a search is no result."""
    run.on_event(Event("two processes", 0))
    session = K2Session(
        int(parameters["n"]),
        int(parameters["variables"]),
        int(parameters["limit"]),
        str(parameters["mode"]),
        str(parameters["crypto"]),
        int(parameters["seed"]),
    )
    warm_up(session.mode, session.crypto)
    rows = random_rows(session)
    both = run_session(session, rows)
    central = k2_graph(rows.bits, rows.truth.nodes, rows.order, session.limit, "f")
    same = set(both.host.graph.edges) == set(central.edges)
    return {**costs(both), "edges": len(central.edges), "same": same}


@cache
def warm_up(mode: str, crypto: str) -> None:
    """A small session that is not measured: the first of its kind compiles what later ones load."""
    small = K2Session(100, 4, LIMIT, mode, crypto)
    run_session(small, random_rows(small))


def report(measured: Sequence[MeasuredCell]) -> Report:
    """A row per session, and how time and bytes grow with rows and with variables."""
    table = ResultTable("scaling", "Two owners", COLUMNS, tuple(map(row, sort_cells(measured))), 2)
    pictures = {
        "rows": picture(measured, "n", "variables", "rows n", logarithmic=True),
        "variables": picture(measured, "variables", "n", "variables of both", logarithmic=False),
    }
    wrong = sum(not cell.numbers["same"] for cell in measured)
    verdict = (
        f"{wrong} of {len(measured)} sessions gave ANOTHER graph than K2 in the clear."
        if wrong
        else f"All {len(measured)} sessions gave the graph of K2 in the clear."
    )
    found = {name: drawn for name, drawn in pictures.items() if drawn}
    return Report("private-k2/scaling: what it costs two owners", (table,), found, (*NOTES, verdict))


def sort_cells(measured: Sequence[MeasuredCell]) -> list[MeasuredCell]:
    """By encryption, mode, variables and rows."""
    return sorted(
        measured,
        key=lambda cell: (
            str(cell.parameters["crypto"]) != "rlwe",
            MODES.index(str(cell.parameters["mode"])),
            int(cell.parameters["variables"]),
            int(cell.parameters["n"]),
        ),
    )


def row(cell: MeasuredCell) -> tuple[Entry, ...]:
    """One session."""
    numbers = cell.numbers
    keys = numbers["transfer_seconds"] + numbers["intersection_seconds"]
    return (
        *(cell.parameters[name] for name in ("crypto", "mode", "n", "variables")),
        float(numbers["seconds"]),
        float(keys),
        float(numbers["moments_seconds"]),
        float(numbers["search_seconds"]),
        float(numbers["host_cpu"] + numbers["guest_cpu"]),
        float(numbers["megabytes_to_guest"]),
        float(numbers["megabytes_to_host"]),
        float(numbers["ands"]) / 1e6,
        int(numbers["rounds"]),
        round(max(numbers["host_memory"], numbers["guest_memory"])),
        int(numbers["edges"]),
    )


def picture(
    measured: Sequence[MeasuredCell], along: str, fixed: str, label: str, *, logarithmic: bool
) -> str | None:
    """Seconds and MB over rows or variables, a line per encryption and mode; the other number is fixed."""
    lines: dict[str, list[MeasuredCell]] = {}
    settings: dict[str, str] = {}
    for (crypto,), cells in group(sort_cells(measured), ("crypto",)).items():
        held, some = max(
            group(cells, (fixed,)).items(), key=lambda line: len({c.parameters[along] for c in line[1]})
        )
        for (mode,), line in group(some, ("mode",)).items():
            if len(line) > 1:
                lines[f"{crypto}, {mode}"] = line
                settings[str(crypto)] = f"{crypto} {held[0]}"
    if not lines:
        return None
    panels = []
    unit = "rows" if fixed == "n" else fixed
    kinds = (("seconds", seconds), ("CPU s of both parties", cpu_seconds), ("MB both ways", megabytes))
    for heading, number in kinds:
        series = []
        for name, line in lines.items():
            points = sorted((float(cell.parameters[along]), number(cell)) for cell in line)
            series.append(Series(name, tuple(x for x, _ in points), tuple(y for _, y in points)))
        panels.append(ChartPanel(heading, tuple(series)))
    return draw_panels(
        panels,
        columns=len(panels),
        x_label=label,
        y_label="",
        title=f"Private K2 of two owners ({unit}: {', '.join(settings.values())})",
        logarithmic_x=logarithmic,
        logarithmic_y=True,
        share_y=False,
    )


def seconds(cell: MeasuredCell) -> float:
    """Seconds of a session by the clock."""
    return float(cell.numbers["seconds"])


def cpu_seconds(cell: MeasuredCell) -> float:
    """CPU seconds of both parties."""
    return float(cell.numbers["host_cpu"] + cell.numbers["guest_cpu"])


def megabytes(cell: MeasuredCell) -> float:
    """The MB that both sent."""
    return float(cell.numbers["megabytes_to_guest"] + cell.numbers["megabytes_to_host"])


@dataclass(frozen=True)
class K2Session:
    """The settings of one session; malicious ones are hidden and encrypt no columns."""

    rows: int
    variables: int
    limit: int
    mode: str
    crypto: str
    seed: int = 0
    timeout: float | None = None
    security: str = "semi-honest"


def random_rows(session: K2Session) -> NetworkRows:
    """Rows of a random network; every other column belongs to the guest."""
    network = random_network(session.seed, session.variables, PROBABILITIES)
    return sample_rows(network, session.rows, session.seed)


def run_session(session: K2Session, rows: NetworkRows) -> BothResults:
    """Write the two files, start both parties, and return what each found."""
    terms = {
        "--max-parents": session.limit,
        "--order": rows.written_order,
        "--mode": session.mode,
        "--crypto": session.crypto,
    }
    options = ["--key", "ID", "--patience", "3600", "--quiet"]
    if session.security == "malicious":
        del terms["--crypto"]
        options += ["--security", "malicious"]
    with tempfile.TemporaryDirectory() as folder:
        files = [write_owner(rows, side, Path(folder, f"{side}.csv")) for side in (0, 1)]
        return run_both(
            str(files[0]),
            str(files[1]),
            [*options, *(part for flag, value in terms.items() for part in (flag, str(value)))],
            options,
            timeout=session.timeout,
        )


def costs(both: BothResults) -> dict[str, float]:
    """Seconds by phase at the host, bytes each way, gates, rounds, CPU seconds and MB of memory of each."""
    stats = both.host.stats
    phases = MALICIOUS_PHASES if "security" in both.host.settings else PHASES
    numbers = {f"{phase}_seconds": stats[f"{phase}_seconds"] for phase in phases}
    return numbers | {
        "seconds": sum(numbers.values()),
        "megabytes_to_guest": sum(stats[f"{phase}_bytes_sent"] for phase in phases) / 1e6,
        "megabytes_to_host": sum(stats[f"{phase}_bytes_received"] for phase in phases) / 1e6,
        "ands": stats["ands"],
        "rounds": stats["rounds"],
        "host_cpu": both.host.stats["cpu_time"],
        "guest_cpu": both.guest.stats["cpu_time"],
        "host_memory": both.host.stats.get("peak_megabytes", 0.0),
        "guest_memory": both.guest.stats.get("peak_megabytes", 0.0),
    }
