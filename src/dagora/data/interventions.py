"""Interventions: which variables were set in which rows, by a column of the table or by a list.

In the text form, `COLUMN` names a column whose levels are names of variables, several with `+` between them;
an empty cell, `none`, `-` and `observational` say that nothing was set. `COLUMN:LEVEL=NAME,LEVEL=NAME+NAME`
says for each level of the column what was set there; in rows with another level nothing was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.base.wording import by_door, col, option
from dagora.data.columns.column_names import check_marks
from dagora.data.schema import Kind, Schema
from dagora.data.table import Table

NOTHING = frozenset({"", "none", "-", "observational", "missing", "nan"})

# A column; a column with what its levels mean; or the targets of each row.
GivenInterventions = str | Mapping[str, Mapping[object, object]] | Sequence[object]


@dataclass(frozen=True, eq=False)
class Interventions:
    """`regimes[of_row[k]]` are the variables that were set in row k.

    >>> Interventions.of_rows([None, "dose", ["dose", "diet"], "dose"], ["diet", "dose"]).regimes
    ((), ('diet', 'dose'), ('dose',))
    """

    regimes: tuple[tuple[str, ...], ...]
    of_row: NDArray[np.int64]

    @classmethod
    def of_rows(cls, rows: Sequence[object], names: Sequence[str]) -> Interventions:
        """Make one from the targets of each row: nothing (None), a name, or several names."""
        found = [targets_of(row, names) for row in rows]
        regimes = tuple(sorted(set(found)))
        place = {targets: k for k, targets in enumerate(regimes)}
        return cls(regimes, np.array([place[targets] for targets in found], dtype=np.int64))

    def unset(self, name: str) -> NDArray[np.bool_]:
        """Rows in which a variable was not set."""
        free = np.array([name not in targets for targets in self.regimes], dtype=np.bool_)
        return free[self.of_row]

    def take(self, rows: NDArray[Any]) -> Interventions:
        """The marks of some rows."""
        return Interventions(self.regimes, self.of_row[rows])

    @property
    def targets(self) -> tuple[str, ...]:
        """All variables that were set in some row, sorted."""
        return tuple(sorted({name for targets in self.regimes for name in targets}))


@dataclass(frozen=True)
class Marks:
    """Read the user's option: the column, and the meaning of its levels (None: names of variables)."""

    column: str
    meanings: Mapping[str, object] | None = None

    @classmethod
    def read(cls, given: object) -> Marks:
        """Read the text form, or `{column: {level: names}}`.

        >>> Marks.read("experiment:3=Akt,4=PKC+Mek")
        Marks(column='experiment', meanings={'3': 'Akt', '4': 'PKC+Mek'})
        >>> Marks.read("set")
        Marks(column='set', meanings=None)
        """
        if isinstance(given, Mapping):
            if len(given) != 1 or not isinstance(meanings := next(iter(given.values())), Mapping):
                raise OptionError(
                    "interventions takes one column with its levels: {'column': {'level': 'variable'}}"
                )
            return cls(str(next(iter(given))), {str(level): names for level, names in meanings.items()})
        text = str(given)
        column, colon, pairs = text.partition(":")
        if not colon or "=" not in pairs:
            return cls(text)
        meanings = {}
        for pair in pairs.split(","):
            level, sign, names = (part.strip() for part in pair.partition("="))
            if not sign or not names:
                raise OptionError(
                    f"{option('interventions', 'COLUMN:LEVEL=VARIABLE,…')} has '{pair}' where a level and a "
                    "variable were expected"
                )
            if level in meanings:
                raise OptionError(f"{option('interventions')} gives the level '{level}' twice")
            meanings[level] = names
        return cls(column.strip(), meanings)

    @property
    def given(self) -> str | dict[str, dict[str, object]]:
        """The option as `read` takes it and JSON holds it.

        >>> Marks.read("experiment:3=Akt").given, Marks.read("set").given
        ({'experiment': {'3': 'Akt'}}, 'set')
        """
        if self.meanings is None:
            return self.column
        plain: dict[str, object] = {
            level: names
            if isinstance(names, str) or names is None
            else [str(name) for name in as_list(names)]
            for level, names in self.meanings.items()
        }
        return {self.column: plain}

    def split(self, table: Table) -> tuple[Table, Interventions]:
        """Take the column out of a table; return the rest and the marks."""
        check_marks(self.column, table.names)
        place = table.schema.index(self.column)
        variable = table.schema[place]
        if variable.kind is not Kind.DISCRETE:
            raise DataError(
                f"{col(self.column)} holds numbers, not names of variables: declare it discrete "
                f"({option('discrete', self.column)})"
            )
        rest = table.select([name for name in table.names if name != self.column])
        meanings = [self._targets(level, variable.levels, rest.names) for level in variable.levels]
        regimes = tuple(sorted(set(meanings)))
        of_level = np.array([regimes.index(targets) for targets in meanings], dtype=np.int64)
        used = np.unique(of_row := of_level[table.codes(place)])
        return rest, Interventions(tuple(regimes[k] for k in used), np.searchsorted(used, of_row))

    def _targets(self, level: str, levels: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
        if self.meanings is None:
            try:
                return targets_of(level, names)
            except DataError as error:
                example = f"{self.column}:{level}={names[0]}"
                way = by_door(
                    python=f"interventions={example!r} says what a level means",
                    command=f"--interventions {example} says what a level means",
                )
                where = f" (a level of {col(self.column)}); {way}"
                raise error.with_text(error.text + where) from None
        unknown = next((given for given in self.meanings if given not in levels), None)
        if unknown is not None:
            raise DataError(
                f"{option('interventions')} speaks of the level '{unknown}', which {col(self.column)} "
                f"does not have (it has {', '.join(levels[:8])}{', …' if len(levels) > 8 else ''})"
            )
        return targets_of(self.meanings.get(level), names)


def targets_of(given: object, names: Sequence[str]) -> tuple[str, ...]:
    """The variables that were set, sorted: from nothing, a text with `+`, or a sequence of names.

    >>> targets_of("dose + diet", ["diet", "dose"]), targets_of(None, ["a"]), targets_of("none", ["a"])
    (('diet', 'dose'), (), ())
    >>> targets_of("sport", ["diet", "dose"])
    Traceback (most recent call last):
    dagora.DataError: an intervention names 'sport', which is no column
    """
    if given is None or (isinstance(given, float) and np.isnan(given)):
        return ()
    if isinstance(given, str):
        parts = [given] if given in names else [part.strip() for part in given.split("+")]
        if len(parts) == 1 and parts[0] not in names and parts[0].lower() in NOTHING:
            return ()
    else:
        parts = [str(part) for part in as_list(given)]
    unknown = next((part for part in parts if part not in names), None)
    if unknown is not None:
        raise DataError(f"an intervention names '{unknown}', which is no column")
    return tuple(sorted(set(parts)))


def as_list(given: object) -> list[object]:
    """Several things as a list; one thing as a list of it."""
    return list(given) if isinstance(given, list | tuple | set | frozenset) else [given]


def find_marks(schema: Schema, nodes: Collection[str]) -> str | None:
    """A column beside the nodes of a graph whose levels are their names, as marks of interventions are.

    >>> from dagora.data.schema import Variable
    >>> columns = [Variable("set", Kind.DISCRETE, ("dose", "none")), Variable("dose", Kind.CONTINUOUS)]
    >>> find_marks(Schema(columns), ["dose"]), find_marks(Schema(columns[:1]), ["diet"])
    ('set', None)
    """
    for variable in schema:
        if variable.name in nodes or not variable.levels:
            continue
        split = ([level] if level in nodes else level.split("+") for level in variable.levels)
        parts = [part.strip() for level in split for part in level]
        named = [part in nodes for part in parts]
        empty = [part.lower() in NOTHING for part in parts]
        if any(named) and all(one or other for one, other in zip(named, empty, strict=True)):
            return variable.name
    return None


def warnings_of_marks(schema: Schema, nodes: Collection[str]) -> list[str]:
    """A warning where rows have marks of interventions and what is done with them does not know of any."""
    found = find_marks(schema, nodes)
    if found is None:
        return []
    said = option("interventions", found)
    filled = f"missing values are filled as if nothing had been set, unless you say {said}"
    return [f"column '{found}' names variables, as marks of interventions do: {filled}"]
