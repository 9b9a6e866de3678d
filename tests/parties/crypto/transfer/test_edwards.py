"""The group against RFC 8032, the affine addition law, and the public keys of an independent Ed25519."""

import hashlib
import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.transfer.edwards import (
    BASE,
    ORDER,
    ZERO,
    D,
    Multiples,
    P,
    Point,
    decode,
    decode_any,
    random_scalar,
)

scalars = st.integers(0, 2**256 - 1)
of_base = Multiples(BASE)


def affine(point):
    inverse = pow(point.z, -1, P)
    assert (point.x * point.y - point.t * point.z) % P == 0
    return point.x * inverse % P, point.y * inverse % P


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
    assert BASE.encode() == bytes([0x58]) + bytes([0x66]) * 31
    x, y = affine(BASE)
    assert x == 15112221349535400772501151409588531511454012693041857206046113283949847762202
    assert (-x * x + y * y - 1 - D * x * x * y * y) % P == 0
    assert ORDER * BASE == ZERO
    assert BASE != ZERO


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
    scalar = ed25519_scalar(bytes.fromhex(seed))
    assert (scalar * BASE).encode().hex() == public
    assert of_base(scalar).encode().hex() == public


def test_scalar_multiplication_agrees_with_an_independent_library():
    for _ in range(20):
        seed = secrets.token_bytes(32)
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        assert of_base(ed25519_scalar(seed)).encode() == public
        # Its point times k is (scalar · k) times the base.
        k = secrets.randbelow(ORDER)
        assert k * decode(public) == of_base(ed25519_scalar(seed) * k % ORDER)


@given(scalars, scalars)
@settings(max_examples=25)
def test_group_laws(a, b):
    p, q = of_base(a), of_base(b)
    assert affine(p + q) == affine_sum(affine(p), affine(q))
    assert affine(p.double()) == affine_sum(affine(p), affine(p))
    assert p + q == q + p == of_base((a + b) % ORDER)
    assert p + q - q == p
    assert p + -p == ZERO
    assert p + ZERO == p
    assert (p + q) + BASE == p + (q + BASE)
    assert a * BASE == p == (a % ORDER) * BASE


def test_equality_is_of_points():
    stretched = Point(BASE.x * 7 % P, BASE.y * 7 % P, 7, BASE.t * 7 % P)
    assert stretched == BASE
    assert hash(stretched) == hash(BASE)
    assert stretched.encode() == BASE.encode()
    assert BASE != -BASE
    assert BASE != "a point"


def test_scalars_out_of_range():
    assert 0 * BASE == ZERO
    with pytest.raises(ValueError, match="from 0 up"):
        -1 * BASE
    with pytest.raises(ValueError, match="2\\*\\*256 - 1"):
        of_base(2**256)


@given(scalars)
@settings(max_examples=20)
def test_points_come_back(a):
    point = of_base(a)
    assert decode_any(point.encode()) == point
    assert decode_any((-point).encode()) == -point


def small_order_points():
    root = pow(2, (P - 1) // 4, P)
    points = [Point(0, P - 1, 1, 0), Point(root, 0, 1, 0), Point(P - root, 0, 1, 0)]
    # A point of order eight: any point of full order, times the prime.
    for y in range(2, 30):
        try:
            point = ORDER * decode_any(y.to_bytes(32, "little"))
        except ProtocolError:
            continue
        if 4 * point != ZERO:
            points.append(point)
            break
    return points


def test_points_outside_the_prime_group_are_on_the_curve_but_refused():
    points = small_order_points()
    assert len(points) == 4
    for point in points:
        assert 8 * point == ZERO
        for bad in (point, point + BASE):
            assert decode_any(bad.encode()) == bad
            with pytest.raises(ProtocolError, match="outside the group"):
                decode(bad.encode())
    assert decode(ZERO.encode()) == ZERO


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
        decode(content)


def test_half_of_all_numbers_are_points():
    count = 0
    for y in range(200):
        try:
            decode_any(y.to_bytes(32, "little"))
        except ProtocolError:
            continue
        count += 1
    assert 70 < count < 130


def test_random_scalars():
    assert random_scalar(bytes) == 1
    assert random_scalar(lambda size: (ORDER - 2).to_bytes(size, "little")) == ORDER - 1
    assert random_scalar(lambda size: (ORDER - 1).to_bytes(size, "little")) == 1
    assert len({random_scalar(secrets.token_bytes) for _ in range(50)}) == 50
