"""Hundreds of variables: networks better than tabu search's within two minutes, and GES on 500 of them.

    python benchmarks/wide.py [--problems semeion pigs gaussian] [--seconds 100] [--quick] [--output FILE.md]

semeion is a table of 256 binary pixels, pigs a sample of a network of 441 nodes, gaussian a sample of a
random linear network of 500 nodes. Each line is a fresh process: reading the rows, imports and loading
compiled kernels count. Memory is the most the process ever held.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagora
from problems import run_learner, sample_file
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import data_file, note

SECONDS, MEMORY, THREADS = 120.0, 8e9, 2
GES_SECONDS = 60.0
# Tabu search and GES run to their end, which must come some time.
TABU_LIMIT, GES_LIMIT = 900.0, 300.0
PIGS_ROWS = 10_000
NODES, DEGREE, GAUSSIAN_ROWS = 500, 2, 2000
QUICK_NODES = 100
SEED = 1
ENDLESS = 1_000_000_000
WARM_ROWS, WARMING = 200, 5.0
PROBLEMS = ("semeion", "pigs", "gaussian")
HEADER = ("problem", "learner", "threads", "seconds", "CPU s", "peak GB", "score", "edges", "status")


@dataclass(frozen=True)
class Search:
    """A learner on one problem; `limit` is its own time limit."""

    problem: str
    title: str
    data: Path
    method: str
    limit: float
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a search came to; its seconds include reading."""

    search: Search
    seconds: float
    cpu: float
    peak: float
    score: float
    edges: list[list[str]]
    undirected: list[list[str]]
    status: str
    remarks: list[str]

    def row(self) -> list[str]:
        """A line of the table."""
        return [
            self.search.problem,
            self.search.title,
            str(THREADS),
            digits(self.seconds),
            digits(self.cpu),
            f"{self.peak / 1e9:.2f}",
            f"{self.score:.2f}",
            str(len(self.edges) + len(self.undirected)),
            self.status,
        ]


def measure(search: Search) -> Found:
    """Run a search in a fresh process, after another one has filled the cache of compiled kernels."""
    note(f"{search.problem}: {search.title}")
    common = {"threads": THREADS, **search.options}
    run_learner(search.data, search.method, seeds=[], limit=WARMING, warm_rows=WARM_ROWS, **common)
    outcome = run_learner(search.data, search.method, seeds=[SEED], limit=search.limit, warm=False, **common)
    run = outcome["runs"][0]
    found = Found(
        search=search,
        seconds=run["reading"] + run["wall"],
        cpu=run["cpu"],
        peak=outcome["peak"],
        score=run["score"],
        edges=run["edges"],
        undirected=run["undirected"],
        status=run["status"],
        remarks=run["warnings"],
    )
    note(f"  {found.score:.2f} after {found.seconds:.1f} s, {found.peak / 1e9:.2f} GB: {run['message']}")
    return found


def semeion_file(folder: Path) -> Path:
    """The pixels of the handwritten digits, without what digit it is."""
    table = dagora.read_table(data_file("tables", "semeion.csv.gz"))
    file = folder / "semeion.csv"
    dagora.write_table(table.select([name for name in table.names if name != "digit"]), file)
    return file


def discrete_searches(problem: str, file: Path, seconds: float) -> list[Search]:
    """order-search, tabu search as it comes, and with restarts for as long as order-search has."""
    options = {"score": "bic", "penalty": 1.0}
    return [
        Search(problem, "order-search", file, "order-search", seconds, {**options, "patience": ENDLESS}),
        Search(problem, "tabu", file, "tabu", TABU_LIMIT, options),
        Search(problem, "tabu with restarts", file, "tabu", seconds, {**options, "restarts": ENDLESS}),
    ]


def judge_discrete(found: list[Found], small: bool) -> list[str]:
    """Whether order-search beats plain tabu search within time and memory."""
    ours, tabu, restarted = found
    lead = ours.score - tabu.score
    kept = lead > 0 and ours.seconds <= SECONDS and ours.peak <= MEMORY
    measured = (
        f"{lead:+.2f} ({ours.score - restarted.score:+.2f} against restarts in the same time), "
        f"{digits(ours.seconds)} s, {ours.peak / 1e9:.2f} GB"
    )
    promise = f"a better BIC than tabu's in {SECONDS:.0f} s and {MEMORY / 1e9:.0f} GB, {THREADS} threads"
    return [ours.search.problem, promise, measured, "small run" if small else verdict(kept)]


def judge_ges(found: Found, small: bool) -> list[str]:
    """Whether GES came to its end in time."""
    kept = found.seconds <= GES_SECONDS and found.status == "local-optimum"
    measured = f"{found.status}, {digits(found.seconds)} s, {found.peak / 1e9:.2f} GB"
    return [
        found.search.problem,
        f"GES in {GES_SECONDS:.0f} s",
        measured,
        "small run" if small else verdict(kept),
    ]


def gaussian(folder: Path, nodes: int) -> tuple[Found, str]:
    """GES on a random linear network, and how near its class is to the true one."""
    truth = dagora.random_dag("er", nodes, DEGREE, SEED)
    file = folder / "gaussian.csv"
    table = dagora.simulate(truth, "gaussian", GAUSSIAN_ROWS, SEED).table
    dagora.write_table(table, file)
    problem = f"{nodes} Gaussian variables"
    found = measure(Search(problem, "ges", file, "ges", GES_LIMIT, {"score": "bic-gaussian", "penalty": 1.0}))
    estimate = dagora.CPDAG(truth.nodes, found.edges, found.undirected)
    distance = dagora.compare(estimate, truth).cpdag
    score = dagora.score(table, truth, score="bic-gaussian")
    return found, (
        f"The random network has {len(truth.edges)} edges and a score of {score:.2f}; GES's class is "
        f"{distance.shd} changes from the true one (TPR {distance.tpr:.3f}, FDR {distance.fdr:.3f})."
    )


def explanation(seconds: float) -> str:
    """What the columns mean."""
    return (
        f"Each line is a fresh process with {THREADS} threads; reading, imports and loading compiled kernels "
        "count. Scores are BIC. order-search and tabu with restarts have a time limit of "
        f"{seconds:.0f} s, reading not in it; tabu and GES run to their end."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Hundreds of variables.")
    parser.add_argument(
        "--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS, metavar="NAME", help=", ".join(PROBLEMS)
    )
    parser.add_argument("--seconds", type=float, default=100.0, help="time limit of order-search")
    parser.add_argument("--quick", action="store_true", help="10 s for order-search, 100 Gaussian variables")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.seconds <= 0:
        parser.error("--seconds must be positive")
    seconds = min(options.seconds, 10.0) if options.quick else options.seconds
    where = machine("dagora", "numpy", "numba")
    lines: list[Found] = []
    judged: list[list[str]] = []
    sentences: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for problem in options.problems:
            if problem == "gaussian":
                found, sentence = gaussian(folder, QUICK_NODES if options.quick else NODES)
                lines.append(found)
                judged.append(judge_ges(found, options.quick))
                sentences.append(sentence)
                continue
            file = (
                semeion_file(folder)
                if problem == "semeion"
                else sample_file(folder, problem, PIGS_ROWS, SEED)
            )
            searched = [measure(search) for search in discrete_searches(problem, file, seconds)]
            lines += searched
            judged.append(judge_discrete(searched, options.quick))
            said = dict.fromkeys(remark for found in searched for remark in found.remarks)
            sentences += [f"{problem}: {remark}." for remark in said]
    text = [
        "## Hundreds of variables",
        explanation(seconds),
        markdown_table(HEADER, [found.row() for found in lines]),
        *sentences,
        promises(judged),
        where,
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
