"""Build the documentation site: `python building/site.py FOLDER`. Any warning is an error.

Sphinx makes the pages from docs/ and the documents beside it; the first page leads to docs/index.html.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>dagora</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">dagora: documentation</a>
</html>
"""


def main(folder: str) -> int:
    """Build into a folder, with what Sphinx remembers between builds beside it; 0 if there was no warning."""
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        sys.exit("the documentation site needs Sphinx: pip install 'dagora[docs]'")
    gc.set_threshold(
        200_000, 50, 1000
    )  # trees of documents live to the end: looking for garbage less often saves a tenth
    site = Path(folder)
    site.mkdir(parents=True, exist_ok=True)
    settings = ["--quiet", "--fail-on-warning", "--keep-going", "--conf-dir", str(ROOT / "docs")]
    remembered = site.with_name(f"{site.name}-remembered")
    failed = build_main(["--builder", "html", *settings, "--doctree-dir", str(remembered), str(ROOT), folder])
    (site / "index.html").write_text(FIRST_PAGE, encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
