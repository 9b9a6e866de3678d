"""A site wants to break the coordinator by numbers that are no counts."""

import numpy as np
import pytest

from dagora.api.learn_federated import learn_federated
from dagora.base.errors import ProtocolError
from dagora.parties.horizontal import site_threads
from dagora.parties.horizontal.learners.tasks import TASKS
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


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("number", [1e308, -1e160, np.nan, np.inf])
def test_weights_beyond_all_numbers_end_the_run_with_a_line(number, monkeypatch):
    """Before, the coordinator computed on with weights of 1e308, and numpy wrote warnings on its screen."""

    def lie(site, question):
        answer = dict(TASKS["admm-step"](site, question))
        if site.name == "north":
            answer = {name: np.full_like(value, number) for name, value in answer.items()}
        return answer

    monkeypatch.setattr(site_threads, "TASKS", {**TASKS, "admm-step": lie})
    rows = np.random.default_rng(0).normal(size=(90, 3))
    sites = {name: rows[start::3] for start, name in enumerate(("east", "north", "west"))}
    with pytest.raises(ProtocolError, match="north did not answer with finite numbers"):
        learn_federated(sites, "admm", max_rounds=6)
