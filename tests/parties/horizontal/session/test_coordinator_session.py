"""The federation over a transport: the same answers as in the clear, and one clear line for whatever goes wrong."""

import threading

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.errors import DataError, ProtocolError
from dagora.parties.horizontal.secure_sum.fixed_point import fraction_bits
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity, hand_out_keys
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.questions import encode_ask
from dagora.parties.horizontal.session.serving import Asked, serve_site
from dagora.parties.transport.in_memory import memory_network
from tests.parties.horizontal.secure_sum.sums import SHORT
from tests.parties.network import PATIENCE, Network, start, vanish

SECRET = 123456.789


def _rows(site, question):
    return np.array(len(site.table.columns[0]))


def _moments(site, question):
    X = np.column_stack(site.table.columns)
    return question["scale"] * (X.T @ X)


def _names(site, question):
    return {"names": list(site.table.schema.names), "me": site.name}


def _quote(site, question):
    if site.name == question.get("who", "c"):
        raise DataError(f"column 'x' holds {SECRET}")
    return np.ones(2)


def _quote_names(site, question):
    return {"ones": _quote(site, question)}


def _crash(site, question):
    if site.name == "c":
        raise ValueError(f"{SECRET} is odd")
    return np.ones(2)


def _huge(site, question):
    return np.array([2**62 if site.name == "c" else 1])


def _object(site, question):
    return {"answer": object()} if site.name == "c" else {"answer": 1}


TASKS = {
    "rows": _rows, "moments": _moments, "names": _names, "quote": _quote, "quote names": _quote_names,
    "crash": _crash, "huge": _huge, "object": _object,
}  # fmt: skip
SHOWN = ("names", "quote names", "object")


def sites_of(names):
    rng = np.random.default_rng(7)
    return [
        Site(n, Table.from_numpy(rng.normal(size=(5 + i, 3)), continuous=["x0", "x1", "x2"]))
        for i, n in enumerate(names)
    ]


class Meeting:
    """A coordinator's session, and sites that serve in threads."""

    def __init__(
        self,
        names="bcde",
        *,
        transports=None,
        identities=None,
        patience=SHORT,
        tasks=TASKS,
        site_minimum=3,
        **options,
    ):
        self.names = list(names)
        self.transports = transports or memory_network(
            ["coordinator", *names], hub="coordinator", timeout=patience
        )
        identities = identities or hand_out_keys(self.names)
        self.hub = self.transports.get("coordinator") or self.transports["host"]
        self.sites = sites_of(self.names)
        self.open = OpenFederation(self.sites, TASKS)
        self.logs = {name: [] for name in self.names}
        self.session = CoordinatorSession(self.hub, patience=patience, **options)
        self.working = {
            site.name: start(
                serve_site, self.transports[site.name], site, tasks, identities[site.name],
                coordinator=self.hub.name, minimum=site_minimum, patience=patience, idle=PATIENCE, shown=SHOWN, log=self.logs[site.name],
            )
            for site in self.sites
        }  # fmt: skip

    def lines(self):
        """How each site ended."""
        return {name: str(work.exception(PATIENCE) or "") for name, work in self.working.items()}


def failure(meeting, *steps):
    """Do something with a session that must end in an error, and return its line."""
    try:
        with meeting.session as session:
            for step in steps:
                step(session)
    except ProtocolError as error:
        return str(error)
    raise AssertionError("it went well")


def check_answers(meeting):
    with meeting.session as session:
        assert session.parties == tuple(meeting.names)
        assert session.gather("names", {}) == meeting.open.gather("names", {})
        assert session.count("rows", {}) == meeting.open.count("rows", {})
        question = {"scale": 0.5}
        secure = session.total("moments", question, largest=1000.0)
        plain = meeting.open.total("moments", question, largest=1000.0)
        unit = 2.0 ** -fraction_bits(1000.0, len(meeting.names))
        assert secure.shape == (3, 3)
        np.testing.assert_allclose(secure, plain, rtol=1e-15, atol=len(meeting.names) * unit)
        np.testing.assert_array_equal(session.total("moments", question, largest=1000.0), secure)
        assert session.warnings == []
    assert set(meeting.lines().values()) == {""}


def test_the_answers_are_those_in_the_clear():
    meeting = Meeting()
    check_answers(meeting)
    log = [(asked.kind, asked.task) for asked in meeting.logs["b"]]
    assert log == [("gather", "names"), ("count", "rows"), ("total", "moments"), ("total", "moments")]
    assert meeting.logs["b"][1:3] == [Asked("count", "rows", 1), Asked("total", "moments", 9)]
    assert list(meeting.hub.ledger.books().phases) == [
        "1 names",
        "set-up",
        "2 rows",
        "3 moments",
        "4 moments",
        "ask",
    ]
    assert meeting.working["b"].result() is meeting.logs["b"]


def test_the_same_over_tls(credentials):
    network = Network("tcp", credentials)
    names = ["host", "b", "c", "d"]
    try:
        transports = dict(zip(names, network.open(*names, timeout=SHORT), strict=True))
        identities = {name: CertifiedIdentity(credentials[name]) for name in names[1:]}
        check_answers(Meeting("bcd", transports=transports, identities=identities))
    finally:
        network.close()


@pytest.mark.parametrize(
    ("ask", "told", "own"),
    [
        (lambda s: s.total("quote", {}, largest=9.0), "cannot answer 'quote' (DataError); see its own output", f"column 'x' holds {SECRET}"),
        (lambda s: s.gather("quote names", {}), "cannot answer 'quote names' (DataError); see its own output", f"column 'x' holds {SECRET}"),
        (lambda s: s.total("crash", {}, largest=9.0), "cannot answer 'crash' (ValueError); see its own output", "the task 'crash' failed: ValueError"),
        (lambda s: s.count("huge", {}), "cannot answer 'huge': an integer is too large to be summed over 4 sites without wrapping", None),
        (lambda s: s.total("huge", {}, largest=1e9), "cannot answer 'huge': a number is beyond the largest that was agreed on", None),
        (lambda s: s.gather("object", {}), "'object' has no valid answer: ProtocolError", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("after", [0, 4])
def test_a_task_that_fails_is_one_line_on_all_sides_and_no_value(ask, told, own, after):
    """Also where the refusal falls on the beginning of an epoch."""
    meeting = Meeting()
    error = failure(meeting, *[lambda s: s.count("rows", {})] * after, ask)
    assert error == f"site 'c': {told}"
    lines = meeting.lines()
    assert lines.pop("c") == (own or told)
    assert set(lines.values()) == {f"party 'coordinator' ended the run: site 'c': {told}"}
    assert str(SECRET) not in error + "".join(lines.values())


@pytest.mark.parametrize("kind", ["count", "gather"])
def test_a_site_answers_only_what_it_knows(kind):
    meeting = Meeting(tasks={"rows": _rows})
    with (
        pytest.raises(ProtocolError, match="site 'b': this site does not know the task 'names'"),
        meeting.session as session,
    ):
        getattr(session, kind)("names", {})
    assert all("does not know the task 'names'" in line for line in meeting.lines().values())


def test_what_is_meant_for_sums_is_not_shown():
    meeting = Meeting()
    told = "answers to 'rows' are added up, never shown"
    assert failure(meeting, lambda session: session.gather("rows", {})) == f"site 'b': {told}"
    assert all(told in line for line in meeting.lines().values())
    assert meeting.logs["b"] == []


def test_a_site_remembers_nothing_from_one_run_to_the_next():
    """Else sites that served different coordinators before would answer differently, whatever they are asked."""

    def remember(site, question):
        site.memory["count"] = site.memory.get("count", 0) + 1
        site.table = site.table.select(["x0"])
        return np.array(site.memory["count"])

    meeting = Meeting(tasks={"remember": remember})
    tables = [site.table for site in meeting.sites]
    with meeting.session as session:
        assert session.count("remember", {}) == 4
        assert session.count("remember", {}) == 8
    assert set(meeting.lines().values()) == {""}
    assert [site.memory for site in meeting.sites] == [{}] * 4
    assert [site.table for site in meeting.sites] == tables


def test_a_site_lost_before_any_sum_is_left_out_with_a_warning():
    warned = []
    meeting = Meeting(on_warning=warned.append)
    with meeting.session as session:
        assert len(session.gather("names", {})) == 4
        vanish(meeting.transports["d"])
        assert sorted(session.gather("names", {})) == ["b", "c", "e"]
        assert session.parties == ("b", "c", "e")
        assert session.count("rows", {}) == 5 + 6 + 8
    assert warned == session.warnings == ["site 'd' was lost: the connection to party 'd' was lost"]


def test_a_site_lost_between_keys_and_first_sum_is_left_out():
    meeting = Meeting()
    with meeting.session as session:
        session._set_up()
        vanish(meeting.transports["d"])
        assert session.count("rows", {}) == 5 + 6 + 8
        assert session.count("rows", {}) == 5 + 6 + 8
        assert session.parties == ("b", "c", "e")


@pytest.mark.parametrize("ask", [lambda s: s.count("rows", {}), lambda s: s.gather("names", {})])
def test_a_site_lost_after_a_sum_ends_the_run_everywhere(ask):
    meeting = Meeting()
    d = meeting.transports["d"]
    error = failure(meeting, lambda s: s.count("rows", {}), lambda s: vanish(d), ask)
    assert "site 'd' was lost after sums with it were opened" in error
    lines = meeting.lines()
    del lines["d"]
    assert set(lines.values()) == {f"party 'coordinator' ended the run: {error}"}


def test_too_few_sites_end_the_run():
    meeting = Meeting("bcd")
    vanish(meeting.transports["d"])
    with (
        pytest.raises(
            ProtocolError,
            match=r"2 sites are too few for a secure sum: 3 are needed \(lost: the connection to party 'd'",
        ),
        meeting.session as session,
    ):
        session.gather("names", {})


def test_two_sites_must_both_agree_to_be_two():
    meeting = Meeting("bc", minimum=2)
    with pytest.raises(ProtocolError, match="too few: at least 3 must take part"), meeting.session as session:
        session.count("rows", {})
    assert any("too few: at least 3" in line for line in meeting.lines().values())
    meeting = Meeting("bc", minimum=2, site_minimum=2)
    with meeting.session as session:
        assert session.count("rows", {}) == 11
    for minimum in (0, 1):
        with pytest.raises(ProtocolError, match="hides nothing with fewer than 2"):
            CoordinatorSession(meeting.hub, minimum=minimum)


def test_a_coordinator_that_vanishes_ends_every_site():
    meeting = Meeting()
    meeting.session.count("rows", {})
    vanish(meeting.hub)
    assert set(meeting.lines().values()) == {"the connection to party 'coordinator' was lost"}


def test_a_site_slower_than_its_patience_is_lost():
    go_on = threading.Event()

    def slow(site, question):
        if site.name == "d":
            go_on.wait(PATIENCE)
        return np.array(1)

    meeting = Meeting(tasks={"slow": slow}, patience=4.0)
    with meeting.session as session:
        assert session.count("slow", {}) == 3
        assert session.parties == ("b", "c", "e")
        go_on.set()
        meeting.working["d"].exception(PATIENCE)
    told = "the coordinator went on without this site, which was too slow for it"
    assert meeting.lines() == {"b": "", "c": "", "d": told, "e": ""}


def test_different_questions_to_different_sites_open_only_noise():
    meeting = Meeting()
    original = meeting.session._send

    def split(site, message):
        original(site, message if site != "c" else encode_ask("count", "rows", {"only": "you"}))

    meeting.session._send = split
    with meeting.session as session:
        assert abs(int(session.count("rows", {}))) > 10**6


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (encode_ask("count", "rows"), "asks for a sum before keys were exchanged"),
        (encode_ask("all of it"), "asks for a kind other than count, total, gather, set-up, done"),
        (encode_ask("gather", "a\u00a0b"), "the name of the task is not a short printable text"),
        (b"garbage", "is not a message of dagora"),
    ],
)
def test_nonsense_from_the_coordinator_ends_a_site(message, reason):
    meeting = Meeting()
    meeting.hub.send("b", "ask", message)
    assert reason in str(meeting.working["b"].exception(PATIENCE))
    meeting.session.close("over")


def test_new_keys_in_the_middle_of_a_run_are_refused():
    meeting = Meeting()
    meeting.session.count("rows", {})
    meeting.hub.send("b", "ask", encode_ask("set-up"))
    assert "asks for new keys in the middle of a run" in str(meeting.working["b"].exception(PATIENCE))
    meeting.session.close("over")


def test_a_site_signs_in_its_own_name_only():
    network = memory_network(["coordinator", "b"], hub="coordinator")
    with pytest.raises(ProtocolError, match="site 'b' cannot sign as 'c'"):
        serve_site(network["b"], sites_of("b")[0], TASKS, hand_out_keys(["c"])["c"])


def test_a_total_above_the_largest_is_refused():
    meeting = Meeting()
    with (
        pytest.raises(ProtocolError, match="a sum exceeds the largest that was agreed on"),
        meeting.session as session,
    ):
        session.total("rows", {}, largest=9.0)
