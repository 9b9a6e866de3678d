"""`--likelihood` and `--soft`: evidence that is not certain, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

SHAPE = "NAME=LEVEL:NUMBER,..."
HELP = {
    "--soft": "Soft evidence: the chances of the levels once all is known (smoker=yes:0.7,no:0.3).",
    "--likelihood": "Likelihood evidence: how probable what was noticed is at each level "
    "(test=yes:0.8,no:0.1); of a number, a measurement (bp=value:140,sd:5).",
}


class UncertainType(click.ParamType[tuple[str, dict[str, float]]]):
    """Evidence such as `smoker=yes:0.8,no:0.2`, or `bp=value:140,sd:5`; quotes hold other signs."""

    name = "evidence"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, dict[str, float]]:
        """Return the variable and a number for each level."""
        from dagora.base.errors import QueryError

        if isinstance(value, tuple):
            return value
        try:
            return parse_uncertain(str(value))
        except (QueryError, ValueError):
            self.fail(f"'{value}' is not of the form smoker=yes:0.8,no:0.2", param, ctx)


def parse_uncertain(text: str) -> tuple[str, dict[str, float]]:
    """The variable and a number for each level.

    >>> parse_uncertain("smoker=yes:0.8,'not now':0.2")
    ('smoker', {'yes': 0.8, 'not now': 0.2})
    """
    from dagora.network.inference.question_reader import words

    name, sign, *rest = words(text)
    if name.is_mark or sign.text != "=" or not sign.is_mark:
        raise ValueError(text)
    found: dict[str, float] = {}
    item: list[str] = []
    for word in [*rest, None]:
        if word is not None and not (word.is_mark and word.text == ","):
            item.append(word.text)
            continue
        if not item:
            raise ValueError(text)
        # A level in quotes is a word of its own, before the colon and the number.
        level, colon, number = (
            item[0].rpartition(":") if len(item) == 1 else (item[0], *item[1].partition(":")[1:])
        )
        if not colon or len(item) > 2 or level in found:
            raise ValueError(text)
        found[level] = float(number)
        item = []
    return name.text, found


def uncertain_options() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The two options."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for flag, what in HELP.items():
            command = click.option(flag, multiple=True, type=UncertainType(), metavar=SHAPE, help=what)(
                command
            )
        return command

    return add
