"""Standardisation of discrete columns: against closed forms, and what it says about support."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.effects.contrast import read_contrast
from dagora.effects.standardise import standardise
from tests.effects.exact_rows import table_of


def repeated(counts):
    """A table with `rows` rows for each (z, x, y)."""
    z, x, y = (np.repeat([key[place] for key in counts], list(counts.values())) for place in range(3))
    return table_of(z=z, x=x, y=y)


LARGE = {
    ("a", "no", "no"): 30000,
    ("a", "no", "yes"): 10000,
    ("a", "yes", "no"): 5000,
    ("a", "yes", "yes"): 5000,
    ("b", "no", "no"): 1000,
    ("b", "no", "yes"): 9000,
    ("b", "yes", "no"): 12000,
    ("b", "yes", "yes"): 28000,
}


def test_many_rows_give_the_closed_form():
    table = repeated(LARGE)
    found = standardise(table, read_contrast(table, "x", "y"), ["z"])
    to, base = 0.5 * 0.5 + 0.5 * 0.7, 0.5 * 0.25 + 0.5 * 0.9
    assert found.estimates["difference"].value == pytest.approx(to - base, abs=1e-3)
    assert found.estimates["ratio"].value == pytest.approx(to / base, abs=1e-3)
    assert found.estimates["odds ratio"].value == pytest.approx(to / (1 - to) / (base / (1 - base)), abs=1e-2)
    assert (found.support.share, found.support.strata, found.support.notes) == (1.0, 2, ())
    # The delta method, with p(z) known to one in a hundred.
    variance = 0.25 * (0.5 * 0.5 / 1e4 + 0.7 * 0.3 / 4e4 + 0.25 * 0.75 / 4e4 + 0.9 * 0.1 / 1e4)
    variance += 0.25 * ((0.5 - 0.25) - (0.7 - 0.9)) ** 2 / 1e5
    interval = found.estimates["difference"]
    assert (interval.high - interval.low) / (2 * 1.96) == pytest.approx(variance**0.5, rel=0.05)


def test_without_a_set_it_is_the_beta_posterior():
    table = repeated(
        {("a", "no", "no"): 30, ("a", "no", "yes"): 10, ("a", "yes", "yes"): 25, ("a", "yes", "no"): 15}
    )
    found = standardise(table, read_contrast(table, "x", "y"), [])
    rng = np.random.default_rng(1)
    share = [25.5 / 41, 10.5 / 41]
    draws = rng.beta(25 + share[0], 16 - share[0], 200_000)
    draws -= rng.beta(10 + share[1], 31 - share[1], 200_000)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert found.estimates["difference"].value == pytest.approx(draws.mean(), abs=2e-3)
    assert found.estimates["difference"].low == pytest.approx(low, abs=0.015)
    assert found.estimates["difference"].high == pytest.approx(high, abs=0.015)


def test_strata_without_one_of_the_values_are_told():
    counts = {**LARGE, ("c", "no", "yes"): 50_000}
    counts[("d", "yes", "no")] = 4
    table = repeated(counts)
    found = standardise(table, read_contrast(table, "x", "y"), ["z"])
    assert found.support.share == pytest.approx(100_000 / 150_004)
    (note,) = found.support.notes
    assert note == (
        "extrapolation: 33% of the rows are in strata of z in which not both values were seen; there the prior "
        "answers"
    )
    interval = found.estimates["difference"]
    assert interval.high - interval.low > 0.2


def test_values_that_are_rare_or_never_seen():
    table = repeated({("a", "no", "no"): 50, ("a", "no", "yes"): 10, ("a", "yes", "yes"): 3})
    contrast = read_contrast(table, "x", "y")
    rare, _ = standardise(table, contrast, ["z"]).support.notes
    assert rare == "only 3 rows have x=yes"
    with pytest.raises(DataError, match=r"^no row has x=yes: its effect cannot be computed$"):
        standardise(table.take(np.arange(60)), contrast, ["z"])


def test_draws_are_those_of_the_seed():
    table = repeated({key: rows // 1000 for key, rows in LARGE.items()})
    contrast = read_contrast(table, "x", "y")
    one, again, other = (standardise(table, contrast, ["z"], seed).estimates for seed in (0, 0, 1))
    assert one == again != other
