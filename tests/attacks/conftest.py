"""What attackers have: certificates of the authority, as members of a federation do, and keys that sites hand over."""

import pytest

from dagora.parties.horizontal.secure_sum.masks import KeyPair
from tests.attacks.fuzz import shared_time
from tests.parties.conftest import credentials

__all__ = ["credentials"]

collect_ignore = ["warm_parties.py"]  # to import it is to compile and to learn


def pytest_collection_finish(session):
    """Deal out the time of `make attack` from here on."""
    shared_time.begin(sum(item.get_closest_marker("fuzz") is not None for item in session.items))


@pytest.fixture
def remembered_keys(monkeypatch):
    """Sites that help the coordinator hand over their keys: they are kept as they are made."""
    made = []
    original = KeyPair.make.__func__

    def make(cls):
        made.append(original(cls))
        return made[-1]

    monkeypatch.setattr(KeyPair, "make", classmethod(make))
    return made
