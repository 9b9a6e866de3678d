"""The command as it may be shown: without a query that may hold a password."""

import pytest

from dagora.cli.command_line import answering, command_line


@pytest.mark.parametrize(
    "given", [["--query", "select 'password=hunter2'"], ["--query=select 'password=hunter2'"]]
)
def test_a_query_with_a_password_is_left_out(given):
    with answering(["learn", "postgresql://db/shop", *given, "--seed=3"]):
        line = command_line()
    assert line is not None
    assert "hunter2" not in line
    assert line.endswith("--seed=3")
    assert command_line() is None
