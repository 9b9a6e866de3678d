// Tiers: variables are dragged into them; the selects in the table of columns do the same by keyboard.
import { byId, make } from "./dom.js";

const place = byId("tiers");
const tierOf = new Map(); // name → number of its tier, from 1
let count = 0;
let variables = () => [];
let unticked = () => new Set();
let changed = () => {};

export const numbers = () => Array.from({ length: count }, (_, index) => index + 1);
export const of = (name) => tierOf.get(name) ?? 0;

export const put = (name, tier) => {
  if (tier) tierOf.set(name, tier);
  else tierOf.delete(name);
  draw();
  changed();
};

// The variables, and names in tiers that are none, such as misspelt ones: those are for the server to refuse.
const all = () => {
  const without = unticked();
  return [...new Set([...variables(), ...tierOf.keys()])].filter((name) => !without.has(name));
};

// The tiers as knowledge has them; empty ones do not count.
export const knowledge = () => {
  const names = all();
  return numbers().map((tier) => names.filter((name) => of(name) === tier)).filter((tier) => tier.length);
};

export const load = (tiers) => {
  tierOf.clear();
  count = tiers.length;
  tiers.forEach((names, index) => names.forEach((name) => tierOf.set(name, index + 1)));
  draw();
  changed();
};

const box = (title, tier, names) => {
  const chips = names.map((name) =>
    make("span", { class: "chip", draggable: true, title: "drag into a tier",
      ondragstart: (event) => { event.dataTransfer.setData("text/plain", name); event.dataTransfer.effectAllowed = "move"; } }, name));
  const over = (event, on) => {
    event.preventDefault();
    event.currentTarget.classList.toggle("over", on);
  };
  return make("div", { class: tier ? "tierbox" : "tierbox pool", data: { tier: String(tier) },
    ondragover: (event) => over(event, true),
    ondragleave: (event) => over(event, false),
    ondrop: (event) => {
      over(event, false);
      const name = event.dataTransfer.getData("text/plain");
      if (all().includes(name)) put(name, tier);
    } },
    make("div", { class: "soft" }, title), make("div", { class: "chips" }, ...chips));
};

export const draw = () => {
  const names = all();
  const boxes = numbers().map((tier) => box(tier === 1 ? "tier 1, earliest" : `tier ${tier}`, tier, names.filter((name) => of(name) === tier)));
  const rest = box("in no tier: anywhere", 0, names.filter((name) => !of(name)));
  place.replaceChildren(...(count ? [rest, ...boxes] : []));
};

export const begin = (names, leftOut, onChange) => {
  variables = names;
  unticked = leftOut;
  changed = onChange;
  tierOf.clear();
  count = 0;
  draw();
};

byId("add-tier").addEventListener("click", () => {
  count += count ? 1 : 2; // a single tier says nothing
  draw();
  changed();
});
