// A picture of a graph as in reports (the same script), in which two clicks can require or forbid an edge.
import { fromServer, make, show } from "./dom.js";
import * as edges from "./edges.js";

const MODES = [["", "clicking a variable highlights its neighbours"], ["required", "clicking two variables requires an edge"], ["forbidden", "clicking two variables forbids an edge"]];

// Pictures of one graph, of which one is seen at a time. onChoose hears of clicks that highlight.
export const picture = ({ drawings, strengths, onChoose = () => {} }) => {
  let from = null;
  const said = make("span", { class: "soft", role: "status" });
  const mode = make("select", { "aria-label": "what a click does", onchange: () => { from = null; said.textContent = ""; views.forEach((view) => view.choose(null)); } },
    ...MODES.map(([value, text]) => make("option", { value }, text)));
  const hear = (name) => {
    if (!mode.value) {
      views.forEach((view) => view.choose(name));
      onChoose(name);
    } else if (from === null || name === null) {
      from = name;
      said.textContent = name === null ? "" : `from ${name} to …`;
    } else {
      edges.add(mode.value, from, name);
      said.textContent = `${from} → ${name} is ${mode.value} from the next run on`;
      from = null;
      views.forEach((view) => view.choose(null));
    }
  };
  const canvases = drawings.map((drawing, place) => make("div", { class: "canvas fitted", hidden: place > 0 }, fromServer(drawing)));
  const views = canvases.map((canvas) => DagoraGraph.mount(canvas, { onChoose: hear }));
  const tools = [mode];
  if (drawings.length > 1) {
    tools.unshift(make("button", { type: "button", class: "switch",
      onclick: () => canvases.forEach((canvas) => show(canvas, canvas.hidden)) }, "as the data tell / as found"));
  }
  if (strengths.length > 1) {
    const least = make("output", {}, strengths[0].toFixed(1));
    const slider = make("input", { type: "range", min: 0, max: strengths.length - 1, value: 0, class: "least",
      oninput: (event) => {
        const limit = strengths[event.target.value];
        least.textContent = limit.toFixed(1);
        views.forEach((view) => view.setLeast(limit - 0.05));
      } });
    tools.push(make("label", { class: "slider" }, "edges worth at least ", slider, make("span", {}, least, " nats")));
  }
  return { element: make("div", {}, make("div", { class: "tools" }, ...tools, said), ...canvases), choose: (name) => views.forEach((view) => view.choose(name)) };
};
