"""A reader of a result with noise wants the number of rows, or anything else of them, without the noise.

Everything in a result is compared for tables whose rows differ, also in number, with the same release: a vector that the
test fixes. What differs then comes from the rows by another way. Wall-clock times are left out.
"""

from dataclasses import fields

import numpy as np
import pytest

import dagora
from dagora.api.effect_federated import effect_federated
from dagora.api.learn_federated import learn_federated
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.session import serving
from dagora.parties.privacy import release as privacy_release
from dagora.parties.privacy.moment_features import moment_features
from dagora.parties.privacy.release import feature_size

NAMES = ("north", "south", "west")
TIMES = {"seconds", "trace"}
BOOKS = {
    "discrete": Codebook(tuple(ColumnCoding(name, levels=("0", "1")) for name in "abc")),
    "continuous": Codebook(tuple(ColumnCoding(name, low=-8.0, high=8.0) for name in "abc")),
}
SETTINGS = {"discrete": {}, "continuous": {"method": "notears"}}


def simulated_table(kind: str, rows: int, seed: int = 0) -> Table:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 2, (rows, 3)) if kind == "discrete" else draw.normal(size=(rows, 3))
    return Table.from_numpy(values, names=list("abc"), **{kind: ["all"]})


def sites(kind: str, rows: int) -> dict[str, Table]:
    """Neighbours of each other: one site has more rows or fewer."""
    return {
        name: simulated_table(kind, rows if name == "west" else 500, seed) for seed, name in enumerate(NAMES)
    }


def fixed_sums(terms, schema):
    """Sums of rows that nobody has."""
    if terms.release == "table":
        return 1000 + 37 * np.arange(feature_size(terms, schema))
    if terms.release == "pairs":
        return 1000 * np.arange(feature_size(terms, schema)) % 7919 + 40_000
    numbers = np.random.default_rng(9).integers(-(1 << 17), 1 << 17, (40_000, len(schema)))
    return moment_features(numbers, terms.row_bound)


@pytest.fixture
def same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a release that do not depend on rows."""

    def part(rows, terms, _key):
        return fixed_sums(terms, rows.schema)

    monkeypatch.setattr(serving, "release_part", part)


def contents(result: dagora.Result) -> dict[str, object]:
    """Every field of a result, those that are not written into files too, but for times."""
    own = {
        field.name: repr(getattr(result, field.name)) for field in fields(result) if field.name not in TIMES
    }
    return {**own, "json": {key: value for key, value in result.to_dict().items() if key not in TIMES}}


@pytest.mark.parametrize("kind", BOOKS)
@pytest.mark.parametrize(("rows", "others"), [(99, 100), (500, 501), (23, 24), (24, 8500), (8999, 9000)])
def test_no_field_of_a_result_over_sites_depends_on_rows(same_release, kind, rows, others):
    """The plan had the number of all rows as its largest, so bytes sent told how many digits it has."""
    found = [
        contents(
            learn_federated(sites(kind, n), codebook=BOOKS[kind], privacy={"epsilon": 1}, **SETTINGS[kind])
        )
        for n in (rows, others)
    ]
    assert any(name.startswith("bytes_to_") for name in found[0]["json"]["stats"])
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", BOOKS)
@pytest.mark.parametrize(("rows", "others"), [(99, 100), (24, 8500)])
def test_no_field_of_an_effect_over_sites_depends_on_rows(same_release, kind, rows, others):
    graph = DAG("abc", [("a", "b"), ("a", "c"), ("b", "c")])
    found = [
        effect_federated(
            sites(kind, n), "b", "c", graph=graph, codebook=BOOKS[kind], privacy={"epsilon": 1}
        ).to_dict()
        for n in (rows, others)
    ]
    assert found[0]["estimates"]["difference"]["value"] is not None
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", BOOKS)
def test_no_field_of_a_result_on_one_table_depends_on_rows(monkeypatch, kind):
    coding = (
        {"levels": dict.fromkeys("abc", (0, 1))}
        if kind == "discrete"
        else {"ranges": dict.fromkeys("abc", (-8, 8))}
    )

    def sums(terms, schema, _columns):
        return fixed_sums(terms, schema)

    monkeypatch.setattr(privacy_release, "features", sums)
    found = [
        contents(
            dagora.learn(
                privacy_release.release(simulated_table(kind, n), bytes(32), **coding), **SETTINGS[kind]
            )
        )
        for n in (999, 1000, 9000)
    ]
    assert found[0] == found[1] == found[2]
