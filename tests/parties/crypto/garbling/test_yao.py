import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.aes import expand_key
from dagora.parties.crypto.garbling import streaming
from dagora.parties.crypto.garbling.circuit import AND, NOT, XOR, evaluate_plain
from dagora.parties.crypto.garbling.half_gates import evaluate, garble
from dagora.parties.crypto.garbling.slots import slots_of
from dagora.parties.crypto.garbling.streaming import MESSAGE_BYTES
from dagora.parties.crypto.garbling.yao import DAMAGED, Evaluator, Garbler, permute_bits
from dagora.parties.crypto.hashing import hash_blocks
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.vertical.counts import from_bits
from tests.parties.crypto.garbled import (
    WAYS,
    adder,
    chosen,
    gates,
    random_circuit,
    random_delta,
    uniformity,
    words,
)
from tests.parties.network import PATIENCE, start


def share_to_bits(shares, width):
    """Bits of shares modulo 2^width, the lowest first: uint8[width, instances]."""
    places = np.arange(width, dtype=np.uint64)[:, None]
    return (shares[None, :] >> places & np.uint64(1)).astype(np.uint8)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile before any thread waits for another with a time limit."""
    circuit, zeros = gates(2, [(AND, 0, 1)], [2]), np.zeros((2, 1, 2), dtype=np.uint64)
    for instructions in WAYS:
        keys = expand_key(bytes(16), instructions=instructions)
        _, tables = garble(circuit, zeros, np.ones(2, dtype=np.uint64), 0, keys=keys)
        evaluate(circuit, zeros, tables, 0, keys=keys)
        hash_blocks(keys, zeros, np.uint64(0))


class OpenSender:
    """Not oblivious at all: both labels are shown to the peer, over the same line."""

    def __init__(self, transport, seed=0):
        self._transport = transport
        self._rng = np.random.default_rng(seed)
        self.delta = random_delta(self._rng)

    def fresh_labels(self, count):
        zeros = words(self._rng, count, 2)
        self._transport.send(self._transport.peers[0], "open", zeros.tobytes() + self.delta.tobytes())
        return zeros


class OpenReceiver:
    def __init__(self, transport):
        self._transport = transport

    def receive_fresh_labels(self, choices):
        content = self._transport.receive(self._transport.peers[0], "open")
        labels = np.frombuffer(content, dtype=np.uint64).reshape(-1, 2)
        return chosen(labels[:-1], choices, labels[-1])


class Recorder:
    """A line that remembers what was sent, and may change it."""

    def __init__(self, transport, change=None):
        self._transport = transport
        self._change = change or (lambda _tag, payload: payload)
        self.log = []

    def __getattr__(self, name):
        return getattr(self._transport, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._transport.__exit__(*error)

    def send(self, to, tag, payload):
        self.log.append((tag, bytes(payload)))
        self._transport.send(to, tag, self._change(tag, bytes(payload)))

    def sizes(self):
        return [(tag, len(payload)) for tag, payload in self.log]

    def sent(self, tag):
        return b"".join(payload for name, payload in self.log if name == tag)


def seeded(seed):
    return np.random.default_rng(seed).bytes


def compute(schedule, transports=None, *, seed=0, change=None, instructions=(None, None)):
    """Run a schedule on both sides; return the two answers and the two recorders."""
    if transports is None:
        transports = memory_network(["a", "b"], timeout=PATIENCE).values()
    a, b = (Recorder(transport, change) for transport in transports)

    def garbler():
        with a:
            party = Garbler(a, OpenSender(a, seed), random=seeded(seed), instructions=instructions[0])
            return schedule(party, True)

    def evaluator():
        with b:
            party = Evaluator(b, OpenReceiver(b), instructions=instructions[1])
            return schedule(party, False)

    answers = [start(garbler), start(evaluator)]
    return *(answer.result(PATIENCE) for answer in answers), a, b


def both_inputs(party, garbles, of_garbler, of_evaluator):
    """Labels of the inputs of both sides; each side passes only its own bits on."""
    if garbles:
        return np.concatenate((party.own_inputs(of_garbler), party.peer_inputs(*of_evaluator.shape)))
    return np.concatenate((party.peer_inputs(*of_garbler.shape), party.own_inputs(of_evaluator)))


def example(rng, instances, n_gates=2500):
    circuit = random_circuit(rng, 25, n_gates, 60)
    return (
        circuit,
        rng.integers(0, 2, (12, instances)).astype(np.uint8),
        rng.integers(0, 2, (13, instances)).astype(np.uint8),
    )


# --- right answers


@pytest.mark.parametrize("to", ["both", "garbler", "evaluator"])
def test_bits_come_out_where_they_shall(network, to):
    rng = np.random.default_rng(1)
    circuit, mine, yours = example(rng, 130)
    expected = evaluate_plain(circuit, np.concatenate((mine, yours)))

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)), to)

    at_garbler, at_evaluator, _, _ = compute(schedule, network.open("host", "b", timeout=PATIENCE))
    for answer, name in ((at_garbler, "garbler"), (at_evaluator, "evaluator")):
        if to in ("both", name):
            assert np.array_equal(answer, expected)
        else:
            assert answer is None


@pytest.mark.parametrize("ways", [(x, y) for x in WAYS for y in WAYS])
def test_labels_flow_from_run_to_run_with_constants(ways):
    rng = np.random.default_rng(2)
    first = random_circuit(rng, 30, 500, 20)
    second = random_circuit(rng, 24, 500, 20)
    mine, yours = (rng.integers(0, 2, (12, 9)).astype(np.uint8) for _ in range(2))
    fixed, later = rng.integers(0, 2, 6).astype(np.uint8), np.array([0, 1, 1, 0], dtype=np.uint8)

    def schedule(party, garbles):
        labels = np.concatenate((both_inputs(party, garbles, mine, yours), party.constants(fixed, 9)))
        labels = np.concatenate((party.run(first, labels), party.constants(later, 9)))
        return party.reveal(party.run(second, labels))

    plain = evaluate_plain(first, np.concatenate((mine, yours, np.repeat(fixed[:, None], 9, axis=1))))
    plain = evaluate_plain(second, np.concatenate((plain, np.repeat(later[:, None], 9, axis=1))))
    at_garbler, at_evaluator, _, _ = compute(schedule, instructions=ways)
    assert np.array_equal(at_garbler, plain)
    assert np.array_equal(at_evaluator, plain)


def test_free_gates_send_nothing():
    circuit = gates(3, [(XOR, 0, 1), (NOT, 3, 0)], [4, 2, 2])
    bits = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0]], dtype=np.uint8)

    def schedule(party, garbles):
        labels = both_inputs(party, garbles, bits[:1], bits[1:])
        return party.reveal(party.run(circuit, labels))

    at_garbler, _, a, _ = compute(schedule)
    assert np.array_equal(at_garbler, evaluate_plain(circuit, bits))
    assert {tag for tag, _ in a.log} == {"yao/key", "yao/inputs", "open", "yao/hashes", "yao/permutation"}


def test_additive_shares_in_and_xor_shares_out():
    rng = np.random.default_rng(3)
    width, instances = 37, 50
    values = rng.integers(0, 2**width, instances, dtype=np.uint64)
    masks = words(rng, instances)
    circuit = adder(width)

    def schedule(party, garbles):
        mine, yours = share_to_bits(values - masks, width), share_to_bits(masks, width)
        return permute_bits(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    one, other, _, _ = compute(schedule)
    assert np.array_equal(from_bits(one ^ other), values)
    assert not np.array_equal(one, other)


def test_shares_there_and_back():
    shares = words(np.random.default_rng(4), 100)
    assert np.array_equal(from_bits(share_to_bits(shares, 64)), shares)
    assert np.array_equal(from_bits(share_to_bits(shares, 20)), shares & np.uint64(2**20 - 1))


def test_with_the_real_transfer(network):
    from dagora.parties.crypto.transfer.oblivious_transfer import TransferReceiver, TransferSender

    rng = np.random.default_rng(5)
    circuit, mine, yours = example(rng, 20)
    host, guest = network.open("host", "b", timeout=PATIENCE)

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    answers = [
        start(lambda: schedule(Garbler(host, TransferSender(host)), True)),
        start(lambda: schedule(Evaluator(guest, TransferReceiver(guest)), False)),
    ]
    expected = evaluate_plain(circuit, np.concatenate((mine, yours)))
    for answer in answers:
        assert np.array_equal(answer.result(PATIENCE), expected)


# --- what the line shows


def test_bytes_are_exact_and_do_not_depend_on_the_data(network):
    rng = np.random.default_rng(6)
    instances = 100
    circuit, mine, yours = example(rng, instances, 6000)
    sizes, books = [], []
    for k, (x, y) in enumerate(
        [(mine, yours), (0 * mine, 0 * yours), (mine | 1, yours | 1), (mine, 0 * yours)]
    ):

        def schedule(party, garbles, x=x, y=y):
            return party.reveal(party.run(circuit, both_inputs(party, garbles, x, y)))

        transports = network.open("host", "b", timeout=PATIENCE)
        _, _, a, b = compute(schedule, transports, seed=k)
        sizes.append((a.sizes(), b.sizes()))
        books.append([recorder.ledger.books().total for recorder in (a, b)])
    assert all(other == sizes[0] for other in sizes)
    assert all(other == books[0] for other in books)
    outputs = len(circuit.outputs) * instances
    by_garbler = 16 + 16 * mine.size + 16 + 32 * circuit.n_and * instances + 16 * outputs + (outputs + 7) // 8
    assert sum(size for tag, size in sizes[0][0] if tag != "open") == by_garbler
    assert sizes[0][1] == [("yao/answers", 8 * outputs)]


def test_tables_are_streamed_in_bounded_messages():
    rng = np.random.default_rng(7)
    circuit, mine, yours = example(rng, 200, 3000)
    expected = evaluate_plain(circuit, np.concatenate((mine, yours)))

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    at_garbler, _, a, _ = compute(schedule)
    tables = [size for tag, size in a.sizes() if tag == "yao/tables"]
    assert len(tables) > 2
    assert max(tables) <= MESSAGE_BYTES == 1 << 21
    assert sum(tables) == 32 * circuit.n_and * 200
    assert np.array_equal(at_garbler, expected)


def test_one_message_does_not_hold_a_batch(monkeypatch):
    """Circuits whose tables for a single batch pass a message are cut between gates."""
    monkeypatch.setattr(streaming.table_messages, "__defaults__", (1024,))
    rng = np.random.default_rng(8)
    circuit, mine, yours = example(rng, 300, 3000)
    assert circuit.n_and * slots_of(circuit).batch > 4 * 1024

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    at_garbler, at_evaluator, a, _ = compute(schedule)
    expected = evaluate_plain(circuit, np.concatenate((mine, yours)))
    assert np.array_equal(at_garbler, expected)
    assert np.array_equal(at_evaluator, expected)
    assert max(size for tag, size in a.sizes() if tag == "yao/tables") <= 32 * 1024


def test_what_is_sent_looks_uniform_whatever_the_data():
    rng = np.random.default_rng(9)
    circuit, mine, yours = example(rng, 60)
    for k, value in enumerate((0, 1)):

        def schedule(party, garbles, value=value):
            labels = both_inputs(party, garbles, np.full_like(mine, value), np.full_like(yours, value))
            return party.reveal(party.run(circuit, labels))

        _, _, a, b = compute(schedule, seed=k)
        for recorder, tag in ((a, "inputs"), (a, "tables"), (a, "hashes"), (b, "answers")):
            assert uniformity(recorder.sent(f"yao/{tag}")) > 1e-6, tag


def test_no_run_repeats_another():
    """The same circuit on the same labels, twice in a session: other tweaks, so no table in common."""
    circuit, mine, yours = example(np.random.default_rng(10), 3)

    def schedule(party, garbles):
        labels = both_inputs(party, garbles, mine, yours)
        once, twice = party.run(circuit, labels), party.run(circuit, labels)
        return [party.reveal(once), party.reveal(twice), party.reveal(once)]

    answers, _, a, _ = compute(schedule)
    assert np.array_equal(answers[0], answers[1])
    tables = np.frombuffer(a.sent("yao/tables"), dtype="V16")
    assert len({bytes(row) for row in tables}) == len(tables) == 2 * 2 * circuit.n_and * 3
    hashes = np.frombuffer(a.sent("yao/hashes"), dtype=np.uint64).reshape(3, -1)
    assert not set(hashes[0]) & set(hashes[2])


def test_sessions_share_nothing_unless_the_source_of_randomness_does():
    circuit, mine, yours = example(np.random.default_rng(11), 3)

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    logs = [compute(schedule, seed=seed)[2] for seed in (1, 1, 2)]
    assert logs[0].log == logs[1].log
    rows = [
        {log.sent("yao/tables")[k : k + 16] for k in range(0, 32 * circuit.n_and * 3, 16)} for log in logs
    ]
    assert not rows[0] & rows[2]
    assert logs[0].sent("yao/key") != logs[2].sent("yao/key")


# --- damage: nobody is told wrong bits


def broken(tag):
    def change(name, payload):
        if name != tag:
            return payload
        return bytes(byte ^ 0x40 for byte in payload)

    return change


def failures(schedule, change):
    a, b = (Recorder(transport, change) for transport in memory_network(["a", "b"], timeout=5.0).values())

    def run(make, transport, garbles):
        with transport:
            return schedule(make(), garbles)

    answers = [
        start(run, lambda: Garbler(a, OpenSender(a), random=seeded(0)), a, True),
        start(run, lambda: Evaluator(b, OpenReceiver(b)), b, False),
    ]
    return [answer.exception(PATIENCE) for answer in answers]


@pytest.mark.parametrize("to", ["both", "garbler", "evaluator"])
@pytest.mark.parametrize("tag", ["yao/tables", "yao/inputs", "yao/key"])
def test_damage_ends_the_run(tag, to):
    circuit, mine, yours = example(np.random.default_rng(12), 4)

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)), to)

    at_garbler, at_evaluator = failures(schedule, broken(tag))
    noticed = at_garbler if to == "garbler" else at_evaluator
    assert isinstance(noticed, ProtocolError)
    assert DAMAGED in str(noticed)
    assert noticed.party == ("b" if to == "garbler" else "a")
    if to == "both":  # the other side is told why
        assert isinstance(at_garbler, ProtocolError)
        assert DAMAGED in str(at_garbler)


def test_different_circuits_end_the_run():
    _, mine, yours = example(np.random.default_rng(13), 4)
    conjunction, other = gates(25, [(AND, 0, 24)], [25]), gates(25, [(AND, 0, 23)], [25])

    def schedule(party, garbles):
        return party.run(conjunction if garbles else other, both_inputs(party, garbles, mine, yours))

    _, at_evaluator = failures(schedule, None)
    assert (
        "party 'a', 'yao/run': its circuit, its number of instances or its earlier calls differ from ours"
        in str(at_evaluator)
    )


@pytest.mark.parametrize(
    "tag", ["yao/key", "yao/inputs", "yao/run", "yao/tables", "yao/hashes", "yao/permutation", "yao/answers"]
)
def test_messages_of_wrong_size_end_the_run(tag):
    circuit, mine, yours = example(np.random.default_rng(14), 4)

    def schedule(party, garbles):
        return party.reveal(party.run(circuit, both_inputs(party, garbles, mine, yours)))

    errors = failures(schedule, lambda name, payload: payload[:-1] if name == tag else payload)
    noticed = errors[0 if tag == "yao/answers" else 1]
    assert isinstance(noticed, ProtocolError)
    assert tag in str(noticed)
    assert "were expected" in str(noticed)


def test_labels_that_do_not_fit_are_refused_before_anything_is_sent():
    transport = memory_network(["a", "b"])["a"]
    party = Garbler(transport, OpenSender(transport))
    before = transport.ledger.books().total
    with pytest.raises(ValueError, match="25 inputs"):
        party.run(gates(25, [(AND, 0, 1)], [2]), np.zeros((24, 1, 2), dtype=np.uint64))
    assert transport.ledger.books().total == before


def test_delta_without_its_lowest_bit_is_refused():
    transport = memory_network(["a", "b"])["a"]
    sender = OpenSender(transport)
    sender.delta = sender.delta & ~np.uint64(1)
    with pytest.raises(ValueError, match="lowest bit"):
        Garbler(transport, sender)


@pytest.mark.parametrize("wrong", [np.full((1, 1), 2, dtype=np.uint8), np.ones((1, 1), dtype=np.int64)])
def test_only_bits_are_inputs(wrong):
    network = memory_network(["a", "b"])
    sender = Garbler(network["a"], OpenSender(network["a"]))
    receiver = Evaluator(network["b"], OpenReceiver(network["b"]))
    for take in (sender.own_inputs, receiver.own_inputs, lambda bits: sender.constants(bits[0], 3)):
        with pytest.raises(ValueError, match="0 or 1"):
            take(wrong)
