"""Private set intersection of row keys: which rows two owners have in common, and nothing about the others.

The receiver puts its keys into bins by cuckoo hashing (`cuckoo`), at most one key per bin, fills the empty
bins with random inputs, and learns F_j of the content of bin j (`oblivious_prf`). The sender does not know in
which of its three bins the receiver would have put a key, so it sends F of each key for all three bins,
sorted by value. The values that the receiver recognises belong to common keys (Kolesnikov, Kumaresan, Rosulek
& Trieu 2016). It then sends keyed hashes of the common keys to the sender, padded with random ones up to the
size of the smaller set. Both sort the common rows by key.

    psi/hello    <>  number of keys, salt            psi/values   <  F of the sender's keys, 48 bytes a key
    psi/…        <>  oblivious transfer, 512 seeds   psi/common   >  16 bytes for each key of the smaller set
    psi/codes    >   64 bytes a bin, 1.3 bins a key  psi/check    <> a hash of what both hold for the result

Both learn the common keys and how many keys the other has. Message sizes depend only on the two numbers of
keys. Semi-honest adversaries; 128 bits of computational and 40 bits of statistical security: the keys fit
into the bins except with probability 2⁻⁴⁰ (then other hashes are tried, and no key is dropped), and values of
128 bits collide with probability below 2⁻⁴⁰ for up to 2⁴⁰ keys. Not prevented: a party may put in keys that
it guesses and learn whether the other has them, as many as the number of keys it announces.

A key is text: surrounding white space is removed and Unicode normalised to form C; a whole number is written
in decimal digits. Nothing else is normalised: '7' and '07' differ, and so do 'a' and 'A'.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.transfer.base_transfer import RandomBytes
from dagora.parties.crypto.transfer.oblivious_prf import receive_values, send_function
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender
from dagora.parties.transport.transport import Transport
from dagora.parties.vertical.cuckoo import HASHES, number_of_bins, place, three_bins

Role = Literal["receiver", "sender"]
Words = NDArray[np.uint64]

MAX_KEYS = 1 << 24  # 2.5 GB of messages
SALT_BYTES = 16  # never drawn twice
_ATTEMPTS = 4  # of hashes into bins, each of which fails with probability 2⁻⁴⁰ at most
_ROLES = ("receiver", "sender")
# A key in every set that no text can equal: if it is not found, something went wrong.
_PROBE = b"\xffdagora"
_LOST = "the probe that every set holds was not found: messages were damaged, or the versions differ"


def intersect(
    transport: Transport,
    keys: Sequence[object] | NDArray[np.generic],
    role: Role,
    *,
    peer: str | None = None,
    column: str = "the key column",
    transfer: TransferSender | TransferReceiver | None = None,
    tag: str = "psi",
    random: RandomBytes = secrets.token_bytes,
) -> NDArray[np.int64]:
    """Return the positions of this party's rows whose keys the peer has too, in the order of the keys.

    The peer calls the same with the other role and gets as many positions in the same order. `column` begins
    an error's message. `transfer` may be an oblivious transfer that is already set up: a `TransferSender` for
    the receiver, a `TransferReceiver` for the sender.
    """
    if role not in _ROLES:
        raise ValueError("the role is 'receiver' or 'sender'")
    if transfer is not None and isinstance(transfer, TransferSender) != (role == "receiver"):
        raise ValueError("the receiver needs a TransferSender, the sender a TransferReceiver")
    texts = key_texts(keys, column)
    channel = Channel.to_peer(transport, peer, tag)
    agreed = _agree(channel, role, len(texts), transfer is not None, random)
    if role == "receiver":
        if not isinstance(transfer, TransferSender):
            transfer = TransferSender(transport, channel.peer, tag=tag, random=random)
        common = _receive(channel, transfer, agreed, texts, random)
    else:
        if not isinstance(transfer, TransferReceiver):
            transfer = TransferReceiver(transport, channel.peer, tag=tag, random=random)
        common = _send(channel, transfer, agreed, texts, random)
    # The probe comes after our own keys.
    if len(texts) not in common:
        channel.refuse("values" if role == "receiver" else "common", _LOST)
    positions = sorted((i for i in common.tolist() if i < len(texts)), key=texts.__getitem__)
    _check(channel, role, agreed, [texts[i] for i in positions])
    return np.array(positions, dtype=np.int64)


def key_texts(keys: Sequence[object] | NDArray[np.generic], column: str = "the key column") -> list[str]:
    """Normalise keys to texts; refuse a key that is missing, repeated or of another type.

    >>> key_texts([" ann ", "bob", 7])
    ['ann', 'bob', '7']
    >>> key_texts(["ann", "bob", "ann "], "a.csv, column 'ID'")
    Traceback (most recent call last):
    dagora.DataError: a.csv, column 'ID': rows 1 and 3 have the same key; give each row its own
    """
    values = keys.tolist() if isinstance(keys, np.ndarray) else keys
    texts = [_key_text(value, row, column) for row, value in enumerate(values, 1)]
    if len(texts) > MAX_KEYS:
        raise DataError(f"{column}: {len(texts)} keys are too many; the limit is {MAX_KEYS}")
    first: dict[str, int] = {}
    for row, text in enumerate(texts, 1):
        if first.setdefault(text, row) != row:
            rows = f"rows {first[text]} and {row}"
            raise DataError(f"{column}: {rows} have the same key; give each row its own")
    return texts


def _key_text(value: object, row: int, column: str) -> str:
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", value.strip())
        try:
            text.encode()
        except UnicodeEncodeError:
            raise DataError(f"{column}: the key of row {row} is not valid Unicode text") from None
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        text = str(operator.index(value))
    elif value is None or (isinstance(value, float) and np.isnan(value)):
        text = ""
    else:
        kind = type(value).__name__
        raise DataError(f"{column}: the key of row {row} is a {kind}; keys are texts or whole numbers")
    if not text:
        raise DataError(f"{column}: row {row} has no key; drop the row or give it one")
    return text


@dataclass(frozen=True, slots=True)
class _SessionSizes:
    """The session, and the sizes of both sets with the probe; both sides know them before a key is used."""

    session: bytes
    received: int
    sent: int

    @property
    def bins(self) -> int:
        return number_of_bins(self.received)


def _agree(channel: Channel, role: Role, size: int, ready: bool, random: RandomBytes) -> _SessionSizes:
    salt = random(SALT_BYTES)
    channel.send("hello", role=role, keys=size, salt=salt, ready=ready)
    hello = channel.receive("hello", {"role": str, "keys": int, "salt": bytes, "ready": bool})
    if hello["role"] not in _ROLES or len(hello["salt"]) != SALT_BYTES:
        channel.refuse("hello", "is not the opening of an intersection")
    if hello["role"] == role:
        raise ProtocolError(f"both parties chose the role {role}: one of them must take the other")
    if hello["ready"] != ready:
        raise ProtocolError(
            "one party has set up oblivious transfer before the intersection, the other has not"
        )
    if not 0 <= hello["keys"] <= MAX_KEYS:
        channel.refuse("hello", f"its number of keys is not between 0 and {MAX_KEYS}")
    ours, theirs = (salt, size), (hello["salt"], hello["keys"])
    (salt_a, received), (salt_b, sent) = (ours, theirs) if role == "receiver" else (theirs, ours)
    session = hashlib.sha256(b"dagora intersection " + salt_a + salt_b + b"%d %d" % (received, sent)).digest()
    return _SessionSizes(session, received + 1, sent + 1)


def _receive(
    channel: Channel, transfer: TransferSender, agreed: _SessionSizes, texts: list[str], random: RandomBytes
) -> NDArray[np.int64]:
    for attempt in range(_ATTEMPTS):
        marks, hashes = _hash_keys(agreed.session, attempt, texts)
        table = place(three_bins(hashes, agreed.bins), agreed.bins)
        if len(table):
            break
    else:
        raise ProtocolError("the keys could not be placed in bins, which should never happen: run it again")
    channel.send("attempt", attempt=attempt)
    # An empty bin gets an input that is nobody's key.
    inputs = _random_words(random, agreed.bins)
    filled = np.flatnonzero(table >= 0)
    inputs[filled] = marks[table[filled]]
    values = receive_values(channel, transfer, agreed.session, inputs)
    theirs = _gather(channel, "values", HASHES * agreed.sent)
    common = table[filled[_common_rows(theirs, values[filled])]]
    sent_marks = _random_words(random, min(agreed.received, agreed.sent))
    if len(common) > len(sent_marks):
        channel.refuse("values", "it sent values for more common keys than it has keys")
    sent_marks[: len(common)] = marks[common]
    channel.send_rows("common", _in_order(sent_marks))
    return common


def _send(
    channel: Channel, transfer: TransferReceiver, agreed: _SessionSizes, texts: list[str], random: RandomBytes
) -> NDArray[np.int64]:
    attempt = channel.receive("attempt", {"attempt": int})["attempt"]
    if not 0 <= attempt < _ATTEMPTS:
        channel.refuse("attempt", f"{_ATTEMPTS} attempts are the most there can be")
    marks, hashes = _hash_keys(agreed.session, attempt, texts)
    function = send_function(channel, transfer, agreed.session, agreed.bins, random=random)
    rows = three_bins(hashes, agreed.bins)
    values = function.values(rows.reshape(-1), np.repeat(marks, HASHES, axis=0))
    # Sorted, the values reveal nothing about the order of the rows.
    channel.send_rows("values", _in_order(values))
    return _common_rows(_gather(channel, "common", min(agreed.received, agreed.sent)), marks)


def _check(channel: Channel, role: Role, agreed: _SessionSizes, common: list[str]) -> None:
    parts = hashlib.sha256(b"dagora common keys " + agreed.session)
    for text in common:
        content = text.encode()
        parts.update(len(content).to_bytes(8, "little") + content)
    # Each sends a hash of the result, which both already have, so it reveals nothing new.
    ours, theirs = (
        hashlib.sha256(side.encode() + parts.digest()).digest()
        for side in (_ROLES if role == "receiver" else _ROLES[::-1])
    )
    channel.send("check", digest=ours)
    if channel.receive("check", {"digest": bytes})["digest"] != theirs:
        channel.refuse("check", "it found other common keys than we did")


def _hash_keys(session: bytes, attempt: int, texts: list[str]) -> tuple[Words, Words]:
    """For each key, and last for the probe, a mark of 128 bits and three hashes that choose its bins."""
    secret = hashlib.sha256(b"dagora marks %d " % attempt + session).digest()
    size = 16 + 8 * HASHES
    contents = [*(text.encode() for text in texts), _PROBE]
    digests = [hashlib.blake2b(content, digest_size=size, key=secret).digest() for content in contents]
    words = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2 + HASHES).astype(np.uint64)
    return np.ascontiguousarray(words[:, :2]), np.ascontiguousarray(words[:, 2:])


def _random_words(random: RandomBytes, rows: int) -> Words:
    return np.frombuffer(random(16 * rows), dtype="<u8").reshape(rows, 2).astype(np.uint64)


def _gather(channel: Channel, step: str, rows: int) -> Words:
    return np.concatenate([np.empty((0, 2), dtype=np.uint64), *channel.receive_rows(step, rows, 2)])


def _in_order(rows: Words) -> Words:
    return np.ascontiguousarray(rows[np.lexsort((rows[:, 1], rows[:, 0]))])


def _common_rows(theirs: Words, ours: Words) -> NDArray[np.int64]:
    """The positions of our rows that are among theirs, in increasing order; ours are all different."""
    both = np.concatenate([theirs, ours])
    # A stable sort puts ours right after its equal.
    order = np.lexsort((both[:, 1], both[:, 0]))
    equal = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    later = order[1:][equal]
    return np.sort(later[later >= len(theirs)] - len(theirs)).astype(np.int64)
