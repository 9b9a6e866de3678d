"""Rows spread over sites: what a secure sum costs, what learning over sites costs, and how good it is.

    python benchmarks/federated.py [--parts secure-sum round-trip alarm notears admm] [--runs 30]
                                   [--limit 600] [--output FILE.md]

secure-sum and notears run in memory with the masks and messages of a real run; round-trip and alarm are real
processes with certificates on TLS connections, all on this machine; admm adds in the clear, as the published
code does (masks change nothing but time).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import federated_sums
from dagora.api.learn_federated import learn_federated
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.result import Result
from dagora.network.simulate import simulate
from problems import sample_file
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note, one_thread

PARTS = ("secure-sum", "round-trip", "alarm", "notears", "admm")
RUNS = 30
PENALTY = 0.01
SUM_MILLISECONDS, ROUND_MILLISECONDS = 50.0, 5.0
ALARM_ROWS, ALARM_CLIENTS, ALARM_SECONDS = 10_000, 8, 60.0
SITES, ROWS = 64, 256
NOTEARS_SHD = {20: 0.5, 50: 2.0}
ADMM_SECONDS, ADMM_TPR, ADMM_SITES = 5.0, 0.78, (8, 64)

Section = tuple[list[str], list[list[str]]]
Learner = Callable[[dict[str, Table], DAG], Result]


@dataclass(frozen=True)
class Found:
    """One run: how far from the truth, and how long it took."""

    shd: float
    tpr: float
    seconds: float
    rounds: float


def sum_section(options: argparse.Namespace) -> Section:
    """CPU of a client and of the coordinator per sum."""
    sites, columns = (8, 20) if options.small else (SITES, 100)
    note(f"secure sums over {sites} sites")
    cost = federated_sums.cost_of_sums(sites, columns * (columns + 3) // 2, rounds=options.rounds)
    header = (
        "sites", "values", "client: CPU ms per sum", "client: set-up", "coordinator: CPU ms per sum",
        "KB from a client per sum",
    )  # fmt: skip
    row = [str(sites), str(cost.values)]
    row += map(digits, (cost.client, cost.set_up, cost.coordinator, cost.kilobytes))
    text = (
        f"All first and second moments of {columns} columns in one vector, {options.rounds} sums, median. "
        "Set-up (checking everyone's signatures, agreeing on keys) comes once."
    )
    shown = f"{digits(cost.client)} ms"
    kept = "small run" if options.small else verdict(cost.client <= SUM_MILLISECONDS)
    promise = f"≤ {SUM_MILLISECONDS:.0f} ms CPU per client and sum"
    return ["### Secure sums", text, markdown_table(header, [row])], [
        [f"{sites} sites, {columns} columns", promise, shown, kept]
    ]


def round_section(options: argparse.Namespace) -> Section:
    """What the network adds to a sum."""
    sites = 3 if options.small else ALARM_CLIENTS
    note(f"round trips with {sites} processes")
    tls = federated_sums.seconds_per_sum_over_tls(sites, options.rounds)
    memory = federated_sums.seconds_per_sum_in_memory(sites, options.rounds)
    rows = [
        [name, str(sites), digits(1e3 * median(times)), digits(1e3 * sorted(times)[len(times) * 9 // 10])]
        for name, times in (("processes, TLS", tls), ("threads, in memory", memory))
    ]
    # A sum is a question and an answer: one round trip.
    extra = 1e3 * (median(tls) - median(memory))
    kept = "small run" if options.small else verdict(extra <= ROUND_MILLISECONDS)
    text = (
        f"One number per site, {options.rounds} sums; a sum takes one round trip. All processes share the "
        "cores of this machine, so that the difference is what sockets, TLS, switching and logs on disk cost."
    )
    table = markdown_table(("parties", "sites", "ms per sum", "90 %"), rows)
    promise = f"≤ {ROUND_MILLISECONDS:.0f} ms more per round trip than in memory"
    return ["### Round trips", text, table], [[f"{sites} clients", promise, f"{digits(extra)} ms", kept]]


def run_command(*arguments: object, limit: float) -> tuple[dict[str, Any] | None, float]:
    """A `dagora` command's JSON object and its wall seconds; None where it passed the limit."""
    begun = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dagora", *map(str, arguments), "--json", "--quiet"],
            capture_output=True,
            text=True,
            env={**os.environ, **one_thread()},
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, limit
    if done.returncode:
        sys.exit(f"dagora {' '.join(map(str, arguments))} failed: {done.stderr.strip()}")
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome, time.perf_counter() - begun


def same_network(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Whether two results are the same graph, or at least equally good."""
    if one["edges"] == other["edges"]:
        return "identical"
    if abs(one["score"] - other["score"]) < 1e-6:
        return "another graph of the same score"
    return "different"


def alarm_section(options: argparse.Namespace) -> Section:
    """Real processes over TLS on samples of alarm."""
    rows, clients = (500, 3) if options.small else (ALARM_ROWS, ALARM_CLIENTS)
    jobs: list[tuple[object, ...]] = [("hill-climb",)]
    if not options.small:
        jobs.append(("order-search", "--max-parents", 2, "--time-limit", 60))
        jobs.append(("ilp", "--max-parents", 2))
    lines, judged = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = sample_file(Path(folder), "alarm", rows, 1)
        for method, *flags in jobs:
            note(f"alarm, {method}")
            chosen = ("--method", method, "--score", "bic", *flags)
            central, alone = run_command("learn", file, *chosen, limit=options.limit)
            line = ("federate", "simulate", file, "--parties", clients, *chosen)
            over, wall = run_command(*line, limit=options.limit)
            if over is None or central is None:
                late = f"> {options.limit:.0f}"
                lines.append([str(method), str(clients), late, digits(alone), *[""] * 5])
                continue
            sent = sum(value for key, value in over["stats"].items() if key.startswith("bytes_")) / 1e6
            same = same_network(over, central)
            lines.append(
                [
                    str(method),
                    str(clients),
                    digits(wall),
                    digits(alone),
                    digits(over["seconds"]),
                    f"{over['stats']['rounds']:.0f}",
                    digits(sent),
                    f"{over['score']:.2f}",
                    same,
                ]
            )
            if method == "hill-climb":
                kept = verdict(wall <= ALARM_SECONDS and same == "identical")
                promise = f"the pooled result in {ALARM_SECONDS:.0f} s"
                shown = f"{same}, {digits(wall)} s"
                judged.append(
                    [f"alarm, {clients} clients", promise, shown, "small run" if options.small else kept]
                )
    header = (
        "method", "clients", "wall s", "wall s, pooled", "learning s", "questions", "MB, all clients", "BIC",
        "against the pooled result",
    )  # fmt: skip
    text = (
        f"`dagora federate simulate` on {rows} rows of alarm: {clients} clients and a coordinator, processes "
        "on TLS connections. Wall seconds include starting all of them and making certificates; learning "
        "seconds begin when the sites are there."
    )
    return ["### Learning over processes", text, markdown_table(header, lines)], judged


def repeat(size: int, sites: int, rows: int, runs: int, learn: Learner) -> list[Found]:
    """Runs on models drawn anew: one edge per column on average, weights on ±[0.5, 2], noise N(0, 1)."""
    found = []
    for seed in range(1, runs + 1):
        truth = random_dag("er", size, 1, seed)
        table = simulate(truth, "gaussian", rows, seed + 1000).table
        parts = {f"site{k:02d}": part for k, part in enumerate(split_rows(table, sites))}
        begun = time.perf_counter()
        result = learn(parts, truth)
        seconds = time.perf_counter() - begun
        comparison = compare(result.graph, truth)
        found.append(
            Found(comparison.shd, comparison.dag.tpr, seconds, float(result.stats.get("rounds", 0.0)))
        )
    return found


def plus_minus(values: Sequence[float]) -> str:
    """Mean and standard error."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{mean(values):.2f} ± {error:.2f}"


def found_row(*labels: object, found: list[Found]) -> list[str]:
    """One line of a table."""
    rounds = [one.rounds for one in found]
    return [
        *map(str, labels),
        str(len(found)),
        plus_minus([one.shd for one in found]),
        plus_minus([one.tpr for one in found]),
        digits(median(one.seconds for one in found)),
        f"{median(rounds):.0f}" if any(rounds) else "",
    ]


def secure_notears(parts: dict[str, Table], _truth: DAG) -> Result:
    """NOTEARS on the moments of all rows, which nobody has seen."""
    return learn_federated(parts, "notears", lambda1=PENALTY)


def notears_section(options: argparse.Namespace) -> Section:
    """NOTEARS on moments that were summed secretly."""
    lines, judged = [], []
    for size, limit in NOTEARS_SHD.items():
        sites, runs = (4, 2) if options.small else (SITES, options.runs)
        note(f"notears over secure sums, d = {size}, {runs} runs")
        found = repeat(size, sites, ROWS, runs, secure_notears)
        lines.append(found_row(size, sites, ROWS, found=found))
        reached = mean(one.shd for one in found)
        kept = "small run" if options.small or runs < 10 else verdict(reached <= limit)
        judged.append(
            [f"notears, d = {size}, {sites} sites", f"mean SHD ≤ {limit:g}", f"{reached:.2f}", kept]
        )
    text = (
        f"notears with λ = {PENALTY} on linear models with one edge per column on average; {ROWS} rows in "
        "all. SHD and TPR: mean ± standard error. Sums are secret, in memory; the seconds include all masks."
    )
    header = ("d", "sites", "rows", "runs", "SHD", "TPR", "seconds", "questions")
    return ["### NOTEARS over secure sums", text, markdown_table(header, lines)], judged


def in_the_clear(method: str) -> Learner:
    """A method over sites whose answers are added in the clear."""

    def learn(parts: dict[str, Table], truth: DAG) -> Result:
        settings = {"truth": truth} if method == "best" else {}
        return learn_federated(parts, method, secure=False, lambda1=PENALTY, **settings)

    return learn


def admm_section(options: argparse.Namespace) -> Section:
    """ADMM beside what sites can do without each other."""
    lines, judged = [], []
    size, rows = (6, 96) if options.small else (20, ROWS)
    methods = ("admm", "vote", "average", "best")
    for sites in (3,) if options.small else ADMM_SITES:
        by_method: dict[str, list[Found]] = {}
        for method in methods:
            note(f"{method}, {sites} sites")
            runs = 2 if options.small else options.runs
            by_method[method] = repeat(size, sites, rows, runs, in_the_clear(method))
            lines.append(found_row(method, size, sites, rows, found=by_method[method]))
        means = {method: mean(one.shd for one in found) for method, found in by_method.items()}
        others = min(means[method] for method in methods[1:])
        shown = ", ".join(f"{method} {means[method]:.2f}" for method in methods)
        problem = f"admm, d = {size}, {sites} sites"
        promised = [("mean SHD below vote, average and best", shown, means["admm"] < others)]
        if sites == SITES:
            tpr = mean(one.tpr for one in by_method["admm"])
            usual = median(one.seconds for one in by_method["admm"])
            promised.append((f"mean TPR ≥ {ADMM_TPR}", f"{tpr:.3f}", tpr >= ADMM_TPR))
            promised.append((f"≤ {ADMM_SECONDS:.0f} s", f"{digits(usual)} s", usual <= ADMM_SECONDS))
        small = options.small or options.runs < RUNS
        judged += [
            [problem, what, got, "small run" if small else verdict(kept)] for what, got, kept in promised
        ]
    text = (
        f"λ = {PENALTY}, threshold 0.3, answers added in the clear. vote, average and best: each site learns "
        "NOTEARS alone; best is chosen by the truth, which nobody has. Seconds are of all sites one after "
        "the other in one process, median."
    )
    header = ("method", "d", "sites", "rows", "runs", "SHD", "TPR", "seconds", "rounds")
    return ["### ADMM and baselines", text, markdown_table(header, lines)], judged


SECTIONS: dict[str, Callable[[argparse.Namespace], Section]] = {
    "secure-sum": sum_section,
    "round-trip": round_section,
    "alarm": alarm_section,
    "notears": notears_section,
    "admm": admm_section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Learning over sites that keep their rows.")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--runs", type=int, default=RUNS, help="models of each size")
    parser.add_argument("--rounds", type=int, default=50, help="sums of secure-sum and round-trip")
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds that a run over processes may take"
    )
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.runs < 1 or options.rounds < 5 or options.limit <= 0:
        parser.error("--runs and --limit must be positive, --rounds at least 5")
    where = machine("dagora", "numpy", "numba", "cryptography")
    text, judged = ["## Rows spread over sites"], []
    for part in PARTS:
        if part in options.parts:
            more, promised = SECTIONS[part](options)
            text += more
            judged += promised
    text += [promises(judged), where]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
