"""The rule behind the promises: what is summed is additive over rows, in integers, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.data.table import Table
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.coded_rows import code_rows, follow_codebook, fraction_bits
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session.exact_products import exact_products, first_and_second
from dagora.parties.horizontal.session.fourth_sums import fourth_sums
from dagora.parties.horizontal.session.row_sums import (
    SUMMED,
    joint_counts,
    moments,
    read_fourth_moments,
    read_moments,
)
from dagora.stats.table import TableStatistics

# Of sums over rows; `test_windows` has those over windows of series.
WEIGHED = ("counts", "moments", "basis", "indicators", "weights")
ARGUMENTS = {
    "counts": ([(), (0,), (0, 1), (1,)],),
    "moments": (),
    "basis": (3,),
    "indicators": (),
    "fourth": ([(0, 1), (2, 0)],),
}


def mixed(rng, rows):
    values = np.column_stack([rng.integers(0, 2, rows), rng.integers(0, 4, rows), rng.normal(size=(rows, 3))])
    return Table.from_numpy(
        values, names=["a", "b", "x", "y", "z"], discrete=["a", "b"], continuous=["x", "y", "z"]
    )


def test_every_summed_task_is_tried_here():
    assert {*ARGUMENTS, "lagged", "weights"} == set(SUMMED)


@pytest.mark.parametrize("task", ARGUMENTS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), first=st.integers(0, 60))
def test_the_answer_for_rows_together_is_the_sum_of_the_answers(task, seed, first):
    table = mixed(np.random.default_rng(seed), 60)
    book = codebook_of({"all": table})
    whole = follow_codebook(table, book)
    parts = [whole.take(np.arange(first)), whole.take(np.arange(first, 60))]
    answers = [SUMMED[task](code_rows(part, book, 1 << 22), *ARGUMENTS[task]) for part in (whole, *parts)]
    assert all(answer.dtype == np.int64 for answer in answers)
    np.testing.assert_array_equal(answers[0], answers[1] + answers[2])


@pytest.mark.parametrize("task", ARGUMENTS)
def test_the_answer_does_not_depend_on_the_order_of_rows(task):
    rng = np.random.default_rng(1)
    table = mixed(rng, 200_000)
    book = codebook_of({"all": table})
    shuffled = table.take(rng.permutation(200_000))
    one, two = (SUMMED[task](code_rows(t, book, 1 << 22), *ARGUMENTS[task]) for t in (table, shuffled))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("task", WEIGHED)
def test_sums_with_weights_are_those_of_repeated_rows_and_add_up(task):
    rng = np.random.default_rng(3)
    table, times = mixed(rng, 300), rng.integers(0, 5, 300)
    book = replace(codebook_of({"all": table}), largest_weight=4.0)
    rows = code_rows(table, book, 1 << 22, weights=times.astype(float))
    # The largest weight is a power of two, so that whole weights are not rounded.
    unit = 1 << (rows.bits - 2)
    arguments = ARGUMENTS.get(task, ())
    whole = SUMMED[task](rows, *arguments)
    parts = [
        SUMMED[task](code_rows(table.take(some), book, 1 << 22, weights=times[some] * 1.0), *arguments)
        for some in (np.arange(100), np.arange(100, 300))
    ]
    np.testing.assert_array_equal(whole, parts[0] + parts[1])
    if task == "weights":
        assert whole.tolist() == [300, times.sum() * unit, (times**2).sum() * unit**2]
        return
    repeated = code_rows(
        table.take(np.repeat(np.arange(300), times)), replace(book, largest_weight=0.0), 1 << 22
    )
    plain = SUMMED[task](repeated, *arguments)
    if task != "counts":  # products have two halves
        products = len(whole) - len(plain)
        whole = whole.astype(object)
        upper, lower = whole[-2 * products : -products], whole[-products:]
        whole = np.concatenate([whole[: -2 * products], upper * (1 << rows.bits) + lower])
    np.testing.assert_array_equal(whole.astype(object), plain.astype(object) * unit)


@pytest.mark.parametrize("largest", [1024, 1 << 22, 1 << 40])
def test_moments_with_weights_are_exact_at_the_ends_of_ranges(largest):
    bits = fraction_bits(largest)
    rng = np.random.default_rng(bits)
    numbers = rng.choice([-(1 << bits), 1 << bits, 1, -1, 0], (3, 200))
    weights = rng.choice([1 << bits, 0, 1], 200)
    found = first_and_second(numbers, bits, weights)
    d = 3
    exact = (numbers.astype(object) * weights) @ numbers.astype(object).T
    upper, lower = np.split(found[1 + d :].astype(object), 2)
    np.testing.assert_array_equal(upper * (1 << bits) + lower, exact[np.triu_indices(d)])
    assert found[0] == weights.sum()


def test_a_task_that_rounds_its_total_would_be_caught():
    """Rounding a site's own total is what made the bisection of units possible."""
    rows = np.array([0.4, 0.4])
    assert np.rint(rows.sum()) != np.rint(rows[:1].sum()) + np.rint(rows[1:].sum())


@pytest.mark.parametrize("bits", [1, 2, 15, 20, 25, 26])
def test_products_are_exact_up_to_the_largest_numbers(bits):
    rng = np.random.default_rng(bits)
    top = 1 << bits
    numbers = np.concatenate(
        [rng.integers(-top, top + 1, (3, 400)), np.full((3, 50), top), np.full((3, 50), -top)], axis=1
    )
    expected = (numbers.astype(object) @ numbers.T.astype(object)).astype(np.int64)
    np.testing.assert_array_equal(exact_products(numbers, bits), expected)


@pytest.mark.parametrize("largest", [1024, 1 << 22])
def test_products_of_four_are_those_of_the_rounded_rows(largest):
    """Also far from the middle of a wide range, and at its ends, where numbers are largest."""
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.normal(size=300), 40 + 0.1 * rng.normal(size=300), [-50.0, 50] * 150])
    table = Table.from_numpy(values, names=list("xyz"), continuous=list("xyz"))
    book = Codebook(tuple(ColumnCoding(name, low=-50.0, high=50.0) for name in "xyz"))
    coded = code_rows(table, book, largest)
    (found,) = read_fourth_moments(fourth_sums(coded, [(2, 0, 1)]), book, coded.bits, [(2, 0, 1)])
    rounded = 50 * np.ldexp(coded.numbers, -coded.bits)[[2, 0, 1]]
    apart = rounded - rounded.mean(axis=1)[:, None]
    np.testing.assert_allclose(found.moments.scatter, apart @ apart.T, rtol=1e-11)
    known = np.einsum("ar,br,cr,dr->abcd", apart, apart, apart, apart)
    np.testing.assert_allclose(found.fourth, known, rtol=1e-10, atol=1e-11 * np.abs(known).max())


def test_counts_are_those_of_a_loop():
    table = mixed(np.random.default_rng(4), 50)
    rows = code_rows(table, codebook_of({"all": table}), 1024)
    expected = np.zeros((2, 4), dtype=np.int64)
    for a, b in zip(table.codes(0), table.codes(1), strict=True):
        expected[a, b] += 1
    np.testing.assert_array_equal(joint_counts(rows, [(0, 1)]), expected.ravel())


@pytest.mark.parametrize("largest", [1024, 1 << 22, 1 << 30])
def test_moments_are_those_of_the_rounded_rows(largest):
    table = mixed(np.random.default_rng(6), 300)
    book = codebook_of({"all": table})
    rows, bits = code_rows(table, book, largest), fraction_bits(largest)
    found = read_moments(moments(rows), book, bits)
    unit = np.array([coding.half_width for coding in book.continuous])[:, None] / 2.0**bits
    centre = np.array([coding.centre for coding in book.continuous])[:, None]
    rounded = Table.from_numpy((centre + unit * rows.numbers).T, names=["x", "y", "z"], continuous=["all"])
    theirs = TableStatistics(rounded).moments()
    assert found.n == theirs.n
    np.testing.assert_allclose(found.mean, theirs.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.scatter, theirs.scatter, rtol=1e-10, atol=1e-9)
    # And close to the rows themselves, as close as the rounding allows.
    exact = TableStatistics(table.select(["x", "y", "z"])).moments()
    np.testing.assert_allclose(found.scatter, exact.scatter, rtol=0, atol=2000 * 2.0**-bits)
