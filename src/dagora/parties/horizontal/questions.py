"""What the coordinator asks, as messages under the tag "ask": a kind, a task's name and its question.

Kinds: `count` and `total` (answers that are only seen as sums), `gather` (answers that are shown), `set-up`
(keys for the sums), `done`.
"""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module
from typing import Any

from dagora.errors import ProtocolError
from dagora.parties.horizontal.federation import Question
from dagora.parties.messages import decode, encode

ASK = "ask"
ANSWER = "answer"
KINDS = ("count", "total", "gather", "set-up", "done")


def encode_ask(kind: str, task: str = "", question: Question | None = None, largest: float = 0.0) -> bytes:
    """Write what the coordinator asks."""
    return encode({"kind": kind, "task": task, "question": dict(question or {}), "largest": largest})


def decode_ask(payload: bytes, what: str) -> dict[str, Any]:
    """Read what the coordinator asks.

    >>> decode_ask(encode_ask("count", "rows"), "coordinator")
    {'kind': 'count', 'task': 'rows', 'question': {}, 'largest': 0.0}
    """
    asked = decode(payload, {"kind": str, "task": str, "question": dict, "largest": float}, what=what)
    if asked["kind"] not in KINDS:
        raise ProtocolError(f"{what}: asks for none of {', '.join(KINDS)}")
    if not asked["task"].isprintable() or len(asked["task"]) > 80:
        raise ProtocolError(f"{what}: names no task")
    return asked


def label_of(task: str, payload: bytes) -> str:
    """Return the label under which the answers to a message are summed: sites asked otherwise get another."""
    return f"{task}/{sha256(payload).hexdigest()}"


def needs_cryptography(module: str) -> Any:  # noqa: ANN401
    """Import a module that needs `cryptography`, or say how to get it."""
    try:
        return import_module(f"dagora.parties.horizontal.{module}")
    except ImportError:
        raise ProtocolError(
            "secure sums need the package 'cryptography': pip install 'dagora[federated]'"
        ) from None
