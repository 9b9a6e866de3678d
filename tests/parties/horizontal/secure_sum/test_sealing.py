"""Seals: known answers from another implementation, and everything that is refused."""

import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.masks import KeyPair, pair_secret
from dagora.parties.horizontal.secure_sum.sealing import Seal
from dagora.parties.transport.messages import encode

SESSION = bytes(range(32))


def key_pair(private: bytes) -> KeyPair:
    return KeyPair(private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())


COORDINATOR, SITE = key_pair(b"\1" * 32), key_pair(b"\2" * 32)
MESSAGE = b"the masked counts of a site"
# The secret of both, and the first two messages from the site: for any other implementation.
SECRET = "f37c22d2bca34e65f6132e7023150eab0c6dcf531ca0d31e9aade49d2b140c1b"
SEALED = (
    "d14b7c5a52e9bbbb468eacf1f4ed9557b4b831ba869961aa657b38cd5993ef8af0d60198f8d81b2cf06977",
    "d82458f4831837019b15bb9862b16ad9d52fbe928bc00845d5d336c922b9cbe415eb9e23a3463a85615c54",
)


def seal(secret=None, session=SESSION, sender="north", receiver="coordinator"):
    if secret is None:
        secret = pair_secret(SITE, "north", "coordinator", COORDINATOR.public)
    return Seal(secret, session, sender, receiver)


def expand(secret: bytes, info: bytes) -> bytes:
    """HKDF-Expand of RFC 5869 for 32 bytes."""
    return hmac.digest(secret, info + b"\1", "sha256")


def test_known_answers():
    sender = seal()
    assert pair_secret(SITE, "north", "coordinator", COORDINATOR.public).hex() == SECRET
    assert tuple(sender.close("answer", MESSAGE).hex() for _ in SEALED) == SEALED


def test_known_answers_by_libsodium():
    """The whole way from two private keys to two sealed messages."""
    bindings = pytest.importorskip("nacl.bindings", reason="needs PyNaCl: the extra 'private'")
    shared = bindings.crypto_scalarmult(COORDINATOR.private, SITE.public)
    names, keys = ["coordinator", "north"], [COORDINATOR.public, SITE.public]
    secret = expand(hmac.digest(bytes(32), shared, "sha256"), encode({"pair": names, "keys": keys}))
    assert secret == pair_secret(COORDINATOR, "coordinator", "north", SITE.public)
    key = expand(secret, encode({"sealed": SESSION, "from": "north", "to": "coordinator"}))
    sender = seal(secret)
    for number in range(2):
        sealed = sender.close("answer", MESSAGE)
        nonce = number.to_bytes(12, "little")
        expected = bindings.crypto_aead_chacha20poly1305_ietf_encrypt(MESSAGE, b"answer", nonce, key)
        assert sealed == expected == bytes.fromhex(SEALED[number])


def test_messages_come_back_in_order():
    sender, receiver = seal(), seal()
    sealed = [sender.close("answer", MESSAGE + bytes([number])) for number in range(3)]
    assert len({part[:20] for part in sealed}) == 3
    assert [receiver.open("answer", part) for part in sealed] == [MESSAGE + bytes([n]) for n in range(3)]


OTHERS = {
    "another run": {"session": bytes(32)},
    "another site": {"sender": "south"},
    "sent back": {"sender": "coordinator", "receiver": "north"},
    "another key": {"secret": bytes(32)},
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_was_sealed_elsewhere_is_refused(what):
    with pytest.raises(ProtocolError, match="party 'north' did not seal this 'answer' for this run"):
        seal().open("answer", seal(**OTHERS[what]).close("answer", MESSAGE))


def test_what_was_changed_is_refused():
    first, second = (sender := seal()).close("answer", MESSAGE), sender.close("answer", MESSAGE)
    bad = [b"", first[:-1], first + b"\0", second, MESSAGE, bytes(16)]
    bad += [first[:place] + bytes([first[place] ^ 1]) + first[place + 1 :] for place in range(len(first))]
    for sealed in bad:
        with pytest.raises(ProtocolError):
            seal().open("answer", sealed)
    with pytest.raises(ProtocolError):
        seal().open("ask", first)
    receiver = seal()
    assert receiver.open("answer", first) == MESSAGE
    with pytest.raises(ProtocolError):
        receiver.open("answer", first)
