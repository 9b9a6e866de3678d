"""One private session between two real processes on a TLS connection, measured from both sides."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from dagora.papers.private_k2.networks import Drawn, random_network, sampled, write_owner
from dagora.parties.processes.simulation import BothResults, run_both

# Not close to 0 or 1, so that no column is constant on few rows: private K2 needs two levels in each.
PROBABILITIES = (0.2, 0.8)
PHASES = ("agreement", "transfer", "intersection", "moments", "search", "result")
MALICIOUS_PHASES = ("agreement", "rows", "transfer", "search")


@dataclass(frozen=True)
class Session:
    """The settings of one session; malicious ones are hidden and encrypt no columns."""

    rows: int
    variables: int
    limit: int
    mode: str
    crypto: str
    seed: int = 0
    timeout: float | None = None
    security: str = "semi-honest"


def random_rows(session: Session) -> Drawn:
    """Rows of a random network; every other column belongs to the guest."""
    network = random_network(session.seed, session.variables, PROBABILITIES)
    return sampled(network, session.rows, session.seed)


def run_session(session: Session, rows: Drawn) -> BothResults:
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
