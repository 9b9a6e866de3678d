"""The examples of the manual, as they stand."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dagora
from tests.commands.federate.consortium import PATIENCE
from tests.conftest import ROOT

WHOLE_RUN = 3 * PATIENCE


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/federated.md"])
def test_the_example_works_as_it_stands(page: str, tmp_path: Path) -> None:
    """Lines of the parties all at once, the others one after the other."""
    text = (ROOT / page).read_text().partition("ows spread over sites\n")[2]
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks[:2] for line in block.splitlines() if "dagora" in line or "awk" in line]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = f"{sys.executable} -m dagora "
    lines = [re.sub(r"^(?:\.venv/bin/)?dagora ", command, line) for line in lines]
    lines = [line.replace(":7100", f":{port}").replace(" --port 7100", "") for line in lines]
    parties = [line for line in lines if re.search("federate (coordinator|client)", line)]
    assert len(parties) == 4
    shell = {
        "cwd": tmp_path,
        "shell": True,
        "env": {**os.environ, "PYTHONPATH": str(ROOT / "src")},
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "encoding": "utf-8",
    }
    for line in lines[: lines.index(parties[0])]:
        done = subprocess.run(line, **shell, timeout=WHOLE_RUN, check=False)
        assert done.returncode == 0, done.stdout
    at_work = [subprocess.Popen(f"exec {parties[0]} --port {port}", **shell)]
    at_work += [subprocess.Popen(f"exec {line}", **shell) for line in parties[1:]]
    try:
        said = [party.communicate(timeout=WHOLE_RUN)[0] for party in at_work]
    finally:
        for party in at_work:
            party.kill()
            party.wait()
    assert [party.returncode for party in at_work] == [0] * 4, said
    learned = json.loads((tmp_path / "network.json").read_text())
    assert learned["status"] == "optimal"
    assert learned["score"] == pytest.approx(dagora.learn(tmp_path / "all.csv", "ilp").score, rel=1e-9)
