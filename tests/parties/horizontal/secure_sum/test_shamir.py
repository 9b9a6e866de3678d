import itertools
import secrets
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from dagora.parties.horizontal.secure_sum.shamir import (
    PRIME,
    combine,
    evaluate,
    lagrange_weights,
    pack,
    split,
    unpack,
)


def test_the_prime_is_the_least_above_two_to_the_256():
    def is_prime(n):
        d, r = n - 1, 0
        while d % 2 == 0:
            d, r = d // 2, r + 1
        for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
            x = pow(base, d, n)
            if x in (1, n - 1):
                continue
            if not any((x := x * x % n) == n - 1 for _ in range(r - 1)):
                return False
        return True

    assert is_prime(PRIME)
    assert not any(is_prime(n) for n in range(2**256 + 1, PRIME, 2))


@given(st.integers(1, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_any_threshold_many_shares_give_the_secret_back(holders, data):
    threshold = data.draw(st.integers(1, holders))
    secret = data.draw(st.integers(0, PRIME - 1) | st.sampled_from([0, PRIME - 1, 2**256 - 1]))
    shares = dict(enumerate(split(secret, threshold, holders), start=1))
    points = data.draw(st.permutations(range(1, holders + 1)))[: data.draw(st.integers(threshold, holders))]
    assert combine({point: shares[point] for point in points}) == secret


@pytest.mark.parametrize(("prime", "threshold", "holders"), [(5, 2, 4), (7, 3, 4), (5, 4, 4)])
def test_fewer_shares_than_the_threshold_are_the_same_for_every_secret(prime, threshold, holders):
    """Exhaustive: over all polynomials, every t - 1 shares take every value equally often."""
    for chosen in itertools.combinations(range(1, holders + 1), threshold - 1):
        seen = {}
        for secret in range(prime):
            seen[secret] = Counter(
                tuple(evaluate([secret, *rest], point, prime) for point in chosen)
                for rest in itertools.product(range(prime), repeat=threshold - 1)
            )
        assert all(count == seen[0] for count in seen.values())
        assert set(seen[0].values()) == {1}
    # One share more and it is no longer so.
    enough = range(1, threshold + 1)
    views = [
        {
            tuple(evaluate([secret, *rest], p, prime) for p in enough)
            for rest in itertools.product(range(prime), repeat=threshold - 1)
        }
        for secret in (0, 1)
    ]
    assert not views[0] & views[1]


def test_split_draws_all_polynomials_equally_often():
    counts = Counter(tuple(split(3, 3, 3, prime=5)[:2]) for _ in range(5000))
    assert len(counts) == 25
    assert chisquare(list(counts.values())).pvalue > 1e-6


def test_weights_are_exact_over_a_small_field():
    for points in itertools.permutations(range(1, 7), 3):
        weights = lagrange_weights(points, 7)
        for polynomial in itertools.product(range(7), repeat=3):
            values = [evaluate(polynomial, point, 7) for point in points]
            assert sum(w * v for w, v in zip(weights, values, strict=True)) % 7 == polynomial[0]


def test_shares_survive_being_written_and_garbage_does_not():
    shares = [secrets.randbelow(PRIME) for _ in range(3)] + [PRIME - 1]
    assert unpack(pack(shares), 4) == shares
    for content in (pack(shares)[:-1], b"\xff" * 132, b""):
        with pytest.raises(ValueError):
            unpack(content, 4)


@pytest.mark.parametrize(
    ("secret", "threshold", "holders"), [(1, 3, 2), (1, 0, 2), (-1, 1, 2), (PRIME, 1, 2)]
)
def test_impossible_shares_are_refused(secret, threshold, holders):
    with pytest.raises(ValueError):
        split(secret, threshold, holders)
