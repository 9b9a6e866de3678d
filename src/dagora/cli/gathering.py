"""Pass many options of a command to it as one argument: a frozen dataclass with a field for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def gather_options(
    command: F, record: type[Any], name: str, options: Sequence[Decorator], listed: Iterable[str] = ()
) -> F:
    """Add options to a command, which gets them as one argument `name`, a `record` of them.

    The values of those that are `listed` go into the record's field `given`, a mapping. The help lists the
    options in the order given here.
    """

    @wraps(command)
    def wrapper(**given: Any) -> Any:  # noqa: ANN401
        within = {each: given.pop(each) for each in listed}
        names = [field.name for field in fields(record) if field.name != "given" and field.name in given]
        chosen = {name: given.pop(name) for name in names}
        chosen |= {"given": within} if within else {}
        return command(**{name: record(**chosen)}, **given)

    result: Callable[..., Any] = wrapper
    for option in reversed(options):
        result = option(result)
    return cast("F", result)
