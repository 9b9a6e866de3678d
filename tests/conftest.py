"""Fixtures shared by all tests."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from dagora.cli import live_line, rehearsal

# A busy machine must not fail a property test; `make test` draws fewer examples of each.
settings.register_profile("all", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)
# Nor show progress where a test reads what a command says; processes of their own keep to the promise.
live_line.FIRST_SECONDS = 2.0
# Every core runs tests: no second process compiles beside a command.
rehearsal.cores = lambda: 1

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("quick" if is_quick(config) else "all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let the second of two workers begin with the last file.

    Where all tests of a fresh clone are run, each would compile all files, at the same time; so each compiles
    one half and finds the other.
    """
    config = session.config
    every = any((config.invocation_params.dir / each).resolve() == ROOT / "tests" for each in config.args)
    if not every or getattr(config, "workerinput", {}).get("workerid") != "gw1":
        return
    for file in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
        if pytest_ignore_collect(file, config):
            continue
        try:
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
        except (Exception, pytest.skip.Exception):  # it is told where the file is collected
            continue


# What `make test` leaves to `make test-all`, and why. A path is a file or folder below tests/.
FULL = {
    "browser": "a real browser",
    "documents": "every code block of every page, the site, the examples",
    "papers/admm": "small runs of every reproduction",
    "papers/gpn": "small runs of every reproduction",
    "papers/notears": "small runs of every reproduction",
    "papers/private_k2": "small runs of every reproduction",
    "papers/rbnets": "small runs of every reproduction",
    "flower": "real Flower processes",
    "building/test_release.py": "environments into which a release is installed",
    "api/test_estimate_time.py": "measures times",
    "api/test_learn_federated.py": "whole federations in threads",
    "api/test_learn_private.py": "whole sessions of two owners",
    "base/test_dask_cluster.py": "a cluster of processes",
    "cli/federate": "sites as processes",
    "cli/test_hostile_files.py": "files that unpack to far more than their size",
    "cli/test_private.py": "owners as processes",
    "cli/test_private_group.py": "owners as processes",
    "cli/test_private_malicious.py": "owners as processes",
    "cli/test_rehearsal.py": "processes that compile kernels anew",
    "cli/test_reproduce.py": "reproductions as processes",
    "cli/test_learn.py": "the command as a process, interrupted",
    "cli/test_live_line.py": "the command as a process, on a terminal",
    "cli/test_sample.py": "the command as a process, and the manual",
    "contracts/test_bad_input.py": "every kind of bad input for every command",
    "contracts/test_python_mistakes.py": "every mistake for every function",
    "contracts/test_time_limits.py": "waits for time limits",
    "contracts/test_odd_tables.py": "random tables for two minutes",
    "contracts/test_ways_out.py": "every way out that a message names",
    "explore/test_explore_command.py": "the server as a process",
    "explore/test_estimates.py": "the server as a process",
    "kernels/test_cache.py": "kernels compiled anew",
    "kernels/test_jax.py": "kernels compiled anew",
    "formats/test_hand_over.py": "pages as processes",
    "formats/test_repository_networks.py": "every network of the reference data",
    "parties/horizontal/flower": "real sockets",
    "parties/horizontal/test_methods_over_sites.py": "every option of every method over sites",
    "parties/processes": "parties as processes",
    "parties/vertical/test_transcripts.py": "whole runs of two owners, many times",
    "posterior/resample/test_helpers.py": "samples in other processes",
    "api/test_opened_network.py": "kernels that nothing else needs",
    "learners/optimise/mlp": "networks compiled by JAX",
    "learners/optimise/path/test_wide_moves.py": "kernels for hundreds of columns alone",
    "learners/search/exact/test_dag_cover.py": "kernels that nothing else needs",
    "learners/search/greedy/test_moment_climber.py": "kernels for hundreds of columns alone",
    "learners/search/order/wide": "kernels for hundreds of columns alone",
    "learners/search/rl_bic": "networks compiled by JAX",
    "posterior/dibs/test_neural_dibs.py": "networks compiled by JAX",
    "scores/gp/test_interactions.py": "integrals over many dimensions",
    "stats/partitions/test_dask_frames.py": "a cluster of processes",
    "stats/scan/test_push_down.py": "a database server",
}
# Of the cases of one test, `make test` runs so many: the first, the last and some between. It runs all of a test
# that is marked `every_case`, where each takes milliseconds and is another rule.
CASES = 4
# Of what is asked of all methods, `make test` checks one or two of each kind.
REPRESENTATIVES = frozenset(
    {
        "auto",
        "ges",
        "k2",
        "dynamic",
        "notears",
        "pc",
        "rfci",
        "lingam",
        "order-search",
        "dynotears",
        "order",
        "partition",
        "exact",
    }
)


def is_full(path: Path) -> bool:
    """Return True if a file or folder is left to `make test-all` as a whole."""
    inside = path.relative_to(ROOT / "tests").as_posix()
    return any(inside == listed or inside.startswith(f"{listed}/") for listed in FULL)


def is_quick(config: pytest.Config) -> bool:
    """Return True in `make test`, which leaves out what is marked as full."""
    return "not full" in config.getoption("-m", "")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `make test` leaves out."""
    return True if is_quick(config) and is_full(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left to `make test-all`."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if not item.path.is_relative_to(ROOT / "tests"):
            continue
        if is_full(item.path) or asks_another_method(item):
            item.add_marker(pytest.mark.full)
        else:
            cases.setdefault((item.path, item.name.partition("[")[0]), []).append(item)
    for alike in cases.values():
        kept = {round(k * (len(alike) - 1) / (CASES - 1)) for k in range(CASES)}
        for at, item in enumerate(alike):
            if len(alike) > CASES and at not in kept and not item.get_closest_marker("every_case"):
                item.add_marker(pytest.mark.full)


def asks_another_method(item: pytest.Item) -> bool:
    """Return True for a contract that is asked of a method or sampler which represents no kind."""
    inside = item.path.relative_to(ROOT / "tests").as_posix()
    given = item.callspec.params if hasattr(item, "callspec") else {}
    method = given.get("method") or given.get("sampler")
    name = getattr(method, "name", method) or "auto"
    return inside.startswith(("api/", "contracts/")) and name not in REPRESENTATIVES


def find_data() -> Path:
    return Path(os.environ.get("DAGORA_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data; a test that needs it skips where it is absent."""
    folder = find_data()
    if not folder.is_dir():
        pytest.skip(f"needs the reference data: set DAGORA_DATA (looked in {folder})")
    return folder


PRIVATE_USE = re.compile("[\ue000-\ue002]")  # of mentions that were not rendered


@dataclass(frozen=True)
class Ran:
    """How the command ended and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """The command `dagora`, run in this process, which saves its start."""
    from dagora.cli.main import run as run_command

    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run_command([str(argument) for argument in arguments])
        ran = Ran(code, *capsys.readouterr())
        assert not PRIVATE_USE.search(ran.out + ran.err), "an option is mentioned in nobody's words"
        return ran

    return call


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The command `dagora` as a process of its own, through `python -m dagora`."""
    started: list[subprocess.Popen[str]] = []

    def call(*arguments: object) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "dagora", *(str(argument) for argument in arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(line, env=environment, stdout=pipe, stderr=pipe, encoding="utf-8"))
        return started[-1]

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        with process:  # waits and closes the pipes
            pass
