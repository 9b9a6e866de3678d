"""A federation over a transport: the coordinator asks, the sites answer, sums stay secret on the way.

The coordinator sends each site the same questions, in the same order. Sums go through `SecureSum`, under a
label that contains the digest of all questions so far: once sites were told different things, their answers
add up to noise. Keys are exchanged before the first sum. A site lost before that sum is opened is left out,
with a warning, as long as enough sites remain; a site lost later ends the run. No site can join later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from dagora.errors import ProtocolError
from dagora.parties.horizontal.replies import collect, tell
from dagora.parties.horizontal.secure_sum.fixed_point import decode_integers, decode_reals
from dagora.parties.horizontal.session.federation import Answer, Question
from dagora.parties.horizontal.session.questions import (
    ANSWER,
    ASK,
    Conversation,
    encode_ask,
    needs_cryptography,
)
from dagora.parties.transport.transport import Transport, reason_to_tell

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.coordinator import SecureSum


class CoordinatorSession:
    """The coordinator's `Federation`: sites at the other end of a transport.

    At least `minimum` sites must be in every sum (2 only where both accept that each can learn the other's
    part). The session waits `patience` seconds for each step of the sites. Warnings are kept in `warnings`
    and passed to `on_warning`. Leaving the `with` block tells the sites that the run is done, or why it
    failed.
    """

    def __init__(
        self,
        transport: Transport,
        sites: Sequence[str] | None = None,
        *,
        minimum: int = 3,
        threshold: int | None = None,
        patience: float = 600.0,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        self.warnings: list[str] = []
        self._transport = transport
        self._patience = patience
        self._on_warning = on_warning
        self._conversation = Conversation()
        self._asked = 0
        self._ready = False
        if minimum < 2:
            raise ProtocolError("a sum hides nothing with fewer than 2 sites")
        self._sum: SecureSum = needs_cryptography(
            "dagora.parties.horizontal.secure_sum.coordinator:SecureSum"
        )(
            transport,
            transport.peers if sites is None else sites,
            minimum=minimum,
            threshold=threshold,
            patience=patience,
            on_loss=self._warn,
        )

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites that take part, sorted."""
        return self._sum.present

    def count(self, task: str, question: Question) -> NDArray[np.int64]:
        """Exact sum of the sites' integer answers."""
        sums, _ = self._open("count", task, question, 0.0)
        return decode_integers(sums)

    def total(self, task: str, question: Question, *, largest: float) -> NDArray[np.float64]:
        """Sum of the sites' answers in fixed point; no sum may exceed `largest` in absolute value."""
        sums, parties = self._open("total", task, question, float(largest))
        return decode_reals(sums, float(largest), parties)

    def _open(
        self, kind: str, task: str, question: Question, largest: float
    ) -> tuple[NDArray[np.uint64], int]:
        self._set_up()
        message = self._say(kind, task, question, largest)
        # The sites choose their unit by the number of sites that were asked.
        parties = len(self._sum.members)
        with self._transport.ledger.phase(self._phase(task)):
            opened = self._sum.sum(self._conversation.label(task), lambda site: self._send(site, message))
        return opened.values, parties

    def _set_up(self) -> None:
        if self._ready:
            return
        with self._transport.ledger.phase("set-up"):
            self._tell_all(self._say("set-up"))
            self._sum.set_up()
        self._ready = True

    def gather(self, task: str, question: Question) -> dict[str, Answer]:
        """Every site's own answer, by name."""
        message = self._say("gather", task, question)
        with self._transport.ledger.phase(self._phase(task)):
            self._tell_all(message)
            replies = collect(self._transport, self.parties, ANSWER, {"answer": dict}, self._patience)
            self._sum.lose(replies.lost)
        self._sum.check_present()
        return {site: replies.contents[site]["answer"] for site in self.parties}

    def _say(
        self, kind: str, task: str = "", question: Question | None = None, largest: float = 0.0
    ) -> bytes:
        """Write a question that every site is about to be asked."""
        message = encode_ask(kind, task, question, largest)
        self._conversation.add(message)
        return message

    def _tell_all(self, message: bytes) -> None:
        self._sum.lose(tell(self._transport, dict.fromkeys(self.parties, message), ASK))

    def _phase(self, task: str) -> str:
        self._asked += 1
        return f"{self._asked} {task}"

    def _send(self, site: str, message: bytes) -> None:
        self._transport.send(site, ASK, message)

    def _warn(self, line: str) -> None:
        self.warnings.append(line)
        if self._on_warning is not None:
            self._on_warning(line)

    def close(self, reason: str | None = None) -> None:
        """Tell the sites that the run is done, or the reason why it failed, and leave."""
        if reason is None:
            tell(self._transport, dict.fromkeys(self.parties, encode_ask("done")), ASK)
        self._transport.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
