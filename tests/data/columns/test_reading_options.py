"""The reading options are declared once; signatures, help, completion, the command and the documents follow."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import dagora
from dagora.base.shared_parameters import SHARED
from dagora.base.wording import LISTS
from dagora.data.columns.reading_options import READING, WITH_MODEL, select_options, takes_reading

ALL = [
    "learn",
    "sample",
    "bootstrap",
    "fit",
    "impute",
    "score",
    "candidates",
    "estimate_time",
    "read_table",
    "open_rows",
    "inspect",
]
SOME = {
    "learn_federated": "discrete continuous ordinal drop missing na table decimal counts ranks weights",
    "effect_federated": "discrete continuous ordinal drop missing na table decimal counts",
    "learn_private": "drop missing na table decimal",
    "learn_private_group": "drop missing na table decimal",
}
TAKING = {**dict.fromkeys(ALL, " ".join(READING)), **SOME}
COMMANDS = ["learn", "sample", "score", "inspect", "impute", "explore"]
DATA = Path(__file__).resolve().parents[3] / "docs" / "data.md"


@pytest.mark.parametrize("name", TAKING)
def test_signature_and_help_list_the_reading_options(name: str) -> None:
    function = getattr(dagora, name)
    parameters = inspect.signature(function).parameters
    described = inspect.getdoc(function) or ""
    for each in TAKING[name].split():
        assert parameters[each].kind is inspect.Parameter.KEYWORD_ONLY
        assert re.search(rf"^{each} : ", described, re.MULTILINE), f"{name} does not describe {each}"
    assert not [each for each in READING if each in parameters and each not in TAKING[name].split()]
    assert not re.search(r"^ *\{.*\}$", described, re.MULTILINE), "a line that nothing filled"
    assert "reading" not in parameters


def test_shared_parameters_are_described_alike() -> None:
    for name, entry in SHARED.items():
        taking = [each for each in ALL if name in inspect.signature(getattr(dagora, each)).parameters]
        described = [each for each in taking if entry in (inspect.getdoc(getattr(dagora, each)) or "")]
        assert len(described) > 1, f"{name} is described once: write it there"
    assert SHARED["seed"] == "seed : int, default 0\n    The same seed gives the same result."


def test_the_default_of_missing_is_that_of_the_function() -> None:
    defaults = {
        name: inspect.signature(getattr(dagora, name)).parameters["missing"].default for name in TAKING
    }
    assert {name for name, value in defaults.items() if value == "auto"} == {
        "learn",
        "bootstrap",
        "estimate_time",
        "inspect",
    }
    assert defaults["impute"] == "model"
    assert set(defaults.values()) == {"auto", "model", "error"}
    assert "model" in WITH_MODEL


@pytest.mark.full
@pytest.mark.parametrize("with_jedi", [False, True])
@pytest.mark.parametrize(
    ("call", "option"),
    [("dagora.learn(rows, disc", "discrete="), ("dagora.read_table('a.csv', sep", "separator=")],
)
def test_notebooks_complete_the_reading_options(call: str, option: str, with_jedi: bool) -> None:
    shell = InteractiveShell.instance()
    completer = IPCompleter(shell=shell, namespace={"dagora": dagora, "rows": {}}, global_namespace={})
    completer.use_jedi = with_jedi
    with provisionalcompleter():
        found = {each.text for each in completer.completions(call, len(call))}
    assert option in found


def test_an_unknown_option_is_refused_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(
        dagora.OptionError, match=r"^read_table has no option 'seperator'; did you mean 'separator'\?$"
    ):
        dagora.read_table("a.csv", seperator=";")
    with pytest.raises(dagora.OptionError, match="learn_private has no option 'bins'"):
        dagora.learn_private("a.csv", bins=2)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_has_the_same_options(name: str) -> None:
    command: click.Command = import_module(f"dagora.cli.{name}").command
    options = {each.name: each for each in command.params}
    expected = {
        each.name: each
        for each in select_options(missing="auto" if "auto" in str(options["missing"].type) else None)
    }
    for each, entry in expected.items():
        assert options[each].help == entry.help
        assert options[each].default == entry.default or not entry.default
        assert tuple(getattr(options[each].type, "choices", ())) == entry.choices


def test_lists_on_the_command_line_are_the_options_that_name_columns() -> None:
    """Words of messages stand below the declaration, so that they cannot be made from it."""
    assert {name for name, entry in READING.items() if entry.type == "names"} == LISTS


def test_one_declaration_is_enough() -> None:
    """A function that takes all options shows whatever is declared."""

    @takes_reading()
    def read(path: str, **reading: object) -> object:
        """Read.

        Parameters
        ----------
        {reading}
        """
        return path, reading

    assert list(inspect.signature(read).parameters) == ["path", *READING]
    assert read("a", bins=2) == ("a", {"bins": 2})


def test_the_table_in_the_documents_is_the_declaration() -> None:
    rows = [
        f"| `{each.name}` | `--{each.name.replace('_', '-')}` | {each.values} | {each.help} |"
        for each in select_options(missing="auto")
    ]
    table = "\n".join(["| in Python | of the command | values | |", "|---|---|---|---|", *rows])
    assert table in DATA.read_text(encoding="utf-8"), f"docs/data.md should have\n{table}"
