"""Reports on paper, where nothing can be unfolded, and squares of probabilities on a dark screen."""

import base64

import pytest

from tests.browser.pages import KINDS, discrete
from tests.browser.waiting import until

FOLDED = "details:not([open]) > :not(summary)"
SEEN = """selector => [...document.querySelectorAll(selector)].map((part) =>
  part.checkVisibility({ contentVisibilityAuto: true }) && part.getBoundingClientRect().height > 0)"""
# How bright a picture is, from 0 to 255: its corner, and the median of its pixels.
BRIGHT = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const [canvas, sums] = [document.createElement("canvas"), []];
  [canvas.width, canvas.height] = [image.width, image.height];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, image.width, image.height);
  for (let at = 0; at < data.length; at += 4) sums.push((data[at] + data[at + 1] + data[at + 2]) / 3);
  const order = [...sums].sort((one, other) => one - other);
  return [sums[5 * image.width + 5], order[order.length >> 1]];
}"""


def test_folded_parts_are_unfolded_on_paper(opened, tmp_path):
    discrete(tmp_path / "r.html")
    page = opened(tmp_path / "r.html")
    folded = page.locator("details:not([open])").count()
    assert folded > 5, "or this would show nothing"
    assert not any(page.evaluate(SEEN, FOLDED))
    page.emulate_media(media="print")
    until(lambda: all(page.evaluate(SEEN, FOLDED)), "by the style alone, where the browser can")
    page.emulate_media(media="screen")

    # and by the script, in browsers that cannot
    page.evaluate(
        "window.addEventListener('beforeprint', () => { window.left = document.querySelectorAll('details:not([open])').length; })"
    )
    page.pdf()
    assert page.evaluate("window.left") == 0
    until(lambda: page.locator("details:not([open])").count() == folded, "as it was, after printing")


@pytest.mark.parametrize("kind", ["posterior", "strengths"])
def test_squares_are_dark_on_a_dark_screen(kind, opened, tmp_path):
    KINDS[kind](tmp_path / "r.html")
    for scheme, dark in (("light", False), ("dark", True)):
        page = opened(tmp_path / "r.html", color_scheme=scheme)
        shot = page.locator(".canvas.shaded > svg").screenshot()
        corner, middle = page.evaluate(BRIGHT, base64.b64encode(shot).decode())
        assert (corner < 60, middle < 60) == (dark, dark)
        if dark:
            paper = page.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor")
            expected = sum(int(part) for part in paper.strip("rgb()").split(",")) / 3
            assert corner == pytest.approx(expected, abs=3), "the colour of the page"
