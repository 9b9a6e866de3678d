"""What every network can be asked: the methods that all networks share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from dagora.base.errors import QueryError
from dagora.data.table import Table
from dagora.network.drawing import as_drawn_table, check_rows, seed_sequence
from dagora.network.inference.answer import Answer
from dagora.network.inference.asking import ask
from dagora.network.inference.conditional_rows import draw_given
from dagora.network.inference.knowing import check_known
from dagora.network.inference.questions import SHAPE, Value, made_question, parse
from dagora.network.inference.settings import SAMPLES, check_settings
from dagora.network.model import Model


class Answering:
    """A network that answers questions about its `model`."""

    @property
    def model(self) -> Model:
        """The network as inference and drawing see it."""
        raise NotImplementedError

    def query(
        self,
        question: str | None = None,
        *,
        of: str | Iterable[str] | Mapping[str, Value] | None = None,
        given: Mapping[str, Value] | None = None,
        do: Mapping[str, Value] | None = None,
        method: str = "auto",
        samples: int = SAMPLES,
        seed: int = 0,
        memory: int | str | None = None,
    ) -> Answer:
        """Answer a question such as `P(cancer | smoker=yes)`.

        `P(a, b | c=yes, x=1.5)` is a joint distribution given levels and values, `P(a=yes | …)` the
        probability of an event, `MAP(a, b | …)` the most probable levels together, `MAP(* | …)` of all that
        is not given; `do(d=no)` after the bar sets a variable instead of observing it. Instead of the text,
        `of`, `given` and `do` may be given; a mapping `of` is an event.

        Answers are exact if they can be. `method="sampling"` estimates them from weighted samples; `auto`
        does so by itself only where a discrete node depends on continuous nodes that are not given. `memory`
        bounds the largest table (2 GiB, or half of what is free).
        """
        if (question is None) == (of is None) or (question is not None and (given or do)):
            raise QueryError(f"give either a text, or of=, given= and do=: {SHAPE}")
        check_given(given, do)
        if of is not None and not are_names(of):
            raise QueryError(f"of takes names of variables, or a mapping of them to levels, not {of!r}")
        asked = parse(question) if of is None else made_question("P", of, None, given, do)
        return ask(self.model, asked, check_settings(method, samples, seed, memory))

    def sample(
        self,
        rows: int,
        seed: int,
        *,
        evidence: Mapping[str, Value] | None = None,
        do: Mapping[str, Value] | None = None,
        memory: int | str | None = None,
    ) -> Table:
        """Draw rows, given evidence or interventions if there are any: those have their value in each row."""
        check_rows(rows)
        check_given(evidence, do)
        rng = np.random.default_rng(seed_sequence(seed))
        known = check_known(self.model, evidence or {}, do or {})
        limits = replace(check_settings("exact", 1, seed, memory).limits, asked="rows")
        return as_drawn_table(self.model, draw_given(self.model, known, rows, rng, limits))


def are_names(of: object) -> bool:
    """Whether something is a name, several names, or a mapping by names."""
    several = isinstance(of, Mapping | list | tuple | set | frozenset)
    return isinstance(of, str) or (
        several and all(isinstance(name, str) for name in cast("Iterable[object]", of))
    )


def check_given(*known: object) -> None:
    """Refuse evidence that is no mapping."""
    for some in known:
        if some is not None and not isinstance(some, Mapping):
            raise QueryError(f"evidence is a mapping such as {{'smoker': 'yes'}}, not {some!r}")
