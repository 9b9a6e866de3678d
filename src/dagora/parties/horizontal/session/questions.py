"""The coordinator's questions as messages under the tag "ask": a kind, a task's name and its arguments.

Kinds: `count` and `total` (only the sum of the answers is opened), `gather` (each answer is shown), `set-up`
(exchange keys for the sums), `done`.

A site's answer depends on all that it was told before: the columns it adopted, the weights of earlier rounds.
So both sides keep a digest of the whole `Conversation`, and the masks of each sum are derived from it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from dagora.errors import ProtocolError
from dagora.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.loading import load
from dagora.parties.horizontal.session.federation import Question
from dagora.parties.transport.messages import decode, encode

ASK = "ask"
ANSWER = "answer"
KINDS = ("count", "total", "gather", "set-up", "done")


def encode_ask(kind: str, task: str = "", question: Question | None = None, largest: float = 0.0) -> bytes:
    """Write a question of the coordinator."""
    return encode({"kind": kind, "task": task, "question": dict(question or {}), "largest": largest})


def decode_ask(payload: bytes, what: str) -> dict[str, Any]:
    """Read a question of the coordinator.

    >>> decode_ask(encode_ask("count", "rows"), "coordinator")
    {'kind': 'count', 'task': 'rows', 'question': {}, 'largest': 0.0}
    """
    asked = decode(payload, {"kind": str, "task": str, "question": dict, "largest": float}, what=what)
    if asked["kind"] not in KINDS:
        raise ProtocolError(f"{what}: asks for a kind other than {', '.join(KINDS)}")
    if not asked["task"].isprintable() or len(asked["task"]) > 80:
        raise ProtocolError(f"{what}: the name of the task is not a short printable text")
    return asked


class Conversation:
    """A digest of all questions so far, in order, whether their answers are summed or shown.

    >>> one, other = Conversation(), Conversation()
    >>> for question in (encode_ask("gather", "schema"), encode_ask("count", "rows")):
    ...     one.add(question)
    >>> other.add(encode_ask("count", "rows"))
    >>> one.label("rows") == other.label("rows")
    False
    """

    def __init__(self) -> None:
        self._digest = b""

    def add(self, question: bytes) -> None:
        """Add a question, in the bytes in which it was sent."""
        self._digest = sha256(self._digest + sha256(question).digest()).digest()

    def label(self, task: str) -> str:
        """Return the label under which answers to the last question are summed."""
        return f"{task}/{self._digest.hex()}"


def needs_cryptography(place: str) -> Any:  # noqa: ANN401
    """Import "module:name" that needs `cryptography`, or say how to get it."""
    CRYPTOGRAPHY_FOR_SITES.require("a secure sum")
    return load(place)
