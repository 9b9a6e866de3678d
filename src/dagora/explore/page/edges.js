// Edges that are required or forbidden: from two selects, or from two clicks in a picture.
import { byId, complain, fill, make, settle } from "./dom.js";

const list = byId("known-edges");
const [tail, head] = [byId("tail"), byId("head")];
let edges = []; // {tail, head, kind}
let variables = () => [];
let unticked = () => new Set();
let changed = () => {};

const same = (edge, other) => edge.tail === other.tail && edge.head === other.head;

export const add = (kind, from, to) => {
  if (from === to) {
    complain("an edge joins two different variables");
    return;
  }
  settle();
  const edge = { tail: from, head: to, kind };
  edges = [...edges.filter((other) => !same(edge, other)), edge];
  draw();
  changed();
};

// Names that are no variables, such as misspelt ones, are for the server to refuse.
export const knowledge = () => {
  const without = unticked();
  const of = (kind) => edges.filter((edge) => edge.kind === kind && !without.has(edge.tail) && !without.has(edge.head)).map((edge) => [edge.tail, edge.head]);
  return { required: of("required"), forbidden: of("forbidden") };
};

export const load = ({ required = [], forbidden = [] }) => {
  const from = (pairs, kind) => pairs.map(([one, other]) => ({ tail: one, head: other, kind }));
  edges = [...from(required, "required"), ...from(forbidden, "forbidden")];
  draw();
};

export const draw = () => {
  const names = variables();
  if (names.length !== tail.options.length || names.some((name, at) => tail.options[at].value !== name)) {
    fill(tail, names);
    fill(head, names, head.value || names[1]);
  }
  list.replaceChildren(
    ...edges.map((edge) =>
      make("li", { class: edge.kind }, `${edge.tail} → ${edge.head} `, make("span", { class: "soft" }, edge.kind), " ",
        make("button", { type: "button", class: "quiet", "aria-label": `remove ${edge.tail} → ${edge.head}`,
          onclick: () => { edges = edges.filter((other) => other !== edge); draw(); changed(); (list.querySelector("button") ?? tail).focus(); } }, "×"))),
  );
};

export const begin = (names, leftOut, onChange) => {
  variables = names;
  unticked = leftOut;
  changed = onChange;
  edges = [];
  draw();
};

byId("require").addEventListener("click", () => add("required", tail.value, head.value));
byId("forbid").addEventListener("click", () => add("forbidden", tail.value, head.value));
