"""What a process that parses files says where it cannot."""

import pytest

from dagora.base.errors import DataError
from dagora.data.file_answers import error_answer


@pytest.mark.parametrize(
    ("problem", "kind", "text"),
    [
        (DataError("the file is damaged"), "DataError", "the file is damaged"),
        (MemoryError(), "", "parsing it takes too much memory"),
        (RuntimeError("std::bad_alloc"), "", "parsing it takes too much memory"),
        (ValueError("two\n  lines"), "", "two lines"),
        (KeyError(), "", "KeyError"),
    ],
)
def test_an_error_is_an_answer(problem: Exception, kind: str, text: str) -> None:
    assert error_answer(problem) == {"error": kind, "text": text}
