// The comparison: each model is a row of light under one English sentence; below the light stands the French it wrote.
// A reader chooses a French word, and sees where every model looks as it writes it, or an English one, and sees who
// looks at it; lets the sentence grow by clauses; and puts first in English what French puts last.
attnlibCards.define("comparison", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, maxLength, sum, greatest, still, FONT, widths,
    onKey, onWidth, choices, EOS, vocabularies, writing, inSlices, load, whenTouched, sayAtRest } = attnlibCards;
  const { Light, bulb, sized, eased, mix } = attnlibLight, { cut } = attnlibAlign;
  const PATIENCE = 40, PAUSE = 1900, MOST = 60, NARROW = 600, MUCH = 0.35;   // milliseconds; words; pixels
  const BLUE = "#a9bddc";
  const all = (path, node = bench) => [...node.querySelectorAll(path)];
  const { read, turned, inOrder } = window.attnlibFrench(data.grammar), { name, numbers } = vocabularies(data), END = name(EOS);
  const { models, sentences } = data, longest = () => Math.min(sentences[family].length, 6), known = new Map();
  let words = [], right, family = 0, length = data.length, grown = true, playing, shape = {}, coarse = 1;
  // What is chosen: a word t of model m, and its place r in the right translation; or such a place alone (m is -1); or
  // an English word; or nothing. A held choice stays when the pointer goes.
  let chosen, english = -1, held = false;

  // --- Translating, in slices of time between which the page is free ---

  function* translation() {
    const ids = [...words.map(word => numbers.get(word)), EOS];
    for (const row of rows) {
      const steps = [], { opened } = models[row.m];
      for (const { word, alpha, center } of opened.greedy(opened.encode(ids), maxLength(words)))
        yield steps.push({ word: name(word), alpha, center });
      row.steps = steps;
      drawRow(row);
    }
    refresh();
    if (playing && length < longest()) playing = setTimeout(guard(() => grow(length + 1)), PAUSE);
    else stop();
  }

  const open = () => models.reduce((before, model) => before.then(async () => {
    model.opened ??= await load(card, model.digest);
  }), Promise.resolve());

  function translate(sentence, isGrown) {
    begin(sentence, isGrown);
    rows.forEach(({ node }) => node.classList.add("at-stale"));
    return inSlices(card, translation(), PATIENCE, open());
  }

  function begin(sentence, isGrown) {
    const before = places(), { french, groups } = read(sentence), movable = groups?.filter(({ there, second }) => there || second);
    [words, right, grown, chosen, english, held] = [sentence, french && [...french, END], isGrown, undefined, -1, false];
    dress(order, { disabled: movable?.length ? undefined : "" });
    write(moved, movable?.length ? `${movable.filter(({ front }) => front).length} of ${movable.length}` : "none here");
    all("input", lengths).forEach((node, n) => { node.checked = n === length - 1; });
    measure();
    drawEnglish(before);
  }

  function show(sentence, isGrown) {
    field.value = sentence.join(" ");
    return translate(sentence, isGrown);
  }

  function grow(to) {
    length = clamp(to, 1, longest());
    const { groups } = read(sentences[family].slice(0, length).join(" and ").split(" "));
    fill(offers);
    return show(turned(groups, Number(order.value)), true);
  }

  function turn() {   // the places and subordinate clauses of what stands there
    stop();
    const { groups } = read(words);
    if (groups) return show(turned(groups, Number(order.value)), grown);
  }

  function typed(complete) {
    stop();
    const strange = complete.find(word => !numbers.has(word));
    if (strange) write(said, `“${strange.slice(0, 40)}” is no word that the models know.`);
    else if (complete.length > MOST) write(said, `Write at most ${MOST} words.`);
    else if (complete.length && complete.join() !== words.join()) return translate(complete, false);
  }

  function stop() {
    clearTimeout(playing);
    playing = undefined;
    write(grower, "▶ Grow");
  }

  const more = () => grow(grown && length < longest() ? length + 1 : 1);

  // --- Geometry: words on one line, or, from two clauses on, a column a clause; on a narrow screen running text ---

  function spread(list, size, room) {   // the centers of words that share a line
    const each = widths(list, size), gap = (room - sum(each)) / list.length;
    let x = 0;
    return each.map(one => (x += one + gap) - (one + gap) / 2);
  }

  function measure() {
    const list = [...words, END], narrow = night.clientWidth < NARROW, clauses = cut(list, "and"), K = clauses.length;
    const many = K > 4, room = Math.max(night.clientWidth - (narrow ? 20 : many ? 28 : 142), 60);
    const largest = [15.5, 14.5, 13.5, 12.5, 12, 11.5].find(size => sum(widths(list, size)) + list.length * (narrow ? 4 : 9) < room);
    const oneLine = largest !== undefined && K < 3, columns = !oneLine && !narrow && K > 1;
    const theirs = right ? cut(right, "et") : [], ofClause = (one, of) => sum(widths((one ?? []).map(n => of[n]), 12)) + 4 * (one ?? []).length;
    const shares = clauses.map((one, k) => 130 + Math.max(ofClause(one, list), ofClause(theirs[k], right)));
    const columnWidths = shares.map(share => room * share / sum(shares)), starts = shares.map((_, k) => sum(columnWidths.slice(0, k)));
    const at = oneLine ? spread(list, largest, room)
      : clauses.flatMap((one, k) => one.map((_, n) => starts[k] + (n + 0.5) * columnWidths[k] / one.length));
    const depth = narrow ? 42 : [46, 46, 44, 38, 32, 24][K] ?? 20, size = oneLine ? largest : narrow ? 14 : [14, 14, 14, 13.5, 13, 12][K] ?? 11.5;
    const same = shape.room === room && shape.depth === depth && shape.fine === K < 3;
    shape = { list, narrow, clauses, K, many, room, oneLine, columns, widths: columnWidths, starts, at, depth, size,
      fine: K < 3, light: shape.light };
    if (!same) renew();
    dress(night, { class: `at-night at-lit${oneLine ? " at-one" : ""}${columns ? " at-columns" : ""}${many && !narrow ? " at-many" : ""}${narrow ? " at-narrow" : ""}`,
      style: `--size: ${size}px; --lead: ${oneLine ? size + 7 : Math.round(size * (narrow ? 1.72 : many ? 1.19 : 1.25))}px` });
    if (!same) rows.forEach(row => { row.pen = sized(row.canvas, room, depth + 6); });
  }

  function renew() {   // the light, in grains that this machine can draw
    const { room, depth, fine } = shape;
    shape.light = new Light(room, depth, { grain: coarse * (fine ? 1 : 1.5), beyond: 0.1, pool: 6 });
  }

  // Lay words into cells: one for each clause where there are columns.
  function lay(box, spans, clause, gone = []) {
    const cells = shape.columns ? shape.clauses.map(() => make("div")) : [make("div")];
    const lost = () => make("small", { class: "at-gone" }, "‸ left out ");
    spans.forEach((span, n) => {
      if (!shape.columns && !shape.oneLine && n && clause[n] > clause[n - 1] + 1) cells[0].append(lost());
      cells[shape.columns ? clamp(clause[n], 0, cells.length - 1) : 0].append(span, " ");
    });
    if (shape.columns) gone.forEach(k => cells[k]?.append(lost()));
    dress(box, { style: shape.columns ? `grid-template-columns: ${shape.widths.map(w => `${w}px`).join(" ")}` : undefined });
    box.replaceChildren(...cells);
  }

  // --- The English sentence, whose words fly where the order changes ---

  function keys() {   // what stays the same of a word in another order
    const { groups } = read(words), keysOf = ({ main, there, second, front }, n) => inOrder({ main, there, second }, front)
      .flatMap(part => part?.english.map((_, k) => `${n} ${[main, there, second].indexOf(part)} ${k}`) ?? []);
    return [...groups?.flatMap((group, n) => [...n ? [`${n} and`] : [], ...keysOf(group, n)]) ?? words, END];
  }

  const places = () => new Map(all("span", source).map(node => [node.dataset.key, node.getBoundingClientRect()]));

  function drawEnglish(before) {
    const list = keys(), spans = shape.list.map((word, i) => make("span", { role: "option", "data-key": list[i], "data-n": i,
      tabindex: i ? -1 : 0, "aria-selected": false, style: shape.oneLine ? `left: ${shape.at[i]}px` : undefined }, word));
    lay(source, spans, shape.clauses.flatMap((one, k) => one.map(() => k)));
    if (before?.size && !still()) for (const span of spans) {
      const old = before.get(span.dataset.key), now = span.getBoundingClientRect();
      const x = old && old.x + old.width / 2 - now.x - now.width / 2, y = old && old.y - now.y;
      if (old && Math.abs(x) + Math.abs(y) > 1) span.animate([{ translate: `${x}px ${y}px` }, { translate: `${x / 2}px ${y / 2 - 12}px` }, { translate: "none" }], 700);
    }
    const refs = (right ?? []).slice(0, -1).map((word, r) => make("span", { onclick: () => hold(() => chooseSlot(r)) }, word));
    const at = right && shape.oneLine ? spread(right, shape.size - 1.5, shape.room) : [];
    refs.forEach((node, r) => shape.oneLine && dress(node, { style: `left: ${at[r]}px` }));
    lay(reference, refs, cut(right ?? [], "et").flatMap((one, k) => one.map(() => k)));
    reference.parentNode.hidden = shape.K > (shape.narrow ? 1 : 3);
  }

  // --- A row ---

  function drawRow(row) {
    const list = row.steps.map(({ word }) => word), own = cut(list, "et").flatMap((one, k) => one.map(() => k));
    const aligned = right ? attnlibAlign(list, right) : { fits: own, place: list.map((_, t) => t), clause: own, lacks: [], gone: [] };
    const { fits, place, clause, lacks, gone } = aligned, { K } = shape;
    const wrong = right ? Math.max(list.length, right.length) - fits.filter(n => n >= 0).length : 0;
    Object.assign(row, { list, fits, place, wrong });
    const spans = list.map((word, t) => make("span", { role: "option", "data-n": t, tabindex: t ? -1 : 0, "aria-selected": false,
      class: `${fits[t] < 0 ? "at-wrong" : ""} ${lacks[t] ? "at-lack" : ""}`, "aria-label": fits[t] < 0 ? `${word}, wrong` : undefined }, word));
    lay(row.french, spans, clause, gone);
    if (shape.oneLine) {
      const size = [shape.size, shape.size - 1, shape.size - 2, 10.5].find(size => sum(widths(list, size)) < shape.room - list.length * 7) ?? 10;
      row.places = spread(list, size, shape.room);
      row.french.style.fontSize = `${size}px`;
      spans.forEach((span, t) => dress(span, { style: `left: ${row.places[t]}px` }));
    } else {
      const home = clause.map(k => Math.min(k, K - 1)), seen = Array(K).fill(0);
      row.places = home.map(k => shape.starts[k] + (seen[k]++ + 0.5) * shape.widths[k] / home.filter(other => other === k).length);
    }
    write(row.told, right ? wrong ? `${wrong} ${fits.includes(-1) ? "wrong" : "left out"}` : "✓ right" : "");
    row.told.classList.toggle("at-bad", wrong > 0);
    const key = n => `${row.m} ${family} ${n} ${order.value}`;
    if (grown && right) known.set(key(length), wrong / Math.max(list.length, right.length));
    const tried = Array.from({ length: longest() }, (_, n) => known.get(key(n + 1)));
    fill(row.marks, ...tried.map((share, n) => make("i", { style: share ? `--h: ${share.toFixed(3)}` : undefined,
      class: `${share === undefined ? "" : share ? "at-no" : "at-yes"} ${grown && n + 1 === length ? "at-here" : ""}` })));
    dress(row.marks, { "aria-label": `By clauses: ${tried.map((share, n) => share === undefined ? "" : `${n + 1} ${share
      ? `${Math.round(100 * share)} percent wrong` : "right"}`).filter(Boolean).join(", ") || "none tried"}` });
    row.node.classList.remove("at-stale");
    aim(row);
  }

  // The word of a row that is chosen: that in the same place of the right translation.
  const wordOf = row => !chosen ? -1 : chosen.m === row.m ? chosen.t : chosen.r < 0 ? -1 : row.place.indexOf(chosen.r);

  function aim(row) {   // how bright each lamp ought to be
    const now = row.now = wordOf(row), bright = (alpha, t) => english >= 0 ? 0.03 + (alpha?.[english] ?? 0.27)
      : chosen ? t === now ? 1 : 0.07 : shape.list.length > 30 ? 0.5 : 0.62;
    row.want = row.steps.map(({ alpha }, t) => ({ alpha, x: row.places[t], b: bright(alpha, t) }));
    all("[data-n]", row.french).forEach((span, t) => {
      const share = english >= 0 ? row.steps[t].alpha?.[english] ?? 0 : 0;
      dress(span, { "aria-selected": t === now });
      span.style.background = share > 0.05 ? `rgba(255, 210, 122, ${(0.6 * share).toFixed(2)})` : "";
    });
    row.node.classList.toggle("at-leads", chosen?.m === row.m);
    const alpha = row.steps[now]?.alpha, [most] = alpha ? greatest(alpha, 1) : [];
    write(row.most, alpha ? `${shape.list[most]} ${two(alpha[most])}` : "");
    const half = widths([row.most.textContent], 11)[0] / 2 + 2;
    if (alpha) dress(row.most, { style: `left: ${clamp(shape.at[most], half, shape.room - half)}px` });
    ease();
  }

  // --- Light ---

  function paint(row) {
    const { room, depth, at, light, starts } = shape, { pen, lamps, steps, now } = row, { center } = steps[now] ?? {};
    pen.clearRect(0, 0, room, depth + 6);
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, room, depth + 6);
    row.lit = undefined;
    if (!steps.length) return;
    pen.fillStyle = "#ffffff16";
    if (!shape.oneLine) starts.slice(1).forEach(x => pen.fillRect(Math.round(x) - 1, 0, 1, depth + 6));
    if (!steps[0].alpha) return paintVector(row);
    if (steps[0].alpha.length !== at.length) return;   // another sentence is on its way
    row.lit = light.paint(lamps, at, { broad: shape.oneLine ? 0.8 : 1.15, gain: chosen ? 1.5 : at.length > 30 ? 1.25 : 0.95 });
    pen.globalCompositeOperation = "lighter";
    pen.drawImage(light.sheet, 0, depth - light.nv * light.grain, light.nu * light.grain, light.nv * light.grain);
    pen.globalCompositeOperation = "source-over";
    if (models[row.m].D !== undefined && center !== undefined) paintWindow(pen, center, models[row.m].D);
    for (const { x, b } of lamps) bulb(pen, x, depth, clamp(b, 0, 1), at.length > 30 ? 4.5 : 7);
  }

  function paintWindow(pen, center, D) {   // outside it a local model does not look
    const { at, room, depth } = shape, edge = i => i < 0 ? 1 : i + 1 >= at.length ? room - 1 : (at[i] + at[i + 1]) / 2;
    const from = edge(Math.ceil(center - D) - 1), to = edge(Math.floor(center + D));
    pen.fillStyle = "#05080faa";
    pen.fillRect(0, 0, from, depth);
    pen.fillRect(to, 0, room - to, depth);
    pen.strokeStyle = pen.fillStyle = BLUE;
    pen.lineWidth = 1;
    pen.stroke(new Path2D(`M${from} ${depth / 2}V1.5H${to}V${depth / 2}`));
    pen.font = `11px ${FONT}`;
    pen.textAlign = from > 60 ? "right" : "left";
    if (from > 60 || room - to > 60) pen.fillText("window", from > 60 ? from - 4 : to + 4, 11);
  }

  function paintVector({ pen, lamps, now }) {   // no weights: all words go into one vector, and all words come from it
    const { room, depth, at } = shape, x = room / 2, y = depth / 2;
    const thread = (a, b, c, d, seen) => {
      pen.strokeStyle = `rgba(142, 166, 205, ${seen})`;
      pen.stroke(new Path2D(`M${a} ${b}C${a} ${(b + d) / 2} ${c} ${(b + d) / 2} ${c} ${d}`));
    };
    pen.lineWidth = 1;
    at.forEach(from => thread(from, 0, x, y, 0.28));
    lamps.forEach((lamp, t) => thread(x, y, lamp.x, depth, chosen ? t === now ? 0.95 : 0.08 : 0.26));
    pen.fillStyle = BLUE;
    for (const [u, v, r] of [[x, y, 4], ...lamps.map(lamp => [lamp.x, depth, 2])]) pen.fill(new Path2D(`M${u - r} ${v}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`));
    Object.assign(pen, { font: `11px ${FONT}`, textAlign: "left", lineWidth: 4, strokeStyle: "#000" });
    pen.strokeText("one vector for all words", x + 9, y + 4);
    pen.fillText("one vector for all words", x + 9, y + 4);
  }

  function paintAll() {   // the rows; then the English words shine by the light of the row that leads, or of all rows
    rows.forEach(paint);
    const lead = (chosen?.m >= 0 ? [rows[chosen.m]] : rows).filter(({ lit }) => lit);
    all("span", source).forEach((span, i) => {
      const x = english >= 0 ? Number(i === english) : clamp(sum(lead.map(({ lit }) => lit[i])) / (lead.length || 1), 0, 1);
      span.style.color = `rgb(${mix(140, 255, x)}, ${mix(158, 246, x)}, ${mix(186, 214, x)})`;
      span.style.textShadow = x > 0.2 ? `0 0 ${4 + 8 * x}px rgba(255, 210, 122, ${0.75 * x})` : "";
    });
  }

  // --- Choosing ---

  function refresh() {
    if (rows.some(({ list }) => !list)) return;
    rows.forEach(aim);
    all("span", reference).forEach((node, r) => node.classList.toggle("at-now", chosen?.r === r));
    all("[data-n]", source).forEach((node, i) => dress(node, { "aria-selected": i === english }));
    fill(said, ...tell());
    sayAtRest(aloud, said.textContent, 700);
  }

  function pick(next, i = -1) {   // unless another sentence is on its way
    if (rows.some(({ node }) => node.classList.contains("at-stale"))) return;
    [chosen, english] = [next, i];
    refresh();
  }

  const clear = () => {
    held = false;
    stop();
    pick();
  };
  const choose = (m, t) => pick({ m, t, r: rows[m].place[t] });
  const chooseSlot = r => pick({ m: -1, t: -1, r: clamp(r, 0, right.length - 1) });

  function hold(act) {
    stop();
    held = true;
    act();
  }

  function step(by) {
    if (right) hold(() => chooseSlot(chosen ? Math.max(chosen.r, 0) + by : by > 0 ? 0 : right.length - 1));
    else hold(() => choose(1, clamp((chosen?.t ?? -1) + by, 0, rows[1].list.length - 1)));
  }

  // Words that are chosen by pointer or by arrow keys; `act` gets the number of one.
  function choosable(box, act, isChosen, across = () => {}) {
    const at = ({ target }) => Number(target.closest?.("[data-n]")?.dataset.n ?? -1);
    const focus = n => all("[data-n]", box).forEach((node, k) => {
      dress(node, { tabindex: k === n ? 0 : -1 });
      if (k === n) node.focus({ preventScroll: true });
    });
    dress(box, { role: "listbox", "aria-orientation": "horizontal",
      onpointerover: event => event.pointerType === "mouse" && !playing && !held && at(event) >= 0 && act(at(event)),
      onclick: event => at(event) >= 0 && (held && isChosen(at(event)) ? clear() : hold(() => act(at(event)))),
      onkeydown: event => {
        const n = at(event), last = all("[data-n]", box).length - 1, to = k => () => {
          hold(() => act(clamp(k, 0, last)));
          focus(clamp(k, 0, last));
        };
        return onKey(event, { ArrowLeft: to(n - 1), ArrowRight: to(n + 1), Home: to(0), End: to(last), Enter: to(n), " ": to(n),
          Escape: clear, ...across() });
      } });
    return focus;
  }

  // --- Saying ---

  const join = list => list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`;
  const title = row => models[row.m].title, short = row => title(row).replace("Luong ", "");
  const em = (word, lang = "en") => make("em", { lang }, word);
  const grouped = pairs => [...pairs.reduce((groups, [key, row]) => groups.set(key, [...groups.get(key) ?? [], short(row)]), new Map())];
  const separated = parts => parts.flatMap((part, n) => n ? ["; ", ...part] : part);

  function tell() {   // what is chosen, in words
    const seeing = rows.filter(({ steps }) => steps[0]?.alpha);
    if (english >= 0) {
      const who = seeing.map(row => [row.steps.flatMap(({ alpha }, t) => alpha[english] >= MUCH ? [row.list[t]] : []).slice(0, 4).join(", "), row]);
      const parts = grouped(who).map(([list, by]) => list ? [`${join(by)} for `, em(list, "fr")] : [`no more than a glance: ${join(by)}`]);
      return ["Who looks at ", em(shape.list[english]), "? ", ...separated(parts), "."];
    }
    if (!chosen) {
      const good = rows.filter(({ wrong }) => !wrong).map(title);
      const told = !right ? "This is no whole sentence of the grammar, so no word is marked." : good.length === rows.length
        ? "All are right, and each gets there in its own way." : good.length ? `Right: ${join(good)}.` : "None is right.";
      return [`${told} Choose a French word: all show where they look as they write it.`];
    }
    const word = right && chosen.r >= 0 ? right[chosen.r] : rows[chosen.m].list[chosen.t], at = row => row.steps[wordOf(row)];
    const where = ({ alpha }) => Math.max(...alpha) < MUCH ? -1 : greatest(alpha, 1)[0];
    const looks = grouped(seeing.filter(at).map(row => [where(at(row)), row])).sort(([a], [b]) => (a < 0) - (b < 0));
    const parts = looks.map(([i, by]) => i < 0 ? [`all around: ${join(by)}`] : [`${join(by)} at `, em(shape.list[i])]);
    const others = right && chosen.r >= 0 ? rows.filter(row => at(row) && row.fits[wordOf(row)] < 0) : [], gone = rows.filter(row => !at(row));
    return ["For ", em(word, "fr"), ...right && chosen.r < 0 ? [", which is one word too many"] : [], ": ", ...separated(parts), ".",
      ...others.flatMap(row => [` ${short(row)} writes `, em(row.list[wordOf(row)], "fr"), "."]),
      ...gone.length && chosen.r >= 0 ? [` Left out by ${join(gone.map(short))}.`] : []];
  }

  // --- Beginning ---

  const { field, offers } = writing({ label: "English sentence", numbers, next: complete => [...read(complete).may], typed });
  const source = make("div", { class: "at-cells at-english", lang: "en", "aria-label": "English words" });
  const reference = make("div", { class: "at-cells at-reference", lang: "fr" });
  const strip = (label, cells) => make("div", { class: "at-strip" }, label, cells);
  const rows = models.map(({ title }, m) => {
    const told = make("span", { class: "at-told" }), marks = make("span", { class: "at-marks", role: "img" });
    const canvas = make("canvas", { "aria-hidden": "true" }), most = make("span", { class: "at-most" });
    const french = make("div", { class: "at-cells at-french", lang: "fr", "aria-label": `${title}: French words` });
    const node = make("div", { class: "at-row at-stale" }, strip(make("div", { class: "at-who" }, make("b", {}, title), told, marks),
      make("div", {}, make("div", { class: "at-beam" }, canvas, most), french)));
    const row = { m, node, told, marks, canvas, most, french, lamps: [], want: [], steps: [] };
    const beside = other => other && (() => {
      const to = Math.max(other.place.indexOf(row.place[chosen?.t ?? 0]), 0);
      hold(() => choose(other.m, to));
      other.focus(to);
    });
    row.focus = choosable(french, t => choose(m, t), t => chosen?.m === m && chosen.t === t,
      () => ({ ArrowUp: beside(rows[m - 1]), ArrowDown: beside(rows[m + 1]) }));
    return row;
  });
  const ease = eased(rows.map(({ lamps }) => lamps), () => rows.map(({ want }) => want), paintAll, () => {
    if (coarse > 2) return;
    coarse *= 1.5;
    renew();
  });
  choosable(source, i => pick(undefined, i), i => english === i);
  const said = make("p", { class: "at-said" }), aloud = make("p", { role: "status", class: "at-aloud" });
  const order = make("input", { type: "range", min: 0, max: 1, step: 0.25, value: 0, oninput: turn,
    "aria-label": "places and subordinate clauses that English puts first" }), moved = make("span");
  const lengths = choices("clauses", Array.from({ length: longest() }, (_, n) => n + 1), n => {
    stop();
    return grow(n + 1);
  });
  const grower = button("", { class: "at-go", onclick: () => {
    const on = !playing && !still();
    stop();
    if (!on && !still()) return;
    if (on) write(grower, "❚❚ Stop");
    playing = on;
    return more();
  } });
  const night = make("div", { class: "at-night at-lit", onpointerleave: () => held || playing || clear() },
    make("div", { class: "at-top" }, strip(make("small", {}, "English"), source), strip(make("small", {}, "right translation"), reference)),
    ...rows.map(({ node }) => node),
    make("div", { class: "at-foot" }, said, make("span", { class: "at-steps" },
      button("◀", { "aria-label": "word before, in all models", onclick: () => step(-1) }),
      button("▶|", { "aria-label": "next word, in all models", onclick: () => step(1) }))));
  const bench = make("div", { class: "at-lit" }, line(make("span", {}, "clauses"), lengths, grower,
    make("label", { class: "at-order" }, "places first ", order, " ", moved), button("Another", { class: "at-push", onclick: () => {
      stop();
      family = (family + 1) % sentences.length;
      return grow(length);
    } })), night, line(field), offers, aloud);
  card.querySelector(".at-still").before(bench);
  stop();
  begin(sentences[0].slice(0, length).join(" and ").split(" "), true);
  field.value = words.join(" ");
  for (const row of rows) row.steps = models[row.m].steps.map(([word, weights]) => ({ word, alpha: weights?.map(x => x / 10000) }));
  rows.forEach(drawRow);
  refresh();
  whenTouched(card, open);
  onWidth(night, () => {
    measure();
    drawEnglish();
    rows.forEach(row => row.steps.length && drawRow(row));
  });
});
