"""Dot products as shares by lattice encryption (`crypto.encryption.rlwe`).

Left sends its public key and then its encrypted columns, one block of rows after the other; right answers
with masked results. Each column is encrypted once, however many pairs it is in. If there are very many pairs,
the left columns are processed in batches, so that right's memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption.ring import DEGREE, PACKED
from dagora.parties.crypto.encryption.ring_samples import SEED_BYTES, private_stream
from dagora.parties.crypto.encryption.rlwe import (
    STATISTICAL_BITS,
    RlwePublicKey,
    RlweSecretKey,
    statistical_bits,
)
from dagora.parties.crypto.encryption.rlwe_products import ProductSums
from dagora.parties.transport.messages import Array
from dagora.parties.vertical.dot_layout import Arrangement, arrange
from dagora.parties.vertical.dot_request import DotRequest

COLUMNS_AT_ONCE = 512  # of one message: 24 MB
# The sum of a product takes 48 kB, so this many take 0.8 GB.
PAIRS_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Pairs that are processed together: all pairs of some left columns."""

    pairs: NDArray[np.int64]  # indices of pairs
    plan: Arrangement
    first_block: int  # of left's encryption, counted from 1


def left_shares(request: DotRequest) -> NDArray[np.uint64]:
    """Return the left party's shares."""
    channel, plain_bits = request.channel, request.modulus.bit_length() - 1
    batches = pair_batches(request.rows, request.pairs, plain_bits)
    key = RlweSecretKey(private_stream(request.random))
    channel.send("key", seed=key.public.seed, zero=key.public.packed)
    shares = np.empty(len(request.pairs), dtype=np.uint64)
    for number, batch in enumerate(batches):
        plan, layout = batch.plan, batch.plan.layout
        for block, rows in _blocks(plan):
            bits = request.columns[plan.left, rows]
            for start in range(0, layout.columns, COLUMNS_AT_ONCE):
                some = key.encrypt(bits[start : start + COLUMNS_AT_ONCE], plain_bits)
                channel.send("columns", columns=some)
            request.report(*_progress(batches, number, block))
        for products, results in layout.messages():
            sizes = {
                "constants": Array("<u4", (results.stop - results.start,)),
                "linear": Array("<u4", (products.stop - products.start, DEGREE)),
            }
            message = channel.receive("results", sizes)
            product, position = (layout.results[results] - (products.start, 0)).T.copy()
            shares[batch.pairs[plan.pair[results]]] = key.open(
                message["constants"], message["linear"], product, position, plain_bits
            )
    return shares


def right_shares(request: DotRequest) -> NDArray[np.uint64]:
    """Return the right party's shares."""
    channel, plain_bits = request.channel, request.modulus.bit_length() - 1
    batches = pair_batches(request.rows, request.pairs, plain_bits)
    message = channel.receive("key", {"seed": bytes, "zero": Array("<u4", (PACKED,))})
    public = RlwePublicKey(message["seed"], message["zero"])
    if len(public.seed) != SEED_BYTES:
        channel.refuse("key", f"the seed has {len(public.seed)} bytes, not {SEED_BYTES}")
    stream = private_stream(request.random)
    shares = np.empty(len(request.pairs), dtype=np.uint64)
    for number, batch in enumerate(batches):
        layout = batch.plan.layout
        try:
            sums = ProductSums(public, layout, plain_bits, stream, first=batch.first_block)
        except ValueError as error:
            channel.refuse("key", str(error))
        for block, rows in _blocks(batch.plan):
            try:
                sums.add(_receive_columns(channel, layout.columns), request.columns[:, rows])
            except ValueError as error:
                channel.refuse("columns", str(error))
            request.report(*_progress(batches, number, block))
        own = np.empty(len(batch.pairs), dtype=np.uint64)
        for fresh in sums.finish(own):
            channel.send("results", constants=fresh.constants, linear=fresh.linear)
        shares[batch.pairs[batch.plan.pair]] = own
    return shares


def _receive_columns(channel: Channel, count: int) -> NDArray[np.uint32]:
    """All encrypted columns of one block of rows."""
    some = []
    for start in range(0, count, COLUMNS_AT_ONCE):
        shape = (min(COLUMNS_AT_ONCE, count - start), PACKED)
        some.append(channel.receive("columns", {"columns": Array("<u4", shape)})["columns"])
    return np.concatenate(some)


def pair_batches(rows: int, pairs: NDArray[np.int32], plain_bits: int) -> list[PairBatch]:
    """Split the pairs into batches of whole left columns; both parties compute the same."""
    order = np.argsort(pairs[:, 0], kind="stable")
    counts = np.unique(pairs[:, 0], return_counts=True)[1]
    ends, held = [], 0
    for count, end in zip(counts.tolist(), np.cumsum(counts).tolist(), strict=True):
        if held and held + count > PAIRS_AT_ONCE:
            ends.append(end - count)
            held = 0
        held += count
    batches: list[PairBatch] = []
    first = 1
    for some in np.split(order, ends):
        plan = arrange(rows, pairs[some])
        batches.append(PairBatch(some, plan, first))
        first += plan.blocks * plan.layout.columns
    hidden = statistical_bits(max(batch.plan.blocks for batch in batches), len(pairs), plain_bits)
    if hidden < STATISTICAL_BITS:
        raise OptionError(
            f"{len(pairs)} dot products of {rows} rows would be hidden by {hidden:.1f} bits only, less than"
            f" {STATISTICAL_BITS}: take fewer columns, a lower {option('max_parents')}, or "
            f"{option('crypto', 'paillier')}"
        )
    return batches


def _progress(batches: list[PairBatch], number: int, block: int) -> tuple[int, int]:
    """Blocks of rows that are done after this one, and all of them."""
    blocks = [batch.plan.blocks for batch in batches]
    return sum(blocks[:number]) + block + 1, sum(blocks)


def _blocks(plan: Arrangement) -> Iterator[tuple[int, slice]]:
    for block in range(plan.blocks):
        yield block, slice(block * plan.layout.rows, (block + 1) * plan.layout.rows)
