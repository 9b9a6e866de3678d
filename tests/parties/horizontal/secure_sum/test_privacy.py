"""What the coordinator sees of one site is noise: the statistic says so, and says otherwise without the masks."""

import numpy as np
import pytest
from scipy.stats import chisquare

from dagora.parties.horizontal.secure_sum import site as sum_site
from dagora.parties.horizontal.secure_sum.masks import Context, pair_masks, self_mask
from dagora.parties.transport.messages import decode
from tests.parties.horizontal.secure_sum.sums import begin, names_of

ROUNDS, SIZE = 40, 100
CONSTANT = np.full(SIZE, 5, dtype=np.uint64)


def uniformity(vectors):
    """The p-value of all bytes being equally likely."""
    content = np.frombuffer(b"".join(vector.tobytes() for vector in vectors), dtype=np.uint8)
    return chisquare(np.bincount(content, minlength=256)).pvalue


def views():
    """What the coordinator has of site s1, round by round: the masked vector, and without either mask."""
    names = names_of(4)
    party = begin(names, vectors={name: [CONSTANT] * ROUNDS for name in names})
    recover, seeds = party.sums._recover, []

    def remember(shares, owner):
        secret = recover(shares, owner)
        if owner == "s1":
            seeds.append(secret)
        return secret

    party.sums._recover = remember
    party.sums.set_up()
    for round_ in range(ROUNDS):
        party.sums.sum(f"task {round_}")
    party.end()
    received = {tag: payload for sender, tag, payload in party.coordinator.received if sender == "s1"}
    masked, no_self, no_pairs = [], [], []
    for round_ in range(ROUNDS):
        vector = decode(received[f"sum/{round_}/input"])["masked"]
        context = Context(party.sums._roster.session, round_, tuple(names), f"task {round_}", (SIZE,))
        masked.append(vector)
        no_self.append(vector - self_mask(seeds[round_], context))
        no_pairs.append(vector - pair_masks("s1", party.sites["s1"]._masking, context))
    return masked, no_self, no_pairs


def test_a_masked_vector_is_uniform_and_stays_so_without_either_mask():
    masked, no_self, no_pairs = views()
    assert uniformity(masked) > 1e-6
    assert uniformity(no_self) > 1e-6
    assert uniformity(no_pairs) > 1e-6
    # The same data are masked differently in every round and place.
    assert len(np.unique(masked)) == ROUNDS * SIZE
    # The test can fail: this is what it says of data.
    assert uniformity([CONSTANT] * ROUNDS) < 1e-100


def _nothing(*arguments):
    return np.zeros(arguments[-1].shape, dtype=np.uint64)


def test_without_self_masks_a_recovered_key_would_bare_the_site(monkeypatch):
    monkeypatch.setattr(sum_site, "self_mask", _nothing)
    _, _, no_pairs = views()
    assert uniformity(no_pairs) < 1e-100
    np.testing.assert_array_equal(no_pairs[0], CONSTANT)


def test_without_pairwise_masks_every_opening_would_bare_the_site(monkeypatch):
    monkeypatch.setattr(sum_site, "pair_masks", _nothing)
    _, no_self, _ = views()
    assert uniformity(no_self) < 1e-100
    np.testing.assert_array_equal(no_self[0], CONSTANT)


@pytest.mark.parametrize("lost", [(), ("s3",)])
def test_messages_are_of_the_same_number_and_size_whatever_the_data(lost):
    names = names_of(4)

    def traffic(vector):
        die = dict.fromkeys(lost, "before sum/0/input")
        party = begin(names, vectors={name: [vector, vector] for name in names}, die=die)
        party.sums.set_up()
        for round_ in (0, 1):
            party.sums.sum(f"task {round_}")
        party.end()
        return {n: [(tag, len(payload)) for _, tag, payload in wire.sent] for n, wire in party.wires.items()}

    zeros = traffic(np.zeros(SIZE, dtype=np.uint64))
    assert zeros == traffic(np.full(SIZE, 2**64 - 1, dtype=np.uint64))
    assert len(zeros["s0"]) == 6


def test_masks_of_two_sessions_with_the_same_data_differ():
    seen = []
    for _ in range(2):
        party = begin(names_of(3), vectors={name: [CONSTANT] for name in names_of(3)})
        party.sums.set_up()
        party.sums.sum("task 0")
        party.end()
        seen += [decode(p)["masked"] for _, tag, p in party.coordinator.received if tag == "sum/0/input"]
    assert len(np.unique(seen)) == 6 * SIZE
