"""The documentation site, as Sphinx reads it; `make docs` (building/site.py) builds it.

The source folder is the root of the repository, so that a link from one document to another is the same in
the site and in the repository. Nothing is fetched while it is built, and its pages ask no other host.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from dagora.base.version import __version__  # of this checkout, installed or not

project = "dagora"
project_copyright = "the dagora developers, Apache-2.0"
version = release = __version__

root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = [".*", "build", "demo", "dist", "src", "tests", "benchmarks", "reproductions"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Pages that `dagora reproduce` writes begin at the second level of headings.
suppress_warnings = ["myst.header"]

smartquotes = False  # options begin with two hyphens, and stay so
default_role = "code"  # in docstrings, a word in backticks is code
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_use_param = napoleon_use_rtype = False  # types are words, not links
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90

html_theme = "pydata_sphinx_theme"
html_title = "dagora"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 5,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
# Pages that have none beside or below them need no list of pages.
html_sidebars = {f"docs/{page}": [] for page in ("which-method", "gallery", "glossary", "r-users")}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
