"""The live page in a real browser, from an uploaded table to a saved report."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dagora
from dagora.cli.explore import launch_file
from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from tests.browser.waiting import until
from tests.conftest import ROOT

pytest.importorskip("starlette", reason="needs Starlette: the extra 'app'")
pytest.importorskip("uvicorn", reason="needs Uvicorn: the extra 'app'")

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def explore(tmp_path: Path):
    """The address of a server that is a process of its own; at the end, Ctrl-C ends it and nothing is left."""
    rooms = tmp_path / "temporary"
    rooms.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-m", "dagora", "explore", "--no-browser", "--quiet"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(rooms)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=30)
    assert (server.returncode, said.count("\n")) == (0, 1), said
    assert list(rooms.iterdir()) == []


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of which one column is named to do harm."""
    file = tmp_path / "garden.csv"
    write_table(sample_network(greenhouse(), 400, seed=1), file)
    file.write_text(file.read_text().replace("pests", HOSTILE, 1))
    return file


def test_the_graph_is_seen_while_a_method_runs_and_strengths_after_a_bootstrap(
    browser, explore, table
) -> None:
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, reduced_motion="reduce")
    complaints = []
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(explore)
    page.set_input_files("#file", table)
    page.wait_for_selector("#columns tbody tr")
    page.select_option("#method", "tabu")
    page.click("#options summary")
    page.fill("[data-option='patience']", "1000000000")
    page.fill("#bootstrap", "8")
    page.click("#learn")
    page.evaluate("document.querySelector('#seed').focus({ preventScroll: true })")
    page.wait_for_selector("#so-far g[data-tail]")
    assert page.is_visible("#run")
    assert page.locator("#so-far g[data-node]").count() == 11, "all columns"
    assert "Best graph so far" in page.inner_text("#so-far-words")
    assert page.evaluate("document.activeElement.id") == "seed", "the focus stays where it is"
    top = page.locator("#so-far").bounding_box()["y"]
    assert 0 < top < 1000, "it can be seen"
    assert not page.is_visible("#empty")

    # it stands still while somebody looks closer
    page.wait_for_function("document.querySelectorAll('#so-far g[data-tail]').length > 5")
    drawn = page.locator("#so-far svg").evaluate('svg => svg.outerHTML.replace(/ style="[^"]*"/, \'\')')
    page.locator("#so-far g[data-node='soil']").click()
    page.evaluate(
        """svg => import('/static/so_far.js').then((module) => module.take(
        { svg, edges: 1, open: 0, score: null }))""",
        drawn,
    )
    page.wait_for_selector("#newest:visible")
    assert page.locator("#so-far g.chosen").get_attribute("data-node") == "soil"
    page.click("#newest")
    page.wait_for_selector("#so-far-words:has-text('1 edge.')")
    assert (page.locator("#so-far g.chosen").count(), page.is_visible("#newest")) == (0, False)

    # a stop ends the search; then there is no time for samples
    page.click("#stop")
    page.wait_for_selector("#shown section:has-text('before 8 samples')")
    assert not page.is_visible("#so-far")
    assert page.locator("#so-far svg").count() == 0
    page.fill("[data-option='patience']", "")
    page.locator("[data-option='patience']").blur()
    page.click("#learn")
    page.wait_for_selector("#shown section:has-text('What most samples agree on')")
    assert page.locator("section:has-text('What most samples agree on') .canvas.live").count() == 1
    pairs = page.locator("section", has=page.locator("h2", has_text="Pairs"))
    pairs.locator("input.filter").fill("soil")
    assert 0 < pairs.locator("tbody tr:visible").count() < pairs.locator("tbody tr").count()
    assert complaints == []
    context.close()


def test_from_upload_to_saved_report(browser, explore: str, table: Path, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, accept_downloads=True)
    complaints, requests = [], []
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    origin = explore.partition("/?")[0]

    page.goto(launch_file(explore, tmp_path).as_uri())
    page.wait_for_url(f"{origin}/**")  # sent on by the file, which is the first request
    page.wait_for_selector("#start:not([hidden])")
    assert page.url == f"{origin}/", "the token has left the address"
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(table.read_text().replace(",", ";"))
    page.set_input_files("#file", semicolons)
    page.wait_for_selector("#heading:has-text('semicolons.csv: ')")
    page.set_input_files("#another-file", table)
    page.wait_for_selector("#heading:has-text('garden.csv: ')")
    page.wait_for_selector("#columns tbody tr")
    assert page.locator("#columns tbody tr").count() == 11
    assert HOSTILE in page.inner_text("#columns")

    # knowledge about a misspelt name is refused, by the line that the command has, with the variables that there are
    misspelt = tmp_path / "misspelt.json"
    for known, where in (
        ({"required": [["raim", "soil"]]}, "#known-edges li"),
        ({"tiers": [["raim"], ["soil"]]}, ".tierbox .chip"),
    ):
        misspelt.write_text(json.dumps(known))
        page.set_input_files("#load-knowledge", misspelt)
        page.wait_for_selector(f"{where}:has-text('raim')")
        page.click("#learn")
        page.wait_for_selector("#problem:has-text('raim')")
    misspelt.write_text("{}")
    page.set_input_files("#load-knowledge", misspelt)
    page.wait_for_selector("#tiers:empty", state="attached")

    # columns and tiers, by drag and drop and by select
    page.locator("#columns tr", has_text="cloud").locator("input").uncheck()
    page.wait_for_selector("#heading:has-text('10 columns')")
    page.click("#add-tier")
    # Nothing may scroll while a chip is dragged.
    page.locator(".tierbox[data-tier='1']").evaluate("box => box.scrollIntoView({ block: 'center' })")
    page.locator(".tierbox.pool .chip", has_text="season").drag_to(page.locator(".tierbox[data-tier='1']"))
    page.select_option("select.tier[data-name='harvest']", "2")
    assert page.inner_text(".tierbox[data-tier='1'] .chips") == "season"
    assert page.inner_text(".tierbox[data-tier='2'] .chips") == "harvest"

    # an edge by selects; a second one by two clicks in the picture, after a first run
    page.select_option("#tail", "soil")
    page.select_option("#head", "season")
    page.click("#require")
    page.select_option("#method", "tabu")
    page.click("#learn")
    page.wait_for_selector("#shown section")
    assert "names a variable" not in page.inner_text("#shown")
    page.select_option("[aria-label='what a click does']", "forbidden")
    page.locator(".canvas:visible g[data-node='light']").click()
    page.locator(".canvas:visible g[data-node='growth']").click()
    assert [line.split(" ×")[0] for line in page.locator("#known-edges li").all_inner_texts()] == [
        "soil → season required",
        "light → growth forbidden",
    ]
    page.click("#learn")
    page.wait_for_selector("#compare-tools:not([hidden])")
    with page.expect_download() as saving:
        page.click("#save-knowledge")
    saving.value.save_as(tmp_path / "knowledge.json")
    known = dagora.read_knowledge(tmp_path / "knowledge.json")
    assert known.tiers == (("season",), ("harvest",))
    assert (known.required, known.forbidden) == ((("soil", "season"),), (("light", "growth"),))

    # a run without end, stopped; then two results side by side
    page.click("#options summary")
    page.fill("[data-option='patience']", "1000000000")
    page.click("#learn")
    page.wait_for_selector("#run:not([hidden])")
    page.wait_for_selector("#phase:has-text('step')")
    page.click("#stop")
    page.wait_for_selector("#shown :text('It was stopped')")
    page.click("#compare")
    page.wait_for_selector("#comparison svg")
    assert page.locator("#pair svg").count() == 2

    # a question by a click on a level
    levels = page.locator(".card", has_text="harvest").locator(".level .share")
    before = levels.all_inner_texts()
    page.locator(".card", has_text="growth").locator(".level", has_text="fast").click()
    page.wait_for_selector(".card.known")
    assert page.locator(".chips button.chip").inner_text() == "growth = fast ×"
    assert levels.all_inner_texts() != before

    for name in ("report", "result"):
        with page.expect_download() as saving:
            page.click(f"text=save {name}")
        saving.value.save_as(tmp_path / saving.value.suggested_filename)
    result = dagora.Result.from_json((tmp_path / "result-5.json").read_text(encoding="utf-8"))
    assert known.violations(result.graph) == []
    assert (len(result.graph), HOSTILE in result.graph.nodes) == (10, True)
    report = (tmp_path / "report-5.html").read_text(encoding="utf-8")
    assert "tabu on garden.csv" in report
    assert HOSTILE not in report, "it is escaped"

    # pictures and charts of a dark screen are dark
    white = "() => [...document.querySelectorAll('.canvas > svg, .chart > svg')].filter((svg) => svg.getBoundingClientRect().width && getComputedStyle(svg).backgroundColor === 'rgb(255, 255, 255)').length"
    page.emulate_media(color_scheme="dark")
    assert page.locator(".chart > svg").count() == 1
    until(lambda: page.evaluate(white) == 0)
    page.emulate_media(color_scheme="light")

    # what a bad option gets, and a page that is loaded again
    page.fill("[data-option='patience']", "-3")
    page.click("#learn")
    page.wait_for_selector("#problem:has-text('must be at least')")
    refused = [line for line in complaints if "400" in line]  # the browser itself notes it
    assert complaints == refused
    page.reload()
    page.wait_for_selector("#list .line >> nth=2")
    assert {re.match(r"\w+://[^/]*|data:|blob:", url)[0] for url in requests[1:]} <= {
        origin,
        "data:",
        f"blob:{origin}",
        "blob:",
    }

    # of very many levels some are shown, and any can be written; what cannot be understood is mended on the page
    many = tmp_path / "many.csv"
    rows = [
        f"c{k % 60:02d},{'no' if k % 60 < 30 else 'yes'},{'see note' if k == 9 else k * 0.37 % 7}"
        for k in range(600)
    ]
    many.write_text("\n".join(["code,ill,dose", *rows]) + "\n")
    page.set_input_files("#another-file", many)
    page.wait_for_selector("#problem:has-text('words that mean missing: dose:see note')")
    assert page.locator("#columns tbody tr").count() == 3
    page.locator("#columns tr", has_text="dose").locator("input").uncheck()
    page.wait_for_selector("#heading:has-text('many.csv: 600 rows, 2 columns')")
    page.select_option("#method", "hill-climb")
    page.click("#learn")
    page.wait_for_selector("#shown h2:has-text('many.csv')")
    coded = page.locator(".card", has_text="code")
    coded.locator(".level").nth(11).wait_for()
    assert coded.locator(".level").count() == 12
    coded.locator("input").fill("c59")
    coded.locator("input").press("Enter")
    page.wait_for_selector(".chips button.chip:has-text('code = c59')")
    assert coded.locator(".level.on .text").inner_text() == "c59"

    stranger = browser.new_context()
    other = stranger.new_page()
    assert other.goto(f"{origin}/").status == 403
    assert "token" in other.inner_text("body")
    assert other.goto(f"{origin}/api/state").status == 403
    stranger.close()
    context.close()
