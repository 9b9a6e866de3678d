// Small ways to make elements. Texts become text, never HTML: names in data may hold anything.

export const byId = (id) => document.getElementById(id);

// make("button", { type: "button", onclick: go, class: "main" }, "Learn")
export const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

// HTML that the server made of escaped texts: pictures and tables, the same as in reports.
export const fromServer = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
};

// Options of a select: texts, or [value, text, disabled].
export const fill = (select, options, chosen = select.value) => {
  select.replaceChildren(
    ...options.map((option) => {
      const [value, text, disabled] = Array.isArray(option) ? option : [option, option, false];
      return make("option", { value, disabled: Boolean(disabled) }, text);
    }),
  );
  if ([...select.options].some((option) => option.value === chosen && !option.disabled)) select.value = chosen;
};

export const show = (element, visible = true) => {
  element.hidden = !visible;
};

// Draws parts that have names (data-part) anew; the keyboard stays at the control where it was.
export const keepFocus = (place, draw) => {
  const CONTROLS = "input, select, button";
  const part = place.contains(document.activeElement) ? document.activeElement.closest("[data-part]") : null;
  const [name, at] = part ? [part.dataset.part, [...part.querySelectorAll(CONTROLS)].indexOf(document.activeElement)] : [null, -1];
  draw();
  if (at < 0) return;
  const again = [...place.querySelectorAll("[data-part]")].find((one) => one.dataset.part === name);
  again?.querySelectorAll(CONTROLS)[at]?.focus({ preventScroll: true });
};

// A number for people: −12 345.7, 0.1234.
export const number = (value, digits = 4) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const large = Math.abs(value) >= 1000;
  const written = large
    ? value.toLocaleString("en", { maximumFractionDigits: 1 })
    : String(Number(value.toPrecision(digits)));
  return written.replaceAll(",", "\u202f").replace("-", "−");
};

const problem = byId("problem");

// One line about what went wrong, until the next thing goes well.
export const complain = (error) => {
  problem.textContent = error instanceof Error ? error.message : String(error);
  show(problem);
  problem.scrollIntoView({ block: "nearest" });
};

export const settle = () => show(problem, false);

// Does something that may fail, and says in one line if it did.
export const trying = async (work) => {
  try {
    settle();
    return await work();
  } catch (error) {
    complain(error);
    return undefined;
  }
};
