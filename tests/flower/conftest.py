"""The rows of all sites together, for real SuperLinks and SuperNodes."""

from pathlib import Path

import pytest

import dagora
from dagora.data.writers import write_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "all.csv"
    write_table(dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=4), "gaussian", 600, seed=4).table, file)
    return file
