// One step of a trained model, phase by phase: what acts is lit, in the picture and in the list of equations.
attnlibCards.define("player", (card, data, guard) => {
  const { make, button, line, dress, fill: keep, write, two, clamp, maxLength, greatest, still, onKey, onWidth, choices, EOS,
    vocabularies, load, forget, whenTouched, question } = attnlibCards;
  const LEAST = 0.005, PACE = 2400, { name, number, numbers } = vocabularies(data);   // milliseconds
  const CELL = 2, ACROSS = 6, LEVELS = 5;   // of a strip: pixels, numbers in a row, strengths of color
  const HIGH = 48, BUNDLE = 16, ROW = { h: 104, e: 122, a: 186, c: 226, s: 270, y: 322 };   // pixels, from the top
  const all = [...data.words, name(EOS)], tried = question(card), done = new Set(), models = data.models;
  const many = all.length > 6;   // words: on a phone they stand in two rows
  const KEYS = "In focus mode, left and right go from phase to phase, up and down from word to word; Space plays";
  const sub = n => [...String(n)].map(digit => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
  const likeliest = p => greatest(p, 1)[0];
  const order = () => models[m].phases.map(({ key }) => key), acts = () => models[m].phases[phase]?.key;
  const shown = made => !made || phase < 0 || order().indexOf(made) <= phase;   // before the first phase all is there
  let m = 0, wanted = 0, t = data.step, phase = -1, timer = 0, W = 400, steps, now, plain, parts;
  const forced = new Map();

  // --- The model's steps, with another word before this one if the reader has put one there ---

  const stateOf = recurrent => recurrent.states ? recurrent.states.at(-1)[0] : recurrent;

  function compute() {
    const { opened, encoded } = models[m], run = words => [...opened.greedy(encoded, maxLength(data.words), undefined, words)];
    steps = run(forced);
    t = clamp(t, 0, steps.length - 1);
    const { before, word, ...step } = steps[t];
    now = { ...step, word, yBefore: before.word, sBefore: stateOf(before.recurrent),
      s: stateOf(opened.step(before).after(word).recurrent) };
    plain = forced.size ? run(new Map())[t] ?? now : now;
  }

  // --- The picture ---

  const x = i => W * (i + 0.5) / all.length, left = 30, right = () => W - 30, middle = () => W / 2;
  const part = (made, lit, ...nodes) => make("g", { class: "at-part", "data-made": made, "data-lit": lit }, ...nodes);
  const wire = (made, lit, ...nodes) => dress(part(made, lit, ...nodes), { class: "at-part at-wire" });

  // Many numbers as a strip: the stronger the color, the greater; what is negative is grey. Pointing at it tells some.
  function strip(numbers, kind, cx, y, label, aside) {
    const levels = new Map(), rows = Math.ceil(numbers.length / ACROSS), width = CELL * ACROSS, height = CELL * rows;
    numbers.forEach((value, n) => {
      const level = Math.sign(value) * Math.min(Math.ceil(LEVELS * Math.abs(value)), LEVELS);
      const cell = `M${CELL * (n % ACROSS)} ${CELL * Math.floor(n / ACROSS)}h${CELL}v${CELL}h-${CELL}z`;
      levels.set(level, (levels.get(level) ?? "") + cell);
    });
    const cells = [...levels].map(([level, d]) =>
      make("path", { d, class: level < 0 ? "at-negative" : "", "fill-opacity": Math.abs(level) / LEVELS }));
    return make("g", { class: `at-${kind}` },
      make("title", {}, `${label}: ${Array.from(numbers.slice(0, ACROSS), two).join("  ")} … (${numbers.length})`),
      make("g", { class: "at-cells", transform: `translate(${cx - width / 2} ${y})` }, ...cells),
      make("rect", { class: "at-frame", x: cx - width / 2, y, width, height }),
      make("text", { class: "at-name", x: cx + (aside ?? 0), y: aside ? y + 20 : y - 5 }, label));
  }

  function flow(kind, ...points) {   // an arrow along a curve through four points
    const [, , [u, v], [px, py]] = points, turn = Math.atan2(py - v, px - u) * 180 / Math.PI;
    const [start, ...rest] = points.map(point => point.join(" "));
    return make("g", { class: `at-${kind}` }, make("path", { class: "at-flow", d: `M${start}C${rest.join(" ")}` }),
      make("path", { class: "at-tip", d: "M-7 -5L2 0L-7 5z", transform: `translate(${px} ${py}) rotate(${turn})` }));
  }

  function build() {
    W = svg.clientWidth || W;
    const { late, encoded: { h } } = models[m], c = middle(), r = right(), queryX = late ? r : left;
    const each = make => all.map((_, i) => make(i));
    parts = { ribbons: make("g"), strips: make("g"), list: make("g"),
      scores: each(i => make("text", { class: many ? "at-small" : "", x: x(i), y: ROW.e })),
      bars: each(i => make("rect", { class: "at-bar", x: x(i) - 15, y: ROW.a - HIGH, width: 30, height: HIGH })),
      were: each(i => make("path", { class: "at-were", d: `M${x(i) - 19} ${ROW.a}h38` })),
      shares: each(i => make("text", { x: x(i), y: ROW.a + 13 })) };
    const bend = ROW.s + (late ? 18 : 46), low = ROW.y + (late ? -14 : -4);
    const moves = [flow("s", [40, ROW.s + 18], [120, bend], [W - 120, bend], [W - 42, ROW.s + 20]),
      flow("y", [84, ROW.y + 18], [150, low], [W - 150, low], [r - 12, ROW.s + 36])];
    if (!late) moves.push(flow("h", [c + 10, ROW.c + 30], [W - 90, ROW.c + 30], [W - 70, ROW.s], [W - 42, ROW.s + 8]));
    const writes = late ? [flow("h", [c, ROW.c + 34], [c, ROW.c + 50], [c, ROW.y - 20], [c, ROW.y - 4]),
      flow("s", [W - 40, ROW.s + 20], [c + 60, ROW.s + 20], [c + 60, ROW.y + 8], [c + 12, ROW.y + 12]),
      flow("s", [c + 10, ROW.y + 22], [c + 40, ROW.y + 22], [W - 140, ROW.y + 22], [W - 122, ROW.y + 22])]
      : [flow("s", [40, ROW.s + 26], [130, ROW.s + 70], [W - 190, ROW.y + 6], [W - 122, ROW.y + 14]),
        flow("h", [c, ROW.c + 68], [c, ROW.y], [c + 30, ROW.y + 8], [W - 122, ROW.y + 10]),
        flow("y", [84, ROW.y + 24], [120, ROW.y + 24], [W - 180, ROW.y + 18], [W - 122, ROW.y + 18])];
    const words = each(i => make("text", { x: x(i), y: top(h[i]) - (many && i % 2 ? 34 : 22) }, all[i]));
    svg.replaceChildren(part("", "query scores context", ...words),
      part("", "scores context", ...each(i => strip(h[i], "h", x(i), top(h[i]), `h${sub(i + 1)}`))),
      wire("query", "query scores", ...each(i => flow("s", [queryX, 268], [queryX, 200], [x(i), 240], [x(i), ROW.e + 8]))),
      part("scores", "scores softmax", ...parts.scores),
      part("softmax", "softmax context", ...parts.bars, ...parts.were, ...parts.shares),
      part("context", "context", parts.ribbons), wire("state", "state", ...moves), wire("word", "word", ...writes), parts.strips,
      part("word", "word", parts.list));
  }

  const top = h => ROW.h - CELL * Math.ceil(h.length / ACROSS);   // of an annotation's tile

  function fill() {
    const { e, alpha, c, p, sBefore, s, sTilde } = now, { late } = models[m], n = sub(t + 1);
    all.forEach((_, i) => {
      parts.scores[i].textContent = many ? e[i].toFixed(1).replace("-", "−") : two(e[i]);
      parts.shares[i].textContent = two(alpha[i]);
      parts.bars[i].style.transform = `scaleY(${shown("softmax") ? alpha[i] : 0})`;
      const moved = Math.abs(plain.alpha[i] - alpha[i]) > LEAST;
      dress(parts.were[i], { transform: `translate(0 ${-HIGH * plain.alpha[i]})`,
        visibility: moved ? undefined : "hidden" });
    });
    let offset = -BUNDLE / 2;
    parts.ribbons.replaceChildren(...all.flatMap((_, i) => {
      const thick = BUNDLE * alpha[i], to = middle() + offset + thick / 2;
      offset += thick;
      return alpha[i] < LEAST ? [] : [make("path", { class: "at-ribbon", "stroke-width": thick,
        d: `M${x(i)} ${ROW.a + 17}C${x(i)} ${ROW.c - 8} ${to} ${ROW.a + 22} ${to} ${ROW.c - 1}` })];
    }));
    parts.strips.replaceChildren(
      part("", late ? "state" : "query word state", strip(sBefore, "s", left, ROW.s, `s${sub(t)}`)),
      part("state", late ? "query word state" : "state", strip(s, "s", right(), ROW.s, `s${n}`)),
      part("context", late ? "context word" : "context word state", strip(c, "h", middle(), ROW.c, `c${n}`, -22)),
      ...(sTilde ? [part("word", "word", strip(sTilde, "s", middle(), ROW.y, `s̃${n}`, -22))] : []));
    parts.list.replaceChildren(...greatest(p, 3).flatMap((word, k) => {
      const y = ROW.y + 22 * k;
      return [make("rect", { class: "at-likely", x: W - 116, y, width: 116 * p[word], height: 20, rx: 4 }),
        make("text", { x: W - 112, y: y + 15, class: "at-start", "font-weight": k ? 400 : 700 }, name(word)),
        make("text", { x: W - 2, y: y + 15, class: "at-end" }, two(p[word]))];
    }));
  }

  function light() {
    const key = acts();
    for (const node of svg.querySelectorAll(".at-part")) {
      node.classList.toggle("at-made", shown(node.dataset.made));
      node.classList.toggle("at-lit",
        shown(node.dataset.made) && (key ? node.dataset.lit.split(" ").includes(key) : !node.matches(".at-wire")));
    }
    if (key === "context") models[m].encoded.h.forEach((h, i) =>
      fly(strip(h, "h", x(i), top(h), ""), [middle() - x(i), ROW.c - top(h)], Math.max(now.alpha[i], 0.02)));
  }

  function fly(copy, [dx, dy], opacity = 1) {   // a vector goes where it is used
    if (still()) return;
    svg.append(copy);
    copy.animate([{ opacity: 0.9 }, { opacity, transform: `translate(${dx}px, ${dy}px)` }],
      { duration: 900, easing: "ease-in-out" }).finished.finally(() => copy.remove());
  }

  // --- The list of phases, in the order of the model ---

  function drawPhases() {
    const places = () => new Map([...list.children].map(item =>
      [item.dataset.key, item.firstChild.getBoundingClientRect()]));
    const were = places();
    list.replaceChildren(...models[m].phases.map(({ key, title, equations, number }, n) => {
      const formula = make("div", { class: "at-equation" }), begun = `${n + 1}. `;
      formula.innerHTML = equations.map(tex => data.equations[tex]).join(" ");   // ours, from the package
      formula.prepend(make("span", { class: "at-number" }, `(${number})`));
      const press = button(begun, { tabindex: -1, onclick: () => act(() => go(n)) });
      press.append(make("span", { class: "at-long" }, title), make("span", { class: "at-short" }, key));
      return make("li", { "data-key": key }, press, make("div", { class: "at-more" },
        make("b", { class: "at-title" }, begun + title), formula, make("div", { class: "at-said" })));
    }));
    if (were.size && !still()) for (const [key, { left, top }] of places()) {   // what has another place now goes there
      const move = [{ transform: `translate(${were.get(key).left - left}px, ${were.get(key).top - top}px)` }, {}];
      for (const node of list.querySelector(`[data-key=${key}]`).children)
        node.animate(move, { duration: 800, easing: "ease-in-out" });
    }
  }

  // What a phase does, in numbers.
  function told(key) {
    const { alpha, e, yBefore, word, p } = now, { late } = models[m], n = sub(t + 1), i = likeliest(alpha);
    const old = sub(t), y = name(yBefore), put = name([...forced.values()].at(-1));
    const sum = [...alpha].flatMap((weight, i) => weight < LEAST ? [] : [`${two(weight)} h${sub(i + 1)}`]).join(" + ");
    const same = plain.alpha.every((weight, i) => Math.abs(weight - alpha[i]) < 1e-9);
    const changed = !forced.size ? "" : same ? ` As they were: the query has not read ${y}.`
      : ` Not as they were (dotted): the state has read ${put}.`;
    return { query: late ? `s${n} has read ${y}.` : `s${old} has not read ${y} yet.`,
      scores: `The greatest: ${two(e[i])}, of ${all[i]}.`,
      softmax: `exp(${two(e[i])}) over the sum of all ${all.length} is ${two(alpha[i])} for ${all[i]}.${changed}`,
      context: `c${n} = ${sum}`, word: `${name(word)}, with ${two(p[word])}.`,
      state: late ? `s${n} has read ${y}. (This model does not feed s̃ back.)`
        : `s${n} has read ${y}; it is the query of the next step.` }[key];
  }

  function draw(announce) {
    compute();
    fill();
    light();
    [...list.children].forEach((item, n) => {
      item.classList.toggle("at-now", n === phase);
      item.querySelector(".at-said").textContent = told(item.dataset.key);
      dress(item.firstChild, { "aria-current": n === phase ? "step" : undefined });
    });
    const usual = t ? greatest(steps[t - 1].p, 2) : [], suggested = t === data.step ? data.previous.map(number) : [];
    keep(select, ...[...new Set([...usual, ...suggested, now.yBefore])].map(word =>
      make("option", { value: word }, name(word))));
    select.value = now.yBefore;
    dress(select.parentNode, { style: t ? undefined : "visibility: hidden" });
    select.classList.toggle("at-yours", forced.has(t - 1));
    drawWritten(steps.map(({ word }) => name(word)));
    if (announce) say();
  }

  function say() {   // the phase, and what is to do once the other word has been put in one of the models
    const seen = data.previous.includes(name(forced.get(t - 1))) && t === data.step && shown("softmax");
    if (seen) done.add(m);
    const rest = done.size && models.find((_, n) => !done.has(n));
    write(verdict, rest ? `Now the same in the model of ${rest.title}.` : "");
    const { title, number } = models[m].phases[phase] ?? {};
    const numbers = timer ? "" : ` Equation ${number}. ${told(acts())}`;   // there is no time for them in play
    const acted = title ? `Phase ${phase + 1} of ${order().length}. ${title}.${numbers}` : "";
    write(status, `${seen ? verdict.textContent : ""} ${acted}`.trim());
    if (done.size === models.length) tried(data.right);
  }

  function drawWritten(words) {
    const held = written.contains(document.activeElement);
    if (!held) written.replaceChildren();   // a screen reader would follow the selection
    words.forEach((word, n) => write(dress(written.children[n] ?? written.appendChild(make("span",
      { role: "option", lang: "fr", onclick: () => act(() => choose(n)) })),
      { tabindex: n === t ? 0 : -1, class: n < t ? "at-past" : "", "aria-selected": n === t }), word));
    if (held) written.children[t].focus();
  }

  // --- Going from phase to phase, and from word to word ---

  function go(to) {
    phase = clamp(to, -1, order().length - 1);
    draw(true);
  }

  function choose(to, at = phase) {
    if (to === t + 1 && to < steps.length) fly(strip(now.s, "s", right(), ROW.s, ""), [left - right(), 0]);
    t = clamp(to, 0, steps.length - 1);
    go(at);
  }

  function pause() {
    timer = clearInterval(timer);
    dress(play, { "aria-label": "Play" }).textContent = "▶ Play";
  }

  function next() {
    if (phase < order().length - 1) go(phase + 1);
    else if (t + 1 < steps.length) choose(t + 1, 0);
    else pause();
  }

  function run() {
    if (timer) {
      pause();
      return go(phase);
    }
    dress(play, { "aria-label": "Pause" }).textContent = "❚❚ Pause";
    timer = setInterval(guard(next), PACE);
    if (phase === order().length - 1 && t + 1 === steps.length) [t, phase] = [0, -1];
    next();
  }

  async function act(what, keepsPlaying) {   // when the model is there; what the reader does stops the play
    if (!keepsPlaying) pause();
    try {
      if (!parts || m !== wanted) await open();
    } catch (error) {
      wanted = m;
      switches.querySelectorAll("input")[m].checked = true;
      throw error;
    }
    forget(card);
    what();
  }

  async function open() {
    const which = wanted, model = models[which];
    model.opened ??= await load(card, model.digest);
    model.encoded ??= model.opened.encode([...data.words.map(word => numbers.get(word)), EOS]);
    if (which !== wanted) return open();   // the reader has changed sides meanwhile
    const acted = acts();
    m = which;
    phase = order().indexOf(acted);   // the same phase, wherever it stands here
    drawPhases();
    picture.replaceWith(svg);
    build();
    draw(true);
  }

  function put() {
    const word = Number(select.value), usual = likeliest(steps[t - 1].p);
    for (const k of forced.keys()) if (k >= t - 1) forced.delete(k);
    if (word !== usual) forced.set(t - 1, word);
    go(order().indexOf("softmax"));
  }

  // --- Beginning: until a model is open a table of its weights stands in the scene ---

  const svg = make("svg", { "aria-hidden": "true" }), picture = card.querySelector(".at-still .at-scroll");
  const select = make("select", { lang: "fr", onchange: () => act(put) });
  const list = make("ol", { class: "at-phases", "aria-label": "The phases of the step, in this model's order" });
  const written = make("div", { class: "at-written", role: "listbox", "aria-label": "The translation: choose a step" });
  const verdict = make("p", { class: "at-told" }), status = make("p", { role: "status", class: "at-aloud" });
  const play = button("▶ Play", { onclick: () => act(run, true), "aria-label": "Play" });
  const buttons = [button("◀", { onclick: () => act(() => go(phase - 1)), "aria-label": "back one phase" }), play,
    button("▶|", { onclick: () => act(next), "aria-label": "on one phase" })];
  const switches = choices("model", models.map(({ title }) => title), n => {
    wanted = n;
    return act(() => {});
  });
  const player = make("div", { class: "at-player", tabindex: 0, role: "group", "aria-label": "The step",
    "aria-description": KEYS },
    make("div", { class: "at-scene" }, picture,
      make("label", { class: "at-before", style: "visibility: hidden" }, "word before ", select)),
    list, written, make("p", { class: "at-key" }, data.key));
  switches.hidden = models.length < 2;
  card.querySelector(".at-still").replaceWith(make("div", {},
    dress(line(switches, line(...buttons)), { class: "at-line at-ends" }), verdict, player, status));
  drawPhases();
  drawWritten(data.written);
  dress(card, { onkeydown: event => {
    const { tagName } = event.target, then = what => () => act(what);
    return !/INPUT|SELECT|SUMMARY/.test(tagName) && onKey(event, { ArrowRight: then(() => go(phase + 1)),
      ArrowLeft: then(() => go(phase - 1)), ArrowDown: then(() => choose(t + 1)), ArrowUp: then(() => choose(t - 1)),
      Home: then(() => go(0)), End: then(() => go(order().length - 1)),
      " ": tagName !== "BUTTON" && (() => act(run, true)) });
  } });
  whenTouched(card, () => act(() => {}));
  onWidth(player, () => parts && (build(), draw()));
});
