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
// Of two pictures of a graph, one at a time.
for (const button of document.querySelectorAll("button.switch")) {
  const pictures = [...button.closest("section").querySelectorAll(".canvas")];
  button.addEventListener("click", () => {
    for (const picture of pictures) picture.hidden = !picture.hidden;
  });
}
// A chosen node is the same in all pictures, and stands in the address.
const views = [];
const chooseEverywhere = (name) => {
  history.replaceState(null, "", name === null ? "#" : `#node=${encodeURIComponent(name)}`);
  for (const view of views) view.choose(name);
};
for (const canvas of document.querySelectorAll(".canvas")) {
  if (canvas.querySelector("g[data-node]")) {
    views.push(DagoraGraph.mount(canvas, { onChoose: chooseEverywhere }));
  }
}
// Strengths: edges that are worth less than the slider says are not drawn.
for (const slider of document.querySelectorAll("input.least")) {
  const section = slider.closest("section");
  const stops = slider.dataset.stops.split(" ");
  const shown = [...section.querySelectorAll(".canvas")].map((canvas) => DagoraGraph.mount(canvas, { onChoose: chooseEverywhere }));
  slider.addEventListener("input", () => {
    section.querySelector("output").textContent = stops[slider.value];
    for (const view of shown) view.setLeast(Number(stops[slider.value]) - 0.05);
  });
}
const fromAddress = () => {
  const hash = location.hash;
  for (const view of views) view.choose(hash.startsWith("#node=") ? decodeURIComponent(hash.slice(6)) : null);
};
window.addEventListener("hashchange", fromAddress);
fromAddress();
