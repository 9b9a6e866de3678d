"""Parameters of families with columns of both: as central counts give them, to three digits, or as shares."""

import json
import stat
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.messages import decode, encode
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.costs import bound_costs
from dagora.parties.vertical.parameter_circuits import FEWEST, opening
from dagora.parties.vertical.private_session import join_private
from tests.parties.crypto.integers import run_on
from tests.parties.network import start
from tests.parties.pairs import deal_seeds, replace
from tests.parties.vertical.leveled import leveled_data, leveled_owners
from tests.parties.vertical.owners import LONG, errors, learn, pair

LEVELS = (3, 2, 4, 2)


@pytest.fixture(autouse=True)
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


def chained(rows, seed=1):
    """x0 → x2, x1 → x3 and a little more; every configuration has many rows but for the rarest of x2."""
    rng = np.random.default_rng(seed)
    data = leveled_data(rng, rows, LEVELS)
    data[:, 0] = rng.integers(0, 3, rows)
    data[:, 2] = np.where(rng.random(rows) < 0.3, rng.integers(0, 4, rows), data[:, 0])
    data[:, 1] = rng.random(rows) < 0.4
    data[:, 3] = data[:, 1] ^ (rng.random(rows) < 0.2)
    return data


def central(data, parents, child):
    """θ in thousandths, a half rounded up, in whole numbers; and the fewest rows of a configuration."""
    shape = [LEVELS[parent] for parent in parents]
    table, fewest = np.zeros([*shape, LEVELS[child]], dtype=int), len(data)
    for configuration in product(*map(range, shape)):
        rows = (data[:, list(parents)] == configuration).all(axis=1)
        fewest = min(fewest, int(rows.sum()))
        for level in range(LEVELS[child]):
            count = int((data[rows, child] == level).sum())
            theta = Fraction(count + 1, int(rows.sum()) + LEVELS[child])
            table[(*configuration, level)] = int(1000 * theta + Fraction(1, 2))
    return table, fewest


def test_thousandths_of_the_circuit_are_those_of_fractions():
    rng = np.random.default_rng(0)
    counts = [
        [int(v) for v in rng.multinomial(n, rng.dirichlet([0.3, 1, 1]))] for n in (10, 11, 97, 498, 1000)
    ]
    counts += [[10, 0, 0], [0, 0, 10], [1000, 0, 0], [1, 1, 7], [0, 0, 0]]
    bits = (1000 + 2).bit_length()
    for cells, word in zip(counts, run_on(opening(bits, (3,)), [bits] * 3, counts), strict=True):
        n = sum(cells)
        expected = [int(1000 * Fraction(count + 1, n + 3) + Fraction(1, 2)) for count in cells]
        got = [word >> (1 + 10 * k) & 1023 for k in range(3)]
        assert (word & 1, got) == ((1, expected) if n >= FEWEST else (0, [0, 0, 0]))


def test_one_configuration_of_too_few_rows_withholds_the_family():
    for rows, opened in ((9, 0), (10, 1)):
        # The first member is the parent: 0 has 50 rows, 1 has 9 or 10.
        (word,) = run_on(opening(7, (2, 2)), [7] * 4, [[20, 4, 30, rows - 4]])
        assert word & 1 == opened
        assert opened or word == 0


def families_of(learned):
    graph, names = learned.outcome.graph, learned.terms.names
    return {
        names.index(child): tuple(names.index(parent) for parent in graph.parents(child)) for child in names
    }


@pytest.mark.full
@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
def test_opened_parameters_are_the_central_ones_to_three_digits(mode):
    data = chained(400)
    proposal = TermsProposal(order="x0,x1,x2,x3", max_parents=2, parameters="open", mode=mode)
    host, guest = learn(pair(), leveled_owners(data, LEVELS, 2), proposal)
    assert list(host.parameters.opened) == list(guest.parameters.opened)
    checked = 0
    for family, table in host.parameters.opened.items():
        expected, fewest = central(data, family[:-1], family[-1])
        assert families_of(host)[family[-1]] == family[:-1]
        assert len({member < 2 for member in family}) == 2
        assert (table is None) == (fewest < FEWEST)
        if table is not None:
            assert np.array_equal(table, expected)
            assert np.array_equal(table, guest.parameters.opened[family])
            checked += 1
    assert checked >= 2
    for learned, side in ((host, {0, 1}), (guest, {2, 3})):
        for family, table in learned.parameters.own.items():
            assert set(family) <= side
            assert np.array_equal(np.floor(1000 * table + 0.5), central(data, family[:-1], family[-1])[0])
    assert {f[-1] for f in (*host.parameters.opened, *host.parameters.own, *guest.parameters.own)} == {
        0,
        1,
        2,
        3,
    }
    assert "the probabilities of" in " ".join(host.leakage)
    assert host.outcome.stats["ands"] <= bound_costs(host.terms, 400).gates


@pytest.mark.full
def test_who_owns_the_parents_works_out_every_count():
    """What the documents warn of: N_j is known to that party, so three digits are enough up to 1000 rows."""
    data = chained(900)
    host, _ = learn(pair(), leveled_owners(data, LEVELS, 2), TermsProposal(max_parents=1, parameters="open"))
    table = host.parameters.opened[0, 2]
    for code in range(3):
        mine = data[:, 0] == code
        guessed = np.rint(table[code] / 1000 * (mine.sum() + 4) - 1)
        assert guessed.tolist() == np.bincount(data[mine, 2], minlength=4).tolist()


def test_a_family_with_a_rare_configuration_is_withheld_and_its_levels_are_not_named():
    data = chained(300)
    data[:, 1] = np.arange(300) < 5  # five rows only
    data[:, 3] = data[:, 1]
    parties = pair()
    proposal = TermsProposal(max_parents=1, parameters="open")
    host, guest = learn(parties, leveled_owners(data, LEVELS, 2), proposal)
    assert host.parameters.opened[1, 3] is guest.parameters.opened[1, 3] is None
    assert host.parameters.opened[0, 2] is not None
    named = [
        decode(payload)["levels"]
        for wire in parties
        for _, tag, payload in wire.sent
        if tag == "parameters/levels"
    ]
    assert sorted(map(len, named)) == [1, 1]
    assert sorted(len(levels) for some in named for levels in some) == [3, 4]


@pytest.mark.full
def test_shares_add_up_to_counts_and_are_uniform_alone():
    data = chained(60)
    proposal = TermsProposal(max_parents=1, parameters="shares")
    modulus = 1 << (60 + 3).bit_length()
    seen = []
    for _ in range(6):
        host, guest = learn(pair(), leveled_owners(data, LEVELS, 2), proposal)
        assert host.parameters.opened == guest.parameters.opened == {}
        assert (0, 2) in host.parameters.shares
        for (parent, child), words in host.parameters.shares.items():
            total = (words + guest.parameters.shares[parent, child]) % modulus
            table = total.reshape(LEVELS[child], LEVELS[parent])
            for level, code in product(range(LEVELS[child]), range(LEVELS[parent])):
                rows = (data[:, child] == level) & (data[:, parent] == code)
                assert table[level, code] == rows.sum()
        # The host's and the guest's marginals are wholly in their shares as they come from the moments.
        seen.append([learned.parameters.shares[0, 2] for learned in (host, guest)])
    for side in (0, 1):
        first, sums = seen[0][side], [int(some[side][:3].sum() % modulus) for some in seen]
        assert any(not np.array_equal(first, some[side]) for some in seen[1:])
        assert len(set(sums)) > 1, "sums over a level would be a marginal of one party"


def both_results(data, tmp_path, parameters, guest_file=True):
    network = memory_network(["host", "guest"], timeout=LONG)
    proposal = TermsProposal(max_parents=1, parameters=parameters)
    files = {"host": tmp_path / "h.json", "guest": tmp_path / "g.json" if guest_file else None}
    return [
        start(join_private, network[name], name, brought, proposal, shares=files[name])
        for name, brought in zip(("host", "guest"), leveled_owners(data, LEVELS, 2), strict=True)
    ]


def test_files_of_shares(tmp_path):
    data = chained(60)
    for party in both_results(data, tmp_path, "shares"):
        assert "tables" not in party.result(LONG).settings
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("h.json", "g.json"))
    assert stat.S_IMODE((tmp_path / "h.json").stat().st_mode) == 0o600
    assert (one["role"], other["role"], one["rows"]) == ("host", "guest", 60)
    assert one["terms"] == other["terms"]
    for a, b in zip(one["families"], other["families"], strict=True):
        assert a["variables"] == b["variables"]
        counts = [(x + y) % one["modulus"] for x, y in zip(a["shares"], b["shares"], strict=True)]
        assert sum(counts) == 60


def test_shares_without_a_file_are_not_agreed_to(tmp_path):
    ended = [
        party.exception(LONG) for party in both_results(chained(60), tmp_path, "shares", guest_file=False)
    ]
    assert "needs a file: give shares" in str(ended[1])
    assert "its own data or options were refused" in str(ended[0])
    assert not (tmp_path / "h.json").exists()


def small():
    return leveled_owners(chained(80), LEVELS, 2)


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize(
    ("lie", "line"),
    [
        ({"levels": []}, "it names the levels of 0 columns"),
        ({"levels": [["a", "b"]] * 2}, "levels"),
        ({"levels": [[1, 2, 3, 4]]}, "levels"),
        ({"more": 1}, "unknown field"),
    ],
)
def test_lies_about_levels(liar, lie, line):
    change = [None, None]
    change[liar] = replace("parameters/levels", lambda payload: encode({**decode(payload), **lie}))
    ended = errors(pair(change=change), small(), TermsProposal(max_parents=1, parameters="open"))
    assert isinstance(ended[1 - liar], ProtocolError)
    assert line in str(ended[1 - liar])


def test_masks_of_the_wrong_size_end_the_guest():
    change = [replace("parameters/masks", lambda payload: encode({"masks": np.zeros(3, dtype="<u8")})), None]
    ended = errors(pair(change=change), small(), TermsProposal(max_parents=1, parameters="shares"))
    assert isinstance(ended[1], ProtocolError)
