"""The page of claims: verdicts, exact intervals of counts, and what telling would cost."""

import pytest
from building.claims.__main__ import kind_of
from building.claims.row import FAILS, HOLDS, OPEN, runs_needed, share_interval, verdict

from dagora.papers.contrasts import Contrast, standard_errors
from dagora.papers.tables import Mean


def test_a_share_of_none_has_its_closed_form() -> None:
    """All of n: the lower end is 0.025 to the power 1/n."""
    assert share_interval(10, 10) == f"10 of 10 ({100 * 0.025 ** (1 / 10):.0f} to 100 %)"
    assert share_interval(0, 4) == f"0 of 4 (0 to {100 * (1 - 0.025 ** (1 / 4)):.0f} %)"
    assert share_interval(2, 12) == "2 of 12 (2 to 48 %)"


def test_a_difference_is_just_clear_after_the_runs_that_are_needed() -> None:
    runs = runs_needed(Mean(-1.0, 1.0, 10))
    error = (10 / runs) ** 0.5
    assert standard_errors(10) * error <= 1.0 < standard_errors(10) * (10 / (runs - 1)) ** 0.5


@pytest.mark.parametrize(
    ("values", "said"), [((-5, -4), HOLDS), ((-5, 0), OPEN), ((-5, 0, 5), FAILS), ((-5, None), OPEN)]
)
def test_one_wrong_difference_fails_and_one_open_leaves_it_open(values, said) -> None:
    found = [Contrast("", None if value is None else Mean(value, 1.0, 30)) for value in values]
    assert verdict(found) == said


def test_kinds_of_verdicts() -> None:
    assert [
        kind_of(text) for text in (f"{HOLDS}: much", f"{HOLDS} on a; {FAILS} on b", OPEN, "measured")
    ] == ["holds", "in part", "cannot be told", "other"]
