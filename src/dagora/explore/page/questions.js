// Questions: click a level to say that it is known, and see what that makes of all other variables.
import { post } from "./api.js";
import { keepFocus, make, number, trying } from "./dom.js";

const MOST = 60; // variables at a time
const FIRST = 12; // of more variables than that
const MOST_LEVELS = 20; // of a variable; of more, the most probable ones are shown
const SOME_LEVELS = 12;

export const questions = (result) => {
  const known = new Map(); // name → {value, set}
  const variables = new Map(result.variables_asked.map((variable) => [variable.name, variable]));
  const all = [...variables.keys()];
  const asked = new Set(all.length <= MOST ? all : all.slice(0, FIRST));
  const cards = make("div", { class: "cards" });
  const chips = make("div", { class: "chips" });
  const note = make("p", { class: "soft" });
  const meaning = make("select", { "aria-label": "what a click on a level means" },
    make("option", { value: "seen" }, "a click means: this was seen"),
    make("option", { value: "set" }, "a click means: this was set from outside, do(…)"));

  const know = (name, value) => {
    const now = known.get(name);
    const set = meaning.value === "set";
    if (value === null || (now && now.value === value && now.set === set)) known.delete(name);
    else known.set(name, { value, set });
    return refresh();
  };

  const bar = (name, level, share) => {
    const filled = make("span", { class: "filled" });
    filled.style.width = `${(100 * share).toFixed(2)}%`;
    const now = known.get(name);
    const on = now && now.value === level;
    return make("button", { type: "button", class: on ? "level on" : "level", "aria-pressed": String(Boolean(on)), onclick: () => know(name, level) },
      filled, make("span", { class: "text" }, level), make("span", { class: "share" }, `${(100 * share).toFixed(1)} %`));
  };

  // The most probable levels, in their own order.
  const probable = (levels, share) => {
    const first = new Set([...levels].sort((one, other) => share(other) - share(one)).slice(0, SOME_LEVELS));
    return levels.filter((level) => first.has(level));
  };

  const others = (name, count) => [
    make("p", { class: "soft" }, `and ${count} less probable levels`),
    make("input", { type: "text", placeholder: "known: a level", "aria-label": `level of ${name}`, onchange: (event) => { if (event.target.value) know(name, event.target.value); } }),
  ];

  const card = (name, answer) => {
    const { levels } = variables.get(name);
    const now = known.get(name);
    const title = make("h3", {}, name, now ? make("span", { class: "soft" }, now.set ? " set" : " seen") : "");
    if (levels.length) {
      const shares = answer ? new Map(answer.probabilities.map((one) => [one.levels[0], one.probability])) : null;
      const share = (level) => (shares ? shares.get(level) : Number(now.value === level));
      const shown = levels.length <= MOST_LEVELS ? levels : probable(levels, share);
      return make("div", { class: now ? "card known" : "card", data: { part: name } }, title, ...shown.map((level) => bar(name, level, share(level))),
        ...(shown.length < levels.length ? others(name, levels.length - shown.length) : []));
    }
    const value = make("input", { type: "number", step: "any", class: "short", placeholder: "known: a value", "aria-label": `value of ${name}`, value: now ? now.value : "",
      onchange: (event) => know(name, event.target.value === "" ? null : Number(event.target.value)) });
    const words = answer ? `mean ${number(answer.mean[name])}, sd ${number(answer.sd[name])}` : `= ${number(now.value)}`;
    return make("div", { class: now ? "card known" : "card", data: { part: name } }, title, make("p", {}, words), value);
  };

  const refresh = () => trying(async () => {
    const part = (set) => Object.fromEntries([...known].filter(([, one]) => one.set === set).map(([name, one]) => [name, one.value]));
    const of = all.filter((name) => asked.has(name) && !known.has(name));
    const { answers } = await post(`/api/results/${result.number}/ask`, { of, given: part(false), do: part(true) }).catch((error) => {
      if (known.size) known.delete([...known.keys()].at(-1)); // what was clicked last cannot be together with the rest
      throw error;
    });
    const found = new Map(answers.map((answer) => [answer.of, answer]));
    const shown = all.filter((name) => found.has(name) || known.has(name));
    keepFocus(cards, () => cards.replaceChildren(...shown.map((name) => card(name, found.get(name)))));
    chips.replaceChildren(...[...known].map(([name, { value, set }]) =>
      make("button", { type: "button", class: "chip", title: "forget this", onclick: () => know(name, null) }, `${set ? `do(${name} = ${value})` : `${name} = ${value}`} ×`)));
    const estimated = answers.some((answer) => answer.method === "sampling");
    const notes = [...new Set(answers.flatMap((answer) => answer.notes ?? []))];
    note.textContent = `${known.size ? "Given what you clicked" : "With nothing known"}, ${estimated ? "estimated from weighted samples" : "exact for this network"}.${notes.map((one) => ` Note: ${one}.`).join("")}`;
  });

  const element = make("section", {}, make("h2", {}, "Ask it"));
  if (!all.length) {
    element.append(make("p", { class: "soft" }, `This result has no probabilities to ask for: ${result.why_not_asked}.`));
    return { element, look: () => {} };
  }
  element.append(
    make("p", { class: "soft" }, "The distribution of each variable in the fitted network. Click a level (or write a value) to say that it is known."),
    make("div", { class: "tools" }, meaning, chips), note, cards);
  if (all.length > MOST) element.append(make("p", { class: "soft" }, "Click variables in the picture to add them."));
  refresh();
  return { element, look: (name) => { if (name !== null && !asked.has(name) && asked.size < MOST) { asked.add(name); refresh(); } } };
};
