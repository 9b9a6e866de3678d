"""What is refused before any site is asked, and whose reason is heard when a site refuses."""

import numpy as np
import pytest

import dagora
from dagora.api.learn import learn
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.base.options import Option
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.registry import METHODS
from dagora.learners.result import Result
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.methods_over_sites import check_over_sites
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.scores.registry import SCORES
from dagora.stats.table import TableStatistics


class RowsWatched(TableStatistics):
    """Statistics that remember whether rows were asked for."""

    asked = False

    def rows(self) -> Table:
        """Remember, and give them."""
        self.asked = True
        return super().rows()


def small(kind: str) -> Table:
    """Two columns of a kind."""
    rng = np.random.default_rng(1)
    if kind == "mixed":
        return Table.from_numpy(
            np.column_stack([rng.normal(size=40), rng.integers(0, 2, 40)]), "ab", discrete=["b"]
        )
    values = rng.normal(size=(40, 2)) if kind == "continuous" else rng.integers(0, 2, size=(40, 2))
    return Table.from_numpy(values, "ab", **{kind: ["a", "b"]})


def settings() -> list[tuple[str, dict[str, object], str]]:
    """Methods, scores and choices of options, with columns that they take."""
    # What is behind levels is told by counts; beside numbers, it needs rows.
    of_levels = {"bic-latent", "latent", "trend"}
    found = [
        ("hill-climb", {"score": score.name}, "discrete" if score.name in of_levels else str(score.kind))
        for score in SCORES
    ]
    for entry in METHODS:
        if entry.takes in {"score", "candidates"}:
            few = {"rounds": 2, "hidden": 2, "heads": 1, "blocks": 1, "sample": 4}
            found.append((entry.name, few if entry.name == "rl-bic" else {}, "discrete"))
        elif entry.takes == "statistics" and not entry.in_time:
            found.append((entry.name, {}, "continuous"))
            for option in entry.options:
                for choice in option.choices:
                    if choice == "gpu":  # which this machine may not have
                        continue
                    # The losses of zeros and ones and of counts, and tests of counts, take discrete columns.
                    discrete = {"logistic", "poisson", "x2", "g2", "g2-seen"} | of_levels
                    kind = (
                        "discrete" if choice in discrete else "mixed" if choice == "cells" else "continuous"
                    )
                    given = {option.name: choice}
                    found.append(
                        (entry.name, {**given, "published": True} if "inner" in given else given, kind)
                    )
    return found


@pytest.mark.parametrize(("method", "given", "kind"), settings())
def test_what_needs_rows_is_declared(method: str, given: dict[str, object], kind: str) -> None:
    watched = RowsWatched(small(kind))
    learn(watched, method, **given)
    try:
        check_over_sites(method, **given)
    except RowsUnavailableError:
        assert watched.asked, "it is refused, but does not look at rows"
    else:
        assert not watched.asked, "it looks at rows, but is not refused"


@pytest.mark.parametrize(
    ("method", "given", "words"),
    [
        ("notears-mlp", {}, "the method notears-mlp needs rows"),
        ("notears", {"loss": "logistic"}, "loss=logistic needs rows"),
        ("order-search", {"score": "gp2"}, "the score gp2 needs rows"),
    ],
)
def test_what_needs_rows_is_refused(method: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(RowsUnavailableError, match=f"^{words}, which the sites keep"):
        check_over_sites(method, **given)
    tables = dict(zip("abc", [small("continuous")] * 3, strict=True))
    with pytest.raises(RowsUnavailableError, match=words):
        learn_federated(tables, method, **given)


def test_what_works_on_sums_is_not_refused() -> None:
    truth = DAG("ab")
    refused = set()
    for entry in METHODS:
        try:
            check_over_sites(entry.name, seed=3, **({"truth": truth} if entry.name == "best" else {}))
        except RowsUnavailableError:
            refused.add(entry.name)
    networks, series = {"rl-bic", "notears-mlp"}, {"var-lingam", "jpcmci-plus"}
    assert refused == {*networks, *series, "kpc-hsic", "kpc-dc", "lingam", "ica-lingam"}


def test_best_needs_the_truth_before_anybody_is_asked() -> None:
    with pytest.raises(OptionError, match="the method best needs the option truth: the true graph"):
        check_over_sites("best")
    with pytest.raises(OptionError, match="truth"):
        check_over_sites("best", truth=None)
    required = Option("truth", "graph", None, "the truth", required=True)
    assert required.check(None) is None


def test_a_site_that_refuses_its_own_rows_is_heard_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def learned(site: Site, _question: object) -> dict[str, object]:
        if site.name == "b":
            raise DataError("column 'x' is constant")
        return {"weights": np.zeros((2, 2))}

    monkeypatch.setitem(TASKS, "local-weights", learned)
    tables = dict(zip("abc", [small("continuous")] * 3, strict=True))
    with pytest.raises(DataError, match=r"^b: column 'x' is constant$"):
        learn_federated(tables, "vote")


def federation(*supports: list[tuple[int, int]]) -> SecureStatistics:
    """Sites that have learned these edges of weight 1."""
    weights = np.zeros((len(supports), 3, 3))
    for site, edges in enumerate(supports):
        for i, j in edges:
            weights[site, i, j] = 1.0
    rows = np.random.default_rng(0).normal(size=(len(supports), 5, 3))
    sites = [Site(f"site{k}", Table.from_numpy(rows[k], "abc")) for k in range(len(supports))]

    def learned(site: Site, _question: object) -> dict[str, object]:
        return {"weights": weights[int(site.name[4:])]}

    return SecureStatistics(OpenFederation.over(sites, {**TASKS, "local-weights": learned}))


@pytest.mark.parametrize(("method", "threshold"), [("vote", 0.3), ("average", 0.5)])
def test_the_edges_dropped_from_a_merged_graph_are_part_of_the_result(method: str, threshold: float) -> None:
    ab, bc, ca = (0, 1), (1, 2), (2, 0)
    result = dagora.learn(
        federation([ab, bc], [ab, ca], [bc, ca], [ab, bc], [ca]), method, threshold=threshold
    )
    assert result.graph.edges == (("a", "b"), ("b", "c"))
    assert result.dropped == (("c", "a"),)
    assert Result.from_json(result.to_json()).dropped == result.dropped
    agreed = dagora.learn(federation([ab], [ab], [ab]), method, threshold=threshold)
    assert agreed.dropped == ()
    assert Result.from_json(agreed.to_json()).dropped == ()
    assert dagora.learn(small("continuous")).dropped is None
