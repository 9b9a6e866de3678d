"""Bad luck, or somebody who can cause it, wants a federation to leak, to hang, to lie or to lose its records.

A coordinator in one process and three sites, each run in a process of its own, run again and again over TLS while
parties are killed, disks are full, links are slow or cut, clocks jump and processes come back, at every step.
`DAGORA_WEAR` is the number of runs; `DAGORA_ATTACK_SEED` decides what happens in them.
"""

import multiprocessing
import os
import random
import re
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.site_log import FILE_NAME, read_log
from dagora.parties.privacy.accounting import rho_of
from dagora.parties.transport.certificates import make_certificates
from tests.attacks.fuzz import SEED
from tests.attacks.worn_parties import Coordinated, Fault, Holdings, coordinate, take_part
from tests.cli.federate.consortium import COORDINATOR, agree_on, client_line, coordinator_line, only_line
from tests.cli.federate.pooled import edges_of, pooled
from tests.conftest import Ran
from tests.parties.network import PATIENCE

RUNS = int(os.environ.get("DAGORA_WEAR", "150"))
SITES = ("east", "north", "south")
PRIVACY = ("epsilon=1", "epsilon=2")
# The moments of a run as a site and as the coordinator go through them.
OF_SITES = [
    "connecting", "got plan", "half a line", "before keys", "after keys", "got roster", "got ask",
    "before answer", "after answer",
]  # fmt: skip
OF_COORDINATOR = [
    "before plan", "after plan", "got keys", "before roster", "after roster", "before ask", "after ask",
    "got answer",
]  # fmt: skip
DAY = 86400.0
# Beside what it holds after the first runs.
MORE_OBJECTS, MORE_BYTES = 500, 10 << 20


QUIET = Fault()


@dataclass(frozen=True)
class Fortune:
    """What happens in a run: a fault of one party, who comes back after it, and the privacy that is asked for."""

    who: str = SITES[0]
    fault: Fault = QUIET
    comes_back: bool = False
    privacy: str = ""

    @property
    def harmless(self) -> bool:
        """Whether there must be a result."""
        return self.fault.kind in ("", "slow", "stall")


def draw_fortunes(runs: int, draw: random.Random) -> Iterator[Fortune]:
    """Every kind of fault at every moment, in a random sequence again and again, with quiet runs between."""
    deaths = [(SITES, "kill", moment) for moment in OF_SITES]
    deaths += [((COORDINATOR,), "kill", moment) for moment in OF_COORDINATOR]
    others = [(SITES, "stall", draw.choice(OF_SITES)), (SITES, "slow", ""), (SITES, "cut", "")]
    others += [(SITES, "full", "")] * 2 + [((COORDINATOR,), "full", "")]
    others += [(SITES, "clock", moment) for moment in ("connecting", "got plan", "got ask")]
    listed: list[tuple[tuple[str, ...], str, str]] = []
    for number in range(runs):
        privacy = draw.choice(PRIVACY) if draw.random() < 0.25 else ""
        if number % 3 == 0:
            yield Fortune(privacy=privacy)
            continue
        if not listed:
            listed = draw.sample(deaths + others, len(deaths + others))
        parties, kind, moment = listed.pop()
        later = moment.endswith(("ask", "answer", "a line"))
        size = {
            "stall": 0.2, "slow": 0.002, "cut": draw.randrange(12_000), "full": draw.randrange(2500),
            "clock": draw.choice([-1, 1]) * draw.choice([60, DAY, 4000 * DAY]),
        }.get(kind, 0.0)  # fmt: skip
        if (parties, kind) == ((COORDINATOR,), "full"):
            size = 1500 if privacy else 1000  # less than a result; what it says goes to a file, too, and fits
        fault = Fault(kind, moment, draw.randint(1, 3) if later else 1, size)
        yield Fortune(draw.choice(parties), fault, draw.random() < 0.5, privacy)


class Federation:
    """A consortium whose sites are new processes in each run, and whose coordinator is not."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.keys = folder, folder / "keys"
        table = dagora.simulate(dagora.random_dag("er", 4, 2, seed=2), "logistic", 300, seed=2).table
        write_table(table, folder / "all.csv")
        self.pooled = pooled(folder / "all.csv")
        self.files = {site: folder / f"{site}.csv" for site in SITES}
        for file, part in zip(self.files.values(), split_rows(table, 3), strict=True):
            write_table(part, file)
        make_certificates(self.keys, [COORDINATOR, *SITES])
        changes = {site: {"rho_for_ever": 1.0} for site in SITES}
        agree_on(self.keys, list(self.files.values()), SITES, changes)
        self._make = multiprocessing.get_context("forkserver")
        self._make.set_forkserver_preload(["tests.attacks.warm_parties"])
        self.jobs, theirs = self._make.Pipe()
        self._coordinator = self._make.Process(target=coordinate, args=(theirs,), daemon=True)
        self._coordinator.start()
        self.answers = dict.fromkeys(SITES, 0)
        self._counted: dict[Path, int] = {}  # answers in files of logs that are not written to any more

    def close(self) -> None:
        self.jobs.send(None)
        self._coordinator.join(PATIENCE)
        self._coordinator.kill()

    def log(self, site: str) -> Path:
        return self.keys / site / FILE_NAME

    def answers_of(self, site: str) -> int:
        """All answers that the site has written down, also in older files of its log."""
        now = self.log(site)
        if not now.exists():
            return 0
        for file in now.parent.glob(f"{now.stem}.*{now.suffix}"):
            if file not in self._counted and not file.samefile(now):  # a hand-over may be cut off
                self._counted[file] = number_of_answers(file)
        older = [number for file, number in self._counted.items() if file.parent == now.parent]
        return sum(older) + number_of_answers(now)

    def run(self, fortune: Fortune) -> tuple[Coordinated | None, dict[str, Ran]]:
        """Let all take part once; without an end of the coordinator's if it was killed."""
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        line = coordinator_line(self.keys, "-o", out, "--patience", 20, sites=SITES)
        line += (
            ["--privacy", fortune.privacy]
            if fortune.privacy
            else ["--method", "hill-climb", "--max-parents", "2"]
        )
        absent = (
            fortune.fault.moment == "connecting" and fortune.fault.kind == "kill" and not fortune.comes_back
        )
        line += ["--wait", "2" if absent else "20"]
        faults = {fortune.who: fortune.fault}
        said = self.folder / f"{COORDINATOR}.txt"
        said.unlink(missing_ok=True)
        job = (line, faults.get(COORDINATOR, Fault()), None, said)
        mortal = fortune.who == COORDINATOR and fortune.fault.kind == "kill"
        coordinator = self._start(*job) if mortal else None
        if coordinator is None:
            self.jobs.send(job)
        address = self._address(said)
        sites = {site: self._site(site, address, faults.get(site, Fault())) for site in SITES}
        if fortune.fault.kind == "kill" and not mortal:
            self._wait(sites[fortune.who])
            if fortune.comes_back:
                sites[fortune.who] = self._site(fortune.who, address, QUIET, wait=1)
        if coordinator is not None:
            self._wait(coordinator)
        ended = None if mortal else self._heard(self.jobs)
        codes = {site: self._wait(process) for site, process in sites.items()}
        if mortal:
            codes[COORDINATOR] = coordinator.exitcode
        else:
            codes[COORDINATOR] = ended.code
        return ended, {party: Ran(code, "", self._said(party)) for party, code in codes.items()}

    def _start(self, *arguments: object) -> multiprocessing.Process:
        process = self._make.Process(target=take_part, args=arguments, daemon=True)
        process.start()
        return process

    def _site(self, site: str, address: str, fault: Fault, wait: float = 20) -> multiprocessing.Process:
        line = client_line(self.keys, site, self.files[site])
        line[line.index("ADDRESS")] = address
        line[line.index("--wait") + 1] = str(wait)
        return self._start(line, fault, self.log(site), self.folder / f"{site}.txt")

    def _said(self, party: str) -> str:
        return (self.folder / f"{party}.txt").read_text(encoding="utf-8")

    def _address(self, said: Path) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if said.exists() and (found := re.search(r"listening on (\S+) for", said.read_text())):
                return found[1]
            time.sleep(0.005)
        raise AssertionError(f"the coordinator does not listen: {said.read_text()}")

    def _wait(self, process: multiprocessing.Process) -> int:
        process.join(PATIENCE)
        assert process.exitcode is not None, "a party hangs"
        return process.exitcode

    def _heard(self, jobs: Connection) -> Coordinated:
        assert jobs.poll(PATIENCE), "the coordinator hangs"
        return jobs.recv()


def check_end(federation: Federation, fortune: Fortune, ran: Mapping[str, Ran], seen: dict) -> bool:
    """A result that is that of pooled rows, or that of the same release before; or one line. True if a result."""
    for party, end in ran.items():
        killed = party == fortune.who and fortune.fault.kind == "kill"
        assert end.code in (0, 1, 2) or (killed and end.code == -signal.SIGKILL), (party, end)
        if end.code > 0:
            only_line(end)
        assert "Traceback" not in end.err
    out = federation.folder / "out.json"
    if ran[COORDINATOR].code != 0:
        assert not fortune.harmless, ran
        assert not out.exists() or fortune.fault.kind == "kill"
        return False
    found = edges_of(out.read_text())
    assert found == (seen.setdefault(fortune.privacy, found) if fortune.privacy else federation.pooled)
    return True


def check_log(federation: Federation, site: str, ended: Coordinated | None) -> None:
    """The log is whole, names each answer that left, and no more than one that did not."""
    answers = federation.answers_of(site)
    fresh, federation.answers[site] = answers - federation.answers[site], answers
    if ended is not None:
        assert ended.answers[site] <= fresh <= ended.answers[site] + 1


def number_of_answers(log: Path) -> int:
    return sum(event["event"] == "answer" for event in read_log(log).events)


def check_history(federation: Federation, tables: set[str], offered: set[str], released: set[str]) -> None:
    """What is counted for ever is counted once, however often runs were broken off and began anew."""
    for site in SITES:
        history = History.of(read_log(federation.log(site)).events)
        assert {name for *_, name in history.sums} == tables
        least, most = (sum(map(price_of, some)) for some in (released, offered))
        assert least * 0.999 <= history.spent <= most * 1.001


def tables_of(events: list[dict]) -> set[str]:
    """The names of the sums of counts in a log."""
    asked = [table for event in events if event.get("asks") == "counts" for table in event["tables"]]
    return {f"counts {','.join(map(str, table))}" for table in asked}


def price_of(privacy: str) -> float:
    return rho_of(float(privacy.partition("=")[2]), 1e-6)


def check_holdings(holds: list[Holdings]) -> None:
    """After the first runs, which load what they need, the coordinator's process holds no more and no more."""
    first, last = holds[len(holds) // 3], holds[-1]
    assert (last.files, last.threads) == (first.files, first.threads), holds
    assert last.objects < first.objects + MORE_OBJECTS, holds
    assert last.bytes < first.bytes + MORE_BYTES, holds


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_runs_in_a_row_under_every_fault(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    print(f"seed {SEED}, {RUNS} runs")
    federation = Federation(tmp_path)
    request.addfinalizer(federation.close)
    seen: dict[str, tuple] = {}
    holds, results, tables, offered, released = [], 0, set(), set(), set()
    for number, fortune in enumerate(draw_fortunes(RUNS, random.Random(SEED))):
        ended, ran = federation.run(fortune)
        try:
            found = check_end(federation, fortune, ran, seen)
            for site in SITES:
                check_log(federation, site, ended)
        except Exception as error:
            raise AssertionError(f"run {number} of seed {SEED}: {fortune}: {ran}") from error
        results += found
        if fortune.privacy:
            offered.add(fortune.privacy)
            released |= {fortune.privacy} if found else set()
        elif found and not tables:
            tables = tables_of(read_log(federation.log(SITES[0])).events)
        holds += [ended.holds] if ended is not None else []
        print(number, fortune.who, fortune.fault, fortune.privacy, found, holds[-1:])
    assert RUNS // 3 < results < RUNS
    check_history(federation, tables, offered, released)
    assert all(len(list(federation.log(site).parent.glob("*.jsonl"))) > RUNS // 50 for site in SITES)
    check_holdings(holds)
