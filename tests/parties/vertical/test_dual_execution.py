"""Security against an owner that cheats: the central graph if nobody does, and no result if somebody is seen to."""

import struct

import numpy as np
import pytest
from cryptography.hazmat.primitives import hashes

from dagora.base.errors import DataError, DisagreementError, OptionError
from dagora.parties.vertical.agreement import AgreedTerms, TermsProposal
from dagora.parties.vertical.costs import bound_costs, check_gates
from dagora.parties.vertical.counting_circuits import KEY_BITS
from dagora.parties.vertical.dual_execution import MAY_BE_KNOWN, input_bits
from dagora.parties.vertical.private_k2 import PartyData, private_k2
from tests.parties.pairs import deal_seeds, traffic
from tests.parties.vertical.central import central_edges
from tests.parties.vertical.cheaters import MALICIOUS, one_line, small
from tests.parties.vertical.leveled import central_edges as central_edges_of_levels
from tests.parties.vertical.leveled import leveled_data, leveled_owners
from tests.parties.vertical.owners import edges, errors, learn, owners, pair, written
from tests.parties.vertical.test_k2_schedule import random_data
from tests.parties.wiretap import Death


@pytest.fixture
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("rows", [2, 40, 250])
def test_the_structure_is_the_central_one(rows):
    rng = np.random.default_rng(rows)
    found = 0
    for columns, n_host, limit in ((2, 1, 1), (4, 1, 2), (5, 3, 3)):
        data = random_data(rng, rows, columns)
        order = rng.permutation(columns).tolist()
        proposal = TermsProposal(order=written(order), max_parents=limit, security="malicious")
        host, guest = learn(pair(), owners(data, n_host, seed=rows, extra=0), proposal)
        assert edges(host) == edges(guest) == central_edges(data, order, limit)
        assert host.outcome.stats["rows"] == rows
        found += len(edges(host))
        assert host.leakage == guest.leakage
        assert "one bit more" in " ".join(host.leakage)
    assert found > 0 or rows < 5


@pytest.mark.usefixtures("dealt")
def test_columns_of_several_levels_and_several_blocks_of_rows(monkeypatch):
    monkeypatch.setattr("dagora.parties.vertical.counting_circuits.MOST_ROWS_AT_ONCE", 31)
    levels = (3, 2, 4)
    data = leveled_data(np.random.default_rng(1), 120, levels)
    proposal = TermsProposal(max_parents=2, security="malicious")
    host, guest = learn(pair(), leveled_owners(data, levels, 2, extra=0), proposal)
    assert edges(host) == edges(guest) == central_edges_of_levels(data, levels, range(3), 2)
    assert edges(host)


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
def test_gates_and_bytes_are_as_stated():
    data = random_data(np.random.default_rng(3), 300, 4)
    parties = pair()
    proposal = TermsProposal(max_parents=2, security="malicious")
    host, guest = learn(parties, owners(data, 2, extra=0), proposal)
    stated = bound_costs(host.terms, 300)
    assert host.outcome.stats["ands"] == guest.outcome.stats["ands"] == stated.gates
    sent = sum(len(payload) for wire in parties for _, _, payload in wire.sent)
    assert 0.9 * stated.size < sent + 34_000 <= stated.size  # what is dealt here are 34 kB of base transfers
    check_gates(host.terms, 300)
    many = tuple(f"x{column}" for column in range(12))
    terms = AgreedTerms(many[:6], many[6:], tuple(range(12)), 3, "f", "hidden", "rlwe", security="malicious")
    with pytest.raises(DisagreementError, match="billion AND gates"):
        check_gates(terms, 2_000_000)


@pytest.mark.usefixtures("dealt")
def test_messages_have_the_same_sizes_whatever_the_data():
    seen = []
    for data in (np.zeros((45, 3)), np.ones((45, 3)), np.random.default_rng(9).integers(0, 2, (45, 3))):
        parties = pair()
        proposal = TermsProposal(max_parents=2, security="malicious")
        learn(parties, owners(data.astype(np.int64), 2, extra=0), proposal)
        seen.append([traffic(wire) for wire in parties])
    assert seen[0] == seen[1] == seen[2]


# --- rows, terms, and peers that leave


@pytest.mark.usefixtures("dealt")
def test_owners_bring_the_same_rows():
    host, guest = small()
    fewer = PartyData(guest.table.take(np.arange(15)), guest.keys[:15])
    for error in errors(pair(), (host, fewer), MALICIOUS):
        assert "the host has 16 keys and the guest 15" in one_line(error)
        assert MAY_BE_KNOWN not in str(error)
    other = PartyData(guest.table, [*guest.keys[:-1], "somebody else"])
    for error in errors(pair(), (host, other), MALICIOUS):
        assert "the keys of the two parties are not the same" in one_line(error)
        assert str(error).endswith(f"both bring the same rows{MAY_BE_KNOWN}")
    few = TermsProposal(max_parents=1, security="malicious", min_rows=17)
    assert all("at least 17 are needed" in one_line(error) for error in errors(pair(), small(), few))


def test_a_key_twice_is_refused_before_contact_with_the_name_of_its_column():
    host, _ = small()
    twice = PartyData(host.table, [*host.keys[:-1], host.keys[0]], "a.csv, column 'ID'")
    parties = pair()
    with pytest.raises(DataError, match=r"^a\.csv, column 'ID': rows 1 and 16 have the same key"):
        private_k2(parties[0], "host", twice, MALICIOUS)
    assert not parties[0].sent


def test_inputs_are_in_the_order_of_the_keys():
    columns = np.array([[1, 0, 0]], dtype=np.uint8)
    bits = input_bits(["b", "a", "c"], columns)
    assert bits[:3].tolist() == [0, 1, 0]
    assert len(bits) == 3 + KEY_BITS
    other = input_bits(["a", "b", "c"], columns)
    np.testing.assert_array_equal(bits[3:], other[3:])
    assert (input_bits(["ab", "c", "d"], columns)[3:] != input_bits(["a", "bc", "d"], columns)[3:]).any()


def test_the_hash_of_the_keys_is_the_first_half_of_a_sha_256():
    bits = input_bits(["dé", " ann", 7], np.array([[1, 0, 0]], dtype=np.uint8))
    content = b"".join(struct.pack("<Q", len(text)) + text for text in (b"7", b"ann", b"d\xc3\xa9"))
    digest = hashes.Hash(hashes.SHA256())
    digest.update(b"dagora rows " + content)
    assert KEY_BITS == 128
    assert np.packbits(bits[3:]).tobytes() == digest.finalize()[:16]


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("wants", ["host", "guest"])
def test_both_must_ask_for_it(wants):
    usual = TermsProposal(max_parents=1)
    both = (MALICIOUS, TermsProposal()) if wants == "host" else (usual, TermsProposal(security="malicious"))
    told = ("malicious", "semi-honest") if wants == "host" else ("semi-honest", "malicious")
    parties = pair()
    for error in errors(parties, small(), *both):
        line = (
            f"option 'security' is '{told[0]}' at the host and '{told[1]}' at the guest: both must ask for it"
        )
        assert one_line(error).endswith(line)
    assert {tag for wire in parties for _, tag, _ in wire.sent} == {"agreement/wishes"}


@pytest.mark.parametrize(
    "options",
    [{"mode": "adaptive"}, {"parameters": "open"}, {"parameters": "shares"}, {"crypto": "paillier"}],
)
def test_what_it_does_not_go_with(options):
    with pytest.raises(OptionError, match=f"in hidden mode: leave out {next(iter(options))}"):
        TermsProposal(security="malicious", **options)
    with pytest.raises(OptionError, match="option 'security' must be semi-honest or malicious, not 'brave'"):
        TermsProposal(security="brave")


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("mortal", [0, 1])
def test_a_peer_that_dies_at_any_step(mortal):
    parties = pair()
    learn(parties, small(), MALICIOUS)
    tags = list(dict.fromkeys(tag for _, tag, _ in parties[mortal].sent))
    assert len(tags) > 12
    before_inputs = {tag for tag in tags if tag.startswith(("agreement/", "rows/"))}
    assert before_inputs
    for tag in tags:
        die = ["", ""]
        die[mortal] = f"before {tag}"
        ended = errors(pair(die=die), small(), MALICIOUS)
        assert isinstance(ended[mortal], Death)
        line = one_line(ended[1 - mortal])
        assert line.startswith("the connection to party '"), tag
        # Whatever the end is: once inputs may have entered, its line says what may be known.
        assert line.endswith(MAY_BE_KNOWN) == (tag not in before_inputs), tag
