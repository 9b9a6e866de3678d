"""A certificate authority made for the run: X.509 certificates, ECDSA on P-256, as PEM.

`certificates` imports this module only when needed, since `cryptography` is an optional package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_NAME = "dagora CA"


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, in PEM."""

    certificate: bytes
    key: bytes


def issue(names: Sequence[str], first: datetime, last: datetime) -> tuple[Pair, dict[str, Pair]]:
    """Make a CA and a certificate for each party, all valid from `first` to `last`."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = _common_name(CA_NAME)
    builder = _begin(ca_name, ca_name, ca_key, first, last)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    ca = builder.add_extension(_usage(ca=True), critical=True).sign(ca_key, hashes.SHA256())
    parties = {}
    for name in names:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _begin(_common_name(name), ca_name, key, first, last)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(ca=False), critical=True)
        # Any party may listen or connect.
        roles = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(roles), critical=False)
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        certificate = builder.add_extension(signer, critical=False).sign(ca_key, hashes.SHA256())
        parties[name] = _pair(certificate, key)
    return _pair(ca, ca_key), parties


def common_name(certificate: x509.Certificate) -> str:
    """The one common name in a certificate; `ValueError` if there is none."""
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(found) != 1:
        raise ValueError("it does not name one party")
    return str(found[0].value)


def name_in(pem: bytes) -> str:
    """The one common name in a certificate's file; `ValueError` if there is none."""
    return common_name(x509.load_pem_x509_certificate(pem))


def der_of(pem: bytes) -> bytes:
    """The bytes that a certificate's file stands for, whose hash is its fingerprint."""
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def validity(pem: bytes) -> tuple[datetime, datetime]:
    """From when until when a certificate is valid."""
    certificate = x509.load_pem_x509_certificate(pem)
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begin(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, first: datetime, last: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(first).not_valid_after(last)
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)


def _usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Pair(certificate.public_bytes(Encoding.PEM), secret)
