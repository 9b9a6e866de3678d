"""`dagora.methods()`: what is registered, as a table, an entry and a dictionary."""

import json
import re
from dataclasses import replace

import pytest

import dagora
from dagora.api.methods import Catalogue
from dagora.base.errors import OptionError
from dagora.learners import registry as method_registry
from dagora.learners.registry import METHODS
from dagora.posterior.registry import REFUSED, SAMPLERS
from dagora.scores.registry import SCORES

ITEMS = (*METHODS, *SAMPLERS, *SCORES)


def test_everything_is_listed_in_order() -> None:
    everything = dagora.methods()
    assert [entry.item for entry in everything] == list(ITEMS)
    assert [entry.name for entry in everything.methods] == [method.name for method in METHODS]
    assert [entry.name for entry in everything.samplers] == [sampler.name for sampler in SAMPLERS]
    assert [entry.name for entry in everything.scores] == [score.name for score in SCORES]
    assert len(everything) == len(ITEMS)
    assert isinstance(everything[1:3], Catalogue)
    assert [entry.name for entry in everything[1:3]] == ["hill-climb", "tabu"]
    assert everything[-1].name == "gp2"


@pytest.mark.parametrize("width", [20, 80, 200])
def test_the_table_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = repr(dagora.methods())
    assert max(map(len, shown.splitlines())) <= max(60, width)
    words = " ".join(shown.split())
    for entry in dagora.methods():
        assert " ".join(entry.row) in words
    assert [line.split() for line in shown.splitlines() if line[:1].isupper()] == [
        ["Methods", "takes", "promise"],
        ["Samplers", "takes", "promise"],
        ["Scores", "columns", "summary"],
    ]


@pytest.mark.parametrize("entry", list(dagora.methods()), ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_an_entry_shows_all_of_itself(entry: object) -> None:
    shown, page = repr(entry), entry._repr_html_()
    for text in (shown, re.sub("&#x27;", "'", page).replace("&amp;", "&").replace("&gt;", ">")):
        assert entry.promise in text
        assert entry.reference in text
        for option in entry.options:
            assert option.summary in text
            assert option.name in text
    assert "--" not in shown, "an entry in Python names no flags"
    assert page.count("<tr>") == len(entry.options) + 1
    assert json.loads(json.dumps(entry.to_dict()))["name"] == entry.name


def test_a_name_in_any_case_and_the_name_of_two() -> None:
    assert dagora.methods("BDeu").name == "bdeu"
    assert dagora.methods()["Hill-Climb"].kind == "method"
    assert dagora.methods("k2").kind == "method"
    assert dagora.methods().scores["k2"].kind == "score"
    assert [entry.kind for entry in dagora.methods().entries_named("k2")] == ["method", "score"]
    assert "tabu" in dagora.methods()
    assert "tabu" not in dagora.methods().scores
    assert dagora.methods()[0] in dagora.methods()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(OptionError, match=r"named 'notear': did you mean 'notears'\?"):
        dagora.methods("notear")
    with pytest.raises(OptionError, match="named '7'"):
        dagora.methods(7)


def test_samplers_say_which_scores_they_refuse() -> None:
    assert dagora.methods("exact").takes == f"any score but {', '.join(REFUSED)}"


def test_a_notebook_gets_one_table_per_kind() -> None:
    page = dagora.methods()._repr_html_()
    assert page.count("<table>") == 3
    assert page.count("<tr>") == len(ITEMS) + 3
    assert "Heckerman" not in page
    assert dagora.methods().scores._repr_html_().count("<table>") == 1


def test_a_method_registered_later_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_registry, "METHODS", (*METHODS, replace(METHODS[0], name="my-own")))
    assert "my-own" in dagora.methods()
    assert dagora.methods().to_dict()["methods"][-1]["name"] == "my-own"
