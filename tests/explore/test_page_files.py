"""The page's files: those that are listed, and nothing else of this machine."""

import pytest

from dagora.explore.page_files import OWN, SHARED, page_file


@pytest.mark.parametrize(
    "name", ["../session.py", "page/app.js", "/etc/passwd", "", "app", "server.py", "page.css"]
)
def test_other_names_are_no_files(name: str) -> None:
    assert page_file(name) is None


def test_all_listed_files_are_there_with_their_types() -> None:
    kinds = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
    for name in (*OWN, *SHARED, "page.html"):
        found = page_file(name)
        assert found is not None
        assert found.content
        assert found.type == f"{kinds[name.rpartition('.')[2]]}; charset=utf-8"


def test_the_page_has_fields_in_the_place_of_comments() -> None:
    page = page_file("page.html").content.decode()
    assert "<!-- reading:" not in page
    for name in ("missing", "discretise", "join"):
        assert f'id="{name}"' in page


def test_the_page_says_utf_8_and_is_utf_8() -> None:
    for name in OWN:
        page_file(name).content.decode("utf-8")
