"""The table to try things on, and the network behind it."""

import numpy as np
import pytest

import dagora
from dagora.network.patients import patients


def test_the_rows_are_those_of_the_network():
    table = dagora.example()
    assert table.n_rows == 1000
    assert table == dagora.example() or np.array_equal(table.columns[1], dagora.example().columns[1])
    network = patients()
    assert dagora.log_likelihood(network, table) == pytest.approx(
        dagora.log_likelihood(network, dagora.sample_network(network, 1000, 5)), rel=0.02
    )


def test_the_drug_looks_worse_than_it_is():
    network = patients()

    def death(question):
        return network.query(f"P(death=yes | {question})").probabilities["yes"]

    assert death("drug=B") > death("drug=A")
    assert death("do(drug=B)") < death("do(drug=A)") - 0.1


@pytest.mark.full
def test_a_file_of_it(run, tmp_path):
    ran = run("demo", "--data", tmp_path / "patients.csv")
    assert ran.code == 0
    table = dagora.read_table(tmp_path / "patients.csv")
    assert table.names == dagora.example().names
    assert [len(column) for column in table.columns] == [1000] * 8
    assert run("demo", "--data", tmp_path).code == 2


def test_no_other_example():
    with pytest.raises(dagora.OptionError, match="'patients'"):
        dagora.example("iris")
