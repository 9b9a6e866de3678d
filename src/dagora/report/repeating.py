"""The last part of every report: settings, versions, and the whole result as a file to download."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from dagora.base.files import json_text
from dagora.report.page import Content, Section, attribute, fold, number, table, text


def repeating(
    settings: Mapping[str, Any],
    seed: int,
    stats: Mapping[str, float],
    versions: Mapping[str, str],
    content: Mapping[str, Any],
) -> Section:
    """Command line, file, settings, numbers about the work, versions, and the result as JSON."""
    given = [(name, setting_text(value)) for name, value in {**settings, "seed": seed}.items()]
    work: list[tuple[str, Content]] = [(name.replace("_", " "), value) for name, value in stats.items()]
    body = origin(content.get("command"), content.get("data", {}))
    body += fold("settings", table(("setting", "value"), given), opened=True)
    body += fold("numbers about the work", table(("", ""), work)) if work else ""
    body += fold("versions", table(("package", "version"), list(versions.items())))
    encoded = b64encode(json_text(content).encode()).decode()
    address = attribute(f"data:application/json;base64,{encoded}")
    body += f'<p><a download="result.json" href={address}>The whole result as JSON</a></p>'
    return Section("How to repeat it", body)


def origin(command: str | None, data: Mapping[str, Any]) -> str:
    """The command line, and which data they were and how they were read."""
    facts: list[tuple[str, Content]] = []
    if data:
        facts += [("file", data["source"])] if data.get("source") else []
        facts += [("SHA-256 of the file", data["sha256"])] if data.get("sha256") else []
        facts += [("rows", data["rows"]), ("rows dropped", data["rows_dropped"])]
        facts += [(name, setting_text(value)) for name, value in data["reading"].items()]
    line = f"<pre>{text(command)}</pre>" if command else ""
    return line + (fold("data", table(("data", ""), facts), opened=True) if facts else "")


def setting_text(value: object) -> str:
    """A setting as text.

    >>> setting_text(None), setting_text(True), setting_text(0.1), setting_text({"required": [["a", "b"]]})
    ('none', 'yes', '0.1', '{"required": [["a", "b"]]}')
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return number(value)
    return json.dumps(value, ensure_ascii=False, default=str)
