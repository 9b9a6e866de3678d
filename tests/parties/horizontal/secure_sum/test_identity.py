import base64
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity, hand_out_keys
from dagora.parties.transport.authority import der_of
from dagora.parties.transport.certificates import fingerprint, make_certificates


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


def test_an_authority_cannot_pose_as_a_party(credentials):
    """The CA's own certificate is issued by the CA, but names no party."""
    judge = CertifiedIdentity(credentials["c"])
    ca = der_of(credentials["c"].ca.read_bytes())
    assert not judge.verify("b", b"hello", judge.sign(b"hello"), ca)


def two_in_one(known, forged):
    """Texts in which one parser finds the certificate that is known, and another a forged one."""
    first, second = (base64.b64encode(der).decode() for der in (known, forged))
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    yield f"{begin}\n{first}\n{end}\n{begin}\n{second}\n{end}\n"
    for mark in (":", ": "):
        yield f"{begin}\n{first[:10]}{mark}{first[10:]}\n\n{second}\n{end}\n"
        yield f"{begin}\n{second[:10]}{mark}{second[10:]}\n\n{first}\n{end}\n"


def test_whoever_has_the_authoritys_key_cannot_sign_under_a_known_fingerprint(tmp_path):
    """Attack: one message that has a site's fingerprint, and holds another key for its name."""
    made = make_certificates(tmp_path / "keys", ["b", "c"])
    b, judge = (CertifiedIdentity(made[name]) for name in ("b", "c"))
    key = ec.generate_private_key(ec.SECP256R1())
    pem = (tmp_path / "keys" / "b" / "party.pem").read_bytes()
    forged = forge(pem, (tmp_path / "keys" / "ca.key").read_bytes(), key)
    signature = key.sign(b"hello", ec.ECDSA(hashes.SHA256()))
    assert judge.verify("b", b"hello", signature, forged), "the authority vouches for it"
    known = judge.fingerprint(b.certificate)
    assert known == fingerprint(pem) != judge.fingerprint(forged)
    shown = [text.encode() for text in two_in_one(b.certificate, forged)]
    for message in [forged, *shown, b.certificate + forged, forged + b.certificate]:
        assert judge.fingerprint(message) != known or not judge.verify("b", b"hello", signature, message)
    for text in shown:
        assert not judge.verify("b", b"hello", signature, text)


def forge(pem, authority, key):
    """Another certificate for the same name, by whoever has the authority's key."""
    true = x509.load_pem_x509_certificate(pem)
    builder = x509.CertificateBuilder(
        true.issuer, true.subject, key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(true.not_valid_before_utc).not_valid_after(true.not_valid_after_utc)
    signed = builder.sign(load_pem_private_key(authority, password=None), hashes.SHA256())
    return signed.public_bytes(Encoding.DER)


def test_unreadable_files_are_one_line(credentials, tmp_path):
    from dataclasses import replace

    broken = tmp_path / "party.key"
    broken.write_text("no key")
    with pytest.raises(ProtocolError, match="these certificates cannot be read"):
        CertifiedIdentity(replace(credentials["b"], key=broken))
