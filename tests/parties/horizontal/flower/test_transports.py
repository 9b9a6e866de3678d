"""Both ends of a run through Flower, over real local sockets; Flower itself is replaced by visits to the daemons."""

import threading
import time

import numpy as np
import pytest

import dagora
from dagora.base.errors import PartyTimeoutError, ProtocolError
from dagora.parties.horizontal.flower import coordinator_transport, daemon
from dagora.parties.horizontal.flower.local_socket import visit
from dagora.parties.horizontal.flower.relay import Envelope, RelayBatch, decode_batch, encode_batch
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.parties.transport.transport import MessageLimits
from tests.parties.horizontal.flower.sites import EXACT, ONE_SUM, TOKEN, street
from tests.parties.network import PATIENCE, eventually, start

NAMES = ("north", "south", "west")


def echo(transport, rounds):
    """A site that answers each question with its name; it returns why it ended."""
    try:
        with transport:
            for _ in range(rounds):
                transport.send(
                    "coordinator", "answer", transport.receive("coordinator", "ask") + transport.name.encode()
                )
            return "done"
    except ProtocolError as error:
        return str(error)


def begin(town, *names, rounds=3):
    """All sites as threads, and the coordinator's transport."""
    sites = {name: start(lambda name=name: echo(town.join(name), rounds)) for name in names}
    return town.meet(*names), sites


def ask_all(host, timeout=PATIENCE):
    for name in host.peers:
        host.send(name, "ask", b"?")
    return [host.receive(name, "answer", timeout) for name in host.peers]


def test_what_follows_without_a_wait_travels_together(tmp_path):
    """Hello; keys; roster with the first question; a question; the end: one exchange each, with all sites at once."""

    def site(name):
        with town.join(name) as transport:
            transport.receive("coordinator", "offer")
            transport.send("coordinator", "keys", name.encode())
            transport.receive("coordinator", "roster")
            for _ in range(2):
                transport.send("coordinator", "sum", transport.receive("coordinator", "ask"))

    with street(tmp_path, *NAMES) as town:
        sites = [start(site, name) for name in NAMES]
        with town.meet(*NAMES) as host:
            assert (host.name, host.peers) == ("coordinator", NAMES)
            for name in NAMES:
                host.send(name, "offer", b"plan")
            assert [host.receive(name, "keys") for name in NAMES] == [name.encode() for name in NAMES]
            for name in NAMES:
                host.send(name, "roster", b"all")
            for question in (b"1", b"2"):
                for name in NAMES:
                    host.send(name, "ask", question)
                assert [host.receive(name, "sum") for name in NAMES] == [question] * 3
        for working in sites:
            working.result(PATIENCE)
        # The sites ended by themselves with their last answer, so nobody had to be told.
        assert town.log == [set(NAMES)] * 4
        assert len(host.seconds) == 4


def test_the_ledger_counts_messages_not_batches(tmp_path):
    with street(tmp_path, "a") as town:
        host, sites = begin(town, "a", rounds=1)
        host.send("a", "ask", b"12345")
        host.receive("a", "answer")
        total = host.ledger.books().total
        assert (total.messages_sent, total.payload_sent, total.messages_received, total.payload_received) == (
            1,
            5,
            1,
            6,
        )
        host.close()
        assert sites["a"].result(PATIENCE) == "done"


@pytest.mark.parametrize("method", ["notears", "ges", "ilp", "dynamic", "hill-climb"])
def test_a_run_gives_what_the_pooled_rows_give(tmp_path, method):
    """All sums of a continuous table are one."""
    graph = dagora.random_dag("er", nodes=5, degree=1, seed=1)
    table = dagora.simulate(graph, "gaussian", rows=300, seed=1).table
    parts = {name: table.take(range(first, 300, 3)) for first, name in enumerate(NAMES)}
    pooled = dagora.learn(table, method)
    with street(tmp_path, *NAMES) as town:
        meeting = town.meeting(parts, method=method)
        with meeting.session as session:
            result = dagora.learn(SecureStatistics(session), method)
        assert result.graph == pooled.graph
        assert np.isclose(result.score or 0.0, pooled.score or 0.0, rtol=1e-4)
        assert set(meeting.lines().values()) == {""}
        assert town.log == [set(NAMES)] * ONE_SUM
        for name in NAMES:
            assert [event["event"] for event in meeting.logs[name].events] == ["plan", "answer", "end"]


@pytest.mark.parametrize("nodes", [4, 7])
def test_exact_methods_ask_once_for_each_size_of_a_table(tmp_path, nodes):
    """However many columns there are."""
    graph = dagora.random_dag("er", nodes=nodes, degree=1, seed=1)
    table = dagora.simulate(graph, "logistic", rows=300, seed=1).table
    parts = {name: table.take(range(first, 300, 3)) for first, name in enumerate(NAMES)}
    pooled = dagora.learn(table, "ilp", max_parents=2)
    with street(tmp_path, *NAMES) as town:
        meeting = town.meeting(parts, method="ilp")
        with meeting.session as session:
            assert dagora.learn(SecureStatistics(session), "ilp", max_parents=2).score == pooled.score
        assert set(meeting.lines().values()) == {""}
        sizes = [{len(some) for some in event["tables"]} for event in meeting.answers("north")]
        assert sizes == [{0}, {1}, {2}, {3}]
        assert len(town.log) == EXACT


def test_a_silent_node_is_lost_and_the_others_are_told(tmp_path):
    with street(tmp_path, *NAMES, idle=0.5) as town:
        host, sites = begin(town, *NAMES)
        ask_all(host)
        town.dead = {3}
        with pytest.raises(ProtocolError) as caught, host:
            ask_all(host, 2.0)
        why = "the connection to party 'west' was lost: no answer through Flower within 2 s"
        assert str(caught.value) == why
        assert caught.value.party == "west"
        told = f"party 'coordinator' ended the run: {why}"
        assert sites["north"].result(PATIENCE) == sites["south"].result(PATIENCE) == told
        lonely = "the connection to party 'coordinator' was lost: no message through Flower within 0.5 s"
        assert sites["west"].result(PATIENCE) == lonely


def test_a_site_that_fails_is_named_with_its_reason(tmp_path):
    def failing(transport):
        with transport:
            transport.receive("coordinator", "ask")
            raise ProtocolError("the policy forbids it")

    with street(tmp_path, "a") as town:
        site = start(lambda: failing(town.join("a")))
        host = town.meet("a")
        host.send("a", "ask", b"")
        with pytest.raises(ProtocolError, match=r"\Aparty 'a' ended the run: the policy forbids it\Z"):
            host.receive("a", "answer")
        host.close("x")
        assert town.log == [{"a"}] * 2, "it is not told again"
        with pytest.raises(ProtocolError, match="forbids"):
            site.result(PATIENCE)


def test_a_daemon_that_is_gone_is_a_lost_site(tmp_path):
    with street(tmp_path, "a") as town:
        host, _ = begin(town, "a")
        town.daemons[1].close()
        host.send("a", "ask", b"")
        with pytest.raises(ProtocolError, match=r"site 'a': the site's daemon at .* does not answer"):
            host.receive("a", "answer")
        host.close()


def test_a_slow_site_is_waited_for(tmp_path, monkeypatch):
    """It answers that it is busy, and is asked again, until it has an answer or the time is over."""

    def slow(transport, pause):
        with transport:
            transport.receive("coordinator", "ask")
            time.sleep(pause)
            transport.send("coordinator", "answer", b"!")
            transport.receive("coordinator", "end")

    with street(tmp_path, "a") as town:
        site = start(lambda: slow(town.join("a"), 1.0))
        host = town.meet("a", timeout=0.6)
        host.send("a", "ask", b"")
        assert host.receive("a", "answer", 30.0) == b"!"
        assert 3 <= len(town.log) <= 8
        host.send("a", "end", b"")
        host.close()
        site.result(PATIENCE)


def test_waiting_for_what_cannot_come_ends_at_once(tmp_path):
    with street(tmp_path, "a") as town:
        host, _ = begin(town, "a")
        host.send("a", "ask", b"")
        host.receive("a", "answer")
        with pytest.raises(
            ProtocolError, match=r"party 'a' sent no 'answer', and waits for a message itself"
        ):
            host.receive("a", "answer")
        host.send("a", "ask", b"")
        with pytest.raises(PartyTimeoutError, match="within 0 s"):
            host.receive("a", "answer", 0.0)
        host.close()


def test_a_new_run_ends_the_one_before(tmp_path):
    with street(tmp_path, "a") as town:
        first, sites = begin(town, "a")
        first.send("a", "ask", b"")
        first.receive("a", "answer")
        second = town.meet("a")
        assert (
            sites["a"].result(PATIENCE) == "the connection to party 'coordinator' was lost: another run began"
        )
        again = start(lambda: echo(town.join("a"), 1))
        second.send("a", "ask", b"2")
        assert second.receive("a", "answer") == b"2a"
        first.send("a", "ask", b"")
        with pytest.raises(ProtocolError, match="it takes part in another run, or in none"):
            first.receive("a", "answer")
        second.close()
        assert again.result(PATIENCE) == "done"


def test_sites_that_are_not_in_the_run_are_left_alone(tmp_path):
    with street(tmp_path, "a", "b", "c") as town:
        host, sites = begin(town, "a", "c", rounds=1)
        for name in ("a", "c"):
            host.send(name, "ask", b"")
            host.receive(name, "answer")
        with pytest.raises(ProtocolError, match="nobody began a run"):
            town.join("b", wait=0.0)
        host.close()
        assert {site.result(PATIENCE) for site in sites.values()} == {"done"}


def test_a_site_that_does_not_come_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinator_transport, "RETRY_SECONDS", 0.05)
    with street(tmp_path, "a", "b") as town:
        with pytest.raises(ProtocolError, match=r"\Awaited 0.2 s in vain for 'c'\Z"):
            town.meet("a", "c", wait=0.2)
        town.token = b"u" * 64
        warnings = []
        with pytest.raises(ProtocolError, match=r"in vain for 'a', 'b' \(node 2: .* another token"):
            town.meet("a", "b", wait=0.2, warnings=warnings)
        assert warnings


def test_two_nodes_with_one_name(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinator_transport, "RETRY_SECONDS", 0.05)
    (tmp_path / "x").mkdir()
    with street(tmp_path, "a") as here, street(tmp_path / "x", "b") as there:
        here.daemons[2] = there.daemons[1]
        there.daemons[1].name = "a"
        warnings = []
        with pytest.raises(ProtocolError, match=r"in vain for 'b' \(node 2: the name 'a' is taken\)"):
            here.meet("a", "b", wait=0.3, warnings=warnings)


RULES = {
    "a batch twice": ((0, 0), "batch 1 is expected, not 0"),
    "a batch left out": ((1,), "batch 0 is expected, not 1"),
}


@pytest.mark.parametrize("what", RULES)
def test_batches_come_in_order(tmp_path, what):
    numbers, complaint = RULES[what]
    with street(tmp_path, "a") as town:
        host, _ = begin(town, "a")
        answers = [
            visit(town.daemons[1].place, TOKEN, encode_batch(RelayBatch(host._run, number, seconds=5.0)), 5.0)
            for number in numbers
        ]
        with pytest.raises(ProtocolError, match=complaint):
            decode_batch(answers[-1], "site 'a'")


def test_a_message_out_of_order_ends_the_run_at_the_site(tmp_path):
    with street(tmp_path, "a") as town:
        host, sites = begin(town, "a")
        batch = RelayBatch(host._run, 0, (Envelope("ask", 1, b""),), seconds=5.0)
        answer = decode_batch(visit(town.daemons[1].place, TOKEN, encode_batch(batch), 5.0), "site 'a'")
        assert answer.ended
        assert sites["a"].result(PATIENCE) == "party 'coordinator' skipped message 0 of 'ask'"


def test_answers_of_another_run_are_refused(tmp_path):
    with street(tmp_path, "a") as town:
        host, _ = begin(town, "a")
        host._exchange = lambda batches, seconds: {1: encode_batch(RelayBatch(bytes(16), 0))}
        host.send("a", "ask", b"")
        with pytest.raises(ProtocolError, match="site 'a': answered another question"):
            host.receive("a", "answer")


def test_what_is_too_large_is_not_kept(tmp_path):
    with street(tmp_path, "a") as town:
        host, _ = begin(town, "a")
        host._limits = MessageLimits(message_bytes=10)
        host.send("a", "ask", bytes(4))
        with pytest.raises(ProtocolError, match="passes the limit of 10"):
            host.send("a", "ask", bytes(4))
        host.close("x")


def test_a_relay_that_leaves_with_the_answer_ends_the_run(tmp_path, monkeypatch):
    """The SuperNode was killed while the site computed: nobody takes the answer."""
    sent = daemon.DaemonConnection.send
    with street(tmp_path, "a") as town:
        host, sites = begin(town, "a")

        def broken(line, content):
            if threading.current_thread().name != "visitor":
                raise BrokenPipeError
            sent(line, content)

        monkeypatch.setattr(daemon.DaemonConnection, "send", broken)

        def call():
            threading.current_thread().name = "visitor"
            visit(town.daemons[1].place, TOKEN, encode_batch(RelayBatch(host._run, 0, seconds=5.0)), 5.0)

        calling = start(call)
        lost = "the connection to party 'coordinator' was lost: its SuperNode left before it had the answer"
        assert sites["a"].result(PATIENCE) == lost
        with pytest.raises(ProtocolError, match="does not answer"):
            calling.result(PATIENCE)


def test_no_thread_is_left(tmp_path):
    with street(tmp_path, "a"):
        assert any(thread.name == "daemon" for thread in threading.enumerate())
    eventually(lambda: not any(thread.name == "daemon" for thread in threading.enumerate()))
