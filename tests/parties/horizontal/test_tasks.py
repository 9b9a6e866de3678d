"""The tasks that production serves: which of them are shown, and that all others are only ever summed."""

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.errors import ProtocolError
from dagora.federated import COORDINATOR, sites_in_threads
from dagora.loading import load
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.horizontal.tasks import ENTRIES, SHOWN, TASKS
from dagora.parties.transport.in_memory import memory_network
from tests.parties.network import PATIENCE, start

SITES = ["north", "south", "west"]
SUMMED = sorted(set(TASKS) - SHOWN)


def sites():
    rows = np.random.default_rng(1).normal(size=(10, 2))
    return [Site(name, Table.from_numpy(rows, names=["a", "b"])) for name in SITES]


def test_only_schemas_and_what_methods_show_by_consent_are_shown():
    """A task that is added here on purpose needs a line in docs/federated.md on what the coordinator sees."""
    admm = {"own-squares", "admm-step", "admm-loss", "admm-mlp-step", "admm-mlp-loss"}
    assert {"schema", "adopt", "local-weights", *admm} == SHOWN


def test_every_task_is_there_under_a_name_of_its_own():
    assert len(TASKS) == len(ENTRIES)
    assert all(callable(load(entry.place)) for entry in ENTRIES)


@pytest.mark.parametrize("task", SUMMED)
def test_what_is_summed_cannot_be_gathered(task):
    told = f"site 'north': answers to '{task}' are added up, never shown"
    with pytest.raises(ProtocolError, match=f"^{told}$"), sites_in_threads(sites(), 3) as (session, _):
        session.gather(task, {})


def test_a_site_that_was_not_told_what_to_show_shows_nothing():
    network = memory_network([COORDINATOR, *SITES], hub=COORDINATOR, timeout=PATIENCE)
    keys = hand_out_keys(SITES)
    working = [start(serve_site, network[site.name], site, TASKS, keys[site.name]) for site in sites()]
    with (
        pytest.raises(ProtocolError, match="answers to 'schema' are added up, never shown"),
        CoordinatorSession(network[COORDINATOR], SITES) as session,
    ):
        session.gather("schema", {})
    assert all(isinstance(work.exception(PATIENCE), ProtocolError) for work in working)
