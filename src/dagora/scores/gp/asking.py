"""Estimates that ask for log densities, side by side: what all of them ask for is computed in one call.

An estimate is a generator. It yields points, is sent the log densities there, and returns its result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Result = TypeVar("Result")
Asking = Generator[Array, Array, Result]


def side_by_side(
    estimates: Sequence[Asking[Result]], log_density: Callable[[Positions, Array], Array]
) -> list[Result]:
    """Results of estimates; `log_density` is given points, and for each the number of the estimate.

    >>> def height(place):
    ...     values = yield np.array([[place]])
    ...     return float(values[0])
    >>> side_by_side([height(1.0), height(2.0)], lambda which, points: 10.0 * which - points[:, 0])
    [-1.0, 8.0]
    """
    results: dict[int, Result] = {}
    asked: dict[int, Array] = {}

    def go_on(number: int, answer: Array | None) -> None:
        try:
            asked[number] = estimates[number].send(cast("Array", answer))
        except StopIteration as end:
            results[number] = end.value

    for number in range(len(estimates)):
        go_on(number, None)
    while asked:
        points, asked = asked, {}
        sizes = [len(each) for each in points.values()]
        values = log_density(np.repeat(list(points), sizes), np.concatenate(list(points.values())))
        for number, own in zip(points, np.split(values, np.cumsum(sizes)[:-1]), strict=True):
            go_on(number, own)
    return [results[number] for number in range(len(estimates))]


def above(floor: float, size: int, estimate: Asking[Result]) -> Asking[Result]:
    """The same estimate; points with one of the first `size` parameters below a floor have no density."""
    answer: Array | None = None
    while True:
        try:
            points = estimate.send(cast("Array", answer))
        except StopIteration as end:
            return cast("Result", end.value)
        inside = points[:, :size].min(axis=1) >= floor
        answer = np.full(len(points), -np.inf)
        answer[inside] = yield points[inside]
