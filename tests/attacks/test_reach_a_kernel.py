"""A coordinator wants arrays of its own making to reach a kernel, where nothing checks them."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.transport.messages import encode
from tests.attacks.hostile_coordinator import tables
from tests.parties.horizontal.meeting import Meeting


@pytest.mark.parametrize("offsets", [[0, 10**6], [0, 3], [-(2**40), 1], [0, 1, 0]])
def test_offsets_from_the_wire_never_reach_a_kernel(offsets):
    meeting = Meeting(tables())
    bad = encode({"kind": "counts", "columns": np.array([0]), "offsets": np.array(offsets)})
    meeting.hub.change = lambda to, tag, payload: bad if tag == "ask" else payload
    with (
        pytest.raises(ProtocolError, match="does not say where its tables begin and end"),
        meeting.session as s,
    ):
        s.counts([(0,)])
    for name, line in meeting.lines().items():
        assert "begin and end" in line, name
        assert meeting.answers(name) == []
    assert any(event["event"] == "refused" for event in meeting.logs["east"].events)
