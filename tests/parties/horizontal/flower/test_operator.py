"""Who runs the SuperLink, or starts runs on it, but has not the coordinator's key: no site answers.

The coordinator's certificate is public, so the operator may show it, and any other that the authority signed in
the same name. What it cannot do is sign as the certificate that every policy names.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.policy.policy import PolicyError
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity
from dagora.parties.transport.certificates import Credentials, make_certificates
from tests.parties.horizontal.flower.sites import street
from tests.parties.horizontal.meeting import COORDINATOR
from tests.parties.network import PATIENCE

NAMES = ("north", "south", "west")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys") / "keys"
    make_certificates(folder, [COORDINATOR, *NAMES])
    return folder


@pytest.fixture(scope="module")
def keys(folder):
    return {name: CertifiedIdentity(Credentials.load(folder / name)) for name in (COORDINATOR, *NAMES)}


@pytest.fixture(scope="module")
def another(folder, tmp_path_factory):
    """Another key in the coordinator's name, certified by the same authority."""
    authority = load_pem_private_key((folder / "ca.key").read_bytes(), password=None)
    true = x509.load_pem_x509_certificate((folder / COORDINATOR / "party.pem").read_bytes())
    key = ec.generate_private_key(ec.SECP256R1())
    builder = x509.CertificateBuilder(
        true.issuer, true.subject, key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(true.not_valid_before_utc).not_valid_after(true.not_valid_after_utc)
    home = Path(shutil.copytree(folder / COORDINATOR, tmp_path_factory.mktemp("another") / COORDINATOR))
    pem = builder.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM)
    (home / "party.pem").write_bytes(pem)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (home / "party.key").write_bytes(secret)
    found = CertifiedIdentity(Credentials.load(home))
    assert found.verify(COORDINATOR, b"x", found.sign(b"x"), found.certificate), "as good as the true one"
    return found


class Operator:
    """Has a certificate to show, and another key to sign with."""

    def __init__(self, shown, key):
        self.name, self.certificate = COORDINATOR, shown.certificate
        self.fingerprint, self.verify, self.sign = shown.fingerprint, shown.verify, key.sign


def rows():
    rng = np.random.default_rng(1)
    return {name: Table.from_numpy(rng.normal(size=(20, 2)), names=["a", "b"]) for name in NAMES}


def test_the_coordinator_itself_may_ask(keys, tmp_path):
    with street(tmp_path, *NAMES) as town:
        meeting = town.meeting(rows(), keys=keys, method="notears")
        with meeting.session as session:
            assert session.moments().n == 60
        assert set(meeting.lines().values()) == {""}


OPERATORS = {
    "shows the coordinator's certificate, cannot sign": (
        lambda keys, another: (Operator(keys[COORDINATOR], another), None),
        ProtocolError,
        "the coordinator did not sign the roster",
        ["refused"],
    ),
    "shows its own for the coordinator's plan": (
        lambda keys, another: (Operator(another, another), None),
        ProtocolError,
        "the plan is not for the coordinator that offers it",
        ["refused"],
    ),
    "makes a plan of its own": (
        lambda keys, another: (Operator(another, another), another.fingerprint(another.certificate)),
        PolicyError,
        "the plan comes from another coordinator",
        ["refused"],
    ),
    "takes a site's certificate": (
        lambda keys, another: (Operator(keys["west"], keys["west"]), keys["west"].fingerprint(keys["west"].certificate)),
        PolicyError,
        "the plan comes from another coordinator",
        ["refused"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", OPERATORS)
def test_without_the_coordinators_key_nothing_is_answered(keys, another, tmp_path, what):
    make, kind, line, events = OPERATORS[what]
    operator, planned = make(keys, another)
    with street(tmp_path, *NAMES) as town:
        meeting = town.meeting(rows(), keys=keys, method="notears")
        meeting.session._identity = operator
        if planned is not None:
            meeting.session.plan = replace(meeting.plan, coordinator=planned)
        with pytest.raises(ProtocolError), meeting.session as session:
            session.moments()
        for name in NAMES:
            ended = meeting.working[name].exception(PATIENCE)
            assert isinstance(ended, kind)
            assert line in str(ended)
            assert not meeting.answers(name)
            assert [event["event"] for event in meeting.logs[name].events] == events
            # Only what does not depend on rows has left the site: its key, or a refusal.
            assert {tag for _, tag, _ in meeting.wires[name].sent} == {"keys"}
