"""Changes of regressions: how often none is called one, and what is found."""

import numpy as np
import pytest

from dagora.stats.change_points import find_change


def test_without_a_change_few_are_called_one() -> None:
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        x, noise = rng.normal(size=(2, 250))
        p_values.append(find_change(0.7 * x + noise, [x], [(0, 120), (120, 250)]).p)
    assert np.mean(np.array(p_values) < 0.05) < 0.07


@pytest.mark.parametrize("what", ["mean", "slope", "variance"])
def test_a_change_is_found_where_it_is(what: str) -> None:
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(2, 600))
    later = np.arange(600) >= 250
    child = {
        "mean": x + noise + later,
        "slope": np.where(later, 0.2, 1.0) * x + noise,
        "variance": x + np.where(later, 2.0, 1.0) * noise,
    }[what]
    found = find_change(child, [x], [(0, 600)])
    assert found.p < 1e-4
    assert abs(found.place - 250) < 40


def test_series_that_differ_among_each_other_have_not_changed() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(size=400)
    noise[200:] += 3.0
    assert find_change(noise, [], [(0, 200), (200, 400)]).p > 0.01
    assert find_change(noise, [], [(0, 400)]).p < 1e-6
    assert find_change(noise, [], [(0, 40), (40, 80)]) is None


def test_series_with_other_coefficients_have_not_changed() -> None:
    rng = np.random.default_rng(3)
    slopes = np.repeat(np.tile([0.2, 0.8], 5), 100)
    runs = [(k, k + 100) for k in range(0, 1000, 100)]
    told = 0
    for _ in range(100):
        noise, before, after = rng.normal(size=1000), np.zeros(1000), np.zeros(1000)
        for t in range(1000):
            before[t] = after[t - 1] if t % 100 else 0.0
            after[t] = slopes[t] * before[t] + noise[t]
        told += find_change(after, [before], runs).p < 0.01
    assert told <= 3


def test_a_run_needs_several_windows_for_each_coefficient() -> None:
    columns = np.random.default_rng(4).normal(size=(25, 60))
    assert find_change(columns[0], [*columns[1:]], [(0, 60)]) is None
    assert find_change(columns[0], [*columns[1:11]], [(0, 60)]) is not None
