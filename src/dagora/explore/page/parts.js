// Parts of an answer of the server, as reports show them.
import { fromServer, make } from "./dom.js";
import { enliven } from "./tables.js";

// One part, in which graphs can be explored and tables sorted.
const living = (element) => {
  element.querySelectorAll(".explorer .canvas").forEach((canvas) => DagoraGraph.mount(canvas));
  enliven(element);
  return element;
};

export const resultPart = ({ title, body }) => living(make("section", {}, make("h2", {}, title), fromServer(body)));

export const answerPart = ({ title, body }) => living(make("div", {}, make("h3", {}, title), fromServer(body)));

export const commandLine = (command) => make("details", {}, make("summary", {}, "the same on the command line"), make("code", {}, command));
