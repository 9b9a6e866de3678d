"""An oblivious pseudorandom function: two parties evaluate it together, once per row, for thousands of rows.

For row j the receiver has an input x_j and learns F_j(x_j). The sender learns nothing about x_j and gets the
key with which it can evaluate F_j at any input. Kolesnikov, Kumaresan, Rosulek & Trieu, Efficient batched
oblivious PRF (CCS 2016): OT extension in which a choice bit repeated 128 times becomes a codeword C(x) of 512
pseudorandom bits. With seed pairs by oblivious transfer, the sender choosing by a random s, and G the rows
made of the streams of the seeds,

    receiver  t_j = G⁰_j,   sends  u_j = t_j ⊕ G¹_j ⊕ C(x_j)        64 bytes per row
    sender    q_j = Gˢ_j ⊕ (s & u_j) = t_j ⊕ (s & C(x_j))
    F_j(x) = H(j, q_j ⊕ (s & C(x))),   which for x = x_j is H(j, t_j)

C is four blocks of AES under public keys of the session, H is BLAKE2b with 128 bits of output. F_j(y) for y ≠
x_j is random to the receiver, which does not know s, if C(y) and C(x_j) differ in 128 bits or more. With 512
bits that fails with probability below 2⁻⁹⁶ per pair, and so below 2⁻⁴⁰ for 2⁵⁶ pairs. Semi-honest
adversaries.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from dagora.kernels.decorators import kernel
from dagora.parties.crypto.channel import ROWS, Channel
from dagora.parties.crypto.transfer.base_transfer import RandomBytes
from dagora.parties.crypto.transfer.bit_matrix import ColumnStreams, transpose, unpack_bits, words_for
from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender

Words = NDArray[np.uint64]

CODE_BITS = 512  # see above
CODE_WORDS = CODE_BITS // 64
VALUE_BYTES = 16  # 128 bits of security
_HASHED_BYTES = 8 * (1 + CODE_WORDS)


def receive_values(channel: Channel, transfer: TransferSender, session: bytes, inputs: Words) -> Words:
    """Return F_j of row j of the inputs, both 128 bits a row; the peer calls `send_function`.

    `session` names this evaluation on both sides, the same for both and different for every run.
    """
    pairs = transfer.random_transfer(CODE_BITS)
    zero = ColumnStreams([pair[0].tobytes() for pair in pairs])
    one = ColumnStreams([pair[1].tobytes() for pair in pairs])
    values = np.empty((len(inputs), 2), dtype=np.uint64)
    for first in range(0, len(inputs), ROWS):
        count = min(ROWS, len(inputs) - first)
        known = transpose(zero.take(words_for(count)), count)
        masked = transpose(one.take(words_for(count)), count)
        masked ^= known
        masked ^= codewords(session, inputs[first : first + count])
        channel.send_rows("codes", masked)
        rows = np.arange(first, first + count)
        values[first : first + count] = _hash(session, rows, known)
    return values


def send_function(
    channel: Channel,
    transfer: TransferReceiver,
    session: bytes,
    rows: int,
    *,
    random: RandomBytes = secrets.token_bytes,
) -> PrfKey:
    """Return the key of F for this many rows; the peer evaluates each row once, by `receive_values`."""
    choice = np.frombuffer(random(CODE_BITS // 8), dtype="<u8").astype(np.uint64)
    seeds = transfer.random_transfer(unpack_bits(choice))
    streams = ColumnStreams([seed.tobytes() for seed in seeds])
    pieces = []
    for sent in channel.receive_rows("codes", rows, CODE_WORDS):
        rows_of_seeds = transpose(streams.take(words_for(len(sent))), len(sent))
        pieces.append(rows_of_seeds ^ (sent & choice))
    return PrfKey(session, choice, np.concatenate(pieces))


@dataclass(frozen=True, eq=False)
class PrfKey:
    """The sender's key of the functions F_0, F_1, …."""

    session: bytes
    choice: Words
    rows: Words

    def values(self, rows: NDArray[np.int64], inputs: Words) -> Words:
        """F of given rows at given inputs of 128 bits."""
        result = np.empty((len(rows), 2), dtype=np.uint64)
        for first in range(0, len(rows), ROWS):
            part = slice(first, first + ROWS)
            corrected = correct(self.rows, rows[part], self.choice, codewords(self.session, inputs[part]))
            result[part] = _hash(self.session, rows[part], corrected)
        return result


def codewords(session: bytes, inputs: Words) -> Words:
    """The pseudorandom code: 512 bits for each input of 128 bits.

    >>> words = codewords(b"today", np.array([[1, 0], [2, 0]], dtype=np.uint64))
    >>> words.shape, int(unpack_bits(words[0] ^ words[1]).sum())
    ((2, 8), 245)
    """
    content = np.ascontiguousarray(inputs, dtype="<u8").tobytes()
    result = np.empty((len(inputs), CODE_WORDS), dtype=np.uint64)
    for k in range(CODE_WORDS // 2):
        key = hashlib.sha256(b"dagora code %d " % k + session).digest()[:16]
        # Single blocks under a public key: a permutation, not encryption.
        blocks = Cipher(AES(key), ECB()).encryptor().update(content)  # noqa: S305
        result[:, 2 * k : 2 * k + 2] = np.frombuffer(blocks, dtype="<u8").reshape(-1, 2)
    return result


@kernel
def correct(q: Words, rows: NDArray[np.int64], choice: Words, codes: Words) -> Words:
    """q_j ⊕ (s & C(x)) for given rows j and codewords."""
    result = np.empty((len(rows), q.shape[1]), dtype=np.uint64)
    for i in range(len(rows)):
        for k in range(q.shape[1]):
            result[i, k] = q[rows[i], k] ^ (choice[k] & codes[i, k])
    return result


def _hash(session: bytes, rows: NDArray[np.int64], words: Words) -> Words:
    content = np.empty((len(rows), 1 + CODE_WORDS), dtype="<u8")
    content[:, 0] = rows
    content[:, 1:] = words
    salt = hashlib.sha256(b"dagora values " + session).digest()[:16]
    blake = hashlib.blake2b
    texts: list[bytes] = content.view(f"V{_HASHED_BYTES}").ravel().tolist()
    digests = [blake(text, digest_size=VALUE_BYTES, salt=salt).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2).astype(np.uint64)
