"""Growth of private K2 in rows and in the limit on parents: verdicts, and one session of each kind."""

import pytest

from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.private_k2 import growth
from dagora.papers.private_k2.growth import exponential_in_parents, linear_in_rows


def cells(moments: list[float]) -> list[MeasuredCell]:
    return [
        MeasuredCell({"n": 4096 << k, "limit": 2}, {"moments": mb, "megabytes": 10 * mb})
        for k, mb in enumerate(moments)
    ]


def gates(numbers: list[float]) -> list[MeasuredCell]:
    return [MeasuredCell({"n": 4096, "limit": u + 1}, {"ands": ands}) for u, ands in enumerate(numbers)]


def test_rows_that_add_more_and_more_are_not_linear() -> None:
    assert "holds" in linear_in_rows(cells([3.0, 5.0, 9.0, 17.0]))
    assert "holds" in linear_in_rows(cells([3.0, 5.0, 8.5]))
    assert "fails" in linear_in_rows(cells([1.0, 4.0, 16.0]))
    assert "not measured" in linear_in_rows(cells([1.0, 2.0]))


def test_linear_has_two_sides_and_shows_all_that_is_sent() -> None:
    assert "holds: not faster, and the same within" in linear_in_rows(cells([3.0, 5.0, 9.0, 17.0]))
    for less in ([3.0, 5.0, 6.0], [3.0, 3.0, 3.0]):
        assert "holds: not faster, but not the same within" in linear_in_rows(cells(less))
    assert "add 0.488, 0.488 MB of moments, 4.883, 4.883 MB in all" in linear_in_rows(cells([3.0, 5.0, 9.0]))


def test_gates_that_grow_by_a_power_are_not_exponential() -> None:
    assert "holds" in exponential_in_parents(gates([90, 234, 458, 794]))
    assert "fails" in exponential_in_parents(gates([1, 4, 9, 16]))
    assert "not measured" in exponential_in_parents(gates([1, 2]))
    assert "2.60, 1.96, 1.73 times the gates: not doubled by each" in exponential_in_parents(
        gates([90, 234, 458, 794])
    )


def test_configurations_are_those_that_k2_counts() -> None:
    """By a walk through K2's steps: every predecessor is tried beside the parents that were taken."""
    for limit in (1, 2, 3, 4):
        tried = 0
        for before in range(growth.VARIABLES):
            for parents in range(min(limit, before)):
                tried += (before - parents) * 2 ** (parents + 1)
        assert growth.configurations(limit) == tried


def test_limits_and_rows_are_varied_one_at_a_time() -> None:
    made = growth.growth(Size(full=False)).cells
    assert {cell["limit"] for cell in made if cell["n"] == growth.FEW} == {1, 2, 3, 4}
    assert {cell["limit"] for cell in made if cell["n"] != growth.FEW} == {growth.LIMIT}
    assert len({(cell["n"], cell["limit"]) for cell in made}) == len(made)


@pytest.mark.slow
def test_a_session_is_that_of_k2_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "VARIABLES", 3)
    few, more = (growth.measure({"n": 40, "limit": u, "seed": 0}, Run()) for u in (1, 2))
    assert few["same"]
    assert more["same"]
    assert more["ands"] > few["ands"] > 0
    assert 0 < few["moments"] < few["megabytes"]
