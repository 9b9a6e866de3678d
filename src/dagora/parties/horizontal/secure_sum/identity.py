"""Signatures, by which a site knows that a message passed on by the coordinator comes from another site.

Sites communicate through the coordinator, which must not be able to replace their keys by its own. With
certificates, a site signs with its certificate's key (ECDSA on P-256) and sends the certificate along;
whoever has the CA's certificate can check that the named site has signed. In one process, Ed25519 keys that
are handed out beforehand take their place.

A certificate is sent as the bytes that its fingerprint is the hash of (DER), and read by one parser. A file's
text (PEM) can be written so that two parsers find two certificates in it: one whose fingerprint is known, and
one whose key signs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from dagora.base.errors import ProtocolError
from dagora.parties.transport.authority import common_name, der_of
from dagora.parties.transport.certificates import Credentials, fingerprint_of

ED25519_BYTES = 32  # a bare public key takes the place of a certificate


class Identity(Protocol):
    """One party's signature, and how it checks the others'."""

    @property
    def name(self) -> str:
        """The name of the party that signs."""

    @property
    def certificate(self) -> bytes:
        """The certificate with which others check the signature."""

    def fingerprint(self, certificate: bytes) -> str:
        """The name by which plans and policies know a certificate."""

    def sign(self, message: bytes) -> bytes:
        """Sign as `name`."""

    def verify(self, name: str, message: bytes, signature: bytes, certificate: bytes) -> bool:
        """Return True if the party of that name signed this message."""


@dataclass(frozen=True)
class KnownKeys:
    """Ed25519 keys that all parties knew beforehand."""

    name: str
    private: Ed25519PrivateKey = field(repr=False)
    public: Mapping[str, Ed25519PublicKey] = field(repr=False)

    @property
    def certificate(self) -> bytes:
        """The public key."""
        return self.public[self.name].public_bytes_raw()

    def fingerprint(self, certificate: bytes) -> str:
        """The hash of the public key."""
        return fingerprint_of(certificate)

    def sign(self, message: bytes) -> bytes:
        """Sign with our own key."""
        return self.private.sign(message)

    def verify(self, name: str, message: bytes, signature: bytes, certificate: bytes) -> bool:  # noqa: ARG002
        """Check with the key we know."""
        if name not in self.public:
            return False
        try:
            self.public[name].verify(signature, message)
        except InvalidSignature:
            return False
        return True


def hand_out_keys(names: Sequence[str]) -> dict[str, KnownKeys]:
    """Make a key for each party, and give all parties the public keys.

    >>> keys = hand_out_keys(["b", "c"])
    >>> keys["c"].verify("b", b"hello", keys["b"].sign(b"hello"), b"")
    True
    """
    private = {name: Ed25519PrivateKey.generate() for name in names}
    public = {name: key.public_key() for name, key in private.items()}
    return {name: KnownKeys(name, private[name], public) for name in names}


def signature_holds(certificate: bytes, message: bytes, signature: bytes) -> bool:
    """Return True if the key of a certificate signed this message, whoever vouches for it and until when.

    >>> key = hand_out_keys(["b"])["b"]
    >>> signature_holds(key.certificate, b"hello", key.sign(b"hello"))
    True
    """
    try:
        if len(certificate) == ED25519_BYTES:
            Ed25519PublicKey.from_public_bytes(certificate).verify(signature, message)
            return True
        return verify_by(x509.load_der_x509_certificate(certificate), message, signature)
    except (ValueError, TypeError, InvalidSignature):
        return False


def verify_by(certificate: x509.Certificate, message: bytes, signature: bytes) -> bool:
    """Return True if the elliptic curve key of a certificate signed this message; a wrong one raises."""
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False
    key.verify(signature, message, ec.ECDSA(SHA256()))
    return True


class CertifiedIdentity:
    """A party with a certificate of the run's CA."""

    def __init__(self, credentials: Credentials) -> None:
        self.name, self.credentials = credentials.name, credentials
        try:
            self.certificate = der_of(credentials.certificate.read_bytes())
            key = load_pem_private_key(credentials.key.read_bytes(), password=None)
            self._ca = x509.load_pem_x509_certificate(credentials.ca.read_bytes())
        except (OSError, ValueError, TypeError):
            raise ProtocolError(f"{credentials.key.parent}: these certificates cannot be read") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ProtocolError(f"{credentials.key}: signatures need an elliptic curve key")
        self._key = key

    def sign(self, message: bytes) -> bytes:
        """Sign with the certificate's key."""
        return self._key.sign(message, ec.ECDSA(SHA256()))

    def fingerprint(self, certificate: bytes) -> str:
        """The hash of the certificate, as other programs print it."""
        return fingerprint_of(certificate)

    def verify(self, name: str, message: bytes, signature: bytes, certificate: bytes) -> bool:
        """Check the certificate against the CA and the name, then the signature against it."""
        try:
            shown = x509.load_der_x509_certificate(certificate)
            if common_name(shown) != name:
                return False
            shown.verify_directly_issued_by(self._ca)
            if not shown.not_valid_before_utc <= datetime.now(UTC) <= shown.not_valid_after_utc:
                return False
            return verify_by(shown, message, signature)
        except (ValueError, TypeError, InvalidSignature):
            return False
