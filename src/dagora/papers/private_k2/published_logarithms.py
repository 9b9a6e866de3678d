"""Shares of ln x and x ln x for a shared x (Lindell & Pinkas 2002), as Wright & Yang 2004 use them.

Write x = 2^e (1 + ε) with 2^e the power of two nearest to x, so that −¼ ≤ ε < ½. Then ln x = e ln 2 +
ln(1 + ε), and ln(1 + ε) ≈ Σ_{i ≤ k} (−1)^{i−1} ε^i / i, whose error is below 2^{−k}/(k + 1); that of x ln x
is below x 2^{−k}/(k + 1).

1. A garbled circuit takes both shares of x and gives the second party ε 2^N − α, e ln 2 · 2^N − γ and x − ρ,
   where α, γ and ρ are random numbers of the first party.
2. Oblivious evaluation of a polynomial: the second party encrypts the powers of its share β = ε 2^N − α by
   Paillier's scheme; the first evaluates Σ_i ± (c/i) 2^{N(k − i)} (α + β)^i − w on them, c = lcm(2, …, k),
   and returns an encryption of it. Both now have shares of c 2^{Nk} ln x modulo Paillier's n.
3. x ln x is a product of shared numbers: two more encryptions and one answer.

Lindell & Pinkas take shares in a field and a circuit that adds in it; here α, γ and ρ are integers of 40 bits
more than what they hide, and all else is modulo n, which is large enough for any k of use. x = 0, for which
the paper's protocol is not defined, is taken for ln 1 = 0: the terms of x = 0 in the score g are 0.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption.paillier import (
    Multiplier,
    PaillierPublicKey,
    PaillierSecretKey,
    bits_of,
)
from dagora.parties.crypto.garbling.builder import Builder, Word
from dagora.parties.crypto.garbling.circuit import Circuit
from dagora.parties.crypto.garbling.lookups import lookup, one_hot
from dagora.parties.crypto.garbling.words import add, constant, extend, mux, normalise, subtract
from dagora.parties.crypto.garbling.yao import Evaluator, Garbler
from dagora.parties.vertical.counts import to_bits
from dagora.parties.vertical.stirling_tables import log_two

FRACTION = 30  # N: bits of ε and of ln 2 after the point
MASK_BITS = FRACTION + 48  # of α, γ and ρ: 40 more than a value has
WORD = MASK_BITS + 2  # of a masked value, with its sign
MASKED = 3  # values that the circuit masks

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class TaylorSeries:
    """The Taylor series with k terms as a polynomial with whole coefficients."""

    terms: int

    @property
    def common(self) -> int:
        """The least common multiple of 2, …, k."""
        return math.lcm(*range(1, self.terms + 1))

    @property
    def scale(self) -> int:
        """The factor of shares of ln x: c 2^{Nk}."""
        return self.common << FRACTION * self.terms

    @property
    def coefficients(self) -> list[int]:
        """Of z^0, …, z^k for z = ε 2^N."""
        signed = [
            (-1) ** (i - 1) * (self.common // i) << FRACTION * (self.terms - i)
            for i in range(1, self.terms + 1)
        ]
        return [0, *signed]

    def shift(self, by: int) -> list[int]:
        """The coefficients of the polynomial in z − by."""
        found = [0] * (self.terms + 1)
        for power, coefficient in enumerate(self.coefficients):
            for k in range(power + 1):
                found[k] += coefficient * math.comb(power, k) * by ** (power - k)
        return found

    def logarithm(self, x: int) -> Fraction:
        """The sum of the shares of ln x, computed without sharing."""
        z, e = split(x)
        total = sum(c * z**i for i, c in enumerate(self.coefficients))
        return Fraction(total + times_log_two(e) * (self.scale >> FRACTION), self.scale)


def split(x: int) -> tuple[int, int]:
    """ε 2^N and e.

    >>> [split(x) for x in (1, 3, 4)], split(5)[0] / 2**FRACTION
    ([(0, 0), (-268435456, 2), (0, 2)], 0.25)
    """
    x = max(x, 1)
    e = x.bit_length() - 1
    e += 2 * x >= 3 << e
    return (x << FRACTION - e) - (1 << FRACTION), e


@lru_cache(maxsize=64)
def times_log_two(e: int) -> int:
    """Return e ln 2 · 2^N, rounded."""
    return round(e * log_two() * (1 << FRACTION))


@lru_cache(maxsize=8)
def splitting_circuit(bits: int) -> Circuit:
    """Inputs: the first party's share of x and its α, γ, ρ, the other's share. Outputs: the masked values."""
    build = Builder()
    own = build.inputs(bits)
    masks = build.words(MASKED, MASK_BITS)
    other = build.inputs(bits)
    x = add(build, own, other)
    at_least_one: Word = [build.xor(x[0], build.invert(build.any(x))), *x[1:]]
    places = max(1, (bits - 1).bit_length())
    scaled, shift = normalise(build, at_least_one, places)
    nearer_above = scaled[-2] if bits > 1 else False
    # scaled = m 2^(bits − 1) with 1 ≤ m < 2; ε = m − 1, or m/2 − 1 where the next power is nearer.
    low = FRACTION - (bits - 1)
    below = extend([*constant(0, low), *scaled[:-1]], WORD)
    above = extend([*constant(0, low - 1), *scaled, True], WORD, signed=True)
    epsilon = mux(build, nearer_above, above, below)
    table = [0] * (1 << places + 1)
    for amount in range(min(bits, 1 << places)):
        for up in range(2):
            table[amount << 1 | up] = times_log_two(bits - 1 - amount + up)
    exponent = lookup(build, one_hot(build, [nearer_above, *shift]), table, WORD)
    values = [epsilon, exponent, extend(x, WORD)]
    hidden = [subtract(build, value, extend(mask, WORD)) for value, mask in zip(values, masks, strict=True)]
    return build.circuit([bit for word in hidden for bit in word])


@dataclass(frozen=True, eq=False)
class LogarithmShares:
    """One party's shares of x, c 2^{Nk} ln x and c 2^{Nk} x ln x, modulo Paillier's n."""

    x: list[int]
    logarithm: list[int]
    product: list[int]


def first_shares(
    garbler: Garbler,
    channel: Channel,
    helper: Multiplier,
    public: PaillierPublicKey,
    series: TaylorSeries,
    shares: NDArray[np.uint64],
    bits: int,
) -> LogarithmShares:
    """The party that garbles and evaluates polynomials; `shares` are of the numbers x, modulo 2^bits."""
    count, n = len(shares), public.n
    masks = [[bits_of(secrets.token_bytes, MASK_BITS) for _ in range(count)] for _ in range(MASKED)]
    inputs = [to_bits(shares, bits), *(big_bits(mask, MASK_BITS) for mask in masks)]
    circuit = splitting_circuit(bits)
    labels = garbler.own_inputs(np.ascontiguousarray(np.concatenate(inputs)))
    other = garbler.peer_inputs(bits, count)
    garbler.reveal(garbler.run(circuit, np.concatenate([labels, other])), "evaluator")
    alphas, gammas, rhos = masks
    logarithms, answers = [], []
    for alpha, gamma, powers in zip(
        alphas,
        gammas,
        (receive_ciphertexts(channel, public, "powers", series.terms) for _ in range(count)),
        strict=True,
    ):
        constant_term, *coefficients = series.shift(alpha)
        own = int(secrets.randbelow(int(n)))
        answers.append(evaluate(helper, public, powers, coefficients, constant_term - own))
        logarithms.append((own + gamma * (series.scale >> FRACTION)) % int(n))
    send_ciphertexts(channel, public, answers, "values")
    products, answers = [], []
    for x, u, pair in zip(
        rhos,
        logarithms,
        (receive_ciphertexts(channel, public, "powers", 2) for _ in range(count)),
        strict=True,
    ):
        # (x + x')(u + u') with the other's x' and u' encrypted.
        own = int(secrets.randbelow(int(n)))
        answers.append(evaluate(helper, public, pair, [u, x], -own))
        products.append((own + x * u) % int(n))
    send_ciphertexts(channel, public, answers, "products")
    return LogarithmShares(rhos, logarithms, products)


def second_shares(
    evaluator: Evaluator,
    channel: Channel,
    key: PaillierSecretKey,
    series: TaylorSeries,
    shares: NDArray[np.uint64],
    bits: int,
) -> LogarithmShares:
    """The party that evaluates the circuit and holds Paillier's key."""
    count, n = len(shares), int(key.public.n)
    circuit = splitting_circuit(bits)
    own = evaluator.peer_inputs(bits + MASKED * MASK_BITS, count)
    labels = np.concatenate([own, evaluator.own_inputs(to_bits(shares, bits))])
    opened = evaluator.reveal(evaluator.run(circuit, labels), "evaluator")
    betas, exponents, rest = (signed_integers(part) for part in opened.reshape(MASKED, WORD, count))
    for beta in betas:
        send_ciphertexts(channel, key.public, [key.encrypt(beta**i % n) for i in range(1, series.terms + 1)])
    values = [key.decrypt(each) for each in receive_ciphertexts(channel, key.public, "values", count)]
    scale = series.scale >> FRACTION
    logarithms = [(value + e * scale) % n for value, e in zip(values, exponents, strict=True)]
    for x, u in zip(rest, logarithms, strict=True):
        send_ciphertexts(channel, key.public, [key.encrypt(x % n), key.encrypt(u)])
    crossed = [key.decrypt(each) for each in receive_ciphertexts(channel, key.public, "products", count)]
    products = [(c + x * u) % n for c, x, u in zip(crossed, rest, logarithms, strict=True)]
    return LogarithmShares(rest, logarithms, products)


def evaluate(
    helper: Multiplier,
    public: PaillierPublicKey,
    encrypted: list[gmpy2.mpz],
    factors: list[int],
    constant_term: int,
) -> gmpy2.mpz:
    """An encryption of Σ factor · value + constant, which tells the key holder nothing else."""
    square = public.n**2
    total = (1 + constant_term % public.n * public.n) * helper.zero() % square
    for ciphertext, factor in zip(encrypted, factors, strict=True):
        # A small negative factor is a short exponent of the inverse.
        base = ciphertext if factor >= 0 else gmpy2.invert(ciphertext, square)
        total = total * gmpy2.powmod(base, abs(factor), square) % square
    return total


def send_ciphertexts(
    channel: Channel, public: PaillierPublicKey, ciphertexts: list[gmpy2.mpz], step: str = "powers"
) -> None:
    """Send some ciphertexts as one message."""
    content = b"".join(int(each).to_bytes(public.size, "big") for each in ciphertexts)
    channel.send(step, ciphertexts=content)


def receive_ciphertexts(
    channel: Channel, public: PaillierPublicKey, step: str, count: int
) -> list[gmpy2.mpz]:
    """Receive as many ciphertexts."""
    content = channel.receive(step, {"ciphertexts": bytes})["ciphertexts"]
    if len(content) != count * public.size:
        channel.refuse(step, f"{len(content)} bytes came where {count * public.size} were expected")
    parts = [content[k : k + public.size] for k in range(0, len(content), public.size)]
    return [gmpy2.mpz(int.from_bytes(part, "big")) for part in parts]


def big_bits(numbers: list[int], width: int) -> Bits:
    """Bits[place, number], the lowest first."""
    rows = [np.frombuffer(number.to_bytes(-(-width // 8), "little"), dtype=np.uint8) for number in numbers]
    return np.ascontiguousarray(np.unpackbits(np.stack(rows), axis=1, bitorder="little")[:, :width].T)


def signed_integers(bits: Bits) -> list[int]:
    """Numbers of bits[place, number] in two's complement."""
    packed = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
    width = len(bits)
    found = [int.from_bytes(row.tobytes(), "little") for row in packed]
    return [number - (number >> (width - 1) << width) for number in found]


def open_shares(one: list[int], other: list[int], public: PaillierPublicKey, scale: int) -> list[float]:
    """The sum of shares, over the scale."""
    n = int(public.n)
    sums = [(a + b) % n for a, b in zip(one, other, strict=True)]
    return [float(Fraction(total if total < n // 2 else total - n, scale)) for total in sums]
