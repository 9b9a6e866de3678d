"""`dagora methods`: everything that is registered, for people and as JSON."""

import json
from collections.abc import Callable

import pytest

from dagora.base.errors import speaking
from dagora.base.wording import COMMAND, render
from dagora.learners.registry import METHODS
from dagora.posterior.registry import SAMPLERS
from dagora.scores.registry import SCORES

ENTRIES = [*METHODS, *SAMPLERS, *SCORES]


def test_the_list_names_all(run: Callable) -> None:
    ran = run("methods", "--all")
    assert (ran.code, ran.err) == (0, "")
    for entry in ENTRIES:
        assert any(entry.name in line and entry.summary in line for line in ran.out.splitlines())


def test_json_list(run: Callable) -> None:
    content = json.loads(run("methods", "--json").out)
    assert [entry["name"] for entry in content["methods"]] == [method.name for method in METHODS]
    assert [entry["name"] for entry in content["samplers"]] == [sampler.name for sampler in SAMPLERS]
    assert not any("dagora." in json.dumps(entry) for entry in content["samplers"]), "where its code lives"
    assert [entry["name"] for entry in content["scores"]] == [score.name for score in SCORES]
    assert all(entry["reference"] and entry["summary"] for entry in (*content["methods"], *content["scores"]))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_one_with_its_options(run: Callable, entry: object) -> None:
    shown = run("methods", entry.name).out
    assert entry.reference in shown
    if entry in METHODS:
        with speaking(COMMAND):
            assert f"  takes      {render(entry.takes_in_words)}\n" in shown
        assert entry.promise in shown
    kind = "method" if entry in METHODS else "sampler" if entry in SAMPLERS else "score"
    content = json.loads(run("methods", entry.name, "--json").out)[kind]
    assert content["name"] == entry.name
    assert [option["name"] for option in content["options"]] == [option.name for option in entry.options]
    for option in entry.options:
        default = "none" if option.default is None else str(option.default)
        line = next(line for line in shown.splitlines() if line.split()[:1] == [option.name])
        assert option.summary in line
        assert f"default {default}" in line
