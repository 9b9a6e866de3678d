"""The page of a posterior says what the posterior says."""

import numpy as np
import pytest

import dagora
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.report.sampled import LEAST_PROBABLE, posterior_page
from tests.report.reading import read, table_under

NAMES = ["season", "light", "growth", "soil", "pests"]


@pytest.fixture(scope="module", params=["partition", "exact"])
def posterior(request):
    table = sample_network(greenhouse(), 300, seed=1).select(NAMES)
    return dagora.sample(table, method=request.param, draws=60, chains=2)


def test_every_probable_edge_is_there_with_its_probability(posterior):
    truth = dagora.DAG(NAMES, [("season", "light")])
    page = read(posterior_page(posterior, truth=truth, source="garden.csv"))
    rows = table_under(page, "from", "to", "probability")
    at = {name: k for k, name in enumerate(posterior.nodes)}
    for tail, head, probability, _, back, either, chosen, true in rows:
        exact = posterior.edge_probability[at[tail], at[head]]
        opposite = posterior.edge_probability[at[head], at[tail]]
        assert float(probability) == pytest.approx(exact, abs=5.1e-4)
        assert float(back) == pytest.approx(opposite, abs=5.1e-4)
        assert float(either) == pytest.approx(exact + opposite, abs=5.1e-4)
        assert (chosen == "yes") == ((tail, head) in posterior.consensus().edges)
        assert (true == "yes") == ((tail, head) in truth.edges)
    off = posterior.edge_probability[~np.eye(5, dtype=bool)]
    assert len(rows) == (off >= LEAST_PROBABLE).sum()
    shd = table_under(page, "compared as")[0][1]
    assert float(shd.partition(" ")[0]) == pytest.approx(posterior.expected_shd(truth).mean, abs=0.0051)


def test_what_was_assumed_and_whether_it_mixed(posterior):
    page = read(posterior_page(posterior))
    words = " ".join(page.within("p"))
    assert posterior.prior in words
    assert posterior.space in words
    assert ("Have the chains mixed?" in page.within("h2")) is not posterior.draws.independent
    drawn = [(tags["data-tail"], tags["data-head"]) for _, tags in page.tags if "data-tail" in tags]
    assert sorted(drawn) == sorted(posterior.consensus().edges)
    lines = [tags["points"].split() for tag, tags in page.tags if tag == "polyline"]
    chains = 0 if posterior.draws.independent else posterior.draws.chains
    assert [len(line) for line in lines] == [posterior.draws.per_chain] * chains
    shares = [float(row[1]) for row in table_under(page, "", "share of the draws")]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(posterior.graphs(1)[0][1], abs=5.1e-5)


def test_many_variables_have_no_square_of_pairs():
    table = dagora.simulate(dagora.random_dag("er", 61, 0.2, seed=0), "gaussian", 100, seed=0).table
    posterior = dagora.sample(table, method="order", draws=1, chains=1, warmup=0, thin=1, grow="none")
    page = read(posterior_page(posterior))
    assert "61 variables are too many to draw all pairs: see the table." in page.within("p")
    assert sum("data-node" in tags for _, tags in page.tags) == 61, (
        "the consensus graph is drawn all the same"
    )


def test_what_a_prior_changed_is_a_table():
    rows = {"a": [0, 1, 0, 1] * 8, "b": [0, 1, 1, 1] * 8}
    found = dagora.sample(rows, "exact", draws=2, knowledge={"prior": [["a", "b", 0.9]]})
    html = posterior_page(found)
    assert "What the prior changed" in html
    value = f"{found.prior_effect.without[0, 1]:.3f}"
    assert value in html.partition("What the prior changed")[2]
    assert "What the prior changed" not in posterior_page(dagora.sample(rows, "exact", draws=2))
