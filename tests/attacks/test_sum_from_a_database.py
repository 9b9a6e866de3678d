"""Whoever runs the SuperLink, or reads its database, has every message and no key, and wants the sums."""

import itertools

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.data.table import Table
from dagora.parties.horizontal.flower.relay import RelayBatch, decode_batch, decode_request, encode_batch
from dagora.parties.horizontal.secure_sum.masks import KeyPair
from dagora.parties.transport.messages import decode, encode
from tests.parties.horizontal.flower.sites import street
from tests.parties.network import PATIENCE

NAMES = ("east", "north", "west")
SETS = [(0,), (0, 1)]


class Database:
    """Every message of a run as the SuperLink stores it; `change` rewrites an answer on its way."""

    def __init__(self, town, change=None):
        self.to_sites: list[bytes] = []
        self.answers: list[bytes] = []
        self.exchange, town.exchange = town.exchange, self.pass_on
        self.change = change or (lambda answer: answer)

    def pass_on(self, batches, seconds):
        self.to_sites += batches.values()
        answers = {
            node: self.change(answer) for node, answer in self.exchange(dict(batches), seconds).items()
        }
        self.answers += answers.values()
        return answers

    def payloads(self, tag: str) -> list[bytes]:
        """The messages under a tag, one after the other."""
        batches = [decode_request(payload, "x") for payload in self.to_sites]
        for answer in self.answers:
            try:
                batches.append(decode_batch(answer, "x"))
            except ProtocolError:  # a welcome, or a refusal
                continue
        found = [batch for batch in batches if isinstance(batch, RelayBatch)]
        return [message.payload for batch in found for message in batch.messages if message.tag == tag]

    def guesses(self, size: int) -> list[np.ndarray]:
        """All vectors of so many numbers that the answers of three sites may add up to."""
        parts = []
        for payload in self.payloads("answer"):
            try:
                parts.append([decode(payload)["masked"]])
            except ProtocolError:
                # It cannot be read as a message: try every place where numbers could stand.
                last = len(payload) - 8 * size
                parts.append(
                    [np.frombuffer(payload, "<u8", size, start) for start in range(max(0, last + 1))]
                )
        return [
            sum(chosen).view(np.int64)
            for three in itertools.combinations(parts, len(NAMES))
            for chosen in zip(*three, strict=False)
            if all(len(part) == size for part in chosen)
        ]


def rows():
    rng = np.random.default_rng(5)
    return {name: Table.from_numpy(rng.integers(0, 2, (40, 2)), names=["a", "b"]) for name in NAMES}


def test_the_answers_of_all_sites_do_not_add_up(tmp_path):
    with street(tmp_path, *NAMES) as town:
        database = Database(town)
        meeting = town.meeting(rows())
        with meeting.session as session:
            sums = session.counts(SETS)
        assert set(meeting.lines().values()) == {""}
    assert sums.sum() == 2 * 3 * 40, "the coordinator has them"
    guesses = database.guesses(len(sums))
    assert guesses, "or this would show nothing"
    assert not any((guess == sums).any() for guess in guesses)


def test_questions_do_not_tell_the_way_of_a_search(tmp_path):
    """What is asked next depends on the sums before."""
    with street(tmp_path, *NAMES) as town:
        database = Database(town)
        meeting = town.meeting(rows())
        with meeting.session as session:
            session.counts(SETS)
    asked = [decode(payload) for _, tag, payload in meeting.hub.sent if tag == "ask"]
    assert asked[0]["kind"] == "counts"
    for payload in database.payloads("ask"):
        with pytest.raises(ProtocolError):
            decode(payload)
        assert b"counts" not in payload


def changed(payload: bytes) -> bytes:
    return payload[:-1] + bytes([payload[-1] ^ 1])


def test_an_answer_that_is_changed_ends_the_run(tmp_path):
    """Masked vectors can be added to: without a seal, the operator could have shifted a sum."""

    def change(answer: bytes) -> bytes:
        try:
            batch = decode_batch(answer, "x")
        except ProtocolError:
            return answer
        messages = [
            type(one)(one.tag, one.sequence, changed(one.payload) if one.tag == "answer" else one.payload)
            for one in batch.messages
        ]
        return encode_batch(RelayBatch(batch.run, batch.number, tuple(messages), busy=batch.busy))

    with street(tmp_path, *NAMES) as town:
        Database(town, change)
        meeting = town.meeting(rows())
        with pytest.raises(ProtocolError, match="it was changed on its way"), meeting.session as session:
            session.counts(SETS)


def test_a_key_of_the_operator_in_the_roster_is_refused(tmp_path):
    """Answers would be sealed for the operator."""
    with street(tmp_path, *NAMES) as town:
        meeting = town.meeting(rows())

        def replace_key(_to, tag, payload):
            if tag != "roster":
                return payload
            return encode({**decode(payload), "key": KeyPair.make().public})

        meeting.hub.change = replace_key
        with pytest.raises(ProtocolError), meeting.session as session:
            session.counts(SETS)
        for name in NAMES:
            assert "the coordinator did not sign the roster" in str(meeting.working[name].exception(PATIENCE))
            assert not meeting.answers(name)
