"""What a party sees is alike for inputs of the others that have the same output, and not so without masks.

A part of a product alone is random with or without its mask, because the parts of the factors are: what would
tell is a part together with those that the party holds already. So views of products are compared jointly.
"""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from dagora.parties.crypto.garbling.builder import Builder
from dagora.parties.replicated import moments, replicated_party
from dagora.parties.replicated.evaluation import SharedBits
from dagora.parties.replicated.layers import sort_into_layers
from dagora.parties.replicated.replicated_party import ReplicatedParty
from dagora.parties.replicated.terms import GroupProposal, GroupTerms
from dagora.parties.transport.messages import decode
from dagora.parties.vertical.circuit_plan import Planner
from tests.parties.replicated.groups import NAMES, holdings, learn, wires
from tests.parties.replicated.test_evaluation import together
from tests.parties.vertical.owners import edges
from tests.parties.vertical.test_k2_schedule import random_data

INSTANCES = 4096
SESSIONS = 16
ALWAYS = SESSIONS  # a bit that tells the input; by chance 2^-31 for each of 107,000 bits
# Field and how many different ones four owners send in a session: a seed of each computing party, two seeds
# of each owner's columns, three parts of each owner's hash of keys.
FRESH = {"replicated/seed": ("seed", 3), "columns/seeds": ("seeds", 8), "rows/hash": ("parts", 12)}
FACTORS = ((0, 1), (1, 0))  # two inputs with the same product


def alike(one, other):
    """The p-value of small numbers of both samples having the same frequencies."""
    width = int(max(one.max(), other.max())) + 1
    table = np.array([np.bincount(sample.ravel(), minlength=width) for sample in (one, other)])
    return chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


def dealt(party, values, dtype):
    """A party's parts of two factors, shared anew for every instance: integers[part, factor, instance]."""
    rng = np.random.default_rng(values)
    top = int(np.iinfo(dtype).max)
    masks = rng.integers(0, top, (2, len(values), INSTANCES), dtype=dtype, endpoint=True)
    factors = np.array(values, dtype=dtype)[:, None]
    parts = [masks[0], masks[1], factors - masks[0] - masks[1]]
    return np.stack([parts[party.position], parts[(party.position + 1) % 3]])


def views_of_gates(values):
    """For each party: its parts of two factors and of their AND, as a number from 0 to 63, by instance."""
    planner, build = Planner(), Builder()
    circuit = build.circuit([build.conjunction(*build.inputs(2))])
    slots = planner.reserve(2, INSTANCES)
    result = planner.run(circuit, slots)
    program = sort_into_layers(planner.stages, planner.n_slots)

    def view(party):
        shared = SharedBits(party, program)
        shared.put(slots, *(dealt(party, values, np.uint8) & 1))
        shared.run()
        assert not shared.open(result).any()
        return shared.slots[slots[0]] + 4 * shared.slots[slots[1]] + 16 * shared.slots[result[0]]

    return together(view)


def views_of_products(values):
    """The same for the lowest bits of the parts of integers and of their product, as columns of moments."""
    terms = GroupTerms(NAMES[:3], (("a",), ("b",), ("c",)), (0, 1, 2), 3, "f")
    plan = moments.ColumnPlan(terms, INSTANCES, np.dtype(np.uint16))
    place = {members: k for k, members in enumerate([(0,), (1,), (0, 1)])}

    def view(party):
        parts = np.zeros((2, 3, INSTANCES), dtype=np.uint16)
        parts[:, :2] = dealt(party, values, np.uint16)
        moments.multiply_columns(party, plan, parts, place)
        return bits_of(parts)

    return together(view)


def views_of_dots(values):
    """The same where the product is a dot product of columns of one row."""
    left = np.arange(INSTANCES)

    def view(party):
        dtype = np.dtype(np.uint16)
        factors = dealt(party, values, dtype)
        x, y = factors.reshape(2, 2 * INSTANCES, 1)
        dots = np.zeros(INSTANCES, dtype=np.uint64)
        moments.add_dots(x, y, left, left + INSTANCES, dots)
        parts = np.concatenate([factors, np.stack(moments.share_dots(party, dots, dtype))[:, None]], axis=1)
        return bits_of(parts)

    return together(view)


def bits_of(parts):
    """The lowest bits of integers[part, 3, instance] as numbers from 0 to 63."""
    return (parts & 1).astype(np.uint8).transpose(1, 0, 2).reshape(6, -1).T @ (1 << np.arange(6))


KINDS = pytest.mark.parametrize("views", [views_of_gates, views_of_products, views_of_dots])


@KINDS
def test_what_a_party_sees_of_a_product_is_the_same_for_factors_of_the_same_product(views):
    for one, other in zip(*(views(values) for values in FACTORS), strict=True):
        assert len(np.unique(one)) == 64
        assert alike(one, other) > 1e-6


@KINDS
def test_products_without_a_part_of_zero_would_tell(views, monkeypatch):
    monkeypatch.setattr(ReplicatedParty, "zero_bytes", lambda self, count: np.zeros(count, dtype=np.uint8))
    monkeypatch.setattr(ReplicatedParty, "zero_integers", lambda self, shape, dtype: np.zeros(shape, dtype))
    for one, other in zip(*(views(values) for values in FACTORS), strict=True):
        assert alike(one, other) < 1e-6


@KINDS
def test_the_same_seed_at_all_would_tell(views, monkeypatch):
    """Then every part of zero is zero."""
    stream = replicated_party.Stream
    monkeypatch.setattr(replicated_party, "Stream", lambda seed: stream(bytes(16)))
    for one, other in zip(*(views(values) for values in FACTORS), strict=True):
        assert alike(one, other) < 1e-6


def sessions():
    """Received bytes of every party in many sessions, by party and input, and what must be fresh, by tag.

    Of the two inputs one has all columns inverted and other keys; the output is the same.
    """
    seen = {name: ([], []) for name in NAMES[:4]}
    fresh = {tag: [] for tag in FRESH}
    same = set()
    for _ in range(SESSIONS):
        for flip in (0, 1):
            data = random_data(np.random.default_rng(0), 3, 4) ^ flip
            parties = wires(4)
            brought = holdings(data, [1, 1, 1, 1], keys=("row", "key")[flip])
            learned = learn(parties, brought, GroupProposal(max_parents=1, min_rows=2))
            for tag, parts in drawn(parties).items():
                fresh[tag].append(parts)
            for wire in parties:
                # Which of two senders comes first is chance.
                messages = sorted(wire.received, key=lambda each: each[:2])
                sizes = tuple((sender, tag, len(payload)) for sender, tag, payload in messages)
                same.add((wire.name, frozenset(edges(learned[0])), sizes))
                content = b"".join(payload for _, _, payload in messages)
                seen[wire.name][flip].append(np.frombuffer(content, dtype=np.uint8))
    assert len(same) == 4  # sizes and outputs are those of the party in all sessions
    return {name: [np.stack(some) for some in both] for name, both in seen.items()}, fresh


def drawn(parties):
    """The different seeds and parts of hashes (16 bytes each) that all received in a session, by tag."""
    found = {tag: set() for tag in FRESH}
    for wire in parties:
        for _, tag, payload in wire.received:
            if tag in FRESH:
                message = decode(payload)
                field = message[FRESH[tag][0]]
                content = field.tobytes() if isinstance(field, np.ndarray) else field
                found[tag] |= {content[k : k + 16] for k in range(0, len(content), 16)}
    return found


def differing_bits(one, other):
    """Positions at which bits of the two samples (uint8[sessions, bytes]) differ in all sessions."""
    ones = [np.unpackbits(sample, axis=1).sum(axis=0, dtype=np.int64) for sample in (one, other)]
    return np.flatnonzero(np.abs(ones[0] - ones[1]) >= ALWAYS)


@pytest.mark.full
def test_all_that_a_party_receives_is_the_same_for_inputs_of_the_same_output():
    seen, fresh = sessions()
    for one, other in seen.values():
        assert one.shape[1] > 300
        assert not differing_bits(one, other).size
        assert alike(one, other) > 1e-6
    for tag, each in fresh.items():
        # As many different ones as are drawn: none is a constant, used for two ends, or used again.
        assert [len(parts) for parts in each] == [FRESH[tag][1]] * (2 * SESSIONS), tag
        assert len(set().union(*each)) == FRESH[tag][1] * 2 * SESSIONS, tag


@pytest.mark.slow  # as many sessions again
def test_columns_without_a_mask_would_tell(monkeypatch):
    monkeypatch.setattr(moments, "Stream", lambda seed: replicated_party.Stream(bytes(16)))
    seen, _ = sessions()
    assert [name for name in NAMES[:4] if differing_bits(*seen[name]).size] == ["bob", "cleo"]
