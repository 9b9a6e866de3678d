"""Write down what docs/stability.md promises to keep: names, parameters, options, keys.

    python building/public_surface.py > tests/contracts/public_surface.json

`tests/contracts/test_stability.py` compares what there is with what was written down. Do so anew for every
minor version, when what was deprecated has gone.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]


def parameters(value: object) -> list[str]:
    """Parameters of a public function; other names have none to keep."""
    return list(inspect.signature(value).parameters) if inspect.isfunction(value) else []


def public_members(value: object) -> list[str]:
    """Public attributes and methods of a public class."""
    return sorted(name for name in dir(value) if not name.startswith("_")) if inspect.isclass(value) else []


def commands(command: click.Command, name: str) -> Iterator[tuple[str, list[str]]]:
    """Every command below a command, with its options."""
    yield name, sorted(flag for each in command.params for flag in each.opts if flag.startswith("-"))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from commands(below, f"{name} {each}")


def surface() -> dict[str, dict[str, list[str]]]:
    """All that is public, by kind and name."""
    import dagora
    from dagora.cli.main import cli
    from dagora.learners.registry import METHODS
    from dagora.posterior.registry import SAMPLERS
    from dagora.scores.registry import SCORES

    names = {name: getattr(dagora, name) for name in dagora.__all__}
    table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    registries = {"methods": METHODS, "samplers": SAMPLERS, "scores": SCORES}
    return {
        "functions": {name: parameters(value) for name, value in names.items()},
        "classes": {name: members for name, value in names.items() if (members := public_members(value))},
        "commands": dict(commands(cli, "dagora")),
        **{
            kind: {each.name: sorted(option.name for option in each.options) for each in registry}
            for kind, registry in registries.items()
        },
        "files": {"result.json": sorted(dagora.learn(table).to_dict())},
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    print(json.dumps(surface(), indent=1, sort_keys=True, ensure_ascii=False))
