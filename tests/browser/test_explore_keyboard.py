"""The live page by keyboard alone, the estimate of the time, and tables with very many columns."""

from pathlib import Path

import pytest

from dagora.data.writers import write_table
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from tests.browser.test_explore_page import explore  # noqa: F401 (a fixture)

FOCUS = """() => {
  const [at, ring] = [document.activeElement, (element) => getComputedStyle(element).outlineStyle !== "none"];
  const square = at.matches("[data-node]") && getComputedStyle(at.querySelector("rect")).strokeDasharray !== "none";
  const seen = ring(at) || square || (at.closest(".button") !== null && ring(at.closest(".button")));
  return { id: at.id, tag: at.tagName, text: at.textContent, part: at.closest("[data-part]")?.dataset.part ?? "", seen };
}"""


@pytest.fixture
def page(browser, explore):  # noqa: F811
    context = browser.new_context(viewport={"width": 1300, "height": 1000}, reduced_motion="reduce")
    complaints = []
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(explore)
    yield page
    refused = [line for line in complaints if "400 (Bad Request)" in line]  # the browser itself notes it
    assert complaints == refused
    context.close()


def press_tab_until(page, wanted) -> dict:
    """Press Tab until the wanted thing has the focus, which must be seen at every step."""
    for _ in range(120):
        page.keyboard.press("Tab")
        now = page.evaluate(FOCUS)
        assert now["seen"], now
        if wanted(now):
            return now
    raise AssertionError("it cannot be reached by Tab")


def test_by_keyboard_alone(page, tmp_path: Path) -> None:
    file = tmp_path / "garden.csv"
    write_table(sample_network(greenhouse(), 300, seed=1), file)
    page.set_input_files("#file", file)
    page.wait_for_selector("#heading:has-text('11 columns')")
    page.wait_for_selector("#estimate:has-text('measured on 300 rows')")

    # leave a column out, and be where one was
    press_tab_until(page, lambda now: now["part"] == "cloud")
    page.keyboard.press("Space")
    page.wait_for_selector("#heading:has-text('10 columns')")
    assert page.evaluate(FOCUS)["part"] == "cloud"

    # another method, whose time is told
    press_tab_until(page, lambda now: now["id"] == "method")
    page.keyboard.type("hill")
    page.wait_for_selector("#estimate:has-text('all 10 columns of this table')")
    assert page.eval_on_selector("#method", "select => select.value") == "hill-climb"

    # learn; the keyboard goes to Stop, and back
    press_tab_until(page, lambda now: now["id"] == "learn")
    page.keyboard.press("Enter")
    page.wait_for_selector("#shown section")
    page.wait_for_selector("#run", state="hidden")
    assert page.evaluate(FOCUS)["id"] == "learn"
    assert "measured on 300 rows" in page.inner_text("#estimate"), "a run does not forget it"

    # choose a node in the picture, another one, and none
    press_tab_until(page, lambda now: now["tag"] == "g")
    page.keyboard.press("Enter")
    first = page.locator(".canvas:visible g.chosen").get_attribute("data-node")
    page.keyboard.press("Escape")
    assert page.locator(".canvas:visible g.chosen").count() == 0
    for arrow in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(arrow)
    page.keyboard.press("Space")
    assert page.locator(".canvas:visible g.chosen").count() == 1
    assert first

    # say that a level is known, then that it is not
    level = press_tab_until(page, lambda now: now["part"] == "season")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card.known")
    assert page.evaluate(FOCUS)["part"] == "season"
    assert page.locator(".card.known .level.on").inner_text().split("\n")[0] in level["text"]
    page.keyboard.press("Space")
    page.wait_for_selector(".card.known", state="detached")

    # sort a table
    press_tab_until(page, lambda now: now["tag"] == "TH")
    page.keyboard.press("Space")
    assert page.locator("th[aria-sort]").count() == 1

    # remove the result
    page.evaluate("document.querySelector('#list .quiet').focus()")
    page.keyboard.press("Enter")
    page.wait_for_selector("#empty:not([hidden])")
    assert page.evaluate(FOCUS)["id"] == "learn"


def test_of_very_many_columns_some_are_listed(page, tmp_path: Path) -> None:
    names = [f"gene{k}" for k in range(400)]
    file = tmp_path / "wide.csv"
    lines = [
        ",".join(str((7 * row + column * column) % 97 / 3) for column in range(400)) for row in range(40)
    ]
    file.write_text("\n".join([",".join(names), *lines]) + "\n")
    page.set_input_files("#file", file)
    page.wait_for_selector("#heading:has-text('400 columns')")
    assert page.locator("#columns tbody tr").count() == 150
    assert page.inner_text("#columns-shown") == "150 of 400 are listed"
    page.fill("#find-column", "gene39")
    assert page.locator("#columns tbody tr").count() == 11
    assert page.inner_text("#columns-shown") == "11 of 400"
    assert page.inner_text("#leave-found") == "leave all 11 out"
    page.click("#leave-found")
    page.wait_for_selector("#heading:has-text('389 columns')")
    assert page.locator("#columns tbody tr.unused").count() == 11
    assert page.locator("#tail option").count() == 389
    page.click("#use-found")
    page.wait_for_selector("#heading:has-text('400 columns')")

    # of so many, no graph is drawn on the way, and the page says why
    page.fill("#find-column", "")
    assert page.inner_text("#use-found") == "use all 400"
    page.select_option("#method", "tabu")
    page.click("#options summary")
    page.fill("[data-option='patience']", "1000000000")
    page.click("#learn")
    page.wait_for_selector("#so-far-words:has-text('400 columns is drawn at the end')")
    page.click("#stop")
    page.wait_for_selector("#shown section")

    # where the table cannot be understood, nothing is said about the time that it takes
    page.wait_for_selector("#estimate:not(:empty)")
    page.click("#leave-found")
    page.wait_for_selector("#problem:visible")
    assert page.inner_text("#estimate") == ""
