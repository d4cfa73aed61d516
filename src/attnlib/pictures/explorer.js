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
    const words = one(".attnlib-target"), said = one("[role=status]"), slider = one("input");
    const [variants, steps] = all(".attnlib-controls [role=group]");
    const names = [...new Set(data.settings.map(setting => setting.name))];
    let setting = data.settings[0], chosen = -1;   // the word that stays chosen; -1: all words
    const width = Number(svg.getAttribute("width")) - right;

    const title = () => setting.name + (setting.D ? ", D = " + setting.D : "");
    const listed = () => data.settings.filter(other => other.name === setting.name);

    // What the setting shows of all words: the lines, the target words, the table, the controls.
    function draw() {
      const middle = (left + right) / 2;
      const line = (t, i, weight) => svgNode("path", {
        d: `M${left + 6} ${y(i)}C${middle} ${y(i)} ${middle} ${y(t)} ${right - 6} ${y(t)}`,
        "stroke-width": weight / 1000 });
      links.replaceChildren(...setting.weights.map((row, t) => svgNode("g", {}, "",
        row.flatMap((weight, i) => weight < data.thin ? [] : [line(t, i, weight)]))));
      words.replaceChildren(...setting.target.map((word, t) => svgNode("g", { role: "option", "aria-label": word,
        "data-lm-suppress-shortcuts": true }, "", [
        svgNode("rect", { x: right - 4, y: y(t) - 12, width, height: 24, rx: 4 }),
        svgNode("text", { x: right, y: y(t) + 5 }, word)])));
      [...words.children].forEach((word, t) => {
        word.addEventListener("pointerenter", () => light(t));
        word.addEventListener("click", () => choose(t, true));
        word.addEventListener("focus", () => choose(t));
      });
      const named = ["p", "sum"].slice(setting.D ? 0 : 2);
      svg.setAttribute("aria-label", title());
      one("caption").textContent = `${title()}: ${data.down} down, ${data.across} across`;
      one("thead tr").replaceChildren(...[data.down, ...source, ...named].map(name => cell("th", name, "col")));
      one("tbody").replaceChildren(...setting.weights.map((row, t) => {
        const line = document.createElement("tr");
        line.append(cell("th", setting.target[t], "row"), ...row.map(weight => cell("td", share(weight))));
        if (setting.D) line.append(cell("td", two(setting.p[t])), cell("td", share(row.reduce((a, b) => a + b))));
        return line;
      }));
      [...variants.children].forEach((button, n) => button.setAttribute("aria-pressed", names[n] === setting.name));
      const others = listed();
      slider.parentNode.hidden = others.length < 2;
      slider.max = others.length - 1;
      slider.value = others.indexOf(setting);
      slider.setAttribute("aria-valuetext", setting.D);
      one("label b").textContent = setting.D;
      choose(Math.min(chosen, setting.target.length - 1));
    }

    // The window, the Gaussian and the centre, cut off at the sentence's ends.
    function near(t) {
      const p = setting.p[t], D = setting.D, ends = [-0.5, source.length - 0.5];
      const inside = n => Math.min(Math.max(n, ends[0]), ends[1]), from = inside(p - D), to = inside(p + D);
      const parts = [svgNode("rect", { class: "attnlib-window", x: 16, y: y(from), width: left - 12,
        height: pitch * (to - from) })];
      if (setting.gaussian) {
        const at = n => `L${(base - 48 * Math.exp(-2 * ((n - p) / D) ** 2)).toFixed(1)} ${y(n).toFixed(1)}`;
        const path = Array.from({ length: 41 }, (_, n) => at(from + (to - from) * n / 40)).join("");
        parts.push(svgNode("path", { class: "attnlib-gaussian", d: `M${base} ${y(from)}${path}L${base} ${y(to)}Z` }));
      }
      parts.push(svgNode("line", { class: "attnlib-centre", x1: 16, x2: left + 4, y1: y(inside(p)), y2: y(inside(p)) }),
        svgNode("text", { class: "attnlib-p", x: 4, y: y(inside(p)) + 4 }, "p"));
      return parts;
    }

    // What a word looks at, in words.
    function tell(t) {
      const row = setting.weights[t], total = row.reduce((a, b) => a + b);
      const order = row.map((_, i) => i).sort((a, b) => row[b] - row[a] || a - b);
      const heavy = order.filter((i, n) => n === 0 || row[i] >= 500);
      const rest = total - heavy.reduce((sum, i) => sum + row[i], 0);
      const parts = heavy.map(i => `${source[i]} ${share(row[i])}`);
      if (rest > 0) parts.push(`all others ${share(rest)}`);
      let text = `Word ${t + 1} of ${setting.target.length}, “${setting.target[t]}”, looks at ${parts.join(", ")}.`;
      if (Math.abs(total - 10000) > 50) text += ` The weights sum to ${share(total)}.`;
      if (setting.D) {
        const seen = source.filter((_, i) => Math.abs(i - setting.p[t]) <= setting.D);
        text += ` The centre p is ${two(setting.p[t])}, counted from 0; with D = ${setting.D} the window holds `
          + (seen.length > 1 ? `“${seen[0]}” to “${seen[seen.length - 1]}”.` : seen.length ? `“${seen[0]}”.` : "no word.");
      }
      return text;
    }

    // Light up one word, or none, without choosing it.
    function light(t) {
      svg.classList.toggle("attnlib-lit", t >= 0);
      const on = t < 0 ? [] : setting.weights[t];
      [...links.children].forEach((group, n) => group.classList.toggle("on", n === t));
      [...words.children].forEach((word, n) => {
        word.setAttribute("aria-selected", n === t);
        word.classList.toggle("later", t >= 0 && n > t);
      });
      behind.replaceChildren(...(t >= 0 && setting.D ? near(t) : []), ...on.flatMap((weight, i) => [
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

    const last = () => setting.target.length - 1;
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
    [...variants.children].forEach((button, n) => button.addEventListener("click", () => {
      const others = data.settings.filter(other => other.name === names[n]);
      setting = others.find(other => other.D === setting.D) || others[0];
      draw();
    }));
    slider.addEventListener("input", () => {
      setting = listed()[slider.value];
      chosen = Math.max(chosen, 0);
      draw();
    });

    svg.setAttribute("role", "group");
    svg.querySelectorAll("title, desc").forEach(node => node.remove());
    words.setAttribute("role", "listbox");
    words.setAttribute("aria-label", data.down + " words");
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
