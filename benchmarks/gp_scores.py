"""Gaussian-process scores per CPU second: Laplace and quasi-Monte-Carlo, by number of parents and of rows.

    OMP_NUM_THREADS=1 python benchmarks/gp_scores.py [--families 32] [--rows 100000] [--output FILE.md]

With the reference data the first table is Sachs' 853 observations (log₂(x + ½)); larger tables are simulated:
sums of sines of other columns. CPU time of this process, with bases, tables and fits of single parents made
before ("after one pass"); the first time, with all of that, stands beside it. The error of a qmc score is the
standard deviation over other scramblings.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

import dagora.scores.gp.qmc as sampling
from dagora.data.table import Table
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics
from report import deliver, digits, machine, markdown_table, promises, verdict

LAPLACE = {1: 3.0, 2: 10.0, 3: 25.0, 4: 50.0}
QMC = {1: 15.0, 2: 40.0, 3: 80.0, 4: 130.0}
ERROR = 0.03
SCRAMBLINGS = 6


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
    """Milliseconds a family for the first time, with the bases made, and once they are there."""
    times = []
    for _ in range(2):
        score._known.clear()  # noqa: SLF001
        start = process_time()
        score.families(families)
        times.append((process_time() - start) * 1e3 / len(families))
    return times[0], times[1]


def errors(statistics: TableStatistics, families: list) -> list[float]:
    values = []
    for seed in range(SCRAMBLINGS):
        sampling.SEED = 100 + seed
        sampling.sobol_net.cache_clear()
        values.append(GaussianProcessScore(statistics).families(families))
    sampling.SEED = 2023
    sampling.sobol_net.cache_clear()
    return np.std(values, axis=0, ddof=1).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU milliseconds of Gaussian-process scores.")
    parser.add_argument("--families", type=int, default=32)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000], help="rows of simulated tables")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    real = sachs()
    tables = {} if real is None else {f"Sachs, {len(real)} rows": real}
    tables |= {f"simulated, {rows} rows": simulated(rows) for rows in options.rows}
    lines, judged = [], []
    for name, rows in tables.items():
        names = [f"x{k}" for k in range(rows.shape[1])]
        statistics = TableStatistics(Table.from_numpy(rows, names, continuous=names))
        scores = {e: GaussianProcessScore(statistics, estimator=e) for e in ("laplace", "qmc")}
        for parents in (1, 2, 3, 4):
            families = draw(rows.shape[1], parents, options.families)
            first, laplace = timed(scores["laplace"], families)
            _, qmc = timed(scores["qmc"], families)
            spread = errors(statistics, families[:8]) if len(rows) < 2000 else [float("nan")]
            cells = [digits(laplace), digits(qmc), digits(first), digits(median(spread)), digits(max(spread))]
            lines.append([name, f"{parents}", *cells])
            for what, value, most in (("Laplace", laplace, LAPLACE), ("qmc", qmc, QMC)):
                promise = f"{what}, {parents} parents: at most {most[parents]:g} ms"
                judged.append([name, promise, f"{digits(value)} ms", verdict(value <= most[parents])])
            if len(rows) < 2000:
                promise = f"qmc, {parents} parents: within {ERROR} nat (sd)"
                judged.append([name, promise, digits(median(spread)), verdict(median(spread) <= ERROR)])
    header = ("table", "parents", "Laplace, ms", "qmc, ms", "first Laplace, ms", "qmc sd, median", "largest")
    deliver(
        "\n\n".join(
            [
                "## Gaussian-process scores",
                markdown_table(header, lines),
                promises(judged),
                machine("dagora", "numpy"),
            ]
        ),
        options.output,
    )


if __name__ == "__main__":
    main()
