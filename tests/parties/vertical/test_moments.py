"""Shares of moments add up to counts of rows, for every set that K2 may ask for, and tell nothing alone."""

from itertools import combinations

import numpy as np
import pytest

from dagora.parties.vertical import dot_paillier
from dagora.parties.vertical.agreement import TermsProposal, combine_proposals
from dagora.parties.vertical.columns import indicator_sets, indicators
from dagora.parties.vertical.counts import counts_from_moments
from dagora.parties.vertical.moments import cross_pairs, product_columns, share_moments
from dagora.parties.vertical.widths import BitWidths
from tests.parties.pairs import futures, wires
from tests.parties.vertical.owners import LONG, pair


def shared(data, n_host, limit, crypto="rlwe", parties=None):
    names = [f"x{k}" for k in range(data.shape[1])]
    proposal = TermsProposal(max_parents=limit, crypto=crypto)
    terms = combine_proposals(tuple(names[:n_host]), tuple(names[n_host:]), proposal, TermsProposal())
    widths = BitWidths(len(data), terms.limit)
    columns = data.T.astype(np.uint8)
    working = futures(
        parties or pair(),
        lambda wire: share_moments(wire, "host", terms, columns[:n_host].copy(), widths),
        lambda wire: share_moments(wire, "guest", terms, columns[n_host:].copy(), widths),
    )
    return [each.result(LONG) for each in working], widths


def check(data, shares, widths, limit):
    sets = [s for size in range(1, limit + 2) for s in combinations(range(data.shape[1]), size)]
    assert all(set(share.shares) == set(sets) for share in shares)
    total = (shares[0].of(sets) + shares[1].of(sets)) % (1 << widths.bits)
    assert total.tolist() == [int(data[:, list(members)].all(axis=1).sum()) for members in sets]


@pytest.mark.parametrize(("columns", "n_host", "limit"), [(2, 1, 1), (5, 2, 3), (6, 5, 2), (4, 1, 3)])
def test_shares_add_up(columns, n_host, limit):
    data = np.random.default_rng(columns).integers(0, 2, (37, columns))
    shares, widths = shared(data, n_host, limit)
    check(data, shares, widths, limit)


def test_over_every_network(network):
    data = np.random.default_rng(1).integers(0, 2, (50, 4))
    shares, widths = shared(data, 2, 2, parties=wires(network.open("host", "b", timeout=LONG)))
    check(data, shares, widths, 2)


def test_by_paillier(monkeypatch):
    monkeypatch.setattr(dot_paillier, "KEY_BITS", 640)
    data = np.random.default_rng(2).integers(0, 2, (20, 4))
    shares, widths = shared(data, 2, 2, "paillier")
    check(data, shares, widths, 2)


def test_counts_of_a_family_from_shares():
    rng = np.random.default_rng(3)
    data = rng.integers(0, 2, (60, 5))
    shares, widths = shared(data, 2, 3)
    families = [(4, 0, 3), (1, 2, 0), (3, 1, 4)]
    parts = [
        counts_from_moments(share.of_families(families), widths.bits, plus=share.host) for share in shares
    ]
    counts = (parts[0] + parts[1]) % (1 << widths.bits)
    for column, members in enumerate(families):
        patterns = (data[:, list(members)] << np.arange(3)).sum(axis=1)
        expected = np.bincount(patterns, minlength=8)
        assert counts[:8, column].tolist() == expected.tolist()
        assert counts[8:, column].tolist() == (expected[:4] + expected[4:] + 1).tolist()


def test_a_family_of_one_owner_is_counted_by_it_alone():
    data = np.random.default_rng(4).integers(0, 2, (30, 4))
    shares, _ = shared(data, 2, 2)
    for share, family in zip(shares, [(0, 1), (3, 2)], strict=True):
        moments = share.of_families([family], alone=True)[:, 0]
        expected = [
            data[:, [v for k, v in enumerate(family) if mask >> k & 1]].all(axis=1).sum() for mask in range(4)
        ]
        assert moments.tolist() == expected


def test_each_column_is_encrypted_once():
    # The numbers of the design: ten columns each and three parents.
    number = indicators([2] * 20)
    host, guest = indicator_sets(number[:10], 3), indicator_sets(number[10:], 3)
    assert (len(host), len(guest)) == (175, 175)
    pairs = cross_pairs(host, guest, 4)
    assert len(pairs) == 5425
    assert len({tuple(pair) for pair in pairs.tolist()}) == 5425


def test_product_columns():
    columns = np.random.default_rng(5).integers(0, 2, (4, 25)).astype(np.uint8)
    sets = indicator_sets([[k] for k in range(7, 11)], 3)
    products = product_columns(columns, sets, 7)
    for members, product in zip(sets, products, strict=True):
        assert (product == columns[[v - 7 for v in members]].all(axis=0)).all()
