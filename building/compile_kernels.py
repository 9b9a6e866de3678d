"""Compile the kernels that a wheel brings, for any processor of this kind: `make wheel` calls this.

    python building/compile_kernels.py FOLDER

Every method, score and sampler runs once on tables of a few hundred rows; whatever numba compiles meanwhile
is left in FOLDER, from where `hatch_build.py` puts it into the wheel. A kernel that no such run needs is
compiled when somebody needs it. Two processes share the work, as numba compiles one kernel at a time in each.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from kernel_tag import TAG_FILE, made_for

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
# A process reads and writes the same files as its sibling, which compiles the other jobs.
PROCESSES = 2
# Enough rows for the counts of long tables, which have kernels of their own.
LONG = 60_000
# Rows and columns enough for the counts of many sets of one size, which have another.
MANY_SETS_ROWS = 10_000
# Seconds for a run: all its kernels are compiled long before.
LIMIT = 20
# What JAX compiles is not kept in files: of these, a second of running reaches every kernel of ours.
ON_JAX = {"rl-bic", "dibs"}


def jobs() -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that is run, with a name for each."""
    import numpy as np
    import pyarrow as pa

    import dagora
    from dagora.errors import DagoraError
    from dagora.method_registry import METHODS
    from dagora.samplers import SAMPLERS
    from dagora.scores.registry import SCORES

    rng = np.random.default_rng(1)

    def columns(rows: int, kind: str) -> dict[str, object]:
        noise = rng.standard_normal((rows, 8))
        for i in range(1, 8):
            noise[:, i] += noise[:, i - 1]
        numbers = {f"x{i}": noise[:, i] for i in range(8)}
        levels = {f"c{i}": np.digitize(noise[:, i], [-1, 0, 1][: 1 + i % 3]).astype(str) for i in range(8)}
        if kind == "mixed":
            return {
                **{name: levels[name] for name in ("c0", "c3", "c5")},
                "x1": numbers["x1"],
                "x4": numbers["x4"],
            }
        return numbers if kind == "continuous" else levels

    def holed(rows: int, kind: str) -> dict[str, object]:
        whole = columns(rows, kind)
        return {
            name: [None if rng.random() < 0.1 else cell for cell in np.asarray(cells).tolist()]
            for name, cells in whole.items()
        }

    kinds = ("discrete", "continuous", "mixed")
    tables = {kind: pa.table(columns(300, kind)) for kind in kinds}
    holes = {kind: pa.table(holed(300, kind)) for kind in kinds}
    long = {kind: pa.table(columns(LONG, kind)) for kind in kinds}

    twice = {
        f"{name}{part}": cells for part in "ab" for name, cells in columns(MANY_SETS_ROWS, "discrete").items()
    }

    def limit(name: str) -> int:
        return 1 if name in ON_JAX else LIMIT

    def trying(call: Callable[..., object], *arguments: object, **options: object) -> Callable[[], object]:
        def run() -> object:
            try:
                return call(*arguments, **options)
            except DagoraError:  # a method that does not take such columns
                return None

        return run

    yield "candidates", trying(dagora.candidates, pa.table(twice), max_parents=3)
    for kind in kinds:
        yield f"auto {kind} long", trying(dagora.learn, long[kind], time_limit=LIMIT)
        for learner in METHODS:
            yield (
                f"{learner.name} {kind}",
                trying(dagora.learn, tables[kind], method=learner.name, time_limit=limit(learner.name)),
            )
        for score in SCORES:
            for method in ("auto", "hill-climb", "dynamic"):
                yield (
                    f"{method} {score.name} {kind}",
                    trying(dagora.learn, tables[kind], method=method, score=score.name, time_limit=LIMIT),
                )
        for sampler in SAMPLERS:
            yield (
                f"sample {sampler.name} {kind}",
                trying(dagora.sample, tables[kind], method=sampler.name, time_limit=limit(sampler.name)),
            )
        yield f"holes {kind}", trying(dagora.learn, holes[kind], time_limit=LIMIT)


def compile_share(share: int) -> None:
    """Run every `PROCESSES`-th job; what one process has compiled the other finds."""
    warnings.simplefilter("ignore")
    for number, (name, job) in enumerate(jobs()):
        if number % PROCESSES != share:
            continue
        begun = time.monotonic()
        job()
        print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)


def main(folder: Path) -> None:
    """Compile into a folder of its own, and put what is found there into place."""
    sys.path.insert(0, str(SOURCES))
    from dagora.kernel_cache import BROUGHT, PORTABLE

    if BROUGHT.exists():
        sys.exit(f"{BROUGHT} is in the way: the sources would use the kernels that it brings")
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": cache,
            "NUMBA_CPU_NAME": PORTABLE[platform.machine()][0],
            "NUMBA_CPU_FEATURES": "",
            "PYTHONPATH": str(SOURCES),
            "OMP_NUM_THREADS": "1",
        }
        started = [
            subprocess.Popen([sys.executable, __file__, "--share", str(share)], env=environment)  # noqa: S603
            for share in range(PROCESSES)
        ]
        if max(process.wait() for process in started):
            sys.exit("compiling failed")
        (kept,) = Path(cache).glob("dagora-*")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept, folder)
        (folder / TAG_FILE).write_text(made_for(ROOT))
    files = [file for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    print(f"{sum(file.suffix == '.nbc' for file in files)} kernels, {size / 1e6:.0f} MB in {folder}")


if __name__ == "__main__":
    if sys.argv[1] == "--share":
        compile_share(int(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
