"""Dot products as shares by lattice encryption: the messages around `crypto.rlwe`.

Left sends its public key, then, block of rows by block of rows, its encrypted columns; right answers with
masked results. Columns are encrypted once each, however many pairs they stand in.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dagora.errors import OptionError
from dagora.events import Event, Observer
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.ring import DEGREE, PACKED
from dagora.parties.crypto.ring_samples import SEED_BYTES, RandomBytes, private_stream
from dagora.parties.crypto.rlwe import STATISTICAL_BITS, PublicKey, SecretKey, statistical_bits
from dagora.parties.crypto.rlwe_products import FRESH_AT_ONCE, ProductSums
from dagora.parties.messages import Array
from dagora.parties.vertical.dot_layout import Arrangement, arrange

PHASE = "dot products"
COLUMNS_AT_ONCE = 512


def encrypting(
    channel: Channel,
    columns: NDArray[np.uint8],
    pairs: NDArray[np.int32],
    modulus: int,
    on_event: Observer,
    random: RandomBytes,
) -> NDArray[np.uint64]:
    """Return the left party's shares."""
    plan, plain_bits = _plan(columns.shape[1], pairs), modulus.bit_length() - 1
    layout = plan.layout
    key = SecretKey(private_stream(random))
    channel.send("key", seed=key.public.seed, zero=key.public.packed)
    for block, rows in _blocks(plan):
        bits = columns[plan.left, rows]
        for start in range(0, layout.columns, COLUMNS_AT_ONCE):
            channel.send("columns", columns=key.encrypt(bits[start : start + COLUMNS_AT_ONCE], plain_bits))
        on_event(Event(PHASE, block + 1, total=plan.blocks))
    shares = np.empty(len(pairs), dtype=np.uint64)
    for first in range(0, len(layout.products), FRESH_AT_ONCE):
        last = min(first + FRESH_AT_ONCE, len(layout.products))
        low, high = np.searchsorted(layout.results[:, 0], (first, last))
        sizes = {
            "constants": Array("<u4", (int(high - low),)),
            "linear": Array("<u4", (last - first, DEGREE)),
        }
        message = channel.receive("results", sizes)
        product, position = (layout.results[low:high] - (first, 0)).T.copy()
        shares[plan.pair[low:high]] = key.open(
            message["constants"], message["linear"], product, position, plain_bits
        )
    return shares


def multiplying(
    channel: Channel,
    columns: NDArray[np.uint8],
    pairs: NDArray[np.int32],
    modulus: int,
    on_event: Observer,
    random: RandomBytes,
) -> NDArray[np.uint64]:
    """Return the right party's shares."""
    plan, plain_bits = _plan(columns.shape[1], pairs), modulus.bit_length() - 1
    layout = plan.layout
    message = channel.receive("key", {"seed": bytes, "zero": Array("<u4", (PACKED,))})
    public = PublicKey(message["seed"], message["zero"])
    if len(public.seed) != SEED_BYTES:
        channel.refuse("key", f"the seed has {len(public.seed)} bytes, not {SEED_BYTES}")
    try:
        sums = ProductSums(public, layout, plain_bits, private_stream(random))
    except ValueError as error:
        channel.refuse("key", str(error))
    for block, rows in _blocks(plan):
        parts = []
        for start in range(0, layout.columns, COLUMNS_AT_ONCE):
            count = min(COLUMNS_AT_ONCE, layout.columns - start)
            parts.append(channel.receive("columns", {"columns": Array("<u4", (count, PACKED))})["columns"])
        try:
            sums.add(np.concatenate(parts), columns[:, rows])
        except ValueError as error:
            channel.refuse("columns", str(error))
        on_event(Event(PHASE, block + 1, total=plan.blocks))
    own = np.empty(len(pairs), dtype=np.uint64)
    for fresh in sums.finish(own):
        channel.send("results", constants=fresh.constants, linear=fresh.linear)
    shares = np.empty_like(own)
    shares[plan.pair] = own
    return shares


def _plan(rows: int, pairs: NDArray[np.int32]) -> Arrangement:
    plan = arrange(rows, pairs)
    hidden = statistical_bits(plan.blocks, len(pairs))
    if hidden < STATISTICAL_BITS:
        raise OptionError(
            f"{len(pairs)} dot products of {rows} rows would be hidden by {hidden:.1f} bits only, less than"
            f" {STATISTICAL_BITS}: compute them in several runs"
        )
    return plan


def _blocks(plan: Arrangement) -> Iterator[tuple[int, slice]]:
    for block in range(plan.blocks):
        yield block, slice(block * plan.layout.rows, (block + 1) * plan.layout.rows)
