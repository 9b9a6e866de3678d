"""Options of methods and scores as they are written on a command line: NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dagora.base.options import Option


def parse_options(method: str | None, score: str | None, written: tuple[str, ...]) -> dict[str, Any]:
    """Read NAME=VALUE pairs as the types that the method (if any) and the score declare."""
    from dagora.learners.registry import method_named
    from dagora.scores.registry import SCORES, score_named

    entries = [score_named(score)] if score else list(SCORES)
    known = [option for entry in entries for option in entry.options]
    if method is not None:
        known += method_named(method).options
    return parse_pairs(written, known, f"the method {method} or its score" if method else "the score")


def parse_pairs(written: tuple[str, ...], options: Sequence[Option], owner: str) -> dict[str, Any]:
    """Read NAME=VALUE pairs as the declared types; of options with the same name the last one counts."""
    from dagora.base.errors import OptionError
    from dagora.base.options import alike
    from dagora.formats.registry import read_graph
    from dagora.learners.registry import methods_with

    known = {option.name: option for option in options}
    values: dict[str, Any] = {}
    for pair in written:
        name, sign, text = pair.partition("=")
        if not sign or not name:
            raise OptionError(f"--option takes NAME=VALUE, not '{pair}'")
        if name in values:
            raise OptionError(f"--option gives '{name}' twice")
        option = known.get(name)
        if option is None:
            listed = ", ".join(known) or "none"
            hint = methods_with(name) or alike(name, known)
            raise OptionError(f"there is no option '{name}' for {owner} (known: {listed}){hint}")
        value = option.parse(text)
        values[name] = (
            read_graph(text) if option.type == "graph" and value is not None else option.check(value)
        )
    return values
