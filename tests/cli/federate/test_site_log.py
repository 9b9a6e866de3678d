"""The log of a site on the command line: it names every answer that left, however the run ended."""

import signal
import time
from collections.abc import Callable
from math import comb
from pathlib import Path

import pytest

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.log import site_log
from dagora.parties.horizontal.log.site_log import FILE_NAME, open_log, read_log
from dagora.parties.horizontal.plan.drafting import codebook_of, draft_trial
from dagora.parties.horizontal.policy.drafted_policy import trial_policy
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.transport.certificates import fingerprint
from dagora.parties.transport.in_memory import memory_network
from tests.cli.federate.consortium import (
    COORDINATOR,
    ENDLESS,
    PATIENCE,
    SITES,
    Troupe,
    agree_on,
    client_line,
    interrupt_when,
    log_of,
    only_line,
)
from tests.parties.network import eventually, start
from tests.parties.processes.faults import kill
from tests.parties.wiretap import Death, Wire


def answers(events: list[dict]) -> list[list[list[int]]]:
    """The tables of each answer."""
    return [event["tables"] for event in events if event["event"] == "answer"]


@pytest.fixture
def answered(play: Callable, keys: Path) -> Path:
    """The folder of a site that has taken part in one run."""
    assert play()["south"].code == 0
    return keys / "south"


def test_every_answer_in_words(run: Callable, answered: Path) -> None:
    events = log_of(answered.parent, "south")
    short, long, file = (
        run("federate", "log", *given)
        for given in ((answered,), (answered, "--all"), (answered / FILE_NAME,))
    )
    assert (short.code, short.err, file.out) == (0, "", short.out)
    assert short.out.count("into the sum: counts of") == len(answers(events)) > 1
    assert "accepted a plan for auto over 11 columns with east, north, south, west, on 499 rows" in short.out
    assert " more), " in short.out
    assert " more), " not in long.out
    names = [column["name"] for column in events[0]["plan"]["columns"]]
    for tables in answers(events):
        for table in tables:
            assert (" × ".join(names[column] for column in table) or "all rows") in long.out
    assert short.out.endswith("ended: done\n")
    assert answered.joinpath(FILE_NAME).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("change", ["number", "removed", "swapped", "added"])
def test_a_changed_log_is_refused(run: Callable, answered: Path, files: dict[str, Path], change: str) -> None:
    file = answered / FILE_NAME
    lines = file.read_bytes().splitlines(keepends=True)
    if change == "number":
        lines[1] = lines[1].replace(b'"numbers": ', b'"numbers": 1', 1)
    elif change == "removed":
        del lines[1]
    elif change == "swapped":
        lines[1], lines[2] = lines[2], lines[1]
    else:
        lines.append(b'{"event": "end"}\n')
    file.write_bytes(b"".join(lines))
    for line in (
        ("federate", "log", answered),
        (*client_line(answered.parent, "south", files["south"]), "--connect", "127.0.0.1:1", "--wait", 0.1),
    ):
        ran = run(*line)
        assert ran.code == 2
        assert only_line(ran).startswith(f"{file}: line ")
        assert only_line(ran).endswith("the log cannot be relied on")
    assert file.read_bytes() == b"".join(lines), "it is kept as evidence"


def test_a_line_that_was_cut_off_is_told_and_removed_by_the_next_run(
    run: Callable, play: Callable, answered: Path
) -> None:
    file = answered / FILE_NAME
    whole = file.read_bytes()
    file.write_bytes(whole + whole.splitlines()[1][:100])
    told = run("federate", "log", answered)
    assert told.code == 0
    assert told.out.endswith(
        "the last line was cut off while it was written: the answer that it announces did not leave\n"
    )
    assert play()["south"].code == 0
    assert file.read_bytes().startswith(whole)
    assert run("federate", "log", answered).out.count("accepted a plan") == 2


def test_a_long_log_goes_on_in_a_new_file_signed_with_the_key_of_the_site(
    run: Callable, play: Callable, answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_log, "LONG_FILE", 1000)
    with open_log(answered / FILE_NAME) as log:
        for _ in range(100):
            log.add("refused", {"reason": "long " * 100})
    before = read_log(answered / FILE_NAME)
    assert play()["south"].code == 0
    assert read_log(answered / "federated.1.jsonl").events == before.events
    first, plan, *_ = log_of(answered.parent, "south")
    assert (first["event"], first["after"], plan["event"]) == ("handover", before.last, "plan")
    told = run("federate", "log", answered)
    assert told.code == 0
    signed = fingerprint((answered / "party.pem").read_bytes())
    assert f"goes on from federated.1.jsonl, signed by {signed}; so far " in told.out
    assert told.out.endswith("ended: done\n")


def test_no_log_yet(run: Callable, keys: Path) -> None:
    ran = run("federate", "log", keys / "south")
    assert ran.code == 2
    assert (
        only_line(ran) == f"{keys / 'south' / FILE_NAME}: there is no log: this site has answered nothing yet"
    )


def test_two_clients_with_one_log(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    agree_on(keys, list(files.values()))
    with open_log(keys / "south" / FILE_NAME):
        ran = run(*client_line(keys, "south", files["south"]), "--connect", "127.0.0.1:1")
    assert ran.code == 2
    assert only_line(ran).endswith("another run of this site has its log open: wait for its end")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"version": 1}', "[" * 10_000, "\x00\x01"])
def test_a_file_that_is_no_plan(
    run: Callable, keys: Path, files: dict[str, Path], tmp_path: Path, content: str
) -> None:
    agree_on(keys, list(files.values()))
    (tmp_path / "plan.json").write_text(content)
    line = ("federate", "client", files["south"], "--keys", keys / "south", "--dry-run")
    ran = run(*line, tmp_path / "plan.json")
    assert ran.code == 2
    assert only_line(ran).startswith(f"{tmp_path / 'plan.json'}: ")
    assert "no such file" in only_line(run(*line, tmp_path / "none.json"))
    assert not (keys / "south" / FILE_NAME).exists()


def test_a_plan_that_is_allowed(run: Callable, keys: Path, files: dict[str, Path], tmp_path: Path) -> None:
    agree_on(keys, list(files.values()))
    plan = tmp_path / "plan.json"
    line = ["federate", "coordinator", "--keys", keys / COORDINATOR, "--write-plan", plan]
    written = run(*line)
    assert (written.code, written.out) == (0, "")
    ran = run("federate", "client", files["south"], "--keys", keys / "south", "--dry-run", plan)
    assert (ran.code, ran.err) == (0, "")
    assert "a plan for auto over 11 columns with east, north, south, west\n" in ran.out
    # All sets of up to 9 of 11 columns, none of them too: the number of rows.
    most = sum(comb(11, size) for size in range(10))
    assert f"at most {most} tables of counts, each of at most 9 columns and 2592 cells" in ran.out
    assert ran.out.endswith("this site's policy allows it\n")
    assert not (keys / "south" / FILE_NAME).exists(), "nothing was asked"
    both = run("federate", "client", files["south"], "--keys", keys / "south")
    assert both.code == 2
    assert (
        only_line(both)
        == "a client needs one of --connect HOST:PORT, --serve PLACE (for Flower) and --dry-run PLAN.json"
    )


def test_ctrl_c_at_the_coordinator_leaves_the_whole_account(
    play: Callable, run: Callable, keys: Path, long_work: dict[str, Path], interruptible: None
) -> None:
    others = {site: client_line(keys, site, file) for site, file in long_work.items()}
    tables = list(long_work.values())
    ended = play(*ENDLESS, others=others, tables=tables, helpers=(interrupt_when("climbing"),))
    for site in SITES:
        number = sum(map(len, answers(log_of(keys, site))))
        assert number > 20
        assert f"dagora: answered {number} tables of counts\n" in ended[site].err
        assert run("federate", "log", keys / site).out.endswith("ended: done\n")


@pytest.mark.full
def test_the_account_of_a_run_after_a_hand_over(play: Callable, keys: Path, monkeypatch) -> None:
    """Before, the owner was told that nothing was answered, whatever had left."""
    play()
    with open_log(keys / "south" / FILE_NAME) as log:
        log.add("refused", {"reason": "x" * 100_000})
    monkeypatch.setattr(site_log, "LONG_FILE", 100_000)
    said = play(agreed=True)["south"].err
    handover, *events = log_of(keys, "south")
    assert handover["event"] == "handover"
    number = sum(map(len, answers(events)))
    assert number > 10
    assert f"dagora: answered {number} tables of counts\n" in said


MOMENTS = [
    "got plan", "before keys", "after keys", "got roster", "got ask", "before answer", "after answer",
    "before answer 3", "after answer 3",
]  # fmt: skip


class Deadly(Wire):
    """A wire on which a site may also die at its n-th answer."""

    def __init__(self, inner: object, die: str) -> None:
        moment, _, count = die.partition(" answer ")
        super().__init__(inner, "" if count else die)
        self.last = (moment, int(count)) if count else None
        self.number = 0

    def send(self, to: str, tag: str, payload: bytes) -> None:
        self.number += tag == "answer"
        for moment in ("before", "after"):
            if moment == "after":
                super().send(to, tag, payload)
            if tag == "answer" and self.last == (moment, self.number):
                self.die = "now"
                self._perhaps_die("now")


@pytest.mark.parametrize("die", MOMENTS)
def test_a_site_that_dies_has_every_answer_that_left_in_its_log(tmp_path: Path, die: str) -> None:
    rows = [[0, 0, 1], [1, 1, 0], [1, 0, 1]] * 4
    sites = [Site(name, Table.from_numpy(rows, names=list("abc"))) for name in SITES[:3]]
    network = memory_network([COORDINATOR, *SITES[:3]], hub=COORDINATOR, timeout=PATIENCE)
    keys = hand_out_keys([COORDINATOR, *SITES[:3]])
    marks = {name: key.fingerprint(key.certificate) for name, key in keys.items()}
    coordinator = marks.pop(COORDINATOR)
    plan = draft_trial(codebook_of({"all": sites[0].table}), marks, "hill-climb", coordinator)
    wire = Wire(network[COORDINATOR])
    questions = [[(0,)], [(1,), (0, 1)], [(0, 2)], [(0, 1, 2)]]

    def serve(site: Site) -> None:
        line = network[site.name] if site.name != "south" else Deadly(network["south"], die)
        with open_log(tmp_path / site.name) as log:
            serve_site(line, site, trial_policy(plan), keys[site.name], log, TASKS)

    def ask_everything() -> None:
        with CoordinatorSession(wire, plan, keys[COORDINATOR], patience=PATIENCE) as session:
            for sets in questions:
                session.counts(sets)

    working = {site.name: start(serve, site) for site in sites}
    with pytest.raises(ProtocolError, match="site 'south' was lost"):
        ask_everything()
    assert isinstance(working["south"].exception(PATIENCE), Death)
    logged = answers(read_log(tmp_path / "south").events)
    received = [tag for sender, tag, _ in wire.received if (sender, tag) == ("south", "answer")]
    assert len(received) <= len(logged) <= len(received) + 1
    assert logged == [[list(some) for some in sets] for sets in questions[: len(logged)]]
    if die == "after answer 3":
        assert len(logged) == 3
    if die in ("got plan", "before keys", "after keys", "got roster", "got ask"):
        assert logged == []


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.11, 0.3])
def test_a_killed_client_has_every_answer_that_left_in_its_log(
    run: Callable, keys: Path, long_work: dict[str, Path], seconds: float
) -> None:
    """The others were asked again only after its answer had come: all but their last are in its log, too."""
    files = {site: long_work[site] for site in SITES[:3]}
    agree_on(keys, list(files.values()), SITES[:3])
    with Troupe(keys) as troupe:
        troupe.begin(files, *ENDLESS)
        eventually(lambda: (keys / "south" / FILE_NAME).exists() and b'"answer"' in (keys / "south" / FILE_NAME).read_bytes())  # fmt: skip
        time.sleep(seconds)
        kill(troupe.processes, "south")
        ended = troupe.end()
    assert ended["south"].code == -signal.SIGKILL
    told = run("federate", "log", keys / "south")
    assert told.code == 0, told.err
    mine, others = (answers(read_log(keys / site / FILE_NAME).events) for site in ("south", "north"))
    assert len(mine) >= len(others) - 1
    assert mine[: len(others)] == others[: len(mine)]
    assert mine


def test_a_log_that_others_may_read(run: Callable, answered: Path, files: dict[str, Path]) -> None:
    file = answered / FILE_NAME
    file.chmod(0o644)
    ran = run(
        *client_line(answered.parent, "south", files["south"]), "--connect", "127.0.0.1:1", "--wait", 0.1
    )
    assert ran.code == 2
    assert only_line(ran).endswith(f"chmod 600 {file}")
    told = run("federate", "log", answered)
    assert told.code == 0
    assert f"chmod 600 {file}" in told.err
    assert told.out.endswith("ended: done\n")
