"""Two owners learn what the central search learns on the joined rows; sizes tell nothing; bad peers get one line."""

import numpy as np
import pytest

from dagora.base.errors import DisagreementError, ProtocolError
from dagora.parties.vertical import dot_paillier
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.private_k2 import PartyData
from tests.parties.pairs import deal_seeds, traffic, wires
from tests.parties.vertical.central import central_edges, formula_edges
from tests.parties.vertical.owners import LONG, edges, errors, learn, owners, pair, written
from tests.parties.vertical.test_k2_schedule import random_data
from tests.parties.wiretap import Death

MODES = ["hidden", "adaptive"]


@pytest.fixture
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [2, 3, 12, 40, 90, 250])
def test_the_structure_is_the_central_one(mode, rows):
    rng = np.random.default_rng(rows)
    found = 0
    for columns, n_host, limit in ((2, 1, 1), (4, 1, 2), (5, 3, 3)):
        data = random_data(rng, rows, columns)
        order = rng.permutation(columns).tolist()
        proposal = TermsProposal(order=written(order), max_parents=limit, mode=mode)
        host, guest = learn(pair(), owners(data, n_host, seed=rows), proposal)
        assert edges(host) == edges(guest) == central_edges(data, order, limit)
        assert host.outcome.stats["rows"] == rows
        found += len(edges(host))
    assert found > 0 or rows < 5


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
def test_over_every_network_with_real_transfers(network, mode):
    data = random_data(np.random.default_rng(7), 60, 4)
    parties = wires(network.open("host", "b", timeout=LONG))
    host, guest = learn(parties, owners(data, 2), TermsProposal(max_parents=2, mode=mode))
    assert edges(host) == edges(guest) == central_edges(data, range(4), 2)
    assert host.outcome.stats["ands"] == guest.outcome.stats["ands"] > 1000
    assert host.outcome.stats["search_bytes_sent"] == guest.outcome.stats["search_bytes_received"]
    assert host.leakage == guest.leakage
    assert ("sequence" in " ".join(host.leakage)) == (mode == "adaptive")


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("mode", MODES)
def test_the_score_of_the_paper_and_its_encryption(mode, monkeypatch):
    monkeypatch.setattr(dot_paillier, "KEY_BITS", 640)
    data = random_data(np.random.default_rng(8), 50, 4)
    proposal = TermsProposal(max_parents=2, mode=mode, score="g", crypto="paillier")
    host, guest = learn(pair(), owners(data, 2), proposal)
    assert edges(host) == edges(guest) == formula_edges(data, range(4), 2, "g")


def constant_or_random(kind, rows, columns):
    if kind == "random":
        return np.random.default_rng(9).integers(0, 2, (rows, columns))
    return np.full((rows, columns), int(kind == "ones"))


@pytest.mark.usefixtures("dealt")
def test_hidden_messages_have_the_same_sizes_whatever_the_data():
    seen = []
    for kind in ("zeros", "ones", "random"):
        parties = pair()
        learn(parties, owners(constant_or_random(kind, 45, 4), 2), TermsProposal(max_parents=2))
        seen.append([traffic(wire) for wire in parties])
    assert seen[0] == seen[1] == seen[2]
    assert all(len(messages) > 10 for messages in seen[0])


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
def test_adaptive_messages_have_sizes_that_the_winners_explain():
    data = random_data(np.random.default_rng(10), 80, 5)
    seen, found = [], []
    for flip in (0, 1):
        parties = pair()
        host, _ = learn(parties, owners(data ^ flip, 2), TermsProposal(max_parents=2, mode="adaptive"))
        seen.append([traffic(wire) for wire in parties])
        found.append(edges(host))
    assert found[0] == found[1]
    assert seen[0] == seen[1]


@pytest.mark.usefixtures("dealt")
def test_no_column_is_on_the_wire():
    data = np.random.default_rng(11).integers(0, 2, (400, 2))
    parties, holdings = pair(), owners(data, 1, extra=0)
    learn(parties, holdings, TermsProposal(max_parents=1))
    for wire, party_data in zip(parties, holdings, strict=True):
        bits = party_data.table.codes(0)
        by_key = bits[np.argsort(party_data.keys)]
        everything = b"".join(payload for _, _, payload in wire.sent)
        for column in (bits, by_key):
            for code in (column.astype(np.uint8).tobytes(), np.packbits(column).tobytes()):
                assert code[:32] not in everything
        assert b"row-" not in everything


@pytest.mark.full
def test_nothing_of_two_runs_is_the_same_but_the_terms():
    data = random_data(np.random.default_rng(12), 30, 2)
    runs = []
    for _ in range(2):
        parties = pair()
        learn(parties, owners(data, 1), TermsProposal(max_parents=1))
        runs.append(
            {p for wire in parties for _, tag, p in wire.sent if "agreement" not in tag if len(p) > 64}
        )
    assert runs[0]
    assert not runs[0] & runs[1]


@pytest.mark.usefixtures("dealt")
def test_no_common_key_ends_both_with_the_same_line():
    data = random_data(np.random.default_rng(13), 5, 2)
    host, guest = owners(data, 1)
    host = PartyData(host.table, [f"other {key}" for key in host.keys])
    for error in errors(pair(), (host, guest), TermsProposal()):
        assert isinstance(error, DisagreementError | ProtocolError)
        assert "no key in common" in str(error)


def steps(mode):
    """The tags of a run, by who sends them."""
    parties = pair()
    learn(parties, small(), TermsProposal(max_parents=1, mode=mode))
    return [list(dict.fromkeys(tag for _, tag, _ in wire.sent)) for wire in parties]


def small():
    return owners(random_data(np.random.default_rng(14), 12, 2), 1)


def one_line(error):
    assert isinstance(error, ProtocolError), repr(error)
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mortal", [0, 1])
def test_a_peer_that_dies_at_any_step(mode, mortal):
    for tag in steps(mode)[mortal]:
        die = ["", ""]
        die[mortal] = f"before {tag}"
        ended = errors(pair(die=die), small(), TermsProposal(max_parents=1, mode=mode))
        assert isinstance(ended[mortal], Death)
        assert one_line(ended[1 - mortal]).startswith("the connection to party '"), tag


@pytest.mark.full
@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("kind", ["short", "inverted"])
def test_garbage_at_any_step(liar, kind):
    tags = steps("hidden")[liar]
    assert len(tags) > 6
    for spoilt in tags:

        def change(to, tag, payload, spoilt=spoilt):
            if tag != spoilt:
                return payload
            return b"garbage" if kind == "short" else bytes(byte ^ 255 for byte in bytes(payload))

        changes = [None, None]
        changes[liar] = change
        ended = errors(pair(change=changes), small(), TermsProposal(max_parents=1))
        assert "'" in one_line(ended[1 - liar]), spoilt
        # Who has sent the last message has ended well before the other could complain.
        assert spoilt == "result/hash" or one_line(ended[liar])


@pytest.mark.usefixtures("dealt")
def test_other_options_end_both_before_anything_depends_on_rows():
    parties = pair()
    for error in errors(parties, small(), TermsProposal(max_parents=1), TermsProposal(max_parents=2)):
        assert "option 'max_parents' is '1' at the host and '2' at the guest" in one_line(error)
    assert {tag for wire in parties for _, tag, _ in wire.sent} == {"agreement/wishes"}
