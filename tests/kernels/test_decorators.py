"""Kernels within kernels."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import event

from dagora.kernels import decorators as compiled


class Names(event.Listener):
    """Names of the functions that numba compiles."""

    def __init__(self):
        self.compiled = []

    def on_start(self, event):
        self.compiled.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass


def test_a_part_is_compiled_once_whatever_numbers_are_written_in_its_calls(monkeypatch):
    monkeypatch.setattr(compiled, "can_cache", lambda _: False)

    @compiled.kernel
    def scaled(number, factor):
        return number * factor

    @compiled.kernel
    def sum_of_multiples(numbers):
        total = 0
        for number in numbers:
            total += scaled(number, 2) + scaled(number, 3) + scaled(number=number, factor=5)
        return total

    names = Names()
    with event.install_listener("numba:compile", names):
        assert sum_of_multiples(np.array([1, 10])) == 110
    assert names.compiled.count("scaled") == 1
    # Called from Python it works as well; the way in is compiled now.
    assert scaled(7, 6) == 42
    assert scaled(7, factor=0.5) == 3.5


def test_a_slice_takes_no_array_of_another_shape():
    """The error is ours: that of numba makes text of shapes, which takes seconds to compile."""

    @compiled.kernel
    def assign(target, source):
        target[1:] = source

    with pytest.raises(ValueError, match="an array of another shape to a slice"):
        assign(np.zeros(3), np.ones(3))
    target = np.zeros(3)
    assign(target, np.ones(2))
    assert target.tolist() == [0, 1, 1]
