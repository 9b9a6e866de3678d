"""Waiting for the browser, which answers to a wheel or a sheet of paper in its own time."""

import time
from collections.abc import Callable


def until(holds: Callable[[], bool], why: str = "waited in vain", seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, why
        time.sleep(0.02)
