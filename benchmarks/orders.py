"""Search over orders: how soon it finds a proven optimum, and its BIC beside other searches in a given time.

    python benchmarks/peers.py
    python benchmarks/orders.py [--networks alarm ...] [--seconds 60] [--full] [--quick] [--output FILE.md]

Each learner has a process and one thread of its own. Time counts from rows in memory: scoring the parent sets
is in it. Ours restart or go on until the time is up; the peers run as they come and are stopped at a limit.
All graphs are scored by our BIC on the same rows.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import peers
from problems import OPTIMA, bic, is_optimum, run_learner, sample_file, scored_sets
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note, one_thread, run_worker

PARTS = ("optimum", "bic")
SEEDS, SEEDS_PROMISED, REACH_SECONDS = 20, 19, 1.0
NETWORKS = ("alarm", "hailfinder", "hepar2", "andes", "pigs")
# Networks of hundreds of variables get more time.
LONGER = {"andes": 2.0, "pigs": 2.0}
ROWS, SEED = 10_000, 1
WARM_ROWS = 500
# Scores this close, relative to their size, are equal.
TIE = 1e-9
ENDLESS = 1_000_000_000
OURS: dict[str, dict[str, int]] = {
    "order-search": {"patience": ENDLESS},
    "obs": {"restarts": ENDLESS},
    "asobs": {"orders": ENDLESS},
    "hill-climb": {"restarts": ENDLESS},
    "tabu": {"restarts": ENDLESS},
}
ON_CANDIDATES = ("order-search", "obs", "asobs")


@dataclass(frozen=True)
class PeerSearch:
    """A peer's search: its worker and what the worker is told after the file, threads and limit."""

    name: str
    peer: str
    script: str
    more: tuple[str, ...] = ()


PEER_SEARCHES = (
    PeerSearch("pyAgrum, hill climbing", "pyagrum", "climb_pyagrum.py"),
    PeerSearch("pyAgrum, tabu", "pyagrum", "climb_pyagrum.py", ("tabu",)),
    PeerSearch("pgmpy, hill climbing and tabu", "pgmpy", "climb_pgmpy.py"),
)


@dataclass(frozen=True)
class Reached:
    """What a search came to on one network; without a BIC it did not end in time."""

    learner: str
    seconds: float
    bic: float | None = None
    edges: int = 0
    after: float | None = None
    remark: str = ""


def reach_optimum(seeds: int) -> tuple[list[list[str]], list[list[str]]]:
    """Lines and promises about order-search on problems whose optimum is known."""
    lines, judged = [], []
    for name in OPTIMA:
        note(f"{name}: order-search, {seeds} seeds")
        outcome = run_learner(
            scored_sets(name), "order-search", seeds=list(range(seeds)), limit=REACH_SECONDS
        )
        times = [time for run in outcome["runs"] if (time := time_to_optimum(name, run)) is not None]
        enough = SEEDS_PROMISED * seeds <= SEEDS * len(times)
        shown = f"{len(times)} of {seeds}"
        lines.append(
            [
                name,
                shown,
                digits(median(times)) if times else "",
                digits(max(times)) if times else "",
                digits(median(run["wall"] for run in outcome["runs"])),
            ]
        )
        promise = f"the optimum in {REACH_SECONDS:.0f} s in {SEEDS_PROMISED} of {SEEDS} seeds"
        judged.append([name, promise, shown, verdict(enough) if seeds >= SEEDS else "small run"])
    return lines, judged


def time_to_optimum(name: str, run: dict[str, Any]) -> float | None:
    """Seconds until the trace reaches the optimum; None where it does not within the time."""
    return next((t for t, _, score in run["trace"] if is_optimum(name, score) and t <= REACH_SECONDS), None)


def search_network(
    name: str, folder: Path, seconds: float, limit: float, chosen: list[str], max_parents: int | None
) -> list[Reached]:
    """Let everybody search on a sample of one network."""
    file = sample_file(folder, name, ROWS, SEED)
    found = []
    for method, options in OURS.items():
        limited = {"max_parents": max_parents} if max_parents and method in ON_CANDIDATES else {}
        plain = {"score": "bic", "penalty": 1.0, **options, **limited}
        outcome = run_learner(file, method, seeds=[SEED], limit=seconds, warm_rows=WARM_ROWS, **plain)
        run = outcome["runs"][0]
        found.append(
            Reached(
                learner=f"dagora, {method}",
                seconds=run["wall"],
                bic=bic(file, run["edges"]),
                edges=len(run["edges"]),
                after=run["trace"][-1][0],
                remark="; ".join(run["warnings"]),
            )
        )
        note(f"{name}: {method} {found[-1].bic:.1f}")
    for search in PEER_SEARCHES:
        if search.peer not in chosen:
            continue
        peer_run = run_worker(
            search.script, file, 1, limit, *search.more, peer=search.peer, limit=limit, **one_thread()
        )
        if peer_run is None:
            found.append(Reached(search.name, limit))
            note(f"{name}: {search.name}: more than {limit:.0f} s")
            continue
        edges = peer_run["edges"]
        found.append(Reached(search.name, peer_run["wall"], bic(file, edges), len(edges)))
        note(f"{name}: {search.name} {found[-1].bic:.1f}")
    return found


def rows(name: str, found: list[Reached]) -> list[list[str]]:
    """One line per learner; the difference is above zero where order-search is better."""
    best = found[0].bic or 0.0
    lines = []
    for reached in found:
        if reached.bic is None:
            lines.append([name, reached.learner, "", "", "", f"> {reached.seconds:.0f}", ""])
            continue
        lines.append(
            [
                name,
                reached.learner,
                f"{reached.bic:.2f}",
                "" if reached is found[0] else f"{best - reached.bic:+.2f}",
                str(reached.edges),
                digits(reached.seconds),
                "" if reached.after is None else digits(reached.after),
            ]
        )
    return lines


def judge(name: str, found: list[Reached], seconds: float) -> list[str]:
    """Whether order-search is ahead of everybody who came to an end."""
    first, *others = found
    best = first.bic or 0.0
    nearest = max((other for other in others if other.bic is not None), key=lambda other: other.bic or 0.0)
    lead = best - (nearest.bic or 0.0)
    equal = abs(lead) <= TIE * abs(best)
    late = [other for other in others if other.bic is None]
    measured = ("equal" if equal else f"{lead:+.2f}") + f" against {nearest.learner}, the nearest"
    if late:
        names = ", ".join(other.learner for other in late)
        measured += f"; no graph in {late[0].seconds:.0f} s: {names}"
    return [
        name,
        f"in {seconds:.0f} s a better BIC than all others",
        measured,
        "equal" if equal else verdict(lead > 0),
    ]


def remarks(name: str, found: list[Reached]) -> list[str]:
    """What our learners warned of, each warning once."""
    said = dict.fromkeys(reached.remark for reached in found if reached.remark)
    return [f"- {name}: {text}." for text in said]


def bic_section(
    options: argparse.Namespace, seconds: float, limit: float
) -> tuple[list[str], list[list[str]]]:
    """The part about BIC in a given time."""
    lines, judged, said = [], [], []
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.networks:
            time = seconds * LONGER.get(name, 1.0)
            found = search_network(
                name, Path(temporary), time, max(limit, time), options.peers, options.max_parents or None
            )
            lines += rows(name, found)
            judged.append(judge(name, found, time))
            said += remarks(name, found)
    header = (
        "network",
        "learner",
        "BIC",
        "order-search is better by",
        "edges",
        "seconds",
        "last gain after s",
    )
    longer = ", ".join(f"{name} {seconds * times:.0f} s" for name, times in LONGER.items())
    parents = f"at most {options.max_parents} parents" if options.max_parents else "any size"
    text = [
        "## BIC in a given time",
        (
            f"{ROWS} rows sampled from each network (seed {SEED}). Ours use all of {seconds:.0f} s "
            f"({longer}) on one thread, or end sooner with a proof. {', '.join(ON_CANDIDATES)} search on "
            f"parent sets of {parents} and score them within that time; the others have no such limit "
            "and restart until the time is up. The peers run as they come, at most "
            f"{limit:.0f} s, or as long as ours where that is longer."
        ),
        markdown_table(header, lines),
    ]
    return ([*text, "\n".join(said)] if said else text), judged


def main() -> None:
    parser = argparse.ArgumentParser(description="Search over orders beside other searches.")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument(
        "--networks", nargs="+", default=NETWORKS, metavar="NAME", help="networks to sample from"
    )
    parser.add_argument("--peers", nargs="*", default=["pyagrum", "pgmpy"], choices=["pyagrum", "pgmpy"])
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time of each of ours (andes, pigs: twice)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds on the problems with a known optimum")
    parser.add_argument("--max-parents", type=int, default=0, help="limit of the parent sets; 0 for none")
    parser.add_argument("--full", action="store_true", help="let a peer take 1800 s instead of 120 s")
    parser.add_argument("--quick", action="store_true", help="4 seeds, 5 s per learner, peers at most 20 s")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    seeds, seconds, limit = options.seeds, options.seconds, 1800.0 if options.full else 120.0
    if options.quick:
        seeds, seconds, limit = min(seeds, 4), min(seconds, 5.0), 20.0
    if seeds < 1 or seconds <= 0 or options.max_parents < 0:
        parser.error("--seeds and --seconds must be positive, --max-parents 0 or more")
    where = machine("dagora", "numpy", "numba")
    text: list[str] = []
    judged: list[list[str]] = []
    if "optimum" in options.parts:
        lines, judged = reach_optimum(seeds)
        header = ("problem", "seeds that reach it", "median s", "slowest s", "seconds of a run")
        text += [
            "## Order search and proven optima",
            (
                f"order-search as it comes, on the published parent sets, one thread, {REACH_SECONDS:.0f} s, "
                "warm kernels. Seconds until the optimum appears in the trace, of the seeds that reach it."
            ),
            markdown_table(header, lines),
        ]
    if "bic" in options.parts:
        peers.require(options.peers)
        section, more = bic_section(options, seconds, limit)
        text += section
        judged += more
    text += [promises(judged), f"{where} {peers.pinned(options.peers)}"]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
