"""What a question names, looked up in a network: variables, levels and numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from math import isfinite

from dagora.base.errors import QueryError
from dagora.base.wording import among
from dagora.network.inference.problem import Known
from dagora.network.inference.questions import EVERYTHING, Question
from dagora.network.model import Model

MOST_NAMED = 10
"""Entries of evidence that a message names."""


def check_variable(model: Model, name: object) -> str:
    """Return the name of a variable; refuse an unknown one with the nearest name.

    >>> from dagora.graph.dag import DAG
    >>> check_variable(Model(DAG(["smoker"])), "smokr")
    Traceback (most recent call last):
    dagora.QueryError: there is no variable 'smokr' in the network: did you mean 'smoker'?
    """
    if isinstance(name, str) and name in model.parents:
        return name
    near = difflib.get_close_matches(str(name), model.parents, n=1)
    hint = f"did you mean '{near[0]}'?" if near else among(model.parents)
    raise QueryError(f"there is no variable '{name}' in the network: {hint}")


def check_value(model: Model, name: str, value: object) -> float:
    """The code of a level, or a number.

    >>> from dagora.graph.dag import DAG
    >>> check_value(Model(DAG(["a"]), {"a": ("no", "yes")}), "a", "maybe")
    Traceback (most recent call last):
    dagora.QueryError: 'a' has no level 'maybe': known are no, yes
    """
    if name in model.levels:
        try:
            return model.levels[name].index(str(value))
        except ValueError:
            raise QueryError(f"'{name}' has no level '{value}': {among(model.levels[name])}") from None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise QueryError(f"'{name}' is continuous: it needs a finite number, not '{value}'")
    return number


def check_known(model: Model, given: Mapping[str, object], do: Mapping[str, object]) -> Known:
    """Codes and numbers of what is known."""
    return Known(
        {check_variable(model, name): check_value(model, name, value) for name, value in given.items()},
        {check_variable(model, name): check_value(model, name, value) for name, value in do.items()},
    )


def check_targets(model: Model, question: Question, known: Known) -> tuple[str, ...]:
    """The variables that are asked for; `*` is all of which nothing is known."""
    if question.of == (EVERYTHING,) and EVERYTHING not in model.parents:
        return tuple(node for node in model.graph if node not in known.seen and node not in known.do)
    return tuple(check_variable(model, name) for name in question.of)


def describe(model: Model, known: Mapping[str, float]) -> str:
    """What is known, in words of the question."""
    listed = [
        f"{name}={model.levels[name][int(value)] if name in model.levels else format(value, 'g')}"
        for name, value in known.items()
    ]
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return ", ".join(listed[:MOST_NAMED]) + more


def kinds_of(model: Model, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Divide names into discrete and continuous ones."""
    listed = list(names)
    return [n for n in listed if n in model.levels], [n for n in listed if n not in model.levels]
