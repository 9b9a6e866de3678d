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
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
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
// Beside the picture: all that the page has about the chosen variable.
const aboutVariables = new Map();
for (const part of document.querySelectorAll("[data-about]")) {
  const name = part.dataset.about;
  aboutVariables.set(name, [...(aboutVariables.get(name) ?? []), part]);
}
const copied = (part) => {
  if (part.tagName !== "TR") return [...part.cloneNode(true).children].filter((child) => child.tagName !== "SUMMARY");
  const heads = part.closest("table").tHead.rows[0].cells;
  const list = document.createElement("dl");
  [...part.cells].forEach((cell, at) => {
    if (!at || !cell.textContent) return; // the first names the variable
    const [term, value] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, value.textContent] = [heads[at].textContent, cell.textContent];
    list.append(term, value);
  });
  return [list];
};
const fillPanel = (explorer, name) => {
  const parts = name === null ? [] : aboutVariables.get(name) ?? [];
  let panel = explorer.querySelector(".panel");
  explorer.classList.toggle("open", parts.length > 0);
  if (!parts.length) {
    if (panel) panel.remove();
    return;
  }
  if (!panel) {
    panel = document.createElement("aside");
    panel.className = "panel";
    panel.setAttribute("aria-label", "the chosen variable");
    explorer.append(panel);
  }
  const [heading, closing] = [document.createElement("h3"), document.createElement("button")];
  heading.textContent = name;
  Object.assign(closing, { type: "button", textContent: "×", className: "close", title: "close" });
  closing.setAttribute("aria-label", "close");
  closing.addEventListener("click", () => chooseEverywhere(null));
  const copies = parts.flatMap(copied);
  for (const copy of copies) for (const marked of [copy, ...copy.querySelectorAll("[id]")]) marked.removeAttribute("id");
  panel.replaceChildren(closing, heading, ...copies);
  panel.scrollTop = 0;
};
// A chosen node is the same in all pictures, and stands in the address.
const views = [];
const showChosen = (name) => {
  for (const view of views) if (view.chosen !== name) view.choose(name);
  for (const explorer of document.querySelectorAll(".explorer.informed")) fillPanel(explorer, name);
};
const chooseEverywhere = (name) => {
  history.replaceState(null, "", name === null ? "#" : `#node=${encodeURIComponent(name)}`);
  showChosen(name);
};
for (const canvas of document.querySelectorAll(".explorer .canvas")) {
  views.push(DagoraGraph.mount(canvas, { onChoose: chooseEverywhere }));
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-choose]");
  if (!link || !views.length) return;
  event.preventDefault();
  chooseEverywhere(link.dataset.choose);
  if (!link.closest(".panel")) document.querySelector(".explorer.informed").scrollIntoView({ block: "nearest" });
});
// Strengths: edges that are worth less than the slider says are not drawn.
for (const slider of document.querySelectorAll("input.least")) {
  const section = slider.closest("section");
  const stops = slider.dataset.stops.split(" ");
  const pictures = [...section.querySelectorAll(".canvas")];
  const shown = views.filter((view) => pictures.some((canvas) => canvas.contains(view.picture)));
  slider.addEventListener("input", () => {
    section.querySelector(".tools output").textContent = stops[slider.value];
    for (const view of shown) view.setLeast(Number(stops[slider.value]) - 0.05);
  });
}
const fromAddress = () => {
  const hash = location.hash;
  showChosen(hash.startsWith("#node=") ? decodeURIComponent(hash.slice(6)) : null);
};
window.addEventListener("hashchange", fromAddress);
if (location.hash) fromAddress();
// On paper nothing can be unfolded: all parts are, and fold again after printing.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const part of unfolded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of unfolded) part.open = false;
  unfolded = [];
});
