// Talks to the server. The token came with the address; it is kept for this tab and this origin only, and
// leaves the address so that it is neither bookmarked nor copied along.

const HEADER = "X-Dagora-Token";
const KEPT = "dagora-token";

const given = new URLSearchParams(location.search).get("token");
if (given) {
  sessionStorage.setItem(KEPT, given);
  history.replaceState(null, "", "/");
}
export const token = sessionStorage.getItem(KEPT) ?? "";

const ask = async (path, options = {}) => {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...options.headers, [HEADER]: token } });
  } catch {
    throw new Error("the server does not answer: has `dagora explore` ended?");
  }
  if (answer.ok) return answer;
  const said = await answer.text();
  let line = said.trim();
  try {
    line = JSON.parse(said).error;
  } catch {
    // it is a plain line
  }
  throw new Error(line || `the server refused (${answer.status})`);
};

const asJson = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

export const get = async (path) => (await ask(path)).json();
export const post = async (path, body = {}) => (await ask(path, asJson(body))).json();
export const remove = async (path) => (await ask(path, { method: "DELETE" })).json();

export const upload = async (file, said) =>
  (await ask(`/api/table?${new URLSearchParams(said)}`, { method: "POST", headers: { "X-File-Name": encodeURIComponent(file.name) }, body: file })).json();

// Saves what the server answers as a file.
export const save = async (path, name, body = null) => {
  const answer = await ask(path, body === null ? {} : asJson(body));
  const place = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = place;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
};

// Server-sent events, read by fetch because an EventSource cannot send the token.
export const follow = async (path, hear) => {
  const reader = (await ask(path)).body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const messages = waiting.split("\n\n");
    waiting = messages.pop();
    for (const message of messages) {
      if (message.startsWith("data: ")) hear(JSON.parse(message.slice(6)));
    }
  }
};
