"""A party's log of sessions: written before rows count, whatever comes of it; a column has so many and no more."""

import json
import stat
import time

import numpy as np
import pytest

from dagora.base.errors import FormatError, OptionError, ProtocolError
from dagora.parties.transport.certificates import fingerprint, make_certificates
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.vertical.agreement import AgreedTerms, TermsProposal
from dagora.parties.vertical.private_session import join_private
from dagora.parties.vertical.session_log import SessionLog, describe_terms
from tests.parties.network import start
from tests.parties.pairs import deal_seeds
from tests.parties.vertical.owners import LONG, owners
from tests.parties.vertical.test_k2_schedule import random_data


def terms(host=("a", "b"), guest=("c",)):
    return AgreedTerms(
        tuple(host), tuple(guest), tuple(range(len(host) + len(guest))), 2, "f", "hidden", "rlwe"
    )


def begin(log, own, role="host", peer="guest"):
    other = ("elsewhere",)
    agreed = terms(own, other) if role == "host" else terms(other, own)
    with log.session() as session:
        session.begin(describe_terms(agreed, role, peer, None))


def test_lines(tmp_path):
    log = SessionLog(tmp_path / "sessions.jsonl")
    with log.session() as session:
        session.begin(describe_terms(terms(), "guest", "host", None))
        before = json.loads(log.path.read_text())  # on disk while the session runs
        assert log.sessions()[0]["status"] == "begun"
    assert (before["peer"], before["role"], before["own"], before["other"]) == (
        "host", "guest", ["c"], ["a", "b"],
    )  # fmt: skip
    assert (before["order"], before["mode"]) == (["a", "b", "c"], "hidden")
    assert log.sessions()[0]["status"] == "finished"
    assert len(log.path.read_text().splitlines()) == 2
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_the_log_names_the_certificate_of_the_peer(tmp_path):
    """A role is anybody's name: what tells one guest from another is the certificate it has shown."""
    made = make_certificates(tmp_path / "keys", ["host", "guest"])
    logs = {name: SessionLog(tmp_path / f"{name}.jsonl") for name in made}
    with Listener(made["host"], ["guest"]) as listener:
        connecting = start(connect, made["guest"], "127.0.0.1", listener.port)
        lines = {"host": listener.accept(LONG), "guest": connecting.result(LONG)}
    data = dict(zip(lines, owners(np.random.default_rng(3).integers(0, 2, (60, 5)), 2), strict=True))

    def agree_and_stop(_terms):
        raise ProtocolError("far enough")

    working = [
        start(
            join_private,
            lines[name],
            name,
            data[name],
            TermsProposal(),
            on_terms=agree_and_stop,
            log=logs[name],
        )
        for name in lines
    ]
    for work in working:
        with pytest.raises(ProtocolError):
            work.result(LONG)
    for name, other in (("host", "guest"), ("guest", "host")):
        (session,) = logs[name].sessions()
        assert session["certificate"] == fingerprint(made[other].certificate.read_bytes())


def test_the_limit_counts_the_most_used_column(tmp_path):
    log = SessionLog(tmp_path / "sessions.jsonl", 3)
    for own in (("a",), ("a", "b"), ("c",)):
        begin(log, own)
    assert [log.earlier([name]) for name in "abcd"] == [2, 1, 1, 0]
    assert log.check(["a", "d"]) == 2
    begin(log, ("a",), role="guest", peer="host")  # whoever asked, in whatever role
    with pytest.raises(OptionError, match=r"was in 3 sessions already.*sessions.jsonl.*raise max_sessions"):
        log.check(["d", "a"])
    with pytest.raises(OptionError, match="3 sessions"):
        begin(log, ("a", "d"))
    assert log.earlier(["d"]) == 0  # a session that was refused has not begun
    assert SessionLog(log.path, 4).check(["a"]) == 3
    with pytest.raises(OptionError, match="1 or more"):
        SessionLog(log.path, 0)


def test_sessions_that_begin_at_once_are_counted_one_after_the_other(tmp_path, monkeypatch):
    """A guest that connects twice to two hosts of one owner has one session, not two."""
    logs = [SessionLog(tmp_path / "sessions.jsonl", 1) for _ in range(4)]
    earlier = SessionLog.earlier

    def look_and_wait(log, columns):
        count = earlier(log, columns)
        time.sleep(0.1)
        return count

    monkeypatch.setattr(SessionLog, "earlier", look_and_wait)
    ended = [start(begin, log, ("a",)) for log in logs]
    refused = [work.exception(LONG) for work in ended]
    assert sum(error is None for error in refused) == 1
    assert all(isinstance(error, OptionError) for error in refused if error is not None)
    assert len(logs[0].sessions()) == 1


def fail(log):
    with log.session() as session:
        session.begin(describe_terms(terms(), "host", "guest", None))
        raise ProtocolError("gone")


def test_a_session_that_fails_counts(tmp_path):
    log = SessionLog(tmp_path / "sessions.jsonl")
    with pytest.raises(ProtocolError):
        fail(log)
    assert log.sessions()[0]["status"] == "failed"
    assert log.earlier(["a"]) == 1
    with pytest.raises(ProtocolError), log.session():
        raise ProtocolError("no terms were agreed")
    assert log.earlier(["a"]) == 1


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"session": "x", "own": [1]}', '{"session": ["x"]}', '""']
)
def test_a_damaged_log_is_not_passed_over(tmp_path, line):
    log = SessionLog(tmp_path / "sessions.jsonl")
    begin(log, ("a",))
    with log.path.open("a") as handle:
        handle.write(line + "\n")
    with pytest.raises(FormatError, match=r"sessions.jsonl: line 3 is not a session"):
        log.check(["a"])


def test_a_log_that_cannot_be_written_ends_the_session_before_it_begins(tmp_path):
    log = SessionLog(tmp_path / "nowhere" / "sessions.jsonl")
    with pytest.raises(FormatError, match="there is no folder"):
        begin(log, ("a",))


def both(logs, data):
    network = memory_network(["host", "guest"], timeout=LONG)
    parties = [
        start(join_private, network[name], name, brought, TermsProposal(max_parents=1), log=log)
        for name, brought, log in zip(("host", "guest"), owners(data, 1), logs, strict=True)
    ]
    return [party.exception(LONG) for party in parties], network


def test_two_owners_with_logs(tmp_path, monkeypatch):
    deal_seeds(monkeypatch)
    data = random_data(np.random.default_rng(3), 20, 2)
    logs = [SessionLog(tmp_path / f"{name}.jsonl", limit) for name, limit in (("host", 5), ("guest", 1))]
    ended, _ = both(logs, data)
    assert ended == [None, None]
    for log, own, other in zip(logs, ("x0", "x1"), ("x1", "x0"), strict=True):
        (session,) = log.sessions()
        assert (session["own"], session["other"], session["rows"]) == ([own], [other], 20)
        assert session["status"] == "finished"
        assert "which 20 keys" in session["revealed"][0]
        assert all(len(edge) == 2 for edge in session["edges"])
    ended, network = both(logs, data)
    assert isinstance(ended[1], OptionError)
    assert "was in 1 session already" in str(ended[1])
    assert "its own data or options were refused" in str(ended[0])  # and no word of the log
    assert str(tmp_path) not in str(ended[0])
    # Nothing but the agreement was said.
    assert set(network["guest"].ledger.books().phases) == {"agreement"}
    assert logs[1].earlier(["x1"]) == 1
    assert logs[0].earlier(["x0"]) in (1, 2), "the host may have begun before it hears of the refusal"


def test_a_log_that_others_may_read_is_refused(tmp_path):
    log = SessionLog(tmp_path / "sessions.jsonl")
    begin(log, ("a",))
    log.path.chmod(0o644)
    with pytest.raises(FormatError, match="other users of this machine may read this log"):
        log.check(["a"])
