"""A site that serves a coordinator: it signs a plan that its owner's policy allows, and answers questions.

Nothing that depends on rows is sent before the plan was checked against the policy, signed by all sites and
written into the log. Each question is checked against the plan and written into the log, on disk, before its
answer is sent. Of what goes wrong here the coordinator is told one line without a value; the site's owner
sees the error itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dagora.errors import DagoraError, ProtocolError
from dagora.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.parties.horizontal.log.history import History
from dagora.parties.horizontal.log.noise_secret import SECRET_BYTES
from dagora.parties.horizontal.log.site_log import SiteLog
from dagora.parties.horizontal.plan.coded_rows import CodedRows, code_rows, follow_codebook
from dagora.parties.horizontal.plan.plan import COUNTS, RELEASE, Plan
from dagora.parties.horizontal.policy.policy import Policy
from dagora.parties.horizontal.replies import refusal
from dagora.parties.horizontal.row_sums.answers import SUMMED
from dagora.parties.horizontal.row_sums.noisy_release import release_part
from dagora.parties.horizontal.session.coordinator_session import KEYS, PLAN, ROSTER
from dagora.parties.horizontal.session.federation import Site, Task
from dagora.parties.horizontal.session.questions import (
    ANSWER,
    ASK,
    DONE,
    SHOWN,
    Conversation,
    Question,
    read_question,
)
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import Transport, one_line, reason_to_tell

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.identity import Identity

OWNER_KNOWS = "see its own output"


def serve_site(
    transport: Transport,
    site: Site,
    policy: Policy,
    identity: Identity,
    log: SiteLog,
    tasks: Mapping[str, Task],
    *,
    secret: bytes = b"",
    coordinator: str = "coordinator",
    patience: float = 1200.0,
    idle: float = math.inf,
) -> None:
    """Serve one run, until the coordinator is done.

    `secret` settles the site's noise in releases with noise; without one they are refused. The site waits
    `idle` seconds for a plan or a question, and `patience` seconds for the other sites' keys.
    The transport is closed at the end, with the reason if there was an error; the log says how it ended.
    """
    if identity.name != transport.name:
        raise ProtocolError(f"site '{transport.name}' cannot sign as '{identity.name}'")
    service = _Service(transport, site, policy, identity, log, tasks, secret, coordinator, patience, idle)
    try:
        service.agree()
        while service.answer_next():
            pass
    except BaseException as error:
        service.end(error)
        # The coordinator was sent a refusal, which arrives if the transport is closed without a reason.
        transport.close(None if service.refused else reason_to_tell(error))
        raise
    service.end(None)
    transport.close()


@dataclass
class _Service:
    """One run of a site."""

    transport: Transport
    site: Site
    policy: Policy
    identity: Identity
    log: SiteLog
    tasks: Mapping[str, Task]
    secret: bytes
    coordinator: str
    patience: float
    idle: float
    conversation: Conversation = field(default_factory=Conversation)
    refused: bool = False
    asked: set[tuple[int, ...]] = field(default_factory=set)
    accepted: bool = False

    def agree(self) -> None:
        """Check the plan, sign it, and check everyone's signatures."""
        offered = self._receive(PLAN, {"plan": bytes, "certificate": bytes}, self.idle)
        self.history = History.of(self.log.events)
        try:
            self.plan = Plan.decode(offered["plan"])
            if self.identity.fingerprint(offered["certificate"]) != self.plan.coordinator:
                raise ProtocolError("the plan is not for the coordinator that offers it")
            self.rows = self._accept(self.plan)
        except DagoraError as error:
            self.log.add(
                "refused", {"reason": one_line(str(error)), "plan": offered["plan"].decode(errors="replace")}
            )
            self._refuse(KEYS, error, f"refused the plan; {OWNER_KNOWS}")
        CRYPTOGRAPHY_FOR_SITES.require("a secure sum")
        from dagora.parties.horizontal.secure_sum.site_masks import SiteMasks

        masks, entry = SiteMasks.begin(self.identity, self.plan)
        self.transport.send(self.coordinator, KEYS, entry.encode())
        message = self.transport.receive(self.coordinator, ROSTER, self.patience)
        self.masks = masks.check_roster(message, offered["certificate"], self.coordinator)

    def _accept(self, plan: Plan) -> CodedRows:
        """The rows as the plan codes them, if the policy allows the plan; the log says so."""
        self.policy.check(plan, self.site.name, self.history)
        if plan.privacy is not None and len(self.secret) != SECRET_BYTES:
            raise ProtocolError(
                "this site has no secret for noise, so it takes part in no release with noise"
            )
        table = follow_codebook(self.site.table, plan.codebook)
        rows = code_rows(table, plan.codebook, plan.largest_rows)
        # State from an earlier run would not be part of the conversation that all sites share.
        self.site = Site(self.site.name, table)
        if plan.privacy is not None:
            self.policy.may_spend(self.history, plan.privacy.rho, (plan.digest.hex(), rows.digest))
        self._log(
            "plan",
            {
                "plan": plan.to_dict(),
                "plan_digest": plan.digest.hex(),
                "roster": plan.roster_digest,
                "codebook": plan.codebook.digest,
                "rows_digest": rows.digest,
                "rows": rows.n_rows,
            },
        )
        self.accepted = True
        return rows

    def answer_next(self) -> bool:
        """Answer one question; return False when the coordinator is done."""
        message = self.transport.receive(self.coordinator, ASK, self.idle)
        try:
            question = read_question(message, self.plan)
            self.conversation.add(message)
            if question.kind == DONE:
                return False
            if question.kind == COUNTS:
                self._count(question)
        except DagoraError as error:
            self._log("refused", {"reason": one_line(str(error))})
            self._refuse(
                ANSWER, error, str(error) if isinstance(error, ProtocolError) else f"refused; {OWNER_KNOWS}"
            )
        with self.transport.ledger.phase(f"{self.masks.round + 1} {question.task or question.kind}"):
            self._answer(question)
        return True

    def _count(self, question: Question) -> None:
        """Refuse tables beyond those that plan and policy allow in all."""
        fresh = set(question.sets) - self.asked
        if len(self.asked | fresh) > self.plan.tables:
            raise ProtocolError(
                f"the coordinator asks for more than the {self.plan.tables} tables of the plan"
            )
        new = self.history.named(COUNTS, fresh) - self.history.sums
        self.policy.may_count(self.history, len(new))
        self.asked |= fresh

    def _answer(self, question: Question) -> None:
        """Compute the answer, write it into the log, then send it."""
        try:
            content = self._shown(question) if question.kind == SHOWN else self._summed(question)
        except Exception as error:  # whatever it is, the coordinator learns no more than its type
            line = f"cannot answer ({type(error).__name__}); {OWNER_KNOWS}"
            if isinstance(error, DagoraError):
                self._refuse(ANSWER, error, line)
            task = question.task or question.kind
            self._refuse(ANSWER, ProtocolError(f"the task '{task}' failed: {type(error).__name__}"), line)
        self.transport.send(self.coordinator, ANSWER, content)

    def _summed(self, question: Question) -> bytes:
        more: dict[str, Any] = {}
        if question.kind == RELEASE and self.plan.privacy is not None:
            vector = release_part(self.rows, self.plan, self.plan.privacy, self.secret)
            more = {"rho": self.plan.privacy.rho}
        else:
            vector = SUMMED[question.kind](self.rows, *question.arguments)
        if question.kind == COUNTS:
            more = {"tables": [list(some) for some in question.sets]}
        masked = self.masks.mask(self.conversation.label, vector.view(np.uint64))
        self._log("answer", {"asks": question.kind, **more, "numbers": int(vector.size)})
        return encode({"masked": masked})

    def _shown(self, question: Question) -> bytes:
        if question.task not in self.tasks:
            raise ProtocolError(f"this site does not know the task '{one_line(question.task)}'")
        payload = encode({"answer": dict(self.tasks[question.task](self.site, question.content or {}))})
        self._log("shown", {"task": question.task, "bytes": len(payload)})
        return payload

    def _log(self, event: str, content: Mapping[str, Any]) -> None:
        self.log.add(event, content)
        self.history.add({"event": event, **content})

    def end(self, error: BaseException | None) -> None:
        """Write into the log how the run ended, if a plan was accepted."""
        if self.accepted:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else one_line(str(error or "done"))
            self.log.add("end", {"reason": why})

    def _refuse(self, tag: str, error: DagoraError, line: str) -> NoReturn:
        self.transport.send(self.coordinator, tag, refusal(line))
        self.refused = True
        raise error

    def _receive(self, tag: str, fields: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        message = self.transport.receive(self.coordinator, tag, timeout)
        return decode(message, fields, what=f"'{self.coordinator}', '{tag}'")
