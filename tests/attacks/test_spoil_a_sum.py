"""A site wants to break the coordinator by numbers that are no counts."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.roster import SiteMasks
from tests.attacks.hostile_coordinator import tables
from tests.parties.horizontal.meeting import Meeting, ask_all


@pytest.mark.parametrize("more", [2**40, 10**6, -1000, 2**63])
def test_a_site_that_lies_about_a_count_ends_the_run_with_a_line(more, monkeypatch):
    """Sums index tables of logarithms at the coordinator: they must be counts of the same rows."""
    mask = SiteMasks.mask

    def lie(masks, label, vector):
        masked = mask(masks, label, vector)
        if masks.own.name == "west" and masks.round == 2:
            masked[:1] += np.array([more % 2**64], dtype=np.uint64)
        return masked

    monkeypatch.setattr(SiteMasks, "mask", lie)
    meeting = Meeting(tables())
    with pytest.raises(ProtocolError, match="not counts of the same rows"), meeting.session as session:
        ask_all(session, [()], [(0, 1)])
