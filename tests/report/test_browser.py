"""The page in a real browser: it shows itself without any error, and its script does what it should."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.demo_network import greenhouse
from dagora.network.sample import sample
from tests.report.reading import Page, read

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--v=0"),
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium on the search path")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("report") / "r.html"
    dagora.write_report(dagora.learn(sample(greenhouse(), 2000, seed=1), "tabu"), file)
    return file


def opened(file: Path, profile: Path, anchor: str = "", script: str = "") -> Page:
    """The page as the browser has it after its script, and after another one."""
    if script:
        copy = profile / "r.html"
        copy.write_text(file.read_text().replace("</body>", f"<script>{script}</script></body>"))
        file = copy
    line = [
        str(BROWSER),
        *FLAGS,
        f"--user-data-dir={profile / 'profile'}",
        "--dump-dom",
        f"{file.as_uri()}{anchor}",
    ]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in ran.stderr, ran.stderr
    return read(ran.stdout.replace("<!DOCTYPE html>", ""))


def near(page: Page) -> set[str]:
    return {
        tags["data-node"] for _, tags in page.tags if "data-node" in tags and "near" in tags.get("class", "")
    }


def test_an_address_can_name_a_variable(report, tmp_path):
    graph = dagora.learn(sample(greenhouse(), 2000, seed=1), "tabu").graph
    joined = {"soil"} | {name for edge in graph.edges if "soil" in edge for name in edge}
    assert near(opened(report, tmp_path, "#node=soil")) == joined
    assert near(opened(report, tmp_path)) == set()


def test_a_click_chooses_and_a_heading_sorts(report, tmp_path):
    script = """
      const box = document.querySelector('g[data-node="soil"] rect');
      box.dispatchEvent(new MouseEvent("click", {bubbles: true}));
      document.querySelector("table.sortable th").click();
      const field = document.querySelector("input.filter");
      field.value = "growth"; field.dispatchEvent(new Event("input"));
    """
    page = opened(report, tmp_path, script=script)
    assert "soil" in near(page)
    start = next(k for k, row in enumerate(page.rows) if row[:2] == ["from", "to"])
    edges = [row for row in page.rows[start + 1 :] if len(row) == 4 and row[2] in {"either", "determined"}]
    tails = [row[0] for row in edges]
    assert tails == sorted(tails, reverse=True)
    hidden = [tags for tag, tags in page.tags if tag == "tr" and "hidden" in tags]
    assert len(hidden) == sum("growth" not in row for row in edges)


def test_the_switch_and_the_slider(report, tmp_path):
    """One picture at a time; at the right end of the slider only the strongest edge is left in each."""
    script = """
      document.querySelector("button.switch").click();
      const slider = document.querySelector("input.least");
      slider.value = slider.max; slider.dispatchEvent(new Event("input"));
      const pictures = [...document.querySelectorAll(".canvas")];
      const seen = (picture) => [...picture.querySelectorAll("g[data-strength]:not(.weak)")].length;
      document.body.setAttribute("data-hidden", pictures.map((picture) => picture.offsetHeight > 0).join());
      document.body.setAttribute("data-left", pictures.map(seen).join());
    """
    page = opened(report, tmp_path, script=script)
    (body,) = [tags for _, tags in page.tags if "data-left" in tags]
    assert body["data-hidden"] == "false,true"
    assert body["data-left"] == "1,1"


def test_functions_are_shown(tmp_path):
    """Charts of Gaussian processes have a size in the browser, and none of them a number that is no number."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(60)
    table = dagora.Table.from_numpy(np.column_stack([x, np.cos(2 * x) + 0.2 * x]), names="ab")
    graph = dagora.DAG("ab", [("a", "b")])
    result = dagora.Result(graph, "hill-climb", "finished", "made up", score_name="gp")
    file = tmp_path / "r.html"
    dagora.write_report(result, file, network=dagora.fit(graph, table, score="gp"))
    script = """
      const line = [...document.querySelectorAll("svg polyline")].pop();
      const box = line.getBBox();
      document.body.setAttribute("data-size", [box.width > 120, box.height > 20].join());
    """
    page = opened(file, tmp_path, script=script)
    assert [tags["data-size"] for tag, tags in page.tags if "data-size" in tags] == ["true,true"]
    assert "NaN" not in file.read_text()
