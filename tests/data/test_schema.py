import pytest

from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable

A = Variable("a", Kind.DISCRETE, ("no", "yes"))
X = Variable("x", Kind.CONTINUOUS)


def test_positions_kinds_and_cardinalities():
    schema = Schema([A, X])
    assert [schema.index(name) for name in schema.names] == [0, 1]
    assert schema.cardinalities.tolist() == [2, 0]
    assert schema.kinds == {Kind.DISCRETE, Kind.CONTINUOUS}
    assert list(schema) == [schema[0], schema[1]] == [A, X]
    assert repr(schema) == "Schema(a: discrete, x: continuous)"


def test_equality_sees_levels_and_order():
    assert Schema([A, X]) == Schema([A, X])
    assert hash(Schema([A, X])) == hash(Schema([A, X]))
    assert Schema([A, X]) != Schema([X, A])
    assert Schema([A]) != Schema([Variable("a", Kind.DISCRETE, ("yes", "no"))])


def test_unknown_and_repeated_names():
    with pytest.raises(DataError, match="no column named 'z'"):
        Schema([A]).index("z")
    with pytest.raises(DataError, match="two columns are named 'x'"):
        Schema([X, A, X])


def test_an_order_that_means_something_does_not_matter_to_equality():
    plain, ordered = (Variable("dose", Kind.DISCRETE, ("low", "high"), ordered) for ordered in (False, True))
    assert plain == ordered
    assert Schema([plain]) == Schema([ordered])
    assert hash(Schema([plain])) == hash(Schema([ordered]))
