"""Keys that threads share against numpy on all of them at once."""

import numpy as np
import pytest

from dagora.kernels.threads import Threads
from dagora.scores import shared_keys
from dagora.scores.lattice import keys_of
from dagora.scores.shared_keys import ascending_order, distinct_keys, rows_of_keys

PARTS = [[0, 300, 2000], [1], [0, 0], [5000], []]


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("sizes", PARTS)
@pytest.mark.parametrize("largest", [3, 1000, 2**62])
def test_distinct_keys(jobs, sizes, largest, monkeypatch):
    monkeypatch.setattr(shared_keys, "RANGE", 100)
    rng = np.random.default_rng(1)
    parts = [np.sort(rng.integers(0, largest, size)) for size in sizes]
    with Threads(jobs) as threads:
        different, places = distinct_keys(parts, threads)
    assert different.tolist() == sorted({key for part in parts for key in part.tolist()})
    for part, place in zip(parts, places, strict=True):
        assert different[place].tolist() == part.tolist()


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("largest", [3, 2**62])
def test_order(jobs, largest, monkeypatch):
    monkeypatch.setattr(shared_keys, "RANGE", 100)
    keys = np.random.default_rng(2).integers(0, largest, 3000)
    with Threads(jobs) as threads:
        assert ascending_order(keys, threads).tolist() == np.argsort(keys, kind="stable").tolist()


@pytest.mark.parametrize("jobs", [1, 3])
def test_rows(jobs, monkeypatch):
    monkeypatch.setattr(shared_keys, "RANGE", 100)
    rows = np.sort(np.random.default_rng(3).integers(0, 37, (1000, 4)), axis=1)
    with Threads(jobs) as threads:
        assert rows_of_keys(keys_of(rows, 37), 4, 37, threads).tolist() == rows.tolist()
