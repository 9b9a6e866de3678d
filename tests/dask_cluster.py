"""A real Dask cluster on this machine: workers are processes, on loopback."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def cluster_of_processes(workers: int = 2, threads: int = 1) -> Iterator[object]:
    """A client of a new cluster; skips the test where Dask is not installed."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def processes_of(client: object) -> set[int]:
    """The processes that are workers now."""
    return set(client.run(os.getpid).values())


def kill(processes: set[int]) -> None:
    """End processes as a machine that fails does."""
    for process in processes:
        os.kill(process, signal.SIGKILL)
