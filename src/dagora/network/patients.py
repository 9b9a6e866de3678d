"""A small made-up network of patients, with both kinds of columns, for examples.

Severe cases get drug B more often, so that B looks worse than A until severity is taken into account.
"""

from __future__ import annotations

import numpy as np

from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.networks import MixedNetwork
from dagora.network.regressions import Lines, Softmax
from dagora.network.sample import sample_network

NODES = ("sex", "age", "smoker", "bmi", "sbp", "severity", "drug", "death")
EDGES = (
    ("sex", "smoker"),
    ("age", "sbp"),
    ("bmi", "sbp"),
    ("age", "severity"),
    ("smoker", "severity"),
    ("severity", "drug"),
    ("severity", "death"),
    ("drug", "death"),
)
DECIMALS = {"age": 0, "bmi": 1, "sbp": 0}
ROWS, SEED = 1000, 0


def patients() -> MixedNetwork:
    """The network that the example is drawn from.

    >>> round(patients().query("P(death=yes | do(drug=B))").probabilities["yes"], 2)
    0.19
    """
    return MixedNetwork(
        DAG(NODES, EDGES),
        levels={
            "sex": ("female", "male"),
            "smoker": ("no", "yes"),
            "severity": ("mild", "severe"),
            "drug": ("A", "B"),
            "death": ("no", "yes"),
        },
        tables={
            "sex": np.array([0.5, 0.5]),
            "smoker": np.array([[0.8, 0.2], [0.6, 0.4]]),
            "drug": np.array([[0.8, 0.2], [0.15, 0.85]]),
            "death": np.array([[[0.86, 0.14], [0.94, 0.06]], [[0.45, 0.55], [0.65, 0.35]]]),
        },
        choices={
            "severity": Softmax(
                np.array([[0.0, -5.5], [0.0, -4.3]]), np.array([[[0.0], [0.085]], [[0.0], [0.085]]])
            )
        },
        lines={
            "age": Lines(np.array(57.0), np.zeros(0), np.array(12.0)),
            "bmi": Lines(np.array(26.5), np.zeros(0), np.array(4.0)),
            "sbp": Lines(np.array(75.0), np.array([0.6, 0.8]), np.array(9.0)),
        },
        name="patients",
    )


def patient_rows() -> Table:
    """The rows of the example, rounded as people write such numbers."""
    table = sample_network(patients(), ROWS, SEED)
    return Table(
        table.schema,
        tuple(
            np.round(column, DECIMALS[name]) if name in DECIMALS else column
            for name, column in zip(table.names, table.columns, strict=True)
        ),
    )
