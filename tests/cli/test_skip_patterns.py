"""A question that only some were asked: no data show how its column depends on the one that decides."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.network.origin import Origin


def survey(file: Path, n: int = 3000) -> Path:
    """Cigarettes are missing exactly where nobody smokes; both harm the lung. Dust makes cough, too."""
    rng = np.random.default_rng(0)
    smoker, old, dust = rng.random(n) < 0.6, rng.random(n) < 0.5, rng.random(n) < 0.5
    many = rng.random(n) < 0.2 + 0.5 * old
    lung = rng.random(n) < np.where(smoker, np.where(many, 0.9, 0.3), 0.05)
    cough = rng.random(n) < 0.1 + 0.4 * dust + 0.4 * lung
    yes = np.array(["no", "yes"])
    columns = {"smoker": smoker, "lung": lung, "old": old, "dust": dust, "cough": cough}
    table = {name: yes[values.astype(int)] for name, values in columns.items()}
    table["cigs"] = np.where(smoker, np.where(many, "many", "few"), "")
    rows = zip(*table.values(), strict=True)
    file.write_text("\n".join(map(",".join, [table, *rows])) + "\n")
    return file


@pytest.fixture
def learned(run, tmp_path):
    """What `learn` prints and writes."""
    ran = run(
        "learn", survey(tmp_path / "survey.csv"), "-o", tmp_path / "r.json", "--report", tmp_path / "r.html"
    )
    assert ran.code == 0
    return ran, json.loads((tmp_path / "r.json").read_text()), tmp_path


@pytest.mark.full
def test_directions_that_rest_on_a_pair_that_no_data_show_are_not_determined(learned, run):
    ran, content, folder = learned
    assert "'cigs' is seen only where 'smoker' is 'yes'" in ran.err
    # Of the collider at cough, dust → cough needs lung and dust to be independent, and an edge between them
    # would cost 2.9 nats; smoker, cigs and the neighbours of cigs have no arrow among them.
    assert re.findall(r"^  (\w+ → \w+)$", ran.out, re.MULTILINE) == ["lung → cough"]
    assert "dust → cough rests on the absence of lung — dust" in ran.out
    assert "smoker → lung rests on whether cigs — smoker exists (no data show it)" in ran.out
    assert f"the data determine 1 of {len(content['edges'])} directions" in ran.out
    assert content["directions"]["unseen"] == [["cigs", "smoker"]]
    again = dagora.Result.from_dict(content)
    assert again.directions.to_dict() == content["directions"]
    assert "(no data show it)" in (folder / "r.html").read_text()


@pytest.mark.full
def test_answers_beyond_a_skip_pattern_say_so(learned, run):
    _, _, folder = learned
    seen = "cigs was seen only where smoker=yes: elsewhere the answer is extrapolated"
    for question, told in [
        ("P(cigs | smoker=no)", True),
        ("P(cigs)", True),
        ("P(cigs | smoker=yes)", False),
        ("P(lung | smoker=no)", False),
    ]:
        assert (seen in run("query", folder / "r.json", question).out) is told, question
    filled = run("impute", folder / "r.json", folder / "survey.csv", "-o", folder / "filled.csv")
    assert "filled values of 'cigs' stand where 'smoker' is not 'yes'" in filled.err
    out = run("query", folder / "r.json", "P(lung | do(smoker=no))").out
    assert "the direction of smoker → lung rests on whether" in out
    assert "which no data show" in out
    assert "determine the arrows" not in out
    assert (
        "no data show whether there is"
        in run("adjust", folder / "r.json", "--from", "smoker", "--to", "lung").out
    )


@pytest.mark.full
def test_a_bif_file_keeps_what_was_skipped(run, tmp_path):
    run("learn", survey(tmp_path / "survey.csv"), "-o", tmp_path / "net.bif")
    network = dagora.read_network(tmp_path / "net.bif")
    assert network.origin is not None
    assert network.origin.skipped == (("cigs", "smoker", "yes"),)


@pytest.mark.parametrize("skipped", [5, ["cigs"], [["cigs", "nobody", "yes"]], [["cigs", "smoker", 1]]])
def test_a_damaged_list_of_skip_patterns_is_refused(skipped, tmp_path):
    content = {"n_rows": 3, "skipped": skipped}
    with pytest.raises(dagora.FormatError, match="skipped"):
        Origin.from_dict(content, dagora.DAG(["cigs", "smoker"]), {})
