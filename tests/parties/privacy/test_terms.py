"""Terms of a release: what they promise, what they cost, and how wrong ones are refused."""

import json
from fractions import Fraction
from itertools import pairwise

import pytest

from dagora.base.errors import DagoraError
from dagora.data.schema import Kind, Schema, Variable
from dagora.parties.privacy.accounting import excess, rho_of
from dagora.parties.privacy.moment_features import GRID
from dagora.parties.privacy.terms import PrivacyTerms, agree_on_terms, parse_options

DISCRETE = Schema([Variable(name, Kind.DISCRETE, ("no", "yes")) for name in "abcd"])
CONTINUOUS = Schema([Variable(name, Kind.CONTINUOUS) for name in "abcd"])
MIXED = Schema([*DISCRETE.variables[:2], *CONTINUOUS.variables[2:]])
ALARM = PrivacyTerms("pairs", 37, 3, 1.0, 1e-6, 1)


@pytest.mark.parametrize("release", ["pairs", "moments"])
@pytest.mark.parametrize("sites", [1, 2, 3, 9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_the_noise_of_honest_sites_is_worth_the_promise(release: str, sites: int, epsilon: float) -> None:
    terms = agree_on_terms(DISCRETE if release == "pairs" else CONTINUOUS, sites, epsilon=epsilon)
    honest = sites - sites // 3
    spent = terms.sensitivity_squared / (2 * honest * terms.sigma2_site)
    assert spent + 1000 * Fraction(excess(terms.sigma2_site, honest)) <= Fraction(terms.rho)
    assert terms.rho <= rho_of(epsilon, 1e-6) <= 1.00001 * terms.rho
    assert float(spent) == pytest.approx(terms.rho, rel=1e-5)  # and no more noise than it takes
    assert terms.sum_variance == pytest.approx(sites * float(terms.sigma2_site))


def test_more_rows_per_person_more_noise() -> None:
    one, three = (agree_on_terms(DISCRETE, 1, epsilon=0.5, rows_per_person=m) for m in (1, 3))
    assert three.sensitivity_squared == 9 * one.sensitivity_squared == 9 * 6
    assert three.sigma_site == pytest.approx(3 * one.sigma_site, rel=1e-6)


def test_moments_have_wide_noise_on_their_grid() -> None:
    assert agree_on_terms(CONTINUOUS, 64, epsilon=20.0).sigma_site > 2**10
    sizes = [agree_on_terms(CONTINUOUS, 1, row_bound=bound).sigma_site / GRID for bound in (0.1, 0.5, 1, 4)]
    assert all(a < b for a, b in pairwise(sizes))


def test_terms_go_to_json_and_back() -> None:
    for terms in (ALARM, agree_on_terms(CONTINUOUS, 5, delta=1e-7, colluders=2)):
        assert PrivacyTerms.from_dict(json.loads(json.dumps(terms.to_dict()))) == terms


def test_terms_in_sentences() -> None:
    lines = agree_on_terms(CONTINUOUS, 1, rows_per_person=2).describe()
    assert lines[0].startswith(
        "noise for (ε = 1, δ = 1e-06)-differential privacy of a person with up to 2 rows"
    )
    assert lines[1] == "noised once: the number of rows, the sums and the products of 4 columns"
    assert "collude" not in lines[2]
    assert "the promise holds if 2 collude" in agree_on_terms(CONTINUOUS, 6).describe()[2]


@pytest.mark.parametrize(
    ("terms", "rows", "words"),
    [
        (ALARM, 5e4, []),
        (ALARM, 4.9e4, ["the noise for ε = 1 is large for 49000 rows"]),
        (agree_on_terms(CONTINUOUS, 1, epsilon=2.0), 1e4, []),
        (agree_on_terms(CONTINUOUS, 1, epsilon=2.0), 9e3, ["rows × ε should be 20000 or more"]),
        (agree_on_terms(CONTINUOUS, 1, rows_per_person=2), 3e4, ["rows × ε should be 40000 or more"]),
        (agree_on_terms(CONTINUOUS, 1, delta=1e-5), 1e5, ["δ = 1e-05 is large for 100000 rows"]),
    ],
)
def test_warnings(terms: PrivacyTerms, rows: float, words: list[str]) -> None:
    found = terms.warnings(rows)
    assert len(found) == len(words)
    assert all(word in warning for word, warning in zip(words, found, strict=True))


def changed(**changes: object) -> dict[str, object]:
    return {**ALARM.to_dict(), **changes}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "are a JSON object, not None"),
        ([1], "are a JSON object"),
        ({key: value for key, value in ALARM.to_dict().items() if key != "delta"}, "lack 'delta'"),
        (changed(epsilom=1), "has no option 'epsilom'|have no option|no option 'epsilom'"),
        (changed(epsilon=0), "option 'epsilon' must be at least 0.001, not 0"),
        (changed(epsilon=-1.0), "option 'epsilon' must be at least"),
        (changed(epsilon=1e9), "option 'epsilon' must be at most 100"),
        (changed(epsilon=float("nan")), "must be a number, not nan"),
        (changed(epsilon="1"), "option 'epsilon' takes a number, not '1'"),
        (changed(epsilon=True), "option 'epsilon' takes a number|must be"),
        (changed(delta=0.5), "option 'delta' must be at most 0.001"),
        (changed(delta=0), "option 'delta' must be at least"),
        (changed(release="triples"), "option 'release' is one of pairs, table, moments, not 'triples'"),
        (changed(columns=1), "option 'columns' must be at least 2"),
        (changed(columns=3.5), "option 'columns' takes a whole number, not 3.5"),
        (changed(sites=0), "option 'sites' must be at least 1"),
        (changed(colluders=3), "of 3 sites at most 2 can collude, not 3"),
        (changed(colluders=None), "can collude, not None"),
        (changed(rows_per_person=0), "option 'rows_per_person' must be at least 1"),
        (changed(row_bound=2.0), "'row_bound' belongs to moments"),
        (changed(release="moments"), "'row_bound' must be a number up to that of the columns .37., not None"),
        (changed(release="moments", row_bound=38.0), "'row_bound' must be a number up to"),
        (changed(epsilon=100.0, columns=2), "standard deviation .* less than 2"),
    ],
)
def test_wrong_terms_are_refused_in_one_line(content: object, words: str) -> None:
    with pytest.raises(DagoraError, match=words) as refusal:
        PrivacyTerms.from_dict(content)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epsilom=1", "privacy has no option 'epsilom'"),
        ("1", "privacy takes options such as epsilon=1, not '1'"),
        ("epsilon=one", "option 'epsilon' takes a number, not 'one'"),
        ("epsilon=1,epsilon=2", "has the option 'epsilon' twice"),
        ("epsilon=0", "must be at least"),
    ],
)
def test_options_as_written_on_a_command_line(text: str, words: str) -> None:
    with pytest.raises(DagoraError, match=words):
        parse_options(text)
    assert parse_options("epsilon=2, delta=1e-7") == {"epsilon": 2.0, "delta": 1e-7}


def test_columns_of_both_kinds_are_refused() -> None:
    with pytest.raises(DagoraError, match="'a' is discrete beside continuous ones: discretise the numbers"):
        agree_on_terms(MIXED, 3)
