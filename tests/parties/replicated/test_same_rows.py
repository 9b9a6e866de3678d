"""The hash by which owners compare the keys of their rows."""

from dagora.parties.replicated.same_rows import HASH_BITS, hash_of_keys


def test_only_the_same_keys_have_the_same_hash() -> None:
    """Also where all keys together have the same letters."""
    listed = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["c", "ab"], []]
    hashes = {tuple(hash_of_keys(keys).tolist()) for keys in listed}
    assert len(hashes) == len(listed)
    assert {len(bits) for bits in hashes} == {HASH_BITS}
    assert tuple(hash_of_keys(["ab", "c"]).tolist()) in hashes
