"use strict";
// A picture of a graph that can be explored. The one global, DagoraGraph, is mounted on any element that holds
// an SVG with g[data-node] and g[data-tail][data-head] (optional: data-strength); nothing is fetched.
globalThis.DagoraGraph = (() => {
  const views = new WeakMap(); // element → its view, so that mounting twice does no harm

  // Mounts a view on an element; a second call on the same picture gives the view that is there.
  // onChoose(name) is called when a person chooses a node, with null when none is chosen any more.
  const mount = (canvas, { onChoose = () => {} } = {}) => {
    const picture = canvas.querySelector("svg");
    const known = views.get(canvas);
    if (known && known.picture === picture) {
      known.onChoose = onChoose;
      return known;
    }
    const nodes = [...picture.querySelectorAll("g[data-node]")];
    const edges = [...picture.querySelectorAll("g[data-tail]")];
    const view = { picture, onChoose, chosen: null };
    views.set(canvas, view);

    // Highlights a node and its neighbours and fades the rest; null shows everything again.
    view.choose = (name) => {
      const near = new Set([name]);
      for (const edge of edges) {
        const { tail, head } = edge.dataset;
        const touches = tail === name || head === name;
        edge.classList.toggle("near", touches);
        if (touches) near.add(tail).add(head);
      }
      for (const node of nodes) {
        node.classList.toggle("near", near.has(node.dataset.node));
        node.classList.toggle("chosen", node.dataset.node === name);
      }
      view.chosen = nodes.some((node) => node.dataset.node === name) ? name : null;
      picture.classList.toggle("choosing", view.chosen !== null);
    };

    // Hides edges whose strength is below a limit.
    view.setLeast = (least) => {
      for (const edge of edges) {
        edge.classList.toggle("weak", "strength" in edge.dataset && Number(edge.dataset.strength) < least);
      }
    };

    picture.addEventListener("click", (event) => {
      const node = event.target.closest("g[data-node]");
      view.choose(node && node.dataset.node !== view.chosen ? node.dataset.node : null);
      view.onChoose(view.chosen);
    });
    return view;
  };
  return { mount };
})();
