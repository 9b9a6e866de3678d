import hmac
import itertools
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.stats import chisquare

from dagora.base.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.masks import (
    KeyPair,
    MaskContext,
    derive,
    keystream,
    pair_masks,
    pair_secret,
)

CONTEXT = MaskContext(b"s" * 32, 3, "task", (4, 5))


def masks_of(names, context=CONTEXT):
    keys = {name: KeyPair.make() for name in names}
    return {
        name: pair_masks(
            name, {o: pair_secret(keys[name], name, o, keys[o].public) for o in names if o != name}, context
        )
        for name in names
    }


def test_both_sides_agree():
    a, b = KeyPair.make(), KeyPair.make()
    assert a.agree(b.public) == b.agree(a.public)


@pytest.mark.parametrize("public", [bytes(32), b"\x01" + bytes(31), b"short"])
def test_keys_that_force_the_secret_are_refused(public):
    with pytest.raises(ProtocolError, match="not valid"):
        KeyPair.make().agree(public)


def test_derivation_is_hkdf_as_in_rfc_5869():
    secret, info = b"k" * 32, b"what for"
    extracted = hmac.digest(bytes(32), secret, "sha256")
    assert derive(secret, info) == hmac.digest(extracted, info + b"\x01", "sha256")


def test_the_keystream_is_the_cipher_of_a_counter():
    key = bytes(range(32))
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    stream = block.update(b"".join(i.to_bytes(16, "big") for i in range(5)))
    assert keystream(key, (3, 3)).tobytes() == stream[:72]


def test_pairwise_masks_cancel_in_the_sum_and_only_there():
    names = ["a", "b", "c", "d"]
    masks = masks_of(names)
    assert not sum(masks.values()).any()
    for size in (1, 2, 3):
        for group in itertools.combinations(names, size):
            assert sum(masks[name] for name in group).all()


def test_a_masked_vector_is_uniform():
    context = replace(CONTEXT, shape=(4000,))
    masked = np.full(4000, 5, dtype=np.uint64) + masks_of(["a", "b", "c"], context)["b"]

    def uniformity(vector):
        content = np.frombuffer(vector.tobytes(), dtype=np.uint8)
        return chisquare(np.bincount(content, minlength=256)).pvalue

    assert uniformity(masked) > 1e-6
    # The test can fail: this is what it says of data.
    assert uniformity(np.full(4000, 5, dtype=np.uint64)) < 1e-100


@pytest.mark.parametrize(
    "change", [{"session": b"t" * 32}, {"round": 4}, {"label": "other"}, {"shape": (5, 4)}, {"shape": (20,)}]
)
def test_masks_for_another_purpose_have_nothing_in_common(change):
    other = replace(CONTEXT, **change)
    one, two = (pair_masks("a", {"b": b"x" * 32}, context) for context in (CONTEXT, other))
    assert not np.isin(one, two).any()


def flipped(public):
    """The same point to X25519, which ignores the highest bit."""
    return public[:31] + bytes((public[31] ^ 0x80,))


def plus_point_of_order_two(public):
    """Another point that has the same secret with everybody: u becomes 1/u."""
    prime = 2**255 - 19
    u = int.from_bytes(public, "little") & ((1 << 255) - 1)
    return pow(u, prime - 2, prime).to_bytes(32, "little")


@pytest.mark.parametrize("forge", [flipped, plus_point_of_order_two])
def test_a_key_made_from_another_site_s_key_cancels_no_mask(forge):
    """A helper whose key gives the victim the same secret as an honest site: without names, masks would cancel."""
    honest, victim = KeyPair.make(), KeyPair.make()
    forged = forge(honest.public)
    same = victim.agree(honest.public) == victim.agree(forged)
    assert same, "the attack needs the same secret"
    secrets = {"a": pair_secret(victim, "m", "a", honest.public), "z": pair_secret(victim, "m", "z", forged)}
    assert pair_masks("m", secrets, CONTEXT).all()
    bare = pair_masks("m", {"a": b"x" * 32, "z": b"x" * 32}, CONTEXT)
    assert not bare.any(), "equal secrets on both sides cancel: this is what the names prevent"


def test_both_ends_of_a_pair_have_the_same_secret():
    one, two = KeyPair.make(), KeyPair.make()
    assert pair_secret(one, "a", "b", two.public) == pair_secret(two, "b", "a", one.public)
    assert pair_secret(one, "a", "b", two.public) != pair_secret(one, "a", "c", two.public)


def test_a_secret_is_bound_to_the_keys_as_they_were_sent():
    """Two ways to write one point: the highest bit of a key is not looked at (RFC 7748)."""
    own, other = KeyPair.make(), KeyPair.make()
    same = other.public[:31] + bytes([other.public[31] | 0x80])
    assert own.agree(same) == own.agree(other.public)
    assert pair_secret(own, "a", "b", same) != pair_secret(own, "a", "b", other.public)
