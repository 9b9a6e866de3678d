"""A federation over a transport: the coordinator offers a plan, the sites sign it and answer its questions.

    plan    >  the plan, the coordinator's certificate        ask     >  a question
    keys    <  a site's fresh key, signed with the plan       answer  <  the site's masked vector
    roster  >  everyone's keys, signed by the coordinator

Questions and answers are sealed between the coordinator and each site (`sealed_transport`).
The masks cancel in the sum over all sites of the plan and in no other (`secure_sum`), so all sites take part
or nobody: a site that is lost or refuses ends the run, at any time. Every site is sent the same questions in
the same order; if sites receive different questions, the sum of their answers is noise.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, ProtocolError
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.data.schema import Schema
from dagora.parties.horizontal.plan.coded_rows import fraction_bits
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    MOMENTS,
    RELEASE,
    WEIGHTS,
    RunPlan,
)
from dagora.parties.horizontal.session.federation import Answer, LargestTable, Sets, TaskQuestion
from dagora.parties.horizontal.session.fourth_sums import IMPOSSIBLE, FourthMoments, rows_of_fourth
from dagora.parties.horizontal.session.questions import ANSWER, ASK, DONE, SHOWN, Conversation, PlanQuestion
from dagora.parties.horizontal.session.replies import collect, tell
from dagora.parties.horizontal.session.row_sums import (
    WeightSums,
    read_basis_moments,
    read_fourth_moments,
    read_indicator_moments,
    read_lagged_moments,
    read_moments,
    read_release,
)
from dagora.parties.horizontal.session.sealed_transport import SealedTransport
from dagora.parties.privacy.release import feature_size
from dagora.parties.transport.messages import Array, Field, encode
from dagora.parties.transport.transport import Transport, reason_to_tell
from dagora.stats.basis import BasisMoments
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.statistics import Moments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dagora.parties.horizontal.secure_sum.identity import Identity
    from dagora.parties.privacy.noisy_moments import NoisyMoments
    from dagora.parties.privacy.noisy_pairs import NoisyPairs

PLAN, KEYS, ROSTER = "plan", "keys", "roster"


class CoordinatorSession:
    """The coordinator's `Federation`: the sites of a plan at the other end of a transport.

    The session waits `patience` seconds for each step of the sites. Leaving the `with` block informs the
    sites that the run is done, or why it failed.
    """

    def __init__(
        self, transport: Transport, plan: RunPlan, identity: Identity, *, patience: float = 600.0
    ) -> None:
        self.plan = plan
        self._transport = SealedTransport(transport)
        self._identity = identity
        self._patience = patience
        self._conversation = Conversation()
        self._asked = 0
        self._rows: int | None = None  # of all sites, or the sum of their weights, once known
        self._agreed = False

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites that take part, sorted."""
        return tuple(self.plan.sites)

    @property
    def schema(self) -> Schema:
        """The columns of the plan."""
        return self.plan.codebook.schema

    @property
    def largest_table(self) -> LargestTable:
        """The largest joint table of the plan."""
        return LargestTable(self.plan.columns_per_table, self.plan.cells_per_table)

    def agree(self) -> None:
        """Offer the plan to all sites, and pass their signed keys on; once, before the first question."""
        if self._agreed:
            return
        CRYPTOGRAPHY_FOR_SITES.require("a secure sum")
        from dagora.parties.horizontal.secure_sum.masks import KeyPair, pair_secret
        from dagora.parties.horizontal.secure_sum.roster import ENTRY, Roster, RosterEntry

        with self._transport.ledger.phase("plan"):
            offer = encode({"plan": self.plan.encode(), "certificate": self._identity.certificate})
            self._tell(offer, PLAN)
            keys = self._collect(KEYS, ENTRY)
            entries = {name: RosterEntry(**content) for name, content in keys.items()}
            for name, entry in entries.items():
                if entry.name != name:
                    raise ProtocolError(f"site '{name}' sent a key under another name", party=name)
                entry.check(self._identity, self.plan)
            own = KeyPair.make()
            roster = Roster.of(self.plan, entries, own.public)
            self._tell(roster.encode(self._identity.sign(roster.statement())), ROSTER)
            for name, entry in entries.items():
                secret = pair_secret(own, self._identity.name, name, entry.key)
                self._transport.agree(name, secret, roster.session)
        self._agreed = True

    def counts(self, sets: Sets) -> NDArray[np.int64]:
        """Exact sum of the sites' counts; sums that cannot be counts of rows are refused."""
        sums = self._sum(PlanQuestion(COUNTS, sets=tuple(sets)))
        cards = self.schema.cardinalities
        start = 0
        for some in sets:
            table = sums[start : start + prod(int(cards[column]) for column in some)]
            start += len(table)
            rows = sum(map(int, table)) if len(table) < 64 else int(table.astype(object).sum())
            if int(table.min()) < 0 or rows > self._most or rows != (self._rows or rows):
                raise ProtocolError(
                    "the sums are not counts of the same rows: a site was told something else, sent a wrong "
                    "answer, or has more rows than agreed on"
                )
            self._rows = rows
        return sums

    def moments(self) -> Moments:
        """Moments of all rows, from one sum."""
        return read_moments(self._sum_over_rows(PlanQuestion(MOMENTS)), self.plan.codebook, self._bits)

    def weight_sums(self) -> WeightSums | None:
        """Sums of weights of all rows, from one sum; None where rows count alike."""
        if not self.plan.codebook.largest_weight:
            return None
        sums = self._sum(PlanQuestion(WEIGHTS))
        self._check_rows(int(sums[0]), self.plan.largest_rows)
        found = WeightSums.read(sums)
        self._rows = self._rows or found.total  # counts are of rows with these weights
        return found

    def basis_moments(self, functions: int) -> BasisMoments:
        """Moments of basis functions of all rows, from one sum."""
        sums = self._sum_over_rows(PlanQuestion(BASIS, functions=functions))
        return read_basis_moments(sums, self.plan.codebook, self._bits, functions)

    def indicator_moments(self) -> IndicatorMoments:
        """Moments of the widened table of all rows, from one sum."""
        sums = self._sum_over_rows(PlanQuestion(INDICATORS))
        return read_indicator_moments(sums, self.plan.codebook, self._bits)

    def lagged_moments(self, lags: int) -> Moments:
        """Moments of windows of time of all series, from one sum."""
        sums = self._sum_over_rows(PlanQuestion(LAGGED, lags=lags))
        return read_lagged_moments(sums, self.plan.codebook, self._bits, lags)

    def fourth_moments(self, sets: Sets) -> list[FourthMoments]:
        """Moments up to products of four columns of the plan's regressions, from one sum."""
        sums = self._sum(PlanQuestion(FOURTH, sets=tuple(sets)))
        self._check_rows(rows_of_fourth(sums, self._bits), self.plan.largest_rows)
        return read_fourth_moments(sums, self.plan.codebook, self._bits, sets)

    @property
    def _bits(self) -> int:
        return fraction_bits(self.plan.largest_rows)

    def _sum_over_rows(self, question: PlanQuestion) -> NDArray[np.int64]:
        """A sum that begins with the number of rows; with too many rows the other numbers may overflow."""
        sums = self._sum(question)
        self._check_rows(int(sums[0]), self._most)
        return sums

    @property
    def _most(self) -> int:
        """The most rows that there may be, or the largest sum of their weights."""
        return self.plan.largest_rows << (self._bits if self.plan.codebook.largest_weight else 0)

    def _check_rows(self, rows: int, most: int) -> None:
        if not 0 <= rows <= most:
            raise DataError(f"the sites have {rows} rows together, and the plan allows {most}")

    def release(self) -> NoisyPairs | NoisyMoments:
        """The release with noise that the plan describes, as statistics to learn from."""
        sums = self.release_sums()
        assert self.plan.privacy is not None
        return read_release(sums, self.plan, self.plan.privacy)

    def release_sums(self) -> NDArray[np.int64]:
        """The numbers of the release with noise that the plan describes; those of no rows are refused."""
        if self.plan.privacy is None:
            raise ProtocolError("the plan has no release with noise")
        sums = self._sum(PlanQuestion(RELEASE))
        least, most = self.plan.privacy.ends(self.plan.largest_rows)
        if not ((sums >= least) & (sums <= most)).all():
            raise ProtocolError(IMPOSSIBLE)
        return sums

    def gather(self, task: str, question: TaskQuestion) -> dict[str, Answer]:
        """Every site's own answer, by name; a question that is asked once must be the plan's."""
        planned = self.plan.shown_questions.get(task)
        if planned is not None:
            # The plan has the time that the sites get; less is left by now.
            if {**question, "seconds": planned.get("seconds")} != planned:
                raise ProtocolError(f"the plan of this run has another question for '{task}'")
            question = {}
        self.agree()
        with self._transport.ledger.phase(self._phase(task)):
            self._ask(PlanQuestion(SHOWN, task=task, content=question))
            replies = self._collect(ANSWER, {"answer": dict})
        return {site: replies[site]["answer"] for site in self.parties}

    def _sum(self, question: PlanQuestion) -> NDArray[np.int64]:
        self.agree()
        with self._transport.ledger.phase(self._phase(question.kind)):
            self._ask(question)
            shape = (self._size(question),)
            total = np.zeros(shape, dtype=np.uint64)
            for content in self._collect(ANSWER, {"masked": Array("u8", shape)}).values():
                total += content["masked"]
        return total.view(np.int64)

    def _size(self, question: PlanQuestion) -> int:
        if question.kind == RELEASE and self.plan.privacy is not None:
            return feature_size(self.plan.privacy, self.schema)
        return question.size(self.plan.codebook)

    def _ask(self, question: PlanQuestion) -> None:
        message = question.encode()
        self._conversation.add(message)
        self._tell(message, ASK)

    def _tell(self, message: bytes, tag: str) -> None:
        lost = tell(self._transport, dict.fromkeys(self.parties, message), tag)
        if lost:
            self._end(lost)

    def _collect(self, tag: str, fields: Mapping[str, Field]) -> dict[str, dict[str, Any]]:
        replies = collect(self._transport, self.parties, tag, fields, self._patience)
        if replies.lost:
            self._end(replies.lost)
        return replies.contents

    def _end(self, lost: Mapping[str, str]) -> NoReturn:
        name, reason = next(iter(lost.items()))
        raise ProtocolError(
            f"site '{name}' was lost ({reason}): the run ends, since all sites take part in a sum or nobody",
            party=name,
        )

    def _phase(self, what: str) -> str:
        self._asked += 1
        return f"{self._asked} {what}"

    def close(self, reason: str | None = None) -> None:
        """Inform the sites that the run is done, or why it failed, and leave."""
        if reason is None and self._agreed:
            tell(self._transport, dict.fromkeys(self.parties, PlanQuestion(DONE).encode()), ASK)
        self._transport.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))
