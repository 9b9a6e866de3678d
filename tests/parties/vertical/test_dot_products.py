"""Dot products as shares: they add up, each alone is uniform, sizes tell nothing, and bad peers get one line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dagora.base.errors import DagoraError, DataError, OptionError, ProtocolError
from dagora.parties.crypto.channel import Channel
from dagora.parties.crypto.encryption import paillier
from dagora.parties.crypto.encryption.ring import DEGREE, PACKED
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.messages import encode
from dagora.parties.vertical import dot_paillier, dot_rlwe
from dagora.parties.vertical.dot_layout import arrange
from dagora.parties.vertical.dot_products import dot_products
from tests.parties.network import PATIENCE, start


@pytest.fixture
def small_paillier(monkeypatch):
    """Keys of 640 bits, as 3072 take minutes in a test."""
    monkeypatch.setattr(dot_paillier, "KEY_BITS", 640)


def run(parties, a, b, pairs, **options):
    left, right = parties
    answers = [
        start(dot_products, left, "left", a, pairs, **options),
        start(dot_products, right, "right", b, pairs, **options),
    ]
    return [answer.result(4 * PATIENCE) for answer in answers]


def pair(**options):
    network = memory_network(["a", "b"], timeout=PATIENCE, **options)
    return network["a"], network["b"]


def columns(kind, count, n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "zeros": np.zeros((count, n), dtype=np.uint8),
        "ones": np.ones((count, n), dtype=np.uint8),
        "random": rng.integers(0, 2, (count, n), dtype=np.uint8),
    }[kind]


def exact(a, b, pairs):
    return np.array([int(a[i].astype(np.int64) @ b[j].astype(np.int64)) for i, j in pairs])


def all_pairs(left, right):
    return np.array([(i, j) for i in range(left) for j in range(right)], dtype=np.int32)


@pytest.mark.parametrize("n", [1, 777, 9000])
def test_shares_add_up_over_memory_and_tcp(network, n):
    a, b = columns("random", 4, n, 1), columns("random", 3, n, 2)
    pairs = np.random.default_rng(3).permutation(all_pairs(4, 3))[:9]
    steps = []
    shares = run(network.open("host", "b", timeout=PATIENCE), a, b, pairs, on_event=steps.append)
    assert [share.dtype for share in shares] == [np.uint64] * 2
    assert (sum(shares) % (1 << 21) == exact(a, b, pairs)).all()
    assert max(step.step for step in steps) == steps[-1].total


@pytest.mark.parametrize("kind", ["zeros", "ones", "random"])
@pytest.mark.parametrize("n", [4095, 4096, 4097, 40_000])
def test_shares_add_up_at_the_edges_of_blocks(kind, n):
    a, b, pairs = columns(kind, 2, n, 4), columns("ones", 2, n), all_pairs(2, 2)
    shares = run(pair(), a, b, pairs)
    assert (sum(shares) % (1 << 21) == exact(a, b, pairs)).all()


@given(
    n=st.integers(1, 5000),
    modulus=st.sampled_from([2, 1 << 13, 1 << 20, 1 << 21]),
    chosen=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), min_size=1, max_size=60),
)
@settings(max_examples=15, deadline=None)
def test_any_pairs_in_any_layout(n, modulus, chosen):
    """Repeated pairs too; few rows put many columns into one polynomial."""
    a, b = columns("random", 5, n, n), columns("random", 41, n, n + 1)
    pairs = np.array(chosen, dtype=np.int32)
    shares = run(pair(), a, b, pairs, modulus=modulus)
    assert max(share.max() for share in shares) < modulus
    assert (sum(shares) % modulus == exact(a, b, pairs) % modulus).all()


@pytest.mark.parametrize(("at_once", "parts"), [(1, 5), (16, 3), (40, 1)])
@pytest.mark.parametrize("n", [300, 9000])
def test_pairs_in_several_parts(n, at_once, parts, monkeypatch):
    """Left columns after each other, each still encrypted once: the same shares from less memory."""
    monkeypatch.setattr(dot_rlwe, "PAIRS_AT_ONCE", at_once)
    a, b = columns("random", 5, n, 7), columns("random", 8, n, 8)
    pairs = np.random.default_rng(9).permutation(all_pairs(5, 8))
    assert len(dot_rlwe.pair_batches(n, pairs, 21)) == parts
    host, guest = pair()
    steps = []
    shares = run((host, guest), a, b, pairs, on_event=steps.append)
    assert (sum(shares) % (1 << 21) == exact(a, b, pairs)).all()
    assert [step.step for step in steps if step.step == step.total]
    sent = host.ledger.books().total.payload_sent
    blocks = sum(part.plan.blocks * part.plan.layout.columns for part in dot_rlwe.pair_batches(n, pairs, 21))
    assert 4 * PACKED * (blocks + 1) < sent < 4 * PACKED * (blocks + 1) + 5000


def test_layouts_put_every_pair_once_and_ask_for_the_fewest_bytes():
    pairs = all_pairs(3, 50)
    for n in (100, 3000, 100_000):
        plan = arrange(n, pairs)
        layout = plan.layout
        assert layout.rows <= DEGREE
        assert layout.rows * layout.groups.shape[1] == DEGREE
        assert plan.blocks * layout.rows >= n
        assert sorted(plan.pair) == list(range(len(pairs)))
        for k, (product, position) in enumerate(layout.results):
            i, group = layout.products[product]
            place, rest = divmod(position + 1, layout.rows)
            assert rest == 0
            assert (plan.left[i], layout.groups[group, place - 1]) == tuple(pairs[plan.pair[k]])
        # Three encrypted columns of 46080 bytes a block, and 16384 bytes for every m results of a column.
        costs = {
            DEGREE // m: 3 * (46080 * -(-n * m // DEGREE) + 16384 * -(-50 // m)) for m in (1, 2, 4, 8, 32)
        }
        assert plan.payload - 4 * len(pairs) == min(costs.values()) == costs[layout.rows]


def test_no_pairs():
    a = columns("ones", 1, 5)
    shares = run(pair(), a, a, np.zeros((0, 2), dtype=np.int32))
    assert [share.shape for share in shares] == [(0,), (0,)]


@pytest.mark.usefixtures("small_paillier")
@pytest.mark.parametrize("kind", ["zeros", "ones", "random"])
def test_paillier_shares_add_up_over_memory_and_tcp(network, kind):
    # Eleven columns in three ciphertexts of four slots, some asked for more often than others.
    a, b = columns(kind, 12, 60, 5), columns("random", 4, 60, 6)
    pairs = np.delete(all_pairs(12, 4), np.arange(20, 24), axis=0)[::-2]
    pairs = np.vstack([pairs, pairs[:1]])
    shares = run(network.open("host", "b", timeout=PATIENCE), a, b, pairs, crypto="paillier", modulus=1 << 10)
    assert (sum(shares) % (1 << 10) == exact(a, b, pairs)).all()


@pytest.mark.usefixtures("small_paillier")
def test_paillier_rows_in_several_messages(monkeypatch):
    monkeypatch.setattr(dot_paillier, "CIPHERTEXTS_AT_ONCE", 14)
    a, b, pairs = columns("ones", 5, 20), columns("random", 2, 20, 6), all_pairs(5, 2)
    steps = []
    shares = run(pair(), a, b, pairs, crypto="paillier", modulus=1 << 10, on_event=steps.append)
    assert (sum(shares) % (1 << 10) == exact(a, b, pairs)).all()
    # Two ciphertexts a row, so seven rows a message, on either side.
    assert sorted(step.step for step in steps) == [7, 7, 14, 14, 20, 20]


@pytest.mark.slow
def test_paillier_at_full_size():
    a, b, pairs = columns("random", 1, 4, 7), columns("ones", 1, 4), all_pairs(1, 1)
    shares = run(pair(), a, b, pairs, crypto="paillier")
    assert (sum(shares) % (1 << 21) == exact(a, b, pairs)).all()


@pytest.mark.full
@pytest.mark.usefixtures("small_paillier")
@pytest.mark.parametrize("crypto", ["rlwe", "paillier"])
def test_each_share_alone_is_uniform(crypto):
    """Chi-square of shares of one and the same dot product, over 64 cells: high bits and low bits."""
    count, modulus = (4000 if crypto == "rlwe" else 1000), 1 << 21
    a, b = columns("ones", 1, 9), columns("ones", count, 9)
    shares = run(pair(), a, b, all_pairs(1, count), crypto=crypto, modulus=modulus)
    assert (sum(shares) % modulus == 9).all()
    for share in shares:
        for cells in (share % 64, share >> 15):
            assert stats.chisquare(np.bincount(cells.astype(int), minlength=64)).pvalue > 1e-5
    # The power of this test: masks that avoid but 1 of 16 values, or a sum of nine in the low bits, are found out.
    honest = np.random.default_rng(8).integers(0, modulus, count)
    for weak in (honest[honest % 16 != 3], np.minimum(honest % 64 + 9, 63)):
        assert stats.chisquare(np.bincount(weak % 64, minlength=64)).pvalue < 1e-5


@pytest.mark.usefixtures("small_paillier")
@pytest.mark.parametrize("crypto", ["rlwe", "paillier"])
def test_sizes_and_counts_of_messages_tell_nothing(crypto):
    n, pairs, seen = (5000 if crypto == "rlwe" else 30), all_pairs(3, 3), []
    for kind in ("zeros", "ones", "random"):
        parties = pair()
        sizes = {party.name: [] for party in parties}
        for party in parties:
            record(party, sizes[party.name])
        run(parties, columns(kind, 3, n), columns(kind, 3, n, 9), pairs, crypto=crypto)
        seen.append(sizes)
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]["a"]) > 2


def record(party, sizes):
    send = party.send

    def recording(to, tag, payload):
        sizes.append((tag, len(payload)))
        send(to, tag, payload)

    party.send = recording


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"modulus": 1 << 20}, "modulus is 1048576 there and 2097152 here"),
        ({"crypto": "paillier"}, "crypto is paillier there and rlwe here"),
        ({"rows": 11}, "rows is 11 there and 10 here"),
        ({"pairs": 2}, "pairs is 2 there and 1 here"),
        ({"rows": 1 << 60_000}, "rows is out of range there and 10 here"),
        ({"crypto": "other"}, "crypto is other there and rlwe here"),
        ({"digest": bytes(32)}, "pairs of columns are not the same"),
        ({"rows": "10"}, "'rows' must be an integer"),
    ],
)
def test_parties_that_disagree_stop_before_any_data(change, line):
    ours, theirs = pair()
    answer = start(dot_products, ours, "left", columns("ones", 1, 10), all_pairs(1, 1))
    channel = Channel.to_peer(theirs, None, "dot-products")
    said = channel.receive(
        "agreement", {"crypto": str, "modulus": int, "rows": int, "pairs": int, "digest": bytes}
    )
    channel.send("agreement", **(said | change))
    refused(answer, line)
    assert theirs.ledger.books().total.messages_received == 1


def refused(answer, line):
    with pytest.raises(ProtocolError, match=r"^party 'b'") as caught:
        answer.result(PATIENCE)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.party == "b"


def against(role, crypto="rlwe"):
    """Start one honest party; return its answer and the line of a peer that has agreed with it."""
    ours, theirs = pair()
    answer = start(dot_products, ours, role, columns("ones", 1, 10), all_pairs(1, 1), crypto=crypto)
    channel = Channel.to_peer(theirs, None, "dot-products")
    fields = {"crypto": str, "modulus": int, "rows": int, "pairs": int, "digest": bytes}
    channel.send("agreement", **channel.receive("agreement", fields))
    return answer, channel


ZERO = np.zeros(PACKED, dtype=np.uint32)
HUGE = np.full(PACKED, 0xFFFFFFFF, dtype=np.uint32)


@pytest.mark.parametrize(
    ("key", "blocks", "line"),
    [
        ({"seed": bytes(15), "zero": ZERO}, [], "the seed has 15 bytes"),
        ({"seed": bytes(16), "zero": ZERO[1:]}, [], "'zero' must be an array"),
        ({"seed": bytes(16), "zero": HUGE}, [], "a residue is not below its prime"),
        ({"seed": bytes(16)}, [], "'zero' is missing"),
        ({"seed": bytes(16), "zero": ZERO}, [ZERO[None, 1:]], "'columns' must be an array"),
        ({"seed": bytes(16), "zero": ZERO}, [ZERO[None].astype(np.int64)], "'columns' must be an array"),
        ({"seed": bytes(16), "zero": ZERO}, [HUGE[None]], "a residue is not below its prime"),
    ],
)
def test_a_left_party_that_sends_garbage(key, blocks, line):
    answer, channel = against("right")
    channel.send("key", **key)
    for block in blocks:
        channel.send("columns", columns=block)
    refused(answer, line)


@pytest.mark.parametrize(("constants", "linear"), [(2, (1, DEGREE)), (1, (1, 5)), (1, (2, DEGREE))])
def test_a_right_party_that_sends_garbage(constants, linear):
    answer, channel = against("left")
    channel.send(
        "results", constants=np.zeros(constants, dtype=np.uint32), linear=np.zeros(linear, dtype=np.uint32)
    )
    refused(answer, "must be an array")


@pytest.mark.parametrize("payload", [b"", b"garbage", encode({"seed": 5}) + b"x"])
def test_bytes_that_are_no_message(payload):
    answer, channel = against("right")
    channel.transport.send("a", "dot-products/key", payload)
    refused(answer, "dot-products/key")


@pytest.mark.usefixtures("small_paillier")
@pytest.mark.parametrize(
    ("change", "content", "line"),
    [
        ({"n": b"\x0f"}, None, "not an odd number of 640 bits"),
        ({"base": bytes(160)}, None, "not a unit"),
        ({}, b"\0" * 160, "not between 0 and n²"),
        ({}, b"\xff" * 160, "not between 0 and n²"),
        ({}, b"\1" * 150, "must be an array"),
    ],
)
def test_a_left_party_with_a_bad_paillier_key_or_ciphertext(change, content, line):
    answer, channel = against("right", "paillier")
    public = paillier.PaillierSecretKey.generate(640).public
    channel.send(
        "key",
        **({"n": int(public.n).to_bytes(80, "big"), "base": int(public.base).to_bytes(160, "big")} | change),
    )
    if content:
        cells = np.frombuffer(content * 10, dtype=np.uint8).reshape(1, 10, -1)
        channel.send("columns", columns=cells)
    refused(answer, line)


@pytest.mark.usefixtures("small_paillier")
def test_a_right_party_with_a_bad_paillier_result():
    answer, channel = against("left", "paillier")
    channel.send("results", results=np.zeros((1, 160), dtype=np.uint8))
    refused(answer, "not between 0 and n²")


def test_a_peer_that_leaves():
    answer, channel = against("left")
    channel.transport.close("it had enough")
    with pytest.raises(ProtocolError, match="party 'b' ended the run: it had enough"):
        answer.result(PATIENCE)


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (OptionError, {"modulus": 3}),
        (OptionError, {"modulus": 1 << 22}),
        (OptionError, {"modulus": 1}),
        (OptionError, {"crypto": "rot13"}),
        (OptionError, {"role": "middle"}),
        (OptionError, {"pairs": np.array([[1, 0]], dtype=np.int32)}),
        (OptionError, {"pairs": np.array([[-1, 0]], dtype=np.int32)}),
        (OptionError, {"pairs": np.array([[0, 0]])}),
        (DataError, {"own_columns": np.full((1, 5), 2, dtype=np.uint8)}),
        (DataError, {"own_columns": np.zeros((1, 0), dtype=np.uint8)}),
        (DataError, {"own_columns": np.zeros(5, dtype=np.uint8)}),
    ],
)
def test_own_mistakes_are_told_before_anything_is_sent(error, options):
    ours, _ = pair()
    arguments = {"role": "left", "own_columns": columns("ones", 1, 5), "pairs": all_pairs(1, 1)} | options
    with pytest.raises(error) as caught:
        dot_products(ours, **arguments)
    assert isinstance(caught.value, DagoraError)
    assert "\n" not in str(caught.value)
    assert ours.ledger.books().total.messages_sent == 0


def test_too_many_results_for_the_statistical_bound_are_refused(monkeypatch):
    monkeypatch.setattr(dot_rlwe, "STATISTICAL_BITS", 100)
    ours, theirs = pair()
    a, pairs = columns("ones", 1, 5), all_pairs(1, 1)
    answers = [start(dot_products, ours, "left", a, pairs), start(dot_products, theirs, "right", a, pairs)]
    for answer in answers:
        with pytest.raises(
            OptionError, match=r"would be hidden by .* bits only, less than 100: take fewer columns"
        ):
            answer.result(PATIENCE)
