"""What a party sees of two different inputs of its peer that have the same output: nothing tells them apart.

The peer's columns are inverted, or its levels are in another order, which changes its counts and not the graph;
opened parameters are withheld from both inputs, because configurations have too few rows. Sessions are repeated, and every
bit of every message is compared between the two inputs: how often it was one. A bit that is anyhow a function of
the peer's data, at a fixed place, comes out different in all of 18 sessions; a random one does so with a
probability of 2 / 2³⁶. What a party computes from messages with its own secrets is looked at as well:
the host opens its shares with its key. That the tests can fail is shown by taking masks away.
"""

import hashlib
import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from dagora.parties.crypto.encryption import rlwe_products
from dagora.parties.crypto.garbling import yao
from dagora.parties.crypto.transfer import checked_transfer, oblivious_transfer
from dagora.parties.vertical import parameter_circuits, parameters, private_k2
from dagora.parties.vertical.agreement import TermsProposal
from tests.parties.pairs import deal_seeds
from tests.parties.vertical.leveled import leveled_owners
from tests.parties.vertical.owners import edges, learn, owners, pair
from tests.parties.vertical.test_k2_schedule import random_data

SESSIONS = 18
HOST, GUEST = 0, 1


def chance(positions):
    """The probability that any of so many random bits differs between the inputs in all sessions."""
    return 2 * positions / 2 ** (2 * SESSIONS)


@pytest.fixture
def dealt_anew(monkeypatch):
    """Seeds of the transfers from a dealer, other ones in each session."""
    session = itertools.count()

    def seed(number, i, bit):
        return hashlib.sha256(f"{number} {i} {bit}".encode()).digest()[:16]

    def send(channel, count, *, random):
        number = next(session)
        channel.send("number", number=number)
        return [(seed(number, i, 0), seed(number, i, 1)) for i in range(count)]

    def receive(channel, choices, *, random):
        number = channel.receive("number", {"number": int})["number"]
        return [seed(number, i, bit) for i, bit in enumerate(choices)]

    for module in (oblivious_transfer, checked_transfer):
        monkeypatch.setattr(module, "send_seeds", send)
        monkeypatch.setattr(module, "receive_seeds", receive)


@pytest.fixture
def opened(monkeypatch):
    """The shares of moments over columns of both that the host opens, session by session."""
    seen = []
    share_moments = private_k2.share_moments

    def overhear(transport, role, terms, *rest, **options):
        shares = share_moments(transport, role, terms, *rest, **options)
        if role == "host":
            n_host = len(terms.host)
            seen.append([v for k, v in sorted(shares.shares.items()) if min(k) < n_host <= max(k)])
        return shares

    monkeypatch.setattr(private_k2, "share_moments", overhear)
    return seen


def bits_of_two(side, flip):
    """Three binary columns, of which the other party's may be inverted."""
    data = random_data(np.random.default_rng(21), 11, 3)
    peer = slice(1, 3) if side == HOST else slice(0, 1)
    data[:, peer] ^= flip
    return owners(data, 1, extra=2)


def bits_of_two_with_the_same_keys(side, flip):
    """The same about rows that both have, all of them."""
    data = random_data(np.random.default_rng(21), 11, 3)
    data[:, slice(1, 3) if side == HOST else slice(0, 1)] ^= flip
    return owners(data, 1, extra=0)


def levels_of_two(side, flip):
    """A column of three levels each; those of the other party may be in the opposite order."""
    data = np.stack([np.arange(11) % 3] * 2, axis=1)
    data[:2, 1] = 0
    if flip:
        data[:, 1 - side] = 2 - data[:, 1 - side]
    return leveled_owners(data, (3, 3), 1, extra=2)


CASES = {
    "hidden": (bits_of_two, TermsProposal(max_parents=2)),
    "adaptive": (bits_of_two, TermsProposal(max_parents=2, mode="adaptive")),
    "open": (levels_of_two, TermsProposal(max_parents=1, parameters="open")),
    "malicious": (bits_of_two_with_the_same_keys, TermsProposal(max_parents=2, security="malicious")),
    "shares": (levels_of_two, TermsProposal(max_parents=1, parameters="shares")),
}


def received(side, case, flip):
    """All that a party receives in one session whose other party may have other columns of the same output."""
    bring, proposal = CASES[case]
    parties = pair()
    host, _ = learn(parties, bring(side, flip), proposal)
    messages = [(tag, payload) for _, tag, payload in parties[side].received if not tag.endswith("/number")]
    return edges(host), [tag for tag, _ in messages], [payload for _, payload in messages]


def views(side, case):
    """Messages of many sessions with either input; outputs, tags and sizes are the same in all."""
    seen = ([], [])
    alike = set()
    for _ in range(SESSIONS):
        for flip in (0, 1):
            graph, tags, payloads = received(side, case, flip)
            alike.add((frozenset(graph), tuple(zip(tags, map(len, payloads), strict=True))))
            seen[flip].append(np.frombuffer(b"".join(payloads), dtype=np.uint8))
    assert len(alike) == 1
    assert next(iter(alike))[0], "an output without edges tests little"
    return [np.stack(some) for some in seen]


def differing_bits(one, other):
    """Positions at which bits of the two samples (uint8[sessions, bytes]) differ in all sessions."""
    ones = [np.unpackbits(sample, axis=1).sum(axis=0, dtype=np.int64) for sample in (one, other)]
    return np.flatnonzero(np.abs(ones[0] - ones[1]) == SESSIONS)


def frequencies_alike(one, other):
    """The p-value of bytes of both samples having the same frequencies."""
    table = np.array([np.bincount(sample.ravel(), minlength=256) for sample in (one, other)])
    return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


@pytest.mark.usefixtures("dealt_anew")
@pytest.mark.parametrize(
    ("side", "case"),
    [
        (GUEST, "hidden"),  # the host's is looked at below, with what it opens
        *itertools.product([HOST, GUEST], ["adaptive", "open"]),
        (HOST, "malicious"),  # in which both do the same
        pytest.param(GUEST, "malicious", marks=pytest.mark.slow),
    ],
)
def test_what_a_party_receives_is_the_same_for_inputs_of_the_same_output(side, case):
    check_alike(*views(side, case))


def check_alike(one, other):
    assert chance(8 * one.shape[1]) < 1e-4
    assert not differing_bits(one, other).size
    assert frequencies_alike(one, other) > 1e-6


def shares_of(opened):
    """Shares of the sessions with either input, as bytes."""
    shares = np.array(opened, dtype="<u4")
    return [np.ascontiguousarray(shares[flip::2]).view(np.uint8) for flip in (0, 1)]


def uniform(shares):
    """The p-value of shares modulo 16, which is what 11 rows ask for, being uniform."""
    return chisquare(np.bincount(np.ravel(shares), minlength=16)).pvalue


@pytest.mark.usefixtures("dealt_anew")
def test_what_the_host_receives_and_opens_with_its_key_is_the_same_too(opened):
    check_alike(*views(HOST, "hidden"))
    assert np.array(opened).shape == (2 * SESSIONS, 3)  # of the sets {0, 1}, {0, 2}, {0, 1, 2}
    assert not differing_bits(*shares_of(opened)).size
    for flip in (0, 1):
        assert uniform(opened[flip::2]) > 1e-6


@pytest.mark.usefixtures("dealt_anew")
def test_shares_without_a_mask_would_tell(opened, monkeypatch):
    words = rlwe_products.ProductSums._words

    def without(self, count, n_words, last_bits):
        drawn = words(self, count, n_words, last_bits)
        return np.zeros_like(drawn) if n_words == 1 else drawn  # masks are one word, floods three

    monkeypatch.setattr(rlwe_products.ProductSums, "_words", without)
    views(HOST, "hidden")
    assert differing_bits(*shares_of(opened)).size
    assert uniform(opened[::2]) < 1e-6


@pytest.mark.usefixtures("dealt_anew")
@pytest.mark.parametrize(
    "mode", ["hidden", "adaptive", "malicious", pytest.param("open", marks=pytest.mark.slow)]
)
def test_labels_without_a_random_permute_bit_would_tell(mode, monkeypatch):
    def weak(self, bits):
        zeros = np.frombuffer(self._random(16 * bits.size), dtype=np.uint64).reshape(*bits.shape, 2).copy()
        zeros[..., 0] &= ~np.uint64(1)
        yao.send_words(self._channel, "inputs", zeros ^ self._times_delta(bits))
        return zeros

    monkeypatch.setattr(yao.Garbler, "own_inputs", weak)
    assert differing_bits(*views(GUEST, mode)).size


def test_transfers_from_the_same_seeds_would_tell(monkeypatch):
    deal_seeds(monkeypatch)
    assert differing_bits(*views(HOST, "hidden")).size


@pytest.fixture
def revealed(monkeypatch):
    """Bits that are opened to both for the parameters, session by session."""
    seen = []
    reveal = parameters.SecretMemory.reveal

    def overhear(self, slots):
        bits = reveal(self, slots)
        if len(slots) > 20 and self.side == 0:
            seen.append(bits)
        return bits

    monkeypatch.setattr(parameters.SecretMemory, "reveal", overhear)
    return seen


@pytest.mark.usefixtures("dealt_anew")
def test_what_is_opened_of_a_family_with_few_rows_is_nothing(revealed, monkeypatch):
    for flip in (0, 1):
        received(HOST, "open", flip)
    assert len(revealed[0]) == 1 + 9 * 10
    assert not any(map(any, revealed))
    # Digits that the circuit does not mask would tell one input from the other.
    parameter_circuits.opening.cache_clear()
    monkeypatch.setattr(parameter_circuits, "mask", lambda build, keep, word: word)
    for flip in (0, 1):
        received(HOST, "open", flip)
    parameter_circuits.opening.cache_clear()
    assert revealed[2] != revealed[3]


@pytest.mark.usefixtures("dealt_anew")
@pytest.mark.parametrize("sabotaged", [False, True])
def test_both_files_of_shares_together_tell_no_more_than_counts(sabotaged, monkeypatch):
    """A moment of one party alone is wholly in its share: without fresh masks both files show its marginal."""
    if sabotaged:
        fresh = parameters.fresh_shares

        def without(channel, terms, widths, moments, families, random):
            return fresh(channel, terms, widths, moments, families, bytes)

        monkeypatch.setattr(parameters, "fresh_shares", without)
    bring, proposal = CASES["shares"]
    marginals = set()
    for _ in range(8):
        host, _ = learn(pair(), bring(HOST, 0), proposal)
        marginals.add(int(host.parameters.shares[0, 1].reshape(3, 3)[:, 1].sum() % 16))
    assert (len(marginals) == 1) == sabotaged
