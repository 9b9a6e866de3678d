"use strict";
// A picture of a graph that can be explored: zoom, pan, search, keyboard, one node with its blanket.
//
// The one global, DagoraGraph, is mounted on an element that holds an SVG with g[data-node] (a rect and a text)
// and g[data-tail][data-head]; an edge may have data-strength, data-sign ("-->", "---", "o->", …) and, where it
// belongs to the truth alone, data-missing; a node may have data-role, words for what it is. Nothing is
// fetched, and nothing but the element is changed.
globalThis.DagoraGraph = (() => {
  const READABLE = 8; // pixels of a letter; below, labels are drawn larger, and only those that have room
  const FAR_LABELS = [11, 9]; // pixels of such a label, the first that has room
  const SMALLEST = 5.5; // pixels; smaller letters are not drawn
  const THIN = 0.35; // scale below which lines and boxes keep a width on the screen
  const CLOSEST = 4; // largest scale
  const EDGE = 10; // pixels above and below the whole picture
  const LETTER = 13; // size of letters in the picture
  const views = new WeakMap(); // element → its view, so that mounting twice does no harm
  let mounted = 0;

  const made = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const between = (low, value, high) => Math.min(Math.max(value, low), high);

  // What the picture says of the graph: nodes with their places, and edges with their ends.
  const read = (picture) => {
    const nodes = new Map();
    for (const box of picture.querySelectorAll("g[data-node]")) {
      const [, left = 0, top = 0] = /translate\(([-\d.]+)[ ,]+([-\d.]+)\)/.exec(box.parentNode.getAttribute("transform")) ?? [];
      const rect = box.querySelector("rect");
      const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
      const place = { x: x + width / 2 + Number(left), y: y + height / 2 + Number(top), width, height };
      const label = box.querySelector("text").textContent;
      nodes.set(box.dataset.node, { name: box.dataset.node, box, label, ...place, home: { x: place.x, y: place.y }, near: new Set(), parents: new Set() });
    }
    const edges = [...picture.querySelectorAll("g[data-tail]")].map((group) => {
      const { tail, head, sign = "-->", strength } = group.dataset;
      return { group, tail, head, sign, strength: Number(strength ?? "NaN"), missing: "missing" in group.dataset };
    });
    for (const { tail, head, sign, missing } of edges) {
      if (missing || !nodes.has(tail) || !nodes.has(head)) continue;
      nodes.get(tail).near.add(head);
      nodes.get(head).near.add(tail);
      if (sign === "-->") nodes.get(head).parents.add(tail);
    }
    // With hidden causes, or ends that are open, parents and children do not make a Markov blanket.
    const hidden = edges.some(({ sign }) => sign.includes("o") || sign === "<->");
    return { nodes, edges, hidden };
  };

  // Neighbours and the other parents of children: in a CPDAG this is the blanket of every member of the class.
  const blanket = ({ nodes, hidden }, name) => {
    const node = nodes.get(name);
    if (!node) return new Set();
    const members = new Set(node.near);
    if (!hidden) {
      for (const child of node.near) {
        if (nodes.get(child).parents.has(name)) for (const parent of nodes.get(child).parents) members.add(parent);
      }
    }
    members.delete(name);
    return members;
  };

  // New places for nodes that are far apart: their rows one below the other, long ones in several lines.
  const packed = (members) => {
    const rows = new Map();
    for (const node of [...members].sort((one, other) => one.home.x - other.home.x)) {
      const row = Math.round(node.home.y);
      rows.set(row, [...(rows.get(row) ?? []), node]);
    }
    const most = Math.max(4, Math.ceil(1.15 * Math.sqrt(members.length)));
    const places = new Map();
    let y = 0;
    for (const row of [...rows.keys()].sort((one, other) => one - other)) {
      const lines = Math.ceil(rows.get(row).length / most);
      for (let k = 0; k < lines; k += 1) {
        const line = rows.get(row).filter((_, at) => at % lines === k);
        let x = -line.reduce((sum, node) => sum + node.width + 24, 0) / 2 + 30 * (k % 2);
        for (const node of line) {
          places.set(node, [x + node.width / 2 + 12, y]);
          x += node.width + 24;
        }
        y += k === lines - 1 ? 110 : 52;
      }
    }
    return { places, height: y - 110 };
  };

  // An edge between two boxes that were moved: its path, and where it ends and from which direction.
  const joining = (from, to) => {
    const level = Math.abs(to.y - from.y) < 1;
    const side = level ? Math.sign(to.x - from.x) : Math.sign(to.y - from.y);
    const lean = (node, other) => between(8 - node.width / 2, 0.15 * (other.x - node.x), node.width / 2 - 8);
    const meet = (node, other, way) => (level
      ? [node.x + (way * node.width) / 2, node.y]
      : [node.x + lean(node, other), node.y + (way * node.height) / 2]);
    const [start, end] = [meet(from, to, side), meet(to, from, -side)];
    const [bend, across, down] = [level ? 0 : (end[1] - start[1]) / 2, level ? side : 0, level ? 0 : side];
    const d = `M${start[0]} ${start[1]}C${start[0]} ${start[1] + bend} ${end[0]} ${end[1] - bend} ${end[0]} ${end[1]}`;
    return { d, ends: [[...start, -across, -down], [...end, across, down]] };
  };
  const arrow = ([x, y, across, down]) => {
    const [u, v] = [x - 10 * across, y - 10 * down];
    return `M${x} ${y}L${u - 4 * down} ${v + 4 * across}L${u + 4 * down} ${v - 4 * across}Z`;
  };

  // Mounts a view on an element; a second call on the same picture gives the view that is there.
  // onChoose(name) is called when a person chooses a node, with null when none is chosen any more.
  const mount = (canvas, { onChoose = () => {} } = {}) => {
    const picture = canvas.querySelector("svg");
    const known = views.get(canvas);
    if (known && known.picture === picture) {
      known.onChoose = onChoose;
      return known;
    }
    if (known) known.destroy();
    const graph = read(picture);
    const { nodes, edges } = graph;
    const whole = picture.viewBox.baseVal;
    const [fullWidth, fullHeight] = [whole.width, whole.height];
    const original = picture.getAttribute("viewBox");
    const view = { picture, onChoose, chosen: null, alone: false };
    views.set(canvas, view);

    // ---- the window onto the picture: its left upper corner, and pixels per unit
    let width = 0, height = 0, left = 0, top = 0, scale = 0, printing = false;
    const fitting = () => Math.min(width / fullWidth, (height - 2 * EDGE) / fullHeight, 1);
    const show = () => {
      if (!width || printing) return;
      left = between(0, left + width / scale / 2, fullWidth) - width / scale / 2;
      top = between(0, top + height / scale / 2, fullHeight) - height / scale / 2;
      picture.setAttribute("viewBox", [left, top, width / scale, height / scale].map((value) => value.toFixed(2)).join(" "));
      picture.classList.toggle("zoomed", scale > fitting() * 1.01);
      picture.dataset.scale = scale.toFixed(4);
    };
    const scaled = (value) => {
      scale = between(fitting(), value, Math.max(CLOSEST, fitting()));
      picture.classList.toggle("thin", scale < THIN);
    };
    const fit = (x = 0, y = 0, wide = fullWidth, high = fullHeight, closest = 1) => {
      scaled(Math.min(width / wide, (height - 2 * EDGE) / high, closest));
      [left, top] = [x + wide / 2 - width / scale / 2, y + high / 2 - height / scale / 2];
      show();
      label();
    };
    const zoom = (factor, x = width / 2, y = height / 2) => {
      const before = scale;
      scaled(scale * factor);
      left += x / before - x / scale;
      top += y / before - y / scale;
      show();
      label();
    };
    const pan = (x, y) => {
      left += x / scale;
      top += y / scale;
      show();
    };
    const resize = () => {
      const room = picture.parentNode.clientWidth;
      if (!room || printing) return;
      const least = room / fullWidth < THIN ? 0.55 * innerHeight : 220;
      const tall = between(least, fullHeight * Math.min(1, room / fullWidth) + 2 * EDGE, 0.7 * innerHeight);
      if (room === width && Math.abs(tall - height) < 1) return;
      const fitted = !scale || scale <= fitting() * 1.01;
      const middle = [left + width / (scale || 1) / 2, top + height / (scale || 1) / 2];
      [width, height] = [room, tall];
      picture.style.height = `${tall}px`;
      if (fitted) return fit();
      scaled(scale);
      [left, top] = [middle[0] - width / scale / 2, middle[1] - height / scale / 2];
      show();
      label();
    };

    // ---- labels: where letters would be too small, the labels that have room are drawn larger
    const pen = document.createElement("canvas").getContext("2d"); // measures, and draws nothing
    const labels = document.createElementNS(picture.namespaceURI, "g");
    labels.setAttribute("class", "labels");
    const byDegree = [...nodes.values()].sort((one, other) => other.near.size - one.near.size);
    const label = () => {
      const far = LETTER * scale < READABLE;
      picture.classList.toggle("far", far);
      labels.replaceChildren();
      if (!far) return;
      pen.font = `${LETTER}px ${getComputedStyle(picture).fontFamily}`; // known only once it is part of the page
      const sizes = [...FAR_LABELS, LETTER * scale].filter((size) => size >= SMALLEST);
      const first = view.chosen === null ? [] : [nodes.get(view.chosen), ...byDegree.filter((node) => node.box.classList.contains("near"))];
      const placed = [];
      for (const node of new Set([...first, ...byDegree])) {
        if (node.box.classList.contains("outside")) continue;
        node.wide ??= pen.measureText(node.label).width / LETTER; // for letters of one pixel
        const tried = sizes.map((size) => {
          const wide = (node.wide * size + 4) / scale;
          return { size: size / scale, wide, high: (1.25 * size) / scale, x: between(wide / 2, node.x, fullWidth - wide / 2), y: node.y };
        });
        const free = (one) => !placed.some((other) => Math.abs(other.x - one.x) < (other.wide + one.wide) / 2 && Math.abs(other.y - one.y) < (other.high + one.high) / 2);
        const found = tried.find(free);
        if (!found) continue;
        placed.push(found);
        const text = document.createElementNS(picture.namespaceURI, "text");
        text.textContent = node.label;
        for (const [name, value] of [["x", found.x], ["y", found.y + 0.36 * found.size], ["font-size", found.size], ["stroke-width", 0.3 * found.size]]) {
          text.setAttribute(name, value.toFixed(1));
        }
        text.classList.toggle("faded", view.chosen !== null && !node.box.classList.contains("near"));
        labels.append(text);
      }
    };

    // ---- choosing a node
    view.blanket = (name) => blanket(graph, name);
    view.choose = (name) => {
      const node = nodes.get(name);
      view.chosen = node ? name : null;
      for (const { group, tail, head } of edges) group.classList.toggle("near", node !== undefined && (tail === name || head === name));
      for (const other of nodes.values()) {
        other.box.classList.toggle("near", other === node || (node !== undefined && node.near.has(other.name)));
        other.box.classList.toggle("chosen", other === node);
        other.box.setAttribute("aria-pressed", String(other === node));
      }
      picture.classList.toggle("choosing", node !== undefined);
      if (node) current(node);
      tools.alone.disabled = !node;
      const more = graph.hidden ? "" : `, ${view.blanket(name).size} in its blanket`;
      say(node ? `${name}: ${node.near.size} joined${more}` : "");
      setAlone(view.alone && node !== undefined);
    };
    const chosenByHand = (name) => {
      view.choose(name);
      view.onChoose(view.chosen);
    };
    // Moves the nodes of a blanket together, with edges that are drawn anew; without nodes, all go home.
    const copies = document.createElementNS(picture.namespaceURI, "g");
    copies.setAttribute("class", "copies");
    const shape = (tag, attributes) => {
      const element = document.createElementNS(picture.namespaceURI, tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    const gather = (kept) => {
      for (const node of nodes.values()) {
        if (node.x !== node.home.x || node.y !== node.home.y) node.box.removeAttribute("transform");
        [node.x, node.y] = [node.home.x, node.home.y];
      }
      copies.replaceChildren();
      for (const edge of edges) edge.copy = null;
      picture.classList.toggle("gathered", kept !== null);
      if (kept === null) return;
      const { places, height: high } = packed([...kept].map((name) => nodes.get(name)));
      for (const [node, [x, y]] of places) {
        [node.x, node.y] = [fullWidth / 2 + x, (fullHeight - high) / 2 + y];
        node.box.setAttribute("transform", `translate(${node.x - node.home.x} ${node.y - node.home.y})`);
      }
      for (const edge of edges) {
        if (!kept.has(edge.tail) || !kept.has(edge.head)) continue;
        const line = edge.group.querySelector("path");
        const { d, ends } = joining(nodes.get(edge.tail), nodes.get(edge.head));
        edge.copy = shape("g", { class: edge.group.classList.contains("weak") ? "weak" : "" });
        const stroke = line.getAttribute("stroke");
        const drawn = shape("path", { d, fill: "none", stroke, "stroke-width": line.getAttribute("stroke-width") });
        if (line.hasAttribute("stroke-dasharray")) drawn.setAttribute("stroke-dasharray", line.getAttribute("stroke-dasharray"));
        edge.copy.append(drawn);
        [edge.sign[0], edge.sign.at(-1)].forEach((mark, at) => {
          const [x, y, across, down] = ends[at];
          if (mark === "<" || mark === ">") edge.copy.append(shape("path", { d: arrow(ends[at]), fill: stroke }));
          if (mark === "o") edge.copy.append(shape("circle", { cx: x - 5 * across, cy: y - 5 * down, r: 4.2, stroke, fill: "#ffffff" }));
        });
        edge.copy.append(edge.group.querySelector("title").cloneNode(true));
        copies.append(edge.copy);
      }
    };
    // Shows only the chosen node and its blanket, as large as they can be.
    const setAlone = (alone) => {
      const was = view.alone;
      view.alone = alone && view.chosen !== null;
      const kept = view.alone ? view.blanket(view.chosen).add(view.chosen) : null;
      for (const node of nodes.values()) node.box.classList.toggle("outside", kept !== null && !kept.has(node.name));
      for (const { group, tail, head } of edges) group.classList.toggle("outside", kept !== null && !(kept.has(tail) && kept.has(head)));
      picture.classList.toggle("alone", view.alone);
      tools.alone.setAttribute("aria-pressed", String(view.alone));
      if (!width) return;
      if (view.alone) {
        const members = [...kept].map((name) => nodes.get(name));
        const across = Math.max(...members.map((node) => node.home.x)) - Math.min(...members.map((node) => node.home.x));
        const down = Math.max(...members.map((node) => node.home.y)) - Math.min(...members.map((node) => node.home.y));
        gather(Math.min(width / (across + 150), height / (down + 90)) < READABLE / LETTER ? kept : null);
        const low = [Math.min(...members.map((node) => node.x - node.width / 2)), Math.min(...members.map((node) => node.y - node.height / 2))];
        const high = [Math.max(...members.map((node) => node.x + node.width / 2)), Math.max(...members.map((node) => node.y + node.height / 2))];
        fit(low[0] - 30, low[1] - 30, high[0] - low[0] + 60, high[1] - low[1] + 60);
      } else if (was) {
        gather(null);
        fit();
      } else label();
    };
    view.showAlone = setAlone;
    // Hides edges whose strength is below a limit.
    view.setLeast = (least) => {
      for (const { group, copy, strength } of edges) {
        group.classList.toggle("weak", strength < least);
        if (copy) copy.classList.toggle("weak", strength < least);
      }
    };

    // ---- moving to a node
    let standing = null; // the node that the Tab key reaches
    const current = (node) => {
      if (standing) standing.box.tabIndex = -1;
      standing = node;
      node.box.tabIndex = 0;
    };
    const reveal = (node, closer = false) => {
      if (closer) scaled(Math.max(scale, 1));
      const [x, y] = [(node.x - left) * scale, (node.y - top) * scale];
      if (closer || x < 40 || y < 30 || x > width - 40 || y > height - 30) {
        [left, top] = [node.x - width / scale / 2, node.y - height / scale / 2];
      }
      show();
      label();
    };
    const goTo = (node) => {
      current(node);
      reveal(node);
      node.box.focus({ preventScroll: true });
    };
    // The nearest node in a direction: one that is joined if there is any, else any.
    const beside = (node, across, down) => {
      const ahead = [...nodes.values()].filter((other) => {
        if (other === node || other.box.classList.contains("outside")) return false;
        const along = (other.x - node.x) * across + (other.y - node.y) * down;
        const aside = Math.abs((other.x - node.x) * down) + Math.abs((other.y - node.y) * across);
        return along > 1 && (along >= aside || node.near.has(other.name));
      });
      const joined = ahead.filter((other) => node.near.has(other.name));
      const distance = (other) => Math.hypot(other.x - node.x, other.y - node.y);
      return (joined.length ? joined : ahead).sort((one, other) => distance(one) - distance(other))[0];
    };
    const find = (words) => {
      const wanted = words.trim().toLowerCase();
      const names = [...nodes.keys()];
      return wanted && (nodes.has(words) ? words : names.find((name) => name.toLowerCase() === wanted) ??
        names.find((name) => name.toLowerCase().startsWith(wanted)) ?? names.find((name) => name.toLowerCase().includes(wanted)));
    };
    view.find = (words, { focus = false } = {}) => {
      const name = find(words);
      if (!name) {
        say(words.trim() ? `no variable has “${words.trim()}” in its name` : "");
        return null;
      }
      chosenByHand(name);
      if (!view.alone) reveal(nodes.get(name), true);
      if (focus) nodes.get(name).box.focus({ preventScroll: true });
      return name;
    };

    // ---- the tools above the picture
    mounted += 1;
    const listed = `dagora-names-${mounted}`;
    const tools = {
      out: made("button", { type: "button", textContent: "−", title: "zoom out (−)" }),
      in: made("button", { type: "button", textContent: "+", title: "zoom in (+)" }),
      fit: made("button", { type: "button", textContent: "fit", title: "show the whole graph (0)" }),
      search: made("input", { type: "search", className: "find", placeholder: "find a variable", autocomplete: "off" }),
      alone: made("button", { type: "button", className: "alone", disabled: true, textContent: graph.hidden ? "only its neighbours" : "only its blanket" }),
      said: made("output", { className: "said" }),
    };
    for (const button of [tools.out, tools.in, tools.fit]) button.setAttribute("aria-label", button.title);
    tools.alone.title = graph.hidden ? "show the chosen variable and what it is joined with" : "show the chosen variable and its Markov blanket: given these, it is independent of all others";
    tools.alone.setAttribute("aria-pressed", "false");
    tools.search.setAttribute("list", listed);
    tools.search.setAttribute("aria-label", "find a variable");
    const names = made("datalist", { id: listed }, ...[...nodes.keys()].map((name) => made("option", { value: name })));
    const bar = made("div", { className: "graph-tools" }, tools.out, tools.in, tools.fit, tools.search, names, tools.alone, tools.said);
    for (const old of canvas.querySelectorAll(":scope > .graph-tools")) old.remove();
    canvas.prepend(bar);
    canvas.classList.add("live");
    const say = (words) => { tools.said.textContent = words; };
    tools.out.addEventListener("click", () => zoom(1 / 1.4));
    tools.in.addEventListener("click", () => zoom(1.4));
    tools.fit.addEventListener("click", () => (view.alone ? setAlone(true) : fit()));
    tools.alone.addEventListener("click", () => setAlone(!view.alone));
    tools.search.addEventListener("input", () => { if (nodes.has(tools.search.value)) view.find(tools.search.value); });
    tools.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") view.find(tools.search.value, { focus: true });
      if (event.key === "Escape") chosenByHand(null);
    });

    // ---- wheel, drag, pinch and click
    const inside = (event) => {
      const edge = picture.getBoundingClientRect();
      return [event.clientX - edge.left, event.clientY - edge.top];
    };
    picture.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !picture.contains(document.activeElement)) return; // the page scrolls
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0018)), ...inside(event));
    }, { passive: false });
    const fingers = new Map();
    let moved = false;
    const spread = () => {
      const [[x, y], [u, v]] = [...fingers.values()];
      return { far: Math.hypot(x - u, y - v), x: (x + u) / 2, y: (y + v) / 2 };
    };
    picture.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (!fingers.size) moved = false;
      fingers.set(event.pointerId, inside(event));
    });
    picture.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const after = inside(event);
      if (fingers.size === 1) {
        if (!moved && Math.hypot(after[0] - before[0], after[1] - before[1]) < 5) return;
        if (!moved) picture.setPointerCapture(event.pointerId);
        moved = true;
        pan(before[0] - after[0], before[1] - after[1]);
        fingers.set(event.pointerId, after);
      } else if (fingers.size === 2) {
        const start = spread();
        fingers.set(event.pointerId, after);
        const end = spread();
        moved = true;
        pan(start.x - end.x, start.y - end.y);
        if (start.far) zoom(end.far / start.far, end.x, end.y);
      }
    });
    for (const ending of ["pointerup", "pointercancel"]) picture.addEventListener(ending, (event) => fingers.delete(event.pointerId));
    picture.addEventListener("click", (event) => {
      if (moved) {
        moved = false;
        return;
      }
      const box = event.target.closest("g[data-node]");
      if (!box && view.chosen === null) return;
      chosenByHand(box && box.dataset.node !== view.chosen ? box.dataset.node : null);
    });

    // ---- keyboard: arrows move from node to node, or the picture where it is the picture that has the focus
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    picture.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const node = nodes.get(event.target.closest("g[data-node]")?.dataset.node);
      if (event.key in arrows) {
        const next = node && beside(node, ...arrows[event.key]);
        if (next) goTo(next);
        else pan(...arrows[event.key].map((step) => step * 60));
      } else if (event.key === "+" || event.key === "=") zoom(1.4);
      else if (event.key === "-" || event.key === "−") zoom(1 / 1.4);
      else if (event.key === "0") tools.fit.click();
      else if (event.key === "Escape") chosenByHand(null);
      else if (node && (event.key === "Enter" || event.key === " ")) chosenByHand(node.name === view.chosen ? null : node.name);
      else return;
      event.preventDefault();
    });
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", `${picture.querySelector("title")?.textContent ?? "Graph"}. Arrow keys move, plus and minus zoom, 0 shows all.`);
    picture.setAttribute("tabindex", "0");
    for (const node of nodes.values()) {
      node.box.tabIndex = -1;
      node.box.setAttribute("role", "button");
      node.box.setAttribute("aria-pressed", "false");
      const role = node.box.dataset.role ? ` (${node.box.dataset.role})` : "";
      node.box.setAttribute("aria-label", `${node.name}${role}, joined with ${node.near.size}`);
    }
    if (byDegree.length) current(byDegree[0]);
    picture.append(labels);
    picture.insertBefore(copies, [...picture.children].find((child) => child.querySelector("g[data-node]")) ?? labels);

    // ---- the size of the window, and paper, which shows everything
    const watch = new ResizeObserver(resize);
    watch.observe(picture.parentNode);
    const paper = matchMedia("print");
    const onPaper = () => {
      printing = paper.matches;
      if (printing) {
        gather(null);
        picture.setAttribute("viewBox", original);
      } else if (view.alone) setAlone(true);
      else if (width) show();
    };
    paper.addEventListener("change", onPaper);
    view.destroy = () => {
      watch.disconnect();
      paper.removeEventListener("change", onPaper);
    };
    view.fit = () => fit();
    view.zoom = (factor) => zoom(factor);
    resize();
    onPaper();
    return view;
  };
  return { mount };
})();
