"""Effects where columns are of both kinds: against averages that are known, and against repeated samples."""

import numpy as np
import pytest

from dagora.base.errors import DataError
from dagora.effects.contrast import read_contrast
from dagora.effects.one_set import estimate_with
from tests.effects.exact_rows import table_of


def logistic(value):
    return 1 / (1 + np.exp(-value))


def mixed_rows(rng, n):
    """z moves x and y; the effect of x differs with z."""
    z = rng.standard_normal(n)
    g = rng.integers(0, 3, n)
    x = rng.random(n) < logistic(z + (g == 1))
    y = 1 + z + (g == 2) + x * (2 + z) + rng.standard_normal(n)
    e = rng.random(n) < logistic(-1 + z + 1.5 * x)
    words = np.array(["u", "v", "w"])
    return table_of(z=z, g=words[g], x=np.where(x, "yes", "no"), y=y, e=np.where(e, "ill", "fine"))


def event_of(table, seed=0):
    return estimate_with(table, read_contrast(table, "x", "e", event="ill"), ["z", "g"], seed)


@pytest.mark.parametrize("seed", range(3))
def test_a_discrete_cause_of_a_mean_that_acts_on_people_differently(seed):
    table = mixed_rows(np.random.default_rng(seed), 4000)
    found = estimate_with(table, read_contrast(table, "x", "y"), ["z", "g"])
    interval = found.estimates["difference"]
    assert interval.low < 2 < interval.high
    assert interval.high - interval.low < 0.35


def test_the_event_of_a_logistic_model():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(400_000)
    truth = (logistic(0.5 + z).mean(), logistic(-1 + z).mean())
    found = event_of(mixed_rows(rng, 20_000))
    assert found.estimates["difference"].value == pytest.approx(truth[0] - truth[1], abs=0.02)
    assert found.estimates["ratio"].low < truth[0] / truth[1] < found.estimates["ratio"].high
    assert found.support.rows_at["x=yes"] + found.support.rows_at["x=no"] == 20_000


@pytest.mark.full
@pytest.mark.parametrize("outcome", ["y", "e"])
def test_standard_errors_are_those_of_repeated_samples(outcome):
    rng = np.random.default_rng(0)
    values, widths = [], []
    for _ in range(150):
        table = mixed_rows(rng, 300)
        contrast = read_contrast(table, "x", outcome, event="ill" if outcome == "e" else None)
        found = estimate_with(table, contrast, ["z", "g"]).estimates["difference"]
        values.append(found.value)
        widths.append((found.high - found.low) / (2 * 1.96))
    assert np.mean(widths) == pytest.approx(np.std(values), rel=0.2)


def test_people_who_differ_widen_the_interval_of_a_mean_without_noise():
    rng = np.random.default_rng(4)
    x, z = rng.integers(0, 2, 400), rng.normal(size=400)
    table = table_of(x=np.where(x, "yes", "no"), z=z, y=x * z)
    found = estimate_with(table, read_contrast(table, "x", "y"), ["z"]).estimates["difference"]
    assert abs(found.value) == pytest.approx(abs(z.mean()))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * z.std() / 20, rel=0.02)


def test_draws_agree_with_the_interval():
    table = mixed_rows(np.random.default_rng(0), 500)
    for found in (event_of(table), estimate_with(table, read_contrast(table, "x", "y"), ["z"])):
        draws = found.draw(100_000, np.random.default_rng(1))
        for place, (scale, interval) in enumerate(found.estimates.items()):
            width = interval.high - interval.low
            low, high = np.quantile(draws[:, place], [0.025, 0.975])
            assert abs(low - interval.low) < 0.1 * width, scale
            assert abs(high - interval.high) < 0.1 * width, scale


def test_a_continuous_cause_of_an_event():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(20_000)
    x = z + rng.standard_normal(20_000)
    e = rng.random(20_000) < logistic(x - z)
    table = table_of(z=z, x=x, e=np.where(e, "b", "a"))
    found = estimate_with(table, read_contrast(table, "x", "e", levels=[2, 0]), ["z"])
    truth = logistic(2 - z).mean() - logistic(-z).mean()
    assert found.estimates["difference"].value == pytest.approx(truth, abs=0.02)
    assert found.support.notes == ()
    far = estimate_with(table, read_contrast(table, "x", "e", levels=[20, 0]), ["z"])
    assert "x=20 was not seen" in far.support.notes[0]


def test_people_without_a_match_are_told():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(1000) * 5
    x = rng.random(1000) < logistic(3 * z)
    table = table_of(z=z, x=np.where(x, "yes", "no"), y=z + rng.standard_normal(1000))
    found = estimate_with(table, read_contrast(table, "x", "y"), ["z"])
    assert found.support.share < 0.5
    assert "nearly impossible" in found.support.notes[0]


def test_few_rows_share_their_slopes():
    rng = np.random.default_rng(0)
    table = mixed_rows(rng, 24)
    for outcome in ("y", "e"):
        found = estimate_with(
            table, read_contrast(table, "x", outcome, event="ill" if outcome == "e" else None), ["z", "g"]
        )
        assert any("too few rows to tell" in text for text in found.assumes)
        assert np.isfinite(found.estimates["difference"].high)


def test_a_cause_that_the_set_determines():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(50)
    table = table_of(z=z, x=2 * z + 1, y=rng.standard_normal(50), e=["a", "b"] * 25)
    for outcome in ("y", "e"):
        with pytest.raises(DataError, match=r"^z determines x: no rows differ in the one alone"):
            estimate_with(table, read_contrast(table, "x", outcome), ["z"])


@pytest.mark.parametrize(("unit", "start"), [(1e-3, 0.0), (1e-12, 0.0), (1e12, 0.0), (1.0, 1e6)])
@pytest.mark.parametrize("cause", ["x", "d"])
def test_units_and_zeros_of_columns_change_no_interval(unit, start, cause):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(300)
    d = z + rng.standard_normal(300)
    x = np.where(rng.random(300) < logistic(z), "yes", "no")
    e = np.where(rng.random(300) < logistic(d + z + (x == "yes")), "ill", "fine")

    def found(unit, start):
        table = table_of(z=z * unit + start, d=d * unit + start, x=x, e=e)
        levels = [unit + start, start] if cause == "d" else ["yes", "no"]
        contrast = read_contrast(table, cause, "e", levels, event="ill")
        return estimate_with(table, contrast, ["z"]).estimates["difference"]

    plain, other = found(1.0, 0.0), found(unit, start)
    assert (other.value, other.low, other.high) == pytest.approx(
        (plain.value, plain.low, plain.high), rel=1e-4
    )


@pytest.mark.parametrize("first", ["a", "z"])
def test_a_level_that_one_value_of_x_never_has(first):
    """Others tell its effect, whichever level comes first: nothing else does (truth 0.2, and one logit)."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 6000)
    x = np.where(group == 2, 0, rng.random(6000) < 0.5)
    logit = -1.5 + 0.9 * x + 0.8 * group
    e = rng.random(6000) < 1 / (1 + np.exp(-logit))
    y = 0.2 * x + 0.7 * group + rng.standard_normal(6000)
    names = np.array(["b", "c", first])[group]
    table = table_of(g=names, x=np.where(x, "yes", "no"), e=np.where(e, "ill", "ok"), y=y)
    contrast = read_contrast(table, "x", "y", levels=["yes", "no"])
    low, high = interval_of(estimate_with(table, contrast, ["g"]))
    assert low < 0.2 < high < 0.4
    chances = 1 / (1 + np.exp(-(-1.5 + 0.8 * group[:, None] + 0.9 * np.array([1, 0]))))
    truth = float(np.subtract(*chances.mean(axis=0)))
    contrast = read_contrast(table, "x", "e", levels=["yes", "no"], event="ill")
    found = estimate_with(table, contrast, ["g"])
    low, high = interval_of(found)
    assert low < truth < high < truth + 0.1
    assert any("extrapolation" in note for note in found.support.notes)


def interval_of(found):
    """The 95 % interval of the difference."""
    return found.estimates["difference"].low, found.estimates["difference"].high
