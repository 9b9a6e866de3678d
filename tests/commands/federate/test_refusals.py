"""Who does not fit: columns that differ, too few sites, questions that a site does not answer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.federate.consortium import (
    COORDINATOR,
    SITES,
    client_line,
    coordinator_line,
    only_line,
    refusals,
)


@pytest.mark.parametrize(
    ("change", "mentions"),
    [
        (lambda text: text.replace("season", "time_of_year", 1), ("'season'", "east", "south")),
        (
            lambda text: "\n".join(line.rpartition(",")[0] for line in text.splitlines()),
            ("'harvest'", "is a column of east but not of south"),
        ),
    ],
)
def test_other_columns(
    play: Callable, keys: Path, files: dict[str, Path], tmp_path: Path, change: Callable, mentions: tuple
) -> None:
    (tmp_path / "south.csv").write_text(change(files["south"].read_text()))
    others = {"south": client_line(keys, "south", tmp_path / "south.csv")}
    refusals(play(others=others), *mentions, code=2)


def test_text_where_others_have_numbers(play: Callable, keys: Path, numbers: Path, tmp_path: Path) -> None:
    text = numbers.read_text()
    (tmp_path / "south.csv").write_text(text.replace(text.splitlines()[5].partition(",")[0], "high"))
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    clients["south"] = client_line(keys, "south", tmp_path / "south.csv", "--discrete", "x0")
    refusals(play(others=clients), "column 'x0' is text at south and numbers at", code=2)


def test_two_sites_only_where_everybody_says_so(
    play: Callable, keys: Path, files: dict[str, Path], run: Callable
) -> None:
    refused = run(*coordinator_line(keys, sites=("east", "north")))
    assert refused.code == 2
    assert "--minimum" in only_line(refused)
    pair = ("east", "north")
    ended = play("--minimum", 2, sites=pair)
    assert {ran.code for ran in ended.values()} == {1}
    assert all("too few: at least 3 must take part" in only_line(ran) for ran in ended.values())
    agreed = {site: client_line(keys, site, files[site], "--minimum", 2) for site in pair}
    assert {ran.code for ran in play("--minimum", 2, sites=pair, others=agreed).values()} == {0}


def test_a_site_shows_what_it_learns_alone_only_where_its_owner_allows_it(
    play: Callable, keys: Path, numbers: Path
) -> None:
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    ended = play("--method", "vote", others=clients)
    asked = ended.pop("east")
    assert asked.code == 2
    assert "allow it with --show-weights" in only_line(asked)
    assert "cannot answer 'local-weights'" in only_line(ended[COORDINATOR])
    assert {ran.code for ran in ended.values()} <= {1, 2}
    allowed = {site: [*line, "--show-weights"] for site, line in clients.items()}
    ended = play("--method", "vote", "--json", others=allowed)
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert "were shown to the coordinator" in ended[COORDINATOR].err
