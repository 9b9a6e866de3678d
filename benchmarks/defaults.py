"""The default method beside the peers' searches: BIC and seconds on samples of known networks.

    python benchmarks/peers.py pyagrum
    python benchmarks/defaults.py [--networks asia ...] [--rows 1000 10000] [--seeds 5]
        [--jobs 1] [--output FILE.md]

Every sample is learned twice, with its columns as they stand in the network and shuffled. Ours is `auto` as
it comes, in one process per network and size, one thread; pyAgrum's greedy hill climbing and its local search
with a tabu list each run in a process of their own, one thread, stopped at a limit. Our own hill climbing and
tabu search, which take bnlearn's steps, are beside them. Time counts from rows in memory to a graph. All
graphs are scored by our BIC on the same rows. With --jobs that many samples are learned side by side; seconds
are then those of a busy machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

import dagora
import peers
from problems import run_learner, sample_file
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import note, one_thread, run_worker

NETWORKS = (
    "asia", "sachs", "survey", "child", "insurance", "water", "mildew", "alarm", "barley", "hailfinder",
    "hepar2", "win95pts",
)  # fmt: skip
OURS, TITLE = "auto", "## The default"
OWN = ("hill-climb", "tabu")
PEERS = {"pyAgrum greedy": (), "pyAgrum tabu": ("tabu",)}
LIMIT = 120.0
# What is promised: how far below a peer, relative to the BIC; seconds, up to so many columns; equal classes.
BELOW, SECONDS, COLUMNS, EQUAL = 1e-6, 2.0, 60, 0.98
HEADER = (
    "network",
    "columns",
    "rows",
    "seconds",
    "CPU s",
    "pyAgrum greedy, CPU s",
    "BIC above",
    "equal classes",
)


@dataclass
class Cell:
    """All samples of one network and size: seconds, our lead over each other search, equal classes."""

    columns: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peer_cpu: list[float] = field(default_factory=list)
    leads: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    equal: list[bool] = field(default_factory=list)

    def add(self, other: Cell) -> None:
        """Take in what was measured on another sample."""
        self.columns = other.columns
        self.wall += other.wall
        self.cpu += other.cpu
        self.peer_cpu += other.peer_cpu
        self.equal += other.equal
        for name, leads in other.leads.items():
            self.leads[name] += leads

    def row(self, network: str, rows: int) -> list[str]:
        """A line of the table; leads are in per cent of the BIC, the smallest and the median."""
        leads = "; ".join(
            f"{name} {100 * min(some):+.4f} to {100 * median(some):+.4f}" for name, some in self.leads.items()
        )
        peer = seconds(self.peer_cpu) if self.peer_cpu else "> limit"
        same = f"{sum(self.equal)} of {len(self.equal)}"
        return [
            network,
            str(self.columns),
            str(rows),
            seconds(self.wall),
            seconds(self.cpu),
            peer,
            leads,
            same,
        ]


def shuffled(file: Path, seed: int) -> Path:
    """The same rows with the columns in another order."""
    table = dagora.read_table(file)
    order = np.random.default_rng(seed).permutation(table.names).tolist()
    other = file.with_name(f"{file.stem}_shuffled.csv")
    dagora.write_table(table.select(order), other)
    return other


def measure(network: str, rows: int, seed: int, folder: Path) -> Cell:
    """Learn a sample of a network, columns as they stand and shuffled, by everybody."""
    cell = Cell()
    file = sample_file(folder, network, rows, seed)
    classes = []
    for data in (file, shuffled(file, seed)):
        table = dagora.read_table(data)
        cell.columns = len(table.names)
        run = run_learner(data, OURS, seeds=[0], limit=LIMIT, penalty=1.0)["runs"][0]
        cell.wall.append(run["wall"])
        cell.cpu.append(run["cpu"])
        found = dagora.DAG(table.names, run["edges"])
        classes.append(dagora.CPDAG.from_dag(found.reorder(sorted(table.names))))
        ours = dagora.score(table, found, score="bic")
        others = {name: dagora.learn(table, name, penalty=1.0).score or 0.0 for name in OWN}
        for name, words in PEERS.items():
            outcome = run_worker(
                "climb_pyagrum.py", data, 1, LIMIT, *words, peer="pyagrum", limit=LIMIT, **one_thread()
            )
            if outcome is not None:
                graph = dagora.DAG(table.names, outcome["edges"])
                others[name] = dagora.score(table, graph, score="bic")
                if not words:
                    cell.peer_cpu.append(outcome["cpu"])
        for name, other in others.items():
            cell.leads[name].append((ours - other) / abs(other))
    cell.equal.append(classes[0] == classes[1])
    return cell


def measure_all(
    networks: Sequence[str], sizes: Sequence[int], seeds: int, jobs: int, folder: Path
) -> dict[tuple[str, int], Cell]:
    """All samples of every network and size, so many side by side."""
    cells = {(network, rows): Cell() for rows in sizes for network in networks}
    with ProcessPoolExecutor(jobs) as pool:
        running = {
            pool.submit(measure, *key, seed, folder): (key, seed)
            for key in sorted(cells, key=lambda key: -key[1])
            for seed in range(1, seeds + 1)
        }
        for done in as_completed(running):
            (network, rows), seed = running[done]
            sample = done.result()
            cells[network, rows].add(sample)
            note(f"{network} {rows} {seed}: {sample.cpu[-1]:.2f} CPU s, equal classes: {sample.equal[-1]}")
    return cells


def judge(cells: dict[tuple[str, int], Cell]) -> list[list[str]]:
    """What was promised, and what came out."""
    leads = [
        (lead, name, key) for key, cell in cells.items() for name, some in cell.leads.items() for lead in some
    ]
    worst, name, key = min(leads)
    behind = sum(lead < -BELOW for lead, *_ in leads)
    where = f"{100 * worst:+.5f} % ({name}, {key[0]}, {key[1]} rows)"
    small = [second for cell in cells.values() if cell.columns <= COLUMNS for second in cell.wall]
    took = f"at most {digits(max(small))} s, median {digits(median(small))} s"
    equal = [same for cell in cells.values() for same in cell.equal]
    share = sum(equal) / len(equal)
    return [
        [
            "quality",
            f"below no search by more than {BELOW:g} of the BIC",
            f"{behind} of {len(leads)} comparisons; the worst is {where}",
            verdict(behind == 0),
        ],
        ["seconds", f"{SECONDS:g} s for up to {COLUMNS} columns", took, verdict(max(small) <= SECONDS)],
        [
            "order of columns",
            f"equal classes on {EQUAL:.0%}",
            f"{sum(equal)} of {len(equal)}",
            verdict(share >= EQUAL),
        ],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    peers.require(["pyagrum"])
    about = machine("numpy", "numba")
    with tempfile.TemporaryDirectory() as folder:
        cells = measure_all(options.networks, options.rows, options.seeds, options.jobs, Path(folder))
    samples = 2 * sum(len(cell.equal) for cell in cells.values())
    above = (
        f"{samples} samples. “BIC above” is how far the BIC of `auto` is above that of each search, in per "
        "cent of it: the least and the median over samples."
    )
    text = [
        TITLE,
        about,
        above,
        markdown_table(HEADER, [cell.row(*key) for key, cell in cells.items()]),
        promises(judge(cells)),
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
