// The attention demo: source words above, target words below, and lines as thick as the weights between them. A reader
// drags weights, hides words and picks words, and the models of models.js translate the rest anew. Without a model
// it shows weights that were computed before.
attnlibCards.define("demo", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, maxLength, greatest, sum, still, widths, onKey,
    follow, choices, EOS, vocabularies, writing, inSlices, load, match, whenTouched, question } = attnlibCards;
  const MOST = 99, LEAST = 0.005, PATIENCE = 30;   // words; a weight that is still said; milliseconds
  // pixels: the lines of a target word; a word without letters; a likely word
  const BUNDLE = 15, FULL = 20, CHIP = 34;
  const KEYS = "Arrow keys: from word to word, and its weight less or more; Home none, End all; Enter hides it";
  const [english, french, en, fr, unit] = data.names;
  const own = data.own && window.attnlibOwn(data);   // of a model of one's own no grammar is known
  const grammar = data.grammar && window.attnlibFrench(data.grammar);
  const { name, numbers } = vocabularies(data), END = name(EOS);
  const known = new Map([...data.pairs.flat(), data.first].map(([sentence, right]) => [sentence, right?.split(" ")]));
  const live = data.models.every(({ digest }) => digest), tried = question(card);
  const opening = ({ weights, likely, ...step }) =>
    ({ ...step, alpha: weights?.map(x => x / 10000), likely: likely?.map(([word, p]) => [word, p / 1000]) });
  const models = data.models.map(model => ({ ...model, steps: model.steps.map(opening) }));
  const nothing = () => ({ hidden: new Set(), sharpness: 1, looks: models.map(() => new Map()),
    forced: models.map(() => new Map()) });
  let words = data.words, shown, now = nothing(), past = [], latest, m = 0, t = data.step, from = data.bar;
  let found = data.question?.bar === undefined, complaint, sentences = 0, ownWeights;
  const chosen = new Set([0]);   // the models that have been shown

  const written = steps => steps.map(({ word }) => name(word));
  const all = () => live ? [...words, END] : words, body = list => list.filter(word => word !== END);
  const text = steps => own?.text(steps.map(({ word }) => word)) ?? body(written(steps)).join(" ");
  const touched = n => now.hidden.size || now.sharpness !== 1 || now.looks[n].size || now.forced[n].size;
  const moved = n => touched(n) && written(models[n].steps).join(" ") !== written(models[n].plain).join(" ");
  const stale = () => live && models.some(({ plainFor }) => plainFor !== words);   // a translation is on its way
  const right = () => known.get(words.join(" "));

  // Which way a sentence runs: as its first letter does.
  const RIGHT_TO_LEFT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const direction = words => RIGHT_TO_LEFT.test(words.join(" ")) ? "rtl" : "ltr";
  const leftwards = side => !tall() && side.dir === "rtl";

  const common = (ours, theirs) => match(ours, theirs).map(place => place >= 0);

  // --- Translating: a small model takes some milliseconds, and follows every movement of the hand ---

  // What the model is told: a weight that the reader gave stays where its word is hidden, and goes to the others.
  function hand(n, but) {
    const looks = [...now.looks[n]].filter(([at]) => at !== but).map(([at, alpha]) => {
      const seen = alpha.map((weight, i) => now.hidden.has(i) ? 0 : weight), rest = sum(seen);
      return [at, rest ? seen.map(weight => weight / rest) : seen];
    });
    return { hidden: now.hidden, sharpness: now.sharpness, looks: new Map(looks) };
  }

  function* search({ opened, encoded }, hand, forced) {
    const steps = [], found = own?.search(opened, encoded, hand, forced)
      ?? opened.greedy(encoded, maxLength(words), hand, forced);
    for (const step of found) {
      if (step) steps.push(step);
      yield;
    }
    return steps;
  }

  function* translation(then) {
    for (const [n, model] of models.entries()) {
      if (model.readFor !== words) {
        model.encoded = model.opened.encode([...(own?.numbers ?? words.map(word => numbers.get(word))), EOS]);
        model.plain = yield* search(model);
        model.readFor = words;
      }
      const steps = touched(n) ? yield* search(model, hand(n), now.forced[n]) : model.plain;
      Object.assign(model, { steps, plainFor: words });
    }
    then();
  }

  function translate(then) {   // meanwhile draw what is known already, such as a bar that moves
    const open = async model => { model.opened ??= await load(card, model.digest); };
    const opening = models.every(({ opened }) => opened) ? undefined : Promise.all(models.map(open));
    if (opening) draw();
    return guard(() => inSlices(card, translation(then), PATIENCE, opening, draw))();
  }

  function renew(count = 0) {   // of sentences that have been drawn
    const stood = complaint;
    translate(() => {
      sentences += count;
      if (complaint === stood) complaint = undefined;
      settle();
      if (complaint) say(complaint.said);   // what is wrong since
    });
  }

  function settle() {
    draw();
    if (!dragging() && !stale()) report();
    judge();
  }

  // --- The hand: a weight, a hidden word, another word, the sharpness; each can be taken back ---

  // What is of the same kind as the act before is one with it.
  function act(change, kind) {
    if (stale()) return;
    if (!kind || kind !== latest) {
      past.push(structuredClone(now));
      say("");   // then even the same is said
    }
    latest = kind;
    change();
    renew();
  }

  // Give source word i this share of the step's weight; the others keep their proportions.
  function weigh(i, share, base, kind) {
    const like = 1 - base[i] > 1e-6 ? base : ownWeights, rest = sum(like.filter((_, n) => n !== i));
    const other = weight => (1 - share) * (rest ? weight / rest : 1 / Math.max(like.length - 1, 1));
    from = i;
    act(() => {
      const alpha = Float64Array.from(like, (weight, n) => n === i ? share : other(weight));
      now.looks[m].set(t, alpha);
      models[m].steps = models[m].steps.map((step, n) => n === t ? { ...step, alpha } : step);   // before the words
    }, kind);
  }

  const hide = i => live && models[m].steps[t].alpha && act(() => now.hidden.delete(i) || now.hidden.add(i));

  function takeBack() {
    const before = !stale() && past.pop();
    if (before) act(() => { now = before; say(""); }, latest = "back");
  }

  function drag(event, i) {
    const bar = event.currentTarget, base = models[m].steps[t].alpha, moved = ({ clientX, clientY }) => {
      const { left, width, bottom, height } = bar.getBoundingClientRect();
      const share = tall() ? (clientX - left) / width : (bottom - clientY) / height;
      weigh(i, Math.round(100 * clamp(share, 0, 1)) / 100, base, base);
    };
    if (!live || event.button || stale() || now.hidden.has(i)) return;
    source.classList.add("at-dragging");
    found = true;
    follow(event, moved, event => {
      source.classList.remove("at-dragging");
      if (event.type === "pointerup") moved(event);
      else if (latest === base) takeBack();   // the page was scrolled
    });
  }

  function keys(event, i) {
    const [less, more, back, on] = tall() ? ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]
      : ["ArrowDown", "ArrowUp", ...leftwards(source) ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"]];
    const { alpha } = models[m].steps[t], to = n => () => {
      from = clamp(n, 0, words.length);
      draw();
      source.children[from]?.focus();   // while a longer sentence is translated, the shorter one stands there
    };
    const by = share => alpha && !now.hidden.has(i) && (() => {
      found = true;
      weigh(i, clamp(alpha[i] + share, 0, 1), alpha, `${i} at ${t}`);
    });
    from = i;
    return onKey(event, { [less]: by(-0.05), [more]: by(0.05), PageDown: by(-0.2), PageUp: by(0.2), Home: by(-1),
      End: by(1), [back]: to(i - 1), [on]: to(i + 1), Enter: () => hide(i), " ": () => hide(i) });
  }

  function choose(to, focus) {
    if (stale()) return;
    t = clamp(to, 0, models[m].steps.length - 1);
    draw();
    say(looks());
    if (focus) target.children[t]?.focus();
  }

  // --- Writing a sentence ---

  function typed(complete, partial) {
    const unknown = complete.find(word => !numbers.has(word))
      ?? (partial && !data.source.some(word => word.startsWith(partial)) ? partial : undefined);
    if (unknown !== undefined) {
      const known = `the ${data.source.length} ${english} words that the model knows`;
      complain(`“${unknown.slice(0, 40)}” is not one of ${known}.`);
    } else if (complete.length > MOST) complain(`These are ${complete.length} words; write at most ${MOST}.`);
    else if (!complete.length) complain("Write a sentence: words that may come next are below the line.");
    else if (complete.join(" ") !== words.join(" ")) begin(complete);
    else renew();
  }

  function next(complete) {   // what may follow
    return [...grammar.read(complete).may];
  }

  function begin(sentence, count = 0) {
    [words, now, past, latest, t, from] = [sentence, nothing(), [], undefined, 0, 0];
    dress(card.querySelector(".at-answer") ?? bench, { open: undefined });   // it was about another sentence
    renew(count);
  }

  function another() {
    const drawn = data.pairs[clauses.value];
    drawn.push(drawn.shift());
    field.value = drawn[0][0];
    begin(field.value.split(" "), Number(clauses.value) + 1 >= data.question?.clauses ? 1 : 0);
    if (offers.hasChildNodes()) offer(words);
  }

  // --- Saying ---

  const say = said => write(status, said);

  function complain(said) {
    complaint = { said };
    drawNotes();
    say(said);
  }

  // What the chosen word attends to.
  function looks() {
    const { alpha } = models[m].steps[t], begun = `Word ${t + 1}`;
    if (!alpha) return `${begun}: this model has no attention; every word is written from the same vector.`;
    const most = greatest(alpha, 3).filter(i => alpha[i] >= LEAST).map(i => `${all()[i]} ${two(alpha[i])}`);
    return `${begun}: attends to ${most.join(", ") || "nothing"}.`;
  }

  function report() {
    const { steps } = models[m], strange = own?.note ? ` ${own.note}` : "";
    if (!touched(m)) return say(`${models[m].title}: ${text(steps)}.${strange}`);
    say(moved(m) ? `Now: ${text(steps)}.` : "The translation is as before your changes.");
  }

  // --- Drawing ---

  const tall = () => stage.classList.contains("at-tall");
  const dragging = () => source.classList.contains("at-dragging");

  function build() {   // the columns of a sentence
    shown = words;
    const slider = i => live ? { role: "slider", "aria-valuemin": 0, "aria-valuemax": 100,
      onkeydown: event => keys(event, i) } : {};
    dress(source, { dir: direction(words) }).replaceChildren(...all().map((word, i) =>
      make("div", { class: "at-col", lang: en, ...slider(i), "aria-label": live ? word : undefined },
        make("div", { class: "at-bar", onpointerdown: event => drag(event, i) }, make("div", { class: "at-fill" }),
          make("div", { class: "at-own" }), make("div", { class: "at-share" })),
        make("span", { class: "at-word", dir: "auto", onclick: () => hide(i) }, word))));
  }

  function draw() {
    bench.classList.toggle("at-empty", !words.length);
    if (!words.length || stale()) return;
    if (shown !== words) build();
    t = clamp(t, 0, models[m].steps.length - 1);
    fit();
    const { steps, opened } = models[m], step = steps[t], { alpha, center } = step, forced = now.looks[m].has(t);
    if (!dragging()) ownWeights = forced && step.before ? opened.step(step.before, hand(m, t)).attended.alpha : alpha;
    bench.classList.toggle("at-none", !alpha);
    source.classList.toggle("at-forced", forced && ownWeights !== alpha);
    [...source.children].forEach((col, i) => {
      const weight = alpha?.[i] ?? 0, hidden = now.hidden.has(i);
      const nudge = !found && asked() && i === data.question.bar && t === data.step;
      const unseen = center !== undefined && Math.abs(i - center) > models[m].D;
      const marks = { "at-hidden": hidden, "at-held": forced && i === from, "at-nudge": nudge, "at-unseen": unseen,
        "at-much": weight > 0.5 };
      dress(col, { class: ["at-col", ...Object.keys(marks).filter(mark => marks[mark])].join(" "),
        style: `--w: ${weight.toFixed(3)}; --o: ${(ownWeights?.[i] ?? 0).toFixed(3)}` });
      const entered = source.contains(document.activeElement);   // the keys are told once
      if (live) dress(col, { "aria-valuenow": Math.round(100 * weight),
        tabindex: i === Math.min(from, words.length) ? 0 : -1, "aria-orientation": tall() ? "horizontal" : "vertical",
        "aria-valuetext": hidden ? "hidden at every step" : alpha ? `${two(weight)} of the weight` : "no weight",
        "aria-description": alpha && !entered ? KEYS : undefined });
      write(col.querySelector(".at-share"), alpha && !unseen ? two(weight) : "");
    });
    drawTarget(steps);
    drawChips(step);
    drawNotes();
    dress(undo, { "aria-disabled": !past.length });   // keeps the focus
    write(undo, past.length ? `Undo (${past.length})` : "Undo");
    slider.value = now.sharpness;
    write(sharp, slider.value);
    switches.querySelectorAll("label").forEach((label, n) =>
      label.classList.toggle("at-moved", n !== m && live && moved(n)));
    drawLinks(steps, center, place());   // what is read comes last, so that the page is laid out once
  }

  function drawTarget(steps) {
    const list = written(steps), kept = common(list, written(models[m].plain ?? steps));
    const fits = live && right() ? common(list, [...right(), END]) : list.map(() => true);
    while (target.children.length > list.length) target.lastChild.remove();
    list.forEach((word, n) => {
      const node = target.children[n] ?? target.appendChild(make("span", { role: "option", lang: fr, dir: "auto",
        onclick: () => choose(n), onpointerenter: () => preview(n), onpointerleave: () => preview(-1) }));
      const other = node.textContent && node.textContent !== word;
      if (other && !still()) node.animate?.([{ background: "var(--yours)" }, {}], 700);
      write(node, word);
      const marks = [!kept[n] && "changed", kept[n] && !fits[n] && "wrong", now.forced[m].has(n) && "chosen"]
        .filter(Boolean);
      dress(node, { class: ["at-word", ...marks.map(mark => `at-${mark}`)].join(" "), "aria-selected": n === t,
        "aria-label": [word, ...marks].join(", "), tabindex: n === t ? 0 : -1 });
    });
    dress(target, { "aria-label": `${french} ${unit}s, ${models[m].title}`, dir: direction(body(list)) });
    const weighing = `Weight of each ${english} ${unit} ${live ? "when the model writes" : "for"} `;
    const plain = "Every word is written from one vector, c: there is nothing to weigh.";
    const { alpha, center } = steps[t], whole = alpha && sum(alpha), less = whole < 0.985 && (!live || center !== undefined);
    fill(caption, ...(alpha ? [weighing, make("b", { lang: fr }, list[t])] : [plain]),
      less ? `. Together they are ${two(whole)}: the window has lowered those far from its center.` : "");
  }

  function drawChips({ p, likely, word }) {   // the three likeliest, and the one that stands there
    const list = p ? greatest(p, 3).map(word => [word, p[word]]) : likely ?? [];
    if (p && !list.some(([other]) => other === word)) list.push([word, p[word]]);
    chips.hidden = !list.length;
    while (chips.children.length > list.length + 1) chips.lastChild.remove();
    list.forEach(([other, p], n) => {
      const chip = chips.children[n + 1] ?? chips.appendChild(button("", { lang: fr,
        onclick: ({ currentTarget }) => act(() => now.forced[m].set(t, Number(currentTarget.value))) }));
      dress(chip, { value: other, style: `--p: ${p.toFixed(3)}`, "aria-pressed": other === word,
        "aria-label": `write ${name(other)}, probability ${two(p)}` });
      fill(chip, make("bdi", {}, name(other)), " ", make("small", {}, p < LEAST ? "<0.01" : two(p)));
    });
  }

  // Tall, if the words of either side do not fit in a row; never while a bar is dragged.
  function fit() {
    if (dragging()) return;
    const list = [all(), written(models[m].steps)];
    const width = words => sum(widths(words, 15, 600).map(wide => Math.max(wide + FULL, 40)));
    stage.classList.toggle("at-tall", Math.max(...list.map(width)) > stage.clientWidth);
  }

  // The chips below their word, in a column of words where they stand; return the ends of the lines.
  function place() {
    const word = target.children[t], { left, top } = stage.getBoundingClientRect(), upright = !tall();
    const shift = upright || chips.hidden ? "" : `${CHIP * (chips.children.length - 1) + 16}px`;
    for (const node of target.children) {
      const margin = node === word ? shift : "";
      if (node.style.marginBottom !== margin) node.style.marginBottom = margin;
    }
    const spot = (node, end) => {
      const box = node.getBoundingClientRect(), [x, y] = [box.left - left, box.top - top];
      return upright ? [x + box.width / 2, end ? y : y + box.height] : [end ? x : x + box.width, y + box.height / 2];
    };
    const froms = [...source.children].map(col => spot(col.lastChild, false));
    const tos = [...target.children].map(node => spot(node, true));
    const middle = word.offsetLeft + word.offsetWidth / 2, wide = chips.offsetWidth;
    const at = clamp(middle - wide / 2, 0, Math.max(stage.clientWidth - wide, 0));
    dress(chips, { style: upright ? `margin-left: ${at}px; --caret: ${middle - at - 5}px`
      : `top: ${target.offsetTop + word.offsetTop + word.offsetHeight + 4}px` });
    return { froms, tos, upright };
  }

  // Lines: all of a target word together are as thick as 1, side by side at its end.
  function drawLinks(steps, center, { froms, tos, upright }) {
    const curve = ([x, y], [u, v]) => upright ? `M${x} ${y}C${x} ${(y + v) / 2} ${u} ${(y + v) / 2} ${u} ${v}`
      : `M${x} ${y}C${(x + u) / 2} ${y} ${(x + u) / 2} ${v} ${u} ${v}`;
    if (!steps[t].alpha) {   // without attention all goes through one vector
      const ends = [...froms, ...tos], knot = [0, 1].map(axis => sum(ends.map(end => end[axis])) / ends.length);
      const d = [...froms.map(start => curve(start, knot)), ...tos.map(end => curve(knot, end))].join("");
      return links.replaceChildren(make("path", { class: "at-knot", d }),
        make("circle", { cx: knot[0], cy: knot[1], r: 13 }), make("text", { x: knot[0], y: knot[1] + 5 }, "c"));
    }
    const groups = steps.map(({ alpha }, n) => {
      const group = bundles[n] ??= make("g"), [u, v] = tos[n], turn = leftwards(source) ? -1 : 1;
      let offset = -BUNDLE / 2, drawn = 0;
      alpha.forEach((weight, i) => {
        const thick = BUNDLE * weight, middle = turn * (offset + thick / 2);
        offset += thick;
        if (weight >= LEAST) dress(group.children[drawn++] ?? group.appendChild(make("path")), {
          d: curve(froms[i], upright ? [u + middle, v] : [u, v + middle]),
          "stroke-width": Math.max(thick, 0.75).toFixed(2) });
      });
      while (group.children.length > drawn) group.lastChild.remove();
      return dress(group, { class: n === t ? "at-on" : "" });
    });
    const ticks = center === undefined ? [] : [tick(froms, center, upright)];
    links.replaceChildren(...groups.filter((_, n) => n !== t), ...ticks, groups[t]);   // the chosen one on top
  }

  // where the window of local attention has its center, which is between words
  function tick(froms, center, upright) {
    const before = clamp(Math.floor(center), 0, froms.length - 1), after = Math.min(before + 1, froms.length - 1);
    const [x, y] = froms[before].map((z, axis) => z + (center - before) * (froms[after][axis] - z));
    return dress(centered, { d: upright ? `M${x} ${y + 1}l-6 10h12z` : `M${x + 1} ${y}l10 -6v12z` });
  }

  const preview = n => bundles.forEach((group, k) => group.classList.toggle("at-preview", k === n && n !== t));

  // --- Below the picture: what is wrong, what changed, what the other model writes ---

  function marked(list, other, mark) {   // where they differ
    const kept = common(list, other);
    return make("bdi", { lang: fr }, ...body(list).flatMap((word, n) => [kept[n] ? word : make(mark, {}, word), " "]));
  }

  function drawNotes() {
    const lines = [], add = (kind, ...parts) => lines.push(make("p", { class: kind }, ...parts));
    if (complaint) add("at-complaint", complaint.said);
    if (words.length && !stale()) {
      const { plain, steps, title } = models[m], [before, after] = [written(plain), written(steps)];
      if (own) add("at-text", make("bdi", { lang: fr }, text(steps)));
      if (moved(m)) add("", "By itself: ", marked(before, after, "s"));
      else if (live && right() && body(after).join(" ") !== right().join(" "))
        add("", "Right: ", marked(right(), body(after), "b"));
      for (const [n, other] of models.entries()) if (live && n !== m)
        add("", `${other.title} writes: `, make("bdi", { lang: fr }, text(other.steps)), moved(n) ? " (changed)" : "");
      if (steps.at(-1).word !== EOS && live) add("", `${title} does not end by itself and was stopped.`);
      if (own?.note) add("", own.note);
    }
    const look = `any ${french} word to see its weights`, other = "one of the likely words to write it instead.";
    const hint = !live ? [`Click ${look}.`] : !models[m].steps[t]?.alpha ? [`Click ${other}`]
      : [`Drag a bar. Click ${look}, any ${english} word to hide it from the model, or ${other}`,
        "The vector of a word also carries information about its neighbors,",
        "so a line need not join a word with its translation."];
    if (live && models[m].D) hint.push("The triangle is the center of the window; dotted bars are outside it.");
    add("at-hint", hint.join(" "));
    fill(notes, ...lines);
  }

  // --- The question ---

  const asked = () => !m && words.join(" ") === data.first[0];

  function judge() {
    if (!data.question || dragging()) return;   // what moves on the page waits for the hand
    const { bar, least, hidden, clauses, titles, right } = data.question;
    const alike = (set, list) => set.size === list.length && list.every(i => set.has(i));
    const done = titles ? chosen.size === models.length : clauses ? sentences >= 3
      : words.join(" ") === data.first[0] && now.sharpness === 1 && models.every((_, n) => !now.forced[n].size)
      && (hidden ? alike(now.hidden, hidden) && models.every((_, n) => !now.looks[n].size)
        : !now.hidden.size && !m && now.looks[0].size === 1 && now.looks[0].get(data.step)?.[bar] >= least);
    if (done) tried(right);
  }

  // --- Beginning ---

  const status = make("p", { role: "status", class: "at-aloud" });
  const bundles = [], centered = make("path", { class: "at-center" });
  const links = make("svg", { class: "at-links", "aria-hidden": "true" }), caption = make("p", { class: "at-caption" });
  const source = make("div", { class: "at-source", role: "group",
    "aria-label": `${english} ${unit}s, and their weights` });
  const target = make("div", { class: "at-target", role: "listbox", "aria-orientation": "horizontal",
    onkeydown: event => {
      const turn = leftwards(target) ? -1 : 1, to = n => () => choose(n, true);
      return onKey(event, { ArrowRight: to(t + turn), ArrowDown: to(t + 1), ArrowLeft: to(t - turn), ArrowUp: to(t - 1),
        Home: to(0), End: to(Infinity) });
    } });
  const chips = make("div", { class: "at-chips", role: "group",
    "aria-label": "The likeliest words here: choose one to write it" },
    make("small", { class: "at-likeliest" }, "word here:"));
  const stage = make("div", { class: "at-stage" }, links, source, target, chips);
  const notes = make("div", { class: "at-notes" });
  const { field, offers, offer } = writing({ label: `${english} sentence`, numbers, next, typed, dir: "auto",
    placeholder: "Write a sentence", ...own && { oninput: () => own.read(field.value, words, begin, complain) } });
  const clauses = make("select", {},
    ...data.pairs.map((_, n) => make("option", { value: n }, n ? `${n + 1} clauses` : "1 clause")));
  const undo = button("Undo", { onclick: takeBack }), sharp = make("b");
  const slider = make("input", { type: "range", min: 0, max: 4, step: 0.25, value: 1, "aria-label": "sharpness",
    oninput: () => act(() => { now.sharpness = Number(slider.value); }, "sharpness") });
  const switches = choices("model", models.map(({ title }) => title), n => {
    m = n;
    chosen.add(m);
    settle();
  });
  const drawing = own ? [own.choices(() => words.length && begin([...words]))]
    : [button("New sentence", { onclick: another }), make("label", {}, "length ", clauses)];
  const above = live ? [line(field, ...drawing), offers] : [];
  const tuning = live ? [line(undo,
    make("label", { class: "at-sharpness" }, "sharpness of the weights ", slider, " ", sharp))] : [];
  const bench = make("div", {}, ...above, ...(models.length > 1 ? [line(switches)] : []), caption, stage, notes,
    ...tuning, status);
  field.value = words.join(" ");
  clauses.value = (data.question?.clauses ?? 2) - 1;
  card.querySelector(".at-still").replaceWith(bench);
  for (const model of models) [model.plain, model.plainFor] = [model.steps, words];
  dress(card, { onkeydown: event => {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target === field) return;
    event.preventDefault();
    takeBack();
  } });
  field.addEventListener("focus", guard(() => own || offer(words)), { once: true });
  new ResizeObserver(guard(draw)).observe(stage);
  draw();
  if (live) whenTouched(card, () => translate(draw));
});
