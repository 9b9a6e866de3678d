// The page: what is chosen on the left goes to the server, what is found comes back on the right.
import { get, post, save, token, upload } from "./api.js";
import * as columns from "./columns.js";
import { byId, complain, make, show, trying } from "./dom.js";
import * as edges from "./edges.js";
import * as estimates from "./estimates.js";
import * as methods from "./methods.js";
import * as results from "./results.js";
import * as run from "./run.js";
import * as tiers from "./tiers.js";

const WAIT = 150; // milliseconds in which changes of columns are gathered
let read = {}; // how the table was opened: what separates its cells, which sheet it is
let most = 0;

const reading = () => {
  const cut = byId("discretise").value;
  return { ...columns.reading(), missing: byId("missing").value, na: byId("na").value.trim() || null, counts: byId("counts").value.trim() || null, weights: byId("weights").value.trim() || null, group: byId("group").value.trim() || null, within_groups: byId("within_groups").checked ? ["all"] : [], ranks: byId("ranks").checked ? ["all"] : [], separator: read.separator, table: read.table, decimal: byId("decimal").value || null, join: byId("join").checked ? ["all"] : [], discretise: cut || null, bins: cut && cut !== "mean" ? Number(byId("bins").value) : null };
};

const knowledge = () => {
  const most_parents = byId("max-parents").value;
  return { ...edges.knowledge(), tiers: tiers.knowledge(), ...(most_parents === "" ? {} : { max_parents: Number(most_parents) }) };
};

const request = () => ({ ...methods.asked(), reading: reading(), knowledge: knowledge() });

let looks = 0; // a large table takes a while to look at: an answer to an earlier question may come late
const look = () => trying(async () => {
  const cut = byId("discretise").value;
  show(byId("bins-label"), cut !== "" && cut !== "mean");
  looks += 1;
  const mine = looks;
  const found = await post("/api/look", reading()).catch((error) => {
    if (mine === looks) estimates.clear();
    throw error;
  });
  if (mine !== looks) return;
  byId("heading").textContent = `${found.name}: ${found.table.heading}`;
  byId("warnings").textContent = found.table.warnings.join(" ");
  show(byId("warnings"), found.table.warnings.length > 0);
  columns.draw(found.table);
  tiers.draw();
  edges.draw();
  methods.draw(found);
  estimates.refresh();
});

let waiting = 0;
const soon = () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, WAIT);
};

const openTable = async (said, names) => {
  show(byId("start"), false);
  show(byId("work"));
  show(byId("another"));
  read = said;
  byId("missing").value = said.missing ?? "auto";
  byId("discretise").value = said.discretise ?? "";
  byId("na").value = said.na ?? "";
  byId("counts").value = said.counts ?? "";
  byId("weights").value = said.weights ?? "";
  byId("group").value = said.group ?? "";
  byId("within_groups").checked = (said.within_groups ?? []).length > 0;
  byId("ranks").checked = (said.ranks ?? []).length > 0;
  byId("decimal").value = said.decimal ?? "";
  byId("join").checked = (said.join ?? []).length > 0;
  if (said.bins) byId("bins").value = said.bins;
  columns.begin(said, names, soon, tiers);
  tiers.begin(columns.used, columns.unticked, () => { columns.drawTiers(); estimates.refresh(); });
  edges.begin(columns.used, columns.unticked, estimates.refresh);
  await look();
};

const take = (file) => trying(async () => {
  if (!file) return;
  if (file.size > most) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB, and ${most / 1e6} MB are taken: start dagora explore with the file's name`);
  const before = byId("heading").textContent;
  byId("heading").textContent = `reading ${file.name} …`;
  let found;
  try {
    const text = !/\.(parquet|feather|arrow|xlsx|xlsm|xls|ods|dta|sav|zsav|rds|rda|rdata)$/i.test(file.name);
    const sheets = /\.(xlsx|xlsm|xls|ods|rda|rdata)$/i.test(file.name);
    found = await upload(file, { separator: text ? byId("separator").value : "", table: sheets ? byId("table").value.trim() : "" });
  } catch (error) {
    byId("heading").textContent = before;
    throw error;
  }
  byId("heading").textContent = found.name;
  await openTable(found.reading, found.columns);
});

const loadKnowledge = (file) => trying(async () => {
  if (!file) return;
  let content;
  try {
    content = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON`);
  }
  const known = await post("/api/knowledge", content);
  edges.load(known);
  byId("max-parents").value = known.max_parents ?? "";
  tiers.load(known.tiers ?? []);
});

// What the command was told about it may be none of the usual choices.
const showSeparator = (mark) => {
  const select = byId("separator");
  const written = mark === "\t" ? "\\t" : mark;
  if (![...select.options].some((option) => option.value === written)) select.append(make("option", { value: written }, written));
  select.value = written;
};

const start = () => trying(async () => {
  if (!token) throw new Error("open the address that `dagora explore` printed: it holds the token that is needed here");
  const state = await get("/api/state");
  most = state.max_upload;
  byId("most").textContent = `${most / 1e6} MB`;
  showSeparator(state.reading.separator ?? "");
  byId("table").value = state.reading.table ?? "";
  methods.begin(results.lastOf, estimates.refresh);
  estimates.begin(() => (methods.ready() ? request() : null));
  run.begin(results.add);
  results.begin(state.results, methods.refresh);
  if (state.data === null) show(byId("start"));
  else await openTable(state.reading, state.columns);
  if (state.run) await estimates.during(run.goOn);
});

for (const id of ["file", "another-file"]) {
  byId(id).addEventListener("change", (event) => { take(event.target.files[0]); event.target.value = ""; });
}
for (const kind of ["dragover", "drop"]) {
  byId("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    if (kind === "drop") take(event.dataTransfer.files[0]);
  });
}
for (const id of ["missing", "na", "counts", "weights", "group", "within_groups", "ranks", "decimal", "join", "discretise", "bins"]) byId(id).addEventListener("change", soon);
byId("max-parents").addEventListener("change", estimates.refresh);
byId("learn").addEventListener("click", () => estimates.during(() => run.learn(request())));
byId("save-knowledge").addEventListener("click", () => trying(() => save("/api/knowledge", "knowledge.json", knowledge())));
byId("load-knowledge").addEventListener("change", (event) => { loadKnowledge(event.target.files[0]); event.target.value = ""; });
window.addEventListener("unhandledrejection", (event) => complain(event.reason));
start();
