"""Every code block of the documents is run, at quick size: lines for a shell as they stand, Python page by page.

Blocks of a page share a folder and run in order; its blocks of Python share their names. Lines of parties run at
the same time, over TLS, on ports that are free: those of the README as processes, those of other pages as threads,
which saves their start. What is not run here is listed with the reason.
"""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

import dagora
from dagora.cli.main import run as run_command
from dagora.data.writers import write_table
from dagora.formats.registry import write_graph, write_network
from dagora.network.greenhouse import greenhouse
from dagora.network.patients import patients as patient_network
from dagora.network.sample import sample_network
from tests.conftest import ROOT
from tests.postgres_server import Server, postgres_server

PATIENCE = 300.0
PAGES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", *sorted(
    str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")
))  # fmt: skip
LANGUAGES = {"sh", "python", "text", "json"}
# Pages whose blocks another test runs and holds against more than their exit codes.
ELSEWHERE = {
    "CONTRIBUTING.md": "tests/documents/test_contributing.py",
    "docs/estimators.md": "tests/estimators/test_estimators.py",
    "docs/hand-over.md": "tests/formats/test_hand_over.py",
    "docs/flower.md": "tests/flower/test_page.py",
    "docs/posterior.md": "tests/cli/test_sample.py",
    "docs/worked-example.md": "tests/documents/test_worked_example.py",
    "docs/r-users.md": "tests/documents/test_site_pages.py",
}
# Blocks that cannot be run, by how they begin.
SKIPPED = {
    "pip install .": "installs dagora, which is what the tests run on",
    "make demo ": "installs the environment and runs these tests",
}
# Quick size: what replaces what before a line is run.
QUICK = (
    (r"^\.venv/bin/dagora ", "dagora "),
    (r"^(dagora reproduce \S+.*?)( *#.*)?$", r"\1 --time-limit 0.1"),  # the same command would continue
    (r" --jobs 2| --full", ""),
    (r"--draws 2000", "--draws 100"),
    (r"--nodes 8 --degree 1.5 --rows 900", "--nodes 6 --degree 1.5 --rows 300"),
    (r"--parties 64", "--parties 8"),
    # As threads; other tests have processes.
    (r"^(dagora (?:federate|private) simulate (?!.*--in-memory).*)$", r"\1 --in-memory"),
    (r"i <= (?:1500|2000);", "i <= 600;"),
)
# Blocks with lines that ask a server have no other lines: a test of their own starts the server.
SERVERS = ("postgresql://", "--dask tcp://")
PARTY = re.compile(r"dagora (?:federate (?:coordinator|client)|private (?:group )?(?:host|join)) ")
QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"|#.*")
SHELL = re.compile(r"[|><&;$`*?~{(]")
AS_PROCESSES = {"README.md"}
LISTENS = re.compile(r"dagora (?:federate coordinator|private (?:group )?host) ")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    fences = re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2]) for found in fences
    ]  # fmt: skip


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def runs(block: Block) -> bool:
    return (
        block.language in {"sh", "python"}
        and block.page not in ELSEWHERE
        and not block.text.startswith(tuple(SKIPPED))
        and not asks_a_server(block)
    )


def asks_a_server(block: Block) -> bool:
    return block.language == "sh" and any(server in block.text for server in SERVERS)


def test_every_block_is_known() -> None:
    """A block says its language, and so whether it is run; the tables have no entry too many."""
    assert [block for block in BLOCKS if block.language not in LANGUAGES] == []
    assert all((ROOT / test).is_file() and Path(page).name in (ROOT / test).read_text() for page, test in ELSEWHERE.items())  # fmt: skip
    assert all(any(block.text.startswith(start) for block in BLOCKS) for start in SKIPPED)
    asking = [line for block in BLOCKS if asks_a_server(block) for line in block.text.splitlines()]
    assert all(any(server in line for server in SERVERS) for line in asking)
    assert {block.page for block in BLOCKS if asks_a_server(block)} == {"README.md", "docs/engines.md"}
    shells = "\n".join(block.text for block in BLOCKS if runs(block))
    assert all(re.search(pattern, shells, re.MULTILINE) for pattern, _ in QUICK)
    assert len([block for block in BLOCKS if runs(block)]) >= 15


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the pages take for granted, small."""
    table = sample_network(greenhouse(), 500, seed=1)
    columns = {name: table.codes(k) for k, name in enumerate(("smoker", "tar", "cough", "age", "sex"))}
    lines = [",".join(columns), *(",".join(f"level {code}" for code in row) for row in zip(*columns.values(), strict=True))]  # fmt: skip
    (tmp_path / "patients.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "known.json").write_text('{"forbidden": [["smoker", "age"]], "max_parents": 3}')
    patients = dagora.read_table(tmp_path / "patients.csv")
    write_network(
        dagora.fit(dagora.DAG(patients.names, [("smoker", "tar")]), patients), tmp_path / "truth.bif"
    )
    write_graph(patient_network().graph, tmp_path / "truth.json")
    chain = dagora.DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    write_table(dagora.simulate(chain, "gaussian", 60, seed=1).table, tmp_path / "cells.csv")
    return tmp_path


def quick(line: str, ports: dict[str, int]) -> str:
    """A line at quick size, on ports that are free."""
    for pattern, replacement in QUICK:
        line = re.sub(pattern, replacement, line)
    for port, free in ports.items():
        line = line.replace(f":{port}", f":{free}")
    if LISTENS.match(line):
        line = (
            f"{re.sub(r' --port [0-9]+', '', line)} --port {ports['7100' if 'federate' in line else '7200']}"
        )
    return line


def free_ports() -> dict[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        return {"7100": one.getsockname()[1], "7200": two.getsockname()[1]}


def shell(script: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["sh", "-euc", f'dagora() {{ "{sys.executable}" -m dagora "$@"; }}\n{script}'],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"},
    )  # fmt: skip


def plain_commands(script: str) -> list[list[str]] | None:
    """The arguments of each line, where nothing but `dagora` is called and nothing is left to a shell.

    Such lines are run in this process, which saves their start.
    """
    lines = script.replace("\\\n", " ").splitlines()
    if any(SHELL.search(QUOTED.sub("", line)) for line in lines):
        return None
    words = [found for line in lines if (found := shlex.split(line, comments=True))]
    return [found[1:] for found in words] if all(found[0] == "dagora" for found in words) else None


def run_together(commands: list[list[str]]) -> None:
    """Commands of parties that wait for each other: the first in this thread, which handles signals."""
    with ThreadPoolExecutor(max(1, len(commands))) as threads:
        others = [threads.submit(run_command, command) for command in commands[1:]]
        ended = [run_command(command) for command in commands[:1]]
        ended += [each.result(PATIENCE) for each in others]
    assert ended == [0] * len(commands)


def run_shell(block: Block, folder: Path) -> None:
    """First the lines of one terminal, then those of a terminal each, all at once."""
    ports = free_ports()
    lines = [quick(line, ports) for line in block.text.splitlines()]
    parties = [line for line in lines if PARTY.match(line)]
    rest = [line for line in lines if not PARTY.match(line)]
    plain = next(k for k in range(len(rest) + 1) if plain_commands("\n".join(rest[k:])) is not None)
    run_scripts(["\n".join(rest[:plain])], folder)
    for command in plain_commands("\n".join(rest[plain:])) or []:
        assert run_command(command) == 0, command
    if block.page in AS_PROCESSES:
        run_scripts(parties, folder)
    else:
        run_together([shlex.split(line)[1:] for line in parties])


def run_scripts(scripts: list[str], folder: Path) -> None:
    """Scripts of a shell, all at once."""
    at_work = [shell(script, folder) for script in scripts if script.strip()]
    try:
        said = [process.communicate(timeout=PATIENCE)[0] for process in at_work]
    finally:
        for process in at_work:
            if process.poll() is None:
                process.kill()
                process.wait()
    assert [process.returncode for process in at_work] == [0] * len(at_work), "\n".join(said)


@pytest.mark.parametrize("page", [
    pytest.param(page, marks=[pytest.mark.slow] * ("reproductions" in page))  # a dozen commands, seconds each
    for page in sorted({block.page for block in BLOCKS if runs(block)})
])  # fmt: skip
def test_the_page_works_as_it_stands(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if "reproductions" in page:
        monkeypatch.setenv("DAGORA_DATA", str(request.getfixturevalue("data_dir")))
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for block in filter(runs, blocks_of(page)):
        if block.language == "sh":
            run_shell(block, folder)
        else:
            exec(compile(block.text, f"{page}:{block.line}", "exec"), names)
    if page in {"README.md", "docs/federated.md"}:
        over_sites = dagora.Result.from_json((folder / "network.json").read_text())
        pooled = dagora.learn(folder / "all.csv", "ilp")
        assert (over_sites.status, over_sites.graph) == ("optimal", pooled.graph)
        # Values are rounded to a millionth of their range.
        assert over_sites.score == pytest.approx(pooled.score, rel=1e-7)


# --- lines that ask a server ------------------------------------------------------------------------------

ASKING_PAGES = sorted({block.page for block in BLOCKS if asks_a_server(block)})


def ask(page: str, server: str, port: str = "8786") -> None:
    """Run the lines of a page that ask a server of some kind."""
    text = "\n".join(block.text for block in blocks_of(page) if asks_a_server(block))
    lines = [line.replace(":8786", f":{port}") for line in text.splitlines() if server in line]
    commands = plain_commands("\n".join(lines))
    assert commands
    for command in commands:
        assert run_command(command) == 0, command


@pytest.fixture(scope="module")
def clinic() -> Iterator[Server]:
    with postgres_server() as own:
        own.sql("CREATE DATABASE clinic")
        yield own


@pytest.mark.parametrize("page", ASKING_PAGES)
def test_lines_that_ask_postgresql_work_as_they_stand(
    page: str, clinic: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = clinic.folder.parent / "patients.csv"
    file.write_text((folder / "patients.csv").read_text())
    file.chmod(0o644)
    names = file.read_text().partition("\n")[0].split(",")
    columns = ", ".join(f"{name} text" for name in names)
    clinic.sql(
        f"CREATE TABLE IF NOT EXISTS visits ({columns}); TRUNCATE visits; COPY visits FROM '{file}' (FORMAT csv, HEADER)",
        "clinic",
    )
    monkeypatch.setenv("PGHOST", str(clinic.folder))
    monkeypatch.setenv("PGUSER", "ada")
    ask(page, "postgresql://")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, by pandas
@pytest.mark.parametrize("page", ASKING_PAGES)
def test_lines_that_ask_a_cluster_work_as_they_stand(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="pip install 'dagora[dask]'")
    monkeypatch.chdir(folder)
    for year in (2024, 2025):  # as the page on engines writes them
        (folder / f"visits/year={year}").mkdir(parents=True)
        write_table(dagora.read_table(folder / "patients.csv"), folder / f"visits/year={year}/part.parquet")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=":0",
    ) as cluster:
        ask(page, "--dask tcp://", cluster.scheduler_address.rpartition(":")[2])
