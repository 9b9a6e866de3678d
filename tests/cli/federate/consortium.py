"""A consortium for tests of `dagora federate`: the real commands over TLS, as threads or as processes.

As threads, the coordinator is the main thread (it handles signals) and every client one of its own; what each
says is kept apart. That takes a fraction of a second. Processes take seconds to start, and can be killed.
"""

import contextlib
import io
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import dagora
from dagora.cli.main import run as run_command
from dagora.parties.horizontal.log.site_log import FILE_NAME
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.policy.drafted_policy import draft_policy
from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME, POLICY_NAME
from dagora.parties.horizontal.policy.policy_text import write_codebook, write_policy
from dagora.parties.processes.party_processes import PartyProcesses
from dagora.parties.transport.certificates import fingerprint
from tests.conftest import ROOT, Ran
from tests.parties.network import start
from tests.parties.processes.faults import process_ids

PATIENCE = 60.0
SITES = ("east", "north", "south", "west")
COORDINATOR = "coordinator"
ENDLESS = ("--method", "hill-climb", "--option", "restarts=100000000", "--option", "perturb=8")


class Voices(io.TextIOBase):
    """A stream that keeps apart what each thread says."""

    encoding, errors = "utf-8", "strict"

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def write(self, text: str) -> int:
        who = threading.current_thread().name
        self.said[who] = self.said.get(who, "") + text
        return len(text)

    def of(self, who: str) -> str:
        return self.said.get(who, "")

    def wait_for(self, who: str, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.of(who))):
            assert time.monotonic() < deadline, f"{who} never said {pattern}: {self.said}"
            time.sleep(0.005)
        return found


def agree_on(
    keys: Path,
    tables: Sequence[Path],
    sites: Sequence[str] = SITES,
    changes: Mapping[str, Mapping[str, object]] | None = None,
) -> Codebook:
    """Write a codebook that fits some tables, and every site's policy with its changes."""
    known = {site: fingerprint((keys / site / "party.pem").read_bytes()) for site in (COORDINATOR, *sites)}
    coordinator = known.pop(COORDINATOR)
    read = {str(file): dagora.read_table(file) for file in tables}
    book = codebook_of(read, margin=0.1)
    # Ten rows for each cell would be too few cells for some of these small tables.
    drafted = draft_policy(book, coordinator, known, least_sites=len(sites), rows=10**6)
    (keys / COORDINATOR / CODEBOOK_NAME).write_text(write_codebook(drafted))
    for site in sites:
        policy = replace(drafted, **(changes or {}).get(site, {}))
        (keys / site / POLICY_NAME).write_text(write_policy(policy, "a test"))
    return book


def log_of(keys: Path, site: str) -> list[dict]:
    """What a site has written into its log."""
    return [json.loads(line) for line in (keys / site / FILE_NAME).read_text().splitlines()]


def coordinator_line(
    keys: Path, *arguments: object, sites: Sequence[str] = SITES, command: str = COORDINATOR
) -> list[str]:
    """`dagora federate coordinator`, or another command of the coordinator, on any port."""
    line = ["federate", command, "--keys", keys / COORDINATOR, "--sites", ",".join(sites), "--port", 0]
    return [str(part) for part in (*line, *arguments)]


def client_line(keys: Path, site: str, file: Path, *arguments: object) -> list[str]:
    """`dagora federate client`; the address is filled in later."""
    line = ["federate", "client", file, "--keys", keys / site, "--connect", "ADDRESS", "--wait", PATIENCE]
    return [str(part) for part in (*line, *arguments)]


class Play:
    """All parties as threads of this process; `helpers` are called with the play, each in a thread."""

    def __init__(self) -> None:
        self.out, self.err = Voices(), Voices()

    def __call__(
        self, coordinator: list[str], clients: Mapping[str, list[str]], *helpers: object
    ) -> dict[str, Ran]:
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err):
            working = {name: start(self._client, name, line) for name, line in clients.items()}
            helping = [start(helper, self) for helper in helpers]
            code = run_command(coordinator)
            self.err.write("\nthe coordinator has ended listening on 127.0.0.1:1\n")
            codes = {name: work.result(PATIENCE) for name, work in working.items()}
            for helper in helping:
                helper.result(PATIENCE)
        said = self.err.of("MainThread").partition("\nthe coordinator has ended")[0]
        heard = {name: Ran(codes[name], self.out.of(name), self.err.of(name)) for name in clients}
        return {COORDINATOR: Ran(code, self.out.of("MainThread"), said), **heard}

    def address(self) -> str:
        """Where the coordinator listens."""
        return self.err.wait_for("MainThread", r"listening on ([\d.]+:\d+)")[1]

    def _client(self, name: str, line: list[str]) -> int:
        threading.current_thread().name = name
        return run_command([part if part != "ADDRESS" else self.address() for part in line])


class Troupe:
    """All parties as processes; leaving the block leaves none of them."""

    def __init__(self, keys: Path) -> None:
        self.keys = keys
        self.processes = PartyProcesses()
        self._address = ""

    def __enter__(self) -> "Troupe":
        self.processes.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.processes.__exit__(*exception)

    def begin(self, files: Mapping[str, Path], *arguments: object, command: str = COORDINATOR) -> None:
        """Start the coordinator, and a client for each file."""
        environment = {"PYTHONPATH": str(ROOT / "src")}
        line = coordinator_line(self.keys, *arguments, sites=tuple(files), command=command)
        self.processes.start(COORDINATOR, line, environment)
        for site, file in files.items():
            client = client_line(self.keys, site, file)
            client[client.index("ADDRESS")] = self.address()
            self.processes.start(site, client, environment)

    def address(self) -> str:
        self._address = self._address or self.hear(r"listening on (\S+)")[1]
        return self._address

    def hear(self, pattern: str) -> re.Match[str]:
        """Wait until the coordinator says something."""
        return self.processes.wait_for_line(COORDINATOR, pattern, PATIENCE)

    def signal(self, who: str, number: int) -> None:
        os.kill(process_ids(self.processes)[who], number)

    def end(self) -> dict[str, Ran]:
        """Wait until all have ended by themselves, well or not."""
        ended = self.processes.wait(PATIENCE, tolerate=list(process_ids(self.processes)))
        return {name: Ran(party.code, party.out, party.err) for name, party in ended.items()}


def only_line(ran: Ran) -> str:
    """What a party says in the end: one line, and nothing on standard output."""
    assert not ran.out, ran
    complaints = [line for line in ran.err.splitlines() if line.startswith("dagora: error: ")]
    assert len(complaints) == 1, ran.err
    assert ran.err.endswith(complaints[0] + "\n")
    assert "Traceback" not in ran.err
    return complaints[0].removeprefix("dagora: error: ")


def refusals(ended: dict[str, Ran], *mentions: str, code: int = 1) -> None:
    """All parties end with one line each, and those that are told why say the same."""
    assert ended[COORDINATOR].code == code
    why = only_line(ended[COORDINATOR])
    assert all(mention in why for mention in mentions), why
    for name, ran in ended.items():
        if name != COORDINATOR:
            assert ran.code == 1
            assert only_line(ran) == f"party 'coordinator' ended the run: {why}"


def interrupt_when(pattern: str) -> Callable[[Play], None]:
    """Press Ctrl-C once the coordinator has said something."""

    def helper(stage: Play) -> None:
        stage.err.wait_for("MainThread", pattern)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    return helper
