"""The sites agree on their columns before anything is counted.

Types and levels that each site infers from its own file may differ: one site never saw a level, or a column
looks like a few categories here and like numbers there. The sites show the coordinator the names, kinds and
levels of their columns (never rows or counts). The coordinator combines them into one schema, and every site
recodes its table. A discrete column has the union of the levels, sorted by the rule for all tables. A column
is continuous if a site has it as continuous, or if the union has more whole numbers than a discrete column of
a pooled file may have. A site adopts only one schema: with another, a coordinator could count the same rows
under different names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from dagora.data.columns.column_type import MAX_INTEGER_LEVELS
from dagora.data.columns.levels import IS_NUMBER, sort_levels
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DataError, DisagreementError, ProtocolError
from dagora.parties.horizontal.session.federation import Answer, Federation, Question, Site

# Key of a site's memory.
ADOPTED = "adopted schema"


def agree(federation: Federation, *, discrete: Iterable[str] = (), continuous: Iterable[str] = ()) -> Schema:
    """Return one schema, which all sites have adopted; `discrete` and `continuous` declare columns."""
    described = {
        party: read_schema(party, answer) for party, answer in federation.gather("schema", {}).items()
    }
    schema = reconcile(described, frozenset(discrete), frozenset(continuous))
    federation.gather("adopt", write_schema(schema))
    return schema


def reconcile(
    described: Mapping[str, Schema], discrete: frozenset[str], continuous: frozenset[str]
) -> Schema:
    """Combine the sites' schemas into one, or refuse with one line that says where they disagree.

    >>> one = Schema([Variable("a", Kind.DISCRETE, ("no", "yes"))])
    >>> two = Schema([Variable("a", Kind.DISCRETE, ("maybe",))])
    >>> reconcile({"north": one, "south": two}, frozenset(), frozenset())[0].levels
    ('maybe', 'no', 'yes')
    """
    first = min(described)
    names = described[first].names
    for party, schema in described.items():
        for some, others, where, lacking in (
            (names, schema.names, first, party),
            (schema.names, names, party, first),
        ):
            missing = [name for name in some if name not in others]
            if missing:
                raise DisagreementError(
                    f"'{missing[0]}' is a column of {where} but not of {lacking}: sites need the same columns"
                )
    for name in (*discrete, *continuous):
        if name not in names:
            raise DataError(f"there is no column named '{name}' at the sites")
    return Schema(
        merge_variable(name, {party: schema[schema.index(name)] for party, schema in described.items()}, kind)
        for name in names
        for kind in [Kind.DISCRETE if name in discrete else Kind.CONTINUOUS if name in continuous else None]
    )


def merge_variable(name: str, described: Mapping[str, Variable], declared: Kind | None) -> Variable:
    """Combine what the sites say about one variable."""
    declarations = {variable.levels for variable in described.values()}
    # Sites with the same levels keep their order; otherwise the union is sorted.
    levels = min(declarations) if len(declarations) == 1 else sort_levels(chain.from_iterable(declarations))
    numeric = all(IS_NUMBER.fullmatch(level) for level in levels)
    as_numbers = [party for party, variable in described.items() if variable.kind is Kind.CONTINUOUS]
    # The same levels at all sites were declared; different ones were inferred from what each site saw.
    inferred = numeric and len(declarations) > 1 and all(float(level).is_integer() for level in levels)
    many = inferred and len(levels) > MAX_INTEGER_LEVELS
    kind = declared or (Kind.CONTINUOUS if as_numbers or many else Kind.DISCRETE)
    if kind is Kind.CONTINUOUS and not numeric:
        text = next(
            party
            for party, variable in described.items()
            if not all(IS_NUMBER.fullmatch(level) for level in variable.levels)
        )
        other = as_numbers[0] if as_numbers else "declared"
        raise DisagreementError(
            f"column '{name}' is text at {text} and numbers at {other}: the sites must write it alike"
        )
    if kind is Kind.DISCRETE and as_numbers:
        raise DisagreementError(
            f"column '{name}' is declared discrete but {as_numbers[0]} has numbers: declare it there too"
        )
    return Variable(name, kind, levels if kind is Kind.DISCRETE else ())


def conform(table: Table, schema: Schema) -> Table:
    """Recode a table to an agreed schema: its columns in that order, with those levels."""
    columns: list[Any] = []
    for variable in schema:
        own = table.schema[table.schema.index(variable.name)]
        values = table.columns[table.schema.index(variable.name)]
        if own.kind is Kind.DISCRETE and variable.kind is Kind.DISCRETE:
            code = {level: position for position, level in enumerate(variable.levels)}
            values = np.array([code[level] for level in own.levels], dtype=np.uint16)[values]
        elif own.kind is Kind.DISCRETE:
            values = np.array([float(level) for level in own.levels])[values]
        elif variable.kind is Kind.DISCRETE:
            raise DataError(f"column '{variable.name}' is continuous here and discrete elsewhere")
        columns.append(values)
    return Table(schema, tuple(columns))


def write_schema(schema: Schema) -> Answer:
    """A schema as a message."""
    return {
        "names": list(schema.names),
        "kinds": [str(variable.kind) for variable in schema],
        "levels": [list(variable.levels) for variable in schema],
    }


def read_schema(party: str, message: Question) -> Schema:
    """Read what `write_schema` wrote, or refuse it."""
    names, kinds, levels = (message.get(key) for key in ("names", "kinds", "levels"))
    if not (isinstance(names, list) and isinstance(kinds, list) and isinstance(levels, list)):
        raise ProtocolError(f"{party} did not send a schema", party=party)
    try:
        return Schema(
            Variable(str(name), Kind(kind), tuple(map(str, some)))
            for name, kind, some in zip(names, kinds, levels, strict=True)
        )
    except (TypeError, ValueError):
        raise ProtocolError(f"{party} sent an inconsistent schema", party=party) from None


def show_schema(site: Site, question: Question) -> Answer:  # noqa: ARG001
    """The site's task: names, kinds and levels."""
    return write_schema(site.table.schema)


def adopt_schema(site: Site, question: Question) -> Answer:
    """The site's task: recode the table, once."""
    schema = read_schema("the coordinator", question)
    if site.memory.setdefault(ADOPTED, schema) != schema:
        raise ProtocolError("refused: the coordinator asks for other columns or levels than were agreed on")
    site.table = conform(site.table, schema)
    return {}
