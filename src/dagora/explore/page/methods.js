// Methods and scores: those that fit the table can be chosen, of the others it is said why they do not.
import { byId, fill, make, show } from "./dom.js";

const method = byId("method");
const score = byId("score");
const fields = byId("option-fields");
let catalogue = { methods: [], scores: [], default_score: "" };
const given = new Map(); // option → text
let earlier = () => null;
let changed = () => {}; // hears of every choice

const chosenMethod = () => catalogue.methods.find((entry) => entry.name === method.value);
const chosenScore = () => catalogue.scores.find((entry) => entry.name === (score.value || catalogue.default_score));

const field = (option) => {
  const set = (event) => { if (event.target.value === "") given.delete(option.name); else given.set(option.name, event.target.value); changed(); };
  const standard = option.default === null ? "none" : String(option.default);
  const choices = option.type === "bool" ? ["true", "false"] : option.choices;
  let control;
  if (choices.length) {
    control = make("select", { onchange: set, data: { option: option.name } });
    fill(control, [["", `${standard} (default)`], ...choices.filter((choice) => choice !== standard)], given.get(option.name) ?? "");
  } else {
    control = make("input", { type: "text", placeholder: standard, value: given.get(option.name) ?? "", onchange: set, class: "short", data: { option: option.name } });
  }
  return make("label", { title: option.summary }, option.name, " ", control, make("span", { class: "soft about" }, option.summary));
};

const drawOptions = () => {
  const one = chosenMethod();
  const options = [...(one?.options ?? []), ...(one?.own_objective ? [] : chosenScore()?.options ?? [])];
  const names = new Set(options.map((option) => option.name));
  for (const name of given.keys()) if (!names.has(name)) given.delete(name);
  fields.replaceChildren(...options.map(field));
  show(byId("options"), options.length > 0);
};

const drawScores = () => {
  const one = chosenMethod();
  const fits = (entry) => !entry.why_not && !(one.needs_equivalence && !entry.equivalent);
  const standard = catalogue.default_score;
  const options = one?.own_objective
    ? [["", "its own objective"]]
    : [["", `${standard} (default)`], ...catalogue.scores.filter((entry) => fits(entry) && entry.name !== standard).map((entry) => [entry.name, entry.name])];
  fill(score, options);
  score.disabled = Boolean(one?.own_objective);
};

export const refresh = () => {
  const one = chosenMethod();
  byId("promise").textContent = one ? `${one.name}: ${one.summary}. It promises: ${one.promise}. Of what you know it obeys: ${one.obeys.join(", ")}.` : "";
  drawScores();
  drawOptions();
  const before = earlier(method.value);
  byId("before").textContent = before === null ? "" : `When you last ran ${method.value} here, on ${before.variables} variables of ${before.source}, it took ${before.seconds.toFixed(1)} s. Other columns or options may take far longer.`;
  show(byId("before"), before !== null);
};

export const draw = (found) => {
  catalogue = found;
  fill(method, found.methods.filter((entry) => !entry.why_not).map((entry) => [entry.name, entry.name]), method.value || "auto");
  byId("advice").textContent = found.advice;
  const unfit = [...found.methods, ...found.scores].filter((entry) => entry.why_not);
  byId("why-not").replaceChildren(...unfit.map((entry) => make("li", {}, make("strong", {}, entry.name), `: ${entry.why_not}`)));
  show(byId("others"), unfit.length > 0);
  refresh();
};

// Whether there is anything to choose from: not before a table is understood.
export const ready = () => catalogue.methods.length > 0;

// What is asked of the server.
export const asked = () => {
  const limit = byId("time-limit").value;
  const seed = byId("seed").value;
  return {
    method: method.value || "auto",
    score: score.value || null,
    options: Object.fromEntries(given),
    seed: seed === "" ? 0 : Number(seed),
    time_limit: limit === "" ? null : Number(limit),
    bootstrap: Number(byId("bootstrap").value),
  };
};

export const begin = (lastOf, onChange) => {
  earlier = lastOf;
  changed = onChange;
};

method.addEventListener("change", refresh);
score.addEventListener("change", drawOptions);
for (const id of ["method", "score", "seed", "time-limit", "bootstrap"]) byId(id).addEventListener("change", () => changed());
