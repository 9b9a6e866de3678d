"""The promise of docs/stability.md: what was public in this minor version stays until it was deprecated."""

import json
from pathlib import Path

from building.public_surface import surface

WRITTEN_DOWN = Path(__file__).with_name("public_surface.json")


def lost(before, now):
    """What was there and is not any more."""
    return [
        f"{kind}: {name} {part}".rstrip()
        for kind, names in before.items()
        for name, parts in names.items()
        for part in (*parts, "")
        if name not in now[kind] or (part and part not in now[kind][name])
    ]


def test_nothing_public_is_lost():
    assert lost(json.loads(WRITTEN_DOWN.read_text(encoding="utf-8")), surface()) == []


def test_what_is_lost_is_seen():
    before = {
        "functions": {"learn": ["data", "method"], "fit": []},
        "commands": {"dagora learn": ["--method"]},
    }
    now = {"functions": {"learn": ["data", "new"]}, "commands": {"dagora learn": ["--method", "--new"]}}
    assert lost(before, now) == ["functions: learn method", "functions: fit"]


def test_all_kinds_are_written_down():
    written = json.loads(WRITTEN_DOWN.read_text(encoding="utf-8"))
    assert set(written) == {"functions", "classes", "commands", "methods", "samplers", "scores", "files"}
    assert all(written.values())
    assert {"--method", "--score", "--output"} <= set(written["commands"]["dagora learn"])
