"""Columns of two owners: what private K2 costs, in seconds, bytes and memory of either party.

    python benchmarks/private.py [--parts rates rows million paillier wide levels tables malicious]
                                 [--repeats 5] [--tables 100] [--limit 3600] [--small] [--output FILE.md]

rates garbles and evaluates in this process, one thread; all other parts are two real processes with
certificates on a TLS connection of this machine, as `dagora private simulate` starts them, and the graph of
each is compared with that of K2 on the joined rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import dagora
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork
from dagora.network.sample import sample_network
from dagora.papers.private_k2.central import k2_graph
from dagora.papers.private_k2.networks import RANDOM_PARENTS, NetworkRows
from dagora.papers.private_k2.scaling import K2Session, costs, random_rows, run_session
from dagora.parties.crypto.garbling.half_gates import evaluate, garble
from dagora.parties.vertical.log_factorial import BitWidths
from dagora.parties.vertical.score_circuits import log_factorial_circuit
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note, one_thread

PARTS = ("rates", "rows", "million", "paillier", "wide", "levels", "tables", "malicious")
VARIABLES, LIMIT, SEED = 20, 3, 1
GARBLING_RATE, EVALUATION_RATE = 10e6, 15e6

Section = tuple[list[str], list[list[str]]]


@dataclass(frozen=True)
class Promise:
    """What a session may cost; the graph must always be the central one."""

    seconds: float | None = None
    gigabytes: float | None = None
    memory: float | None = None  # GB of either party

    def judge(self, numbers: dict[str, float], *, same: bool) -> list[tuple[str, str, bool]]:
        """Promises, what was measured, and whether they were kept."""
        lines = [("the graph of central K2", "the same" if same else "another", same)]
        if self.seconds is not None:
            taken = numbers["seconds"]
            lines.append(
                (f"≤ {self.seconds:.0f} s, keys included", f"{digits(taken)} s", taken <= self.seconds)
            )
        if self.gigabytes is not None:
            sent = (numbers["megabytes_to_guest"] + numbers["megabytes_to_host"]) / 1e3
            lines.append((f"≤ {self.gigabytes:g} GB sent", f"{digits(sent)} GB", sent <= self.gigabytes))
        if self.memory is not None:
            held = max(numbers["host_memory"], numbers["guest_memory"]) / 1e3
            lines.append(
                (f"≤ {self.memory:g} GB memory per party", f"{digits(held)} GB", held <= self.memory)
            )
        return lines


def rates_section(options: argparse.Namespace) -> Section:
    """AND gates per second and core, on the circuit that most of a search consists of."""
    instances = 50 if options.small else 2000
    circuit = log_factorial_circuit(BitWidths(100_000, LIMIT, "f"))
    gates = circuit.n_and * instances
    note(f"garbling and evaluating {gates} AND gates")
    rng = np.random.default_rng(SEED)
    delta = rng.integers(0, 1 << 63, 2, dtype=np.uint64) | np.uint64(1)
    zeros = rng.integers(0, 1 << 63, (circuit.n_inputs, instances, 2), dtype=np.uint64)
    garble(circuit, zeros[:, :2], delta, 0)
    times: dict[str, list[float]] = {"garbling": [], "evaluation": []}
    for _ in range(options.repeats):
        begun = time.process_time()
        _, tables = garble(circuit, zeros, delta, 0)
        times["garbling"].append(time.process_time() - begun)
        begun = time.process_time()
        evaluate(circuit, zeros, tables, 0)
        times["evaluation"].append(time.process_time() - begun)
    lines, judged = [], []
    for name, promised in (("garbling", GARBLING_RATE), ("evaluation", EVALUATION_RATE)):
        usual, best = gates / median(times[name]), gates / min(times[name])
        lines.append([name, str(gates), digits(usual / 1e6), digits(best / 1e6)])
        kept = "small run" if options.small else verdict(best >= promised)
        judged.append([name, f"≥ {promised / 1e6:.0f} M AND/s per core", f"{digits(best / 1e6)} M/s", kept])
    text = (
        f"ln x! for {instances} numbers at once ({circuit.n_and} AND gates each), one thread, CPU time of "
        f"{options.repeats} repeats; 32 bytes per gate."
    )
    table = markdown_table(("", "AND gates", "M AND/s, median", "M AND/s, best"), lines)
    return ["### Garbled circuits", text, table], judged


HEADER = (
    "variables", "n", "mode", "encryption", "seconds", "keys", "moments", "search", "CPU s",
    "MB to guest",
    "MB to host", "M AND", "rounds", "host GB", "guest GB", "graph",
)  # fmt: skip


def session_lines(
    options: argparse.Namespace,
    settings: list[K2Session],
    promise: Promise,
    *,
    promised_modes: tuple[str, ...],
) -> tuple[list[list[str]], list[list[str]]]:
    """Run sessions one after the other; promises are of some modes."""
    lines, judged = [], []
    for session in settings:
        about = f"{session.variables} variables, {session.rows} rows, {session.mode}, {session.crypto}"
        note(about)
        rows = random_rows(session)
        both = run_session(session, rows)
        numbers = costs(both)
        central = k2_graph(rows.bits, rows.truth.nodes, rows.order, session.limit, "f")
        same = set(central.edges) == set(both.host.graph.edges)
        keys = numbers["transfer_seconds"] + numbers["intersection_seconds"]
        shown = [numbers["seconds"], keys, numbers["moments_seconds"], numbers["search_seconds"]]
        shown += [numbers["host_cpu"] + numbers["guest_cpu"]]
        shown += [numbers["megabytes_to_guest"], numbers["megabytes_to_host"], numbers["ands"] / 1e6]
        lines.append(
            [
                str(session.variables),
                str(session.rows),
                session.mode,
                session.crypto,
                *map(digits, shown),
                f"{numbers['rounds']:.0f}",
                digits(numbers["host_memory"] / 1e3),
                digits(numbers["guest_memory"] / 1e3),
                f"central K2's, {len(central.edges)} edges" if same else "ANOTHER",
            ]
        )
        wanted = promise if session.mode in promised_modes else Promise()
        judged += [
            [about, what, got, "small run" if options.small else verdict(kept)]
            for what, got, kept in wanted.judge(numbers, same=same)
        ]
    return lines, judged


def both_modes(
    options: argparse.Namespace, rows: int, variables: int, crypto: str = "rlwe"
) -> list[K2Session]:
    """The same in hidden and in adaptive mode."""
    return [
        K2Session(rows, variables, LIMIT, mode, crypto, SEED, options.limit)
        for mode in ("hidden", "adaptive")
    ]


def rows_section(options: argparse.Namespace) -> Section:
    """10 + 10 variables, 10^5 rows."""
    rows, variables = (300, 6) if options.small else (100_000, VARIABLES)
    promise = Promise(seconds=60.0, gigabytes=1.5)
    lines, judged = session_lines(
        options, both_modes(options, rows, variables), promise, promised_modes=("hidden", "adaptive")
    )
    return ["### A hundred thousand rows", markdown_table(HEADER, lines)], judged


def million_section(options: argparse.Namespace) -> Section:
    """10 + 10 variables, 10^6 rows."""
    rows, variables = (5000, 6) if options.small else (1_000_000, VARIABLES)
    promise = Promise(seconds=600.0, memory=4.0)
    settings = both_modes(options, rows, variables)[: 1 if options.small else 2]
    lines, judged = session_lines(options, settings, promise, promised_modes=("hidden", "adaptive"))
    return ["### A million rows", markdown_table(HEADER, lines)], judged


def paillier_section(options: argparse.Namespace) -> Section:
    """The encryption that the paper names as an example."""
    rows, variables = (20, 4) if options.small else (1000, VARIABLES)
    settings = both_modes(options, rows, variables, "paillier")[::-1][:1]
    lines, judged = session_lines(
        options, settings, Promise(seconds=600.0), promised_modes=("hidden", "adaptive")
    )
    heading = "### Paillier's encryption, the paper's example, in adaptive mode, and what it reveals"
    return [heading, markdown_table(HEADER, lines)], judged


def wide_section(options: argparse.Namespace) -> Section:
    """20 + 20 variables."""
    rows, variables = (100, 8) if options.small else (10_000, 2 * VARIABLES)
    settings = both_modes(options, rows, variables)[:1]
    lines, judged = session_lines(options, settings, Promise(memory=4.0), promised_modes=("hidden",))
    return ["### Twenty variables each", markdown_table(HEADER, lines)], judged


def leveled_network(seed: int, levels: Sequence[int]) -> DiscreteNetwork:
    """Variables with so many levels and up to three parents each, no probability near 0."""
    rng = np.random.default_rng(seed)
    names = tuple(f"x{k}" for k in range(len(levels)))
    parents = [
        sorted(rng.choice(child, min(child, int(rng.integers(RANDOM_PARENTS + 1))), replace=False).tolist())
        for child in range(len(levels))
    ]
    graph = DAG.from_parents(names, parents)
    tables = {}
    for child, count in enumerate(levels):
        shape = [levels[parent] for parent in parents[child]]
        tables[names[child]] = 0.3 / count + 0.7 * rng.dirichlet(np.full(count, 0.5), size=shape or None)
    codes = {name: tuple(map(str, range(count))) for name, count in zip(names, levels, strict=True)}
    return DiscreteNetwork(graph, codes, tables)


def sampled_codes(network: DiscreteNetwork, rows: int, seed: int) -> NetworkRows:
    """Sample a network and keep all its levels."""
    table = sample_network(network, rows, seed)
    codes = np.column_stack([table.codes(k) for k in range(len(table.schema))]).astype(np.uint8)
    return NetworkRows(network.graph, codes, network.graph.order_indices)


def leveled_rows(rows: int, levels: list[int], seed: int) -> NetworkRows:
    """Rows of a random network in which no column is constant."""
    while True:
        drawn = sampled_codes(leveled_network(seed, levels), rows, seed)
        if (drawn.bits.min(axis=0) < drawn.bits.max(axis=0)).all():
            return drawn
        seed += 1_000_000


def central_edges(rows: NetworkRows, limit: int) -> set[tuple[str, str]]:
    """What the library's K2 learns from the joined rows."""
    names = rows.truth.nodes
    table = Table.from_numpy(rows.bits, names=names, discrete=names)
    result = dagora.learn(table, "k2", score="k2", order=rows.written_order, max_parents=limit)
    return set(result.graph.edges)


def levels_section(options: argparse.Namespace) -> Section:
    """6 + 6 variables of two and of three levels, 10^4 rows, in hidden and in adaptive mode."""
    rows, variables = (200, 4) if options.small else (10_000, 12)
    lines, judged = [], []
    for levels, limit, seconds in ((2, 3, 15.0), (3, 2, 60.0), (4, 2, None)):
        for mode in ("hidden", "adaptive"):
            session = K2Session(rows, variables, limit, mode, "rlwe", SEED, options.limit)
            about = f"{variables} variables of {levels} levels, {rows} rows, {limit} parents, {mode}"
            note(about)
            drawn = leveled_rows(rows, [levels] * variables, SEED)
            both = run_session(session, drawn)
            numbers = costs(both)
            same = set(both.host.graph.edges) == central_edges(drawn, limit)
            sent = numbers["megabytes_to_guest"] + numbers["megabytes_to_host"]
            shown = [
                numbers["seconds"],
                numbers["host_cpu"] + numbers["guest_cpu"],
                sent,
                numbers["ands"] / 1e6,
            ]
            graph = f"central K2's, {len(both.host.graph.edges)} edges" if same else "ANOTHER"
            lines.append([str(levels), str(limit), mode, *map(digits, shown), graph])
            promise = Promise(seconds=seconds)
            judged += [
                [about, what, got, "small run" if options.small else verdict(kept)]
                for what, got, kept in promise.judge(numbers, same=same)
            ]
    header = ("levels", "parents", "mode", "seconds", "CPU s", "MB", "M AND", "graph")
    text = f"{variables} variables, half of them each, {rows} rows."
    return ["### Columns of several levels", text, markdown_table(header, lines)], judged


def tables_section(options: argparse.Namespace) -> Section:
    """Random tables of 2 to 4 levels, two real processes for each, in hidden mode."""
    number = 3 if options.small else options.tables
    equal = edges = 0
    for seed in range(number):
        rng = np.random.default_rng(seed)
        levels = rng.integers(2, 5, int(rng.integers(3, 7))).tolist()
        rows, limit = int(rng.choice([30, 100, 300, 1000, 2000])), int(rng.integers(1, 3))
        note(f"table {seed}: levels {levels}, {rows} rows, {limit} parents")
        drawn = leveled_rows(rows, levels, seed)
        both = run_session(K2Session(rows, len(levels), limit, "hidden", "rlwe", seed, options.limit), drawn)
        found = set(both.host.graph.edges)
        equal += found == central_edges(drawn, limit)
        edges += len(found)
    text = (
        f"{number} random tables of 3 to 6 columns with 2 to 4 levels and 30 to 2000 rows, at most 1 or 2 "
        "parents: "
        f"{equal} graphs equal that of K2 on the joined rows ({edges} edges in all)."
    )
    kept = "small run" if options.small else verdict(equal == number)
    judged = [[f"{number} random tables", "the graph of central K2 in each", f"in {equal}", kept]]
    return ["### Random tables of 2 to 4 levels", text], judged


def malicious_section(options: argparse.Namespace) -> Section:
    """6 + 6 variables, 10^4 rows, against a party that cheats: two garbled runs, and rows counted in them."""
    rows, variables = (100, 4) if options.small else (10_000, 12)
    lines, judged = [], []
    for security in ("semi-honest", "malicious"):
        session = K2Session(rows, variables, LIMIT, "hidden", "rlwe", SEED, options.limit, security)
        about = f"{variables} variables, {rows} rows, {security}"
        note(about)
        drawn = random_rows(session)
        both = run_session(session, drawn)
        numbers = costs(both)
        same = set(both.host.graph.edges) == central_edges(drawn, LIMIT)
        shown = [numbers["seconds"], numbers["host_cpu"], numbers["guest_cpu"]]
        shown += [numbers["megabytes_to_guest"], numbers["megabytes_to_host"], numbers["ands"] / 1e6]
        shown += [numbers["host_memory"] / 1e3, numbers["guest_memory"] / 1e3]
        graph = f"central K2's, {len(both.host.graph.edges)} edges" if same else "ANOTHER"
        lines.append([security, *map(digits, shown), graph])
        promise = Promise(seconds=600.0, memory=2.0) if security == "malicious" else Promise()
        judged += [
            [about, what, got, "small run" if options.small else verdict(kept)]
            for what, got, kept in promise.judge(numbers, same=same)
        ]
    header = ("security", "seconds", "host CPU s", "guest CPU s", "MB to guest", "MB to host", "M AND")
    text = f"{variables} variables, half of them each, {rows} rows, at most {LIMIT} parents, hidden mode."
    table = markdown_table((*header, "host GB", "guest GB", "graph"), lines)
    return ["### Against a party that cheats", text, table], judged


TEXT = (
    "Two processes on a TLS connection of this machine, half of the variables each, all keys common, at most "
    f"{LIMIT} parents, score f; random networks. Seconds are the host's, from the agreement to the result: "
    "base transfers and the intersection of keys (“keys”), shares of moments, and the search; reading files "
    "and starting Python are not in them. CPU seconds are of both; GB of memory are high-water marks."
)

SECTIONS: dict[str, Callable[[argparse.Namespace], Section]] = {
    "rates": rates_section,
    "rows": rows_section,
    "million": million_section,
    "paillier": paillier_section,
    "wide": wide_section,
    "levels": levels_section,
    "tables": tables_section,
    "malicious": malicious_section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Private K2 between two owners.")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--repeats", type=int, default=5, help="of garbling and evaluating")
    parser.add_argument("--tables", type=int, default=100, help="random tables of the part of this name")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds that a session may take")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.repeats < 1 or options.tables < 1 or options.limit <= 0:
        parser.error("--repeats, --tables and --limit must be positive")
    os.environ.update(one_thread())
    where = machine("dagora", "numpy", "numba", "cryptography", "gmpy2")
    text, judged = ["## Columns of two owners", TEXT], []
    for part in PARTS:
        if part in options.parts:
            more, promised = SECTIONS[part](options)
            text += more
            judged += promised
    text += [promises(judged), where]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
