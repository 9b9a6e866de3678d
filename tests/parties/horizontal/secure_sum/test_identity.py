from datetime import UTC, datetime, timedelta

import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity, hand_out_keys
from dagora.parties.transport.certificates import make_certificates


@pytest.fixture(params=["keys", "certificates"])
def identities(request, credentials):
    if request.param == "keys":
        return hand_out_keys(["b", "c", "d"])
    return {name: CertifiedIdentity(credentials[name]) for name in ("b", "c", "d")}


def test_a_signature_holds_for_its_name_and_message_alone(identities):
    b, c, d = identities.values()
    signature = b.sign(b"hello")
    assert c.verify("b", b"hello", signature, b.certificate)
    assert not c.verify("b", b"hullo", signature, b.certificate)
    assert not c.verify("d", b"hello", signature, d.certificate)
    assert not c.verify("d", b"hello", signature, b.certificate)
    assert not c.verify("b", b"hello", signature[:-1], b.certificate)
    assert not c.verify("nobody", b"hello", signature, b.certificate)


def test_certificates_of_another_ca_or_time_or_garbage_do_not_count(credentials, foreign, tmp_path):
    judge = CertifiedIdentity(credentials["c"])
    stranger = CertifiedIdentity(foreign["b"])
    assert not judge.verify("b", b"hello", stranger.sign(b"hello"), stranger.certificate)
    # Our certificate, somebody else's signature.
    assert not judge.verify(
        "b", b"hello", stranger.sign(b"hello"), CertifiedIdentity(credentials["b"]).certificate
    )
    for garbage in (b"", b"garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
        assert not judge.verify("b", b"hello", stranger.sign(b"hello"), garbage)
    old = make_certificates(
        tmp_path / "old", ["b", "c"], days=1, starts=datetime.now(UTC) - timedelta(days=3)
    )
    b, c = (CertifiedIdentity(old[name]) for name in ("b", "c"))
    assert not c.verify("b", b"hello", b.sign(b"hello"), b.certificate)


def test_unreadable_files_are_one_line(credentials, tmp_path):
    from dataclasses import replace

    broken = tmp_path / "party.key"
    broken.write_text("no key")
    with pytest.raises(ProtocolError, match="these certificates cannot be read"):
        CertifiedIdentity(replace(credentials["b"], key=broken))
