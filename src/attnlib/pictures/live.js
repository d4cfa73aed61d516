// Brings live cards to life: the models of recurrent.js translate what a reader writes, and he may interfere.
// It finds every card that no copy of it has found before.
(() => {
  const MOST = 99, LEAST = 0.005;   // words of a sentence; a weight that is still said
  const two = number => (Math.floor(100 * number + 0.5) / 100).toFixed(2);
  const quoted = words => words.map(word => `“${word}”`).join(" and ");
  const pause = () => new Promise(done => setTimeout(done));

  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "rect"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  // Say of each word whether it is one of those that two sentences have in common, in the same order.
  function common(ours, theirs) {
    const most = Array.from({ length: ours.length + 1 }, () => new Array(theirs.length + 1).fill(0));
    for (let a = ours.length - 1; a >= 0; a--)
      for (let b = theirs.length - 1; b >= 0; b--)
        most[a][b] = ours[a] === theirs[b] ? 1 + most[a + 1][b + 1] : Math.max(most[a + 1][b], most[a][b + 1]);
    const kept = ours.map(() => false);
    for (let a = 0, b = 0; a < ours.length && b < theirs.length;) {
      if (ours[a] === theirs[b]) kept[a] = (++b, true);
      if (kept[a] || most[a + 1][b] >= most[a][b + 1]) a++;
      else b++;
    }
    return kept;
  }

  // --- Models: in the card itself, or in the book's folder of models ---

  const packed = window.attnlibPacked ??= {}, opened = window.attnlibOpened ??= {};

  function fetched(digest) {
    const root = document.documentElement.dataset.content_root;
    if (root === undefined) throw new Error("the model is not in this page: run the cell to bring it");
    return new Promise((done, failed) => document.head.append(make("script", {
      src: `${root}_static/models/${digest}.js`,
      onload: () => packed[digest] ? done(packed[digest]) : failed(new Error("the weights are damaged")),
      onerror: () => failed(new Error("the weights cannot be read")),
    })));
  }

  async function load(card, digest) {
    if (opened[digest]) return opened[digest];
    const carried = card.parentNode.querySelector(`script[data-model="${digest}"]`);
    const weights = carried ? JSON.parse(carried.textContent) : packed[digest] ?? await fetched(digest);
    await pause();
    return opened[digest] = window.attnlibRecurrent.open(weights);
  }

  // --- One card ---

  function start(card) {
    const data = JSON.parse(card.querySelector("script[type='application/json']").textContent);
    const known = new Map([...data.pairs.flat(), data.first].map(([sentence, right]) => [sentence, right?.split(" ")]));
    const own = data.own && window.attnlibOwn(data);   // of a model of one's own no grammar is known
    const [english, french, en = "en", fr = "fr", unit = "word"] = data.names;
    const Unit = unit[0].toUpperCase() + unit.slice(1), EOS = 2, NAMES = ["", "", "(end)", "(unknown)"];
    const name = (side, number) => NAMES[number] ?? data[side][number - NAMES.length];
    const numbers = new Map(data.source.map((word, n) => [word, n + NAMES.length]));
    const models = data.models.map(model => ({ ...model, looks: new Map(), forced: new Map() }));
    const drawn = data.pairs.map(() => 0);
    const nothing = () => ({ hidden: new Set(), swapped: [], sharpness: 1 });
    let words = data.first[0].match(/\S+/g) ?? [], change = nothing(), at = null, from = 0, latest = 0, told = 0;
    const sourceWords = () => [...words, NAMES[EOS]];
    const right = () => known.get(words.join(" "));

    // --- Translating ---

    async function translation(model, hand, forced, run) {
      if (model.encodedFor !== words) {
        model.encoded = model.opened.encode([...(own?.numbers ?? words.map(word => numbers.get(word))), EOS]);
        model.encodedFor = words;
      }
      const h = [...model.encoded.h], steps = [];
      change.swapped.forEach(([a, b]) => { [h[a], h[b]] = [h[b], h[a]]; });
      const encoded = { ...model.encoded, h: hand ? h : model.encoded.h };
      let began = performance.now();
      for (const step of own?.search(model.opened, encoded, hand, forced)
          ?? model.opened.greedy(encoded, 2 * words.length + 6, hand, forced)) {
        if (step) steps.push(step);
        if (performance.now() - began < 12) continue;
        await pause();   // so that the page stays free
        if (run !== latest) return null;
        began = performance.now();
      }
      return steps;
    }

    const touched = model => change.hidden.size || change.swapped.length || change.sharpness !== 1 || model.looks.size
      || model.forced.size;

    async function translate(focus, quietly = false) {
      const run = ++latest, before = told;
      try {
        for (const model of models) model.opened ??= await load(card, model.digest);
        for (const model of models) {
          if (model.plainFor !== words) {
            const plain = await translation(model, undefined, undefined, run);
            if (run !== latest) return;
            Object.assign(model, { plain, plainFor: words });
          }
          const hand = { looks: model.looks, hidden: change.hidden, sharpness: change.sharpness };
          const steps = touched(model) ? await translation(model, hand, model.forced, run) : model.plain;
          if (run !== latest) return;
          model.steps = steps;
        }
      } catch (error) {
        const why = error.constructor === Error ? error.message : "the weights are damaged";
        tell(`This card cannot translate: ${why}. What stands here stays as it was.`);
        return;
      }
      if (at && at.t >= at.model.steps.length) at = { model: at.model, t: at.model.steps.length - 1 };
      if (!quietly || at) draw(focus);
      if (!quietly && told === before) tell(models.map(report).join(" "));
    }

    const written = steps => steps.map(step => name("target", step.word));
    const body = steps => written(steps).filter(word => word !== NAMES[EOS]);
    const text = steps => own?.text(steps.map(step => step.word)) ?? body(steps).join(" ");

    function report(model) {
      const now = written(model.steps), before = written(model.plain ?? model.steps), title = `${model.title}: `;
      if (!touched(model)) return `${title}${text(model.steps)}. ${own?.note ?? verdict(model)}`;
      if (now.join(" ") === before.join(" ")) return `${title}no ${unit} changed.`;
      const same = common(now, before), first = same.indexOf(false), count = same.filter(kept => !kept).length;
      if (first < 0) return `${title}without ${quoted(before.filter((_, t) => !common(before, now)[t]))} now.`;
      return `${title}${count} of ${now.length} ${unit}s changed, the first is ${unit} ${first + 1}, “${now[first]}”.`;
    }

    function verdict(model) {
      if (!right()) return "";
      const wrong = common(body(model.steps), right()).filter(kept => !kept).length;
      const missing = common(right(), body(model.steps)).filter(kept => !kept).length;
      if (!wrong && !missing) return "Every word is right.";
      if (!wrong) return `${missing} missing.`;
      return `${wrong} of ${body(model.steps).length} words ${wrong > 1 ? "are" : "is"} wrong.`;
    }

    // --- Writing a sentence ---

    const field = make("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "none",
      placeholder: own && "Write a sentence", "aria-label": `${english} sentence`,
      oninput: own ? () => own.read(field.value, words, begin, tell) : typed });
    const offers = make("div", { class: "attnlib-offers", role: "group", "aria-label": "Words that may follow" });

    function typed() {
      const complete = field.value.toLowerCase().match(/[^\s.,;!?]+/g) ?? [];
      const partial = /\S$/.test(field.value) && !numbers.has(complete.at(-1)) ? complete.pop() ?? "" : "";
      const unknown = complete.find(word => !numbers.has(word))
        ?? (partial && !data.source.some(word => word.startsWith(partial)) ? partial : undefined);
      offer(complete, partial);
      if (unknown !== undefined) {
        const known = `the ${data.source.length} ${english} words that the model knows`;
        tell(`“${unknown.slice(0, 40)}” is not one of ${known}.`);
      } else if (complete.length > MOST) tell(`These are ${complete.length} words; write at most ${MOST}.`);
      else if (!complete.length) tell("Write a sentence: words that may come next are below the line.");
      else if (complete.join(" ") !== words.join(" ")) begin(complete);
    }

    // Offer what may follow: by the word before, and by whether the last article was a singular one.
    function offer(complete, partial) {
      const singular = ["a", "an"].includes(complete.findLast(word => ["a", "an", "the"].includes(word)));
      const before = data.kinds[data.source.indexOf(complete.at(-1))] ?? "";
      const may = data.follow[before + (singular ? "*" : "")] ?? data.kinds;
      const fitting = data.source.filter((word, n) => may.includes(data.kinds[n]) && word.startsWith(partial));
      offers.replaceChildren(...fitting.slice(0, 12).map(word => make("button", { type: "button", onclick: () => {
        field.value = [...complete, word, ""].join(" ");
        field.focus();
        typed();
      } }, word)));
    }

    function begin(sentence) {
      words = sentence;
      [at, from] = [null, 0];
      forget();
      translate();
    }

    function forget() {
      change = nothing();
      for (const model of models) [model.looks, model.forced] = [new Map(), new Map()];
      slider.value = 1;
    }

    const clauses = make("select", { "aria-label": "number of clauses" },
      ...data.pairs.map((_, n) => make("option", { value: n }, n ? `${n + 1} clauses` : "1 clause")));

    function draws() {
      const sentences = data.pairs[clauses.value];
      field.value = sentences[drawn[clauses.value]++ % sentences.length][0];
      offer(field.value.split(" "), "");
      begin(field.value.split(" "));
    }

    // --- Interfering ---

    function interfere(act, focus) {
      act();
      translate(focus);
    }

    const oneHot = i => Float64Array.from(sourceWords(), (_, n) => n === i ? 1 : 0);
    const alike = () => Float64Array.from(sourceWords(), () => 1 / sourceWords().length);
    const slider = make("input", { type: "range", min: 0, max: 4, step: 0.25, value: 1, "aria-label": "sharpness",
      oninput: () => interfere(() => { change.sharpness = Number(slider.value); }) });

    const takeBack = () => interfere(forget, at ? `${models.indexOf(at.model)}.${at.t}` : "s0");

    function changes() {
      const list = [...change.hidden].map(i => `nobody looks at “${sourceWords()[i]}”`);
      list.push(...change.swapped.map(pair => `annotations of ${quoted(pair.map(i => sourceWords()[i]))} swapped`));
      if (change.sharpness !== 1) list.push(`sharpness ${change.sharpness}`);
      for (const { title, looks, forced } of models) {
        looks.forEach((alpha, t) => {
          const i = alpha.indexOf(1);
          const where = i < 0 ? "everywhere alike" : `at “${sourceWords()[i]}” alone`;
          list.push(`${title}, ${unit} ${t + 1} looks ${where}`);
        });
        forced.forEach((word, t) => list.push(`${title}, ${unit} ${t + 1} is to be “${name("target", word)}”`));
      }
      return list;
    }

    // --- Drawing ---

    const p = (...children) => make("p", {}, ...children);
    const b = (...children) => make("b", {}, ...children);
    const acts = (...children) => make("div", { class: "attnlib-acts" }, ...children);
    const button = (text, onclick, key, more = {}) =>
      make("button", { type: "button", onclick, "data-key": key, ...more }, text);
    const hint = `Choose a ${unit} of the translation to see its step, and to interfere.`;
    const status = make("p", { role: "status" }), panel = make("div", { class: "attnlib-step" });
    const source = make("div"), results = make("div"), changed = p(), sharpness = b();
    const back = button("Take all back", takeBack, "back"), both = make("div", { class: "attnlib-both" });

    function tell(text) {
      told++;
      if (status.textContent !== text) status.textContent = text;
    }

    // A row of words to choose from, by pointer or by arrow keys: each with marks, and with notes for those who listen.
    function row(label, lang, list, chosen, choose, key) {
      const group = make("div", { class: "attnlib-words", role: "listbox", "aria-label": label, lang,
        "aria-orientation": "horizontal" });
      group.append(...list.map(({ word, weight, marks = [], notes = [], style }, n) => make("span", {
        role: "option", "aria-selected": n === chosen, "aria-label": [word, ...notes].join(", "), style,
        tabindex: n === Math.max(chosen, 0) ? 0 : -1, class: marks.join(" "), "data-key": `${key}${n}`,
        onclick: () => choose(n),
      }, word, ...(weight ? [make("small", { "aria-hidden": "true" }, weight)] : []))));
      group.addEventListener("keydown", event => {
        const now = [...group.children].indexOf(document.activeElement), last = list.length - 1;
        const to = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: last,
          Enter: now, " ": now }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(Math.min(Math.max(to, 0), last));
      });
      return group;
    }

    // Everything anew; what had the focus, or what is named by its key, has it afterwards.
    function draw(focus = document.activeElement?.dataset?.key) {
      const step = at?.model.steps[at.t], list = changes();
      both.hidden = !words.length;
      if (both.hidden || models.some(({ plainFor = words }) => plainFor !== words)) return;   // on its way
      source.replaceChildren(b(english), row(`${english} ${unit}s`, en, sourceWords().map((word, i) => {
        const weight = step?.alpha?.[i] ?? 0, hidden = change.hidden.has(i);
        return { word, weight: weight >= LEAST ? two(weight) : "\u00a0",
          marks: hidden ? ["attnlib-hidden"] : [], notes: hidden ? ["not looked at"] : [],
          style: `--weight: ${Math.round(55 * weight)}%` };
      }), from, chooseSource, "s"));
      const wrong = right() && models.some(model => body(model.steps).join(" ") !== right().join(" "));
      const correct = wrong ? [p("Right: ", make("span", { lang: fr }, right().join(" ")))] : [];
      results.replaceChildren(...models.map(drawModel), ...correct);
      panel.replaceChildren(...(step ? drawStep(step) : [p(hint)]));
      sharpness.textContent = change.sharpness;
      back.hidden = !list.length;
      changed.textContent = list.length ? `Changed: ${list.join("; ")}.` : "";
      if (focus) card.querySelector(`[data-key="${focus}"]`)?.focus();
    }

    function drawModel(model, m) {
      const now = written(model.steps), correct = right();
      const fits = correct ? common(now, [...correct, NAMES[EOS]]) : now.map(() => true);
      const kept = common(now, written(model.plain ?? model.steps));
      const list = now.map((word, t) => {
        const notes = [...(fits[t] ? [] : ["wrong"]), ...(kept[t] ? [] : ["changed"])];
        return { word, notes, marks: notes.map(note => `attnlib-${note}`) };
      });
      const choose = t => {
        at = { model, t };
        draw(`${m}.${t}`);
        tell(stepText());
      };
      const stopped = model.steps.at(-1).word === EOS ? "" : " It does not end by itself and was stopped.";
      const group = make("div", { class: "attnlib-model", role: "group", "aria-label": model.title },
        b(model.title), ` ${verdict(model)}${stopped}`,
        ...(own ? [make("p", { lang: fr, class: "attnlib-text" }, text(model.steps))] : []),
        row(`${french} ${unit}s, ${model.title}`, fr, list, at?.model === model ? at.t : -1, choose, `${m}.`));
      if (model.steps[0].alpha) group.append(map(model, choose));
      return group;
    }

    // All weights of a translation, a row for each word.
    function map(model, choose) {
      const across = sourceWords().length, down = model.steps.length;
      const svg = make("svg", { role: "img", class: "attnlib-map", viewBox: `0 0 ${across} ${down}`,
        "aria-label": `Weights of ${model.title}: ${english} across, ${french} down`,
        style: `width: ${Math.min(14 * across, 420)}px`,
        onclick: event => {
          const { top, height } = svg.getBoundingClientRect();
          choose(Math.min(Math.floor((event.clientY - top) / height * down), down - 1));
        } });
      const cell = (x, y, attributes) => svg.append(make("rect", { x, y, width: 1, height: 1, ...attributes }));
      cell(0, 0, { class: "attnlib-ground", width: across, height: down });
      model.steps.forEach((step, t) => step.alpha.forEach((weight, i) => {
        if (weight >= 0.02) cell(i, t, { "fill-opacity": weight.toFixed(2) });
      }));
      if (at?.model === model) cell(0, at.t, { class: "attnlib-now", width: across });
      return svg;
    }

    function greatest(numbers, most) {
      return [...numbers.keys()].sort((one, other) => numbers[other] - numbers[one]).slice(0, most);
    }

    function stepText() {
      const { alpha, word } = at.model.steps[at.t], begun = `${Unit} ${at.t + 1}, “${name("target", word)}”`;
      if (!alpha) return `${begun}: this model has no attention; it reads the same summary at every step.`;
      const looks = greatest(alpha, 3).filter(i => alpha[i] >= LEAST).map(i => `${sourceWords()[i]} ${two(alpha[i])}`);
      return `${begun}, looks at ${looks.join(", ") || "nothing"}.`;
    }

    function chooseSource(i) {
      from = i;
      draw(`s${i}`);
      tell(`“${sourceWords()[i]}” is chosen. ${at ? "" : hint}`);
    }

    // Many numbers as a strip of colours: blue above 0, orange below.
    function strip(numbers, label) {
      const canvas = make("canvas", { width: numbers.length, height: 1, role: "img", "aria-label": label });
      const ink = canvas.getContext("2d"), most = Math.max(...numbers.map(Math.abs)) || 1;
      numbers.forEach((number, n) => {
        ink.fillStyle = `rgb(${number < 0 ? "213 94 0" : "0 114 178"} / ${Math.abs(number) / most})`;
        ink.fillRect(n, 0, 1, 1);
      });
      return canvas;
    }

    function drawStep(step) {
      const { model, t } = at;
      const head = b(`${Unit} ${t + 1} of ${model.title}: `, make("span", { lang: fr }, name("target", step.word)));
      if (!step.p) return [head, p("The model is on its way.")];
      const likely = greatest(step.p, 3).map((word, k) => {
        const write = () => interfere(() => model.forced.set(t, word), `p${k}`);
        const text = name("target", word), probability = two(step.p[word]);
        return button(`${text} ${probability}`, write, `p${k}`, { lang: fr,
          "aria-pressed": word === step.word, "aria-label": `write ${text}, probability ${probability}` });
      });
      const parts = [head, p("Likeliest; choose one to write it instead:"), acts(...likely)];
      return [...parts, ...(step.alpha ? drawLook(step, model, t) : [p("This model has no attention.")])];
    }

    // What a reader can do about a look, and what it is made of.
    function drawLook(step, model, t) {
      const all = sourceWords(), hidden = change.hidden.has(from);
      const act = (text, key, doIt) => button(text, () => interfere(doIt, key), key);
      const others = all.map((word, i) => make("option", { value: i }, word)).filter((_, i) => i !== from);
      const other = make("select", { "aria-label": `the ${unit} to swap with ${all[from]}` }, ...others);
      const numbers = all.map((word, i) => make("tr", {}, make("th", { scope: "row", lang: en }, word),
        make("td", {}, step.e[i] === -Infinity ? "not seen" : two(step.e[i])), make("td", {}, two(step.alpha[i]))));
      const head = [unit, "score", "weight"].map(text => make("th", { scope: "col" }, text));
      const centre = step.centre === undefined ? "" : ` The window's centre is ${two(step.centre)}, counted from 0.`;
      return [
        p(`${english} ${unit} chosen: `, b(all[from]), ". At this step"), acts(
          act("look here", "look", () => model.looks.set(t, oneHot(from))),
          act("look everywhere alike", "alike", () => model.looks.set(t, alike()))),
        p("At every step"), acts(
          act(hidden ? "look there again" : "do not look there", "hide",
            () => change.hidden.delete(from) || change.hidden.add(from)),
          act("swap its annotation with", "swap", () => change.swapped.push([from, Number(other.value)])), other),
        p(`${model.asks} asks, ${step.asks.length} numbers.${centre}`), strip(step.asks, "the state that asks"),
        p(`The context, ${step.c.length} numbers, is the average by these weights.`), strip(step.c, "the context"),
        make("div", { class: "attnlib-scroll attnlib-scores", tabindex: 0, role: "group", "aria-label": "the numbers" },
          make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...numbers))),
      ];
    }

    // --- Standing there, and waiting for a reader ---

    for (const model of models)
      model.steps = model.steps.map(({ word, weights }) => ({ word, alpha: weights?.map(x => x / 1000) }));
    field.value = words.join(" ");
    clauses.value = 1;
    const drawing = own?.choices(() => begin([...words])) ?? acts(button("Another sentence of", draws, "draw"), clauses);
    const tuning = acts(make("label", {}, "sharpness ", slider, " ", sharpness), back);
    both.append(make("div", {}, source, results, tuning, changed), panel);
    card.querySelector(".attnlib-still").replaceWith(make("div", {
      class: "attnlib-bench", "data-lm-suppress-shortcuts": "true", onkeydown: event => event.stopPropagation(),
    }, make("div", { class: "attnlib-write" }, field, offers, drawing, status), both));
    draw();
    field.addEventListener("focus", () => offer(words, ""), { once: true });

    let waiting = true;
    const wake = () => {
      if (waiting) translate(undefined, true);
      waiting = false;
    };
    for (const touch of ["pointerover", "focusin"]) card.addEventListener(touch, wake, { once: true });
    const near = new IntersectionObserver(seen => seen.some(one => one.isIntersecting) && (near.disconnect(), wake()),
      { rootMargin: "300px" });
    addEventListener("scroll", () => near.observe(card), { once: true, passive: true });
  }

  window.attnlibLive = () => {
    for (const card of document.querySelectorAll(".attnlib-live:not([data-ready])")) {
      card.dataset.ready = "";
      start(card);
    }
  };
  window.attnlibLive();
})();
