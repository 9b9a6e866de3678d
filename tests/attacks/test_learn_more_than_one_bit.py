"""An owner that cheats wants more than the graph and one bit, or that the other believes a wrong graph."""

import numpy as np
import pytest

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.garbling import output_check
from dagora.parties.crypto.garbling.output_check import DIFFERENT
from dagora.parties.crypto.transfer.checked_transfer import INCONSISTENT
from dagora.parties.transport.transport import reason_to_tell
from dagora.parties.vertical import dual_execution
from dagora.parties.vertical.counting_circuits import KEY_BITS
from dagora.parties.vertical.dual_execution import MAY_BE_KNOWN, SecretFunction
from tests.attacks.fuzz import tries
from tests.parties.crypto.transfer.test_checked_transfer import with_another_choice
from tests.parties.pairs import deal_seeds, traffic
from tests.parties.vertical.central import central_edges
from tests.parties.vertical.cheaters import (
    MALICIOUS,
    cheat,
    ignores_keys,
    inverts_an_edge,
    miscounts,
    one_line,
    small,
    with_inverted_input,
)
from tests.parties.vertical.owners import LONG, begin, edges, errors, learn, owners, pair


@pytest.fixture
def dealt(monkeypatch):
    deal_seeds(monkeypatch)


# --- a garbler that garbles another circuit


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("alter", [inverts_an_edge, ignores_keys])
@pytest.mark.parametrize("party", ["host", "b"])
def test_a_garbler_of_another_circuit_is_caught(monkeypatch, party, alter):
    cheater = cheat(monkeypatch, party, alter)
    parties = pair()
    ended = errors(parties, small(), MALICIOUS)
    assert cheater.altered == 1
    honest = ended[party == "host"]
    assert DIFFERENT in one_line(honest)
    # Nothing but the end tells: what the honest party has sent is what it always sends.
    monkeypatch.undo()
    deal_seeds(monkeypatch)
    usual = pair()
    learn(usual, small(), MALICIOUS)
    side = 1 if party == "host" else 0
    assert traffic(parties[side]) == traffic(usual[side])


@pytest.mark.usefixtures("dealt")
def test_the_bit_that_can_leak_is_whether_the_other_circuit_has_the_same_output(monkeypatch):
    """Another circuit that gives the same graph on these columns is not seen, and the graph is the right one."""
    cheater = cheat(monkeypatch, "host", miscounts)
    host, guest = learn(pair(), small(), MALICIOUS)
    assert cheater.altered == 1
    assert edges(host) == edges(guest) == {(0, 1)}


def test_without_the_comparison_the_cheater_would_win(monkeypatch):
    """What the tests above are worth: a guest that believes what it evaluated has the graph that the host wants."""
    deal_seeds(monkeypatch)
    cheat(monkeypatch, "host", inverts_an_edge)
    monkeypatch.setattr("dagora.parties.crypto.garbling.output_check._exchange", believing)
    host, guest = learn(pair(), small(), MALICIOUS)
    assert edges(host) == {(0, 1)}
    assert edges(guest) == set()


def believing(channel, step, side, content, random):
    """The exchange of `output_check`, in which a party takes the other's proof for its own."""
    channel.send(step, content=content)
    told = channel.receive(step, {"content": bytes})["content"]
    return content if step == "proof" else told


# --- inputs, labels and transfers of a cheater


def lying(monkeypatch, party, run_of, change):
    """In the run that `run_of` garbles, the party of this name puts other bits in."""
    run = SecretFunction.run

    def cheated(self, computing, side, inputs, progress):
        channel = computing._channel
        if channel.transport.name == party and channel.tag == f"garbled-{run_of}":
            inputs = change(inputs.copy())
        return run(self, computing, side, inputs, progress)

    monkeypatch.setattr(SecretFunction, "run", cheated)


def half_inverted(bits):
    bits[:-KEY_BITS:2] ^= 1
    return bits


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("run_of", ["host", "guest"])
def test_other_columns_in_one_of_the_runs_are_caught(monkeypatch, run_of):
    lying(monkeypatch, "b", run_of, half_inverted)
    ended = errors(pair(), small(), MALICIOUS)
    assert DIFFERENT in one_line(ended[0])
    assert DIFFERENT in one_line(ended[1])


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("side", [0, 1])
def test_wrong_labels_of_outputs_are_caught(monkeypatch, side):
    outputs = dual_execution.open_outputs

    def wrong(channel, whose, zeros, delta, evaluated, *, random):
        if whose == side:
            evaluated = evaluated ^ np.uint64(2)
        return outputs(channel, whose, zeros, delta, evaluated, random=random)

    monkeypatch.setattr(dual_execution, "open_outputs", wrong)
    for error in errors(pair(), small(), MALICIOUS):
        assert DIFFERENT in one_line(error)


@pytest.mark.usefixtures("dealt")
def test_a_party_with_several_vectors_of_choices_is_caught():
    parties = pair(change=(None, with_another_choice(range(64))))
    ended = errors(parties, small(), MALICIOUS)
    assert INCONSISTENT in one_line(ended[0])
    # The host has garbled nothing for this cheater.
    assert not [tag for _, tag, _ in parties[0].sent if tag.endswith("tables")]


@pytest.mark.usefixtures("dealt")
@pytest.mark.parametrize("spoilt", ["garbled-host/tables", "garbled-host/inputs", "garbled-host/run"])
def test_damaged_messages_give_no_result(spoilt):
    def change(to, tag, payload):
        return bytes(byte ^ 255 for byte in bytes(payload)) if tag == spoilt else payload

    ended = errors(pair(change=(change, None)), small(), MALICIOUS)
    assert "'" in one_line(ended[1])
    assert isinstance(ended[0], ProtocolError)


@pytest.mark.usefixtures("dealt")
def test_a_cheater_that_reads_the_proof_and_leaves_with_another_reason(monkeypatch):
    """It has its bit and gives an innocent reason: the line of the other says once what may be known."""
    exchange = output_check._exchange

    def leaving(channel, step, side, content, random):
        if side == 0 or step == "decoding":
            return exchange(channel, step, side, content, random)
        channel.send("proof-commitment", digest=bytes(32))
        channel.receive("proof", {"nonce": bytes, "content": bytes})
        raise ProtocolError("my disk is full")

    monkeypatch.setattr(output_check, "_exchange", leaving)
    host, guest = errors(pair(), small(), MALICIOUS)
    assert one_line(host) == f"party 'b' ended the run: my disk is full{MAY_BE_KNOWN}"
    assert reason_to_tell(guest) == "my disk is full"


# --- all of it together


def inverts_some(draw):
    """Several inputs of several circuits are inverted, of counting, of the search and of the outputs."""
    kept = {}

    def alter(circuit):
        if id(circuit) not in kept:
            other = None
            for _ in range(draw.choice([0, 0, 1, 2, 5])):
                other = with_inverted_input(other or circuit, draw.randrange(circuit.n_inputs))
            kept[id(circuit)] = (other, circuit)  # the circuit is kept, so that its id stays its own
        return kept[id(circuit)][0]

    return alter


def other_bits(draw):
    """Some of a cheater's columns are others, and now and then its keys."""

    def change(bits):
        chance, last = draw.choice([0.05, 0.5, 1.0]), len(bits) - (0 if draw.random() < 0.2 else KEY_BITS)
        for place in range(last):
            bits[place] ^= draw.random() < chance
        return bits

    return change


def entered_in(monkeypatch):
    """What each party puts into each run."""
    run, inputs_of = SecretFunction.run, {}

    def kept(self, computing, side, inputs, progress):
        channel = computing._channel
        inputs_of[channel.transport.name, channel.tag] = inputs.copy()
        return run(self, computing, side, inputs, progress)

    monkeypatch.setattr(SecretFunction, "run", kept)
    return inputs_of


@pytest.mark.fuzz
@pytest.mark.full
@pytest.mark.parametrize("party", ["host", "b"])
def test_other_inputs_in_the_second_run_and_several_bits_of_circuits(monkeypatch, party):
    """The other gets no result, or the graph of its own columns and of what entered the run that it garbled."""
    deal_seeds(monkeypatch)
    rows, caught, believed = 16, 0, 0
    for draw in tries(0.02):
        with monkeypatch.context() as patch:
            entered = entered_in(patch)
            lying(patch, party, draw.choice(["host", "guest"]), other_bits(draw))
            if draw.random() < 0.7:
                cheat(patch, party, inverts_some(draw))
            data = np.array([[draw.randrange(2) for _ in range(3)] for _ in range(rows)])
            data[:, 2] ^= data[:, 0] ^ data[:, 2]
            honest = begin(pair(), owners(data, 1, extra=0), MALICIOUS)[party == "host"]
            error = honest.exception(LONG)
        if error is not None:
            assert one_line(error).endswith(MAY_BE_KNOWN)
            caught += 1
            continue
        tag = "garbled-guest" if party == "host" else "garbled-host"
        columns = [entered[name, tag][:-KEY_BITS].reshape(-1, rows) for name in ("host", "b")]
        assert edges(honest.result()) == central_edges(np.concatenate(columns).T.astype(int), range(3), 1)
        believed += 1
    print(f"{caught} caught, {believed} believed")
    assert caught
