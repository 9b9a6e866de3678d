"""Random masks that cancel in the sum: X25519 key agreement, HKDF-SHA256, AES-256 in counter mode.

Sites i and j share the secret s_ij = X25519(private_i, public_j). In every round both derive a fresh key from
it, HKDF(s_ij; names and public keys of i and j, session, round, label, shape), and expand it to a vector
PRG(key) modulo 2⁶⁴. The site whose name comes first adds it, the other subtracts it. The masks cancel in the
sum over all sites and in no other: without the vector of any one of them, the rest is noise. The inputs of
the derivation are not sent: if two sites differ in the plan, the sites, the questions so far or the round,
their masks do not cancel either.

Names and keys of the pair are needed. A site that helps the coordinator may choose its key so that another
shares the same secret with it as with a third (X25519 ignores a bit, and the curve has points of small
order); without them, that one would add and subtract the same mask.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError
from dagora.parties.transport.messages import encode

KEY_BYTES = 32  # of AES-256
_HASH, _MODE = SHA256(), CTR(bytes(16))


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An X25519 key pair, as raw bytes."""

    private: bytes
    public: bytes

    @classmethod
    def make(cls) -> KeyPair:
        """Make a fresh pair."""
        key = X25519PrivateKey.generate()
        return cls(key.private_bytes_raw(), key.public_key().public_bytes_raw())

    def agree(self, public: bytes) -> bytes:
        """Return the secret shared with the owner of another public key."""
        try:
            own = X25519PrivateKey.from_private_bytes(self.private)
            return own.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError:
            raise ProtocolError("a public key is not valid") from None


@dataclass(frozen=True, slots=True)
class MaskContext:
    """The one use of a mask; masks of different contexts are independent."""

    session: bytes
    round: int
    label: str
    shape: tuple[int, ...]

    def info(self) -> bytes:
        """The bytes that go into the key derivation."""
        return encode(
            {"session": self.session, "round": self.round, "label": self.label, "shape": list(self.shape)}
        )


def derive(secret: bytes, info: bytes) -> bytes:
    """Return a key for one use, HKDF-SHA256."""
    return HKDF(algorithm=_HASH, length=KEY_BYTES, salt=None, info=info).derive(secret)


def key_for(secret: bytes, info: bytes) -> bytes:
    """Return a key for one use from a secret that is a key already: HKDF's second half (RFC 5869, 3.3)."""
    return hmac.digest(secret, info + b"\x01", "sha256")  # as many bytes as one block of HKDF-Expand has


def keystream(key: bytes, shape: tuple[int, ...], zeros: bytes | None = None) -> NDArray[np.uint64]:
    """Expand a key, used for nothing else, to uniform integers: AES-256-CTR over zeros."""
    stream = Cipher(AES(key), _MODE).encryptor().update(zeros or bytes(8 * prod(shape)))
    return np.frombuffer(stream, dtype="<u8").reshape(shape)


def pair_secret(own: KeyPair, name: str, other: str, public: bytes) -> bytes:
    """The secret of two sites, bound to their names and public keys."""
    ends = sorted([(name, own.public), (other, public)])
    info = encode({"pair": [name for name, _ in ends], "keys": [key for _, key in ends]})
    return derive(own.agree(public), info)


def pair_masks(name: str, secrets: Mapping[str, bytes], context: MaskContext) -> NDArray[np.uint64]:
    """The sum of a site's masks with all others, given its `pair_secret` with each of them.

    Each of the others computes the negative of its mask with this site.
    """
    info, zeros = context.info(), bytes(8 * prod(context.shape))
    total = np.zeros(context.shape, dtype=np.uint64)
    for other, secret in secrets.items():
        mask = keystream(key_for(secret, info), context.shape, zeros)
        if name < other:
            total += mask
        else:
            total -= mask
    return total
