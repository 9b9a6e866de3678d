// The best graph of a run that goes on, in the picture of results. It takes the place of the one before it in
// one go, and stands still while somebody looks closer. Its words are in the part that stays in sight.
import { byId, fromServer, number, show } from "./dom.js";

const section = byId("so-far");
const canvas = byId("so-far-canvas");
let waiting = null; // a newer graph than the one that is seen
let view = null;

const isLookedAt = () => view !== null && (canvas.contains(document.activeElement) || view.chosen !== null || view.picture.classList.contains("zoomed"));

const draw = (best) => {
  waiting = null;
  // The page below must not jump up and down as the graph grows.
  canvas.style.minHeight = `${section.hidden ? 0 : canvas.offsetHeight}px`;
  canvas.querySelector("svg")?.remove();
  canvas.append(fromServer(best.svg));
  show(section);
  view = DagoraGraph.mount(canvas);
  const open = best.open ? `, ${best.open} without a direction that the data tell` : "";
  const score = best.score === null ? "" : `; score ${number(best.score, 7)}`;
  const edges = `${best.edges} edge${best.edges === 1 ? "" : "s"}`;
  byId("so-far-words").textContent = best.skeleton ? `${edges} are left so far; directions come last.` : `Best graph so far: ${edges}${open}${score}.`;
  show(byId("so-far-words"));
};

const say = () => show(byId("newest"), waiting !== null);

export const take = (best) => {
  if (isLookedAt()) waiting = best;
  else draw(best);
  say();
};

// Why there is no graph on the way.
export const explain = (words) => {
  byId("so-far-words").textContent = words;
  show(byId("so-far-words"));
};

export const begin = () => {
  waiting = null;
  view?.destroy();
  view = null;
  canvas.replaceChildren();
  show(section, false);
  show(byId("so-far-words"), false);
};

byId("newest").addEventListener("click", () => {
  draw(waiting);
  say();
});
