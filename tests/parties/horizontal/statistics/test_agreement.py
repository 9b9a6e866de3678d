import numpy as np
import pytest

from dagora.data.partition import split_rows
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.errors import DataError, DisagreementError, ProtocolError
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.statistics.agreement import (
    agree,
    conform,
    read_schema,
    reconcile,
    write_schema,
)
from dagora.parties.horizontal.tasks import TASKS
from tests.random_tables import random_discrete

NOTHING = frozenset()


def discrete(name, *levels):
    return Variable(name, Kind.DISCRETE, levels)


def number(name):
    return Variable(name, Kind.CONTINUOUS)


def schemas(**described):
    return {party: Schema(variables) for party, variables in described.items()}


def test_levels_are_united_and_sorted_by_the_one_rule():
    merged = reconcile(schemas(a=[discrete("x", "10", "9")], b=[discrete("x", "-1", "9")]), NOTHING, NOTHING)
    assert merged[0].levels == ("-1", "9", "10")


def test_columns_come_in_the_order_of_the_first_site():
    merged = reconcile(schemas(b=[number("x"), number("y")], a=[number("y"), number("x")]), NOTHING, NOTHING)
    assert merged.names == ("y", "x")


def test_numbers_win_over_few_whole_numbers():
    merged = reconcile(schemas(a=[discrete("x", "1", "2")], b=[number("x")]), NOTHING, NOTHING)
    assert merged[0] == number("x")


def test_many_whole_numbers_together_are_continuous_as_in_a_pooled_file():
    halves = [[discrete("x", *map(str, range(start, start + 15)))] for start in (0, 15)]
    described = schemas(a=halves[0], b=halves[1])
    assert reconcile(described, NOTHING, NOTHING)[0].kind is Kind.CONTINUOUS
    declared = reconcile(described, frozenset(["x"]), NOTHING)[0]
    assert declared.kind is Kind.DISCRETE
    assert declared.cardinality == 30


def test_few_whole_numbers_can_be_declared_continuous():
    described = schemas(a=[discrete("x", "1", "2")], b=[discrete("x", "2", "3")])
    assert reconcile(described, NOTHING, frozenset(["x"]))[0] == number("x")


@pytest.mark.parametrize(
    ("described", "mentions"),
    [
        (schemas(a=[number("x")], b=[number("y")]), ["'x'", "a", "b"]),
        (schemas(a=[number("x")], b=[number("x"), number("y")]), ["'y'", "b", "a"]),
        (schemas(a=[discrete("x", "low")], b=[number("x")]), ["'x'", "text at a", "numbers at b"]),
    ],
)
def test_what_cannot_be_reconciled_is_refused_in_one_line(described, mentions):
    with pytest.raises(DisagreementError) as caught:
        reconcile(described, NOTHING, NOTHING)
    assert "\n" not in str(caught.value)
    for mention in mentions:
        assert mention in str(caught.value)


def test_declarations_that_cannot_hold_are_refused():
    with pytest.raises(DisagreementError, match="declared discrete but b has numbers"):
        reconcile(schemas(a=[discrete("x", "1")], b=[number("x")]), frozenset(["x"]), NOTHING)
    with pytest.raises(DataError, match="no column named 'z'"):
        reconcile(schemas(a=[number("x")]), frozenset(["z"]), NOTHING)


def test_recoding_keeps_every_value():
    table = Table(
        Schema([discrete("x", "b", "a"), discrete("k", "3", "7")]),
        (np.array([0, 1, 1], dtype=np.uint16), np.array([1, 0, 1], dtype=np.uint16)),
    )
    agreed = Schema([number("k"), discrete("x", "0", "a", "b")])
    recoded = conform(table, agreed)
    assert recoded.values(0).tolist() == [7.0, 3.0, 7.0]
    assert [agreed[1].levels[code] for code in recoded.codes(1)] == ["b", "a", "a"]


def test_schemas_survive_the_wire_and_garbage_does_not():
    schema = Schema([discrete("x", "a", "b"), number("y")])
    assert read_schema("a", write_schema(schema)) == schema
    for garbage in ({}, {"names": ["x"], "kinds": ["round"], "levels": [[]]}, {"names": 1}):
        with pytest.raises(ProtocolError, match=r"^a (did not send a|sent an inconsistent) schema$"):
            read_schema("a", garbage)


def test_sites_that_saw_only_some_levels_end_up_with_the_pooled_codes():
    rng = np.random.default_rng(3)
    table = random_discrete(rng, 60, [2, 3, 4])
    parts = split_rows(table, 4, seed=1)
    sites = []
    for k, part in enumerate(parts):
        seen = Schema(
            Variable(v.name, v.kind, tuple(v.levels[code] for code in np.unique(column)))
            for v, column in zip(part.schema, part.columns, strict=True)
        )
        codes = tuple(np.unique(column, return_inverse=True)[1].astype(np.uint16) for column in part.columns)
        sites.append(Site(f"s{k}", Table(seen, codes)))
    schema = agree(OpenFederation(sites, TASKS))
    assert schema == table.schema
    assert all(site.table.equals(part) for site, part in zip(sites, parts, strict=True))


def test_agreeing_again_changes_nothing_even_of_what_was_declared():
    rng = np.random.default_rng(3)
    numbers = [
        Table.from_numpy(rng.integers(start, start + 15, (40, 2)), names=["x", "y"]) for start in (0, 15)
    ]
    federation = OpenFederation([Site(f"s{k}", table) for k, table in enumerate(numbers)], TASKS)
    declared = agree(federation, discrete=["x"])
    assert [variable.kind for variable in declared] == [Kind.DISCRETE, Kind.CONTINUOUS]
    assert agree(federation) == declared


def test_a_second_schema_is_refused():
    site = Site("a", Table(Schema([discrete("x", "p", "q")]), (np.array([0, 1, 1], dtype=np.uint16),)))
    adopted = write_schema(Schema([discrete("x", "o", "p", "q")]))
    for _ in range(2):
        assert TASKS["adopt"](site, adopted) == {}
        assert site.table.codes(0).tolist() == [1, 2, 2]
    with pytest.raises(ProtocolError, match="asks for other columns or levels than were agreed on"):
        TASKS["adopt"](site, write_schema(Schema([discrete("x", "p", "q", "o")])))
    assert site.table.codes(0).tolist() == [1, 2, 2]
