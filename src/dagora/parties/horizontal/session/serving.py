"""A site that serves a coordinator: it signs a plan that its owner's policy allows, and answers questions.

Nothing that depends on rows is sent before the plan was checked against the policy, signed by all sites and
written into the log. Each question is checked against the plan and written into the log, on disk, before its
answer is sent. Of an error here the coordinator receives one line without a value; the site's owner sees the
error itself.
"""

from __future__ import annotations

import contextlib
import json
import math
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DagoraError, FormatError, ProtocolError
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.log.site_log import SiteLog
from dagora.parties.horizontal.plan.coded_rows import CodedRows, check_series, code_rows, follow_codebook
from dagora.parties.horizontal.plan.plan import BASIS, COUNTS, FOURTH, LAGGED, RELEASE, SHOWN_ONCE, RunPlan
from dagora.parties.horizontal.policy.policy import SitePolicy
from dagora.parties.horizontal.session.coordinator_session import KEYS, PLAN, ROSTER
from dagora.parties.horizontal.session.federation import Site, Task
from dagora.parties.horizontal.session.questions import (
    ANSWER,
    ASK,
    DONE,
    SHOWN,
    Conversation,
    PlanQuestion,
    read_question,
)
from dagora.parties.horizontal.session.replies import refusal
from dagora.parties.horizontal.session.row_sums import SUMMED, release_part
from dagora.parties.horizontal.session.sealed_transport import SealedTransport
from dagora.parties.privacy.discrete_gaussian import KEY_BYTES
from dagora.parties.privacy.terms import PrivacyTerms
from dagora.parties.transport.messages import decode, encode
from dagora.parties.transport.transport import Transport, one_line, reason_to_tell

if TYPE_CHECKING:
    from dagora.parties.horizontal.secure_sum.identity import Identity

OWNER_KNOWS = "see its own output"
# Limits that keep a log readable: repeated tables and sums of one run, and rounds of a method that shows its
# answers.
MOST_REPEATED, MOST_SHOWN = 100, 100_000
LOGGED_PLAN = 4000  # bytes of a plan without an answer that the log keeps
MOST_OFFERED = 100  # such plans of which a file of the log keeps more than the digest


def serve_site(
    transport: Transport,
    site: Site,
    policy: SitePolicy,
    identity: Identity,
    log: SiteLog,
    tasks: Mapping[str, Task],
    *,
    coordinator: str = "coordinator",
    patience: float = 1200.0,
    idle: float = math.inf,
) -> None:
    """Serve one run, until the coordinator is done.

    The site waits `idle` seconds for a plan or a question, and `patience` seconds for the other sites' keys.
    The transport is closed at the end, with the reason if there was an error; the log says how it ended.
    """
    if identity.name != transport.name:
        raise ProtocolError(f"site '{transport.name}' cannot sign as '{identity.name}'")
    sealed = SealedTransport(transport)
    service = _Service(sealed, site, policy, identity, log, tasks, coordinator, patience, idle)
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


def beginning_of(plan: bytes) -> dict[str, str]:
    """The part of a plan without an answer that the log keeps: its digest and its first characters."""
    return {"offered": sha256(plan).hexdigest(), "plan": plan[:LOGGED_PLAN].decode(errors="replace")}


def summary_of(value: object) -> object:
    """A setting of a question as the log has it; an array by its sizes and its hash.

    >>> summary_of(np.zeros((2, 3)))["sizes"]
    [2, 3]
    """
    if isinstance(value, np.ndarray):
        return {"sizes": list(value.shape), "sha256": sha256(value.tobytes()).hexdigest()}
    return value


def error_for_owner(error: Exception, what: str) -> DagoraError:
    """The error in one line for the site's owner; an unforeseen one is named by its type."""
    return error if isinstance(error, DagoraError) else ProtocolError(f"{what}: {type(error).__name__}")


@dataclass
class _Service:
    """One run of a site."""

    transport: SealedTransport
    site: Site
    policy: SitePolicy
    identity: Identity
    log: SiteLog
    tasks: Mapping[str, Task]
    coordinator: str
    patience: float
    idle: float
    conversation: Conversation = field(default_factory=Conversation)
    refused: bool = False
    asked: set[tuple[int, ...]] = field(default_factory=set)
    sums_asked: set[str] = field(default_factory=set)
    accepted: bool = False
    unwritten: dict[str, Any] = field(default_factory=dict)  # a plan that was signed, before its first answer
    shown: int = 0
    repeated: int = 0

    def agree(self) -> None:
        """Check the plan, sign it, and check everyone's signatures."""
        offered = self._receive(PLAN, {"plan": bytes, "certificate": bytes}, self.idle)
        self.history = History.of(self.log.events)
        try:
            self.plan = RunPlan.decode(offered["plan"])
            if self.identity.fingerprint(offered["certificate"]) != self.plan.coordinator:
                raise ProtocolError("the plan is not for the coordinator that offers it")
            self.rows = self._accept(self.plan)
        except Exception as error:  # whatever it is, it is written down
            why = error_for_owner(error, "the plan cannot be checked")
            self.log.add("refused", {"reason": one_line(str(why)), **self._offer_for_log(offered["plan"])})
            self._refuse(KEYS, why, f"refused the plan; {OWNER_KNOWS}")
        CRYPTOGRAPHY_FOR_SITES.require("a secure sum")
        from dagora.parties.horizontal.secure_sum.roster import SiteMasks

        masks, entry = SiteMasks.begin(self.identity, self.plan)
        self.transport.send(self.coordinator, KEYS, entry.encode())
        try:
            message = self.transport.receive(self.coordinator, ROSTER, self.patience)
            self.masks = masks.check_roster(message, offered["certificate"], self.coordinator)
        except Exception as error:
            why = error_for_owner(error, "the signatures cannot be checked")
            reason = f"a plan that not all have signed: {one_line(str(why))}"
            self.log.add("refused", {"reason": reason, **self._offer_for_log(offered["plan"])})
            raise
        self._log_plan()
        self.transport.agree(self.coordinator, self.masks.coordinator_secret, self.masks.session)

    def _accept(self, plan: RunPlan) -> CodedRows:
        """The rows as the plan codes them, if the policy allows the plan."""
        self.policy.check(plan, self.site.name, self.history)
        table = follow_codebook(self.site.table, plan.codebook)
        panel = self.site.panel
        if plan.lags:
            check_series(panel, plan.step)
        rows = code_rows(table, plan.codebook, plan.largest_rows, panel, self.site.weights)
        # State from an earlier run would not be part of the conversation that all sites share.
        self.site = replace(self.site, table=table, lags=plan.lags, memory={})
        return rows

    def _log_plan(self) -> None:
        """Write into the log that a plan was accepted, and on which rows; a long one waits for an answer."""
        plan = self.plan
        content = {
            **self._plan_for_log(plan),
            "method": plan.method,
            "lags": plan.lags,
            "plan_digest": plan.digest.hex(),
            "roster": plan.roster_digest,
            "codebook": plan.codebook.digest,
            "rows_digest": self.rows.digest,
            "rows": self.rows.n_rows,
        }
        if len(json.dumps(content)) <= LOGGED_PLAN:
            self._log("plan", content)
        else:
            self.unwritten = content
            known = {name: content[name] for name in ("plan_digest", "roster", "codebook", "rows")}
            self._log("signed", {**known, **self._offer_for_log(plan.encode())})
        self.accepted = True

    def _plan_for_log(self, plan: RunPlan) -> dict[str, Any]:
        """The plan, or the line of the present file that has it."""
        for event in self.log.events:
            if event["event"] == "plan" and event["plan_digest"] == plan.digest.hex() and "plan" in event:
                return {"again": event["hash"]}
        return {"plan": plan.for_log()}

    def _offer_for_log(self, plan: bytes) -> dict[str, str]:
        """The beginning of a plan, or its digest alone where the present file has that one, or many."""
        offer = beginning_of(plan)
        kept = [event["offered"] for event in self.log.events if "offered" in event and "plan" in event]
        short = offer["offered"] in kept or len(kept) >= MOST_OFFERED
        return {"offered": offer["offered"]} if short else offer

    def answer_next(self) -> bool:
        """Answer one question; return False when the coordinator is done."""
        message = self.transport.receive(self.coordinator, ASK, self.idle)
        try:
            question = read_question(message, self.plan)
            self.conversation.add(message)
            if question.kind == DONE:
                return False
            self._count(question)
        except Exception as error:
            line = str(error) if isinstance(error, ProtocolError) else f"refused; {OWNER_KNOWS}"
            why = error_for_owner(error, "a question cannot be checked")
            self._log("refused", {"reason": one_line(str(why))})
            self._refuse(ANSWER, why, line)
        with self.transport.ledger.phase(f"{self.masks.round + 1} {question.task or question.kind}"):
            self._answer(question)
        return True

    def _count(self, question: PlanQuestion) -> None:
        """Refuse questions beyond those that plan and policy allow in all."""
        if question.kind == SHOWN:
            self._count_shown(question.task)
        elif question.kind == COUNTS:
            self._count_tables(question)
        else:
            self._count_sum(question)
        if self.shown > MOST_SHOWN or self.repeated > MOST_REPEATED:
            raise ProtocolError("the coordinator asks for more than the plan needs, again and again")

    def _count_shown(self, task: str) -> None:
        if task in SHOWN_ONCE and task in self.sums_asked:
            raise ProtocolError(f"the coordinator asks for '{task}' a second time")
        if task in SHOWN_ONCE and self.history.had_no_answer(self.plan.shown_name(task)):
            # Whether other rows can answer it would tell something about them, which nobody counts.
            raise ProtocolError(
                f"what '{task}' asks was asked before, and had no answer: ask another question"
            )
        self.sums_asked.add(task)
        self.shown += 1

    def _count_tables(self, question: PlanQuestion) -> None:
        fresh = set(question.sets) - self.asked
        if len(self.asked | fresh) > self.plan.tables:
            raise ProtocolError(
                f"the coordinator asks for more than the {self.plan.tables} tables of the plan"
            )
        self.policy.may_count(self.history, len(self.history.sum_names(COUNTS, fresh) - self.history.sums))
        # A question about nothing counts as well.
        self.repeated += max(len(question.sets) - len(fresh), not question.sets)
        self.asked |= fresh

    def _count_sum(self, question: PlanQuestion) -> None:
        """Count a sum of which a plan has one: moments of columns, functions or indicators, a release."""
        if question.kind in self.sums_asked:
            if question.kind == RELEASE:
                raise ProtocolError("the coordinator asks for the release a second time")
            self.repeated += max(1, len(question.sets))
        self.sums_asked.add(question.kind)
        if question.kind != RELEASE:
            named = self.history.sum_names(question.kind, question.sets, question.functions or question.lags)
            self.policy.may_count(self.history, len(named - self.history.sums))

    def _answer(self, question: PlanQuestion) -> None:
        """Compute the answer, write it into the log, then send it."""
        try:
            content = self._task_answer(question) if question.kind == SHOWN else self._sum_answer(question)
        except Exception as error:  # whatever it is, the coordinator learns no more than its type
            line = f"cannot answer ({type(error).__name__}); {OWNER_KNOWS}"
            self._refuse(
                ANSWER, error_for_owner(error, f"the task '{question.task or question.kind}' failed"), line
            )
        self.transport.send(self.coordinator, ANSWER, content)

    def _sum_answer(self, question: PlanQuestion) -> bytes:
        more: dict[str, Any] = {}
        if question.kind == RELEASE and self.plan.privacy is not None:
            vector, more = self._release(self.plan.privacy)
        else:
            vector = SUMMED[question.kind](self.rows, *question.arguments)
        if question.kind in {COUNTS, FOURTH}:
            more = {"tables": [list(some) for some in question.sets]}
        if question.kind == BASIS:
            more = {"functions": question.functions}
        if question.kind == LAGGED:
            more = {"lags": question.lags, "windows": int(vector[0])}
        masked = self.masks.mask(self.conversation.label, vector.view(np.uint64))
        self._log("answer", {"asks": question.kind, **more, "numbers": int(vector.size)})
        return encode({"masked": masked})

    def _release(self, terms: PrivacyTerms) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """A site's part of a release: the one in the log if this plan was answered before, whatever the rows.

        So a release asked for again reveals nothing new, not even that rows have changed. With it come the
        fields of its line in the log.
        """
        known = self.history.releases.get(self.plan.digest.hex())
        if known is not None:
            return np.array(self.log.recall(known)["part"], dtype=np.int64), {"again": known.hash}
        part = release_part(self.rows, terms, secrets.token_bytes(KEY_BYTES))
        return part, {"rho": terms.rho, "part": part.tolist()}

    def _task_answer(self, question: PlanQuestion) -> bytes:
        task, content = question.task, question.content or {}
        if task not in self.tasks:
            raise ProtocolError(f"this site does not know the task '{one_line(task)}'")
        if task in SHOWN_ONCE:
            return self._answer_once(task, content)
        try:
            payload = encode({"answer": dict(self.tasks[task](self.site, content))})
        except BaseException:
            # That there is no answer tells something, too. Fields that were refused may be anything.
            asked: dict[str, object] = {"sha256": sha256(encode(dict(content))).hexdigest()}
            self._log("shown", {"task": task, "question": asked, "bytes": 0})
            raise
        asked = {name: summary_of(value) for name, value in content.items()}
        self._log("shown", {"task": task, "question": asked, "bytes": len(payload)})
        return payload

    def _answer_once(self, task: str, question: Mapping[str, Any]) -> bytes:
        """The answer in the log if this question was answered before, whatever the rows and the plan.

        So a question that is asked again reveals nothing new, not even that rows have changed.
        """
        entry: dict[str, Any] = {"task": task, "question": dict(question), "bytes": 0}
        known = self.history.shown.get(self.plan.shown_name(task))
        if known is not None:
            payload = b64decode(self.log.recall(known)["answer"])
            self._log("shown", {"task": task, "again": known.hash, "bytes": len(payload)})
            return payload
        try:
            payload = encode({"answer": dict(self.tasks[task](self.site, question))})
        except BaseException:
            self._log("shown", entry)  # that there is no answer tells something, too
            raise
        self._log("shown", {**entry, "bytes": len(payload), "answer": b64encode(payload).decode()})
        return payload

    def _log(self, event: str, content: Mapping[str, Any]) -> None:
        if self.unwritten and event in {"answer", "shown"}:
            plan, self.unwritten = self.unwritten, {}
            self._log("plan", plan)
        self.log.add(event, content)
        self.history.add(self.log.events[-1])

    def end(self, error: BaseException | None) -> None:
        """Write the end of the run into the log, if a plan was accepted."""
        if self.accepted:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else one_line(str(error or "done"))
            with contextlib.suppress(FormatError):  # a log that could not be written has its own error
                self.log.add("end", {"reason": why})

    def _refuse(self, tag: str, error: DagoraError, line: str) -> NoReturn:
        self.transport.send(self.coordinator, tag, refusal(line))
        self.refused = True
        raise error

    def _receive(self, tag: str, fields: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        message = self.transport.receive(self.coordinator, tag, timeout)
        return decode(message, fields, what=f"'{self.coordinator}', '{tag}'")
