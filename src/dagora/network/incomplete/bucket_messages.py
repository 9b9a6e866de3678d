"""Messages in a tree of buckets, row by row: up for likelihoods, down for draws and expected counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.kernels.decorators import inlined, kernel
from dagora.kernels.random import random_unit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class BucketLayout(NamedTuple):
    """Buckets in flat arrays.

    `strides` are those of a bucket's cells, its own variable first; the message of bucket k, over all but
    that variable, lies from `message_starts[k]`. `child_strides` hold, for each child of a bucket and each
    member of it, the stride of the member in the child's message (0 where it is not in there).
    """

    members: Ints
    member_starts: Ints
    strides: Ints
    cell_starts: Ints
    message_starts: Ints
    children: Ints
    child_starts: Ints
    child_strides: Ints
    stride_starts: Ints


class BucketRoom(NamedTuple):
    """Memory for the tables of one row: of buckets, of messages, of beliefs about them, of a setting."""

    tables: Floats
    messages: Floats
    beliefs: Floats
    digits: Ints


@kernel
def visit_rows(
    codes: Codes,
    weights: Floats,
    levels: Ints,
    potentials: Floats,
    layout: BucketLayout,
    totals: Floats,
    log_likelihoods: Floats,
    marginals: Floats,
    drawn: Codes,
    state: NDArray[np.uint64],
) -> None:
    """Pass messages up in every row, then down for the results that are requested.

    Results are the arrays from `totals` to `drawn`; one of length 0 is not requested.
    """
    cells, messages = layout.cell_starts[-1], layout.message_starts[-1]
    digits = np.empty(len(levels), dtype=np.int64)
    room = BucketRoom(np.empty(cells), np.empty(messages), np.empty(messages), digits)
    downwards = len(totals) > 0 or marginals.shape[0] > 0
    for row in range(codes.shape[1]):
        log_likelihood = pass_up(codes, row, levels, potentials, layout, room)
        if len(log_likelihoods) > 0:
            log_likelihoods[row] = log_likelihood
        if log_likelihood == -np.inf:
            continue
        if drawn.shape[0] > 0:
            draw_row(codes, row, levels, layout, room, drawn, state)
        if downwards:
            pass_down(codes, row, levels, layout, room, weights[row], totals, marginals)


@inlined
def pass_up(
    codes: Codes, row: int, levels: Ints, potentials: Floats, layout: BucketLayout, room: BucketRoom
) -> float:
    """Fill the tables of all buckets and their messages; return the row's log-likelihood, or −∞."""
    members, member_starts, strides, cell_starts, message_starts = layout[:5]
    children, child_starts, child_strides, stride_starts = layout[5:]
    tables, messages, _, digits = room
    log_likelihood = 0.0
    for k in range(len(cell_starts) - 1):
        first, last = member_starts[k], member_starts[k + 1]
        begin_messages = message_starts[k]
        own = members[first]
        for a in range(first, last):
            digits[a - first] = 0
        largest = 0.0
        more = True
        while more:
            # A setting of the bucket's other members; the own variable runs innermost.
            base = place_of(codes, row, levels, members, first, last, digits, strides, first)
            low, high = codes[own, row], codes[own, row] + 1
            if codes[own, row] == levels[own]:
                low, high = 0, levels[own]
            mass = 0.0
            for level in range(low, high):
                cell = base + level * strides[first]
                value = potentials[cell_starts[k] + cell]
                for c in range(child_starts[k], child_starts[k + 1]):
                    at = stride_starts[c]
                    place = level * child_strides[at]
                    place += place_of(codes, row, levels, members, first, last, digits, child_strides, at)
                    value *= messages[message_starts[children[c]] + place]
                tables[cell_starts[k] + cell] = value
                mass += value
            messages[begin_messages + base] = mass
            largest = max(largest, mass)
            more = next_setting(codes, row, levels, members, first, last, digits)
        if largest <= 0.0:
            return -np.inf
        # Keep numbers near 1, however many variables there are.
        log_likelihood += np.log(largest)
        more = True
        while more:
            base = place_of(codes, row, levels, members, first, last, digits, strides, first)
            messages[begin_messages + base] /= largest
            low, high = codes[own, row], codes[own, row] + 1
            if codes[own, row] == levels[own]:
                low, high = 0, levels[own]
            for level in range(low, high):
                tables[cell_starts[k] + base + level * strides[first]] /= largest
            more = next_setting(codes, row, levels, members, first, last, digits)
    return log_likelihood


@inlined
def draw_row(
    codes: Codes,
    row: int,
    levels: Ints,
    layout: BucketLayout,
    room: BucketRoom,
    drawn: Codes,
    state: NDArray[np.uint64],
) -> None:
    """Draw the missing values of a row given those that are seen, from the tables that were passed up."""
    members, member_starts, strides, cell_starts, message_starts = layout[:5]
    for k in range(len(cell_starts) - 2, -1, -1):
        first, last = member_starts[k], member_starts[k + 1]
        own = members[first]
        if codes[own, row] == levels[own]:
            base = 0
            for a in range(first + 1, last):
                base += drawn[members[a], row] * strides[a]
            threshold = random_unit(state) * room.messages[message_starts[k] + base]
            chosen, mass = -1, 0.0
            for level in range(levels[own]):
                value = room.tables[cell_starts[k] + base + level * strides[first]]
                if value > 0.0 and (chosen < 0 or mass < threshold):
                    chosen = level
                mass += value
            drawn[own, row] = chosen


@inlined
def pass_down(
    codes: Codes,
    row: int,
    levels: Ints,
    layout: BucketLayout,
    room: BucketRoom,
    weight: float,
    totals: Floats,
    marginals: Floats,
) -> None:
    """Add the beliefs of a row to expected counts and to probabilities of missing values."""
    members, member_starts, strides, cell_starts, message_starts = layout[:5]
    children, child_starts, child_strides, stride_starts = layout[5:]
    tables, messages, beliefs, digits = room
    for k in range(len(cell_starts) - 2, -1, -1):
        first, last = member_starts[k], member_starts[k + 1]
        own = members[first]
        root = last == first + 1
        for c in range(child_starts[k], child_starts[k + 1]):
            for entry in range(message_starts[children[c]], message_starts[children[c] + 1]):
                beliefs[entry] = 0.0
        for a in range(first, last):
            digits[a - first] = 0
        more = True
        while more:
            base = place_of(codes, row, levels, members, first, last, digits, strides, first)
            mass = messages[message_starts[k] + base]
            share = 1.0 if root else beliefs[message_starts[k] + base]
            share = share / mass if mass > 0.0 else 0.0
            low, high = codes[own, row], codes[own, row] + 1
            if codes[own, row] == levels[own]:
                low, high = 0, levels[own]
            for level in range(low, high):
                cell = cell_starts[k] + base + level * strides[first]
                belief = tables[cell] * share
                if len(totals) > 0:
                    totals[cell] += weight * belief
                if marginals.shape[0] > 0 and codes[own, row] == levels[own]:
                    marginals[own, row, level] += belief
                for c in range(child_starts[k], child_starts[k + 1]):
                    at = stride_starts[c]
                    place = level * child_strides[at]
                    place += place_of(codes, row, levels, members, first, last, digits, child_strides, at)
                    beliefs[message_starts[children[c]] + place] += belief
            more = next_setting(codes, row, levels, members, first, last, digits)


@inlined
def place_of(
    codes: Codes,
    row: int,
    levels: Ints,
    members: Ints,
    first: int,
    last: int,
    digits: Ints,
    strides: Ints,
    start: int,
) -> int:
    """Index of the current setting of a bucket's members but the first, by the strides from `start` on.

    A member that was observed has its code, the others what `digits` say.
    """
    place = 0
    for a in range(first + 1, last):
        code = codes[members[a], row]
        if code == levels[members[a]]:
            code = digits[a - first]
        place += code * strides[start + a - first]
    return place


@inlined
def next_setting(
    codes: Codes, row: int, levels: Ints, members: Ints, first: int, last: int, digits: Ints
) -> bool:
    """Count on in the missing members but the first; False, with all at 0 again, after the last setting."""
    for a in range(last - 1, first, -1):
        if codes[members[a], row] == levels[members[a]]:
            digits[a - first] += 1
            if digits[a - first] < levels[members[a]]:
                return True
            digits[a - first] = 0
    return False
