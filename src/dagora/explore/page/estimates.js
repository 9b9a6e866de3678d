// About how long a run would take: asked for whenever a choice has changed, after a moment without another one.
import { post } from "./api.js";
import { byId } from "./dom.js";

const WAIT = 500; // milliseconds
const MEASURING = "measuring on parts of the table …";
const place = byId("estimate");
let question = () => null;
let waiting = 0;
let newest = 0;

const say = (words) => { place.textContent = words ? `${words.charAt(0).toUpperCase()}${words.slice(1)}.` : ""; };

const ask = async () => {
  newest += 1;
  const mine = newest;
  const asked = question();
  if (asked === null) return;
  place.textContent = MEASURING;
  try {
    const { words } = await post("/api/estimate", asked);
    if (mine === newest) say(words);
  } catch {
    if (mine === newest) say(""); // what is wrong is said when one learns
  }
};

// There is nothing to ask about: the table cannot be understood as it is.
export const clear = () => {
  newest += 1;
  clearTimeout(waiting);
  say("");
};

// What was said is about other choices.
export const refresh = () => {
  clear();
  waiting = setTimeout(ask, WAIT);
};

// Nothing is measured while a method runs; where there is no answer after it, the question is asked again.
export const during = async (work) => {
  newest += 1;
  clearTimeout(waiting);
  if (place.textContent === MEASURING) say("");
  await work();
  if (place.textContent === "") refresh();
};

// `asked` makes the request to learn, or null where there is nothing to ask about.
export const begin = (asked) => {
  question = asked;
};
