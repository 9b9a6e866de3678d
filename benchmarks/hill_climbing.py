"""Hill climbing with BIC beside the peers' on 10 000 rows from known networks: seconds, ratios, BIC reached.

    python benchmarks/peers.py
    python benchmarks/hill_climbing.py [--networks alarm ...] [--repeats 5] [--full] [--output FILE.md]

Every run is a process of its own. Reading the CSV file is timed apart for everybody; what is compared is the
time from rows in memory to a graph (for us that includes making the statistics). All graphs are scored by
our BIC on the same rows. A peer that takes longer than the limit is stopped and reported as "> limit".
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import dagora
import peers
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import cores, network_file, note, one_thread, run_worker

ROWS = 10_000
SEED = 1
NETWORKS = ("alarm", "hailfinder", "hepar2", "andes")
# How many times faster than each peer we promise to be, and how much worse our BIC may be.
TIMES_PYAGRUM = {"alarm": 2.0, "hailfinder": 2.0, "hepar2": 2.0, "andes": 8.0}
TIMES_PGMPY = 100.0
WORSE_PER_CENT = 0.05


TITLE = "## Hill climbing with BIC"
HEADER = (
    "network", "learner", "threads", "seconds", "CPU s", "× dagora", "BIC", "our BIC, %", "edges",
    "reading s", "peak MiB",
)  # fmt: skip


@dataclass(frozen=True)
class Learner:
    """A library in one setting; `threads` 0 is the library's own default."""

    name: str
    threads: int
    script: str
    peer: str | None = None
    once: bool = False

    @property
    def setting(self) -> str:
        return "default" if self.threads == 0 else f"{self.threads}"


@dataclass
class Measured:
    """All runs of one learner on one network; a run past the limit counts as endless."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    passed_limit: bool = False

    def times(self, clock: str) -> list[float]:
        return [run[clock] for run in self.runs] + [math.inf] * self.passed_limit

    @property
    def wall(self) -> float:
        return median(self.times("wall"))


def learners(chosen: list[str]) -> list[Learner]:
    """Ours on one thread (its default) and on all cores; pyAgrum on one and by default; pgmpy as it comes."""
    found = [Learner("dagora", 1, "climb_dagora.py")]
    if cores() > 1:
        found.append(Learner("dagora", cores(), "climb_dagora.py"))
    if "pyagrum" in chosen:
        found += [Learner("pyAgrum", threads, "climb_pyagrum.py", "pyagrum") for threads in (1, 0)]
    if "pgmpy" in chosen:
        found.append(Learner("pgmpy", 0, "climb_pgmpy.py", "pgmpy", once=True))
    return found


def measure(learner: Learner, file: Path, limit: float, measured: Measured, repeat: int) -> None:
    """Run a learner once more, unless it has passed the limit before or is run only once."""
    if measured.passed_limit or (learner.once and repeat > 0):
        return
    variables = one_thread() if learner.threads == 1 else {}
    outcome = run_worker(
        learner.script, file, learner.threads, limit, peer=learner.peer, limit=limit, **variables
    )
    if outcome is None:
        measured.passed_limit = True
        note(f"  {learner.name} ({learner.setting}): more than {limit:.0f} s")
    else:
        measured.runs.append(outcome)
        note(f"  {learner.name} ({learner.setting}): {outcome['wall']:.3f} s")


def measure_network(
    name: str, folder: Path, candidates: list[Learner], repeats: int, limit: float
) -> dict[Learner, Measured]:
    """Sample a network's table, write it, and let everybody learn from the file, taking turns."""
    file = folder / f"{name}.csv"
    dagora.write_table(dagora.sample_network(dagora.read_network(network_file(name)), ROWS, SEED), file)
    found = {learner: Measured() for learner in candidates}
    note(f"{name}: one run to fill the cache of kernels")
    run_worker("climb_dagora.py", file, 1, limit, limit=limit)
    for repeat in range(repeats):
        note(f"{name}, repeat {repeat + 1} of {repeats}")
        for learner, measured in found.items():
            measure(learner, file, limit, measured, repeat)
    # The levels are those seen in the file, for us as for the peers.
    table = dagora.read_table(file)
    for measured in found.values():
        for run in measured.runs:
            run["bic"] = dagora.score(table, dagora.DAG(table.names, run["edges"]), score="bic")
    return found


def bic_gap(ours: float, theirs: float) -> float:
    """Our BIC against another one in per cent of it; above zero ours is better."""
    return 100 * (ours - theirs) / abs(theirs)


def table_rows(name: str, found: dict[Learner, Measured], limit: float) -> list[list[str]]:
    """One line per learner."""
    ours = next(iter(found.values()))
    lines = []
    for learner, measured in found.items():
        if not math.isfinite(measured.wall):
            times = f"> {digits(limit / ours.wall)}"
            lines.append(
                [name, learner.name, learner.setting, f"> {limit:.0f}", "", times, "", "", "", "", ""]
            )
            continue
        run = measured.runs[0]
        gap = f"{bic_gap(ours.runs[0]['bic'], run['bic']):+.4f}" if measured is not ours else ""
        lines.append(
            [
                name,
                learner.name,
                learner.setting,
                seconds(measured.times("wall")),
                digits(median(measured.times("cpu"))),
                digits(measured.wall / ours.wall),
                f"{run['bic']:.1f}",
                gap,
                str(len(run["edges"])),
                digits(median(measured.times("load"))),
                f"{max(run['peak'] for run in measured.runs) / 2**20:.0f}",
            ]
        )
    return lines


def verdicts(name: str, found: dict[Learner, Measured], limit: float) -> list[list[str]]:
    """Each promise about a network, what was measured and whether it was kept."""
    ours = next(iter(found.values()))
    lines = []
    for peer, factor in (("pyAgrum", TIMES_PYAGRUM.get(name, 2.0)), ("pgmpy", TIMES_PGMPY)):
        settings = [measured for learner, measured in found.items() if learner.name == peer]
        if not settings:
            continue
        fastest = min(settings, key=lambda measured: measured.wall)
        known = math.isfinite(fastest.wall)
        ratio = (fastest.wall if known else limit) / ours.wall
        decided = known or ratio >= factor
        kept = verdict(ratio >= factor) if decided else "not decided: raise the limit (--full)"
        shown = ("" if known else "> ") + digits(ratio)
        which = " in its faster setting" if len(settings) > 1 else ""
        lines.append([name, f"{factor:.0f}× faster than {peer}{which}", shown, kept])
        if known:
            gap = bic_gap(ours.runs[0]["bic"], fastest.runs[0]["bic"])
            kept = verdict(gap >= -WORSE_PER_CENT)
            lines.append([name, f"BIC at most {WORSE_PER_CENT} % worse than {peer}'s", f"{gap:+.4f} %", kept])
    return lines


def starting_cost(name: str, folder: Path, found: dict[Learner, Measured]) -> str:
    """What a first run costs on top: kernels compiled from nothing, and kernels read from disk."""
    ours = next(iter(found.values()))
    note("compiling the kernels from nothing")
    with tempfile.TemporaryDirectory() as empty:
        cold = run_worker("climb_dagora.py", folder / f"{name}.csv", 1, 0, NUMBA_CACHE_DIR=empty)
    assert cold is not None
    compiling, stored = cold["first"] - cold["wall"], median(ours.times("first")) - ours.wall
    return (
        f"Not in the seconds above: compiling our kernels takes {digits(compiling)} s once per installation, "
        f"importing numba and reading them from disk {digits(stored)} s once per process ({name})."
    )


def explanation(repeats: int, limit: float) -> str:
    """What the columns mean."""
    return (
        f"{ROWS} rows sampled from each network (seed {SEED}). Seconds of wall time from rows in memory to a "
        f"graph: median (range) of {repeats} processes, pgmpy one; a run is stopped after {limit:.0f} s. "
        "“× dagora” is wall time against ours on one thread. “our BIC, %” is ours (one thread) against that "
        "line's, above zero where ours is better; all BICs by our score on the same rows."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Hill climbing with BIC beside pyAgrum and pgmpy.")
    parser.add_argument(
        "--networks", nargs="+", default=NETWORKS, metavar="NAME", help="networks to sample from"
    )
    parser.add_argument("--peers", nargs="*", default=["pyagrum", "pgmpy"], choices=["pyagrum", "pgmpy"])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each learner (pgmpy: one)")
    parser.add_argument("--full", action="store_true", help="let a run take 1800 s instead of 120 s")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    limit = 1800.0 if options.full else 120.0
    peers.require(options.peers)
    where = machine("dagora", "numpy", "numba")
    candidates = learners(options.peers)
    rows: list[list[str]] = []
    judged: list[list[str]] = []
    cost = ""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in options.networks:
            found = measure_network(name, folder, candidates, options.repeats, limit)
            cost = cost or starting_cost(name, folder, found)
            rows += table_rows(name, found, limit)
            judged += verdicts(name, found, limit)
    text = [TITLE, explanation(options.repeats, limit), markdown_table(HEADER, rows), cost]
    if judged:
        text.append(promises(judged))
    text.append(f"{where} {peers.pinned(options.peers)}")
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
