"""Dot products as shares by Paillier's encryption, the example that the paper names.

Unlike in the published protocol, many columns share a ciphertext, and each column is encrypted once.

Left sends its public key and, some rows at a time, its encrypted columns, the bits of many columns in one
ciphertext. Right multiplies the ciphertexts at which its own bits are one, and returns each product masked
slot by slot and re-randomised. Slots that no pair uses are masked like all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from gmpy2 import mpz  # type: ignore[import-untyped]
from numpy.typing import NDArray

from dagora.parties.crypto.encryption.paillier import (
    KEY_BITS,
    Multiplier,
    PaillierPublicKey,
    PaillierSecretKey,
    pack,
    slots_per_message,
    unpack,
)
from dagora.parties.transport.messages import Array
from dagora.parties.vertical.dot_request import DotRequest

CIPHERTEXTS_AT_ONCE = 1024  # of one message: seconds of work, so the peer does not time out
RESULTS_AT_ONCE = 128  # of one message: 98 kB


@dataclass(frozen=True, slots=True)
class ColumnPacking:
    """The left columns of each ciphertext, the products, and the product and slot of each pair's sum.

    Row g of `groups` has the left columns of a ciphertext, −1 where a slot is empty; a product is one of a
    group and a right column. Both parties compute the same from the pairs.
    """

    groups: NDArray[np.int64]  # [groups, slots]
    products: NDArray[np.int64]  # [products, 2]
    product: NDArray[np.int64]  # [pairs]
    slot: NDArray[np.int64]  # [pairs]


def pack_columns(pairs: NDArray[np.int32], slots: int) -> ColumnPacking:
    """Put left columns into slots, in increasing order.

    >>> packing = pack_columns(np.array([[0, 7], [2, 7], [5, 7]], dtype=np.int32), 2)
    >>> packing.groups.tolist(), packing.products.tolist(), packing.slot.tolist()
    ([[0, 2], [5, -1]], [[0, 7], [1, 7]], [0, 1, 0])
    """
    left, index = np.unique(pairs[:, 0], return_inverse=True)
    groups = np.full((-(-len(left) // slots), slots), -1, dtype=np.int64)
    groups.reshape(-1)[: len(left)] = left
    needed = np.column_stack([index // slots, pairs[:, 1].astype(np.int64)])
    products, product = np.unique(needed, axis=0, return_inverse=True)
    return ColumnPacking(groups, products, product.reshape(-1), index % slots)


def left_shares(request: DotRequest) -> NDArray[np.uint64]:
    """Return the left party's shares."""
    channel, columns, rows = request.channel, request.columns, request.rows
    key = PaillierSecretKey.generate(KEY_BITS, request.random)
    size, slots = key.public.size, slots_per_message(KEY_BITS)
    # Numbers are sent in a fixed number of bytes, so that no size depends on their values.
    channel.send(
        "key",
        n=int(key.public.n).to_bytes(KEY_BITS // 8, "big"),
        base=int(key.public.base).to_bytes(size, "big"),
    )
    packing = pack_columns(request.pairs, slots)
    # The bits of every slot; an empty one has zeros.
    packed = np.where(packing.groups[:, :, None] < 0, 0, columns[packing.groups])
    number = len(packing.groups)
    for part in row_slices(rows, number):
        bits = packed[:, :, part]
        content = b"".join(
            int(key.encrypt(pack(some))).to_bytes(size, "big") for group in bits for some in group.T.tolist()
        )
        channel.send("columns", columns=np.frombuffer(content, dtype=np.uint8).reshape(number, -1, size))
        request.report(part.stop, rows)
    sums: list[list[int]] = []
    for start in range(0, len(packing.products), RESULTS_AT_ONCE):
        stop = min(start + RESULTS_AT_ONCE, len(packing.products))
        message = channel.receive("results", {"results": Array("u1", (stop - start, size))})
        for content in message["results"]:
            value = int.from_bytes(content.tobytes(), "big")
            if not 0 < value < key.public.n**2:
                channel.refuse("results", "a ciphertext is not between 0 and n²")
            sums.append([masked % request.modulus for masked in unpack(key.decrypt(mpz(value)), slots)])
    return np.array(sums, dtype=np.uint64)[packing.product, packing.slot]


def right_shares(request: DotRequest) -> NDArray[np.uint64]:
    """Return the right party's shares."""
    channel, rows = request.channel, request.rows
    message = channel.receive("key", {"n": bytes, "base": bytes})
    public = PaillierPublicKey(*(mpz(int.from_bytes(message[name], "big")) for name in ("n", "base")))
    try:
        public.check(KEY_BITS)
    except ValueError as error:
        channel.refuse("key", str(error))
    multiplier, size, slots = Multiplier(public, request.random), public.size, slots_per_message(KEY_BITS)
    packing = pack_columns(request.pairs, slots)
    products = packing.products.tolist()
    number = len(packing.groups)
    totals = [mpz(1)] * len(products)
    for part in row_slices(rows, number):
        bits = request.columns[:, part]
        message = channel.receive("columns", {"columns": Array("u1", (number, bits.shape[1], size))})
        try:
            ciphertexts = [
                [multiplier.read_ciphertext(cell.tobytes()) for cell in row] for row in message["columns"]
            ]
        except ValueError as error:
            channel.refuse("columns", str(error))
        chosen = bits.tolist()
        for k, (group, right) in enumerate(products):
            totals[k] = multiplier.add(totals[k], ciphertexts[group], chosen[right])
        request.report(part.stop, rows)
    shares: list[list[int]] = []
    for start in range(0, len(products), RESULTS_AT_ONCE):
        content = b""
        for total in totals[start : start + RESULTS_AT_ONCE]:
            result, share = multiplier.mask(total, slots, request.modulus)
            shares.append(share)
            content += int(result).to_bytes(size, "big")
        channel.send("results", results=np.frombuffer(content, dtype=np.uint8).reshape(-1, size))
    return np.array(shares, dtype=np.uint64)[packing.product, packing.slot]


def row_slices(rows: int, ciphertexts_per_row: int) -> Iterator[slice]:
    """Cut the rows into the messages that carry them.

    >>> list(row_slices(1500, 1))
    [slice(0, 1024, None), slice(1024, 1500, None)]
    """
    step = max(1, CIPHERTEXTS_AT_ONCE // ciphertexts_per_row)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
