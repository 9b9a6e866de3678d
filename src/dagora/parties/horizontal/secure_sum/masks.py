"""Random masks that cancel in the sum: X25519 key agreement, HKDF-SHA256, AES-256 in counter mode.

Sites i and j share the secret s_ij = X25519(private_i, public_j). In every round both derive a fresh key from
it, HKDF(s_ij; session, round, members, label, shape), and expand it to a vector PRG(key) modulo 2⁶⁴. The site
whose name comes first adds it, the other subtracts it. Each site adds one more vector from a seed of its own,
which protects a site that was taken for lost, so that its pairwise masks were recovered, and whose vector
arrives after all (Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning, CCS
2017). What enters the derivation need not be sent: if two sites differ in the question, the session, the
round or the members of the sum, their masks do not cancel, and the sum is noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from dagora.errors import ProtocolError
from dagora.parties.transport.messages import Value, encode

KEY_BYTES = 32
_START = bytes(16)
_NONCE = bytes(12)


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

    @classmethod
    def from_private(cls, private: bytes) -> KeyPair:
        """Return the pair of a private key that was recovered from shares."""
        return cls(private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())

    def agree(self, public: bytes) -> bytes:
        """Return the secret shared with the owner of another public key."""
        try:
            own = X25519PrivateKey.from_private_bytes(self.private)
            return own.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError:
            raise ProtocolError("a public key is not valid") from None


@dataclass(frozen=True, slots=True)
class Context:
    """What a mask is used for; masks of different contexts are independent."""

    session: bytes
    round: int
    members: tuple[str, ...]
    label: str
    shape: tuple[int, ...]

    def info(self, use: str) -> bytes:
        """The bytes that go into the key derivation."""
        where: dict[str, Value] = {"session": self.session, "round": self.round}
        what: dict[str, Value] = {"label": self.label, "shape": list(self.shape)}
        return encode({"use": use, **where, "members": list(self.members), **what})


def derive(secret: bytes, info: bytes) -> bytes:
    """Return a key for one use, HKDF-SHA256."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(secret)


def keystream(key: bytes, shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Expand a key, used for nothing else, to uniform integers: AES-256-CTR over zeros."""
    stream = Cipher(AES(key), CTR(_START)).encryptor().update(bytes(8 * prod(shape)))
    return np.frombuffer(stream, dtype="<u8").reshape(shape)


def self_mask(seed: bytes, context: Context) -> NDArray[np.uint64]:
    """The mask of one site alone."""
    return keystream(derive(seed, context.info("self")), context.shape)


def pair_masks(name: str, secrets: Mapping[str, bytes], context: Context) -> NDArray[np.uint64]:
    """The sum of a site's masks with others, given the secrets it shares with them.

    Each of the others computes the negative of its mask with this site.
    """
    info = context.info("pair")
    total = np.zeros(context.shape, dtype=np.uint64)
    for other, secret in secrets.items():
        mask = keystream(derive(secret, info), context.shape)
        if name < other:
            total += mask
        else:
            total -= mask
    return total


def seal(secret: bytes, info: bytes, content: bytes) -> bytes:
    """Encrypt with AES-256-GCM under a key that is derived for this message and used once."""
    return AESGCM(derive(secret, info)).encrypt(_NONCE, content, None)


def unseal(secret: bytes, info: bytes, sealed: bytes) -> bytes | None:
    """Decrypt what `seal` made with the same secret and info; None if it is anything else."""
    try:
        return AESGCM(derive(secret, info)).decrypt(_NONCE, sealed, None)
    except (InvalidTag, ValueError):
        return None
