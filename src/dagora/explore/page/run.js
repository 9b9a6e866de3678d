// A run: begun, watched by server-sent events, stopped.
import { follow, post } from "./api.js";
import { byId, complain, number, show, trying } from "./dom.js";
import * as soFar from "./so_far.js";

const section = byId("run");
const PATIENCE = 4000; // milliseconds after which a run that was stopped may be ended without a result
let done = () => {};
let trace = [];

const svg = (tag, attributes, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};

// The best score against time, from the start of the run on.
const spark = (seconds, best) => {
  if (trace.length < 2) return [];
  const [width, height, left, low] = [560, 120, 4, 100];
  const scores = trace.map(([, score]) => score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  const x = (time) => left + (time / seconds) * (width - 2 * left);
  const y = (score) => low - 8 - ((score - least) / (most - least || 1)) * (low - 24);
  let path = `M${x(trace[0][0]).toFixed(1)} ${y(trace[0][1]).toFixed(1)}`;
  for (const [time, score] of trace.slice(1)) path += `H${x(time).toFixed(1)}V${y(score).toFixed(1)}`;
  path += `H${(width - left).toFixed(1)}`;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "spark" });
  chart.append(
    svg("title", {}, "best score against time"),
    svg("path", { d: `M${left} ${low}H${width - left}`, class: "axis" }),
    svg("path", { d: path, class: "line" }),
    svg("text", { x: left, y: height - 6 }, "0 s"),
    svg("text", { x: width - left, y: height - 6, "text-anchor": "end" }, `${seconds.toFixed(1)} s`),
    svg("text", { x: width - left, y: 12, "text-anchor": "end" }, `best score ${number(best ?? most, 7)}`),
  );
  return [chart];
};

const draw = (state) => {
  byId("run-title").textContent = `${state.method} is learning`;
  const steps = state.step === null ? "" : state.total ? `, ${number(state.step)} of ${number(state.total)}` : `, step ${number(state.step)}`;
  const what = state.compiling || `${state.phase ?? "reading the table"}${steps}`;
  byId("phase").textContent = `${state.stopping ? "stopping: " : ""}${what}; ${state.seconds.toFixed(1)} s`;
  const bar = byId("bar");
  show(bar, Boolean(state.total));
  if (state.total) { bar.max = state.total; bar.value = Math.min(state.step, state.total); }
  byId("spark").replaceChildren(...spark(Math.max(state.seconds, 0.1), state.score));
};

const watch = async () => {
  trace = [];
  let last = null;
  soFar.begin();
  show(section);
  show(byId("end"), false);
  byId("stop").disabled = false;
  if (byId("learn").matches(":focus-visible")) byId("stop").focus({ preventScroll: true }); // by keyboard, and what is disabled loses it
  byId("learn").disabled = true;
  section.parentNode.scrollIntoView({ block: "start" }); // its own place, from which it sticks to the window
  try {
    await follow("/api/progress", (state) => {
      trace.push(...state.trace);
      last = state;
      draw(state);
      if (state.best) soFar.take(state.best);
      else if (state.undrawn) soFar.explain(state.undrawn);
    });
  } finally {
    const here = section.contains(document.activeElement);
    show(section, false);
    byId("learn").disabled = false;
    if (here) byId("learn").focus({ preventScroll: true });
  }
  try {
    if (last?.error) complain(last.error);
    if (typeof last?.result === "number") await done(last.result, soFar.begin);
    else if (!last?.error) complain("the server ended while the method was running");
  } finally {
    soFar.begin();
  }
};

export const learn = (asked) => trying(async () => {
  await post("/api/learn", asked);
  await watch();
});

// A run that goes on from before the page was loaded.
export const goOn = () => trying(watch);

export const begin = (onDone) => {
  done = onDone;
};

byId("stop").addEventListener("click", () => trying(async () => {
  byId("stop").disabled = true;
  await post("/api/stop");
  setTimeout(() => show(byId("end"), !section.hidden && byId("stop").disabled), PATIENCE);
}));
byId("end").addEventListener("click", () => trying(() => post("/api/stop", { at_once: true })));
