// The results of the session: a list, one that is shown, two that are compared.
import { get, remove, save } from "./api.js";
import { checks } from "./checks.js";
import { byId, fill, fromServer, make, number, show, trying } from "./dom.js";
import { effects } from "./effects.js";
import { commandLine, resultPart } from "./parts.js";
import { picture } from "./picture.js";
import { questions } from "./questions.js";

let results = []; // summaries, oldest first
let current = null;
let changed = () => {};

const title = (one) => `${one.number}: ${one.method}${one.score_name ? `, ${one.score_name}` : ""}`;

// What became of a method when it was last run here; null where it was not.
export const lastOf = (method) => results.findLast((one) => one.method === method) ?? null;

const line = (one) =>
  make("div", { class: one.number === current ? "line on" : "line" },
    make("button", { type: "button", class: "open", "aria-current": String(one.number === current), onclick: () => open(one.number) },
      make("strong", {}, title(one)),
      make("span", { class: "soft" }, `${one.edges} edges among ${one.variables} · ${one.score === null ? one.status : number(one.score, 7)} · ${one.seconds.toFixed(1)} s · ${one.source}`)),
    make("button", { type: "button", class: "quiet", "aria-label": `remove result ${one.number}`, onclick: () => forget(one.number) }, "×"));

const draw = () => {
  show(byId("list-section"), results.length > 0);
  show(byId("empty"), results.length === 0);
  show(byId("compare-tools"), results.length > 1);
  byId("list").replaceChildren(...results.toReversed().map(line));
  const names = results.map((one) => [String(one.number), title(one)]);
  fill(byId("compare-first"), names, byId("compare-first").value || names.at(-2)?.[0]);
  fill(byId("compare-second"), names, byId("compare-second").value || names.at(-1)?.[0]);
  changed();
};

const forget = (number_) => trying(async () => {
  await remove(`/api/results/${number_}`);
  results = results.filter((one) => one.number !== number_);
  show(byId("comparison"), false);
  if (current === number_) {
    current = null;
    show(byId("shown"), false);
    if (results.length) await open(results.at(-1).number);
  }
  draw();
  (byId("list").querySelector("button") ?? byId("learn")).focus();
});

const facts = (one) => {
  const named = [["variables", one.variables], ["edges", one.edges], ...(one.score === null ? [] : [[one.score_name ?? "score", number(one.score, 7)]]), ["seconds", one.seconds.toFixed(2)], ["status", one.status]];
  return make("dl", { class: "facts" }, ...named.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
};

const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

export const open = (number_) => trying(async () => {
  const one = await get(`/api/results/${number_}`);
  current = number_;
  const asking = questions(one);
  const drawn = picture({ drawings: one.pictures, strengths: one.strengths, onChoose: asking.look });
  const edges = resultPart({ title: "Edges", body: one.edge_table });
  const file = (text, name) => make("button", { type: "button", onclick: () => trying(() => save(`/api/results/${number_}/${name}.${name === "report" ? "html" : "json"}`, `${name}-${number_}.${name === "report" ? "html" : "json"}`)) }, text);
  const parts = [
    make("section", {},
      make("div", { class: "tools spread" }, make("h2", {}, `${title(one)} on ${one.source}`), make("span", {}, file("save report", "report"), " ", file("save result", "result"))),
      make("p", {}, sentence(one.message)), facts(one), make("p", {}, one.words),
      ...(one.warnings.length ? [make("ul", { class: "warnings" }, ...one.warnings.map((warning) => make("li", {}, warning)))] : []),
      drawn.element,
      ...(one.pictures.length > 1 ? [make("p", { class: "soft" }, "A line without an arrow: the data do not tell its direction.")] : []),
      make("p", { class: "soft" }, one.caution),
      commandLine(one.command ?? "")),
    effects(one),
    checks(one),
    asking.element,
    edges,
    ...one.samples.map(resultPart),
  ];
  if (one.trace) parts.push(make("section", { class: "chart" }, make("h2", {}, "Score over time"), fromServer(one.trace)));
  byId("shown").replaceChildren(...parts);
  show(byId("shown"));
  draw();
});

const compare = () => trying(async () => {
  const [first, second] = [byId("compare-first").value, byId("compare-second").value];
  const found = await get(`/api/compare/${first}/${second}`);
  const half = (one) => {
    const canvas = make("div", { class: "canvas fitted" }, fromServer(one.picture));
    return { canvas, element: make("div", {}, make("h3", {}, title(one)), canvas) };
  };
  const halves = found.pair.map(half);
  byId("pair").replaceChildren(...halves.map((one) => one.element));
  const views = halves.map((one) => DagoraGraph.mount(one.canvas, { onChoose: (name) => views.forEach((view) => view.choose(name)) }));
  byId("comparison-table").replaceChildren(make("p", { class: "soft" }, found.note), fromServer(found.table));
  show(byId("comparison"));
  byId("comparison").scrollIntoView({ block: "start" });
});

export const begin = (found, onChange) => {
  results = found;
  changed = onChange;
  draw();
  if (results.length) open(results.at(-1).number);
};

// A new result, which is shown; `makeRoom` is called when it has been drawn.
export const add = async (number_, makeRoom) => {
  const { results: found } = await get("/api/state");
  results = found;
  byId("compare-first").value = byId("compare-second").value = "";
  await open(number_);
  makeRoom();
  byId("list-section").scrollIntoView({ block: "start" });
};

byId("compare").addEventListener("click", compare);
byId("close-comparison").addEventListener("click", () => show(byId("comparison"), false));
