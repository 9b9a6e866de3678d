"""A coordinator wants a site to end without a line, or without a word in its log."""

import json

import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.policy.policy import SitePolicy
from dagora.parties.transport.messages import decode, encode
from tests.attacks.hostile_coordinator import NAMES, tables
from tests.parties.horizontal.meeting import Meeting


def huge(plan):
    content = plan.to_dict()
    content["settings"] = {"seed": 10**400}
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "offer", [huge, lambda plan: b"[" * 100_000, lambda plan: b"9" * 5000, lambda plan: b""]
)
def test_a_plan_that_cannot_be_read_is_refused_and_logged(offer):
    meeting = Meeting(tables())

    def change(to, tag, payload):
        if tag == "plan":
            return encode({"plan": offer(meeting.plan), "certificate": decode(payload)["certificate"]})
        return payload

    meeting.hub.change = change
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    meeting.lines()
    # The first refusal ends the run, so that the plan may not reach every site.
    logged = [[event["event"] for event in meeting.logs[name].events] for name in NAMES]
    assert ["refused"] in logged
    assert all(events in ([], ["refused"]) for events in logged)


def test_an_error_that_nobody_foresaw_is_a_refusal_in_the_log(monkeypatch):
    """A daemon goes on, and the owner sees what was offered."""
    meeting = Meeting(tables())
    monkeypatch.setattr(SitePolicy, "check", lambda *_: 1 / 0)
    with pytest.raises(ProtocolError, match="refused the plan"), meeting.session as session:
        session.counts([(0,)])
    lines = meeting.lines()
    refused = [name for name in NAMES if meeting.logs[name].events]
    assert refused
    for name in refused:
        assert (
            lines[name]
            == meeting.logs[name].events[0]["reason"]
            == "the plan cannot be checked: ZeroDivisionError"
        )
