// Tables that the server made: a click on a heading sorts, a text filters.

const key = (row, at) => {
  const cell = row.cells[at];
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
};
const compare = (one, two) => (typeof one === "number" && typeof two === "number" ? one - two : String(one).localeCompare(String(two)));

const sortable = (table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((one, two) => (up ? 1 : -1) * compare(key(one, at), key(two, at)));
      table.tBodies[0].append(...rows);
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
  });
};

export const enliven = (element) => {
  element.querySelectorAll("table.sortable").forEach(sortable);
  for (const input of element.querySelectorAll("input.filter")) {
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of element.querySelectorAll("tbody tr")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }
};
