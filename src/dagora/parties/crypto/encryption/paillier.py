"""Paillier encryption (1999), and the dot products of encrypted with plain bits that it allows.

E(m) = (1 + n)^m · ρ mod n², with ρ a random n-th power; products of ciphertexts encrypt sums, so Π
E(aᵢ)^{bᵢ} encrypts ⟨a, b⟩ (Goethals, Laur, Lipmaa & Mielikäinen 2004). A message is long and a sum is short,
so the aᵢ of many columns stand side by side in slots of one message, and one product serves all.

Randomness as in Damgård, Jurik & Nielsen (2010, section 4.2): ρ is a power of one fixed base h = (x²)ⁿ mod
n², whose powers are tabulated, so that an encryption takes a few hundred products. The primes satisfy
gcd(p−1, q−1) = 2, so h generates a product of one cyclic group modulo p² and one modulo q². The key holder
draws its two exponents below p−1 and q−1 and works modulo p² and q²; the other party draws one of 64 bits
more than n has. Both are (statistically) uniform in the group of h: no exponent is short, and a
re-randomised ciphertext reveals nothing but its plaintext to the key holder. n of 3072 bits gives 128-bit
security (NIST SP 800-57, part 1, table 2).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import gmpy2  # type: ignore[import-untyped]
from gmpy2 import mpz

from dagora.parties.crypto.encryption.ring_samples import RandomBytes

KEY_BITS = 3072  # 128 bits of security (NIST SP 800-57)
SLOT_BITS = 128  # a message holds many sums side by side
MASK_BITS = 126  # of the mask on each returned sum: sums below 2²¹ are hidden to within 2⁻¹⁰⁵

# Bits of a digit in the tables: more for the key holder, which encrypts often (35 MB per prime).
_ENCRYPTING, _MASKING = 9, 7
_SPARE_BITS = 64  # an exponent so much longer than n is uniform modulo the order up to 2⁻⁶⁴


class Powers:
    """Powers of one base, by a table of base^{d·2^{wi}} for digits d of w bits."""

    def __init__(self, base: mpz, modulus: mpz, exponent_bits: int, window: int) -> None:
        self._modulus = modulus
        self._bits = exponent_bits
        self._window = window
        self._rows: list[list[mpz]] = []
        for _ in range(-(-exponent_bits // window)):
            row = [mpz(1)]
            for _ in range((1 << window) - 1):
                row.append(row[-1] * base % modulus)
            self._rows.append(row)
            base = row[-1] * base % modulus

    def power(self, exponent: int) -> mpz:
        """Return base^exponent, with the same number of products for every exponent."""
        if not 0 <= exponent < 1 << self._bits:
            raise ValueError("exponent out of range")
        result, mask = mpz(1), (1 << self._window) - 1
        for row in self._rows:
            result = result * row[exponent & mask] % self._modulus
            exponent >>= self._window
        return result


@dataclass(frozen=True, slots=True)
class PaillierPublicKey:
    """n and the base h of all randomness."""

    n: mpz
    base: mpz

    @property
    def size(self) -> int:
        """Bytes of a ciphertext."""
        return (2 * int(self.n.bit_length()) + 7) // 8

    def check(self, bits: int = KEY_BITS) -> None:
        """Raise `ValueError` unless this can be a key of this many bits."""
        if self.n <= 0 or self.n.bit_length() != bits or self.n % 2 == 0:
            raise ValueError(f"the modulus is not an odd number of {bits} bits")
        if not 1 < self.base < self.n**2 or gmpy2.gcd(self.base, self.n) != 1:
            raise ValueError("the base of the randomness is not a unit modulo n²")


class PaillierSecretKey:
    """The key holder's side: p and q, encryption and decryption modulo p² and q²."""

    def __init__(self, p: int, q: int, random: RandomBytes = secrets.token_bytes) -> None:
        if p == q or gmpy2.gcd(p - 1, q - 1) != 2 or gmpy2.gcd(p * q, (p - 1) * (q - 1)) != 1:
            raise ValueError("p and q do not make a key")
        self._p, self._q, self._random = mpz(p), mpz(q), random
        n = self._p * self._q
        self._squares = self._p**2, self._q**2
        self._lift = gmpy2.invert(self._squares[1], self._squares[0])
        x = mpz(0)
        while gmpy2.gcd(x, n) != 1:
            x = mpz(below(random, int(n)))
        self.public = PaillierPublicKey(n, gmpy2.powmod(x, 2 * n, n**2))
        self._powers = [
            Powers(self.public.base % square, square, prime.bit_length(), _ENCRYPTING)
            for prime, square in zip((self._p, self._q), self._squares, strict=True)
        ]
        # D(c) modulo p is L_p(c^{p−1})·h_p with L_p(u) = (u − 1)/p and h_p = L_p((1 + n)^{p−1})⁻¹.
        self._factors = [
            gmpy2.invert((gmpy2.powmod(1 + n, prime - 1, square) - 1) // prime, prime)
            for prime, square in zip((self._p, self._q), self._squares, strict=True)
        ]
        self._lift_plain = gmpy2.invert(self._q, self._p)

    @classmethod
    def generate(cls, bits: int = KEY_BITS, random: RandomBytes = secrets.token_bytes) -> PaillierSecretKey:
        """Draw a key whose modulus has exactly this many bits."""
        while True:
            p, q = (random_prime(bits // 2, random) for _ in range(2))
            if p != q and gmpy2.gcd(p - 1, q - 1) == 2 and (p * q).bit_length() == bits:
                return cls(int(p), int(q), random)

    def encrypt(self, message: int) -> mpz:
        """Encrypt an integer modulo n."""
        parts = []
        for prime, square, powers in zip((self._p, self._q), self._squares, self._powers, strict=True):
            noise = powers.power(below(self._random, int(prime - 1)))
            parts.append((1 + message * self.public.n) * noise % square)
        return _join(parts[0], parts[1], self._squares, self._lift)

    def decrypt(self, ciphertext: mpz) -> int:
        """Return the message below n."""
        parts = [
            (gmpy2.powmod(ciphertext, prime - 1, square) - 1) // prime * factor % prime
            for prime, square, factor in zip((self._p, self._q), self._squares, self._factors, strict=True)
        ]
        return int(_join(parts[0], parts[1], (self._p, self._q), self._lift_plain))


class Multiplier:
    """The other party's side: sums encrypted columns where its own bits are one, and masks the sums."""

    def __init__(self, public: PaillierPublicKey, random: RandomBytes = secrets.token_bytes) -> None:
        self._public, self._random = public, random
        self._square = public.n**2
        self._bits = public.n.bit_length() + _SPARE_BITS
        self._powers = Powers(public.base, self._square, self._bits, _MASKING)
        # Multiplied in where the bit is zero, so that every bit costs one product.
        self._nothing = self.zero()

    def zero(self) -> mpz:
        """Return a fresh encryption of zero."""
        return self._powers.power(bits_of(self._random, self._bits))

    def read_ciphertext(self, content: bytes) -> mpz:
        """Return a ciphertext from its bytes, or raise `ValueError`."""
        value = mpz(int.from_bytes(content, "big"))
        if not 0 < value < self._square:
            raise ValueError("a ciphertext is not between 0 and n²")
        return value

    def add(self, total: mpz, ciphertexts: Sequence[mpz], bits: Sequence[int]) -> mpz:
        """Multiply the total by the ciphertexts where the bits are one."""
        square, choices = self._square, (self._nothing,) * len(ciphertexts)
        for bit, zero, one in zip(bits, choices, ciphertexts, strict=True):
            total = total * (zero, one)[bit] % square
        return total

    def mask(self, total: mpz, slots: int, modulus: int) -> tuple[mpz, list[int]]:
        """Return a fresh ciphertext of the sums, each + R uniform below 2¹²⁶, and −R modulo `modulus`."""
        masks = [bits_of(self._random, MASK_BITS) for _ in range(slots)]
        fresh = total * self.zero() % self._square
        shares = [-mask % modulus for mask in masks]
        return (1 + pack(masks) * self._public.n) * fresh % self._square, shares


def slots_per_message(key_bits: int) -> int:
    """Return the number of masked sums in one message.

    >>> slots_per_message(3072)
    23
    """
    return (key_bits - 2) // SLOT_BITS


def pack(values: Sequence[int]) -> int:
    """Return the message with these numbers in its slots.

    >>> unpack(pack([3, 0, 5]), 3)
    [3, 0, 5]
    """
    return sum(value << SLOT_BITS * k for k, value in enumerate(values))


def unpack(message: int, slots: int) -> list[int]:
    """Return the numbers in the slots of a message."""
    return [message >> SLOT_BITS * k & (1 << SLOT_BITS) - 1 for k in range(slots)]


def _join(left: mpz, right: mpz, moduli: Sequence[mpz], lift: mpz) -> mpz:
    return right + moduli[1] * ((left - right) * lift % moduli[0])


def bits_of(random: RandomBytes, bits: int) -> int:
    """Draw a uniform number of this many bits."""
    return int.from_bytes(random(-(-bits // 8)), "big") >> (-bits % 8)


def below(random: RandomBytes, bound: int) -> int:
    """Draw a uniform number below the bound."""
    while True:
        number = bits_of(random, bound.bit_length())
        if number < bound:
            return number


def random_prime(bits: int, random: RandomBytes) -> mpz:
    """Draw a prime with its two highest bits set, 3 modulo 4 (composite with probability below 2⁻¹²⁸)."""
    while True:
        candidate = mpz(bits_of(random, bits) | 3 << (bits - 2) | 3)
        if gmpy2.is_prime(candidate, 64):
            return candidate
