"""Messages on the page name what the user sees there, and what they advise can be done there."""

import re
from html import escape
from html.parser import HTMLParser

import pytest

from dagora.base.wording import LISTS
from dagora.data.columns.reading_options import READING, select_options
from dagora.explore.page_files import page_file
from dagora.explore.page_words import CHOICES, TITLES
from tests.explore.conftest import Client

AGES = [f"{20 + k / 7:.3f}" for k in range(40)]


class Labels(HTMLParser):
    """The text of each label, and the choices of each select in it by their values."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: list[str] = []
        self.choices: dict[str, dict[str, str]] = {}
        self._inside, self._value = False, None

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag == "label":
            self._inside = True
            self.titles.append("")
        elif tag == "option":
            self._value = dict(attrs)["value"]

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "label"
        self._value = None if tag == "option" else self._value

    def handle_data(self, data: str) -> None:
        if self._value is not None:
            self.choices.setdefault(self.titles[-1].strip(), {})[self._value] = data
        elif self._inside:
            self.titles[-1] += data


def test_words_are_those_of_the_page() -> None:
    page = Labels()
    page.feed(page_file("page.html").content.decode())
    titles = {title.strip() for title in page.titles}
    assert set(TITLES.values()) <= titles
    for name, choices in CHOICES.items():
        shown = page.choices[TITLES[name]]
        assert {value: shown[value] for value in choices} == choices
        assert set(shown) - set(choices) <= {"", "auto"}, "every choice has its words"


def test_the_page_offers_every_reading_option() -> None:
    page = page_file("page.html").content.decode()
    scripts = "".join(page_file(name).content.decode() for name in ("app.js", "columns.js"))
    for name, entry in READING.items():
        assert re.search(rf"[{{ ]{name}: ", scripts), f"nothing on the page sends {name}"
        assert name in TITLES or name in LISTS
        assert set(entry.choices) <= set(CHOICES.get(name, ()))
        if name in TITLES:
            (shown,) = select_options([name], missing="auto")
            assert f'title="{escape(shown.help)}"' in page, "the page describes it as the other doors do"
            assert f'id="{name}"' in page


def table(**columns: list[str]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return ("\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n").encode()


@pytest.mark.full
@pytest.mark.parametrize(
    ("cells", "said", "then"),
    [
        (["see note", *AGES[1:]], "“words that mean missing: age:see note”", {"na": "age:see note"}),
        (['"1,250"', *AGES[1:]], "“decimals come after a: comma”", {"discrete": ["age"]}),
    ],
)
def test_what_cannot_be_understood_is_opened_and_can_be_mended_there(
    client: Client, garden, cells: list[str], said: str, then: dict
) -> None:
    content = table(smoker=["no", "yes"] * 20, age=cells, cough=["low", "low", "high", "high"] * 10)
    opened = client.upload(content)
    assert (opened.status, opened.json["columns"]) == (200, ["smoker", "age", "cough"]), opened.body
    assert client.get("/api/state").json["columns"] == ["smoker", "age", "cough"]
    for answer in (client.post("/api/look", {}).error, learning_error(client)):
        assert said in answer
        assert "--" not in answer
    assert client.post("/api/look", then).status == 200
    number = client.learned(method="hill-climb", reading=then)
    assert client.ask("DELETE", f"/api/results/{number}").status == 200
    client.server.session.open(garden)


def learning_error(client: Client, **asked: object) -> str:
    assert client.post("/api/learn", asked).status == 200
    return client.finished()["error"]


def test_warnings_and_refusals_in_the_words_of_the_page(client: Client, garden) -> None:
    content = table(
        smoker=["no", "yes"] * 20, age=["", *AGES[1:]], cough=["NA", *["low", "high", "high"] * 13]
    )
    assert client.upload(content).status == 200
    warned = " ".join(client.post("/api/look", {}).json["table"]["warnings"])
    assert "“missing values: drop their rows”" in warned
    assert "“words that mean missing: cough:NA”" in warned
    refused = learning_error(client, reading={"missing": "error"})
    assert "“missing values: make them a level”" in refused
    assert "“cut numbers: at quantiles”" in refused
    cut = learning_error(client, reading={"missing": "level"})
    assert "untick 'age'" in cut
    assert "--" not in warned + refused + cut
    client.server.session.open(garden)
