"""What comes from data cannot become a part of the page."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.report.page import POLICY, Cell, Section, attribute, fold, number, page, table, text
from tests.report.reading import read

LETTERS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc")))


@given(LETTERS)
def test_any_text_comes_back_as_it_was(words):
    content = page("t", f"<p id={attribute(words)}>{text(words)}</p>", [])
    found = read(content)
    assert "".join(data for around, data in found.texts if around[-1:] == ("p",)) == words
    assert [tags["id"] for tag, tags in found.tags if tag == "p"] == [words]


def test_the_page_may_load_nothing():
    found = read(page("t", "", [Section("s", fold("more", "<p>x</p>"))]))
    policies = [tags["content"] for tag, tags in found.tags if "http-equiv" in tags]
    assert policies == [POLICY]
    assert POLICY.startswith("default-src 'none'")
    assert not [tags for _, tags in found.tags if {"src", "href"} & tags.keys()]


def test_rows_of_a_table():
    found = read(page("t", table(("a<b", "n"), [("<i>", 2), ("x", Cell("two", 2.5)), ("y", None)]), []))
    assert found.rows == [["a<b", "n"], ["<i>", "2"], ["x", "two"], ["y", ""]]
    assert [tags["data-value"] for _, tags in found.tags if "data-value" in tags] == ["2.0", "2.5"]
    around = [tags for _, tags in found.tags if tags.get("class") == "wide"]
    assert [(tags["tabindex"], tags["aria-label"]) for tags in around] == [("0", "table: a<b, n")]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (-3, "−3"),
        (1234567, "1\u202f234\u202f567"),
        (-12345.678, "−12\u202f345.7"),
        (0.000123456, "0.0001235"),
        (1e300, "1e+300"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "–"),
        (True, "yes"),
    ],
)
def test_numbers(value, shown):
    assert number(value) == shown
