// Makes explorers of the plain pictures. It finds every card that no copy of it has found before.
(() => {
  const svgNode = (name, attributes, text = "", children = []) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    node.textContent = text;
    node.append(...children);
    return node;
  };
  const cell = (name, text, scope) => {
    const node = document.createElement(name);
    node.textContent = text;
    if (scope) node.scope = scope;
    return node;
  };
  const two = number => (Math.floor(100 * number + 0.5) / 100).toFixed(2);   // as Python does it: a half goes up
  const share = weight => two(weight / 10000);

  function start(card) {
    const one = where => card.querySelector(where), all = where => [...card.querySelectorAll(where)];
    const data = JSON.parse(one("script").textContent), source = data.source;
    const [base, value, left, right] = data.x, [top, pitch] = data.y, y = n => top + pitch * n;
    const svg = one("svg"), links = one(".attnlib-links"), behind = one(".attnlib-behind");
    const words = one(".attnlib-target"), said = one("[role=status]");
    const [buttons, steps] = all(".attnlib-controls [role=group]");
    let variant = data.variants[0], chosen = -1;   // the word that stays chosen; -1: all words
    const width = Number(svg.getAttribute("width")) - right;

    // What the variant shows of all words: the lines, the target words, the table, the buttons.
    function draw() {
      const middle = (left + right) / 2;
      const line = (t, i, weight) => svgNode("path", {
        d: `M${left + 6} ${y(i)}C${middle} ${y(i)} ${middle} ${y(t)} ${right - 6} ${y(t)}`,
        "stroke-width": weight / 1000 });
      links.replaceChildren(...variant.weights.map((row, t) => svgNode("g", {}, "",
        row.flatMap((weight, i) => weight < data.thin ? [] : [line(t, i, weight)]))));
      words.replaceChildren(...variant.target.map((word, t) => svgNode("g", { role: "option", "aria-label": word,
        "data-lm-suppress-shortcuts": true }, "", [
        svgNode("rect", { x: right - 4, y: y(t) - 12, width, height: 24, rx: 4 }),
        svgNode("text", { x: right, y: y(t) + 5 }, word)])));
      [...words.children].forEach((word, t) => {
        word.addEventListener("pointerenter", () => light(t));
        word.addEventListener("click", () => choose(t, true));
        word.addEventListener("focus", () => choose(t));
      });
      svg.setAttribute("aria-label", variant.name);
      one("caption").textContent = `${variant.name}: target down, source across`;
      one("tbody").replaceChildren(...variant.weights.map((row, t) => {
        const line = document.createElement("tr");
        line.append(cell("th", variant.target[t], "row"), ...row.map(weight => cell("td", share(weight))));
        return line;
      }));
      [...buttons.children].forEach((button, n) => button.setAttribute("aria-pressed", data.variants[n] === variant));
      choose(Math.min(chosen, variant.target.length - 1));
    }

    // What a word looks at, in words.
    function tell(t) {
      const row = variant.weights[t], total = row.reduce((a, b) => a + b);
      const order = row.map((_, i) => i).sort((a, b) => row[b] - row[a] || a - b);
      const heavy = order.filter((i, n) => n === 0 || row[i] >= 500);
      const rest = total - heavy.reduce((sum, i) => sum + row[i], 0);
      const parts = heavy.map(i => `${source[i]} ${share(row[i])}`);
      if (rest > 0) parts.push(`all others ${share(rest)}`);
      let text = `Word ${t + 1} of ${variant.target.length}, “${variant.target[t]}”, looks at ${parts.join(", ")}.`;
      if (Math.abs(total - 10000) > 50) text += ` The weights sum to ${share(total)}.`;
      return text;
    }

    // Light up one word, or none, without choosing it.
    function light(t) {
      svg.classList.toggle("attnlib-lit", t >= 0);
      const on = t < 0 ? [] : variant.weights[t];
      [...links.children].forEach((group, n) => group.classList.toggle("on", n === t));
      [...words.children].forEach((word, n) => {
        word.setAttribute("aria-selected", n === t);
        word.classList.toggle("later", t >= 0 && n > t);
      });
      behind.replaceChildren(...on.flatMap((weight, i) => [
        svgNode("rect", { class: "attnlib-bar", x: base - 48 * weight / 10000, y: y(i) - 5, width: 48 * weight / 10000,
          height: 10 }),
        svgNode("text", { class: weight < 50 ? "muted" : "", x: value, y: y(i) + 5, "text-anchor": "end" },
          weight ? share(weight) : "0")]));
      const text = t < 0 ? "Choose a word on the right, or step through them with arrow keys or buttons." : tell(t);
      if (said.textContent !== text) said.textContent = text;
    }

    function choose(t, focus = false) {
      chosen = t;
      [...words.children].forEach((word, n) => word.setAttribute("tabindex", n === Math.max(t, 0) ? 0 : -1));
      if (focus && document.activeElement !== words.children[t]) words.children[t].focus();
      light(t);
    }

    const last = () => variant.target.length - 1;
    const next = () => Math.min(chosen + 1, last()), previous = () => chosen < 0 ? last() : Math.max(chosen - 1, 0);
    words.addEventListener("keydown", event => {
      const to = { ArrowDown: next, ArrowRight: next, ArrowUp: previous, ArrowLeft: previous, Home: () => 0, End: last };
      if (event.key === "Escape") choose(-1);
      else if (to[event.key]) choose(to[event.key](), true);
      else return;
      event.preventDefault();
      event.stopPropagation();   // JupyterLab's own keys
    });
    svg.addEventListener("pointerleave", () => light(chosen));
    [previous, next, () => -1].forEach((to, n) => steps.children[n].addEventListener("click", () => choose(to())));
    [...buttons.children].forEach((button, n) => button.addEventListener("click", () => {
      variant = data.variants[n];
      draw();
    }));

    svg.setAttribute("role", "group");
    svg.querySelectorAll("title, desc").forEach(node => node.remove());
    words.setAttribute("role", "listbox");
    words.setAttribute("aria-label", "target words");
    words.setAttribute("aria-orientation", "vertical");
    all(".attnlib-shown").forEach(node => { node.hidden = true; });
    one(".attnlib-picture").removeAttribute("tabindex");
    one(".attnlib-controls").hidden = false;
    draw();
  }

  for (const card of document.querySelectorAll(".attnlib-explorer:not([data-ready])")) {
    card.dataset.ready = "";
    start(card);
  }
})();
