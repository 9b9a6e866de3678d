"""Gaussian-process scores per CPU second: Laplace and quasi-Monte-Carlo, by number of parents and of rows.

    OMP_NUM_THREADS=1 python benchmarks/gp_scores.py [--families 110 64 48 32] [--rows 1000 100000]
                                                     [--output FILE.md]

With the reference data the first table is Sachs' 853 observations (log₂(x + ½)); larger tables are simulated:
sums of sines of other columns. Times are CPU time of this process, per family, scored in one call and fitted
anew. Apart stands what is made once per table, whatever is scored afterwards: the passes over the rows for
the bases of each level, their tables, and the scan of each parent alone ("made once", in seconds, in all).
Families with several parents begin at the fits of each parent alone, found once per pair: these are in the
line of one parent. The error of a qmc score is its standard deviation over other scramblings.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

import dagora.scores.gp.sobol as sampling
from dagora.data.table import Table
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics
from report import deliver, digits, machine, markdown_table, promises, verdict

LAPLACE = {1: 3.0, 2: 10.0, 3: 25.0, 4: 50.0}
QMC = {1: 15.0, 2: 40.0, 3: 80.0, 4: 130.0}
ERROR = 0.03
SCRAMBLINGS = 6
# Families whose error is looked at.
CHECKED = 12
# Milliseconds are promised for tables of about a thousand rows, and that more rows cost little more.
PROMISED_ROWS = 1000
# Ranks grow a little with the rows, because tails are longer; a cost that grew with them would be 100 times.
GROWTH = 3.0


def sachs() -> np.ndarray | None:
    folder = Path(os.environ.get("DAGORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    file = folder / "sachs" / "sachs_observational.csv.gz"
    if not file.exists():
        return None
    return np.log2(np.genfromtxt(file, delimiter=",", skip_header=1) + 0.5)


def simulated(rows: int, columns: int = 11) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        for k in rng.choice(j, min(j, 2), replace=False):
            x[:, j] += np.sin(rng.uniform(0.5, 2) * x[:, k]) + 0.3 * x[:, k]
    return x


def draw(columns: int, parents: int, number: int) -> list[tuple[int, tuple[int, ...]]]:
    rng = np.random.default_rng(parents)
    found = {}
    while len(found) < number:
        child, *others = rng.choice(columns, parents + 1, replace=False).tolist()
        found[child, tuple(sorted(others))] = None
    return list(found)


def timed(score: GaussianProcessScore, families: list) -> tuple[float, float]:
    """Milliseconds a family with what is made once at hand, and the seconds that went into that."""
    times = []
    for _ in range(2):
        forget(score, singles=len(families[0][1]) == 1)
        start = process_time()
        score.families(families)
        times.append(process_time() - start)
    return times[1] * 1e3 / len(families), times[0] - times[1]


def forget(score: GaussianProcessScore, *, singles: bool) -> None:
    """Forget the scores, and the fits of single parents, but not what is made once per table."""
    score._known.clear()  # noqa: SLF001
    if singles:
        score._fitter._singles.clear()  # noqa: SLF001


def errors(score: GaussianProcessScore, families: list) -> list[float]:
    values = []
    for seed in range(SCRAMBLINGS):
        sampling.SEED = 100 + seed
        sampling.sobol_net.cache_clear()
        forget(score, singles=False)
        values.append(score.families(families))
    sampling.SEED = 2023
    sampling.sobol_net.cache_clear()
    return np.std(values, axis=0, ddof=1).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds of Gaussian-process scores.")
    parser.add_argument("--families", type=int, nargs=4, default=[110, 64, 48, 32], metavar="NUMBER")
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 100_000], help="of simulated tables")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    real = sachs()
    tables = {} if real is None else {f"Sachs, {len(real)} rows": real}
    tables |= {f"simulated, {rows} rows": simulated(rows) for rows in options.rows}
    lines, once, judged = [], [], []
    growth: dict[tuple[str, int], list[float]] = {}
    for name, rows in tables.items():
        names = [f"x{k}" for k in range(rows.shape[1])]
        statistics = TableStatistics(Table.from_numpy(rows, names, continuous=names))
        score = {e: GaussianProcessScore(statistics, estimator=e) for e in ("laplace", "qmc")}
        # One set of bases for both.
        score["qmc"]._fitter = score["laplace"]._fitter  # noqa: SLF001
        seconds = 0.0
        for parents, number in zip((1, 2, 3, 4), options.families, strict=True):
            families = draw(rows.shape[1], parents, number)
            laplace, one = timed(score["laplace"], families)
            qmc, two = timed(score["qmc"], families)
            seconds += one + two
            spread = errors(score["qmc"], families[:CHECKED])
            cells = [digits(laplace), digits(qmc), digits(median(spread)), digits(max(spread))]
            lines.append([name, f"{parents}", f"{number}", *cells])
            for what, value, most in (("Laplace", laplace, LAPLACE), ("qmc", qmc, QMC)):
                if len(rows) <= PROMISED_ROWS:
                    promise = f"{what}, {parents} parents: at most {most[parents]:g} ms"
                    judged.append([name, promise, f"{digits(value)} ms", verdict(value <= most[parents])])
                if name.startswith("simulated"):
                    growth.setdefault((what, parents), []).append(value)
            promise = f"qmc, {parents} parents: median sd within {ERROR} nat"
            judged.append([name, promise, digits(median(spread)), verdict(median(spread) <= ERROR)])
        once.append([name, digits(seconds)])
    if len(options.rows) > 1:
        for (what, parents), values in growth.items():
            ratio = values[-1] / values[0]
            promise = f"{what}, {parents} parents: most rows over fewest, at most {GROWTH:g} times the cost"
            judged.append(["simulated", promise, digits(ratio), verdict(ratio <= GROWTH)])
    header = ("table", "parents", "families", "Laplace, ms", "qmc, ms", "qmc sd, median", "largest")
    deliver(
        "\n\n".join(
            [
                "## Gaussian-process scores",
                markdown_table(header, lines),
                markdown_table(("table", "made once, CPU s"), once),
                promises(judged),
                machine("dagora", "numpy"),
            ]
        ),
        options.output,
    )


if __name__ == "__main__":
    main()
