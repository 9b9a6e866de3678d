"""Compile the kernels that a wheel brings, for any processor of this kind: `make wheel` calls this.

    python building/compile_kernels.py FOLDER [JOBS]

Every method, score and sampler runs on an easy and on a tangled table of a few hundred rows, as some kernels
are only reached where a problem is hard; whatever numba compiles meanwhile is left in FOLDER, from where
`hatch_build.py` puts it into the wheel. A kernel that no such run needs is compiled when somebody needs it;
those are listed at the end. Two processes share the work, as numba compiles one kernel at a time in each.
JOBS is how the names of jobs begin, for a folder with the kernels of those jobs only. Where FOLDER has what
would be compiled now, nothing is done.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernel_tag import TAG_FILE, is_fresh, made_for
from numba.core import event

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
# A process reads and writes the same files as its sibling, which compiles the other jobs.
PROCESSES = 2
ROWS = 300
TANGLED_NODES, TANGLED_DEGREE = 17, 6
# Enough rows for an integer program whose relaxation has no whole solution.
DENSE_ROWS = 2000
# Enough columns for the moves of wide problems.
WIDE = 220
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
    from dagora.base.errors import DagoraError
    from dagora.learners.registry import METHODS
    from dagora.posterior.registry import SAMPLERS
    from dagora.scores.registry import SCORES

    rng = np.random.default_rng(1)

    def chain(rows: int) -> NDArray[np.float64]:
        return rng.standard_normal((rows, 8)).cumsum(axis=1)

    def tangle(rows: int) -> NDArray[np.float64]:
        graph = dagora.random_dag("er", TANGLED_NODES, TANGLED_DEGREE, seed=1)
        table = dagora.simulate(graph, "gaussian", rows, seed=1).table
        cells = np.column_stack([table.values(place) for place in range(TANGLED_NODES)])
        return (cells - cells.mean(axis=0)) / cells.std(axis=0)

    def columns(cells: NDArray[np.float64], kind: str) -> dict[str, object]:
        places = range(cells.shape[1])
        numbers = {f"x{i}": cells[:, i] for i in places}
        levels = {f"c{i}": np.digitize(cells[:, i], [-1, 0, 1][: 1 + i % 3]).astype(str) for i in places}
        if kind == "mixed":
            return {
                **{name: levels[name] for name in ("c0", "c3", "c5")},
                "x1": numbers["x1"],
                "x4": numbers["x4"],
            }
        return numbers if kind == "continuous" else levels

    def holed(kind: str) -> dict[str, object]:
        whole = columns(chain(ROWS), kind)
        return {
            name: [None if rng.random() < 0.1 else cell for cell in np.asarray(cells).tolist()]
            for name, cells in whole.items()
        }

    kinds = ("discrete", "continuous", "mixed")
    easy = {kind: pa.table(columns(chain(ROWS), kind)) for kind in kinds}
    tangled = {kind: pa.table(columns(tangle(ROWS), kind)) for kind in kinds}
    holes = {kind: pa.table(holed(kind)) for kind in kinds}
    long = {kind: pa.table(columns(chain(LONG), kind)) for kind in kinds}

    many_sets = pa.table(columns(tangle(MANY_SETS_ROWS), "discrete"))

    def limit(name: str) -> int:
        return 1 if name in ON_JAX else LIMIT

    def trying(call: Callable[..., object], *arguments: object, **options: object) -> Callable[[], object]:
        def run() -> object:
            try:
                return call(*arguments, **options)
            except DagoraError:  # a method that does not take such columns
                return None

        return run

    yield "demo", demo
    yield "candidates", trying(dagora.candidates, many_sets, max_parents=3)
    first, second = (dagora.random_dag("er", 5, 1, seed) for seed in (1, 2))
    yield "compare", lambda: dagora.compare(first, second).adjustment_distances()
    for kind in kinds:
        yield f"auto {kind} long", trying(dagora.learn, long[kind], time_limit=LIMIT)
        for name, table in ((kind, easy[kind]), (f"{kind} tangled", tangled[kind])):
            for learner in METHODS:
                yield (
                    f"{learner.name} {name}",
                    trying(dagora.learn, table, method=learner.name, time_limit=limit(learner.name)),
                )
            for sampler in SAMPLERS:
                yield (
                    f"sample {sampler.name} {name}",
                    trying(dagora.sample, table, method=sampler.name, time_limit=limit(sampler.name)),
                )
        for score in SCORES:
            for method in ("auto", "hill-climb", "dynamic"):
                yield (
                    f"{method} {score.name} {kind}",
                    trying(dagora.learn, easy[kind], method=method, score=score.name, time_limit=LIMIT),
                )
            yield (
                f"sample order {score.name} {kind}",
                trying(dagora.sample, easy[kind], "order", score=score.name, draws=10, time_limit=LIMIT),
            )
        yield f"holes {kind}", trying(dagora.learn, holes[kind], time_limit=LIMIT)
    dense = pa.table(columns(tangle(DENSE_ROWS), "discrete"))
    yield "ilp dense", trying(dagora.learn, dense, method="ilp", time_limit=LIMIT)
    yield "candidates bdeu", trying(dagora.candidates, dense, score="bdeu", budget=dagora.Budget(LIMIT))
    yield "rows", trying(lambda: dagora.learn(dagora.open_rows(lambda: dense), "hill-climb"))
    wide = pa.table(columns(rng.standard_normal((ROWS, WIDE)), "continuous"))
    yield "notears wide", trying(dagora.learn, wide, method="notears", time_limit=LIMIT)
    keys = pa.array([f"p{row}" for row in range(ROWS)])
    owners = [
        easy["discrete"].select(names).append_column("key", keys) for names in (["c0", "c3"], ["c1", "c4"])
    ]
    yield "two owners", trying(dagora.learn_private, *owners, "key")
    sites = {name: easy["discrete"].slice(100 * place, 100) for place, name in enumerate("abc")}
    yield "three sites", trying(dagora.learn_federated, sites, "hill-climb")


def demo() -> object:
    """Run `dagora demo`."""
    from dagora.cli.main import run

    with tempfile.TemporaryDirectory() as folder:
        return run(["demo", "--quiet", "-o", folder])


class Compiled(event.Listener):  # type: ignore[misc]  # numba has no types
    """The kernels that a process compiles."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def on_start(self, event: Any) -> None:  # noqa: ANN401
        """Note a kernel."""
        function = event.data["dispatcher"].py_func
        self.names.add(f"{function.__module__}.{function.__name__}")

    def on_end(self, event: Any) -> None:  # noqa: ANN401
        """Nothing to note."""


def compile_share(share: int, seen: Path, chosen: str) -> None:
    """Run every `PROCESSES`-th job and list what it compiled; one process finds what the other compiled."""
    from dagora.kernels.compilation import compilation

    compilation.patient = False
    compiled = Compiled()
    event.register("numba:compile", compiled)
    warnings.simplefilter("ignore")
    for number, (name, job) in enumerate(each for each in jobs() if each[0].startswith(chosen)):
        if number % PROCESSES != share:
            continue
        begun = time.monotonic()
        job()
        print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
    seen.write_text("\n".join(compiled.names))


def all_kernels() -> set[str]:
    """The names of all kernels in the sources."""
    found = set()
    for file in SOURCES.rglob("*.py"):
        module = ".".join(file.relative_to(SOURCES).with_suffix("").parts)
        for name in re.findall(r"^@(?:kernel|inlined)\n(?:@.*\n)*def (\w+)", file.read_text(), re.MULTILINE):
            found.add(f"{module}.{name}")
    return found


def main(folder: Path, chosen: str = "") -> None:
    """Compile into a folder of its own, and put what is found there into place."""
    if is_fresh(folder, ROOT):
        print(f"{folder} is fresh")
        return
    sys.path.insert(0, str(SOURCES))
    from dagora.kernels.cache import BUNDLED, PORTABLE

    if BUNDLED.exists():
        sys.exit(f"{BUNDLED} is in the way: the sources would use the kernels that it brings")
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": cache,
            "NUMBA_CPU_NAME": PORTABLE[platform.machine()][0],
            "NUMBA_CPU_FEATURES": "",
            "PYTHONPATH": str(SOURCES),
            "OMP_NUM_THREADS": "1",
        }
        seen = [Path(cache) / f"seen-{share}" for share in range(PROCESSES)]
        started = [
            subprocess.Popen(  # noqa: S603
                [sys.executable, __file__, "--share", str(share), str(file), chosen], env=environment
            )
            for share, file in enumerate(seen)
        ]
        if max(process.wait() for process in started):
            sys.exit("compiling failed")
        compiled = {name for file in seen for name in file.read_text().split()}
        (kept,) = Path(cache).glob("dagora-*")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(kept, folder)
        (folder / TAG_FILE).write_text(made_for(ROOT))
    files = [file for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    if not chosen:
        print("not reached: " + ", ".join(sorted(all_kernels() - compiled)))
    print(f"{sum(file.suffix == '.nbc' for file in files)} kernels, {size / 1e6:.0f} MB in {folder}")


if __name__ == "__main__":
    if sys.argv[1] == "--share":
        compile_share(int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
