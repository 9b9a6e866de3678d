"""Opens the page in a browser without showing the token to others.

What a browser is to open is an argument of its process, and every user of a machine can read the arguments of
all processes. So it is given the name of a file that only this user can read, and the file sends it on.
"""

from __future__ import annotations

import os
import webbrowser
from html import escape
from pathlib import Path

NAME = "open.html"


def launch(address: str, folder: Path) -> None:
    """Open the address in the user's browser, by way of a file in `folder`, which is private."""
    webbrowser.open(launch_file(address, folder).as_uri())


def launch_file(address: str, folder: Path) -> Path:
    """Write the file that sends a browser on to the address."""
    place, there = folder / NAME, escape(address)
    page = (
        '<!DOCTYPE html>\n<meta charset="utf-8"><title>dagora explore</title>\n'
        f'<meta http-equiv="refresh" content="0; url={there}">\n<a href="{there}">dagora explore</a>\n'
    )
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    return place
