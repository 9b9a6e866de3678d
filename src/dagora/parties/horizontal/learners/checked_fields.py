"""Fields of a coordinator's question, checked by the site before anything is computed from them.

A coordinator may send anything: another type, another shape, NaN, a number of a million digits. Whatever is
not exactly what a task takes is refused with one line. The returned values are the site's own: arrays are
copies, numbers are plain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import ProtocolError

# More than any machine can hold rows; a float holds every whole number up to here.
MOST_ROWS = 1 << 53


def refuse(task: str, reason: str) -> ProtocolError:
    """The error about a question whose fields are not valid."""
    return ProtocolError(f"refused: in the question '{task}', {reason}")


def check_names(task: str, question: Mapping[str, object], expected: Collection[str]) -> None:
    """Refuse a question that has other fields than those expected.

    >>> check_names("admm-loss", {"weights": 1, "rho": 2}, {"weights"})
    Traceback (most recent call last):
    dagora.ProtocolError: refused: in the question 'admm-loss', the fields must be weights
    """
    if set(question) != set(expected):
        raise refuse(task, f"the fields must be {', '.join(sorted(expected)) or 'none'}")


def reals(
    task: str, question: Mapping[str, object], name: str, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """An array of finite float64 of one shape, copied."""
    value = question[name]
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
        raise refuse(task, f"'{name}' must be an array of float64 of shape {shape}")
    if not np.isfinite(value).all():
        raise refuse(task, f"'{name}' must be finite")
    return np.array(value, dtype=np.float64, order="C")


def truths(task: str, question: Mapping[str, object], name: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """An array of booleans of one shape, copied."""
    value = question[name]
    if not isinstance(value, np.ndarray) or value.dtype != np.bool_ or value.shape != shape:
        raise refuse(task, f"'{name}' must be an array of booleans of shape {shape}")
    return np.array(value, dtype=np.bool_, order="C")


def real(
    task: str,
    question: Mapping[str, object],
    name: str,
    *,
    low: float = 0.0,
    high: float = np.inf,
    open_low: bool = False,
) -> float:
    """A finite number, at least `low`, or above it, and at most `high`."""
    value = question[name]
    if (
        not isinstance(value, float)
        or not np.isfinite(value)
        or not low <= value <= high
        or (open_low and value == low)
    ):
        raise refuse(task, f"'{name}' must be a finite number {'above' if open_low else 'from'} {low:g}")
    return float(value)


def whole(task: str, question: Mapping[str, object], name: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    value = question[name]
    if type(value) is not int or not low <= value <= high:
        raise refuse(task, f"'{name}' must be a whole number from {low} to {high}")
    return value


def choice(task: str, question: Mapping[str, object], name: str, choices: Collection[str]) -> str:
    """One of some words."""
    value = question[name]
    if type(value) is not str or value not in choices:
        raise refuse(task, f"'{name}' must be one of {', '.join(choices)}")
    return value


def finite_answer(task: str, answer: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    """The answer, unless the numbers of the question were too large to compute with."""
    for value in answer.values():
        if not np.isfinite(value).all():
            raise refuse(task, "the numbers are too large to compute with")
    return dict(answer)


def collect_truths(
    answers: Mapping[str, Mapping[str, object]], name: str, shape: tuple[int, ...]
) -> dict[str, NDArray[np.bool_]]:
    """The coordinator's side: one field of booleans of each site's answer, in the order of names."""
    return _collect_arrays(answers, name, shape, np.bool_, "booleans")


LARGEST_ANSWER = 1e100
"""Of a site's numbers: products of three of them are still numbers."""


def collect_reals(
    answers: Mapping[str, Mapping[str, object]], name: str, shape: tuple[int, ...]
) -> dict[str, NDArray[np.float64]]:
    """The coordinator's side: one field of each site's answer, sites in the order of their names.

    >>> collect_reals({"south": {"loss": np.zeros(1)}}, "loss", (1,))
    {'south': array([0.])}
    """
    return _collect_arrays(answers, name, shape, np.float64, "finite numbers")


def _collect_arrays(
    answers: Mapping[str, Mapping[str, object]], name: str, shape: tuple[int, ...], dtype: type, kind: str
) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for party in sorted(answers):
        value: Any = answers[party].get(name)
        fits = isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape
        if not fits or (dtype is np.float64 and not (np.abs(value) <= LARGEST_ANSWER).all()):
            line = f"{party} did not answer with {kind} of shape {shape} for '{name}'"
            raise ProtocolError(line, party=party)
        found[party] = value
    return found
