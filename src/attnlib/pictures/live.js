// Brings live cards to life: the models of recurrent.js translate what a reader writes, and he may interfere.
// It finds every card that no copy of it has found before.
(() => {
  const MOST = 99;   // words of a sentence
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
    const END = 2, NAMES = ["", "", "(end)", "(unknown)"];
    const name = (side, number) => NAMES[number] ?? data[side][number - NAMES.length];
    const numbers = new Map(data.source.map((word, n) => [word, n + NAMES.length]));
    const models = data.models.map(model => ({ ...model, looks: new Map(), forced: new Map() }));
    const drawn = data.pairs.map(() => 0);
    const nothing = () => ({ hidden: new Set(), swapped: [], sharpness: 1 });
    let words = data.first[0].split(" "), change = nothing(), at = null, from = 0, latest = 0, told = 0;
    const sourceWords = () => [...words, NAMES[END]];
    const right = () => known.get(words.join(" "));

    // --- Translating ---

    async function translation(model, hand, forced, run) {
      if (model.encodedFor !== words) {
        model.encoded = model.opened.encode([...words.map(word => numbers.get(word)), END]);
        model.encodedFor = words;
      }
      const h = [...model.encoded.h], steps = [];
      change.swapped.forEach(([a, b]) => { [h[a], h[b]] = [h[b], h[a]]; });
      const encoded = { ...model.encoded, h: hand ? h : model.encoded.h };
      let began = performance.now();
      for (const step of model.opened.greedy(encoded, 2 * words.length + 6, hand, forced)) {
        steps.push(step);
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
        tell(`This card cannot translate: ${error.message}. What stands here stays as it was.`);
        return;
      }
      if (at && at.t >= at.model.steps.length) at = { model: at.model, t: at.model.steps.length - 1 };
      if (!quietly || at) draw(focus);
      if (!quietly && told === before) tell(models.map(report).join(" "));
    }

    const written = steps => steps.map(step => name("target", step.word));
    const body = steps => written(steps).filter(word => word !== NAMES[END]);

    function report(model) {
      const now = written(model.steps), before = written(model.plain ?? model.steps), title = `${model.title}: `;
      if (!touched(model)) return `${title}${body(model.steps).join(" ")}. ${verdict(model)}`;
      const same = common(now, before), first = same.indexOf(false), count = same.filter(kept => !kept).length;
      if (now.join(" ") === before.join(" ")) return `${title}no word changed.`;
      return first < 0 ? `${title}${before.length - now.length} words fewer.`
        : `${title}${count} of ${now.length} words changed, the first is word ${first + 1}, “${now[first]}”.`;
    }

    function verdict(model) {
      if (!right()) return "";
      const wrong = common(body(model.steps), right()).filter(kept => !kept).length;
      const missing = common(right(), body(model.steps)).filter(kept => !kept).length;
      if (!wrong && !missing) return "Every word is right.";
      return wrong ? `${wrong} of ${body(model.steps).length} words ${wrong > 1 ? "are" : "is"} wrong.` : `${missing} missing.`;
    }

    // --- Writing a sentence ---

    const field = make("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "none",
      "aria-label": `${data.names[0]} sentence`, oninput: typed });
    const offers = make("div", { class: "attnlib-offers", role: "group", "aria-label": "Words that may follow" });

    function typed() {
      const complete = field.value.toLowerCase().match(/[^\s.,;!?]+/g) ?? [];
      const partial = /\S$/.test(field.value) && !numbers.has(complete.at(-1)) ? complete.pop() ?? "" : "";
      const unknown = complete.find(word => !numbers.has(word))
        ?? (partial && !data.source.some(word => word.startsWith(partial)) ? partial : undefined);
      offer(complete, partial);
      if (unknown !== undefined)
        tell(`“${unknown.slice(0, 40)}” is not one of the ${data.source.length} ${data.names[0]} words that the model knows.`);
      else if (complete.length > MOST) tell(`These are ${complete.length} words; write at most ${MOST}.`);
      else if (!complete.length) tell(`Write a sentence: words that may come next are below the line.`);
      else if (complete.join(" ") !== words.join(" ")) begin(complete);
    }

    // Offer what may follow: by the word before, and by whether the last article was a singular one.
    function offer(complete, partial) {
      const singular = ["a", "an"].includes(complete.findLast(word => ["a", "an", "the"].includes(word)));
      const before = data.kinds[data.source.indexOf(complete.at(-1))] ?? "";
      const may = data.follow[before + (singular ? "*" : "")] ?? data.kinds;
      const fitting = data.source.filter((word, n) => may.includes(data.kinds[n]) && word.startsWith(partial)).slice(0, 12);
      offers.replaceChildren(...fitting.map(word => make("button", { type: "button", onclick: () => {
        field.value = [...complete, word, ""].join(" ");
        field.focus();
        typed();
      } }, word)));
    }

    function begin(sentence) {
      words = sentence;
      [change, at, from] = [nothing(), null, 0];
      for (const model of models) [model.looks, model.forced] = [new Map(), new Map()];
      slider.value = 1;
      return translate();
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

    function takeBack() {
      begin(words);
      field.focus();
    }

    function changes() {
      const list = [...change.hidden].map(i => `nobody looks at “${sourceWords()[i]}”`);
      list.push(...change.swapped.map(pair => `annotations of ${quoted(pair.map(i => sourceWords()[i]))} swapped`));
      if (change.sharpness !== 1) list.push(`sharpness ${change.sharpness}`);
      for (const { title, looks, forced } of models) {
        looks.forEach((alpha, t) => {
          const i = alpha.indexOf(1);
          list.push(`${title}, word ${t + 1} looks ${i < 0 ? "everywhere alike" : `at “${sourceWords()[i]}” alone`}`);
        });
        forced.forEach((word, t) => list.push(`${title}, word ${t + 1} is to be “${name("target", word)}”`));
      }
      return list;
    }

    // --- Drawing ---

    const status = make("p", { role: "status" }), source = make("div"), panel = make("div", { class: "attnlib-step" });
    const results = make("div"), changed = make("p"), sharpness = make("b");
    const button = (text, onclick, key, more = {}) => make("button", { type: "button", onclick, "data-key": key, ...more }, text);

    const back = button("Take all back", takeBack, "back");

    function tell(text) {
      told++;
      if (status.textContent !== text) status.textContent = text;
    }

    // A row of words to choose from, by pointer or by arrow keys.
    function row(label, lang, list, chosen, choose, key) {
      const group = make("div", { class: "attnlib-words", role: "listbox", "aria-label": label, lang,
        "aria-orientation": "horizontal" });
      group.append(...list.map(({ word, note, marks = "", style, notes = [] }, n) => make("span", {
        role: "option", "aria-selected": n === chosen, tabindex: n === Math.max(chosen, 0) ? 0 : -1, style, class: marks,
        "aria-label": [word, ...notes].join(", "), "data-key": `${key}${n}`, onclick: () => choose(n) }, word,
      ...(note === undefined ? [] : [make("small", { "aria-hidden": "true" }, note)]))));
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

    function draw(focus = document.activeElement?.dataset?.key) {
      const step = at?.model.steps[at.t];
      source.replaceChildren(make("b", {}, data.names[0]), row(`${data.names[0]} words`, "en", sourceWords().map((word, i) => ({
        word, note: step?.alpha && step.alpha[i] >= 0.005 ? two(step.alpha[i]) : "\u00a0",
        marks: change.hidden.has(i) ? "attnlib-hidden" : "", notes: change.hidden.has(i) ? ["not looked at"] : [],
        style: step?.alpha ? `background: color-mix(in srgb, #0072b2 ${(55 * step.alpha[i]).toFixed(0)}%, white)` : undefined,
      })), from, chooseSource, "s"));
      results.replaceChildren(...models.map(drawModel));
      panel.replaceChildren(...(step ? drawStep(step) : [make("p", {}, "Choose a word of the translation to see its step,"
        + " and to interfere.")]));
      const list = changes();
      sharpness.textContent = change.sharpness;
      back.hidden = !list.length;
      changed.textContent = list.length ? `Changed: ${list.join("; ")}.` : "";
      if (focus) card.querySelector(`[data-key="${focus}"]`)?.focus();
    }

    function drawModel(model, m) {
      const now = written(model.steps), correct = right(), before = written(model.plain ?? model.steps);
      const fits = correct ? common(now, [...correct, NAMES[END]]) : now.map(() => true);
      const kept = common(now, before);
      const list = now.map((word, t) => ({ word,
        marks: `${fits[t] ? "" : "attnlib-wrong"} ${kept[t] ? "" : "attnlib-changed"}`,
        notes: [...(fits[t] ? [] : ["wrong"]), ...(kept[t] ? [] : ["changed"])] }));
      const choose = t => {
        at = { model, t };
        draw(`${m}.${t}`);
        tell(stepText());
      };
      const stopped = model.steps.at(-1).word === END ? "" : " It does not end by itself and was stopped.";
      return make("section", { "aria-label": model.title }, make("b", {}, model.title), " ",
        make("span", {}, `${verdict(model)}${stopped}`),
        row(`${data.names[1]} words, ${model.title}`, "fr", list, at?.model === model ? at.t : -1, choose, `${m}.`),
        ...(correct && !fits.every(Boolean) ? [make("p", {}, "Right: ", make("span", { lang: "fr" }, correct.join(" ")))] : []),
        ...(model.steps[0].alpha ? [map(model, choose)] : []));
    }

    function map(model, choose) {
      const across = sourceWords().length, down = model.steps.length;
      const cells = model.steps.flatMap((step, t) => [...step.alpha].map((weight, i) => [weight, i, t]))
        .filter(([weight]) => weight >= 0.02);
      const svg = make("svg", { role: "img", "aria-label": `Weights, ${model.title}: ${data.names[0]} across, ${data.names[1]} down`,
        class: "attnlib-map", viewBox: `0 0 ${across} ${down}`, style: `width: ${Math.min(14 * across, 420)}px`,
        onclick: event => {
          const { top, height } = svg.getBoundingClientRect();
          choose(Math.min(Math.floor((event.clientY - top) / height * down), down - 1));
        } },
      make("rect", { class: "attnlib-ground", width: across, height: down }),
      ...cells.map(([weight, x, y]) => make("rect", { x, y, width: 1, height: 1, "fill-opacity": weight.toFixed(2) })));
      if (at?.model === model) svg.append(make("rect", { class: "attnlib-now", y: at.t, width: across, height: 1 }));
      return svg;
    }

    function stepText() {
      const step = at.model.steps[at.t], word = name("target", step.word);
      const begun = `Word ${at.t + 1} of ${at.model.steps.length}, “${word}”`;
      if (!step.alpha) return `${begun}: this model has no attention; it reads the same summary at every step.`;
      const top = [...step.alpha.keys()].sort((a, b) => step.alpha[b] - step.alpha[a]).slice(0, 3).filter(i => step.alpha[i] >= 0.005);
      return `${begun}, looks at ${top.map(i => `${sourceWords()[i]} ${two(step.alpha[i])}`).join(", ") || "nothing"}.`;
    }

    function chooseSource(i) {
      from = i;
      draw(`s${i}`);
      tell(`“${sourceWords()[i]}” is chosen${at ? "" : "; choose a word of the translation to make it look here"}.`);
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
      const { model, t } = at, word = sourceWords()[from];
      const parts = [make("b", {}, `Word ${t + 1} of ${model.title}: `, make("span", { lang: "fr" }, name("target", step.word)))];
      if (!step.p) return [...parts, make("p", {}, "The model is on its way.")];
      const likely = [...step.p.keys()].sort((a, b) => step.p[b] - step.p[a]).slice(0, 3);
      parts.push(make("p", {}, "Likeliest; choose one to write it instead:"), make("div", { class: "attnlib-acts", lang: "fr" },
        ...likely.map((n, k) => button(`${name("target", n)} ${two(step.p[n])}`, () => interfere(() => model.forced.set(t, n), `p${k}`),
          `p${k}`, { "aria-pressed": n === step.word, "aria-label": `write ${name("target", n)}, probability ${two(step.p[n])}` }))));
      if (!step.alpha) return [...parts, make("p", {}, "This model has no attention: every step reads the same summary.")];
      const others = sourceWords().map((other, i) => make("option", { value: i }, other)).filter((_, i) => i !== from);
      const swap = make("select", { "aria-label": `word to swap the annotation of ${word} with`, "data-key": "other" }, ...others);
      parts.push(make("p", {}, "Chosen above: ", make("b", {}, word), ". At this step"), make("div", { class: "attnlib-acts" },
        button("look here", () => interfere(() => model.looks.set(t, oneHot(from)), "look"), "look"),
        button("look everywhere alike", () => interfere(() => model.looks.set(t, alike()), "alike"), "alike")),
      make("p", {}, "At every step"), make("div", { class: "attnlib-acts" },
        button(change.hidden.has(from) ? "look there again" : "do not look there", () => interfere(() =>
          change.hidden.delete(from) || change.hidden.add(from), "hide"), "hide"),
        button("swap its annotation with", () => interfere(() => change.swapped.push([from, Number(swap.value)]), "swap"), "swap"), swap));
      parts.push(make("p", {}, `${model.asks} asks, ${step.asks.length} numbers:`), strip(step.asks, "the state that asks"),
        make("p", {}, `The context, ${step.c.length} numbers, is the average by these weights:`), strip(step.c, "the context"));
      if (step.centre !== undefined) parts.push(make("p", {}, `The window's centre is ${two(step.centre)}, counted from 0.`));
      const rows = sourceWords().map((other, i) => make("tr", {}, make("th", { scope: "row", lang: "en" }, other),
        make("td", {}, step.e[i] === -Infinity ? "not seen" : two(step.e[i])), make("td", {}, two(step.alpha[i]))));
      parts.push(make("div", { class: "attnlib-scroll attnlib-scores", tabindex: 0, role: "group", "aria-label": "scores and weights" },
        make("table", {}, make("thead", {}, make("tr", {}, ...["word", "score", "weight"].map(head =>
          make("th", { scope: "col" }, head)))), make("tbody", {}, ...rows))));
      return parts;
    }

    // --- Standing there, and waiting for a reader ---

    for (const model of models) model.steps = model.steps.map(({ word, weights }) => ({ word, alpha: weights?.map(x => x / 1000) }));
    field.value = words.join(" ");
    clauses.value = 1;
    card.querySelector(".attnlib-still").replaceWith(make("div", { class: "attnlib-bench", "data-lm-suppress-shortcuts": "true",
      onkeydown: event => event.stopPropagation() },
    make("div", { class: "attnlib-write" }, field, offers, make("div", { class: "attnlib-acts" },
      button("Another sentence of", draws, "draw"), clauses), status),
    make("div", { class: "attnlib-both" },
      make("div", {}, source, results, make("div", { class: "attnlib-acts" },
        make("label", {}, "sharpness ", slider, " ", sharpness), back), changed),
      panel)));
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
