"""What an answer says where its number alone would mislead: no support, thin strata, no events, assumptions."""

import numpy as np
import pytest

import dagora
from dagora.base.errors import DataError
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.effects.contrast import read_contrast
from dagora.effects.in_words import effect_in_words
from dagora.effects.one_set import estimate_with
from dagora.effects.standardise import standardise
from dagora.report.effect_sections import effect_lead
from tests.effects.exact_rows import table_of

CONFOUNDED = dagora.DAG("zxy", ["zx", "zy", "xy"])


def said(codes):
    """Codes as levels."""
    return np.array(["no", "yes"])[np.asarray(codes, dtype=int)]


def test_no_rows_alike_with_both_values_are_no_answer_about_a_mean_either():
    """Each of z and w leaves both values of x possible; together they determine it."""
    rng = np.random.default_rng(0)
    z, w = rng.integers(0, 2, (2, 2000))
    y = 1.0 * (z ^ w) + 2 * z + 3 * z * w + rng.standard_normal(2000)
    rows = {"z": said(z), "w": said(w), "x": said(z ^ w), "y": y}
    graph = dagora.DAG(rows, [("z", "x"), ("w", "x"), ("z", "y"), ("w", "y"), ("x", "y")])
    with pytest.raises(DataError, match="no rows that are alike in z, w have both x=yes and x=no"):
        dagora.effect(rows, "x", "y", graph=graph)


def test_strata_of_the_discrete_columns_count_beside_a_continuous_one():
    rng = np.random.default_rng(0)
    z, w, y = rng.integers(0, 2, (3, 2000))
    rows = {"z": said(z), "w": said(w), "v": rng.standard_normal(2000), "x": said(z ^ w), "y": said(y)}
    edges = [(a, b) for a in "zwv" for b in "xy"] + [("x", "y")]
    graph = dagora.DAG(rows, edges)
    with pytest.raises(DataError, match="no rows that are alike in z, w, v have both x=yes and x=no"):
        dagora.effect(rows, "x", "y", graph=graph)
    found = dagora.effect({**rows, "x": said((z ^ w) & (rng.random(2000) < 0.9))}, "x", "y", graph=graph)
    assert "strata of z, w in which not both values were seen" in found.to_text()


def no_support(kind):
    """Rows in which z tells x, and x does nothing to y: a z of 1000 levels, or one that is x."""
    rng = np.random.default_rng(1)
    if kind == "x":
        z = rng.random(2000) < 0.5
        return {"z": said(z), "x": said(z), "y": said(rng.random(2000) < 0.2 + 0.6 * z)}
    level = np.arange(2000) % 1000
    severe = level % 2 == 0
    x = (rng.random(1000) < np.where(np.arange(1000) % 2 == 0, 0.9, 0.1))[level]
    return {"z": level.astype(str), "x": said(x), "y": said(rng.random(2000) < 0.1 + 0.7 * severe)}


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
@pytest.mark.parametrize("kind", ["x", pytest.param("levels", marks=pytest.mark.full)])
def test_the_prior_is_no_answer_where_the_rows_do_not_tell_the_effect(kind):
    rows = no_support(kind)
    with pytest.raises(DataError, match="z determines x: no rows differ in the one alone"):
        dagora.effect(rows, "x", "y", graph=CONFOUNDED)
    if kind == "x":
        sites = {name: {a: b[k::3] for a, b in rows.items()} for k, name in enumerate("NSW")}
        with pytest.raises(DataError, match="z determines x: no rows differ in the one alone"):
            dagora.effect_federated(sites, "x", "y", graph=CONFOUNDED)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_an_average_over_graphs_takes_any_chance_as_likely_where_the_rows_say_nothing():
    """z is x, so that P(y | do(x)) lies anywhere from P(x, y) to P(x, y) + P(not x) in graphs with z → x."""
    rows = no_support("x")
    contrast = read_contrast(table_of(**rows), "x", "y")
    found = estimate_with(table_of(**rows), contrast, ["z"])
    assert "any chance is as likely" in found.support.notes[0]
    x, y = rows["x"] == "yes", rows["y"] == "yes"
    least = (x & y).mean() - ((~x & y).mean() + x.mean())
    greatest = (x & y).mean() + (~x).mean() - (~x & y).mean()
    drawn = found.draw(4000, np.random.default_rng(0))[:, 0]
    assert drawn.min() == pytest.approx(least, abs=0.05)
    assert drawn.max() == pytest.approx(greatest, abs=0.05)
    assert found.estimates["difference"].value == pytest.approx((least + greatest) / 2, abs=0.01)


def test_where_some_strata_alone_have_both_values_a_regression_answers_and_not_the_prior():
    """No row of z=yes, which is half of the rows, has x=no: the prior would weigh a half."""
    rng = np.random.default_rng(3)
    z = rng.random(2000) < 0.5
    x = z | (rng.random(2000) < 0.3)
    rows = {"z": said(z), "x": said(x), "y": said(rng.random(2000) < 0.2 + 0.6 * z)}
    found = dagora.effect(rows, "x", "y", graph=CONFOUNDED)
    assert found.how == "standardised logistic regression"
    assert found.interval[0] < 0 < found.interval[1]
    assert "extrapolation: " in found.to_text()
    few = {"z": said([0, 0, 1, 1, 1]), "x": said([0, 1, 1, 1, 1]), "y": said([0, 1, 0, 1, 1])}
    graph = dagora.DAG("zxywv", ["zx", "zy", "xy", "wx", "wy", "vx", "vy"])
    few |= {"w": said([0, 1, 0, 1, 0]), "v": said([1, 1, 0, 0, 0])}
    with pytest.raises(DataError, match="too few"):
        dagora.effect(few, "x", "y", graph=graph)


SIX = [f"z{k}" for k in range(6)]


def six_confounders(seed):
    """1000 rows in 64 strata, in which x does nothing to y."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, (1000, 6))
    strength = (z - 0.5).sum(axis=1) / 6**0.5 * 2
    x, y = (rng.random((2, 1000)) < 1 / (1 + np.exp(-strength))).astype(int)
    table = table_of(**{name: said(z[:, k]) for k, name in enumerate(SIX)}, x=said(x), y=said(y))
    return table, y[x == 1].mean() - y[x == 0].mean()


def test_thin_strata_draw_the_answer_towards_the_unadjusted_one_and_it_is_told():
    table, unadjusted = six_confounders(0)
    found = standardise(table, read_contrast(table, "x", "y"), SIX)
    (told,) = [note for note in found.support.notes if "prior" in note and "weighs" in note]
    assert f"towards the unadjusted difference, {unadjusted:.2f}"[:-1] in told


def test_a_regression_answers_where_strata_are_thin():
    """Over samples the strata's answers lie on the side of the unadjusted one, the regression's do not."""
    tables = [six_confounders(seed)[0] for seed in range(20)]
    contrast = read_contrast(tables[0], "x", "y")
    by_strata, chosen = (
        np.mean([how(table, contrast, SIX).estimates["difference"].value for table in tables])
        for how in (standardise, estimate_with)
    )
    assert by_strata > 0.03
    assert abs(chosen) < 0.02
    told = estimate_with(tables[0], contrast, SIX).support.notes
    assert any("have few rows with a value compared: a regression" in note for note in told)


def test_a_value_of_x_with_no_event_or_only_events_makes_a_regression_too_sure():
    rng = np.random.default_rng(0)
    x = np.arange(300) < 15
    rows = {"z": rng.standard_normal(300), "x": said(x), "y": said((rng.random(300) < 0.3) | x)}
    found = dagora.effect(rows, "x", "y", graph=CONFOUNDED)
    assert "all 15 rows with x=yes have y=yes: a regression makes too little of that" in found.to_text()


def test_choices_of_a_class_say_where_rows_do_not_carry_them_and_what_they_assume():
    rng = np.random.default_rng(0)
    z = rng.random(1000) < 0.5
    rows = {
        "z": said(z),
        "x": said(z & (rng.random(1000) < 0.9)),
        "y": said(rng.random(1000) < 0.3 + 0.3 * z),
    }
    found = dagora.effect(rows, "x", "y", graph=dagora.CPDAG.from_dag(CONFOUNDED))
    (adjusted,) = [member for member in found.members if member.adjustment == ("z",)]
    assert adjusted.support.share == pytest.approx(z.mean())
    assert "adjusted for z; extrapolation: " in found.to_text()
    numbers = {name: rng.standard_normal(100) for name in "zxy"}
    found = dagora.effect(numbers, "x", "y", graph=dagora.CPDAG.from_dag(CONFOUNDED))
    assert "assumed: the mean of y is linear in x and in what is adjusted for" in found.to_text()


def test_an_average_over_graphs_says_what_it_assumes_and_where_rows_do_not_carry_it():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(300)
    found = dagora.effect({"a": a, "b": a**2 + rng.standard_normal(300)}, "a", "b", draws=50)
    assert "assumed: every mean is linear in the parents" in found.to_text()
    z = rng.random(1000) < 0.5
    x = z & (rng.random(1000) < 0.9)
    rows = {"z": said(z), "x": said(x), "y": said(rng.random(1000) < 0.2 + 0.3 * z + 0.2 * x)}
    tiers = dagora.Knowledge(tiers=[["z"], ["x"], ["y"]])
    found = dagora.effect(rows, "x", "y", knowledge=tiers, draws=50)
    assert any(note.startswith("adjusted for z (") and "extrapolation" in note for note in found.notes)


def test_an_interval_that_holds_zero_needs_no_hidden_cause_to_hold_it():
    """Noise that grows with x: the usual standard errors are too small, and the interval does not use them."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=200) ** 3
    y = 0.3 * x + np.abs(x) * rng.normal(size=200)
    found = dagora.effect({"x": x, "y": y}, "x", "y", graph=dagora.DAG("xy", ["xy"]))
    assert found.interval[0] < 0 < found.interval[1]
    assert found.hidden_cause.shares[1] == 0


def test_all_choices_of_a_class_are_computed_where_they_are_as_many_as_allowed():
    names = "abcdefghi"
    graph = dagora.CPDAG.from_dag(dagora.DAG(names, [a + b for a in names for b in names if a < b]))
    rows = np.random.default_rng(0).standard_normal((60, 9))
    found = dagora.effect(dict(zip(names, rows.T, strict=True)), "a", "b", graph=graph)
    assert len(found.members) == 256
    assert not any("only the first" in note for note in found.notes)


def test_an_event_that_columns_tell_without_error_makes_a_regression_too_sure():
    x = np.random.default_rng(0).standard_normal(200)
    found = dagora.effect({"x": x, "y": said(x > 0)}, "x", "y", graph=dagora.DAG("xy", ["xy"]), curve=True)
    assert "y=yes is told without error" in found.to_text()
    assert all(np.isfinite([point.y.low, point.y.high]).all() for point in found.curve)


def test_rows_in_which_something_was_set_that_the_graph_does_not_have_are_told():
    rng = np.random.default_rng(0)
    rows = dict(zip("wxy", rng.standard_normal((3, 200)), strict=True))
    marks = [["w"] if row < 80 else [] for row in range(200)]
    found = dagora.effect(rows, "x", "y", graph=dagora.DAG("xy", ["xy"]), interventions=marks)
    assert found.rows == 200
    assert "in 80 of the rows w was set, about which the graph says nothing" in found.notes


def test_levels_are_found_by_their_python_values():
    rng = np.random.default_rng(0)
    rows = {"x": rng.random(100) < 0.5, "y": rng.choice([1234567, 7654321], 100)}
    graph = dagora.DAG("xy", ["xy"])
    found = dagora.effect(rows, "x", "y", graph=graph, levels=(True, False), event=7654321)
    assert found.contrast.to_text() == "x=True instead of False, on P(y=7654321)"


def test_equal_quartiles_ask_for_values_to_compare():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(200) < 0.8, 0.0, rng.standard_normal(200))
    with pytest.raises(dagora.OptionError, match=r"quartiles of 'x' are equal: say which two"):
        dagora.effect({"x": x, "y": said(rng.random(200) < 0.5)}, "x", "y", graph=dagora.DAG("xy", ["xy"]))


def test_a_value_of_x_with_no_event_or_only_events_makes_standardisation_too_sure():
    x = np.repeat([0, 1], 100)
    rare = np.where(x == 1, 0, np.arange(200) % 2)
    for y, words in [(rare, "none of 100 rows with x=yes"), (1 - rare, "all 100 rows with x=yes")]:
        found = dagora.effect({"x": said(x), "y": said(y)}, "x", "y", graph=dagora.DAG("xy", ["xy"]))
        assert f"{words} have y=yes: the prior makes too little of that" in found.to_text()
    assert (
        "too narrow"
        not in dagora.effect(
            {"x": said(x), "y": said(np.arange(200) % 2)}, "x", "y", graph=dagora.DAG("xy", ["xy"])
        ).to_text()
    )


def test_all_pairs_say_what_they_assume():
    rows = dict(zip("xyz", np.random.default_rng(0).standard_normal((3, 50)), strict=True))
    for found in (dagora.all_effects(rows, draws=20), dagora.all_effects(rows, graph=CONFOUNDED)):
        assert "assumed: no common cause is missing from the " in found.to_text()
        assert all(f"assumed: {text}" in found.to_text() for text in found.to_dict()["assumptions"])
    assert "by the usual standard errors" in found.to_text()  # where that of one pair has HC3


def test_a_learned_network_is_told_as_a_result_is(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    rows = {"x": x, "y": x + rng.standard_normal(200)}
    learned = dagora.learn(rows, "tabu")
    dagora.write_network(dagora.fit(learned, rows), tmp_path / "learned.json")
    dagora.write_network(dagora.fit(dagora.DAG("xy", ["xy"]), rows), tmp_path / "given.json")
    sources = (learned, tmp_path / "learned.json", tmp_path / "given.json")
    texts = [dagora.effect(rows, "x", "y", graph=source).to_text() for source in sources]
    assert ["the graph was learned and is taken as true" in text for text in texts] == [True, True, False]


def test_a_cause_with_one_level_has_nothing_to_compare():
    rows = {"x": ["a"] * 20, "y": said(np.arange(20) % 2)}
    with pytest.raises(
        dagora.OptionError, match="'x' has the same level in all rows: no two can be compared"
    ):
        dagora.effect(rows, "x", "y", graph=dagora.DAG("xy", ["xy"]))


def test_a_number_that_never_changes_is_named_though_something_is_adjusted_for():
    z, y = np.random.default_rng(1).standard_normal((2, 50))
    schema = Schema(Variable(name, Kind.CONTINUOUS) for name in "zxy")
    table = Table(schema, (z, np.full(50, 2.5), y))
    with pytest.raises(DataError, match="x never changes, so that no row tells its effect"):
        estimate_with(table, read_contrast(table, "x", "y"), ["z"])


def test_one_level_leaves_the_other_pairs_of_a_table_their_effects():
    a, b = np.random.default_rng(1).integers(0, 2, (2, 90))
    table = Table(
        Schema(
            [
                *(Variable(name, Kind.DISCRETE, ("no", "yes")) for name in "ab"),
                Variable("c", Kind.DISCRETE, ("no",)),
            ]
        ),
        (a.astype(np.uint16), b.astype(np.uint16), np.zeros(90, dtype=np.uint16)),
    )
    found = dagora.all_effects(table, method="bootstrap", samples=20)
    assert np.isfinite(found.mean[0, 1])
    assert np.isnan(found.mean[2, 0])
    assert any("pairs cannot be told" in note for note in found.notes)


def test_several_causes_are_spoken_of_as_several():
    """P(a or b is a cause): of the two together, the average counts graphs in which one of them is."""
    rng = np.random.default_rng(0)
    a, b, w, v = rng.standard_normal((4, 60))
    rows = {"a": a, "b": b, "w": w, "v": v, "y": a + rng.standard_normal(60)}
    averaged = dagora.effect({name: rows[name] for name in "aby"}, ["a", "b"], "y", draws=30)
    assert "P(a or b is a cause of y) = " in averaged.to_text()
    assert "; a or b is a cause of y with probability" in effect_in_words(averaged)
    assert "P(a or b is a cause)" in effect_lead(averaged)
    line = dagora.CPDAG("aby", undirected=["ay", "by"])
    assert (
        "rows in which 'a' and 'b' were set, would settle it"
        in dagora.adjustment(line, ["a", "b"], "y").reason
    )
    hidden = dagora.PAG("aby", [("a", "o-o", "y"), ("b", "o-o", "y")])
    assert "'a' and 'b' were set at random would" in dagora.adjustment(hidden, ["a", "b"], "y").reason
    marks = [["a"], ["b"], ["w", "v"], []] * 15
    found = dagora.effect(rows, ["a", "b"], "y", graph=dagora.DAG("aby", ["ay", "by"]), interventions=marks)
    assert "in 30 of the rows a or b was set, as if by chance among those alike" in found.notes
    assert "in 15 of the rows v, w were set, about which the graph says nothing" in found.notes
    with pytest.raises(DataError, match="others determine one of a, b: no rows tell its effect"):
        dagora.effect({**rows, "b": 2 * a}, ["a", "b"], "y", graph=dagora.DAG("aby", ["ay", "by"]))


def test_an_outcome_that_never_changes_is_no_effect_and_no_question_of_levels():
    z, x = np.random.default_rng(1).standard_normal((2, 60))
    rows = {"z": z, "x": x, "y": np.full(60, 2.5)}
    table = Table(Schema(Variable(n, Kind.CONTINUOUS) for n in "zxy"), tuple(rows.values()))
    with pytest.raises(DataError, match=r"^y never changes, so that nothing can be told"):
        dagora.effect(table, "x", "y", graph=CONFOUNDED)
    with pytest.raises(
        dagora.OptionError, match=r"^'y' has the same level in all rows: nothing can change it"
    ):
        dagora.effect({"z": said(z > 0), "x": said(x > 0), "y": ["a"] * 60}, "x", "y", graph=CONFOUNDED)


@pytest.mark.parametrize(
    ("constant", "words"), [("x", "no row tells its effect"), ("y", "nothing can be told")]
)
def test_over_sites_a_number_that_never_changes_is_named(constant, words):
    rng = np.random.default_rng(1)
    sites = {}
    for site in "NSW":
        columns = dict(zip("zxy", rng.standard_normal((3, 60)), strict=True))
        columns[constant] = np.full(60, 2.5)
        schema = Schema(Variable(name, Kind.CONTINUOUS) for name in "zxy")
        sites[site] = Table(schema, tuple(columns.values()))
    with pytest.raises(DataError, match=f"^{constant} never changes, so that {words}"):
        dagora.effect_federated(sites, "x", "y", graph=CONFOUNDED, secure=False)


def test_names_of_variables_are_texts_and_may_have_an_equals_sign():
    rng = np.random.default_rng(0)
    rows = {"a=b": said(rng.random(200) < 0.5), "y=q": rng.choice(["p,0", "p=1"], 200)}
    graph = dagora.DAG(rows, [("a=b", "y=q")])
    assert dagora.effect(rows, "a=b", "y=q=p,0", graph=graph).contrast.event == "p,0"
    assert dagora.effect(rows, "a=b", "y=q=p=1", graph=graph).contrast.event == "p=1"
    with pytest.raises(dagora.OptionError, match=r"^a variable is named by a text, not 3$"):
        dagora.effect(rows, 3, "y=q", graph=graph)
    with pytest.raises(dagora.OptionError, match=r"most must be a whole number, 0 or more, not -1"):
        dagora.adjustment(CONFOUNDED, "x", "y").minimal_sets(most=-1)


def test_too_few_rows_are_told_in_plain_words():
    rows = {"x": np.array([1.0, 2.0]), "y": np.array([1.0, 3.0])}
    schema = Schema(Variable(name, Kind.CONTINUOUS) for name in "xy")
    table = Table(schema, tuple(rows.values()))
    with pytest.raises(
        DataError, match=r"^2 rows are too few for a regression on 1 column .*at least 3 rows"
    ):
        dagora.effect(table, "x", "y", graph=dagora.DAG("xy", ["xy"]))


def test_rows_of_each_stratum_are_told_the_least_supported_ones_first():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 30, 3000)
    x = rng.random(3000) < np.where(z == 7, 0.02, 0.5)
    rows = {"z": z.astype(str), "x": said(x), "y": said(rng.random(3000) < 0.5)}
    found = dagora.effect(rows, "x", "y", graph=CONFOUNDED)
    counts = {
        level: ((x & (z == level)).sum(), (~x & (z == level)).sum(), (z == level).sum())
        for level in range(30)
    }
    told = found.to_dict()["support"]["thinnest"]
    assert len(told) == 20
    for one in told:
        to, base, all_rows = counts[int(one["levels"]["z"])]
        assert (one["rows_at"], one["rows"]) == ({"x=yes": to, "x=no": base}, all_rows)
    least = [min(one["rows_at"].values()) for one in told]
    assert least == sorted(min(some[:2]) for some in counts.values())[:20]
    assert f"fewest rows: z=7 (x=yes: {counts[7][0]}, x=no: {counts[7][1]}); z=" in found.to_text()
    numbers = {name: rng.standard_normal(50) for name in "zxy"}
    assert not dagora.effect(numbers, "x", "y", graph=CONFOUNDED).support.thinnest
