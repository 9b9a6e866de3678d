"""The prior of tables: what each cell gets, and what it means."""

import pytest

from dagora.base.errors import OptionError
from dagora.network.table_prior import TablePrior


@pytest.mark.parametrize(
    ("prior", "cell"), [(TablePrior(0.5), 0.5), (TablePrior("one-row"), 1 / 4), (TablePrior(ess=6.0), 6 / 24)]
)
def test_copies_of_rows_have_copies_of_the_prior(prior: TablePrior, cell: float) -> None:
    """Probabilities stay the same where every row stands three times."""
    shape = (2, 3, 4)
    assert prior.cell(shape) == pytest.approx(cell)
    assert prior.times(3).cell(shape) == pytest.approx(3 * cell)
    assert not prior.is_zero


def test_one_of_both_can_be_given() -> None:
    with pytest.raises(OptionError, match="either pseudocount or ess, not both"):
        TablePrior(1.0, ess=1.0)
    assert TablePrior(0.0, ess=1.0).describe() == "an equivalent sample size of 1 is spread over each table"
    assert TablePrior(0.25).describe() == "0.25 is added to each cell of a table"
    for wrong in ({"pseudocount": float("inf")}, {"pseudocount": "two-rows"}, {"ess": 0.0}, {"ess": -1.0}):
        with pytest.raises(OptionError, match="must be a finite number"):
            TablePrior(**wrong)  # type: ignore[arg-type]
