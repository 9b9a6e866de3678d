import hmac
import itertools
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dagora.errors import ProtocolError
from dagora.parties.horizontal.secure_sum.masks import (
    Context,
    KeyPair,
    derive,
    keystream,
    pair_masks,
    seal,
    self_mask,
    unseal,
)

CONTEXT = Context(b"s" * 32, 3, ("a", "b", "c", "d"), "task", (4, 5))


def test_both_sides_agree_and_a_recovered_key_is_the_same():
    a, b = KeyPair.make(), KeyPair.make()
    assert a.agree(b.public) == b.agree(a.public)
    assert KeyPair.from_private(a.private) == a


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
    keys = {name: KeyPair.make() for name in names}
    masks = {}
    for name in names:
        secrets = {other: keys[name].agree(keys[other].public) for other in names if other != name}
        masks[name] = pair_masks(name, secrets, CONTEXT)
    assert not sum(masks.values()).any()
    for size in (1, 2, 3):
        for group in itertools.combinations(names, size):
            assert sum(masks[name] for name in group).all()


@pytest.mark.parametrize(
    "change",
    [
        {"session": b"t" * 32},
        {"round": 4},
        {"members": ("a", "b", "c")},
        {"label": "other"},
        {"shape": (5, 4)},
        {"shape": (20,)},
    ],
)
def test_masks_for_another_purpose_have_nothing_in_common(change):
    other = replace(CONTEXT, **change)
    seed = b"x" * 32
    for one, two in (
        (self_mask(seed, CONTEXT), self_mask(seed, other)),
        (pair_masks("a", {"b": seed}, CONTEXT), pair_masks("a", {"b": seed}, other)),
        (self_mask(seed, CONTEXT), pair_masks("a", {"b": seed}, CONTEXT)),
    ):
        assert not np.isin(one, two).any()


def test_sealed_shares_open_only_for_the_same_way_and_unchanged():
    sealed = seal(b"k" * 32, b"a to b", b"content")
    assert unseal(b"k" * 32, b"a to b", sealed) == b"content"
    assert unseal(b"k" * 32, b"b to a", sealed) is None
    assert unseal(b"j" * 32, b"a to b", sealed) is None
    for i in range(len(sealed)):
        changed = sealed[:i] + bytes((sealed[i] ^ 1,)) + sealed[i + 1 :]
        assert unseal(b"k" * 32, b"a to b", changed) is None
    assert unseal(b"k" * 32, b"a to b", b"") is None
