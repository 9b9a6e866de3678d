"""A table with a known network, on disk, for all commands."""

from pathlib import Path

import pytest

import dagora
from dagora.data.writers import write_table
from dagora.formats.registry import write_network
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Learn once: the first run ever compiles for longer than two seconds, after which progress is shown."""
    dagora.learn(sample_network(greenhouse(), 100, seed=1))
    dagora.learn(dagora.simulate(dagora.random_dag("er", 4, 1), "gaussian", 50, seed=0).table)


@pytest.fixture(scope="session")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `garden.bif`, the network, and `garden.csv`, 3000 rows of it."""
    folder = tmp_path_factory.mktemp("garden")
    write_network(greenhouse(), folder / "garden.bif")
    write_table(sample_network(greenhouse(), 3000, seed=1), folder / "garden.csv")
    return folder
