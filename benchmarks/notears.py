"""NOTEARS beside its peers: CPU seconds, F of the DAG after refit, SHD; then large problems and many rows.

    python benchmarks/peers.py dagma gcastle
    python benchmarks/notears.py [--parts peers large rows] [--graphs ER2 SF4] [--sizes 20 50 100]
                                 [--seeds 5] [--peers dagma gcastle] [--limit 600] [--output FILE.md]

Everybody gets the same rows, λ and threshold, a fresh process and one thread; imports, reading the rows and
loading compiled kernels are not in the seconds. Weights are judged by `dag_refit`, which shares no code with
the library: a support cut to a DAG by leaving out the weakest edges, refitted with the lasso of the same λ.
gcastle's Notears stands for the published code, which is no package; it is slow, so it only gets the sizes
of `--gcastle-sizes`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np

import peers
from dag_refit import by_variance
from linear_models import GRAPHS, PENALTY, THRESHOLD, Judged, Problem, draw_problem, judge
from notears_large import LARGE_SECONDS, MANY_ROWS, large_section, rows_section
from report import deliver, digits, machine, markdown_table, promises, seconds, verdict
from runs import note, one_thread, run_worker

PARTS = ("peers", "large", "rows")
SIZES, ROWS, SEEDS = (20, 50, 100), 1000, 5
# F_DAG that differs by less than this, relative to its size, is equal.
TIE = 1e-6
TIMES_DAGMA, TIMES_DAGMA_MEDIAN, TIMES_GCASTLE = 10.0, 20.0, 200.0
OURS, DEFAULT, VARIANCE, TRUTH = "dagora", "dagora, default", "order of variances", "truth"
CUTS = {OURS: "better", DEFAULT: "guarded"}
HEADER = (
    "graph", "d", "learner", "runs", "CPU s", "× dagora", "F_DAG", "ours is worse", "F_DAG, no threshold",
    "ours is worse", "SHD", "edges", "cut",
)  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """One learner on one problem; without a judgement it passed its limit."""

    learner: str
    cpu: float
    judged: Judged | None


def attempt(problem: Problem, learner: str, limit: float) -> Attempt:
    """Let one learner work on a problem."""
    arguments: list[object] = [
        problem.file,
        problem.file.with_suffix(f".{learner}"),
        PENALTY,
        THRESHOLD,
        limit,
    ]
    ours = learner in CUTS
    if ours:
        arguments += [1, CUTS[learner]]
    worker = f"notears_{'dagora' if ours else learner}.py"
    outcome = run_worker(worker, *arguments, peer=None if ours else learner, **one_thread())
    if outcome is None:
        note(f"  {learner}: more than {limit:.0f} CPU s")
        return Attempt(learner, math.inf, None)
    judged = judge(problem, np.load(outcome["after"]), np.load(outcome["before"]))
    note(f"  {learner}: {outcome['cpu']:.3f} CPU s, F_DAG {judged.f:.4f}, SHD {judged.shd}")
    return Attempt(learner, outcome["cpu"], judged)


def free_attempts(problem: Problem) -> list[Attempt]:
    """What needs no learner: the columns in order of variance, and the true graph."""
    weights = by_variance(problem.moments, PENALTY)
    sorted_out = np.where(np.abs(weights) < THRESHOLD, 0.0, weights)
    return [
        Attempt(VARIANCE, math.nan, judge(problem, sorted_out, weights)),
        Attempt(TRUTH, math.nan, judge(problem, problem.truth.astype(float))),
    ]


def compare_cell(
    folder: Path, kind: str, size: int, seeds: int, learners: list[str], limit: float
) -> dict[str, list[Attempt]]:
    """All learners on all problems of one kind and size, taking turns."""
    found: dict[str, list[Attempt]] = {learner: [] for learner in [*learners, VARIANCE, TRUTH]}
    for seed in range(1, seeds + 1):
        note(f"{kind}, d = {size}, seed {seed} of {seeds}")
        problem = draw_problem(folder, kind, size, ROWS, seed)
        for learner in learners:
            found[learner].append(attempt(problem, learner, limit))
        for free in free_attempts(problem):
            found[free.learner].append(free)
    return found


def worse(ours: list[Attempt], theirs: list[Attempt], *, unlimited: bool = False) -> tuple[int, int]:
    """On how many problems our F_DAG is the higher one, and on how many both are known."""
    lost = known = 0
    for mine, other in zip(ours, theirs, strict=True):
        if mine.judged is None or other.judged is None:
            continue
        pair = (
            (mine.judged.unlimited, other.judged.unlimited) if unlimited else (mine.judged.f, other.judged.f)
        )
        if pair[0] is None or pair[1] is None:
            continue
        known += 1
        lost += pair[0] > pair[1] + TIE * abs(pair[1])
    return lost, known


def middle(attempts: list[Attempt]) -> float:
    """Median CPU seconds; endless where most runs passed the limit."""
    return median(one.cpu for one in attempts)


def cpu_seconds(attempts: list[Attempt], limit: float) -> str:
    """The median with the range, as far as the limit lets us know."""
    ended = [one.cpu for one in attempts if math.isfinite(one.cpu)]
    if len(ended) == len(attempts):
        return seconds(ended)
    if math.isinf(middle(attempts)):
        return f"> {limit:.0f}"
    return f"{digits(middle(attempts))} ({digits(min(ended))}–> {limit:.0f})"


def shared_shd(ours: list[Attempt], theirs: list[Attempt]) -> tuple[float, float] | None:
    """Mean SHDs over the problems that both finished."""
    pairs = [
        (mine.judged.shd, other.judged.shd)
        for mine, other in zip(ours, theirs, strict=True)
        if mine.judged is not None and other.judged is not None
    ]
    return (mean(p[0] for p in pairs), mean(p[1] for p in pairs)) if pairs else None


def cell_rows(kind: str, size: int, found: dict[str, list[Attempt]], limit: float) -> list[list[str]]:
    """One line per learner; means are over the runs that came to an end."""
    ours = found[OURS]
    lines = []
    for learner, attempts in found.items():
        done = [one.judged for one in attempts if one.judged is not None]
        unlimited = [one.unlimited for one in done if one.unlimited is not None]
        timed, endless = not math.isnan(attempts[0].cpu), math.isinf(middle(attempts))
        ratio = (limit if endless else middle(attempts)) / middle(ours)
        lost, lost_unlimited = worse(ours, attempts), worse(ours, attempts, unlimited=True)
        other = learner != OURS
        lines.append(
            [
                kind,
                str(size),
                learner,
                f"{len(done)} of {len(attempts)}",
                cpu_seconds(attempts, limit) if timed else "",
                ("> " * endless + digits(ratio)) if timed else "",
                f"{mean(one.f for one in done):.4f}" if done else "",
                f"{lost[0]} of {lost[1]}" if other and lost[1] else "",
                f"{mean(unlimited):.4f}" if unlimited else "",
                f"{lost_unlimited[0]} of {lost_unlimited[1]}" if other and lost_unlimited[1] else "",
                f"{mean(one.shd for one in done):.1f}" if done else "",
                f"{mean(one.edges for one in done):.1f}" if done else "",
                f"{mean(one.cut for one in done):.1f}" if done else "",
            ]
        )
    return lines


def judge_cell(
    problem: str, found: dict[str, list[Attempt]], limit: float, small: bool
) -> tuple[list[list[str]], float | None]:
    """The promises about one kind and size, and how many times faster than DAGMA ours is."""
    ours = found[OURS]
    lines: list[list[str]] = []
    ratio_dagma = None
    for peer, factor in (("dagma", TIMES_DAGMA), ("gcastle", TIMES_GCASTLE)):
        if peer not in found:
            continue
        theirs = found[peer]
        endless = math.isinf(middle(theirs))
        ratio = (limit if endless else middle(theirs)) / middle(ours)
        if peer == "dagma":
            ratio_dagma = ratio
        decided = not endless or ratio >= factor
        kept = verdict(ratio >= factor) if decided else "not decided: raise --limit"
        lines.append([problem, f"{factor:.0f}× faster than {peer}", "> " * endless + digits(ratio), kept])
        lost, known = worse(ours, theirs)
        if known:
            lines.append(
                [problem, f"F_DAG never above {peer}'s", f"above on {lost} of {known}", verdict(not lost)]
            )
        shds = shared_shd(ours, theirs)
        if shds is not None:
            shown = f"{shds[0]:.1f} against {shds[1]:.1f}"
            lines.append([problem, f"mean SHD not above {peer}'s", shown, verdict(shds[0] <= shds[1])])
    return [[*line[:3], "small run"] if small else line for line in lines], ratio_dagma


def peers_section(options: argparse.Namespace) -> tuple[list[str], list[list[str]]]:
    """Lines and promises about everybody on the same problems."""
    small = options.seeds < SEEDS
    lines: list[list[str]] = []
    judged: list[list[str]] = []
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        for size in options.sizes:
            for kind in options.graphs:
                chosen = [
                    peer for peer in options.peers if peer != "gcastle" or size in options.gcastle_sizes
                ]
                found = compare_cell(
                    Path(temporary), kind, size, options.seeds, [OURS, DEFAULT, *chosen], options.limit
                )
                lines += cell_rows(kind, size, found, options.limit)
                more, ratio = judge_cell(f"{kind}, d = {size}", found, options.limit, small)
                judged += more
                ratios += [] if ratio is None else [ratio]
    if ratios:
        all_cells = set(options.sizes) >= set(SIZES) and {"ER2", "SF4"} <= set(options.graphs) and not small
        kept = verdict(median(ratios) >= TIMES_DAGMA_MEDIAN) if all_cells else "small run"
        promise = f"{TIMES_DAGMA_MEDIAN:.0f}× faster than dagma in the median"
        judged.append([f"median of {len(ratios)} lines", promise, digits(median(ratios)), kept])
    text = (
        f"{ROWS} rows of linear models with noise N(0, 1) and weights on ±[0.5, 2], {options.seeds} "
        f"seed{'s' * (options.seeds > 1)}; "
        f"λ = {PENALTY}, threshold {THRESHOLD}, least squares, one thread. CPU seconds: median (range); a "
        f"run is stopped after {options.limit:.0f} of them. F_DAG: the support after the threshold, cut to a "
        "DAG by leaving out its weakest edges (“cut” counts them), refitted with the lasso of the same λ; "
        "“no threshold”: the same from the weights before it. “ours is worse”: on how many problems our "
        f"F_DAG is higher than that line's by more than {TIE:g} of it. SHD, edges and F_DAG are means. The "
        f"peers cut all small weights at once: “{OURS}”, which the promises are about, has cut=better; "
        f"“{DEFAULT}” is the default, cut=guarded, with fewer edges. Two "
        f"lines need no learner: “{VARIANCE}” is a lasso of each column on the columns of smaller variance, "
        f"which shows how much scale alone gives away in such simulations; “{TRUTH}” is the graph "
        "the rows come from. A lower F_DAG need not be a lower SHD."
    )
    return ["## NOTEARS", text, markdown_table(HEADER, lines)], judged


def main() -> None:
    parser = argparse.ArgumentParser(description="NOTEARS beside DAGMA and gcastle.")
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument(
        "--graphs", nargs="+", default=["ER2", "SF4"], choices=list(GRAPHS), metavar="GRAPH",
        help=", ".join(GRAPHS) + " (the last: scale-free as the published simulations draw it)",
    )  # fmt: skip
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="numbers of columns")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="problems of each kind and size")
    parser.add_argument("--peers", nargs="*", default=["dagma", "gcastle"], choices=["dagma", "gcastle"])
    parser.add_argument("--gcastle-sizes", nargs="*", type=int, default=[20], help="sizes that gcastle gets")
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that a run may take")
    parser.add_argument("--large-sizes", nargs="+", type=int, default=list(LARGE_SECONDS))
    parser.add_argument("--rows", type=int, default=MANY_ROWS, help="the most rows")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.seeds < 1 or options.limit <= 0 or options.rows < 100_000 or min(options.sizes) < 2:
        parser.error("--seeds and --limit must be positive, --sizes at least 2, --rows at least 100000")
    compared = options.peers if "peers" in options.parts else []
    peers.require(compared)
    where = machine("dagora", "numpy", "numba")
    text: list[str] = []
    judged: list[list[str]] = []
    for part, section in (
        ("peers", lambda: peers_section(options)),
        ("large", lambda: large_section(options.large_sizes)),
        ("rows", lambda: rows_section(options.rows)),
    ):
        if part in options.parts:
            more, promised = section()
            text += more
            judged += promised
    if judged:
        text.append(promises(judged))
    text.append(f"{where} {peers.pinned(compared)}" if compared else where)
    deliver("\n\n".join(text), options.output)


if __name__ == "__main__":
    main()
