"""Every public name explains itself with an example, which the suite runs; docstrings are plain sentences."""

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pytest

import dagora

CLASSES = [
    dagora.CPDAG,
    dagora.Candidates,
    dagora.Comparison,
    dagora.DAG,
    dagora.Knowledge,
    dagora.PAG,
    dagora.Posterior,
    dagora.Result,
    dagora.Schema,
    dagora.Statistics,
    dagora.Strengths,
    dagora.Table,
]
# They need a package that not everybody has, or are steps of a search.
WITHOUT = {"Posterior.to_arviz", "Candidates.adding", "Candidates.obeying"}


def examples(text: str | None) -> str:
    """The lines of code in a docstring's examples."""
    return "\n".join(re.findall(r"^\s*(?:>>>|\.\.\.) (.*)$", text or "", re.MULTILINE))


@pytest.mark.parametrize("name", dagora.__all__)
def test_a_public_name_has_an_example(name: str) -> None:
    value = getattr(dagora, name)
    assert value.__doc__
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert examples(value.__doc__), f"{name} has no example"


def undocumented(function: Callable[..., object]) -> set[str]:
    """Parameters without an entry in a function's docstring, and "Returns" where it has no such section."""
    sections = re.split(r"^(\w+)\n-+\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    found = dict(zip(sections[1::2], sections[2::2], strict=True))
    listed = re.findall(r"^(\*{0,2}\w+(?:, \w+)*)(?: : |$)", found.get("Parameters", ""), re.MULTILINE)
    documented = {name.lstrip("*") for names in listed for name in names.split(", ")}
    return set(inspect.signature(function).parameters) - documented | {"Returns"} - set(found)


FUNCTIONS = [name for name in dagora.__all__ if inspect.isfunction(getattr(dagora, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_describes_its_parameters_and_result(name: str) -> None:
    assert undocumented(getattr(dagora, name)) == set()


def test_a_parameter_without_a_description_is_seen() -> None:
    def scale(rows: int, by: float) -> float:
        """Scale.

        Parameters
        ----------
        rows : int
            How many.
        """
        return rows * by

    assert undocumented(scale) == {"by", "Returns"}
    assert len(FUNCTIONS) >= 30


def members(cls: type) -> dict[str, object]:
    """Public methods and computed attributes; plain fields are explained by the class."""
    return {
        name: value
        for name, value in inspect.getmembers(cls)
        if not name.startswith("_")
        and (inspect.isroutine(value) or isinstance(value, property | cached_property))
        and not inspect.ismemberdescriptor(value)
    }


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_examples_show_every_method(cls: type) -> None:
    """A method or attribute is used in the examples of its class, or in those of one of its methods."""
    listed = members(cls)
    assert len(listed) >= 3
    shown = "\n".join(examples(text) for text in (cls.__doc__, *map(inspect.getdoc, listed.values())))
    unused = {name for name in listed if not re.search(rf"\.{name}\b", shown)}
    assert {f"{cls.__name__}.{name}" for name in unused} <= WITHOUT


def test_a_method_without_an_example_is_seen() -> None:
    class Bare:
        """It has one.

        >>> Bare().shown()
        """

        def shown(self) -> None:
            """Shown."""

        def hidden(self) -> None:
            """Not shown, though `.hidden` is named here."""

        def other(self) -> None:
            """Other: not shown either."""

    with pytest.raises(AssertionError, match=r"Bare.hidden.*Bare.other|Bare.other.*Bare.hidden"):
        test_examples_show_every_method(Bare)


# A docstring says what a thing is or returns; one that begins so asks its reader to turn a question round.
QUESTION = re.compile(r'"""(?:What|Whether|How)\b')


def test_no_docstring_begins_with_a_question_word() -> None:
    package = Path(dagora.__file__).parent
    found = [
        f"{file.relative_to(package)}:{number}"
        for file in sorted(package.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if QUESTION.search(line)
    ]
    assert found == []
    assert QUESTION.search('    """How old it is."""')
