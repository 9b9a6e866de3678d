"""Local scores per CPU second beside the peers': BIC of all families of at most three parents.

    python benchmarks/peers.py
    python benchmarks/local_scores.py [--repeats 5] [--quick] [--output FILE.md]

The rows are alarm_1000 of the reference data (37 columns, 1000 rows: 288 859 families). Ours scores them all;
the peers a random sample of them, in the order of the enumeration, by their own function for one
family. Everybody runs in processes of their own; imports, reading and coding the rows are not timed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dagora
import peers
from dagora.api.score import make_score
from problems import scored_rows
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import note, one_thread, run_worker

MOST_PARENTS = 3
SEED = 1
TOLERANCE = 1e-6
HEADER = ("scores", "families", "CPU s", "per CPU s", "ours is × as fast")


@dataclass(frozen=True)
class Peer:
    """A peer, how many families it scores, and how many times its rate we promise."""

    name: str
    title: str
    sample: int
    times: float


PEERS = (Peer("pyagrum", "pyAgrum", 20_000, 50.0), Peer("pgmpy", "pgmpy", 2000, 1000.0))
EXPLANATION = (
    "BIC of all families of at most {most} parents on alarm_1000 (37 columns, 1000 rows), one thread; median "
    "(range) of {repeats} runs. Ours: all families in blocks of one size, statistics included. Candidates: "
    '`dagora.candidates(table, score="bic", max_parents={most})`, which need not score what its rules cut, '
    "and sorts what it keeps ({kept} sets). Peers: a random sample of the families; on these the scores "
    "differ from ours by at most {gap:.0e}."
)


def draw(columns: int, size: int) -> list[tuple[int, tuple[int, ...]]]:
    """A random sample of all families, in the order of the enumeration: child by child, small sets first."""
    counts = [math.comb(columns - 1, k) for k in range(MOST_PARENTS + 1)]
    total = sum(counts)
    chosen = np.random.default_rng(SEED).choice(columns * total, size, replace=False)
    wanted = {child: set() for child in range(columns)}
    for number in np.sort(chosen).tolist():
        wanted[number // total].add(number % total)
    found = []
    for child, numbers in wanted.items():
        others = [column for column in range(columns) if column != child]
        sets = itertools.chain.from_iterable(
            itertools.combinations(others, k) for k in range(MOST_PARENTS + 1)
        )
        found += [(child, parents) for number, parents in enumerate(sets) if number in numbers]
    return found


def measure(
    peer: Peer, table: dagora.Table, file: Path, size: int, repeats: int
) -> tuple[list[float], float]:
    """CPU seconds of each run, and the largest difference from our scores."""
    families = draw(len(table.names), size)
    named = [(table.names[child], [table.names[k] for k in parents]) for child, parents in families]
    ours = make_score(table, "bic").families(families)
    times: list[float] = []
    gap = 0.0
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job.json")
        job.write_text(json.dumps({"csv": str(file), "levels": None, "families": named, "scores": ["bic"]}))
        for repeat in range(repeats):
            outcome = run_worker(f"score_{peer.name}.py", job, peer=peer.name, **one_thread())
            assert outcome is not None
            times.append(outcome["cpu"]["bic"])
            gap = max(gap, float(np.abs(np.array(outcome["bic"]) - ours).max()))
            note(f"{peer.title}, run {repeat + 1} of {repeats}: {times[-1]:.2f} s")
    return times, gap


def line(what: str, families: int, times: list[float], ours: float) -> list[str]:
    """One line of the table; `ours` is our rate."""
    rate = families / median(times)
    return [what, f"{families}", seconds(times), f"{rate:,.0f}", digits(ours / rate)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Local scores per CPU second beside pyAgrum's and pgmpy's.")
    parser.add_argument(
        "--peers", nargs="*", default=[peer.name for peer in PEERS], choices=["pyagrum", "pgmpy"]
    )
    parser.add_argument("--repeats", type=int, default=5, help="runs of each")
    parser.add_argument("--quick", action="store_true", help="one run each, a tenth of the sample")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    if repeats < 1:
        parser.error("--repeats must be at least 1")
    peers.require(options.peers)
    where = machine("dagora", "numpy", "numba")
    table = dagora.read_table(scored_rows("alarm_1000"))
    lines: list[list[str]] = []
    judged: list[list[str]] = []
    gap = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        dagora.write_table(table, file)
        note("ours")
        ours: dict[str, Any] | None = run_worker(
            "rate_dagora.py", file, MOST_PARENTS, repeats, **one_thread()
        )
        assert ours is not None
        total = ours["scores"]
        rate = total / median(ours["scoring"])
        lines.append(line("dagora", total, ours["scoring"], rate))
        lines.append(line("dagora, candidates", total, ours["pruning"], rate))
        for peer in PEERS:
            if peer.name not in options.peers:
                continue
            size = peer.sample // 10 if options.quick else peer.sample
            times, differs = measure(peer, table, file, size, repeats)
            lines.append(line(peer.title, size, times, rate))
            ratio = rate * median(times) / size
            promise = f"at least {peer.times:.0f} × {peer.title}'s scores per CPU second"
            judged.append(["alarm_1000", promise, f"{digits(ratio)} ×", verdict(ratio >= peer.times)])
            gap = max(gap, differs)
    if options.peers:
        measured = f"at most {gap:.0e} apart"
        judged.append(["alarm_1000", "the same scores", measured, verdict(gap < TOLERANCE)])
    text = [
        "## Local scores",
        EXPLANATION.format(most=MOST_PARENTS, repeats=repeats, kept=ours["kept"], gap=gap),
        markdown_table(HEADER, lines),
        *([promises(judged)] if judged else []),
        f"{where} {peers.pinned(options.peers)}",
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
