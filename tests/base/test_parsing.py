"""JSON and TOML from outside: one line, whatever is wrong with the text."""

import pytest

from dagora.base.errors import FormatError, KnowledgeError
from dagora.base.parsing import parse_json, parse_toml

DIGITS, DEEP = "9" * 5000, 200_000


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: is not JSON"),
        ('{"a": 1,\n "b"}', "line 2: is not JSON"),
        (DIGITS, "too many digits"),
        (f'{{"a": [-{DIGITS}]}}', "too many digits"),
        ("[" * DEEP + "]" * DEEP, "nested too deeply"),
        ('{"a":' * DEEP, "nested too deeply"),
        (b"\xff\xfe\xfd", "not UTF-8"),
    ],
    ids=["empty", "second line", "digits", "digits inside", "lists", "objects", "bytes"],
)
def test_json_that_cannot_be_read(text, says):
    with pytest.raises(KnowledgeError, match=says) as caught:
        parse_json(text, error=KnowledgeError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = = 1", r"is not TOML: .*line 1"),
        (f"a = {DIGITS}", "too many digits"),
        ("a = 1979-13-41", "is not TOML"),
        ("a = " + "[" * DEEP, "nested too deeply"),
        ("a = " + "{a = " * DEEP, "nested too deeply"),
    ],
    ids=["syntax", "digits", "date", "lists", "tables"],
)
def test_toml_that_cannot_be_read(text, says):
    with pytest.raises(FormatError, match=says) as caught:
        parse_toml(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_what_is_well_is_read_as_python_reads_it():
    assert parse_json('{"a": [1, 2.5, null, "ä"]}') == {"a": [1, 2.5, None, "ä"]}
    assert parse_json(b"[true]") == [True]
    assert parse_toml('a = 1\n[b]\nc = "ä"') == {"a": 1, "b": {"c": "ä"}}


HIDDEN = [
    '"\\"".' + "a." * 20 + '"b" = 1',
    "x = {y = '''\"'''', " + "a." * 20 + "a = 1}",
    '"=".' * 20 + "a = 1",
    "a . " * 20 + "a = 1",
    "[" + "a." * 20 + "a]",
    'x = """a\n""" # "\n' + "a." * 20 + "a = 1",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_key_of_many_parts_is_refused_wherever_it_stands(text):
    with pytest.raises(FormatError, match="a key has more than 16 dots"):
        parse_toml(text)


def test_dots_that_are_in_no_key():
    dots = "." * 40
    text = f"""\
a = [{"1.5, " * 40}]
b.c = "{dots}"  # {dots}
d = '{dots}'
e = \"\"\"it "is" {dots}\"\"\"
f = '''it's {dots}'''
"""
    assert parse_toml(text)["b"] == {"c": dots}
