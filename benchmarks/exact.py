"""Proven optima: seconds to a network and the proof that none is better.

    python benchmarks/exact.py [--parts given raw large wide others] [--repeats 3] [--quick]
                               [--limit 120] [--output FILE.md]

`given`: from parent sets with a published optimum. `raw`: the same problems from their rows, without any
limit on the number of parents. `large`: 10 000 rows, at most three parents. `wide`: 1000 rows of 70 and 74
columns, at most three parents. `others`: further samples of the same networks. Promises are in CPU seconds.
One thread; each line is a process of its own, with an untimed run before the timed ones so that the kernels
are there (on 500 rows where the problem is large).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import dagora
from dagora.learners.candidates.jkl import read_jkl
from problems import OPTIMA, is_optimum, run_learner, sample_file, scored_rows, scored_sets
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import note

PARTS = ("given", "raw", "large", "wide", "others")
GIVEN_SECONDS = 1.0
RAW_SECONDS = {"alarm_1000": 10.0, "water_500c": 2.0}
LARGE_ROWS, LARGE_PARENTS, LARGE_SEED = 10_000, 3, 1
LARGE_SECONDS = {"alarm": 10.0, "hailfinder": 8.0}
WIDE_ROWS = 1000
WIDE_SECONDS = {"hepar2": 600.0, "win95pts": 600.0}
OTHERS = {"alarm": 1000, "water": 500}
OTHER_SEEDS = (2, 3)
# Published scores have six decimals.
TOLERANCE = 1e-6
WARM_ROWS = 500
HEADER = (
    "from", "problem", "method", "status", "seconds", "CPU s", "scoring s", "proof s", "parent sets", "BIC",
    "gap", "peak MiB",
)  # fmt: skip


@dataclass
class Task:
    """A problem for one method; `target` is a promise in seconds, `optimum` names a published optimum."""

    part: str
    problem: str
    data: Path
    method: str
    target: float | None = None
    optimum: str | None = None
    once: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    peak: float = 0.0

    def measure(self, repeats: int, limit: float) -> None:
        """Run it, with a limit that lets it end with the best found."""
        note(f"{self.part}, {self.problem}: {self.method}")
        outcome = run_learner(
            self.data,
            self.method,
            seeds=[1] * (1 if self.once else repeats),
            limit=limit,
            warm_rows=WARM_ROWS if self.once else None,
            **self.options,
        )
        self.runs, self.peak = outcome["runs"], outcome["peak"]
        note(f"  {self.status} after {self.wall:.2f} s: {self.runs[0]['message']}")

    @property
    def wall(self) -> float:
        return median(run["wall"] for run in self.runs)

    @property
    def cpu(self) -> float:
        return median(run["cpu"] for run in self.runs)

    @property
    def status(self) -> str:
        """How the runs ended: `optimal` only where all of them did."""
        return next((ended for run in self.runs if (ended := ending(run)) != "optimal"), "optimal")

    @property
    def score(self) -> float | None:
        score: float | None = self.runs[0]["score"]
        return score

    @property
    def message(self) -> str:
        """What the method said where it proved nothing."""
        return next((run["message"] for run in self.runs if ending(run) != "optimal"), "")

    def row(self) -> list[str]:
        """A line of the table."""
        stats = self.runs[0]["stats"]
        scoring = [run["stats"].get("scoring_seconds", 0.0) for run in self.runs]
        proving = [run["wall"] - taken for run, taken in zip(self.runs, scoring, strict=True)]
        proved = self.status == "optimal"
        return [
            self.part,
            self.problem,
            self.method,
            self.status,
            seconds([run["wall"] for run in self.runs]),
            digits(self.cpu),
            digits(median(scoring)) if any(scoring) else "",
            digits(median(proving)) if proved else "",
            f"{stats['parent_sets']:.0f}",
            "" if self.score is None else f"{self.score:.4f}",
            "" if proved or "gap" not in stats else digits(stats["gap"]),
            f"{self.peak / 2**20:.0f}",
        ]

    def verdict(self) -> list[str] | None:
        """The promise about it, where there is one: integer programming must prove every problem."""
        if self.method != "ilp":
            return None
        kept = self.status == "optimal" and (self.target is None or self.cpu <= self.target)
        promise = "proved" if self.target is None else f"proved in {self.target:.0f} CPU s"
        if self.optimum is not None:
            kept &= all(is_optimum(self.optimum, run["score"]) for run in self.runs)
            promise = f"optimum {OPTIMA[self.optimum]:.4f} {promise}"
        reached = "no network" if self.score is None else f"{self.score:.4f}"
        measured = f"{reached}, {self.status}, {digits(self.cpu)} CPU s"
        return [f"{self.problem}, {self.part}", promise, measured, verdict(kept)]


def ending(run: dict[str, Any]) -> str:
    """How a run ended; an optimum among incomplete candidates is no proof."""
    said = " ".join([run["message"], *run["warnings"]])
    return "incomplete" if run["status"] == "optimal" and "incomplete" in said else str(run["status"])


def tasks(parts: list[str], folder: Path) -> Iterator[Task]:
    """The problems of the chosen parts."""
    if "given" in parts:
        for name in OPTIMA:
            for method in ("ilp", "astar", "dynamic"):
                target = GIVEN_SECONDS if method == "ilp" else None
                yield Task("given", name, scored_sets(name), method, target, name)
    if "raw" in parts:
        for name, target in RAW_SECONDS.items():
            yield Task("raw", name, scored_rows(name), "ilp", target, name)
    if "large" in parts:
        yield from limited_tasks("large", LARGE_ROWS, LARGE_SECONDS, folder)
    if "wide" in parts:
        yield from limited_tasks("wide", WIDE_ROWS, WIDE_SECONDS, folder)
    if "others" in parts:
        for network, rows in OTHERS.items():
            for seed in OTHER_SEEDS:
                file = sample_file(folder, network, rows, seed)
                for method in ("ilp", "astar"):
                    problem = f"{network}, {rows} rows, seed {seed}"
                    yield Task("others", problem, file, method)


def limited_tasks(part: str, rows: int, targets: dict[str, float], folder: Path) -> Iterator[Task]:
    """Samples of networks that are learned once, with a limit on the number of parents."""
    for network, target in targets.items():
        file = sample_file(folder, network, rows, LARGE_SEED)
        limited = {"max_parents": LARGE_PARENTS}
        yield Task(part, f"{network}, {rows} rows", file, "ilp", target, once=True, options=limited)


def compare_candidates(name: str) -> list[str]:
    """Whether our parent sets are the published ones, and how far the scores are apart."""
    note(f"{name}: candidates beside the published ones")
    table = dagora.read_table(scored_rows(name))
    ours = dagora.candidates(table, score="bic")
    published = read_jkl(scored_sets(name))
    apart, gap, known = 0, 0.0, 0
    for child in published:
        theirs = dict(zip(child.parents, child.scores.tolist(), strict=True))
        found = ours.sets[child.child]
        own = dict(zip(found.parents, found.scores.tolist(), strict=True))
        apart += len(own.keys() ^ theirs.keys())
        known += len(theirs)
        gap = max([gap, *(abs(own[parents] - theirs[parents]) for parents in own.keys() & theirs.keys())])
    measured = f"{apart} of {known} sets differ, scores by at most {gap:.1e}"
    return [
        f"{name}, raw",
        "the published parent sets and scores",
        measured,
        verdict(not apart and gap <= TOLERANCE),
    ]


def agreements(done: list[Task]) -> list[list[str]]:
    """Whether methods that proved an optimum of one problem proved the same."""
    lines = []
    for problem in dict.fromkeys(task.problem for task in done if task.part == "others"):
        proved = [task for task in done if task.problem == problem and task.status == "optimal"]
        if len(proved) > 1:
            scores = [task.score or 0.0 for task in proved]
            gap = max(scores) - min(scores)
            methods = " and ".join(task.method for task in proved)
            kept = verdict(gap <= TOLERANCE)
            lines.append(
                [f"{problem}, others", f"{methods} prove the same optimum", f"{gap:.0e} apart", kept]
            )
    return lines


def reasons(done: list[Task]) -> list[str]:
    """Why some problems were not solved."""
    lines = [
        f"- {task.problem}, {task.part}, {task.method}: {task.message}." for task in done if task.message
    ]
    return ["\n".join(lines)] if lines else []


def explanation(repeats: int, limit: float) -> str:
    """What the columns mean."""
    return (
        f"Wall and CPU seconds, one thread, warm kernels: median (range) of {repeats} runs, of the large "
        f"problems one; a search gives up after {limit:.0f} s. given: parent sets with a published optimum; "
        f"raw: the rows behind them, no limit on parents; large: {LARGE_ROWS} rows, wide: {WIDE_ROWS} rows, "
        f"both with at most {LARGE_PARENTS} parents; others: further samples, no limit on parents. Scoring "
        "and proof are parts of the seconds."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Proven optima.")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each problem (large ones: one)")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a search gives up")
    parser.add_argument("--quick", action="store_true", help="one run each, at most 15 s, no large problems")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    parts = list(options.parts)
    repeats, limit = options.repeats, options.limit
    if options.quick:
        parts, repeats, limit = [part for part in parts if part not in {"large", "wide"}], 1, min(limit, 15.0)
    where = machine("dagora", "numpy", "numba", "pyscipopt")
    judged = [compare_candidates(name) for name in RAW_SECONDS] if "raw" in parts else []
    with tempfile.TemporaryDirectory() as temporary:
        done = list(tasks(parts, Path(temporary)))
        for task in done:
            task.measure(repeats, limit)
    judged = [line for task in done if (line := task.verdict())] + judged + agreements(done)
    text = [
        "## Proven optima",
        explanation(repeats, limit),
        markdown_table(HEADER, [task.row() for task in done]),
        *reasons(done),
        promises(judged),
        where,
    ]
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
