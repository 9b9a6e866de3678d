"""The rules by which shares leave a site, each broken once."""

import itertools

import pytest

from dagora.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.vault import Vault

NAMES = ("a", "b", "c", "d", "e")


def vault(threshold=4, minimum=3, rounds=3):
    held = Vault("a", NAMES, threshold=threshold, minimum=minimum)
    held.keep_keys({name: 100 + i for i, name in enumerate(NAMES)})
    for round_ in range(rounds):
        held.keep_seeds(round_, {name: 10 * round_ + i for i, name in enumerate(NAMES)})
    held.answered(0)
    return held


def test_shares_of_survivors_seeds_and_of_lost_keys():
    assert vault().open(0, ["a", "b", "c", "e"], ["d"]) == ([0, 1, 2, 4], [103])


def test_a_second_opening_of_a_round_is_refused_even_with_the_same_sites():
    held = vault()
    held.open(0, NAMES, [])
    for survivors, lost in ((NAMES, []), (NAMES[:4], ["e"])):
        with pytest.raises(ProtocolError, match="refused: the coordinator asks to open sum 1 a second time"):
            held.open(0, survivors, lost)


def test_a_round_not_answered_is_refused():
    with pytest.raises(ProtocolError, match="asks to open sum 2, which this site was not asked for"):
        vault().open(1, NAMES, [])


def test_both_kinds_of_shares_are_refused():
    with pytest.raises(ProtocolError, match="both kinds of shares of site 'd'"):
        vault().open(0, NAMES, ["d"])


@pytest.mark.parametrize(
    ("survivors", "lost", "reason"),
    [
        (["a", "b", "c"], ["d", "e"], "sum of 3 sites; at least 4"),
        (["a", "b", "c", "d"], [], "does not name every site"),
        (["a", "b", "c", "d", "d"], [], "does not name every site"),
        (["a", "b", "c", "d", "x"], [], "names site 'x'"),
        (["a", "b", "c", "d", "e"], ["x"], "names site 'x'"),
        (["b", "c", "d", "e"], ["a"], "went on without this site"),
    ],
)
def test_sets_that_do_not_fit_are_refused(survivors, lost, reason):
    with pytest.raises(ProtocolError, match=reason):
        vault().open(0, survivors, lost)


def test_the_minimum_counts_even_where_the_threshold_is_lower():
    with pytest.raises(ProtocolError, match="at least 5"):
        vault(threshold=3, minimum=5).open(0, NAMES[:4], ["e"])


def test_nobody_is_lost_after_the_first_opening():
    held = vault()
    held.open(0, NAMES, [])
    held.answered(1)
    with pytest.raises(ProtocolError, match="without site 'e' after sums with it were opened"):
        held.open(1, NAMES[:4], ["e"])


def test_those_lost_at_the_first_opening_never_come_back():
    held = vault()
    held.open(0, NAMES[:4], ["e"])
    held.answered(1)
    assert held.members == NAMES[:4]
    with pytest.raises(ProtocolError, match="names site 'e'"):
        held.open(1, NAMES, [])


def test_no_order_of_requests_bares_a_site():
    """All short sequences of requests: no site's seed of any round leaves together with its key."""
    sets = [s for size in (4, 5) for s in itertools.combinations(NAMES, size)]
    requests = [(round_, s) for round_ in (0, 1) for s in sets]
    gave_both = 0
    for sequence in itertools.product(requests, repeat=3):
        held, keys, seeds = vault(threshold=4), set(), set()
        for round_, survivors in sequence:
            held.answered(round_)
            lost = [name for name in held.members if name not in survivors]
            try:
                held.open(round_, survivors, lost)
            except ProtocolError:
                continue
            keys |= set(lost)
            seeds |= set(survivors)
        assert not keys & seeds
        gave_both += bool(keys) and bool(seeds)
    # Requests were granted, and keys of lost sites among them: the assertion above had something to forbid.
    assert gave_both > 100
