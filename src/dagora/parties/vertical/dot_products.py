"""Dot products of private columns as additive shares, from which neither party learns them.

The left party holds columns a₀, a₁, … and the right party b₀, b₁, … over the same rows, all of bits. For
agreed pairs (i, j) each party gets a uniform number; the sum of the two is ⟨aᵢ, bⱼ⟩ modulo t. The left party
encrypts its columns under its own key, the right one computes on them and sends back masked sums: by lattices
(`rlwe`), or by Paillier's encryption, the example that the paper names (`paillier`). Against semi-honest
parties; the sizes of all messages follow from the number of rows and the pairs alone.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.events import Observer, ignore
from dagora.base.extras import GMPY2
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption.ring_samples import RandomBytes
from dagora.parties.transport.transport import Transport, one_line
from dagora.parties.vertical.dot_request import DotRequest

Role = Literal["left", "right"]
Crypto = Literal["rlwe", "paillier"]

MAX_MODULUS = 1 << 21  # the largest that the lattice takes (`ring`)


def dot_products(
    transport: Transport,
    role: Role,
    own_columns: NDArray[np.uint8],
    pairs: NDArray[np.int32],
    *,
    crypto: Crypto = "rlwe",
    modulus: int = MAX_MODULUS,
    peer: str | None = None,
    tag: str = "dot-products",
    on_event: Observer = ignore,
    random: RandomBytes = secrets.token_bytes,
) -> NDArray[np.uint64]:
    """Return this party's shares uint64[K] of the dot products of K pairs (left column, right column).

    `own_columns` is uint8[columns, n] of zeros and ones; the number of rows n, the pairs, the way of
    encryption and the modulus (a power of two up to 2²¹; counts are whole if n is below it) must be the
    same on both sides. Every call on one transport needs a tag of its own.

    >>> from threading import Thread
    >>> from dagora.parties.transport.in_memory import memory_network
    >>> network, pairs = memory_network(["a", "b"]), np.array([[0, 0]], dtype=np.int32)
    >>> shares = {}
    >>> def party(name, role, bits):
    ...     shares[name] = dot_products(network[name], role, np.array([bits], dtype=np.uint8), pairs)
    >>> parties = [("a", "left", [1, 1, 0]), ("b", "right", [0, 1, 1])]
    >>> threads = [Thread(target=party, args=each) for each in parties]
    >>> for thread in threads: thread.start()
    >>> for thread in threads: thread.join()
    >>> (shares["a"] + shares["b"]) % 2**21
    array([1], dtype=uint64)
    """
    _check(role, own_columns, pairs, crypto, modulus)
    channel = Channel.to_peer(transport, peer, tag)
    _agree(channel, own_columns.shape[1], pairs, crypto, modulus)
    if not len(pairs):
        return np.zeros(0, dtype=np.uint64)
    columns = np.ascontiguousarray(own_columns, dtype=np.uint8)
    # Each kind of encryption needs packages of its own, so it is imported only when it is used.
    if crypto == "rlwe":
        from dagora.parties.vertical import dot_rlwe

        protocol = dot_rlwe.left_shares if role == "left" else dot_rlwe.right_shares
    else:
        GMPY2.require("Paillier encryption")
        from dagora.parties.vertical import dot_paillier

        protocol = dot_paillier.left_shares if role == "left" else dot_paillier.right_shares
    return protocol(DotRequest(channel, columns, pairs, modulus, on_event, random))


def _check(
    role: str, columns: NDArray[np.uint8], pairs: NDArray[np.int32], crypto: str, modulus: int
) -> None:
    if role not in ("left", "right"):
        raise OptionError(f"role is 'left' or 'right', not {role!r}")
    if crypto not in ("rlwe", "paillier"):
        raise OptionError(f"crypto is 'rlwe' or 'paillier', not {crypto!r}")
    if not 2 <= modulus <= MAX_MODULUS or modulus & (modulus - 1):
        raise OptionError(f"modulus is a power of two from 2 to {MAX_MODULUS}, not {modulus}")
    if columns.ndim != 2 or columns.dtype != np.uint8 or columns.shape[1] == 0:
        raise DataError("columns for dot products are uint8[columns, rows] with at least one row")
    if columns.size and columns.max() > 1:
        raise DataError("columns for dot products hold only 0 and 1")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype != np.int32:
        raise OptionError("pairs for dot products are int32[pairs, 2]")
    own = pairs[:, 0 if role == "left" else 1]
    if len(pairs) and (pairs.min() < 0 or own.max() >= len(columns)):
        raise OptionError(f"pairs name a column outside 0 to {len(columns) - 1} of the {role} party")


def _agree(channel: Channel, rows: int, pairs: NDArray[np.int32], crypto: str, modulus: int) -> None:
    """Exchange rows, pairs, encryption and modulus; continue only if they are the same on both sides."""
    digest = sha256(pairs.astype("<i4").tobytes()).digest()
    mine: dict[str, str | int] = {"crypto": crypto, "modulus": modulus, "rows": rows, "pairs": len(pairs)}
    channel.send("agreement", **mine, digest=digest)
    theirs = channel.receive(
        "agreement", {"crypto": str, "modulus": int, "rows": int, "pairs": int, "digest": bytes}
    )
    for name, value in mine.items():
        if theirs[name] != value:
            # Python refuses to write out a number of thousands of digits.
            huge = isinstance(theirs[name], int) and abs(theirs[name]) >= 1 << 64
            there = "out of range" if huge else one_line(str(theirs[name]))[:40]
            channel.refuse("agreement", f"{name} is {there} there and {value} here")
    if theirs["digest"] != digest:
        channel.refuse("agreement", "the pairs of columns are not the same on both sides")
