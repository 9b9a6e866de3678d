"""Messages sealed between two parties: X25519, HKDF-SHA256, ChaCha20-Poly1305 (RFC 7748, 5869, 8439).

Coordinator and site have each made a key pair for this run and signed it, so they share a secret that nobody
else has, and that is gone when the run ends (`masks.pair_secret`). From it and the digest of plan and keys
each direction has a key of its own:

    key      = HKDF-Expand(secret; session, sender, receiver)
    message  = ChaCha20-Poly1305(key; its number in this direction as nonce, its tag as associated data)

Messages are numbered from 0 and opened in order. So one that is changed, left out, repeated, sent back, or
taken from another site or another run is refused, and the k-th answer belongs to the k-th question.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.masks import key_for
from dagora.parties.transport.messages import encode

NONCE_BYTES = 12


class Seal:
    """One direction between two parties."""

    def __init__(self, secret: bytes, session: bytes, sender: str, receiver: str) -> None:
        info = encode({"sealed": session, "from": sender, "to": receiver})
        self._cipher = ChaCha20Poly1305(key_for(secret, info))
        self._sender = sender
        self._number = 0

    def close(self, tag: str, message: bytes) -> bytes:
        """Seal the next message."""
        return self._cipher.encrypt(self._next(), message, tag.encode())

    def open(self, tag: str, sealed: bytes) -> bytes:
        """Open the next message, or refuse it."""
        try:
            return self._cipher.decrypt(self._next(), sealed, tag.encode())
        except InvalidTag:
            raise ProtocolError(
                f"party '{self._sender}' did not seal this '{tag}' for this run: it was changed on its way"
            ) from None

    def _next(self) -> bytes:
        nonce = self._number.to_bytes(NONCE_BYTES, "little")
        self._number += 1
        return nonce
