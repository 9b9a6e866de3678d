"""An attack on ADMM: what a coordinator can compute about one site from the first round.

With W = 0 and β = 0, equation (10) reads B_k = (S_k + ρI)⁻¹ S_k, so that whoever is shown B_k knows

    S_k = ρ ((I − B_k)⁻¹ − I),      S_k = x_kᵀx_k / n,

and with it the site's centred rows x_k up to a rotation: any factor F of n S_k = FᵀF is such a rotation of
them. `shown` runs that round as published, where the coordinator sees each site's answer. `overheard` runs it
with secure sums and takes from the coordinator's messages all that concerns single sites: masked vectors,
from which it subtracts the self-masks, whose seeds the coordinator learns in order to open the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from dagora.data.table import Table
from dagora.federated import sites_in_threads
from dagora.parties.horizontal.learners.admm import admm
from dagora.parties.horizontal.secure_sum.fixed_point import fraction_bits
from dagora.parties.horizontal.secure_sum.masks import Context, self_mask
from dagora.parties.horizontal.secure_sum.roster import Roster
from dagora.parties.horizontal.secure_sum.shamir import SECRET_BYTES, combine, unpack
from dagora.parties.horizontal.session.federation import Answer, OpenFederation, Question, Site
from dagora.parties.horizontal.session.questions import ASK, Conversation, decode_ask
from dagora.parties.horizontal.tasks import TASKS
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.messages import decode
from dagora.parties.transport.transport import Payload, Transport
from dagora.run import Run

Matrix = NDArray[np.float64]

STEP = "admm-step"
RECOVERED = 1e-6  # a row reconstructed with at most this relative error counts as recovered


@dataclass(frozen=True, eq=False)
class FirstRound:
    """What a coordinator has after one round: its guess of B_k for every site, and the true Σ B_k / K."""

    rho: float
    weights: Mapping[str, Matrix]
    mean: Matrix

    def covariances(self) -> dict[str, Matrix]:
        """Reconstruct every S_k."""
        return {name: covariance_from(weights, self.rho) for name, weights in self.weights.items()}


def covariance_from(weights: Matrix, rho: float) -> Matrix:
    """S = ρ ((I − B)⁻¹ − I), the inverse of equation (10) in round 1.

    >>> S = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> B = np.linalg.solve(S + 0.5 * np.eye(2), S)
    >>> covariance_from(B, 0.5).round(12)
    array([[2., 1.], [1., 3.]])
    """
    one = np.eye(len(weights))
    found: Matrix = rho * (np.linalg.inv(one - weights) - one)
    return found


def relative_error(found: Matrix, truth: Matrix) -> float:
    """‖found − truth‖ / ‖truth‖; a guess of zero has error 1."""
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


def rows_recovered(found: Matrix, rows: Matrix, n: int) -> int:
    """How many of a site's centred rows a rotation of a factor of n S_k reproduces.

    The rotation is the best one (Procrustes), which the coordinator does not know.
    """
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    largest = np.argsort(values)[::-1][: len(rows)]
    factor = np.sqrt(np.maximum(n * values[largest], 0.0))[:, None] * vectors[:, largest].T
    left, _, right = np.linalg.svd(rows @ factor.T)
    errors = np.linalg.norm(rows - left @ right @ factor, axis=1)
    return int((errors <= RECOVERED * np.linalg.norm(rows, axis=1)).sum())


def centred(table: Table) -> Matrix:
    """A site's rows about their own mean, one row each."""
    rows = np.column_stack([table.values(i) for i in range(len(table.names))])
    centred_rows: Matrix = rows - rows.mean(axis=0)
    return centred_rows


def first_round(run: Run) -> dict[str, Any]:
    """The published schedule, for one round."""
    return {"run": Run(budget=run.budget), "faithful": True, "max_rounds": 1}


def shown(tables: Mapping[str, Table], run: Run) -> FirstRound:
    """The published exchange: the coordinator is sent every B_k."""
    federation = Showing(OpenFederation([Site(name, table) for name, table in tables.items()], TASKS))
    admm(federation, **first_round(run))
    return read_round(federation.question, federation.answers)


def overheard(tables: Mapping[str, Table], run: Run) -> FirstRound:
    """Our exchange, with masks and messages: the masked vectors after every self-mask is subtracted."""
    lines: list[Listening] = []

    def watch(transport: Transport) -> Transport:
        lines.append(Listening(transport))
        return lines[0]

    sites = [Site(name, table) for name, table in tables.items()]
    with sites_in_threads(sites, minimum=3, watch=watch) as (federation, _):
        admm(federation, **first_round(run))
    return lines[0].read()


def read_round(question: Question, answers: Mapping[str, Matrix]) -> FirstRound:
    """Take each answer for β + ρ(B − W) = ρB, as `admm_site` makes it in round 1."""
    scale, rho = cast("Matrix", question["gradient_scale"]), cast("float", question["rho"])
    weights = {name: answer[:-2].reshape(scale.shape) * scale / rho for name, answer in answers.items()}
    return FirstRound(rho, weights, np.mean(list(weights.values()), axis=0))


@dataclass
class Showing:
    """A federation whose coordinator is shown each site's step, as in the published exchange."""

    inner: OpenFederation
    question: Question = field(default_factory=dict)
    answers: dict[str, Matrix] = field(default_factory=dict)

    @property
    def parties(self) -> tuple[str, ...]:
        """The sites' names."""
        return self.inner.parties

    def count(self, task: str, question: Question) -> NDArray[np.int64]:
        """Sum in the clear."""
        return self.inner.count(task, question)

    def total(self, task: str, question: Question, *, largest: float) -> Matrix:
        """Sum in the clear; the parts of a step are written down."""
        if task != STEP:
            return self.inner.total(task, question, largest=largest)
        self.question = question
        self.answers = {site.name: TASKS[task](site, question) for site in self.inner.sites}
        total: Matrix = np.sum(list(self.answers.values()), axis=0)
        return total

    def gather(self, task: str, question: Question) -> dict[str, Answer]:
        """Every site's own answer."""
        return self.inner.gather(task, question)


class Listening:
    """A coordinator's transport that writes down all it sends and receives."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.sent: dict[tuple[str, str], list[bytes]] = {}
        self.received: dict[tuple[str, str], list[bytes]] = {}

    @property
    def name(self) -> str:
        """This party."""
        return self._transport.name

    @property
    def peers(self) -> tuple[str, ...]:
        """The sites."""
        return tuple(self._transport.peers)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """Whose certificates were shown."""
        return self._transport.fingerprints

    @property
    def ledger(self) -> Ledger:
        """The books."""
        return self._transport.ledger

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Write down and send."""
        self.sent.setdefault((to, tag), []).append(bytes(payload))
        self._transport.send(to, tag, payload)

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Receive and write down."""
        payload = self._transport.receive(sender, tag, timeout)
        self.received.setdefault((sender, tag), []).append(payload)
        return payload

    def close(self, reason: str | None = None) -> None:
        """Leave."""
        self._transport.close(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._transport.__exit__(kind, error, trace)

    def read(self) -> FirstRound:
        """Read the first step's vectors as if they were the sites' own, less what can be taken off."""
        site = self.peers[0]
        conversation, round_ = Conversation(), -1
        for payload in self.sent[site, ASK]:
            conversation.add(payload)
            ask = decode_ask(payload, "ask")
            round_ += ask["kind"] in {"count", "total"}
            if ask["task"] == STEP:
                break
        vectors = {
            name: decode(self.received[name, f"sum/{round_}/input"][0])["masked"] for name in self.peers
        }
        roster = Roster.decode(self.sent[site, "sum/roster"][0], "the roster")
        context = Context(roster.session, round_, roster.names, conversation.label(STEP), vectors[site].shape)
        seeds = self.seeds(round_, roster)
        bits = fraction_bits(ask["largest"], len(roster.names))

        def number(vector: NDArray[np.uint64]) -> Matrix:
            return np.ldexp(vector.view(np.int64).astype(np.float64), -bits)

        bare = {name: vector - self_mask(seeds[name], context) for name, vector in vectors.items()}
        single = read_round(ask["question"], {name: number(vector) for name, vector in bare.items()})
        total = number(np.sum(list(bare.values()), axis=0, dtype=np.uint64)) / len(bare)
        mean = read_round(ask["question"], {"mean": total}).mean
        return FirstRound(single.rho, single.weights, mean)

    def seeds(self, round_: int, roster: Roster) -> dict[str, bytes]:
        """The seeds of the self-masks, from the shares that the sites sent to open the sum."""
        opening = decode(self.sent[self.peers[0], f"sum/{round_}/open"][0])
        owners: list[str] = opening["survivors"]
        shares = {
            roster.point(holder): unpack(
                decode(self.received[holder, f"sum/{round_}/shares"][0])["seeds"], len(owners)
            )
            for holder in owners[: roster.threshold]
        }
        return {
            owner: combine({point: held[i] for point, held in shares.items()}).to_bytes(
                SECRET_BYTES, "little"
            )
            for i, owner in enumerate(owners)
        }
