"""The coordinator's end of a run through Flower: messages are collected until it must wait for an answer.

`send` keeps a message. `receive` looks whether the message it wants is there; if not, one exchange brings all
sites what was collected for them, and returns with everything they answered. So a question that follows a
roster travels with it, and a sum over all sites is one exchange.

A site is lost when it does not answer in time, and when its SuperNode or its daemon is gone.

`exchange_over` sends bytes to all SuperNodes at once over Flower's `Grid`, and looks for answers ten times a
second; Flower's own `send_and_receive` looks every three seconds.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from dagora.base.errors import PartyTimeoutError, ProtocolError
from dagora.parties.horizontal.flower.client_app import RECORD
from dagora.parties.horizontal.flower.relay import (
    MAX_MESSAGES,
    RUN_BYTES,
    Envelope,
    Hello,
    RelayBatch,
    Welcome,
    decode_batch,
    decode_welcome,
    encode_batch,
    encode_hello,
)
from dagora.parties.horizontal.session.replies import refusal
from dagora.parties.transport.inbox import Inbox
from dagora.parties.transport.ledger import Ledger
from dagora.parties.transport.transport import (
    MessageLimits,
    Payload,
    abort_message,
    encode_tag,
    in_seconds,
    left_message,
    lost_message,
    one_line,
    reason_to_tell,
)
from dagora.parties.transport.wire_format import wire_size

LOOK_EVERY = 0.1  # seconds between two looks for answers
LEAST_TTL = 60.0  # seconds for which Flower keeps a message, at least

# Sends each node its bytes and returns, within so many seconds, the answers by node, without the silent
# nodes. An answer may be a refusal.
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


FAREWELL_SECONDS = 30.0  # for the last exchange, at most
RETRY_SECONDS = 2.0  # between two hellos to nodes whose daemons are not there yet
MARGIN = 10.0  # seconds of a time limit that are left for Flower itself, at most half of it


class FlowerTransport:
    """The coordinator's connection to its sites, each behind a node of Flower; for one thread."""

    def __init__(
        self,
        name: str,
        nodes: Mapping[str, int],
        exchange: Exchange,
        *,
        run: bytes,
        limits: MessageLimits | None = None,
        timeout: float = 60.0,
    ) -> None:
        self.name = name
        self.peers = tuple(sorted(nodes))
        self.ledger = Ledger(name)
        self.fingerprints: Mapping[str, str] = {}  # the plan names the sites' certificates
        self.seconds: list[float] = []  # of each exchange
        self._nodes = dict(nodes)
        self._exchange = exchange
        self._run = run
        self._limits = limits or MessageLimits()
        self._timeout = timeout
        self._inbox = Inbox(name, self.peers, self._limits)
        self._outbox: dict[str, list[Envelope]] = {peer: [] for peer in self.peers}
        self._sequences: dict[tuple[str, str], int] = {}
        self._numbers = dict.fromkeys(self.peers, 0)
        self._busy: set[str] = set()
        self._gone: set[str] = set()  # sites that will not hear us again
        self._silent: set[str] = set()  # sites that did not answer, but may hear us
        self._closed = False

    def send(self, to: str, tag: str, payload: Payload) -> None:
        """Keep a message for the next exchange."""
        encoded = encode_tag(tag)
        self._inbox.check(to)
        content = bytes(payload)
        waiting = self._outbox[to]
        size = len(content) + sum(len(message.payload) + len(message.tag) for message in waiting)
        if size > self._limits.message_bytes or len(waiting) >= MAX_MESSAGES:
            raise ProtocolError(
                f"message '{tag}' of {len(content)} bytes passes the limit of {self._limits.message_bytes}"
            )
        sequence = self._sequences.get((to, tag), 0)
        self._sequences[to, tag] = sequence + 1
        waiting.append(Envelope(tag, sequence, content))
        self.ledger.count_sent(to, tag, payload=len(content), wire=wire_size(encoded, len(content)))

    def receive(self, sender: str, tag: str, timeout: float | None = None) -> bytes:
        """Return the sender's next message under this tag, with an exchange if it is not there yet."""
        encoded = encode_tag(tag)
        timeout = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        while True:
            try:
                payload = self._inbox.get(sender, tag, 0.0)
                break
            except PartyTimeoutError:
                remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                raise PartyTimeoutError(
                    f"party '{sender}' sent no '{tag}' within {in_seconds(timeout)}", party=sender
                )
            if not self._outbox[sender] and sender not in self._busy:
                raise ProtocolError(
                    f"party '{sender}' sent no '{tag}', and waits for a message itself", party=sender
                )
            self._exchange_all(min(self._timeout, remaining))
        self.ledger.count_received(sender, tag, payload=len(payload), wire=wire_size(encoded, len(payload)))
        return payload

    def _exchange_all(self, seconds: float) -> None:
        """Bring every site what was collected for it, and take in what it answers."""
        started = time.monotonic()
        reachable = sorted(set(self.peers) - self._gone - self._silent)
        called = [peer for peer in reachable if self._outbox[peer] or peer in self._busy]
        work = seconds - min(MARGIN, seconds / 2)
        batches = {self._nodes[peer]: encode_batch(self._batch(peer, seconds=work)) for peer in called}
        answers = self._exchange(batches, seconds)
        self.seconds.append(time.monotonic() - started)
        for peer in called:
            answer = answers.get(self._nodes[peer])
            if answer is None:
                self._silent.add(peer)
                fault = lost_message(peer, f": no answer through Flower within {in_seconds(seconds)}")
                self._inbox.fail(peer, fault, at_once=False)
            else:
                self._take_in(peer, answer)

    def _batch(self, peer: str, **ending: object) -> RelayBatch:
        batch = RelayBatch(self._run, self._numbers[peer], tuple(self._outbox[peer]), **ending)  # type: ignore[arg-type]
        self._outbox[peer] = []
        self._busy.discard(peer)
        self._numbers[peer] += 1
        return batch

    def _take_in(self, peer: str, answer: bytes) -> None:
        try:
            batch = decode_batch(answer, f"site '{peer}'", self._limits)
            if (batch.run, batch.number) != (self._run, self._numbers[peer] - 1):
                raise ProtocolError(f"site '{peer}': answered another question")
            for message in batch.messages:
                self._inbox.put(peer, message.tag, message.sequence, message.payload, timeout=0.0)
        except ProtocolError as error:
            self._gone.add(peer)
            self._inbox.fail(peer, str(error), at_once=True)
            return
        if batch.busy:
            self._busy.add(peer)
        if batch.ended:
            self._gone.add(peer)
            fault = abort_message(peer, batch.reason) if batch.reason else left_message(peer)
            self._inbox.fail(peer, fault, at_once=bool(batch.reason))

    def close(self, reason: str | None = None) -> None:
        """Leave: one last exchange brings the sites what was collected, and the reason if there is one."""
        if self._closed:
            return
        self._closed = True
        self._inbox.close()
        farewell = {"ended": True, "reason": reason or "", "seconds": FAREWELL_SECONDS}
        for peers, seconds in (
            (self._silent, 0.0),  # nobody waits for those who did not answer before
            (set(self.peers) - self._silent - self._gone, min(self._timeout, FAREWELL_SECONDS)),
        ):
            batches = {
                self._nodes[peer]: encode_batch(self._batch(peer, **farewell)) for peer in sorted(peers)
            }
            if batches:
                started = time.monotonic()
                self._exchange(batches, seconds)
                self.seconds.append(time.monotonic() - started)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(reason_to_tell(error))


def meet(
    name: str,
    sites: Sequence[str],
    nodes: Callable[[], Sequence[int]],
    exchange: Exchange,
    *,
    wait: float,
    timeout: float,
    on_warning: Callable[[str], None],
) -> FlowerTransport:
    """Say hello to the nodes until all sites are found behind them, then begin the run.

    `nodes` lists those that are connected now. A node whose daemon is not there yet is asked again.
    """
    run = secrets.token_bytes(RUN_BYTES)
    deadline = time.monotonic() + wait
    hello = encode_hello(Hello(run, tuple(sites)))
    found: dict[str, int] = {}
    strangers: set[int] = set()
    last_error = ""
    seconds: list[float] = []
    while len(found) < len(sites):
        asked = [node for node in nodes() if node not in strangers and node not in found.values()]
        remaining = deadline - time.monotonic()
        if remaining <= 0.0:
            raise ProtocolError(_absence([site for site in sites if site not in found], wait, last_error))
        if len(asked) < len(sites) - len(found):
            # Not all can be there: no need to ask the others twice.
            time.sleep(min(0.2, remaining))
            continue
        started = time.monotonic()
        answers = exchange(dict.fromkeys(asked, hello), min(remaining, timeout))
        seconds.append(time.monotonic() - started)
        for node, answer in answers.items():
            try:
                welcome = decode_welcome(answer, f"node {node}")
                _add_node(welcome, node, found, strangers)
            except ProtocolError as error:
                last_error = str(error)
                on_warning(last_error)
        if len(found) < len(sites):
            time.sleep(min(RETRY_SECONDS, max(0.0, deadline - time.monotonic())))
    transport = FlowerTransport(name, found, exchange, run=run, timeout=timeout)
    transport.seconds += seconds
    return transport


def _add_node(welcome: Welcome, node: int, found: dict[str, int], strangers: set[int]) -> None:
    if not welcome.joins:
        strangers.add(node)
    elif welcome.site in found:
        strangers.add(node)
        raise ProtocolError(f"node {node}: the name '{welcome.site}' is taken")
    else:
        found[welcome.site] = node


def _absence(missing: Sequence[str], wait: float, last_error: str) -> str:
    absent = ", ".join(f"'{site}'" for site in missing)
    return f"waited {in_seconds(wait)} in vain for {absent}" + (f" ({last_error})" if last_error else "")
