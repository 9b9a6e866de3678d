"""Effects on the live page: a cause and an outcome are chosen, by keyboard too, and the answer is seen."""

from pathlib import Path

import numpy as np

from tests.browser.test_explore_keyboard import page, press_tab_until
from tests.browser.test_explore_page import HOSTILE, explore

__all__ = ["explore", "page"]

SECTION = "section.effects"
ROLES = """() => [...document.querySelectorAll("section.effects g[data-node]")].map(
  (node) => [node.dataset.node, node.dataset.role ?? "", node.getAttribute("aria-label")])"""


def patients(file: Path) -> Path:
    """Drug, death and what confounds them, which is named to do harm; a dose is continuous."""
    rng = np.random.default_rng(0)
    ill = rng.random(600) < 0.5
    drug = rng.random(600) < np.where(ill, 0.2, 0.8)
    death = rng.random(600) < 0.15 + 0.6 * ill - 0.1 * drug
    dose = rng.standard_normal(600) + drug
    columns = [HOSTILE.replace(",", ""), "drug", "death", "dose"]
    rows = np.column_stack([np.where(side, "yes", "no") for side in (ill, drug, death)])
    lines = [f"{','.join(row)},{value:.4f}" for row, value in zip(rows, dose, strict=True)]
    file.write_text("\n".join([",".join(columns), *lines]) + "\n")
    return file


def test_a_cause_and_an_outcome(page, tmp_path: Path) -> None:
    file = patients(tmp_path / "patients.csv")
    page.set_input_files("#file", file)
    page.wait_for_selector("#columns tbody tr")
    page.select_option("#method", "tabu")
    page.click("#learn")
    page.wait_for_selector(SECTION)
    section = page.locator(SECTION)
    cause, outcome = (section.get_by_label(name, exact=True) for name in ("cause", "outcome"))
    cause.select_option("drug")
    outcome.select_option("death")
    assert section.get_by_label("set to").input_value() == "yes"
    assert section.get_by_label("instead of").input_value() == "no"
    assert section.get_by_label("level of the outcome").input_value() == "yes"

    # by keyboard, and the focus stays at the button
    section.get_by_label("computed by").focus()
    press_tab_until(page, lambda now: now["text"] == "Tell the effect")
    page.keyboard.press("Enter")
    section.locator(".answer").wait_for()
    section.locator("button.main:enabled").wait_for()
    said = section.locator(".answer").inner_text()
    assert said.startswith("If no common cause is missing")
    assert "setting drug to yes instead of no" in said
    roles = {name: (role, label) for name, role, label in page.evaluate(ROLES)}
    assert roles["drug"][0] == "set"
    assert roles["drug"][1].startswith("drug (set), joined with")
    assert roles["death"][0] == "outcome"
    assert HOSTILE in roles
    assert section.locator(".canvas.live").count() == 1, "it can be explored"
    assert section.locator(".legend li").count() >= 2
    assert "dagora effect" in section.locator("details code").text_content()
    assert page.evaluate("document.activeElement.textContent") == "Tell the effect"

    # averaged, with the bar of no effect
    section.get_by_label("computed by").select_option("averaged")
    section.get_by_role("button", name="Tell the effect").click()
    section.locator("svg text", has_text="no effect").wait_for()
    assert "averaged over graphs" in section.locator(".answer").inner_text()

    # numbers, of which one alone is refused; then another outcome
    cause.select_option("dose")
    section.get_by_label("set to").fill("1")
    section.get_by_role("button", name="Tell the effect").click()
    page.wait_for_selector("#problem:has-text('write both values of dose')")
    section.get_by_label("instead of").fill("0")
    section.get_by_role("button", name="Tell the effect").click()
    section.locator(".answer", has_text="setting dose to 1 instead of 0").wait_for()
    outcome.select_option("dose")
    section.get_by_role("button", name="Tell the effect").click()
    page.wait_for_selector("#problem:has-text('cannot be both set and the outcome')")
    assert section.locator(".answer").count() == 0, "an old answer does not stand under a new question"

    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_check_of_the_graph(page, tmp_path: Path) -> None:
    page.set_input_files("#file", patients(tmp_path / "patients.csv"))
    page.wait_for_selector("#columns tbody tr")
    page.select_option("#method", "tabu")
    page.click("#learn")
    page.wait_for_selector("section.check")
    section = page.locator("section.check")
    section.get_by_role("button", name="Check the graph").focus()
    page.keyboard.press("Enter")
    section.locator("pre", has_text="independences").wait_for()
    section.locator("button:enabled", has_text="Check the graph").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Check the graph"
    headings = section.locator("h3").all_inner_texts()
    assert headings == ["Independences", "Rows held out", "Simulated tables", "Single changes"]
    assert "dagora check result-1.json" in section.locator("details code").text_content()
    assert "learned from these very rows" in section.inner_text()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
