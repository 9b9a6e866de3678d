"""A score where variables were set from outside in some rows: each family is scored on the other rows.

A row in which the child was set says nothing about its parents and is left out of that family, and of that
family alone (Cooper & Yoo 1999). The price of a parameter is that of all rows, as in Hauser & Bühlmann
(2012): so graphs that are equivalent under the interventions keep the same BIC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.base.events import Watch, ignore_progress
from dagora.graph.knowledge import Knowledge
from dagora.scores.local_score import Family, LocalScore, PivotForm, ScoreCapabilities, ScoreStorage
from dagora.scores.pivot_form import join_groups
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Statistics

Factory = Callable[..., LocalScore]


class InterventionalScore:
    """The scores of a `factory`, one for each group of rows that families need."""

    def __init__(
        self, statistics: InterventionalStatistics, factory: Factory, options: Mapping[str, object]
    ) -> None:
        self._statistics = statistics
        self.schema, self.n_rows = statistics.schema, statistics.n_rows
        self._parts: list[LocalScore] = []
        self._part_of = np.empty(len(statistics.schema), dtype=np.int64)
        known: dict[int, int] = {}
        for column, variable in enumerate(statistics.schema):
            rows = statistics.without_set(column)
            if id(rows) not in known:
                known[id(rows)] = len(self._parts)
                self._parts.append(self._make(factory, rows, options, variable.name))
            self._part_of[column] = known[id(rows)]

    def _make(
        self, factory: Factory, rows: Statistics, options: Mapping[str, object], name: str
    ) -> LocalScore:
        settings: dict[str, Any] = dict(options)
        if "penalty" in settings and rows.n_rows > 1:
            settings["penalty"] *= math.log(self.n_rows) / math.log(rows.n_rows)
        try:
            return factory(rows, **settings)
        except DataError as error:
            if rows.n_rows == self.n_rows:
                raise
            raise error.with_text(
                f"in the {rows.n_rows} rows where '{name}' was not set: {error.text}"
            ) from None

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Blocks of families, and everything that the scores of the groups can do, each for its families."""
        parts = [part.capabilities for part in self._parts]

        def check_knowledge(knowledge: Knowledge) -> None:
            for part in parts:
                part.check_knowledge(knowledge)

        return ScoreCapabilities(
            block=self.block,
            pivot_form=self._pivot_form,
            counts_rows=any(part.counts_rows for part in parts),
            is_expensive=any(part.is_expensive for part in parts),
            interventions=self._statistics.interventions,
            storage=join_storage([part.storage for part in parts if part.storage is not None]),
            check_knowledge=check_knowledge,
            standard_errors=lambda: {k: v for part in parts for k, v in part.standard_errors().items()},
            messages=lambda: list(dict.fromkeys(line for part in parts for line in part.messages())),
            warnings=lambda: list(dict.fromkeys(line for part in parts for line in part.warnings())),
        )

    def _pivot_form(self) -> PivotForm | None:
        """The forms of the parts as one; None where a part has none."""
        forms = [part.capabilities.pivot_form() for part in self._parts]
        known = [form for form in forms if form is not None]
        return join_groups(known, self._part_of) if len(known) == len(forms) else None

    def families(self, families: Sequence[Family]) -> NDArray[np.float64]:
        """Scores of many families, each by the score of its rows."""
        found = np.empty(len(families))
        part_of = self._part_of[[child for child, _ in families]] if families else np.empty(0, dtype=np.int64)
        for k, part in enumerate(self._parts):
            places = np.flatnonzero(part_of == k)
            if places.size:
                found[places] = part.families([families[place] for place in places.tolist()])
        return found

    def block(
        self, children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
    ) -> NDArray[np.float64]:
        """Scores of many families of one size."""
        found = np.empty(len(children))
        part_of = self._part_of[children]
        done = 0
        for k, part in enumerate(self._parts):
            places = np.flatnonzero(part_of == k)
            if not places.size:
                continue
            block = part.capabilities.block
            if block is not None:
                found[places] = block(children[places], parents[places])
            else:
                found[places] = part.families(
                    [(int(children[place]), tuple(parents[place].tolist())) for place in places.tolist()]
                )
            done += len(places)
            watch(done, len(children))
        return found


def join_storage(parts: Sequence[ScoreStorage]) -> ScoreStorage | None:
    """Store the results of several scores together, each under its number; None if there is nothing."""

    def export() -> dict[str, NDArray[np.generic]]:
        return {f"{k}_{name}": array for k, part in enumerate(parts) for name, array in part.export().items()}

    def load(arrays: Mapping[str, NDArray[np.generic]]) -> int:
        of_part: list[dict[str, NDArray[np.generic]]] = [{} for _ in parts]
        for key, array in arrays.items():
            number, _, name = key.partition("_")
            of_part[int(number)][name] = array
        return sum(part.load(own) for part, own in zip(parts, of_part, strict=True))

    def fingerprint() -> str:
        return sha256("".join(part.fingerprint() for part in parts).encode()).hexdigest()

    return ScoreStorage(fingerprint, export, load) if parts else None
