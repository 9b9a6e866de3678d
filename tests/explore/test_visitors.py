"""Connections that wait: their time is counted from when they came."""

from types import SimpleNamespace

from dagora.explore.visitors import Visitor, WaitingRoom


def test_the_time_to_wait_is_counted_from_the_first_moment(monkeypatch):
    """A connection that sends a byte does not begin anew: it would stay for the sum of both limits."""
    ends = []
    loop = SimpleNamespace(
        call_later=lambda *_: SimpleNamespace(cancel=lambda: None),
        call_at=lambda moment, _: ends.append(moment) or SimpleNamespace(cancel=lambda: None),
    )
    monkeypatch.setattr("dagora.explore.visitors.time.monotonic", lambda: 103.0)
    visitor = Visitor.__new__(Visitor)
    vars(visitor).update(_room=WaitingRoom(), _timers=[], _came=100.0, loop=loop, silent=True)
    visitor._wait(5.0)
    assert ends == [105.0]
