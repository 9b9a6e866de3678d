"""Values that do not belong to a column are told, and clean columns are not."""

import numpy as np
import pytest

from dagora.data.columns.column_type import Column
from dagora.data.columns.doubtful_columns import column_warnings
from dagora.data.columns.formulas import find_formulas, find_signed_products
from dagora.data.columns.odd_values import far_values, is_slip, lone_values, long_run, value_warnings
from dagora.data.columns.study_design import design_warnings
from dagora.data.schema import Kind, Variable

RNG = np.random.default_rng(0)


def numbers(name, values):
    return Column(Variable(name, Kind.CONTINUOUS), np.asarray(values, dtype=np.float64))


def words(name, values):
    levels, codes = np.unique(values, return_inverse=True)
    return Column(Variable(name, Kind.DISCRETE, tuple(map(str, levels))), codes.astype(np.uint16))


@pytest.mark.parametrize("codes", [{85.0: 9, -127.0: 7}, {65535.0: 5}, {-32768.0: 40}])
def test_codes_of_devices_stand_out(codes):
    values = np.r_[RNG.normal(21, 2, 500), *([code] * times for code, times in codes.items())]
    assert far_values(RNG.permutation(values)) == codes
    told = " ".join(value_warnings([numbers("temperature", values)]))
    assert all(f"temperature:{code:g}" in told for code in codes)


@pytest.mark.parametrize(
    "values",
    [
        RNG.lognormal(0, 3, 2000),  # one value far away, once
        np.r_[np.zeros(300), RNG.gamma(2, 10, 300)],  # amounts of nothing
        np.r_[RNG.normal(0, 1, 300), RNG.normal(50, 1, 300)],  # two groups
        RNG.integers(0, 6, 500),
        np.r_[RNG.normal(20, 2, 100), 999, 999, 999],  # told by the rules of codes for missing values
    ],
)
def test_far_values_that_are_none(values):
    assert far_values(np.asarray(values, dtype=np.float64)) == {}


def test_runs_of_a_column_that_is_no_device():
    sorted_ages = np.sort(RNG.integers(20, 90, 3000)).astype(float)
    rain = np.where(RNG.random(1000) < 0.7, 0.0, RNG.gamma(1, 5, 1000))
    by_site = np.repeat(RNG.normal(size=40), 30)
    for values in (sorted_ages, rain, by_site, RNG.normal(size=1000)):
        assert long_run(values) == (0.0, 0)
    stuck = RNG.normal(20, 2, 1000).round(2)
    stuck[200:260] = stuck[200]
    assert long_run(stuck) == (stuck[200], 60)


def test_swapped_values_are_found_where_they_are_and_heavy_tails_are_not_called_so():
    height, weight = RNG.normal(172, 8, 400), RNG.normal(70, 8, 400)
    rows = slice(10, 25)
    mixed = height.copy(), weight.copy()
    mixed[0][rows], mixed[1][rows] = weight[rows], height[rows]
    told = " ".join(value_warnings([numbers("height", mixed[0]), numbers("weight", mixed[1])]))
    assert "'height' and 'weight' (15 rows): did values change places there?" in told
    tails = [
        numbers(name, RNG.standard_cauchy(5000) * scale) for name, scale in zip("abc", (1, 5, 9), strict=True)
    ]
    assert not [line for line in value_warnings(tails) if "change places" in line]


def test_ages_and_years():
    ages = RNG.integers(18, 90, 300).astype(float)
    ages[:2] = [310, 450]
    assert "2 ages above 120 (up to 450)" in " ".join(value_warnings([numbers("Age", ages)]))
    assert not list(value_warnings([numbers("age_months", ages * 12)]))
    assert not list(value_warnings([numbers("wage", ages)]))
    born = (2023 - RNG.integers(18, 90, 300)) % 100
    assert "two digits" in " ".join(value_warnings([numbers("birth_year", born)]))
    assert not list(value_warnings([numbers("birth_year", 1900 + born)]))


def test_misspellings():
    sex = np.array(["female"] * 300 + ["male"] * 300 + ["femlae"] * 2 + ["mael"])
    told = " ".join(value_warnings([words("sex", sex)]))
    assert "'femlae' (2 ×) of 'female' in 'sex'" in told
    assert "'mael' (1 ×) of 'male' in 'sex'" in told
    rare = np.array(["type A"] * 300 + ["type B"] * 3 + ["Iran"] * 300 + ["Iraq"] * 3 + ["x1"] * 99 + ["x2"])
    assert not list(value_warnings([words("group", rare)]))
    assert not is_slip("austria", "australia")


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ([words("status", ["case", "control"] * 50)], "chosen by 'status' (case and control)"),
        ([words("status", ["ill", "well"] * 50)], None),
        (
            [numbers("survival_days", RNG.exponential(30, 100)), words("event", ["0", "1"] * 50)],
            "'survival_days' seems to end with 'event'",
        ),
        ([numbers("survival_days", RNG.exponential(30, 100)), words("sex", ["f", "m"] * 50)], None),
        ([numbers("time", RNG.exponential(30, 100)), words("status", ["on", "off"] * 50)], None),
        (
            [words("parameter", ["hb", "crp"] * 50), numbers("Result", RNG.normal(size=100))],
            "'parameter' names",
        ),
        ([words("test", ["a", "b"] * 50), numbers("score", RNG.normal(size=100))], None),
    ],
)
def test_designs_by_their_names(columns, told):
    found = " ".join(design_warnings(columns))
    assert (told in found) if told else not found


def test_products_and_quotients_are_named_and_sums_and_noise_are_not():
    cases, people = RNG.integers(50, 900, 300), RNG.integers(5000, 90_000, 300)
    rate = (cases / people * 100_000).round(1)
    columns = [numbers("cases", cases), numbers("people", people), numbers("rate", rate)]
    assert [name for name, _ in find_formulas(columns)] == ["rate"]
    assert "'rate' as 'cases' / 'people'" in " ".join(column_warnings(columns))
    before = RNG.normal(50, 6, 400).round(1)
    after = (before + RNG.normal(3, 5, 400)).round(1)
    change = [numbers("b", before), numbers("a", after), numbers("change", 100 * (after - before) / before)]
    assert [name for name, _ in find_formulas(change)] == ["change"]
    x, y = RNG.gamma(9, 1, 400), RNG.gamma(9, 1, 400)
    for third in (x + y, x * y * RNG.lognormal(0, 0.1, 400), RNG.gamma(9, 1, 400), 2 * x):
        assert find_formulas([numbers("x", x), numbers("y", y), numbers("z", third)]) == []


def test_products_of_both_signs_are_named_and_what_is_near_one_is_not():
    x, y, noise = RNG.normal(size=(3, 400)).round(2)
    near = [x + y, x * y + 0.1 * noise, x**2 * y, 2 * x, np.abs(x), noise]
    named = [numbers("x", x), numbers("y", y)]
    assert "'z' as 'x' · 'y'" in " ".join(column_warnings([*named, numbers("z", (-2 * x * y).round(2))]))
    sides = [numbers("x", x), numbers("side", y + 5), numbers("z", (x * (y + 5)).round(3))]
    assert "'z' as 'x' · 'side'" in " ".join(column_warnings(sides))
    for third in near:
        assert find_signed_products([*named, numbers("z", third)]) == []
    positive = [numbers("a", 100 + x), numbers("b", 100 + y), numbers("c", (100 + x) * (100 + y))]
    assert find_signed_products(positive) == []
    steady = [numbers("x", x), numbers("b", 1000 + y), numbers("c", 3 * x + 0.001 * noise)]
    assert find_signed_products(steady) == []


@pytest.mark.parametrize("slip", [70000.0, 700.0, -3.4028235e38])
def test_a_lone_value_is_told_with_its_row(slip):
    weights = RNG.normal(70, 8, 200).round(1)
    weights[40] = slip
    told = " ".join(value_warnings([numbers("weight", weights)], lambda row: row + 1))
    assert f"data row 41, 'weight' {slip:.10g} (" in told
    assert "data row" not in " ".join(value_warnings([numbers("weight", weights)]))


def test_how_far_a_lone_value_is():
    values, times = lone_values(np.r_[np.linspace(-10, 10, 41), 300.0])
    assert (values, round(times, 2)) == ((300.0,), round(299.75 / 10.25, 2))  # the median is 0.25
    values, times = lone_values(np.r_[np.linspace(-10, 10, 41), 300.0, -400.0])
    assert (values, round(times, 2)) == ((-400.0, 300.0), round(300 / 10, 2))


@pytest.mark.parametrize("second", [7000.0, 6100.0, -9000.0])
def test_two_lone_values_of_a_column_do_not_hide_each_other(second):
    weights = RNG.normal(70, 8, 200).round(1)
    weights[[40, 90]] = 7000.0, second
    told = " ".join(value_warnings([numbers("weight", weights)], lambda row: row + 1))
    assert "one or two numbers lie much further" in told
    assert "data rows 41 and 91, " in told or "data rows 91 and 41, " in told


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.exponential(size=500),
        lambda rng: rng.lognormal(0, 1, 500),
        lambda rng: rng.lognormal(0, 3, 500),
        lambda rng: rng.standard_t(3, 500),
        lambda rng: rng.exponential(size=500) * (rng.random(500) < 0.1),  # amounts of nothing
        lambda rng: rng.poisson(0.02, 500).astype(float),
    ],
)
def test_heavy_tails_are_no_lone_values(draw):
    rng = np.random.default_rng(1)
    assert sum(bool(lone_values(draw(rng))[0]) for _ in range(200)) <= 2


def test_outliers_that_happen_to_fit_another_column_did_not_change_places():
    signal, other = RNG.normal(0, 1, 1000), RNG.normal(20, 1, 1000)
    other[100:200] = RNG.normal(-300, 1, 100)  # outlying values of its own
    signal[:3], other[:3] = other[500:503], signal[500:503]
    told = list(value_warnings([numbers("a", signal), numbers("b", other)]))
    assert not [line for line in told if "change places" in line]


@pytest.mark.parametrize("pair", [("no", "yes"), ("Ja", "Nein"), ("non", "oui"), ("0", "1")])
def test_indicators_in_words_are_told(pair):
    yes = {"no": "yes", "Ja": "Ja", "non": "oui", "0": "1"}[pair[0]]
    no = next(word for word in pair if word != yes)
    region = RNG.integers(0, 4, 300)
    block = [words(f"region_{k}", np.where(region == k, yes, no)) for k in range(4)]
    assert f"is {yes} in every row" in " ".join(column_warnings(block))
    assert "in every row" not in " ".join(column_warnings(block[:3]))


def test_codings_that_differ_by_site_are_told():
    site = RNG.choice(["A", "B", "C"], 400)
    smoker = RNG.integers(0, 2, 400) + (site == "B")
    told = " ".join(design_warnings([words("site", site), words("smoker", smoker)]))
    assert "'smoker' (0 and 1 in 'A', 1 and 2 in 'B' of 'site')" in told
    rating = RNG.integers(0, 3, 400)
    assert not list(design_warnings([words("site", site), words("rating", rating)]))
