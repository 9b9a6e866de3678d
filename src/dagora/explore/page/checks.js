// A check of the graph of a result against its rows: what they contradict, and what would be better.
import { post } from "./api.js";
import { fromServer, make, trying } from "./dom.js";
import { answerPart, commandLine } from "./parts.js";

export const checks = (result) => {
  const element = make("section", { class: "check" }, make("h2", {}, "Is the graph any good?"));
  if (result.effects.why_not) {
    element.append(make("p", { class: "soft" }, `It cannot be checked here: ${result.effects.why_not}.`));
    return element;
  }
  const go = make("button", { type: "button" }, "Check the graph");
  const status = make("span", { class: "soft", role: "status" });
  const lead = make("div", { "aria-live": "polite" });
  const parts = make("div", { class: "parts" });
  const ask = () => trying(async () => {
    go.disabled = true;
    status.textContent = "checking …";
    try {
      const found = await post(`/api/results/${result.number}/check`, {});
      lead.replaceChildren(fromServer(found.lead));
      parts.replaceChildren(...found.parts.map(answerPart), commandLine(found.command));
    } finally {
      go.disabled = false;
      status.textContent = "";
      if (document.activeElement === document.body) go.focus({ preventScroll: true }); // what is disabled loses it
    }
  });
  go.addEventListener("click", ask);
  element.append(
    make("p", { class: "soft" }, "Independences that the graph claims, rows held out, simulated tables, single changes of an edge. The graph was learned from these very rows, which flatters it: rows that were kept apart judge better."),
    make("div", { class: "tools" }, go, status), lead, parts);
  return element;
};
