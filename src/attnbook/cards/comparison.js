// The comparison: a reader writes a sentence, or lets one grow, and chooses a French word; all models translate it.
attnlibCards.define("comparison", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, greatest, still, pressed, EOS, vocabularies, writing,
    inSlices, load, match, whenTouched, sayAtRest, question } = attnlibCards;
  const PATIENCE = 40, PAUSE = 1300, MOST = 60;   // milliseconds: of work, between clauses; words
  const all = (path, node = card) => [...node.querySelectorAll(path)];
  const find = (path, node = card) => node.querySelector(path);
  const { read, turned } = window.attnlibFrench(data.grammar), tried = question(card), known = new Map();
  const { name, numbers } = vocabularies(data), { models, sentences } = data;
  const list = ({ steps }) => steps.map(({ word }) => word);
  const rows = all(".at-row"), panels = all(".at-panel"), longest = () => sentences[family].length;
  let words = [], right, family = 0, length = data.length, drawn = true, playing = false;
  let chosen = { m: 0, t: data.step };

  // --- Translating, in slices of time between which the page is free ---
  function* translation() {
    const ids = [...words.map(word => numbers.get(word)), EOS], ready = [];
    let last = -Infinity;   // drawing costs more than translating
    for (const [m, model] of models.entries()) {
      const steps = [], found = model.opened.greedy(model.opened.encode(ids), ids.length + 8);
      for (const { word, alpha } of found) yield steps.push({ word: name(word), alpha });
      Object.assign(model, { steps, of: words });
      ready.push(m);
      if (performance.now() - last < 3 * PATIENCE) continue;
      ready.splice(0).forEach(drawPanel);
      last = performance.now();
    }
    ready.forEach(drawPanel);
    drawRows();
    sayAtRest(status, models.map(({ title, told }) => `${title}: ${told}`).join("; "), 900);
    if (drawn && length === longest() && data.question !== null) tried(data.question);
    if (playing && length < longest()) playing = setTimeout(guard(more), PAUSE);
    else play(false);
  }

  function translate(sentence, grown) {
    const { french, groups, clauses } = read(sentence), movable = groups?.filter(({ there, second }) => there || second);
    [words, right, drawn] = [sentence, french, grown];
    write(find(".at-right"), "");
    find(".at-right").append(...french ? ["Right: ", make("span", { lang: "fr" }, french.join(" "))]
      : ["This is no whole sentence of the grammar, so no word is marked."]);
    dress(order, { disabled: movable?.length ? undefined : "" });
    write(moved, movable?.length ? `${movable.filter(({ front }) => front).length} of ${movable.length}` : "there is none");
    write(count, clauses ? `${clauses} clause${clauses > 1 ? "s" : ""}` : "");
    panels.forEach(panel => panel.classList.add("at-stale"));
    const open = async model => { model.opened ??= await load(card, model.digest); };
    const opening = models.reduce((before, model) => before.then(() => open(model)), Promise.resolve());
    return inSlices(card, translation(), PATIENCE, opening);
  }

  function show(sentence, grown) {
    field.value = sentence.join(" ");
    fill(offers);
    return translate(sentence, grown);
  }

  function grow(to, change = 0) {
    [length, family] = [to, (family + change) % sentences.length];
    const { groups } = read(sentences[family].slice(0, length).join(" and ").split(" "));
    return show(turned(groups, Number(order.value)), true);
  }

  const more = () => grow(drawn && length < longest() ? length + 1 : 1);

  function turn() {   // the places and subordinate clauses of what stands there
    play(false);
    const { groups } = read(words);
    if (groups) return show(turned(groups, Number(order.value)), drawn);
  }

  function play(on) {   // a clause more each time, by itself unless the reader wants less motion
    clearTimeout(playing);
    playing = on;
    write(player, on ? "❚❚ Stop" : "▶ Let it grow");
  }

  function typed(complete) {
    play(false);
    const strange = complete.find(word => !numbers.has(word));
    if (strange) write(find(".at-right"), `“${strange.slice(0, 40)}” is no word that the models know.`);
    else if (complete.length > MOST) write(find(".at-right"), `Write at most ${MOST} words.`);
    else if (complete.length && complete.join() !== words.join()) return translate(complete, false);
  }

  // --- Drawing: in a panel, rows are French words and columns English ones ---
  function drawPanel(m) {
    const model = models[m], { steps, cost: [base, slope, most, later] } = model, panel = panels[m];
    const S = words.length + 1, fits = right && match(list(model), [...right, name(EOS)]);
    const cells = Array.from({ length: 10 }, () => "");
    const wrong = fits && Math.max(steps.length, right.length + 1) - fits.filter(n => n >= 0).length;
    steps.forEach(({ alpha }, t) => alpha?.forEach((weight, i) => {
      if (weight >= 0.03) cells[Math.min(Math.floor(10 * weight), 9)] += `M${i} ${t}h1v1h-1z`;
    }));
    fill(dress(find("svg", panel), { viewBox: `0 0 ${S} ${steps.length}` }),
      ...cells.map((d, n) => make("path", { d, opacity: (n + 1) / 10 })));
    find(".at-french", panel).replaceChildren(...steps.map(({ word }, t) => make("span", { role: "option", tabindex: -1,
      ...fits?.[t] < 0 ? { class: "at-wrong", "aria-label": `${word}, wrong` } : {} }, word)));
    write(find(".at-told", panel), model.told = fits ? wrong ? `${wrong} wrong` : "✓ right" : "");
    const macs = base + slope * Math.min(S, most) + later * (steps.length - 1) / 2;
    write(find(".at-macs", panel), `${Math.round(macs / 1000)} k`);
    dress(find(".at-matrix", panel), { style: `--rows: ${steps.length}; --pitch: ${S > 24 ? 10 : 15}px` });
    dress(panel, { class: `at-panel ${fits ? wrong ? "at-failed" : "" : "at-open"}` });
    const key = n => `${m} ${family} ${n} ${order.value}`;
    if (drawn) known.set(key(length), !wrong);   // the lengths tried so far
    const dots = Array.from({ length: longest() }, (_, n) => known.get(key(n + 1)));
    fill(find(".at-dots", panel), ...dots.map(one =>
      one === undefined ? make("b", {}, "○") : make("b", { class: one ? "at-yes" : "at-no" }, one ? "●" : "✕")));
    dress(find(".at-dots", panel), { "aria-label": `Clauses: ${dots.map((one, n) =>
      one === undefined ? "" : `${n + 1} ${one ? "right" : "wrong"}`).filter(Boolean).join(", ") || "none tried"}` });
  }

  function drawRows() {   // one French word, and where every model looks when it writes it
    const lead = list(models[chosen.m]), english = [...words, name(EOS)], S = english.length;
    chosen.t = clamp(chosen.t, 0, lead.length - 1);
    write(find(".at-lead b"), lead[chosen.t]);
    dress(find(".at-rows"), { style: `--n: ${S}`, "data-long": S > 30 ? "" : undefined });
    fill(find(".at-words"), ...english.map(word => make("span", {}, word)));
    models.forEach((model, m) => {
      const t = match(lead, list(model))[chosen.t], alpha = model.steps[t]?.alpha;
      const [most] = alpha ? greatest(alpha, 1) : [];
      const bar = (weight, i) => weight < 0.005 ? "" : `M${(i + 0.08).toFixed(2)} 1v${-weight.toFixed(3)}h.84V1z`;
      dress(find("svg", rows[m]), { viewBox: `0 0 ${S} 1` });
      dress(find("path", rows[m]), { d: [...alpha ?? []].map(bar).join("") });
      write(find("small", rows[m]), t < 0 ? "does not write it here"
        : alpha ? `most at ${english[most]}, ${two(alpha[most])}` : "no weights: one vector for all");
      all(".at-french span", panels[m]).forEach((node, n) =>
        dress(node, { "aria-selected": n === t, tabindex: n === Math.max(t, 0) ? 0 : -1 }));
    });
  }

  function choose(m, t, focus) {
    if (models.some(({ of }) => of !== words)) return;
    chosen = { m, t: clamp(t, 0, models[m].steps.length - 1) };
    drawRows();
    if (focus) all(".at-french span", panels[m])[chosen.t].focus();
    sayAtRest(status, `${find(".at-lead b").textContent}: ${rows.map(row => row.textContent).join("; ")}`);
  }

  function arrange() {   // the two models that stand first where there is room for two
    const first = pair.map(({ value }) => Number(value));
    panels.forEach((panel, m) => dress(panel, { style: first.includes(m) ? `order: ${first.indexOf(m) - 2}` : undefined }));
    find(".at-strip").scrollLeft = 0;
  }

  // --- Beginning ---
  const { field, offers } = writing({ label: "English sentence", numbers, next: complete => [...read(complete).may], typed });
  const player = button("▶ Let it grow", { onclick: () => {
    const on = !playing;
    play(on && !still());
    return on && more();
  } });
  const step = (text, act) => button(text, { onclick: () => {
    play(false);
    return act();
  } });
  const order = make("input", { type: "range", min: 0, max: 1, step: 0.25, value: 0, oninput: turn,
    "aria-label": "places and subordinate clauses that English puts first" });
  const pair = [0, 1].map(n => make("select", { "aria-label": `model ${n + 1}`, onchange: arrange },
    ...models.map(({ title }, m) => make("option", { value: m, selected: m === n ? "" : undefined }, title))));
  const count = make("span"), moved = make("span"), status = make("p", { role: "status", class: "at-aloud" });
  const bench = find(".at-bench"), by = change => () => choose(chosen.m, chosen.t + change);
  find(".at-lead").prepend(...[["◀", "word before", by(-1)], ["▶", "next word", by(1)]].map(([text, title, onclick]) =>
    button(text, { "aria-label": title, onclick })));
  bench.append(line(field, step("New sentence", () => grow(length, 1))), offers,
    line(player, step("+ 1 clause", more), count),
    make("label", { class: "at-line" }, "Places and subordinate clauses first in English: ", order, moved), status);
  find(".at-panels").before(dress(line(...pair), { class: "at-line at-pair" }));
  bench.hidden = false;
  find(".at-english").hidden = true;
  field.value = find(".at-english").textContent;
  panels.forEach((panel, m) => {
    const spans = () => all(".at-french span", panel), matrix = find(".at-matrix", panel);
    const at = ({ clientY }) => spans().findLastIndex(one => one.getBoundingClientRect().y <= clientY);
    dress(find(".at-french", panel), { role: "listbox", "aria-label": `${models[m].title}: French words` });
    spans().forEach(node => dress(node, { role: "option", tabindex: -1 }));
    dress(matrix, { onclick: event => choose(m, at(event)),
      onpointermove: event => event.pointerType === "mouse" && choose(m, at(event)), onkeydown: event => {
      const { t } = chosen, focused = spans().indexOf(document.activeElement), from = m === chosen.m ? t : focused;
      const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: Infinity }[pressed(event)];
      if (to === undefined) return;
      event.preventDefault();
      choose(m, to, true);
    } });
  });
  whenTouched(card, () => translate(field.value.split(" "), true));
});
