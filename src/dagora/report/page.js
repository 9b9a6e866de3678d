"use strict";
// Tables: a click on a heading sorts by that column, a second one the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => {
    const cell = row.cells[at];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  heads.forEach((head, at) => {
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((one, two) => (up ? 1 : -1) * compare(key(one, at), key(two, at)));
      table.tBodies[0].append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}
// Edges: only rows that hold the written text are shown.
for (const input of document.querySelectorAll("input.filter")) {
  const rows = [...input.closest("section").querySelectorAll("tbody tr")];
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
// Graphs: fitted into the page or in their own size; a chosen node keeps its neighbours and fades the rest.
for (const button of document.querySelectorAll("button.size")) {
  const pictures = button.closest("section").querySelectorAll(".canvas");
  button.addEventListener("click", () => {
    for (const picture of pictures) picture.classList.toggle("fitted");
  });
}
for (const button of document.querySelectorAll("button.switch")) {
  const pictures = [...button.closest("section").querySelectorAll(".canvas")];
  button.addEventListener("click", () => {
    for (const picture of pictures) picture.hidden = !picture.hidden;
  });
}
// Strengths: edges that are worth less than the slider says are not drawn.
for (const slider of document.querySelectorAll("input.least")) {
  const section = slider.closest("section");
  const stops = slider.dataset.stops.split(" ");
  slider.addEventListener("input", () => {
    const least = stops[slider.value];
    section.querySelector("output").textContent = least;
    for (const edge of section.querySelectorAll("g[data-strength]")) {
      edge.classList.toggle("weak", Number(edge.dataset.strength) < Number(least) - 0.05);
    }
  });
}
const choose = (name) => {
  for (const picture of document.querySelectorAll(".canvas svg")) {
    const boxes = [...picture.querySelectorAll("g[data-node]")];
    const near = new Set([name]);
    for (const edge of picture.querySelectorAll("g[data-tail]")) {
      const { tail, head } = edge.dataset;
      const touches = tail === name || head === name;
      edge.classList.toggle("near", touches);
      if (touches) near.add(tail).add(head);
    }
    for (const box of boxes) {
      box.classList.toggle("near", near.has(box.dataset.node));
      box.classList.toggle("chosen", box.dataset.node === name);
    }
    picture.classList.toggle("choosing", boxes.some((box) => box.dataset.node === name));
  }
};
const fromAddress = () => {
  const hash = location.hash;
  choose(hash.startsWith("#node=") ? decodeURIComponent(hash.slice(6)) : null);
};
for (const picture of document.querySelectorAll(".canvas svg")) {
  picture.addEventListener("click", (event) => {
    const box = event.target.closest("g[data-node]");
    const name = box && !box.classList.contains("chosen") ? box.dataset.node : null;
    history.replaceState(null, "", name === null ? "#" : `#node=${encodeURIComponent(name)}`);
    choose(name);
  });
}
window.addEventListener("hashchange", fromAddress);
fromAddress();
