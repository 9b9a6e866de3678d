"""The group against RFC 8032, the affine addition law, and the public keys of an independent Ed25519."""

import hashlib
import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.transfer.edwards import (
    ZERO,
    add,
    check_in_group,
    check_on_curve,
    clear_cofactor,
    multiply,
    multiply_base,
    random_scalar,
    subtract,
)
from tests.parties.curve import BASE, ORDER, ORDER_TWO, D, P, scalar

scalars = st.integers(1, ORDER - 1)


def affine(point):
    """The coordinates of a point, by RFC 8032, section 5.1.3."""
    number = int.from_bytes(point, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0
    return (x if x & 1 == sign else P - x), y


def affine_sum(a, b):
    """The addition law as it is defined, with divisions."""
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


def ed25519_scalar(seed):
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    return int.from_bytes(digest, "little")


def test_the_base_point_is_that_of_the_rfc():
    assert BASE == bytes([0x58]) + bytes([0x66]) * 31 == multiply_base(scalar(1))
    x, y = affine(BASE)
    assert x == 15112221349535400772501151409588531511454012693041857206046113283949847762202
    assert (-x * x + y * y - 1 - D * x * x * y * y) % P == 0
    assert add(multiply_base(scalar(ORDER - 1)), BASE) == ZERO != BASE


@pytest.mark.parametrize(
    ("seed", "public"),
    [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        ),
    ],
)
def test_public_keys_of_the_rfc(seed, public):
    key = ed25519_scalar(bytes.fromhex(seed))
    assert multiply(scalar(key), BASE).hex() == public
    assert multiply_base(scalar(key)).hex() == public


def test_scalar_multiplication_agrees_with_an_independent_library():
    for _ in range(20):
        seed = secrets.token_bytes(32)
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        key = ed25519_scalar(seed)
        assert multiply_base(scalar(key)) == public
        # Its point times k is (key · k) times the base.
        k = 1 + secrets.randbelow(ORDER - 1)
        assert multiply(scalar(k), check_in_group(public)) == multiply_base(scalar(key * k))


@given(scalars, scalars)
@settings(max_examples=25)
def test_group_laws(a, b):
    p, q = multiply_base(scalar(a)), multiply_base(scalar(b))
    assert affine(add(p, q)) == affine_sum(affine(p), affine(q))
    assert affine(add(p, p)) == affine_sum(affine(p), affine(p))
    assert subtract(add(p, q), q) == p
    assert subtract(p, p) == ZERO
    assert add(p, ZERO) == p
    assert add(add(p, q), BASE) == add(p, add(q, BASE))
    assert multiply(scalar(a), BASE) == p
    assert multiply(scalar(a), q) == multiply_base(scalar(a * b)) == multiply(scalar(b), p)
    assert add(p, q) == add(q, p)
    if (a + b) % ORDER:
        assert add(p, q) == multiply_base(scalar(a + b))
    assert check_in_group(p) == check_on_curve(p) == p


def test_multiples_of_zero_are_zero():
    assert multiply(scalar(7), ZERO) == ZERO == clear_cofactor(ZERO)


def small_order_points():
    """The point of order 2, both of order 4, and one of order 8, which is found as (1 − 8·(1/8)) · point."""
    root = pow(2, (P - 1) // 4, P)
    assert (-root * root - 1) % P == 0
    points = [ORDER_TWO, bytes(32), (1 << 255).to_bytes(32, "little")]
    for y in range(2, 30):
        try:
            point = check_on_curve(y.to_bytes(32, "little"))
        except ProtocolError:
            continue
        part = subtract(point, multiply(scalar(pow(8, -1, ORDER)), clear_cofactor(point)))
        if add(add(part, part), add(part, part)) != ZERO:
            return [*points, part]
    raise AssertionError


def test_points_outside_the_prime_group_are_on_the_curve_but_refused():
    for point in small_order_points():
        assert clear_cofactor(point) == ZERO != point
        assert clear_cofactor(add(point, BASE)) == multiply_base(scalar(8))
        for bad in (point, add(point, BASE)):
            assert check_on_curve(bad) == bad
            with pytest.raises(ProtocolError, match="outside the group"):
                check_in_group(bad)
    assert check_in_group(ZERO) == ZERO


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "32 bytes"),
        (bytes(33), "32 bytes"),
        (P.to_bytes(32, "little"), "non-canonical encoding"),
        ((P + 1).to_bytes(32, "little"), "non-canonical encoding"),
        (b"\xff" * 32, "non-canonical encoding"),
        # x = 0 has no sign.
        ((1 | 1 << 255).to_bytes(32, "little"), "non-canonical encoding"),
        ((P - 1 | 1 << 255).to_bytes(32, "little"), "non-canonical encoding"),
        (bytes([2]) + bytes(31), "not a point of the curve"),
    ],
)
def test_what_is_no_point(content, reason):
    with pytest.raises(ProtocolError, match=reason):
        check_in_group(content)


def test_half_of_all_numbers_are_points():
    count = 0
    for y in range(200):
        try:
            check_on_curve(y.to_bytes(32, "little"))
        except ProtocolError:
            continue
        count += 1
    assert 70 < count < 130


def test_random_scalars():
    for value, expected in ((1, 1), (ORDER - 1, ORDER - 1), (ORDER + 5, 5), (2**512 - 1, 2**512 - 1)):
        assert random_scalar(lambda size, value=value: value.to_bytes(size, "little")) == scalar(expected)
    assert len({random_scalar(secrets.token_bytes) for _ in range(50)}) == 50
