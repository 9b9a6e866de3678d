"""Lattice encryption: the ring against schoolbook products, noise as it should be, SEAL as an independent judge."""

import struct
from functools import cache

import gmpy2
import numpy as np
import pytest
from scipy import stats

from dagora.parties.crypto.encryption.ring import (
    DEGREE,
    MAX_PLAIN_BITS,
    MODULUS,
    PACKED,
    PRIMES,
    back,
    pack,
    residues,
    tables,
    to_values,
    unpack,
)
from dagora.parties.crypto.encryption.ring_samples import (
    ERROR_DEVIATION,
    errors,
    keystream,
    private_stream,
    public_values,
    ternary,
)
from dagora.parties.crypto.encryption.rlwe import (
    RlwePublicKey,
    RlweSecretKey,
    flood_bits,
    statistical_bits,
    unpack_polynomial,
)
from dagora.parties.crypto.encryption.rlwe_products import ProductLayout, ProductSums, to_montgomery

T = 21


def seeded(seed):
    return private_stream(np.random.default_rng(seed).bytes)


def to_coefficients(values):
    """Transform polynomials uint32[3, N] from values back to coefficients, by the kernel that encryption uses."""
    result = np.ascontiguousarray(values).copy()
    for k, row in enumerate(result):
        back(row, k, tables())
    return result


def uniform(rng):
    return np.stack([rng.integers(0, p, DEGREE) for p in PRIMES]).astype(np.uint32)


def lift(polynomial):
    """Residues to Python integers modulo q."""
    terms = [
        row.astype(object) * (MODULUS // p) * pow(MODULUS // p, -1, p)
        for p, row in zip(PRIMES, polynomial, strict=True)
    ]
    return sum(terms) % MODULUS


def schoolbook(a, b):
    """The product modulo x^N + 1 over the integers: one multiplication of long integers, 128 bits a coefficient."""

    def long(polynomial):
        return int.from_bytes(b"".join(int(x).to_bytes(16, "little") for x in polynomial), "little")

    def short(number):
        content = number.to_bytes(32 * DEGREE, "little")
        return [int.from_bytes(content[16 * i : 16 * i + 16], "little") for i in range(2 * DEGREE)]

    plus, minus = (np.array(short(long(a) * long(part)), dtype=object) for part in (b == 1, b == -1))
    full = plus - minus
    return full[:DEGREE] - full[DEGREE:]


def centred(x):
    return (x + MODULUS // 2) % MODULUS - MODULUS // 2


def test_the_modulus_keeps_what_the_security_and_the_rounding_rest_on():
    for p, inverse in zip(PRIMES, tables().inverses, strict=True):
        assert gmpy2.is_prime(p)
        assert 1 << 29 < p < 1 << 30
        assert p % (1 << MAX_PLAIN_BITS) == 1
        assert 8 * p * p < 1 << 63  # eight products are added before a reduction
        assert p * int(inverse) % (1 << 32) == 1
    assert MODULUS.bit_length() == 90
    # Flood and rounding fit into half a step of the plaintext, after scaling to 2³².
    rounding = 20 * (DEGREE * 2 / 3 / 12) ** 0.5
    for plain_bits in range(1, MAX_PLAIN_BITS + 1):
        assert (1 << flood_bits(plain_bits)) * 2**32 / MODULUS + rounding < 2 ** (31 - plain_bits)
        assert 64 <= flood_bits(plain_bits) < 95  # drawn as two words and part of a third


def test_the_transform_multiplies_polynomials():
    rng = np.random.default_rng(1)
    a, b = uniform(rng), rng.integers(-1, 2, DEGREE).astype(np.int8)
    values = to_values(a)
    assert (to_coefficients(values) == a).all()
    factor = to_values(residues(b), in_montgomery_form=True)
    product = [
        x.astype(object) * y.astype(object) * pow(1 << 32, -1, p) % p
        for x, y, p in zip(values, factor, PRIMES, strict=True)
    ]
    result = to_coefficients(np.array(product).astype(np.uint32))
    assert (result[1] == schoolbook(a[1], b) % PRIMES[1]).all()
    assert (result[2] == schoolbook(a[2], b) % PRIMES[2]).all()


def test_packing_is_undone_and_is_as_short_as_it_says():
    values = uniform(np.random.default_rng(2))
    packed, again = np.empty(PACKED, dtype=np.uint32), np.empty_like(values)
    pack(values.reshape(-1), packed)
    unpack(packed, again.reshape(-1))
    assert (again == values).all()
    bits = sum(int(v) << (30 * i) for i, v in enumerate(values.reshape(-1)))
    assert packed.astype("<u4").tobytes() == bits.to_bytes(4 * PACKED, "little")


def test_residues_that_are_too_large_are_refused():
    with pytest.raises(ValueError, match="residue"):
        unpack_polynomial(np.full(PACKED, 0xFFFFFFFF, dtype=np.uint32))


def test_samples_have_their_distributions():
    stream = seeded(3)
    secret, error = ternary(stream, 30).reshape(-1), errors(stream, 30).reshape(-1)
    assert stats.chisquare(np.bincount(secret + 1)).pvalue > 1e-4
    assert abs(error).max() <= 21
    binomial = stats.binom(42, 0.5).pmf(np.arange(11, 32))
    counts = np.bincount(error[abs(error) <= 10] + 10, minlength=21)
    assert stats.chisquare(counts, binomial / binomial.sum() * counts.sum()).pvalue > 1e-4
    assert abs(error.std() - ERROR_DEVIATION) < 0.05
    values = public_values(b"0123456789abcdef", 7)
    for row, p in zip(values, PRIMES, strict=True):
        assert row.max() < p
        assert stats.kstest(row / p, "uniform").pvalue > 1e-4
    assert (public_values(b"0123456789abcdef", 7) == values).all()
    assert (public_values(b"0123456789abcdef", 8) != values).mean() > 0.99
    assert (
        keystream(bytes(16), bytes(16))(16).hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"
    )  # NIST: AES-128(0, 0)


@pytest.mark.parametrize("plain_bits", [1, 12, 21])
def test_a_ciphertext_is_the_message_and_a_small_error(plain_bits):
    key, rng = RlweSecretKey(seeded(4)), np.random.default_rng(4)
    bits = rng.integers(0, 2, (2, 3000), dtype=np.uint8)
    packed = key.encrypt(bits, plain_bits)
    for i in range(2):
        c0, c1 = lift(unpack_polynomial(packed[i])), lift(to_coefficients(public_values(key.seed, i + 1)))
        phase = c0 + schoolbook(c1, key._secret)
        phase[:3000] -= (MODULUS >> plain_bits) * bits[i].astype(object)
        noise = centred(phase).astype(float)
        assert abs(noise).max() <= 21
        assert abs(noise.std() - ERROR_DEVIATION) < 0.2


def test_seal_accepts_the_parameters_and_decrypts_our_ciphertexts(tmp_path):
    """Another library's secret key, our encryption, its decryption: it also measures the noise left."""
    seal = pytest.importorskip("tenseal.sealapi")
    parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV)
    parameters.set_poly_modulus_degree(DEGREE)
    special = next(p for p in range((1 << 19) - 8191, 0, -8192) if gmpy2.is_prime(p))
    parameters.set_coeff_modulus([seal.Modulus(p) for p in (*PRIMES, special)])
    parameters.set_plain_modulus(1 << T)
    context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
    assert context.parameters_set(), context.parameters_error_message()
    theirs = seal.KeyGenerator(context).secret_key()
    data = theirs.data().dyn_array()
    values = np.array([data.at(i) for i in range(3 * DEGREE)], dtype=np.uint32).reshape(3, DEGREE // 8, 8)
    secret = to_coefficients(values.transpose(0, 2, 1).reshape(3, DEGREE))
    key = RlweSecretKey(seeded(5))
    key._secret = np.array([centred(int(x)) for x in lift(secret)], dtype=np.int8)
    assert set(key._secret) == {-1, 0, 1}
    key._values = to_values(residues(key._secret), in_montgomery_form=True)
    bits = np.random.default_rng(5).integers(0, 2, (1, DEGREE), dtype=np.uint8)
    bits[0, -1] = 1
    c0 = unpack_polynomial(key.encrypt(bits, T)[0])
    c1 = to_coefficients(public_values(key.seed, 1))
    sample, path = seal.Ciphertext(context), str(tmp_path / "ciphertext")
    sample.save(path)
    version = (tmp_path / "ciphertext").read_bytes()[:5]

    def object_of(content):  # SEAL's header: magic and version, no compression, total size
        return version + b"\0\0\0" + struct.pack("<Q", 16 + len(content)) + content

    words = np.concatenate((c0.reshape(-1), c1.reshape(-1))).astype("<u8")
    members = struct.pack("<4Q?3Qd", *context.first_parms_id(), False, 2, DEGREE, 3, 1.0)
    inner = object_of(struct.pack("<Q", len(words)) + words.tobytes())
    for extra in (struct.pack("<Q", 1), b""):  # the correction factor, which came with SEAL 4.1
        (tmp_path / "ciphertext").write_bytes(object_of(members + extra + inner))
        try:
            sample.load(context, path)
            break
        except (RuntimeError, ValueError):
            continue
    else:
        pytest.fail("SEAL cannot read the ciphertext")
    decryptor, plain = seal.Decryptor(context, theirs), seal.Plaintext()
    assert decryptor.invariant_noise_budget(sample) >= 90 - T - 6
    decryptor.decrypt(sample, plain)
    assert [plain[i] for i in range(DEGREE)] == bits[0].tolist()


COLUMNS, BLOCKS = 200, 12


@cache
def returned(seed, right_bit, *, plain_bits=T, **weak):
    """One dot product per encrypted column with a column of equal bits; the exact noise of every result."""
    stream = seeded(seed)
    key = RlweSecretKey(stream)
    index = np.arange(COLUMNS)
    layout = ProductLayout(
        rows=DEGREE,
        columns=COLUMNS,
        groups=np.array([[0]]),
        products=np.stack([index, 0 * index], axis=1),
        results=np.stack([index, 0 * index + DEGREE - 1], axis=1),
    )
    sums = ProductSums(key.public, layout, plain_bits, stream)
    left = np.zeros((COLUMNS, DEGREE), dtype=np.uint8)
    for _ in range(BLOCKS):
        packed = key.encrypt(left, plain_bits)
        sums.add(packed, np.full((1, DEGREE), right_bit, dtype=np.uint8))
    shares = np.empty(COLUMNS, dtype=np.uint64)
    sent = list(sums.finish(shares, **weak))
    # The numerators of x/q over the primes give back x itself, before it was scaled.
    phases = []
    for k, p in enumerate(PRIMES):
        c0, c1 = sums._constants[:, k].astype(np.int64), sums._linear[:, k].astype(np.int64)
        phases.append((c0 + c1 @ key._secret[::-1].astype(np.int64)) % p * (MODULUS // p % p) % p)
    masked = (MODULUS >> plain_bits) * (-shares.astype(object) % (1 << plain_bits))
    noise = centred((lift(np.array(phases)) - masked) % MODULUS)
    return np.array(noise, dtype=float), sent


@pytest.mark.full
@pytest.mark.parametrize("plain_bits", [T, pytest.param(17, marks=pytest.mark.slow), 4])
def test_the_noise_of_results_does_not_depend_on_the_other_partys_bits(plain_bits):
    zeros, ones = (returned(6 + bit, bit, plain_bits=plain_bits)[0] for bit in (0, 1))
    assert stats.ks_2samp(zeros, ones).pvalue > 1e-3
    for noise in (zeros, ones):
        assert stats.kstest(noise / 2 ** flood_bits(plain_bits), "uniform", (-1, 2)).pvalue > 1e-3


@pytest.mark.full
def test_without_flooding_the_noise_would_tell_the_bits():
    zeros, ones = returned(6, 0, flood=False)[0], returned(7, 1, flood=False)[0]
    assert abs(ones).max() < 2**16  # nothing but noise is left: the mask is taken off right
    assert stats.ks_2samp(zeros, ones).pvalue < 1e-4
    # The bound on the distance counts on this deviation.
    expected = ERROR_DEVIATION * (DEGREE * (BLOCKS + 4 / 3)) ** 0.5
    assert 0.8 < ones.std() / expected < 1.2


@pytest.mark.full
def test_without_a_fresh_zero_the_linear_part_would_tell_the_bits():
    bare = np.concatenate([part.linear for part in returned(8, 0, fresh=False)[1]])
    assert not bare.any()
    fresh = np.concatenate([part.linear for part in returned(6, 0, plain_bits=T)[1]])
    assert stats.kstest(fresh[:20].reshape(-1) / 2**32, "uniform").pvalue > 1e-3


def test_a_fresh_zero_is_an_encryption_under_the_public_key():
    key = RlweSecretKey(seeded(9))
    public = RlwePublicKey(key.public.seed, key.public.packed)
    noise = centred(lift(public.zero()) + schoolbook(lift(to_coefficients(public.values())), key._secret))
    assert abs(noise).max() <= 21
    again = to_montgomery(public.values()).astype(object)[0] * pow(1 << 32, -1, PRIMES[0]) % PRIMES[0]
    assert (again == public.values()[0]).all()


def test_the_statistical_bound():
    assert statistical_bits(245, 5425) > 43  # a million rows, ten and ten variables, families of four
    assert statistical_bits(1, 1) - statistical_bits(1, 1 << 10) == pytest.approx(10)
    assert statistical_bits(10**6, 10**7) < 40
    # Twenty and twenty variables: too many results for 21 bits, which a million rows do not need.
    assert statistical_bits(245, 89_700) < 40 < statistical_bits(245, 89_700, 20)
