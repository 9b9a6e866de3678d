// Effects: choose a cause and an outcome, and see what setting the one does to the other, and how sure that is.
import { post } from "./api.js";
import { fill, fromServer, make, show, trying } from "./dom.js";
import { answerPart, commandLine } from "./parts.js";

// What a variable is set to, and instead of what: levels, or numbers that may be left out.
const values = (variable) => {
  const named = [["set to", 1], ["instead of", 0]];
  const fields = named.map(([name, at]) => {
    if (!variable.levels.length) return make("input", { type: "number", step: "any", class: "short", placeholder: at ? "one more" : "as it is", "aria-label": name });
    const select = make("select", { "aria-label": name });
    fill(select, variable.levels, variable.levels[Math.min(at, variable.levels.length - 1)]);
    return select;
  });
  const read = () => {
    const texts = fields.map((field) => field.value);
    if (variable.levels.length) return texts;
    if (texts.every((text) => text === "")) return null;
    if (texts.some((text) => text === "")) throw new Error(`write both values of ${variable.name}, or none`);
    return texts.map(Number);
  };
  return { elements: fields.map((field, place) => make("label", {}, named[place][0], " ", field)), read };
};

export const effects = (result) => {
  const element = make("section", { class: "effects" }, make("h2", {}, "What if it is set?"));
  const { variables = [], why_not = "" } = result.effects;
  if (variables.length < 2) {
    element.append(make("p", { class: "soft" }, `Nothing can be asked here: ${why_not || "there is one variable only"}.`));
    return element;
  }
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const names = [...byName.keys()];
  const [cause, outcome, event] = ["cause", "outcome", "level of the outcome"].map((name) => make("select", { "aria-label": name }));
  fill(cause, names, names[0]);
  fill(outcome, names, names[1]);
  const settings = make("span", { class: "settings" });
  const eventLabel = make("label", {}, "at its level ", event);
  const by = make("select", { "aria-label": "computed by" },
    make("option", { value: "" }, "this graph or its class"), make("option", { value: "averaged" }, "an average over graphs"));
  const go = make("button", { type: "button", class: "main" }, "Tell the effect");
  const status = make("span", { class: "soft", role: "status" });
  const lead = make("div", { "aria-live": "polite" });
  const parts = make("div", { class: "parts" });
  let chosen = null;

  const drawCause = () => {
    chosen = values(byName.get(cause.value));
    settings.replaceChildren(...chosen.elements);
  };
  const drawOutcome = () => {
    const { levels } = byName.get(outcome.value);
    show(eventLabel, levels.length > 0);
    fill(event, levels, levels[1] ?? levels[0]);
  };
  const ask = () => trying(async () => {
    const { levels } = byName.get(outcome.value);
    const question = { cause: cause.value, outcome: outcome.value, levels: chosen.read(), event: levels.length ? event.value : null, averaged: by.value !== "" };
    go.disabled = true;
    status.textContent = "computing …";
    try {
      const found = await post(`/api/results/${result.number}/effect`, question);
      lead.replaceChildren(fromServer(found.lead));
      parts.replaceChildren(...found.parts.map(answerPart), commandLine(found.command));
    } catch (error) {
      lead.replaceChildren();
      parts.replaceChildren();
      throw error;
    } finally {
      go.disabled = false;
      status.textContent = "";
      if (document.activeElement === document.body) go.focus({ preventScroll: true }); // what is disabled loses it
    }
  });

  cause.addEventListener("change", drawCause);
  outcome.addEventListener("change", drawOutcome);
  go.addEventListener("click", ask);
  drawCause();
  drawOutcome();
  element.append(
    make("p", { class: "soft" }, "What happens to the outcome if the cause is set from outside, with a 95 % interval, and what that rests on."),
    make("div", { class: "tools" }, make("label", {}, "cause ", cause), settings),
    make("div", { class: "tools" }, make("label", {}, "outcome ", outcome), eventLabel),
    make("div", { class: "tools" }, make("label", {}, "by ", by), go, status),
    lead, parts);
  return element;
};
