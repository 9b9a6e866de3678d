"""Few whole numbers: amounts where neighbouring values behave alike, codes elsewhere."""

import numpy as np
import pytest

import dagora
from dagora.api.open_rows import open_rows
from dagora.data.columns.column_type import Column
from dagora.data.columns.trend import NumberedPair, fit_logit, pairs_of
from dagora.data.schema import Kind, Variable


def kinds(table, **options):
    """The type of each column."""
    return {column.name: column.type for column in dagora.inspect(table, **options).columns}


def cut(latent, levels):
    """A number in levels of about the same size, from 1."""
    return 1 + np.searchsorted(np.quantile(latent, np.arange(1, levels) / levels), latent)


def correlated(draw, rows, weight, of):
    return weight * of + np.sqrt(1 - weight**2) * draw.standard_normal(rows)


@pytest.mark.parametrize("seed", range(5))
def test_ages_counts_and_answers_are_numbers(seed):
    draw = np.random.default_rng(seed)
    latent = draw.standard_normal(800)
    age = draw.integers(0, 18, 800)
    table = {
        "answer": cut(latent, 5),
        "rating": cut(correlated(draw, 800, 0.6, latent), 7),
        "visits": np.minimum(draw.poisson(np.exp(0.7 + 0.6 * latent)), 12),
        "age": age,
        "height": 80 + 6 * age + 12 * draw.standard_normal(800),
        "pain": correlated(draw, 800, 0.5, latent),
        "sex": np.where(draw.random(800) < 0.5, "f", "m"),
    }
    found = kinds(table)
    assert {found[name] for name in ("answer", "rating", "visits", "age")} == {"continuous"}
    assert found["sex"] == "discrete"


@pytest.mark.parametrize("levels", [5, 6, 8, 12])
def test_codes_without_an_order_stay_discrete(levels):
    wrong = 0
    for seed in range(25):
        draw = np.random.default_rng([levels, seed])
        code = draw.integers(0, levels, 500)
        effect = draw.standard_normal((3, levels))
        table = {
            "code": code,
            "yes": (effect[0, code] + draw.standard_normal(500) > 0).astype(int),
            "number": effect[1, code] + draw.standard_normal(500),
            "group": np.digitize(effect[2, code] + draw.standard_normal(500), [-0.5, 0.5]),
        }
        wrong += kinds(table)["code"] != "discrete"
    assert wrong <= 1


@pytest.mark.full
def test_a_column_beside_noise_stays_discrete():
    wrong = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        table = {f"x{i}": draw.standard_normal(300) for i in range(60)}
        wrong += kinds({**table, "code": draw.integers(1, 8, 300)})["code"] != "discrete"
    assert wrong == 0


def test_nothing_is_decided_with_fewer_rows_than_columns():
    """Chance brings trends there: this table had one column of numbers, and four edges at it."""
    draw = np.random.default_rng(8)
    overview = dagora.inspect({f"x{i}": draw.poisson(5, 30) for i in range(120)})
    assert {column.type for column in overview.columns} == {"discrete"}
    assert "their order was not looked at; if they are amounts" in overview.columns[18].why


def test_a_number_of_one_row_counts():
    score = Column(Variable("score", Kind.DISCRETE, tuple("01234")), np.array([0, 1, 2, 0, 3, 4]))
    height = Column(Variable("height", Kind.CONTINUOUS), np.array([1.0, 2.0, 4.0, 3.0, 9.0, 5.0]))
    sex = Column(Variable("sex", Kind.DISCRETE, ("f", "m")), np.array([0, 1, 0, 1, 1, 0]))
    pairs = list(pairs_of(score, [height, sex]))
    assert [pair.rows.tolist() for pair in pairs] == [[2, 1, 1, 1, 1]] * 2
    assert pairs[1].cells.tolist() == [[1, 1], [0, 1], [1, 0], [0, 1], [1, 0]]


def test_an_association_that_free_categories_lose_is_found():
    draw = np.random.default_rng(3)
    age = draw.integers(0, 18, 200)
    ill = draw.random(200) < 1 / (1 + np.exp(-(age - 9) / 6))
    result = dagora.learn({"age": age, "ill": np.where(ill, "yes", "no")})
    assert len(result.graph.edges) == 1
    assert not dagora.learn({"age": age, "ill": np.where(ill, "yes", "no")}, discrete="age").graph.edges


def test_the_overview_says_why_and_what_changes_it():
    draw = np.random.default_rng(0)
    visits = draw.poisson(3, 500).clip(0, 9)
    table = {"visits": visits, "cost": visits + draw.standard_normal(500), "ward": draw.integers(0, 7, 500)}
    visits_why, _, ward_why = (column.why for column in dagora.inspect(table).columns)
    assert visits_why == (
        '10 distinct whole numbers: neighbouring ones behave alike; if they are codes, discrete=["visits"]'
    )
    assert ward_why == (
        '7 distinct whole numbers: a trend fits the other columns no better; if they are amounts, continuous=["ward"]'
    )
    assert kinds(table, discrete="visits")["visits"] == "discrete"
    assert kinds(table, discretise="quantile")["visits"] == "discrete"


def test_scores_and_tests_of_levels_keep_levels():
    draw = np.random.default_rng(0)
    visits = draw.poisson(3, 500).clip(0, 9)
    table = {"visits": visits, "often": (visits + draw.standard_normal(500) > 3).astype(int)}
    assert kinds(table)["visits"] == "continuous"
    for options in ({"score": "bdeu"}, {"method": "pc", "test": "x2"}):
        data = dagora.learn(table, **options).data
        assert [column["type"] for column in data["columns"]] == ["discrete", "discrete"]


def test_scanned_rows_say_that_the_order_was_not_looked_at(tmp_path):
    draw = np.random.default_rng(0)
    visits = draw.poisson(3, 500).clip(0, 9)
    lines = [f"{v},{v + e:.3f}" for v, e in zip(visits, draw.standard_normal(500), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["visits,cost", *lines]))
    column = open_rows(tmp_path / "rows.csv").overview.columns[0]
    assert column.type == "discrete"
    assert column.why == (
        '10 distinct whole numbers: their order was not looked at; if they are amounts, continuous=["visits"]'
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("tables/horse_colic.csv.gz", ["a9", "a11", "a18"]),
        ("tables/insurance_coil.csv.gz", [f"a{i}" for i in range(2, 44)]),
        ("tables/semeion.csv.gz", ["digit"]),
        ("tables/shuttle.csv.gz", ["class"]),
        ("tables/gas_sensor.csv.gz", ["gas"]),
        ("sachs/sachs_9_experiments.csv.gz", ["experiment"]),
        ("tables/sponge.csv.gz", ["A.GROSOR_DEL_CORTEX", "L.NUMERO_DE_PAPILAS"]),
    ],
)
def test_codes_of_public_tables_stay_discrete(data_dir, name, codes):
    found = kinds(data_dir / name)
    assert {found[code] for code in codes} == {"discrete"}


def test_the_logit_is_that_of_a_saturated_model_where_two_levels_are():
    cells = np.array([[30.0, 10.0, 5.0], [12.0, 25.0, 9.0]])
    design = np.array([[1.0, -1.0], [1.0, 1.0]])
    shares = cells / cells.sum(1, keepdims=True)
    assert fit_logit(cells, design) == pytest.approx((cells * np.log(shares)).sum(), abs=1e-4)


def test_gains_of_a_continuous_column_are_those_of_regressions():
    draw = np.random.default_rng(0)
    x = draw.integers(0, 5, 300)
    y = 0.5 * x + draw.standard_normal(300)
    y = (y - y.mean()) / y.std()
    pair = NumberedPair(np.bincount(x).astype(float), np.arange(5.0), None, np.bincount(x, y))
    line = np.polyval(np.polyfit(x, y, 1), x)
    means = (np.bincount(x, y) / np.bincount(x))[x]
    assert pair.trend() == pytest.approx(-150 * np.log(((y - line) ** 2).mean()) - np.log(300) / 2)
    assert pair.free == pytest.approx(-150 * np.log(((y - means) ** 2).mean()) - 4 * np.log(300) / 2)
