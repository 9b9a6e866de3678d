"""Material for the tests of garbling: random circuits and labels, and half-gates once more, slowly and apart."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dagora.parties.crypto.aes import cpu_has_aes
from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR, Circuit

WAYS = [False, True] if cpu_has_aes() else [False]


def random_circuit(rng, n_inputs, n_gates, n_outputs, *, window=300):
    own = n_inputs + np.arange(n_gates)
    low = np.maximum(own - window, 0)
    op = rng.choice(3, n_gates, p=[0.45, 0.45, 0.1]).astype(np.uint8)
    a, b = (rng.integers(low, own).astype(np.int32) for _ in range(2))
    outputs = rng.integers(0, n_inputs + n_gates, n_outputs).astype(np.int32)
    return Circuit(n_inputs, op, a, b, outputs)


def gates(n_inputs, listed, outputs):
    """A circuit of (op, a, b) triples."""
    op, a, b = zip(*listed, strict=True) if listed else ((), (), ())
    return Circuit(
        n_inputs, np.array(op, "u1"), np.array(a, "i4"), np.array(b, "i4"), np.array(outputs, "i4")
    )


def adder(width):
    """Ripple-carry sum of two numbers modulo 2^width: inputs a then b, the lowest bits first."""
    listed, outputs, carry = [], [], None

    def gate(op, a, b):
        listed.append((op, a, b))
        return 2 * width + len(listed) - 1

    for k in range(width):
        a, b = k, width + k
        half = gate(XOR, a, b)
        if carry is None:
            outputs.append(half)
            carry = gate(AND, a, b)
        else:
            outputs.append(gate(XOR, half, carry))
            carry = gate(XOR, a, gate(AND, half, gate(XOR, a, carry)))
    return gates(2 * width, listed, outputs)


def words(rng, *shape):
    return rng.integers(0, 2**64, shape, dtype=np.uint64)


def random_delta(rng):
    delta = words(rng, 2)
    delta[0] |= np.uint64(1)
    return delta


def chosen(zeros, bits, delta):
    """The labels of given bits."""
    return zeros ^ np.where(np.asarray(bits, dtype=bool)[..., None], delta, np.uint64(0))


def slow_hash(key, x, tweak):
    """H(x, i) = π(π(x) ⊕ i) ⊕ π(x) on Python integers; blocks are little endian."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def permutation(block):
        return int.from_bytes(cipher.update(block.to_bytes(16, "little")), "little")

    inner = permutation(x)
    return permutation(inner ^ tweak) ^ inner


def slow_garble(circuit, zeros, delta, first_tweak, key):
    """Zero labels of all wires and table rows of one instance, as integers, and the tweaks used."""
    wires, tables, tweaks = list(zeros), [], []
    for op, a, b in zip(circuit.op, circuit.a, circuit.b, strict=True):
        if op == XOR:
            wires.append(wires[a] ^ wires[b])
        elif op == NOT:
            wires.append(wires[a] ^ delta)
        else:
            j = first_tweak + 2 * len(tables)
            tweaks += [j, j + 1]
            x, y = wires[a], wires[b]
            of_x = [slow_hash(key, x, j), slow_hash(key, x ^ delta, j)]
            of_y = [slow_hash(key, y, j + 1), slow_hash(key, y ^ delta, j + 1)]
            garbler = of_x[0] ^ of_x[1] ^ (y & 1) * delta
            evaluator = of_y[0] ^ of_y[1] ^ x
            # C⁰ by the cases of the paper's halves, not by its formulas: what an evaluator with colour 0 gets.
            half_g = of_x[0] if not x & 1 else of_x[1] ^ (y & 1) * delta
            half_e = of_y[0] if not y & 1 else of_y[1]
            wires.append(half_g ^ half_e)
            tables.append((garbler, evaluator))
    return wires, tables, tweaks


def integer(block):
    return int(block[0]) | int(block[1]) << 64


def uniformity(content):
    """p-value of the χ² test that bytes are uniform."""
    from scipy.stats import chisquare

    return chisquare(np.bincount(np.frombuffer(content, dtype=np.uint8), minlength=256)).pvalue
