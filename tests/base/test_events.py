"""Events: compared by what they say, and nobody need listen."""

from dagora.base.events import Event, ignore


def test_nobody_need_listen():
    assert ignore(Event("climbing", 1)) is None


def test_events_are_compared_and_shown_by_what_they_say_not_by_how_edges_are_made():
    one, other = (Event("climbing", 3, score=-1.0, edges=lambda: ()) for _ in range(2))
    assert one == other
    assert "lambda" not in repr(one)
