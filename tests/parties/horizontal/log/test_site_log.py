"""The log names every answer that left, whatever happens to process, machine or file."""

import json
import os
import stat

import numpy as np
import pytest

from dagora.base.errors import FormatError, OptionError, ProtocolError
from dagora.data.partition import split_rows
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.log_text import log_in_words, summarise
from dagora.parties.horizontal.log.site_log import open_log, read_log
from tests.parties.horizontal.meeting import Meeting, ask_all
from tests.parties.wiretap import Death
from tests.random_tables import random_discrete

NAMES = ("east", "north", "west")


def tables():
    table = random_discrete(np.random.default_rng(1), 60, [2, 3, 2])
    return dict(zip(NAMES, split_rows(table, 3), strict=True))


def filled(path, events=3):
    with open_log(path) as log:
        for number in range(events):
            log.add("refused", {"reason": f"reason {number}"})
    return path


def test_a_log_is_read_as_it_was_written_and_goes_on(tmp_path):
    path = filled(tmp_path / "log")
    filled(path, 2)
    found = read_log(path)
    assert [event["reason"] for event in found.events] == [
        "reason 0",
        "reason 1",
        "reason 2",
        "reason 0",
        "reason 1",
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: [lines[0].replace(b"reason 0", b"reason 9"), *lines[1:]],
        lambda lines: [*lines[:-1], lines[-1].replace(b"reason 2", b"reason 9")],
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [*lines[:2], b"\n", lines[2]],
        lambda lines: [*lines, b"null\n"],
        lambda lines: [lines[0], b"[" * 100_000 + b"\n", *lines[1:]],
    ],
    ids=[
        "changed",
        "last changed",
        "first removed",
        "middle removed",
        "swapped",
        "empty line",
        "null",
        "deep",
    ],
)
def test_a_log_that_was_changed_is_refused(tmp_path, spoil):
    path = filled(tmp_path / "log")
    path.write_bytes(b"".join(spoil(lines_of(path))))
    with (
        pytest.raises(FormatError, match=r"line \d+ was changed, or a line before it is missing"),
        open_log(path),
    ):
        pass


def test_a_line_that_was_cut_off_is_told_and_removed_by_the_next_run(tmp_path):
    path = filled(tmp_path / "log")
    whole = path.read_bytes()
    for cut in (1, 20, len(lines_of(path)[-1]) - 1):
        path.write_bytes(whole[:-cut])
        found = read_log(path)
        assert found.torn
        assert len(found.events) == 2
        with open_log(path) as log:
            log.add("end", {"reason": "done"})
        assert [event["event"] for event in read_log(path).events] == ["refused", "refused", "end"]


def test_one_run_at_a_time(tmp_path):
    with (
        open_log(tmp_path / "log"),
        pytest.raises(OptionError, match="another run"),
        open_log(tmp_path / "log"),
    ):
        pass


def test_a_full_disk_keeps_the_answer_in(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with open_log(tmp_path / "log") as log:
        meeting = Meeting(tables(), logs={"west": log})
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(ProtocolError), meeting.session as session:
            session.counts([(0,)])
        monkeypatch.undo()
        assert "could not be written" in meeting.lines()["west"] or "o space left" in meeting.lines()["west"]
    assert not any(tag == "answer" for _, tag, _ in meeting.wires["west"].sent)


MOMENTS = ["got plan", "before keys", "after keys", "got roster", "got ask", "before answer", "after answer"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_step_the_log_names_every_answer_that_left(tmp_path, moment):
    with open_log(tmp_path / "log") as log:
        meeting = Meeting(tables(), logs={"west": log}, die={"west": moment})
        with pytest.raises(ProtocolError), meeting.session as session:
            ask_all(session, [(0,)], [(1,)], [(0, 1)])
        assert isinstance(meeting.working["west"].exception(10), Death)
    logged = [event for event in read_log(tmp_path / "log").events if event["event"] == "answer"]
    left = [tag for _, tag, _ in meeting.wires["west"].sent if tag == "answer"]
    assert len(left) <= len(logged) <= len(left) + 1


def test_each_line_is_on_disk_before_its_answer_leaves(tmp_path, monkeypatch):
    order = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (order.append("disk"), sync(handle))[1])
    with open_log(tmp_path / "log") as log:
        meeting = Meeting(tables(), logs={"west": log})
        wire, send = meeting.wires["west"], meeting.wires["west"].send
        wire.send = lambda to, tag, payload: (order.append(tag), send(to, tag, payload))[1]
        with meeting.session as session:
            ask_all(session, [(0,)], [(1,)])
        meeting.lines()
    assert [step for step in order if step != "disk"] == ["keys", "answer", "answer"]
    for place, step in enumerate(order):
        if step in {"keys", "answer"}:
            assert order[place - 1] == "disk"


def test_the_log_in_words(tmp_path):
    with open_log(tmp_path / "log") as log:
        meeting = Meeting(tables(), logs={"west": log})
        with meeting.session as session:
            ask_all(session, [(0,), (0, 1)])
        meeting.lines()
        said = list(log_in_words(log.events))
        names = meeting.codebook.schema.names
    assert said[0].endswith(
        "accepted a plan for hill-climb over 3 columns with east, north, west, on 20 rows"
    )
    assert any(f"counts of 2 tables ({names[0]}, {names[0]} × {names[1]})" in line for line in said)
    assert said[-1].endswith("ended: done")
    assert summarise(log.events) == "answered 2 tables of counts"


def test_history_counts_each_sum_once():
    plan = {"event": "plan", "roster": "r", "rows_digest": "d", "codebook": "c", "plan_digest": "p"}
    one = {"event": "answer", "asks": "counts", "tables": [[0], [0, 1]]}
    history = History.of([plan, one, one, {"event": "answer", "asks": "moments"}])
    assert len(history.sums) == 3
    history.add({**plan, "rows_digest": "changed"})
    history.add(one)
    assert len(history.sums) == 3, "what is counted does not depend on rows"
    history.add({**plan, "roster": "other"})
    history.add(one)
    assert len(history.sums) == 5
    assert history.rosters == {"r", "other"}


def test_json_of_a_line_is_what_the_chain_says(tmp_path):
    path = filled(tmp_path / "log", 2)
    first, second = (json.loads(line) for line in lines_of(path))
    assert first["after"] == "0" * 64
    assert second["after"] == first["hash"]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_failed_write_leaves_a_log_that_can_be_read(tmp_path, monkeypatch, call):
    path = filled(tmp_path / "log")
    whole = path.read_bytes()
    genuine = getattr(os, call)

    def fail(handle, *content):
        if call == "write":
            genuine(handle, content[0][:5])
        raise OSError(28, "No space left on device")

    with open_log(path) as log:
        monkeypatch.setattr(os, call, fail)
        with pytest.raises(FormatError, match="o space left"):
            log.add("answer", {})
        monkeypatch.undo()
        with pytest.raises(FormatError, match="nothing more is written"):
            log.add("end", {})
    assert path.read_bytes() == whole
    assert len(read_log(path).events) == 3


PLAN = {"plan": {}, "plan_digest": "p", "roster": "r", "codebook": "c", "rows": 3}
RELEASED = {"asks": "release", "rho": 0.1, "part": [1, -1], "numbers": 2}
COUNTED = {"asks": "counts", "tables": [[0], [0, 1]], "numbers": 2}
ODD = {
    "unknown event": [("boo", {})],
    "answer before a plan": [("answer", COUNTED)],
    "shown before a plan": [("shown", {"task": "votes", "bytes": 3})],
    "answer to nothing": [("plan", PLAN), ("answer", {})],
    "answer to odd kind": [("plan", PLAN), ("answer", {**COUNTED, "asks": "rows"})],
    "answer to a list": [("plan", PLAN), ("answer", {**COUNTED, "asks": ["counts"]})],
    "tables no list": [("plan", PLAN), ("answer", {**COUNTED, "tables": 5})],
    "tables too deep": [("plan", PLAN), ("answer", {**COUNTED, "tables": [[[1]]]})],
    "tables of truths": [("plan", PLAN), ("answer", {**COUNTED, "tables": [[True]]})],
    "numbers of text": [("plan", PLAN), ("answer", {**COUNTED, "numbers": "2"})],
    "basis without functions": [("plan", PLAN), ("answer", {"asks": "basis", "numbers": 2})],
    "price of text": [("plan", PLAN), ("answer", {**RELEASED, "rho": "x"})],
    "price below 0": [("plan", PLAN), ("answer", {**RELEASED, "rho": -5.0})],
    "no part": [("plan", PLAN), ("answer", {"asks": "release", "rho": 0.1, "numbers": 2})],
    "part too large": [("plan", PLAN), ("answer", {**RELEASED, "part": [1 << 63]})],
    "price without release": [("plan", PLAN), ("answer", {**COUNTED, "rho": 0.1})],
    "plan without roster": [("plan", {key: PLAN[key] for key in PLAN if key != "roster"})],
    "plan is a list": [("plan", {**PLAN, "plan": [1]})],
    "rows of text": [("plan", {**PLAN, "rows": "3"})],
    "shown nothing": [("plan", PLAN), ("shown", {})],
    "counts again": [("plan", PLAN), ("answer", {**COUNTED, "again": "h"})],
    "again a number": [("plan", PLAN), ("answer", {"asks": "release", "numbers": 2, "again": 3})],
    "question of text": [("plan", PLAN), ("shown", {"task": "votes", "bytes": 3, "question": "why"})],
    "end without reason": [("end", {})],
    "reason no text": [("refused", {"reason": 3})],
    "time no text": [("end", {"reason": "done", "time": 5})],
}


@pytest.mark.parametrize("name", ODD)
def test_a_well_sealed_log_with_odd_events_is_refused_at_its_line(tmp_path, name):
    path = tmp_path / "log"
    with open_log(path) as log:
        for event, content in ODD[name]:
            log.add(event, content)
    with pytest.raises(
        FormatError, match=f"log: line {len(ODD[name])}: (the event|there is no|only)"
    ) as caught:
        read_log(path)
    assert "\n" not in str(caught.value)


def test_events_as_sites_write_them_are_read(tmp_path):
    good = [("plan", PLAN), ("answer", COUNTED), ("answer", RELEASED), ("refused", {"reason": "no"})]
    good += [("answer", {"asks": "moments", "numbers": 9}), ("shown", {"task": "votes", "bytes": 3})]
    with open_log(tmp_path / "log") as log:
        for event, content in good:
            log.add(event, content)
    with open_log(tmp_path / "log") as log:
        history = History.of(log.events)
        assert (len(history.sums), history.spent, len(history.shown)) == (3, 0.1, 1)
        assert log.recall(history.releases["p"])["part"] == [1, -1]


def test_what_would_change_the_screen_is_spelt_out():
    events = [
        {"event": "end", "time": "\x1b[2J", "reason": "a\u202eb"},
        {"event": "refused", "time": "", "reason": "\x9b"},
    ]
    assert list(log_in_words(events)) == ["\\x1b[2J  ended: a\\u202eb", "  refused: \\x9b"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_log_that_others_may_read_is_refused(tmp_path, mode):
    path = filled(tmp_path / "log")
    path.chmod(mode)
    with pytest.raises(FormatError, match=f"may read this log.*chmod 600 {path}"), open_log(path):
        pass
    path.chmod(0o600)
    with open_log(path) as log:
        assert len(log.events) == 3
