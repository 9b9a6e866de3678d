"""A coordinator wants a site's log to grow until the site can answer no more, or forgets what it has answered."""

import errno
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dagora.base.errors import FormatError, OptionError, ProtocolError
from dagora.data.partition import split_rows
from dagora.parties.horizontal.log import site_log
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.log_text import log_in_words
from dagora.parties.horizontal.log.site_log import open_log, read_log
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.policy.drafted_policy import draft_policy
from dagora.parties.horizontal.policy.policy import PolicyError
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.secure_sum.roster import ENTRY
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.questions import ANSWER, SHOWN, PlanQuestion
from dagora.parties.privacy.terms import agree_on_terms
from dagora.parties.transport.messages import encode
from tests.parties.horizontal.meeting import Meeting
from tests.random_tables import random_discrete

NAMES = ("east", "north", "west")
TABLE = random_discrete(np.random.default_rng(1), 90, [9, 9, 9, 9])
SITES = dict(zip(NAMES, split_rows(TABLE, 3), strict=True))
BOOK = codebook_of(SITES)
KEYS = hand_out_keys(["coordinator", *NAMES])


def release(log, epsilon=1.0, policies=None, settings=None):
    """One run of a plan with noise; the sum, as the coordinator sees it."""
    terms = agree_on_terms(BOOK.schema, 3, epsilon=epsilon)
    plan = {"questions": ("release",), "privacy": terms, "tables": 0, "settings": settings or {}}
    meeting = Meeting(SITES, plan=plan, logs={"west": log}, keys=KEYS, policies=policies)
    try:
        with meeting.session as session:
            session.agree()
            session._sum(PlanQuestion("release"))
            return meeting.wires["west"]
    finally:
        meeting.lines()


def parts(path):
    return [event for event in map(json.loads, path.read_bytes().splitlines()) if "part" in event]


def test_a_plan_that_is_repeated_adds_two_short_lines(tmp_path):
    """Before, its whole part was written again, and read into memory by every later run."""
    path = tmp_path / "log"
    sizes = []
    for _ in range(4):
        with open_log(path) as log:
            release(log)
            assert not any("part" in event for event in log.events)
        sizes.append(path.stat().st_size)
    grown = np.diff(sizes)
    assert len(parts(path)) == 1
    assert len(set(grown)) == 1
    assert grown[0] < 1500 < sizes[0] - 1500
    events = read_log(path).events
    again = [event["again"] for event in events if "again" in event and event["event"] == "answer"]
    assert set(again) == {event["hash"] for event in events if event.get("rho")}
    assert History.of(events).spent == pytest.approx(agree_on_terms(BOOK.schema, 3, epsilon=1.0).rho)
    assert sum("the same as before" in line for line in log_in_words(events)) == 3


def test_cheap_releases_are_limited_in_number(tmp_path):
    """At ε = 0.001 a million of them cost less than the usual limit on privacy."""
    policies = {name: {"rho_for_ever": 0.1, "releases_for_ever": 3} for name in NAMES}
    with open_log(tmp_path / "log") as log:
        for number in range(3):
            release(log, 0.001, policies, {"number": number})
        release(log, 0.001, policies, {"number": 1})  # the same again costs nothing
        with pytest.raises(ProtocolError, match="refused the plan"):
            release(log, 0.001, policies, {"number": 3})
        assert "(releases_for_ever): 3 releases" in log.events[-1]["reason"]
        assert History.of(log.events).spent < 1e-5


def test_a_drafted_policy_limits_the_number_of_releases():
    prints = {name: "sha256:" + str(i) * 64 for i, name in enumerate(NAMES)}
    policy = draft_policy(BOOK, "sha256:" + "f" * 64, prints, least_sites=3, rows=90)
    policy.may_spend(History(rho={str(i): 1e-9 for i in range(99)}), 1e-9, "new")
    with pytest.raises(PolicyError, match="100 releases with noise were made already"):
        policy.may_spend(History(rho={str(i): 1e-9 for i in range(100)}), 1e-9, "new")


def test_what_a_coordinator_may_write_into_a_plan_is_short():
    """Every plan stands in the log; its columns are those of the owner's policy."""
    plan = Meeting(SITES, keys=KEYS).trial
    most = {str(number): "x" * 990 for number in range(16)}
    RunPlan.decode(replace(plan, settings=most).encode())
    content = {**plan.to_dict(), "settings": most | {"more": ["x" * 990]}}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    with pytest.raises(ProtocolError, match="settings of a plan have at most 16384 characters"):
        RunPlan.decode(text.encode())
    asked = {"local-graph": {"model": "pc", "knowledge": {"forbidden": [["x", "y" * 100]] * 10_000}}}
    vote = {"method": "vote", "shows": ("local-graph",)}
    with pytest.raises(FormatError, match="shown_questions of a plan have at most 1048576 characters"):
        replace(plan, **vote, shown_questions=asked)
    names = [f"{letter}{'x' * 99}" for letter in "abcd"]
    book = Codebook(tuple(replace(coding, name=name) for coding, name in zip(BOOK, names, strict=True)))
    plan = replace(plan, codebook=book, questions=("counts",))
    replace(plan, sets=(tuple(names),) * 150)
    with pytest.raises(FormatError, match="sets of a plan have at most 65536 characters"):
        replace(plan, sets=(tuple(names),) * 200)


def test_long_plans_are_written_when_they_are_asked(tmp_path, monkeypatch):
    """Before, each plan that all had signed was up to 80 kB in the log, and asked nothing."""
    monkeypatch.setattr(serving, "MOST_OFFERED", 2)
    path, sizes = tmp_path / "log", [0]
    for number in (0, 1, 2, 3, 3):
        with open_log(path) as log:
            plan = {"settings": {"number": number, "more": ["x" * 900] * 15}}
            meeting = Meeting(SITES, plan=plan, logs={"west": log}, keys=KEYS)
            with meeting.session as session:
                session.agree()
                if number == 3:
                    session.counts([(0,)])
            assert meeting.lines()["west"] == ""
        sizes.append(path.stat().st_size)
    first, second, third, asked, again = np.diff(sizes)
    assert 4000 < min(first, second) <= max(first, second) < 6000
    assert third < 1200
    assert 14_000 < asked < 18_000
    assert again < 2000
    events = read_log(path).events
    kinds = [event["event"] for event in events]
    assert kinds == ["signed", "end"] * 3 + ["signed", "plan", "answer", "end"] + ["plan", "answer", "end"]
    assert events[7]["plan"] == meeting.plan.to_dict()
    assert len(History.of(events).sums) == 1
    said = list(log_in_words(events))
    assert sum("signed plan" in line and "asked nothing yet" in line for line in said) == 4
    assert sum("accepted a plan" in line for line in said) == 2


@pytest.mark.parametrize("roster", [None, b"nonsense"])
def test_a_plan_that_not_all_have_signed_is_a_short_line(tmp_path, roster):
    """Before, the whole plan was written before any signature was checked, again and again."""
    path, sizes = tmp_path / "log", [0]
    settings = {"number": 1, "more": ["x" * 900] * 10}
    for number in range(3):
        with open_log(path) as log:
            meeting = Meeting(
                SITES, plan={"settings": {**settings, "number": number // 2}}, logs={"west": log}, keys=KEYS
            )
            offer = {"plan": meeting.plan.encode(), "certificate": KEYS["coordinator"].certificate}
            meeting.session._tell(encode(offer), "plan")
            meeting.session._collect("keys", ENTRY)
            if roster:
                meeting.session._tell(roster, "roster")
            meeting.hub.close()
            meeting.lines()
        sizes.append(path.stat().st_size)
    events = read_log(path).events
    assert [event["event"] for event in events] == ["refused"] * 3
    assert all("a plan that not all have signed" in event["reason"] for event in events)
    first, again, other = np.diff(sizes)
    assert again < 700 < first < 5000
    assert 700 < other < 5000


def test_refused_plans_are_short_lines_after_the_first_hundred(tmp_path, monkeypatch):
    """Each had 4 kB in the log: fifty a second would have been a gigabyte in an hour and a half."""
    monkeypatch.setattr(serving, "MOST_OFFERED", 3)
    path, sizes = tmp_path / "log", [0]
    for number in range(6):
        with open_log(path) as log:
            meeting = Meeting(
                SITES,
                plan={"settings": {"number": number, "more": ["x" * 900] * 10}},
                logs={"west": log},
                keys=KEYS,
                policies={"west": {"methods": ("ges",)}},
            )
            with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
                session.agree()
            meeting.lines()
        sizes.append(path.stat().st_size)
    events = read_log(path).events
    assert len({event["offered"] for event in events}) == 6
    assert (np.diff(sizes)[:3] > 4000).all()
    assert (np.diff(sizes)[3:] < 700).all()


def long_question(number):
    """A question to a site alone of nearly a megabyte."""
    forbidden = [["x", "y"]] * 80_000
    return {
        "model": "pc", "alpha": 0.01, "knowledge": {"forbidden": forbidden}, "seconds": -1.0, "seed": number
    }  # fmt: skip


@pytest.mark.full
def test_a_long_question_is_written_when_it_is_asked(tmp_path):
    """Before, a plan that all had signed was a megabyte in the log, though it asked nothing and counted nothing."""
    path, sizes = tmp_path / "log", [0]
    tasks = {"local-graph": lambda site, _: {"graph": np.zeros((4, 4), bool), "learned": np.ones(1, bool)}}
    names = []
    for number, asks in ((0, False), (1, False), (2, True), (2, True)):
        question = long_question(number)
        settings = {"number": len(sizes)}
        plan = {"shows": ("local-graph",), "shown_questions": {"local-graph": question}, "settings": settings}
        policies = {"west": {"shows": ("vote",), "shown_for_ever": 1}}
        with open_log(path) as log:
            meeting = Meeting(
                SITES, method="vote", plan=plan, logs={"west": log}, keys=KEYS, policies=policies, tasks=tasks
            )
            with meeting.session as session:
                session.agree()
                if asks:
                    session._ask(PlanQuestion(SHOWN, task="local-graph", content={}))
                    session._collect(ANSWER, {"answer": dict})
            assert meeting.lines()["west"] == ""
        names.append(meeting.plan.shown_name("local-graph"))
        sizes.append(path.stat().st_size)
    signed, other, asked, again = np.diff(sizes)
    assert max(signed, other, again) < 5000
    assert 900_000 < asked < 1_000_000
    events = read_log(path).events
    assert list(History.of(events).shown) == [names[-1]]
    plans = [event for event in events if event["event"] == "plan"]
    # The name under which it is counted tells in which line it stands.
    assert [event["plan"]["shown_questions"]["local-graph"]["sha256"] for event in plans] == [
        name.split()[1] for name in names
    ]
    said = list(log_in_words(events))
    assert (
        sum(
            line.strip().startswith(f"plan {event['plan_digest'][:16]},")
            for line, event in product(said, plans)
        )
        == 4
    )
    assert (
        sum(f"(told by its hash {name.split()[1][:16]})" in line for line, name in product(said, set(names)))
        == 4
    )
    assert sum("forbidden x → y" in line for line in said) == 1


@pytest.fixture
def short_files(monkeypatch):
    monkeypatch.setattr(site_log, "LONG_FILE", 4000)


def handed_over(path):
    """A log of two files with one release in the older one; its history."""
    with open_log(path) as log:
        release(log)
        before = History.of(log.events)
        log.hand_over(KEYS["west"])
        assert [event["event"] for event in log.events] == ["handover"]
        log.add("end", {"reason": "done"})
    return before


def test_a_long_log_goes_on_in_a_new_file_with_all_that_is_counted(tmp_path, short_files):
    path, older = tmp_path / "log.jsonl", tmp_path / "log.1.jsonl"
    before = handed_over(path)
    first = json.loads(path.read_bytes().splitlines()[0])
    assert first["after"] == json.loads(older.read_bytes().splitlines()[-1])["hash"]
    assert older.stat().st_mode & 0o077 == 0
    found = read_log(path)
    after = History.of(found.events)
    assert (after.sums, after.rosters, after.rho) == (before.sums, before.rosters, before.rho)
    place = replace(before.releases.popitem()[1], file=older.name)
    assert list(after.releases.values()) == [place]
    words = next(iter(log_in_words(found.events)))
    assert "goes on from log.1.jsonl, signed by sha256:" in words
    assert "1 release with noise (rho 0.02436)" in words


def test_an_answer_of_an_older_file_is_given_again_and_costs_nothing(tmp_path, short_files):
    path = tmp_path / "log.jsonl"
    handed_over(path)
    (part,) = parts(tmp_path / "log.1.jsonl")
    with open_log(path) as log:
        release(log, policies={"west": {"rho_for_ever": 0.03, "releases_for_ever": 1}})
        (answer,) = [event for event in log.events if event["event"] == "answer"]
        assert answer["again"] == part["hash"]
        assert log.recall(next(iter(History.of(log.events).releases.values())))["part"] == part["part"]


def test_files_follow_each_other_as_often_as_it_takes(tmp_path, short_files):
    path = tmp_path / "log.jsonl"
    for number in range(5):
        with open_log(path) as log:
            log.hand_over(KEYS["west"])
            release(log, settings={"number": number})
            history = History.of(log.events)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *(f"log.{number}.jsonl" for number in range(1, 5)),
        "log.jsonl",
    ]
    assert len(history.rho) == 5
    with open_log(path) as log:
        found = [log.recall(place)["part"] for place in history.releases.values()]
    assert len({tuple(part) for part in found}) == 5


def test_an_older_file_that_is_gone_is_named_if_it_is_needed(tmp_path, short_files):
    path = tmp_path / "log.jsonl"
    handed_over(path)
    (tmp_path / "log.1.jsonl").rename(tmp_path / "elsewhere")
    with open_log(path) as log:
        release(log, settings={"number": 2})
        with pytest.raises(ProtocolError, match="cannot answer"):
            release(log)
        with pytest.raises(FormatError, match=r"log.1.jsonl: the answer .* put it back"):
            log.recall(next(iter(History.of(log.events).releases.values())))


def spoil(change):
    def spoiled(path):
        lines = path.read_bytes().splitlines()
        first = json.loads(lines[0])
        change(first)
        first.pop("hash")
        line, digest = site_log._seal(json.dumps(first, ensure_ascii=False).encode())
        second = json.loads(lines[1])
        second.pop("hash")
        rest, _ = site_log._seal(json.dumps({**second, "after": digest}, ensure_ascii=False).encode())
        path.write_bytes(line + b"\n" + rest + b"\n")

    return spoiled


@pytest.mark.parametrize(
    "damage",
    [
        spoil(lambda first: first["history"].update(rho={}, releases={})),
        spoil(lambda first: first.update(after="0" * 64)),
        spoil(lambda first: first.update(signature="")),
        spoil(lambda first: first.update(certificate="%%")),
        spoil(lambda first: first.update(file="other.jsonl")),
        spoil(lambda first: first["history"].pop("sums")),
        spoil(lambda first: first.update(history={"sums": 3})),
        lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:])),
        lambda path: path.with_name("log.1.jsonl").write_bytes(b"other"),
        lambda path: path.write_bytes(2 * path.read_bytes()),
    ],
)
def test_a_hand_over_that_was_changed_is_refused(tmp_path, short_files, damage):
    """Otherwise what was spent could be forgotten by a change of one line; anybody can write a chain of hashes."""
    path = tmp_path / "log.jsonl"
    handed_over(path)
    damage(path)
    with pytest.raises(FormatError, match=r"log.jsonl: line"):
        read_log(path)


@pytest.mark.parametrize("step", ["write", "fsync", "hardlink_to", "replace"])
def test_a_hand_over_that_was_cut_off_leaves_a_whole_log(tmp_path, short_files, monkeypatch, step):
    path = tmp_path / "log.jsonl"
    with open_log(path) as log:
        release(log)
        before = path.read_bytes()
        where = site_log.os if step in {"write", "fsync"} else site_log.Path

        def fail(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as full:
            full.setattr(where, step, fail)
            with pytest.raises(FormatError, match="o space left"):
                log.hand_over(KEYS["west"])
    assert path.read_bytes() == before
    with open_log(path) as log:
        log.hand_over(KEYS["west"])
        assert len(History.of(log.events).rho) == 1
    assert len(parts(tmp_path / "log.1.jsonl")) == 1


def test_nobody_goes_on_in_an_older_file(tmp_path, short_files):
    path = tmp_path / "log.jsonl"
    with open_log(path) as log:
        release(log)
        log.hand_over(KEYS["west"])
        for name in ("log.jsonl", "log.1.jsonl"):
            with pytest.raises(OptionError, match="another run"), open_log(tmp_path / name):
                pass


def test_a_log_is_read_line_by_line(tmp_path, monkeypatch):
    """However long a file is, memory has room for what is counted."""
    path = tmp_path / "log"
    with open_log(path) as log:
        release(log)
    monkeypatch.setattr(site_log, "LONGEST_LINE", 300)
    with pytest.raises(FormatError, match="line 1 is too long"):
        read_log(path)


def test_what_lies_under_the_name_of_a_new_file_is_not_written_to(tmp_path, short_files):
    """A link to another file, which was cut to nothing before, or a file that others can read."""
    path, other = tmp_path / "log.jsonl", tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "log.jsonl.new").symlink_to(other)
    handed_over(path)
    assert other.read_text() == "precious"
    assert not path.is_symlink()
    (tmp_path / "log.jsonl.new").touch(0o666)
    with open_log(path) as log:
        release(log, settings={"number": 2})
        log.hand_over(KEYS["west"])
    with open_log(path) as log:
        assert len(History.of(log.events).rho) == 2


def test_a_log_behind_a_link_goes_on_behind_it(tmp_path, short_files):
    """Otherwise whoever names the file itself would go on in the older one, and forget what was spent since."""
    path, link = tmp_path / "log.jsonl", tmp_path / "keys" / "federated.jsonl"
    link.parent.mkdir()
    link.symlink_to(path)
    handed_over(link)
    with open_log(link) as log:
        release(log, settings={"number": 2})
    assert link.is_symlink()
    assert len(History.of(read_log(path).events).rho) == 2


def test_where_there_are_no_hard_links_a_log_stays_in_its_file(tmp_path, short_files, monkeypatch):
    """On some disks a long log could not go on at all, and the site would answer nobody again."""

    def fail(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(site_log.Path, "hardlink_to", fail)
    with open_log(tmp_path / "log.jsonl") as log:
        release(log)
        handles = len(log.handles)
        log.hand_over(KEYS["west"])
        release(log, settings={"number": 2})
        assert len(log.handles) == handles
    assert [file.name for file in tmp_path.iterdir()] == ["log.jsonl"]
    assert len(History.of(read_log(tmp_path / "log.jsonl").events).rho) == 2


@pytest.mark.parametrize("step", ["_write_all", "_settle_folder"])
def test_a_daemon_goes_on_after_a_hand_over_that_failed(tmp_path, short_files, monkeypatch, step):
    """In the file that has the log's name, with no more files open than before."""
    path = tmp_path / "log.jsonl"

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    with open_log(path) as log:
        release(log)
        with monkeypatch.context() as broken:
            broken.setattr(site_log, step, fail)
            with pytest.raises(FormatError, match="nput/output error"):
                log.hand_over(KEYS["west"])
        assert len(log.handles) == (1 if step == "_write_all" else 2)
        release(log, settings={"number": 2})
    assert len(History.of(read_log(path).events).rho) == 2
