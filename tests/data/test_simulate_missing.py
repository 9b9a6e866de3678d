"""Values made missing: the share that was asked for, where it was asked for, by the rule that was asked for."""

import numpy as np
import pytest

from dagora.base.errors import OptionError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.simulate_missing import ODDS, punch_holes, uneven
from dagora.data.table import Table

ROWS = 4000


def table(columns: int) -> Table:
    values = np.random.default_rng(3).normal(size=(columns, ROWS))
    return Table(Schema(Variable(f"x{k}", Kind.CONTINUOUS) for k in range(columns)), tuple(values))


@pytest.mark.parametrize("columns", [4, 5])
def test_at_random_half_of_the_columns_have_twice_the_share(columns: int) -> None:
    """Of an odd number of columns one more is always seen, as each that has holes has a cause of its own."""
    lost = (~punch_holes(table(columns), "mar:0.2", seed=1).seen).mean(axis=1)
    assert np.count_nonzero(lost) == columns // 2
    assert lost[lost > 0] == pytest.approx([0.4] * (columns // 2), abs=0.03)


def test_not_at_random_high_values_are_three_times_as_likely_to_be_missing() -> None:
    whole = table(1)
    lost = ~punch_holes(whole, "mnar:0.2", seed=1).seen[0]
    high = whole.values(0) > np.median(whole.values(0))
    assert lost.mean() == pytest.approx(0.2, abs=0.02)
    assert lost[high].mean() / lost[~high].mean() == pytest.approx(ODDS, rel=0.2)


@pytest.mark.parametrize("values", [[0, 1, 1, 1, 1], [0, 0, 0, 0, 1], [5, 5, 5, 5], [1, 2, 3, 4]])
def test_the_risk_is_the_share_on_average_and_uneven(values: list[int]) -> None:
    risk = uneven(np.array(values), 0.2)
    assert risk.mean() == pytest.approx(0.2)
    assert risk.max() / risk.min() == pytest.approx(ODDS)
    assert risk[np.argmax(values)] == risk.max() or len(set(values)) == 1


@pytest.mark.every_case
@pytest.mark.parametrize("holes", ["mcar:0", "mcar:1", "mcar:nan", "mcar:x", "mcar", "mxar:0.2"])
def test_shares_and_rules_that_there_are_not(holes: str) -> None:
    with pytest.raises(OptionError, match="mcar, mar or mnar with a share above 0 and below 1"):
        punch_holes(table(2), holes)
