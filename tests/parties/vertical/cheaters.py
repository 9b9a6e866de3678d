"""Two owners of whom one cheats: it garbles another circuit, in a way that no size or fingerprint tells."""

import numpy as np

from dagora.base.errors import ProtocolError
from dagora.parties.crypto.garbling import yao
from dagora.parties.crypto.garbling.circuit import NOT, Circuit
from dagora.parties.crypto.garbling.yao import Garbler
from dagora.parties.vertical import dual_execution
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.counting_circuits import KEY_BITS, outputs_if_same_keys, tally
from tests.parties.vertical.owners import owners

MALICIOUS = TermsProposal(max_parents=1, security="malicious")


def small():
    """Two columns that depend on each other."""
    data = np.repeat([[0, 0], [1, 1]], 8, axis=0)
    return owners(data, 1, extra=0)


def one_line(error):
    assert isinstance(error, ProtocolError), repr(error)
    assert "\n" not in str(error)
    return str(error)


def with_inverted_input(circuit, wire):
    """The circuit with one more gate, which inverts one of its inputs.

    A NOT has no table, and an evaluator does nothing for it: labels fit those of the circuit that was agreed.
    """
    inputs = circuit.n_inputs

    def moved(wires):
        shifted = np.where(wires >= inputs, wires + 1, wires)
        return np.where(wires == wire, inputs, shifted).astype(np.int32)

    return Circuit(
        inputs,
        np.concatenate([[NOT], circuit.op]).astype(np.uint8),
        np.concatenate([[wire], moved(circuit.a)]).astype(np.int32),
        np.concatenate([[wire], moved(circuit.b)]).astype(np.int32),
        moved(circuit.outputs),
    )


class OtherCircuit(Garbler):
    """Garbles `alter(circuit)` in the place of the circuits that `alter` has another for."""

    alter = staticmethod(lambda circuit: None)
    altered = 0

    def run(self, circuit, labels):
        other = type(self).alter(circuit)
        if other is None:
            return super().run(circuit, labels)
        type(self).altered += 1
        agreed, fingerprint = yao.slots_of(circuit), yao._fingerprint

        def told(slots, instances, first):
            return fingerprint(agreed if slots is yao.slots_of(other) else slots, instances, first)

        yao._fingerprint = told
        try:
            return super().run(other, labels)
        finally:
            yao._fingerprint = fingerprint


def cheat(monkeypatch, party, alter):
    """From now on the party of this name garbles `alter(circuit)` where that is a circuit; returns its class."""
    cheater = type("Cheater", (OtherCircuit,), {"alter": staticmethod(alter), "altered": 0})

    def garbler(transport, *rest, **options):
        return (cheater if transport.name == party else Garbler)(transport, *rest, **options)

    monkeypatch.setattr(dual_execution, "Garbler", garbler)
    return cheater


def inverts_an_edge(circuit):
    """An edge is said to be there where it is not, and the other way round."""
    marks = circuit.n_inputs - 2 * KEY_BITS
    agreed = marks > 0 and circuit is outputs_if_same_keys(marks)
    return with_inverted_input(circuit, 2 * KEY_BITS) if agreed else None


def ignores_keys(circuit):
    """One bit of the other's hash of keys is another."""
    marks = circuit.n_inputs - 2 * KEY_BITS
    agreed = marks > 0 and circuit is outputs_if_same_keys(marks)
    return with_inverted_input(circuit, 3) if agreed else None


def miscounts(circuit):
    """Every count is of rows among which one was changed; with 16 rows, this does not change the graph."""
    return with_inverted_input(circuit, 0) if circuit is tally(16) else None
