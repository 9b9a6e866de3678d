"""Reports in a real browser: each kind shows itself, and the script does what a reader asks of it."""

import json

import numpy as np
import pytest

import dagora
from dagora.graph.separation import markov_blanket, moral_graph
from dagora.learners.result import Result
from dagora.report import write_comparison
from tests.browser.pages import KINDS, discrete, made_up
from tests.browser.waiting import until

SHOWN = """selector => [...document.querySelectorAll(selector)].filter((e) => e.getBoundingClientRect().width > 0)
  .map((e) => e.dataset.node ?? `${e.dataset.tail} ${e.dataset.head}`)"""
FIRST = ".canvas:not([hidden])"


def nodes(page, kind=""):
    """Names of the nodes that can be seen in the first picture."""
    return set(page.evaluate(SHOWN, f"{FIRST} g[data-node]{kind}"))


def scale(page):
    return float(page.locator(f"{FIRST} svg").first.get_attribute("data-scale"))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("browser") / "r.html"
    return file, discrete(file)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Graphs of 40, 200 and 440 nodes."""
    folder = tmp_path_factory.mktemp("large")
    made = {}
    for size in (40, 200, 440):
        made[size] = folder / f"{size}.html", made_up(size, seed=size)
        dagora.write_report(made[size][1], made[size][0])
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_shows_itself_and_fits_a_phone(kind, opened, tmp_path):
    found = KINDS[kind](tmp_path / "r.html")
    expected = set(found.graph.nodes if isinstance(found, Result) else found.nodes)
    page = opened(tmp_path / "r.html", viewport={"width": 360, "height": 740})
    assert nodes(page) == expected
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator(f"{FIRST} g[data-node]").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("size", [40, 200, 440])
def test_large_graphs(size, opened, large):
    """Labels that are drawn never overlap; where letters would be too small, some are drawn larger."""
    file, result = large[size]
    page = opened(file)
    assert nodes(page) == set(result.graph.nodes)
    far = scale(page) * 13 < 8
    assert far == (size > 40)
    script = """() => [...document.querySelectorAll(".canvas:not([hidden]) svg text")].map((e) => e.getBoundingClientRect())
      .filter((box) => box.width).map((box) => [box.left, box.top, box.right, box.bottom])"""
    boxes = page.evaluate(script)
    assert len(boxes) == size if not far else 15 <= len(boxes) < size
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert bottom - top > 8
        for other in boxes[:k]:
            apart = (right <= other[0] + 3, left >= other[2] - 3, bottom <= other[1] + 3, top >= other[3] - 3)
            assert any(apart)


def test_the_blanket_in_the_picture_is_that_of_the_graph(opened, large):
    """Of every node, in both pictures: the undecided one has the blankets of every member of its class."""
    file, result = large[40]
    page = opened(file)
    script = """() => [...document.querySelectorAll(".canvas")].map((canvas) => {
      const view = DagoraGraph.mount(canvas);
      return Object.fromEntries([...canvas.querySelectorAll("g[data-node]")].map(
        (node) => [node.dataset.node, [...view.blanket(node.dataset.node)]]));
    })"""
    pictures = page.evaluate(script)
    assert len(pictures) == 2
    for picture in pictures:
        for name, members in picture.items():
            assert set(members) == markov_blanket(result.graph, name)


def test_search_and_the_blanket_alone(opened, large):
    file, result = large[440]
    page = opened(file)
    hub = result.graph.nodes[int(moral_graph(result.graph).sum(axis=1).argmax())]
    blanket = {hub} | markov_blanket(result.graph, hub)
    search = page.locator(f"{FIRST} input.find")
    assert page.locator(f"{FIRST} datalist option").count() == 440
    before = scale(page)
    search.fill(hub)
    search.press("Enter")
    assert scale(page) >= 1 > before
    assert nodes(page, ".chosen") == {hub}
    assert page.evaluate("document.activeElement.dataset.node") == hub
    assert page.locator(".panel h3").inner_text() == hub
    assert page.url.endswith(f"#node={hub}")
    alone = page.locator(f"{FIRST} button.alone")
    alone.click()
    assert nodes(page) == blanket
    assert alone.get_attribute("aria-pressed") == "true"
    # Members are far apart: they are moved together, with all edges among them, and paper shows them at home.
    among = [edge for edge in result.graph.edges if set(edge) <= blanket]
    assert page.locator(f"{FIRST} .copies > g").count() == len(among)
    assert scale(page) * 13 >= 8
    moved = f"{FIRST} g[data-node][transform]"
    assert page.locator(moved).count() == len(blanket)
    page.emulate_media(media="print")
    until(lambda: page.locator(moved).count() == 0)
    assert len(nodes(page)) == 440
    page.emulate_media(media="screen")
    until(lambda: page.locator(moved).count() == len(blanket))
    page.keyboard.press("Escape")  # the button has the focus, not the picture: nothing is cleared
    assert nodes(page) == blanket
    page.locator(".panel .close").click()
    assert len(nodes(page)) == 440
    assert page.locator(".panel").count() == 0
    assert page.locator(moved).count() == page.locator(f"{FIRST} .copies > g").count() == 0
    search.fill("no such")
    search.press("Enter")
    assert "no such" in page.locator(f"{FIRST} .said").inner_text()


def test_zoom_and_pan(opened, report):
    page = opened(report[0])
    picture = page.locator(f"{FIRST} svg").first
    picture.scroll_into_view_if_needed()
    whole = scale(page)
    page.locator(f"{FIRST} button", has_text="+").click()
    page.locator(f"{FIRST} button", has_text="+").click()
    assert scale(page) == pytest.approx(whole * 1.4**2, rel=1e-3)
    page.locator(f"{FIRST} button", has_text="−").click()
    assert scale(page) == pytest.approx(whole * 1.4, rel=1e-3)

    box = page.locator(f"{FIRST} g[data-node=soil]")
    start = box.bounding_box()
    edge = picture.bounding_box()
    page.mouse.move(edge["x"] + 30, edge["y"] + 30)
    page.mouse.down()
    page.mouse.move(edge["x"] + 70, edge["y"] + 45, steps=4)
    page.mouse.up()
    end = box.bounding_box()
    assert (end["x"] - start["x"], end["y"] - start["y"]) == pytest.approx((40, 15), abs=2)
    assert nodes(page, ".chosen") == set(), "a drag chooses nothing"

    # The wheel scrolls the page until the picture has the focus; the point under the pointer stays.
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    before, scrolled = scale(page), page.evaluate("scrollY")
    page.mouse.wheel(0, 40)
    until(lambda: page.evaluate("scrollY") != scrolled)
    assert scale(page) == before
    picture.focus()
    place = box.bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.wheel(0, -200)
    until(lambda: scale(page) > before)
    after = box.bounding_box()
    middle = [p["x"] + p["width"] / 2 for p in (place, after)]
    assert middle[0] == pytest.approx(middle[1], abs=2)
    page.locator(f"{FIRST} button", has_text="fit").click()
    assert scale(page) == pytest.approx(whole, rel=1e-3)


def test_two_fingers(opened, report):
    page = opened(report[0], has_touch=True)
    page.locator(f"{FIRST} svg").first.scroll_into_view_if_needed()
    edge = page.locator(f"{FIRST} svg").first.bounding_box()
    x, y, before = edge["x"] + edge["width"] / 2, edge["y"] + edge["height"] / 2, scale(page)
    touch = page.context.new_cdp_session(page)

    def fingers(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}] if apart else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 40)
    for apart in (50, 60, 80):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)
    assert scale(page) == pytest.approx(2 * before, rel=0.05)
    assert nodes(page, ".chosen") == set()


def test_the_keyboard(opened, report):
    file, result = report
    page = opened(file)
    page.locator(f"{FIRST} svg").first.focus()
    whole = scale(page)
    page.keyboard.press("+")
    assert scale(page) > whole
    view = page.locator(f"{FIRST} svg").first.get_attribute("viewBox")
    page.keyboard.press("ArrowRight")
    assert page.locator(f"{FIRST} svg").first.get_attribute("viewBox") != view
    page.keyboard.press("0")
    assert scale(page) == whole
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.dataset.node")
    assert first in result.graph.nodes
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    second = page.evaluate("document.activeElement.dataset.node")
    near = {name for edge in result.graph.edges for name in edge}
    assert second in near
    page.keyboard.press("Enter")
    assert nodes(page, ".chosen") == {second}
    assert page.locator(f"{FIRST} g.chosen").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    assert nodes(page, ".chosen") == set()
    assert page.locator(f"{FIRST} g[tabindex='0']").count() == 1, "Tab does not walk through every node"


def test_choosing_shows_what_is_known_of_a_variable(opened, report):
    file, result = report
    page = opened(file, "#node=growth")
    joined = {"growth"} | {name for edge in result.graph.edges if "growth" in edge for name in edge}
    assert nodes(page, ".near") == joined
    panel = page.locator(".panel")
    assert panel.locator("h3").inner_text() == "growth"
    assert panel.locator("svg.distribution rect").count() == 3
    heads = panel.locator("th").all_inner_texts()
    assert heads == [
        *result.graph.parents("growth"),
        *(f"growth = {level}" for level in ("slow", "steady", "fast")),
    ]
    listed = set(panel.locator("a[data-choose]").all_inner_texts())
    assert listed == markov_blanket(result.graph, "growth")
    panel.locator("a[data-choose=soil]").click()
    assert panel.locator("h3").inner_text() == "soil"
    assert nodes(page, ".chosen") == {"soil"}
    page.locator(f"{FIRST} g[data-node=soil]").click()
    assert panel.count() == 0
    assert page.locator("[id='variable-0']").count() == 1, "a copy takes no address along"


def test_switch_slider_sorting_filter_and_download(opened, report, tmp_path):
    file, result = report
    page = opened(file)
    seen = "g => [...g.querySelectorAll('g[data-strength]')].filter((e) => e.getBoundingClientRect().width).length"
    pictures = page.locator(".canvas")
    shown = page.evaluate("[...document.querySelectorAll('.canvas')].map((e) => e.offsetHeight > 0)")
    assert shown == [True, False]
    page.locator("button.switch").click()
    shown = page.evaluate("[...document.querySelectorAll('.canvas')].map((e) => e.offsetHeight > 0)")
    assert shown == [False, True]
    assert nodes(page) == set(result.graph.nodes)
    assert pictures.nth(1).evaluate(seen) == len(result.graph.edges)
    page.locator("input.least").press("End")
    assert pictures.nth(1).evaluate(seen) == 1
    assert page.locator(".tools output").inner_text() == f"{max(result.edge_gains.values()):.1f}"

    table = page.locator("table.sortable")
    strengths = table.locator("th", has_text="nats")
    strengths.click()
    numbers = [float(cell) for cell in table.locator("tbody td.number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    strengths.press("Enter")
    assert [float(cell) for cell in table.locator("tbody td.number").all_inner_texts()] == numbers[::-1]
    page.locator("input.filter").fill("growth")
    left = table.locator("tbody tr:visible").count()
    assert left == sum("growth" in edge for edge in result.graph.edges)

    with page.expect_download() as waited:
        page.locator("a[download]").click()
    waited.value.save_as(tmp_path / "result.json")
    again = Result.from_dict(json.loads((tmp_path / "result.json").read_text()))
    assert again.graph == result.graph
    assert again.score == result.score


def test_paper_shows_everything_in_light(opened, report):
    page = opened(report[0], "#node=soil", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(230, 234, 240)"
    page.locator(f"{FIRST} button.alone").click()
    page.locator(f"{FIRST} button", has_text="+").click()
    page.emulate_media(media="print")
    faded = "[...document.querySelectorAll('.canvas:not([hidden]) g[data-node]')].filter((e) => getComputedStyle(e).opacity !== '1' || !e.getBoundingClientRect().width).length"
    until(lambda: page.evaluate(faded) == 0)
    until(lambda: page.locator(f"{FIRST} svg").first.get_attribute("viewBox").startswith("0 0 "))
    whole = page.locator(f"{FIRST} svg").first.get_attribute("viewBox")
    until(lambda: page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 39, 51)")
    page.emulate_media(media="screen")
    until(lambda: page.locator(f"{FIRST} svg").first.get_attribute("viewBox") != whole)


@pytest.mark.parametrize("kind", ["posterior", "strengths"])
def test_graphs_that_sum_up_others_show_what_is_known_of_a_variable(kind, opened, tmp_path):
    found = KINDS[kind](tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    page.locator(".explorer.informed g[data-node=soil]").click()
    panel = page.locator(".panel")
    assert panel.locator("svg.distribution").count() == 1, "how it is distributed"
    near = {name for edge in found.consensus().edges for name in edge if "soil" in edge} - {"soil"}
    assert near <= set(panel.locator("a[data-choose]").all_inner_texts())


def test_paper_cuts_no_table_and_no_list(opened, large):
    """What scrolls on a screen is there in full on paper."""
    page = opened(large[200][0])
    cut = """() => [...document.querySelectorAll(".edges .wide, .listed, .canvas")].filter((part) =>
      !part.hidden && part.scrollHeight > part.clientHeight + 1).map((part) => part.className)"""
    assert page.evaluate(cut) != [], "or this would show nothing"
    page.emulate_media(media="print")
    until(lambda: page.evaluate(cut) == [])


def test_mounting_again_does_no_harm_and_takes_a_new_picture(opened, report):
    """A live page puts a new picture into the same element."""
    page = opened(report[0])
    script = """() => {
      const canvas = document.querySelector(".canvas");
      const chosen = [];
      const first = DagoraGraph.mount(canvas, { onChoose: (name) => chosen.push(name) });
      const same = DagoraGraph.mount(canvas, { onChoose: (name) => chosen.push(name) }) === first;
      const click = () => canvas.querySelector("g[data-node=soil] rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
      click();
      canvas.innerHTML = new XMLSerializer().serializeToString(document.querySelectorAll(".canvas svg")[1]);
      const other = DagoraGraph.mount(canvas, { onChoose: (name) => chosen.push(`new ${name}`) });
      click();
      return [same, other === first, chosen, canvas.querySelectorAll(".graph-tools").length];
    }"""
    assert page.evaluate(script) == [True, False, ["soil", "new soil"], 1]


def test_two_graphs_side_by_side(opened, tmp_path):
    """A variable that is chosen in one picture is chosen in the other, where it has the same place."""
    one, other = (dagora.random_dag("er", 12, 1.5, seed=seed) for seed in (1, 2))
    write_comparison(one, other, tmp_path / "d.html")
    page = opened(tmp_path / "d.html")
    left, right = (page.locator("figure").nth(k) for k in (0, 1))
    left.locator("g[data-node=x3]").click()
    assert right.locator("g.chosen").get_attribute("data-node") == "x3"
    places = [
        picture.evaluate("""(figure) => [...figure.querySelectorAll("g[data-node]")].map((node) => {
          const [box, edge] = [node, figure].map((element) => element.getBoundingClientRect());
          return [node.dataset.node, Math.round(box.left - edge.left), Math.round(box.top - edge.top)];
        })""")
        for picture in (left, right)
    ]
    assert sorted(places[0]) == sorted(places[1])
    assert left.bounding_box()["y"] == right.bounding_box()["y"]
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_without_scripts_the_page_still_tells_everything(opened, report):
    file, result = report
    page = opened(file, java_script_enabled=False)
    assert page.locator(f"{FIRST} g[data-node]").count() == len(result.graph)
    page.locator("summary", has_text="growth").first.click()
    assert page.locator("#variable-7 svg").is_visible()
    page.locator("#variable-7 a", has_text="soil").click()
    assert page.locator("#variable-6 p").is_visible()


def test_functions_are_shown(opened, tmp_path):
    """Charts of Gaussian processes have a size in the browser, and none of them a number that is no number."""
    table = sample_of_a_curve()
    graph = dagora.DAG("ab", [("a", "b")])
    result = Result(graph, "hill-climb", "finished", "made up", score_name="gp")
    dagora.write_report(result, tmp_path / "r.html", network=dagora.fit(graph, table, score="gp"))
    page = opened(tmp_path / "r.html", "#node=b")
    size = page.locator(".charts polyline").bounding_box()
    assert size["width"] > 120
    assert size["height"] > 20
    assert page.locator(".panel polyline").count() == 1
    assert "NaN" not in page.locator("main").inner_html()


def sample_of_a_curve():
    x = np.random.default_rng(0).standard_normal(60)
    return dagora.Table.from_numpy(np.column_stack([x, np.cos(2 * x) + 0.2 * x]), names="ab")
