"""Bytes to SuperNodes and back over Flower's `Grid`: all nodes at once, one message each.

Flower's own `send_and_receive` looks for answers every three seconds; here it is ten times a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from dagora.parties.horizontal.flower.client_app import RECORD
from dagora.parties.horizontal.replies import refusal
from dagora.parties.transport.transport import one_line

LOOK_EVERY = 0.1
LEAST_TTL = 60.0

# Sends each node its bytes and returns, within so many seconds, the answers by node; the silent ones are
# missing. An answer may be a refusal.
Exchange = Callable[[Mapping[int, bytes], float], dict[int, bytes]]


def exchange_over(grid: Any) -> Exchange:  # noqa: ANN401
    """An exchange over the `Grid` that a `ServerApp` is given."""
    from flwr.app import ConfigRecord, Message, RecordDict

    def exchange(batches: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        deadline = time.monotonic() + seconds
        messages = [
            Message(
                RecordDict({RECORD: ConfigRecord({"batch": batch, "seconds": float(seconds)})}),
                dst_node_id=node,
                message_type="query",
                # What nobody waits for any more is not delivered.
                ttl=max(seconds, LEAST_TTL),
            )
            for node, batch in batches.items()
        ]
        pushed = zip(grid.push_messages(messages), batches, strict=False)
        waiting = {identifier: node for identifier, node in pushed if identifier}
        answers: dict[int, bytes] = {}
        while waiting and time.monotonic() < deadline:
            for reply in grid.pull_messages(list(waiting)):
                node = waiting.pop(reply.metadata.reply_to_message_id, None)
                if node is not None:
                    answers[node] = _content(reply)
            time.sleep(LOOK_EVERY)
        return answers

    return exchange


def _content(reply: Any) -> bytes:  # noqa: ANN401
    if reply.has_error():
        return refusal(f"Flower reports: {one_line(str(reply.error.reason))}")
    record = dict(reply.content[RECORD]) if RECORD in reply.content else {}
    batch, line = record.get("batch"), record.get("refusal")
    if isinstance(batch, bytes):
        return batch
    return refusal(line if isinstance(line, str) else "its app is not that of this run")
