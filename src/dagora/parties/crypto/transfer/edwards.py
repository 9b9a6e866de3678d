"""The group of Ed25519: points of −x² + y² = 1 + d x² y² modulo p = 2²⁵⁵ − 19, in Python integers.

Points are in extended coordinates (X : Y : Z : T) with x = X/Z, y = Y/Z, T = XY/Z (Hisil, Wong, Carter,
Dawson, Twisted Edwards curves revisited, 2008), written as 32 bytes as in RFC 8032: y, and the sign of x in
the top bit. Points from a peer are checked: they must be in canonical encoding, on the curve, and of prime
order. The package `cryptography` uses the curve inside X25519 and Ed25519, but does not offer the addition of
points that oblivious transfer needs.

Not constant time: an observer who can time this process to the microsecond learns about its scalars. A
protocol uses each scalar in one session, and side channels are outside our security claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dagora.base.errors import ProtocolError

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
POINT_BYTES = 32

_D2 = 2 * D % P
_ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
_WINDOW = 4
_DIGITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A point of the curve; equality is that of the points, not of their coordinates.

    >>> BASE + BASE == 2 * BASE, ORDER * BASE == ZERO
    (True, True)
    """

    x: int
    y: int
    z: int
    t: int

    def __add__(self, other: Point) -> Point:
        a = (self.y - self.x) * (other.y - other.x) % P
        b = (self.y + self.x) * (other.y + other.x) % P
        c = self.t * other.t % P * _D2 % P
        d = 2 * self.z * other.z % P
        e, f, g, h = b - a, d - c, d + c, b + a
        return Point(e * f % P, g * h % P, f * g % P, e * h % P)

    def __neg__(self) -> Point:
        return Point(-self.x % P, self.y, self.z, -self.t % P)

    def __sub__(self, other: Point) -> Point:
        return self + -other

    def double(self) -> Point:
        """Twice this point, with fewer products than a sum."""
        a = self.x * self.x % P
        b = self.y * self.y % P
        h = a + b
        e = h - (self.x + self.y) ** 2 % P
        g = a - b
        f = 2 * self.z * self.z + g
        return Point(e * f % P, g * h % P, f * g % P, e * h % P)

    def __rmul__(self, scalar: int) -> Point:
        """Multiply by an integer ≥ 0, four bits at a time."""
        if scalar < 0:
            raise ValueError("a point is multiplied by integers from 0 up")
        small = [ZERO, self]
        while len(small) < 1 << _WINDOW:
            small.append(small[-1] + self)
        result = ZERO
        for shift in range(-(-scalar.bit_length() // _WINDOW) * _WINDOW - _WINDOW, -1, -_WINDOW):
            result = result.double().double().double().double()
            if digit := scalar >> shift & 15:
                result += small[digit]
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Point):
            return NotImplemented
        same_x = (self.x * other.z - other.x * self.z) % P == 0
        return same_x and (self.y * other.z - other.y * self.z) % P == 0

    def __hash__(self) -> int:
        return hash(self.encode())

    def encode(self) -> bytes:
        """Write the point as 32 bytes."""
        inverse = pow(self.z, -1, P)
        x, y = self.x * inverse % P, self.y * inverse % P
        return (y | (x & 1) << 255).to_bytes(POINT_BYTES, "little")


ZERO = Point(0, 1, 1, 0)


def decode(content: bytes) -> Point:
    """Read a point of prime order (or zero) that a peer wrote; anything else is refused.

    >>> decode(BASE.encode()) == BASE
    True
    >>> decode(bytes([2]) + bytes(31))
    Traceback (most recent call last):
    dagora.ProtocolError: is not a point of the curve
    """
    point = decode_any(content)
    if ORDER * point != ZERO:
        raise ProtocolError("is a point outside the group of prime order")
    return point


def decode_any(content: bytes) -> Point:
    """Read any point of the curve, as RFC 8032, section 5.1.3."""
    if len(content) != POINT_BYTES:
        raise ProtocolError(f"is not a point of {POINT_BYTES} bytes")
    number = int.from_bytes(content, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if y >= P:
        raise ProtocolError("is a point in a non-canonical encoding")
    # x² = u / v; the root is found with one power, up to a root of −1.
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 % P * pow(u * v**7 % P, (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * _ROOT_OF_MINUS_ONE % P
    if (v * x * x - u) % P:
        raise ProtocolError("is not a point of the curve")
    if x == 0 and sign:
        raise ProtocolError("is a point in a non-canonical encoding")
    if x & 1 != sign:
        x = P - x
    return Point(x, y, 1, x * y % P)


BASE = decode_any((4 * pow(5, -1, P) % P).to_bytes(POINT_BYTES, "little"))


class Multiples:
    """Many multiples of one point: sums of tabulated 16ⁱ j · point, no doublings.

    >>> Multiples(BASE)(10**70) == 10**70 * BASE
    True
    """

    def __init__(self, point: Point) -> None:
        self._rows: list[list[Point]] = []
        for _ in range(_DIGITS):
            row = [ZERO, point]
            while len(row) < 1 << _WINDOW:
                row.append(row[-1] + point)
            self._rows.append(row)
            point = row[-1] + point

    def __call__(self, scalar: int) -> Point:
        """Multiply by an integer from 0 to 2²⁵⁶ − 1."""
        if not 0 <= scalar < 1 << _WINDOW * _DIGITS:
            raise ValueError("the table serves integers from 0 to 2**256 - 1")
        result = ZERO
        for i, row in enumerate(self._rows):
            if digit := scalar >> _WINDOW * i & 15:
                result += row[digit]
        return result


def random_scalar(random: Callable[[int], bytes]) -> int:
    """Draw an integer from 1 to ORDER − 1; 512 bits leave a bias below 2⁻²⁵⁰."""
    return 1 + int.from_bytes(random(64), "little") % (ORDER - 1)
