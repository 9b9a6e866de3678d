"""Fixtures of the party tests: certificates made once, and a network in memory or over TLS."""

import pytest

from dagora.parties.transport.certificates import make_certificates
from tests.parties.network import Network

NAMES = ["host", "b", "c", "d", "stranger"]


@pytest.fixture(scope="session")
def credentials(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates") / "run", NAMES)


@pytest.fixture(scope="session")
def foreign(tmp_path_factory):
    """The same names, signed by another CA."""
    return make_certificates(tmp_path_factory.mktemp("certificates") / "foreign", NAMES)


@pytest.fixture(params=["memory", "tcp"])
def network(request, credentials):
    network = Network(request.param, credentials)
    yield network
    network.close()
