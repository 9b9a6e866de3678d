"""The coordinator waits for all sites together; one that is silent or gone is lost, one that refuses ends it."""

import time

import pytest

from dagora import ProtocolError
from dagora.base.errors import PartyTimeoutError
from dagora.parties.horizontal.session.replies import collect, refusal, tell
from dagora.parties.transport.messages import encode


class Sites:
    """Answers that are there already, or errors."""

    def __init__(self, **answers) -> None:
        self._answers = answers
        self.waits: list[float] = []

    def receive(self, site: str, tag: str, patience: float) -> bytes:
        self.waits.append(patience)
        return self._give(site)

    def send(self, site: str, tag: str, message: bytes) -> None:
        self._give(site)

    def _give(self, site: str) -> bytes:
        if isinstance(answer := self._answers[site], Exception):
            time.sleep(0.02)
            raise answer
        return answer


def test_a_silent_and_a_lost_site_leave_the_others_their_replies() -> None:
    sites = Sites(east=PartyTimeoutError("x"), north=ProtocolError("it hung up"), west=encode({"n": 3}))
    found = collect(sites, ["east", "north", "west"], "sums", {"n": int}, 1.0)
    assert found.contents == {"west": {"n": 3}}
    assert found.lost["north"] == "it hung up"
    assert found.lost["east"].endswith("within 1 s")
    assert 1 >= sites.waits[0] > sites.waits[1] > sites.waits[2] > 0


def test_a_refusal_ends_the_run_and_names_the_site() -> None:
    with pytest.raises(ProtocolError, match=r"^site 'east': too few rows here$") as caught:
        collect(Sites(east=refusal("too few rows here")), ["east"], "sums", {"n": int}, 1.0)
    assert caught.value.party == "east"


def test_a_reply_that_cannot_be_read_names_the_site() -> None:
    with pytest.raises(ProtocolError, match="site 'east'") as caught:
        collect(Sites(east=encode({"m": 3})), ["east"], "sums", {"n": int}, 1.0)
    assert caught.value.party == "east"


def test_who_cannot_be_reached_is_listed_with_the_reason() -> None:
    sites = Sites(east=ProtocolError("it hung up"), west=b"")
    assert tell(sites, {"east": b"1", "west": b"2"}, "go") == {"east": "it hung up"}
