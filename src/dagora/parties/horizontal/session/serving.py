"""A site that serves a coordinator: it answers the questions it knows and logs for its owner what was asked.

Of an error in a task the coordinator is told one line with the task's name and the type of the error, never a
value, since errors about data quote data. The site's owner sees the error itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dagora.errors import DagoraError, ProtocolError
from dagora.parties.horizontal.replies import refusal
from dagora.parties.horizontal.secure_sum.fixed_point import OutOfRangeError, encode_integers, encode_reals
from dagora.parties.horizontal.session.federation import Answer, Site, Task
from dagora.parties.horizontal.session.questions import (
    ANSWER,
    ASK,
    Conversation,
    decode_ask,
    needs_cryptography,
)
from dagora.parties.transport.messages import encode
from dagora.parties.transport.transport import Transport, reason_to_tell

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.identity import Identity
    from dagora.parties.horizontal.secure_sum.site import SumSite

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a site, and the size of its answer: values of a sum, bytes of a shown answer."""

    kind: str
    task: str
    size: int


def serve_site(
    transport: Transport,
    site: Site,
    tasks: Mapping[str, Task],
    identity: Identity,
    *,
    coordinator: str = "coordinator",
    minimum: int = 3,
    patience: float = 1200.0,
    idle: float = math.inf,
    shown: Collection[str] = (),
    log: list[Asked] | None = None,
) -> list[Asked]:
    """Answer the coordinator until it is done, then return the questions; `log` receives each as it comes.

    The site waits `idle` seconds for a question and `patience` seconds for each step of a sum. It takes part
    in no sum of fewer than `minimum` sites, and shows its own answer only to the tasks in `shown`. Its state
    lasts for one run: the `site` given is not changed. The transport is closed at the end, with the reason if
    there was an error.
    """
    sums = needs_cryptography("dagora.parties.horizontal.secure_sum.site:SumSite")(
        transport, identity, coordinator=coordinator, minimum=minimum, patience=patience
    )
    # State from an earlier run would not be part of the conversation that all sites share.
    unasked = replace(site, memory={})
    service = _Service(transport, unasked, tasks, shown, coordinator, sums, [] if log is None else log)
    try:
        while service.answer_next(idle):
            pass
    except BaseException as error:
        # The coordinator was sent a refusal, which arrives if the transport is closed without a reason.
        transport.close(None if service.refused else reason_to_tell(error))
        raise
    transport.close()
    return service.log


@dataclass
class _Service:
    """Answers one question after the other."""

    transport: Transport
    site: Site
    tasks: Mapping[str, Task]
    shown: Collection[str]
    coordinator: str
    sums: SumSite
    log: list[Asked]
    conversation: Conversation = field(default_factory=Conversation)
    ready: bool = False
    refused: bool = False

    def answer_next(self, idle: float) -> bool:
        """Answer one question; return False when the coordinator is done."""
        message = self.transport.receive(self.coordinator, ASK, idle)
        asked = decode_ask(message, f"party '{self.coordinator}'")
        self.conversation.add(message)
        kind, task = asked["kind"], asked["task"]
        if kind == "done":
            return False
        if kind == "set-up":
            with self.transport.ledger.phase(kind):
                self.sums.set_up()
            self.ready = True
            return True
        with self.transport.ledger.phase(f"{len(self.log) + 1} {task}"):
            if kind == "gather":
                self._show(task, asked)
            else:
                self._add(task, asked, self.conversation.label(task))
        return True

    def _show(self, task: str, asked: Mapping[str, Any]) -> None:
        def compute(answer: Answer) -> bytes:
            return encode({"answer": dict(answer)})

        payload = self._answer(task, asked, compute, self._refuse_to_show)
        self.log.append(Asked("gather", task, len(payload)))
        self.transport.send(self.coordinator, ANSWER, payload)

    def _refuse_to_show(self, line: str) -> None:
        self.transport.send(self.coordinator, ANSWER, refusal(line))

    def _add(self, task: str, asked: Mapping[str, Any], label: str) -> None:
        if not self.ready:
            raise ProtocolError("the coordinator asks for a sum before keys were exchanged")
        parties = len(self.sums.members)

        def compute(answer: Any) -> Any:  # noqa: ANN401
            if asked["kind"] == "count":
                return encode_integers(answer, parties)
            return encode_reals(answer, asked["largest"], parties)

        vector = self._answer(task, asked, compute, self.sums.refuse)
        self.log.append(Asked(asked["kind"], task, vector.size))
        self.sums.answer(label, vector)

    def _answer(
        self, task: str, asked: Mapping[str, Any], encoded: Callable[[Any], T], refuse: Callable[[str], None]
    ) -> T:
        """Compute and encode an answer; the coordinator learns the type of an error, the owner all of it."""
        if task not in self.tasks:
            self._refuse(refuse, ProtocolError(f"this site does not know the task '{task}'"))
        if asked["kind"] == "gather" and task not in self.shown:
            self._refuse(refuse, ProtocolError(f"answers to '{task}' are added up, never shown"))
        try:
            answer = self.tasks[task](self.site, asked["question"])
        except Exception as error:
            line = f"cannot answer '{task}' ({type(error).__name__}); see its own output"
            if isinstance(error, DagoraError):
                self._refuse(refuse, error, line)
            self._refuse(refuse, ProtocolError(f"the task '{task}' failed: {type(error).__name__}"), line)
        try:
            return encoded(answer)
        except OutOfRangeError as error:
            self._refuse(refuse, ProtocolError(f"cannot answer '{task}': {error}"))
        except Exception as error:
            self._refuse(refuse, ProtocolError(f"'{task}' has no valid answer: {type(error).__name__}"))

    def _refuse(self, refuse: Callable[[str], None], error: DagoraError, line: str = "") -> NoReturn:
        refuse(line or str(error))
        self.refused = True
        raise error
