// The columns of the table: which to use, of which type, in which tier.
import { byId, fill, keepFocus, make, show } from "./dom.js";

const LEFT_OUT = "left out";
const MOST = 150; // columns in sight: more are found by their names
const place = byId("columns");
const find = byId("find-column");
const chosen = new Map(); // name → {use, type}
const orders = new Map(); // name → the order of its levels, where the command line said one
let columns = [];
let changed = () => {};
let tiers = null;

const choice = (name) => chosen.get(name) ?? { use: true, type: "" };

const choose = (name, change) => {
  chosen.set(name, { ...choice(name), ...change });
  changed();
};

// What the server is told about types and columns left out.
export const reading = () => {
  const said = { discrete: [], continuous: [], ordinal: [], drop: [] };
  for (const [name, { use, type }] of chosen) {
    if (!use) said.drop.push(name);
    else if (type) said[type].push(type === "ordinal" ? orders.get(name) ?? name : name);
  }
  return said;
};

// The columns that are learned from.
export const used = () => columns.filter((column) => column.type !== LEFT_OUT && choice(column.name).use).map((column) => column.name);

// The columns that the user left out: what is known about them is not asked for.
export const unticked = () => new Set([...chosen].filter(([, { use }]) => !use).map(([name]) => name));

const row = (column) => {
  const { use, type } = choice(column.name);
  const kind = make("select", { "aria-label": `type of ${column.name}`, onchange: (event) => choose(column.name, { type: event.target.value, use: true }) });
  const understood = column.type === LEFT_OUT ? "left out" : column.type ? `auto: ${column.type}` : "auto";
  fill(kind, [["", type ? "auto" : understood], ["discrete", "discrete"], ["continuous", "continuous"], ["ordinal", "ordinal"]], type);
  const tier = make("select", { class: "tier", "aria-label": `tier of ${column.name}`, data: { name: column.name }, onchange: (event) => tiers.put(column.name, Number(event.target.value)) });
  const without = !use || column.type === LEFT_OUT;
  kind.disabled = !use;
  tier.disabled = without;
  const missing = column.missing ? `, ${column.missing} missing` : "";
  const check = make("input", { type: "checkbox", checked: use, onchange: (event) => choose(column.name, { use: event.target.checked }) });
  return make(
    "tr",
    { class: without ? "unused" : "", data: { part: column.name } },
    make("td", {}, make("label", {}, check, " ", make("span", { class: "name" }, column.name)),
      make("div", { class: "values soft", title: column.why }, `${column.values || column.why}${missing}`)),
    make("td", {}, kind),
    make("td", {}, tier),
  );
};

export const drawTiers = () => {
  for (const select of place.querySelectorAll("select.tier")) {
    const options = [["0", "–"], ...tiers.numbers().map((number) => [String(number), `tier ${number}`])];
    fill(select, options, String(tiers.of(select.dataset.name)));
    select.disabled = select.closest("tr").classList.contains("unused") || options.length < 2;
  }
};

// The columns that are listed: those whose names hold what was written, not too many.
const listed = () => {
  const wanted = find.value.trim().toLowerCase();
  return columns.filter((column) => column.name.toLowerCase().includes(wanted));
};

const drawRows = () => {
  const found = listed();
  show(byId("find-columns"), columns.length > MOST);
  byId("columns-shown").textContent = found.length > MOST ? `${MOST} of ${found.length} are listed` : `${found.length} of ${columns.length}`;
  byId("use-found").textContent = `use all ${found.length}`;
  byId("leave-found").textContent = `leave all ${found.length} out`;
  keepFocus(place, () => {
    place.replaceChildren(
      make("table", {},
        make("thead", {}, make("tr", {}, ...["column", "type", "tier"].map((title) => make("th", { scope: "col" }, title)))),
        make("tbody", {}, ...found.slice(0, MOST).map(row))),
    );
    drawTiers();
  });
};

const useFound = (use) => {
  for (const { name } of listed()) chosen.set(name, { ...choice(name), use });
  changed();
};

export const draw = (table) => {
  const known = new Map(columns.map((column) => [column.name, column]));
  // A column that the user left out is not looked at any more: it stays in the list as it was.
  const present = new Map(table.columns.map((column) => [column.name, column]));
  const names = columns.length ? [...new Set([...columns.map((column) => column.name), ...present.keys()])] : [...present.keys()];
  columns = names.map((name) => present.get(name) ?? known.get(name));
  drawRows();
};

// What the command line said about columns is where the page starts, those that it leaves out included. Until the table
// has been looked at, and where its cells cannot be understood, there are names alone.
export const begin = (said, names, onChange, tierList) => {
  chosen.clear();
  columns = [];
  find.value = "";
  changed = onChange;
  tiers = tierList;
  for (const type of ["discrete", "continuous"]) for (const name of said[type] ?? []) chosen.set(name, { use: true, type });
  orders.clear();
  for (const entry of said.ordinal ?? []) {
    const name = names.includes(entry) ? entry : entry.split(":")[0].trim();
    orders.set(name, entry);
    chosen.set(name, { use: true, type: "ordinal" });
  }
  for (const name of said.drop ?? []) chosen.set(name, { use: false, type: "" });
  const all = [...new Set([...names, ...(said.drop ?? [])])];
  draw({ columns: all.map((name) => ({ name, type: "", values: "", why: "", missing: 0 })) });
};

find.addEventListener("input", drawRows);
byId("use-found").addEventListener("click", () => useFound(true));
byId("leave-found").addEventListener("click", () => useFound(false));
