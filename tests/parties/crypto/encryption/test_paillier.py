"""Paillier: against the textbook formulas with small primes, and at full size."""

import functools
import math

import numpy as np
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dagora.parties.crypto.encryption.paillier import (
    KEY_BITS,
    MASK_BITS,
    SLOT_BITS,
    Multiplier,
    PaillierPublicKey,
    PaillierSecretKey,
    Powers,
    pack,
    random_prime,
    slots_per_message,
    unpack,
)

SMALL = [(7, 11), (23, 59), (1019, 10007), (65543, 104_711)]


@functools.cache
def key_of(bits):
    return PaillierSecretKey.generate(bits)


def textbook_decrypt(p, q, ciphertext):
    """L(c^λ mod n²) · L(g^λ mod n²)⁻¹ mod n with g = 1 + n and λ = lcm(p − 1, q − 1) (Paillier 1999)."""
    n = p * q
    power = math.lcm(p - 1, q - 1)

    def quotient(u):
        assert (u - 1) % n == 0
        return (u - 1) // n

    return quotient(pow(int(ciphertext), power, n * n)) * pow(quotient(pow(1 + n, power, n * n)), -1, n) % n


@pytest.mark.parametrize(("p", "q"), SMALL)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_encryption_and_decryption_follow_the_textbook(p, q, data):
    n = p * q
    key = PaillierSecretKey(p, q)
    message = data.draw(st.integers(0, n - 1))
    assert textbook_decrypt(p, q, key.encrypt(message)) == message
    unit = data.draw(st.integers(1, n - 1).filter(lambda r: math.gcd(r, n) == 1))
    assert key.decrypt(mpz(pow(1 + n, message, n**2) * pow(unit, n, n**2) % n**2)) == message
    other = data.draw(st.integers(0, n - 1))
    assert key.decrypt(key.encrypt(message) * key.encrypt(other) % n**2) == (message + other) % n


def test_randomness_fills_the_squares_among_the_nth_powers_evenly():
    p, q = 7, 11
    n, key = p * q, PaillierSecretKey(p, q)
    subgroup = {pow(int(key.public.base), i, n * n) for i in range(math.lcm(p - 1, q - 1))}
    assert subgroup <= {pow(x, n, n * n) for x in range(n) if math.gcd(x, n) == 1}
    drawn = [int(key.encrypt(0)) for _ in range(2000)]
    drawn_there = [int(Multiplier(key.public).zero()) for _ in range(20)]
    assert set(drawn) == subgroup
    assert set(drawn_there) <= subgroup
    _, counts = np.unique(drawn, return_counts=True)
    assert len(subgroup) == 1 or stats.chisquare(counts).pvalue > 1e-4


def test_the_table_of_powers():
    powers = Powers(mpz(3), mpz(10**9 + 7), 100, 7)
    for exponent in (0, 1, 127, 128, 2**100 - 1):
        assert powers.power(exponent) == pow(3, exponent, 10**9 + 7)
    with pytest.raises(ValueError, match="range"):
        powers.power(2**105)


def test_dot_products_come_back_masked_and_fresh():
    key = key_of(640)
    multiplier, modulus = Multiplier(key.public), 1 << 21
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 50))
    ciphertexts = [key.encrypt(int(bit)) for bit in a]
    total = multiplier.add(mpz(1), ciphertexts, b.tolist())
    assert key.decrypt(total) == a @ b
    (one, [share]), (two, [other]) = (multiplier.mask(total, 1, modulus) for _ in range(2))
    assert one != two
    opened = key.decrypt(one)
    assert (opened + share) % modulus == a @ b
    assert (key.decrypt(two) + other) % modulus == a @ b
    assert opened.bit_length() > MASK_BITS - 60


def test_columns_side_by_side_stay_apart():
    """Sums as large as they get, masks as large as they get: no slot spills into the next."""
    key, modulus, slots = key_of(640), 1 << 21, slots_per_message(640)
    assert slots == 4
    assert 2 * ((1 << MASK_BITS) + (1 << 64)) < 1 << SLOT_BITS
    multiplier = Multiplier(key.public, lambda size: b"\xff" * size)
    rng = np.random.default_rng(1)
    columns, b = rng.integers(0, 2, (slots, 40)), rng.integers(0, 2, 40)
    columns[2] = b[:] = 1
    ciphertexts = [key.encrypt(pack(row)) for row in columns.T.tolist()]
    total = multiplier.add(mpz(1), ciphertexts, b.tolist())
    assert unpack(key.decrypt(total), slots) == (columns @ b).tolist()
    fresh, shares = multiplier.mask(total, slots, modulus)
    opened = unpack(key.decrypt(fresh), slots)
    assert max(opened) >= 1 << MASK_BITS, "the largest mask"
    assert [(x + y) % modulus for x, y in zip(opened, shares, strict=True)] == (columns @ b).tolist()
    honest = Multiplier(key.public).mask(total, slots, modulus)[1]
    assert len(set(honest)) == slots, "a mask of its own for every slot"


def test_a_masked_result_tells_the_key_holder_nothing_of_the_randomness():
    """With tiny primes all can be counted: the returned n-th power is uniform whatever the product was."""
    n, key = 23 * 59, PaillierSecretKey(23, 59)
    multiplier = Multiplier(key.public)
    ciphertexts = [key.encrypt(1) for _ in range(4)]
    seen = []
    for bits in ([0, 0, 0, 0], [1, 1, 1, 1]):
        total = multiplier.add(mpz(1), ciphertexts, bits)
        parts = []
        for _ in range(1500):
            fresh = multiplier.mask(total, 1, 2)[0]
            parts.append(int(fresh * pow(1 + n, -key.decrypt(fresh), n * n) % n**2))
        seen.append(parts)
    values, table = np.unique(seen, return_inverse=True)
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in table.reshape(2, -1)])
    assert stats.chi2_contingency(counts).pvalue > 1e-4
    # Without re-randomisation each would be one and the same number.
    assert multiplier.add(mpz(1), ciphertexts, [1] * 4) == multiplier.add(mpz(1), ciphertexts, [1] * 4)


@pytest.mark.slow
def test_full_size():
    key = key_of(KEY_BITS)
    assert key.public.n.bit_length() == 3072
    key.public.check()
    assert key.public.size == 768
    assert key.decrypt(key.encrypt(12345)) == 12345
    assert key.encrypt(1) != key.encrypt(1)


def test_bad_keys_are_refused():
    good = key_of(640).public
    good.check(640)
    for bad in (
        PaillierPublicKey(good.n - 1, good.base),
        PaillierPublicKey(good.n >> 1 | 1, good.base),
        PaillierPublicKey(good.n, mpz(0)),
        PaillierPublicKey(good.n, mpz(1)),
        PaillierPublicKey(good.n, good.n**2),
        PaillierPublicKey(good.n, good.n),
        PaillierPublicKey(-good.n, good.base),
    ):
        with pytest.raises(ValueError, match=r"modulus|base"):
            bad.check(640)
    with pytest.raises(ValueError, match="key"):
        PaillierSecretKey(7, 7)
    multiplier = Multiplier(good)
    for content in (bytes(160), b"\xff" * 160):
        with pytest.raises(ValueError, match="ciphertext"):
            multiplier.read_ciphertext(content)


def test_primes_are_as_long_as_asked():
    prime = random_prime(128, np.random.default_rng(1).bytes)
    assert prime.bit_length() == 128
    assert prime % 4 == 3
    assert all(pow(base, int(prime) - 1, int(prime)) == 1 for base in (2, 3, 5, 7))
