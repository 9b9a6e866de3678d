"""The federation over a transport: the same sums as in the clear, and one clear line for whatever goes wrong."""

import numpy as np
import pytest

from dagora.base.errors import DataError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
from dagora.parties.horizontal.session import serving
from dagora.parties.horizontal.session.questions import PlanQuestion
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.parties.transport.certificates import make_certificates
from dagora.parties.transport.messages import decode
from tests.parties.horizontal.meeting import COORDINATOR, Meeting, ask_all
from tests.parties.network import Network
from tests.random_tables import random_discrete

NAMES = ("east", "north", "south", "west")


def discrete_tables(rows=60, names=NAMES, seed=1):
    table = random_discrete(np.random.default_rng(seed), rows, [2, 3, 2])
    return dict(zip(names, split_rows(table, len(names)), strict=True))


def mixed_tables(names=NAMES):
    rng = np.random.default_rng(2)
    return {
        name: Table.from_numpy(
            np.column_stack([rng.integers(0, 2, 15), rng.normal(size=15), rng.normal(size=15) * 1e6]),
            names=["a", "x", "y"], discrete=["a"], continuous=["x", "y"],
        )
        for name in names
    }  # fmt: skip


def check(meeting):
    with meeting.session as session:
        sets = [(), (0,)] if meeting.codebook.continuous else [(), (0,), (0, 1), (1, 2), (0, 1, 2)]
        for _ in range(2):
            np.testing.assert_array_equal(session.counts(sets), meeting.open.counts(sets))
            ours, theirs = session.moments(), meeting.open.moments()
            assert ours.n == theirs.n
            np.testing.assert_array_equal(ours.mean, theirs.mean)
            np.testing.assert_array_equal(ours.scatter, theirs.scatter)
    assert set(meeting.lines().values()) == {""}


def test_sums_are_those_in_the_clear_bit_for_bit():
    check(Meeting(mixed_tables()))


@pytest.mark.parametrize("parties", [2, 3, 9])
def test_any_number_of_sites(parties):
    check(Meeting(mixed_tables([f"s{k}" for k in range(parties)])))


def test_over_tls_with_certificates(tmp_path):
    names = ("b", "c", "d")
    credentials = make_certificates(tmp_path / "keys", [COORDINATOR, *names])
    network = Network("tcp", credentials)
    transports = dict(zip((COORDINATOR, *names), network.open(COORDINATOR, *names), strict=True))
    keys = {name: CertifiedIdentity(held) for name, held in credentials.items()}
    check(Meeting(mixed_tables(names), transports=transports, keys=keys))
    network.close()


def test_one_sum_takes_one_round_trip():
    meeting = Meeting(discrete_tables())
    with meeting.session as session:
        session.counts([(0,)])
        session.counts([(1,)])
    tags = [tag for to, tag, _ in meeting.hub.sent if to == "east"]
    assert tags == ["plan", "roster", "ask", "ask", "ask"]
    assert [tag for _, tag, _ in meeting.wires["east"].sent] == ["keys", "answer", "answer"]


@pytest.mark.parametrize(
    "moment",
    ["got plan", "before keys", "after keys", "got roster", "got ask", "before answer", "after answer"],
)
def test_a_lost_site_ends_the_run_for_everybody_with_one_line(moment):
    meeting = Meeting(discrete_tables(), die={"south": moment})
    line = r"site 'south' was lost .*all sites take part in a sum or nobody"
    with pytest.raises(ProtocolError, match=line), meeting.session as session:
        ask_all(session, [(0,)], [(1,)])
    lines = meeting.lines()
    assert all("site 'south' was lost" in lines[name] for name in ("east", "north", "west"))


def test_a_slow_site_counts_as_lost():
    meeting = Meeting(discrete_tables(), patience=0.5)
    meeting.wires["west"].change = lambda to, tag, payload: __import__("time").sleep(1.5) or payload
    with (
        pytest.raises(ProtocolError, match=r"site 'west' was lost .*no 'keys' within 0.5 s"),
        meeting.session as s,
    ):
        s.counts([(0,)])


def test_an_error_in_a_task_tells_the_coordinator_no_value(monkeypatch):
    def quote(rows, sets):
        raise DataError("column 'x' holds 123456.789")

    monkeypatch.setitem(serving.SUMMED, "counts", quote)
    meeting = Meeting(discrete_tables())
    with pytest.raises(ProtocolError) as told, meeting.session as session:
        session.counts([(0,)])
    assert str(told.value) == "site 'east': cannot answer (DataError); see its own output"
    assert meeting.lines()["east"] == "column 'x' holds 123456.789"
    assert all("123456" not in payload.decode(errors="replace") for _, _, payload in meeting.hub.received)
    assert meeting.answers("east") == []


def test_too_many_rows_for_the_fixed_point_are_refused():
    meeting = Meeting(mixed_tables(), plan={"largest_rows": 20})
    with (
        pytest.raises(DataError, match="60 rows together, and the plan allows 20"),
        meeting.session as session,
    ):
        session.moments()


def test_statistics_over_a_session_ask_for_each_table_once():
    meeting = Meeting(discrete_tables())
    with meeting.session as session:
        statistics = SecureStatistics(session)
        statistics.counts([(0, 1), (1, 0), (2,)])
        statistics.counts([(1, 0)])
        assert statistics.n_rows == 60
    asked = [decode(payload) for to, tag, payload in meeting.hub.sent if (to, tag) == ("east", "ask")]
    assert [question["kind"] for question in asked] == ["counts", "done"]
    assert asked[0]["columns"].tolist() == [0, 1, 2]


def test_every_site_has_logged_the_same(tmp_path):
    meeting = Meeting(discrete_tables())
    with meeting.session as session:
        session.counts([(0,), (0, 2)])
    meeting.lines()
    for name in NAMES:
        events = meeting.logs[name].events
        assert [event["event"] for event in events] == ["plan", "answer", "end"]
        assert events[1]["tables"] == [[0], [0, 2]]
        assert events[1]["numbers"] == PlanQuestion("counts", ((0,), (0, 2))).size(meeting.codebook)
        assert events[2]["reason"] == "done"
        assert events[0]["plan"] == meeting.plan.to_dict()
