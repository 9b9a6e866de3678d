"""The network of what a private run opened: its tables are the central ones, and it goes through files."""

import pytest

import dagora
from dagora.base.errors import GraphError
from dagora.learners.result import Result
from dagora.parties.vertical.agreement import TermsProposal
from dagora.parties.vertical.private_session import run_both_parties
from tests.parties.pairs import deal_seeds
from tests.parties.vertical.leveled import leveled_owners
from tests.parties.vertical.test_parameters import LEVELS, central, chained


def learned(data, parameters, monkeypatch):
    deal_seeds(monkeypatch)
    return run_both_parties(
        *leveled_owners(data, LEVELS, 2), TermsProposal(max_parents=1, parameters=parameters)
    )


def test_the_network_of_what_was_opened(tmp_path, monkeypatch):
    data = chained(400)
    result = learned(data, "open", monkeypatch)
    network = dagora.opened_network(result)
    assert network.graph == result.graph
    assert network.levels["x2"] == ("level 0", "level 1", "level 2", "level 3")
    assert network.tables["x2"] == pytest.approx(central(data, (0,), 2)[0] / 1000, abs=1.5e-3)
    assert network.tables["x0"].sum() == pytest.approx(1.0)
    dagora.write_network(network, tmp_path / "opened.bif")
    assert set(dagora.read_network(tmp_path / "opened.bif").graph.edges) == set(result.graph.edges)
    again = dagora.opened_network(Result.from_json(result.to_json()))
    assert again.tables["x2"].tolist() == network.tables["x2"].tolist()
    tables = result.settings["tables"]
    # A node whose table is unknown is left out, and so is what depends on it: here x2, not x1 → x3.
    del tables["own"]["x0"]
    assert dagora.opened_network(result).graph.edges == (("x1", "x3"),)
    # The guest does not know the host's own tables, so its network lacks whatever comes after them.
    tables["own"] = {}
    with pytest.raises(GraphError, match="stay with the other party"):
        dagora.opened_network(result)


def test_a_result_without_parameters_has_no_network(monkeypatch):
    for result in (
        learned(chained(60), "none", monkeypatch),
        dagora.learn({"a": [0, 1] * 9, "b": [0, 1] * 9}),
    ):
        with pytest.raises(GraphError, match="has no parameters: they are there after parameters='open'"):
            dagora.opened_network(result)
