"""The books add up, whatever order things happen in."""

import contextlib
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.graph.dag import DAG
from dagora.learners.result import Result
from dagora.parties.transport.ledger import Books, Ledger, Traffic, add_traffic

entries = st.lists(
    st.tuples(
        st.sampled_from(["b", "c"]), st.sampled_from(["x/1", "x/2", "y"]), st.booleans(), st.integers(0, 100)
    ),
    max_size=20,
)


@settings(max_examples=50)
@given(entries, entries)
def test_every_view_adds_up_to_the_total(first, second):
    books = []
    for log in (first, second):
        ledger = Ledger("host")
        for peer, tag, sent, size in log:
            (ledger.count_sent if sent else ledger.count_received)(peer, tag, payload=size, wire=size + 30)
        books.append(ledger.books())
    both = books[0].merge(books[1])
    for view in (both.phases, both.peers):
        assert sum(view.values(), Traffic()) == both.total
    log = first + second
    assert both.total.payload_sent == sum(size for _, _, sent, size in log if sent)
    assert both.total.wire_received == sum(size + 30 for _, _, sent, size in log if not sent)
    assert both.phases.get("x", Traffic()).messages_sent == sum(t[0] == "x" and s for _, t, s, _ in log)
    assert both.peers.get("c", Traffic()).messages_received == sum(p == "c" and not s for p, _, s, _ in log)
    assert json.loads(json.dumps(both.to_dict())) == both.to_dict()


def test_phases_nest_and_end_with_their_block():
    ledger = Ledger("host")
    with ledger.phase("outer"):
        ledger.count_sent("b", "t", payload=1, wire=1)
        with contextlib.suppress(ValueError), ledger.phase("inner"):
            ledger.count_sent("b", "t", payload=2, wire=2)
            raise ValueError
        ledger.count_sent("b", "t", payload=4, wire=4)
    ledger.count_sent("b", "t/9", payload=8, wire=8)
    assert {name: traffic.payload_sent for name, traffic in ledger.books().phases.items()} == {
        "outer": 5,
        "inner": 2,
        "t": 8,
    }


def test_phases_of_threads_may_end_in_any_order():
    ledger = Ledger("host")
    first, second = ledger.phase("first"), ledger.phase("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    ledger.count_sent("b", "t", payload=1, wire=1)
    second.__exit__(None, None, None)
    assert list(ledger.books().phases) == ["second"]


def test_books_do_not_change_afterwards():
    ledger = Ledger("host")
    ledger.count_sent("b", "t", payload=1, wire=1)
    books = ledger.books()
    ledger.count_sent("b", "t", payload=1, wire=1)
    assert books.total.messages_sent == 1
    with pytest.raises(TypeError):
        books.entries["t", "b"] = Traffic()
    assert Books("a").merge(Books("b")).party == "all"


def test_threads_lose_nothing():
    ledger = Ledger("host")

    def work():
        for _ in range(500):
            with ledger.phase("p"):
                ledger.count_sent("b", "t", payload=1, wire=1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert ledger.books().phases["p"].messages_sent == 2000


def test_traffic_is_counted_per_party_and_direction():
    ledger = Ledger("coordinator")
    ledger.count_sent("a", "ask", payload=1, wire=10)
    ledger.count_received("a", "answer", payload=2, wire=300)
    ledger.count_sent("b", "ask", payload=1, wire=20)
    result = Result(DAG("ab"), "tabu", "finished", "")
    stats = add_traffic(result, ledger.books()).stats
    assert (stats["bytes_to_a"], stats["bytes_from_a"], stats["bytes_to_b"], stats["bytes_from_b"]) == (
        10,
        300,
        20,
        0,
    )
    assert stats["rounds"] == 2
