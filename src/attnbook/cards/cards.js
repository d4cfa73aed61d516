// What all cards share: making nodes, reading models, the question that is asked first, finding the cards of a page.
window.attnlibCards ??= (() => {
  const SVG = ["svg", "g", "path", "rect", "circle", "line", "text", "tspan", "image", "polygon"], kinds = {}, opened = {};
  const EOS = 2, SPECIAL = ["", "(begin)", "(end)", "(unknown)"];   // the first words of every vocabulary
  let cards = 0;

  // Two decimals, as Python writes them: a half goes up.
  const two = x => (Math.floor(100 * x + 0.5) / 100).toFixed(2).replace("-", "−");
  const clamp = (x, least, most) => Math.min(Math.max(x, least), most);
  const maxLength = words => 2 * words.length + 5;   // of a translation, as sentences.py has it
  const sum = list => list.reduce((total, x) => total + x, 0);
  function softmax(scores) {
    const peak = Math.max(...scores), parts = scores.map(e => Math.exp(e - peak)), all = sum(parts);
    return parts.map(part => part / all);
  }

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  // Where the greatest numbers stand, from the greatest on.
  function greatest(list, most) {
    const places = [], better = (best, x, n) => !(x <= list[best]) && !places.includes(n) ? n : best;
    while (places.length < Math.min(most, list.length)) places.push(list.reduce(better, -1));
    return places;
  }

  // Where each of our words stands in theirs, of those that both have in the same order; -1 if it does not.
  function match(ours, theirs) {
    const most = Array.from({ length: ours.length + 1 }, () => [...theirs, 0].fill(0)), places = ours.map(() => -1);
    for (let a = ours.length - 1; a >= 0; a--)
      for (let b = theirs.length - 1; b >= 0; b--)
        most[a][b] = ours[a] === theirs[b] ? 1 + most[a + 1][b + 1] : Math.max(most[a + 1][b], most[a][b + 1]);
    for (let a = 0, b = 0; a < ours.length && b < theirs.length;)
      if (ours[a] === theirs[b]) places[a++] = b++;
      else if (most[a + 1][b] >= most[a][b + 1]) a++;
      else b++;
    return places;
  }

  const cardOf = node => node.closest(".attnlib-card");

  // Call a function, now or when something happens; if it fails, the card says so.
  const guarded = (card, call) => async (...given) => {
    try {
      return await call(...given);
    } catch ({ message }) {
      forget(card);
      card.prepend(make("p", { class: "at-cannot", role: "alert" },
        `This card cannot compute: ${message}. What stands here stays as it was.`));
    }
  };
  const forget = card => card.querySelector(".at-cannot")?.remove();

  function make(tag, attributes = {}, ...children) {
    const svg = SVG.includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    dress(node, attributes).append(...children);
    return node;
  }

  // The pixels that words take.
  const FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif", ruler = make("canvas").getContext("2d");
  function widths(words, size, weight = 400) {
    ruler.font = `${weight} ${size}px ${FONT}`;
    return words.map(word => ruler.measureText(word).width);
  }

  const button = (text, attributes) => make("button", { type: "button", ...attributes }, text);
  const line = (...parts) => make("div", { class: "at-line" }, ...parts.filter(Boolean));

  function dress(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), event => guarded(cardOf(node), value)(event));
      else if (value === undefined) node.removeAttribute(name);
      else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);   // a write costs a layout
    }
    return node;
  }

  function fill(node, ...children) {   // unless this stands there already
    const next = node.cloneNode();
    next.append(...children);
    if (!next.isEqualNode(node)) node.replaceChildren(...next.childNodes);
  }

  function write(node, text) {   // unless this is written there already
    if (node.textContent !== text) node.textContent = text;
  }

  // What is read aloud changes only where the hand rests, so that a held key says one thing.
  function sayAtRest(node, text, wait = 500) {
    clearTimeout(node.saying);
    node.saying = setTimeout(write, wait, node, text);
  }

  // --- The hand, and the room ---

  // Do what a key is for; with Ctrl, Alt or Meta it is the browser's.
  function onKey(event, acts) {
    const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : acts[event.key];
    if (!act) return false;
    event.preventDefault();
    return act() ?? true;
  }

  // While a pointer holds what it has pressed, `move` gets its events, and `end` the last one.
  function follow(event, move, end) {
    const node = event.currentTarget, card = cardOf(node);
    node.setPointerCapture(event.pointerId);
    node.onpointermove = guarded(card, move);
    node.onpointerup = node.onpointercancel = guarded(card, event => {
      node.onpointermove = node.onpointerup = node.onpointercancel = null;
      return end(event);
    });
  }

  // When a node is wider or narrower than before; on paper it has no width.
  function onWidth(node, act) {
    let wide = node.clientWidth;
    new ResizeObserver(guarded(cardOf(node), () => {
      if ([0, wide].includes(node.clientWidth)) return;
      wide = node.clientWidth;
      return act();
    })).observe(node);
  }

  // Buttons of which one is chosen.
  function choices(label, titles, choose) {
    const name = `attnlib-choice-${++cards}`;
    return make("div", { class: "at-switch", role: "radiogroup", "aria-label": label }, ...titles.map((title, n) =>
      make("label", {}, make("input", { type: "radio", name, checked: n ? undefined : "", onchange: () => choose(n) }),
        make("span", {}, title))));
  }

  // --- Words: the target word of a number and its number, the numbers of source words, and a line to write in ---

  const vocabularies = ({ source, target }) => ({
    name: number => SPECIAL[number] ?? target[number - SPECIAL.length],
    number: word => target.indexOf(word) + SPECIAL.length,
    numbers: new Map(source.map((word, n) => [word, n + SPECIAL.length])),
  });

  // A line, and below it words that may be next; `typed` gets the whole words, and the beginning of another one.
  function writing({ label, numbers, next, typed, ...more }) {
    const field = make("input", { type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "none",
      "aria-label": label, oninput: read, ...more });
    const offers = make("div", { class: "at-offers", role: "group", "aria-label": "Words that may follow" });

    function offer(complete, partial = "") {
      const take = word => {
        field.value = [...complete, word, ""].join(" ");
        field.focus();
        return read();
      };
      offers.replaceChildren(...next(complete).filter(word => word.startsWith(partial)).slice(0, 12)
        .map(word => button(word, { onclick: () => take(word) })));
    }

    function read() {
      const complete = field.value.toLowerCase().match(/[^\s.,;!?]+/g) ?? [];
      const partial = /\S$/.test(field.value) && !numbers.has(complete.at(-1)) ? complete.pop() ?? "" : "";
      offer(complete, partial);
      return typed(complete, partial);
    }

    return { field, offers, offer };
  }

  // Work in slices of so many milliseconds, between which the page is free, until it is done or other work begins.
  function inSlices(card, work, patience, opening, between = () => {}) {
    const job = card.job = {}, go = guarded(card, () => {
      if (job !== card.job) return;
      for (const until = performance.now() + patience; performance.now() < until;) if (work.next().done) return;
      between();
      setTimeout(go);
    });
    return opening ? opening.then(go) : go();
  }

  // --- Models: in the card's own output, or in the book's folder of models ---

  const packed = window.attnlibPacked ??= {}, pause = () => new Promise(done => setTimeout(done));

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
    forget(card);
    if (opened[digest]) return opened[digest];
    const carried = card.parentNode.querySelector(`script[data-model="${digest}"]`);
    try {
      const weights = carried ? JSON.parse(carried.textContent) : packed[digest] ?? await fetched(digest);
      await pause();
      return opened[digest] = window.attnlibModels.open(weights);
    } catch (error) {
      throw error.constructor === Error ? error : new Error("the weights are damaged");
    }
  }

  // Call a function once, when a node is in sight or near to it: see IntersectionObserver for how near.
  function whenNear(node, act, near) {
    const seen = new IntersectionObserver(entries => {
      if (!entries.some(one => one.isIntersecting)) return;
      seen.disconnect();
      act();
    }, near);
    seen.observe(node);
  }

  // Call a function once, when a reader touches the card, or scrolls while it is near.
  function whenTouched(card, wake) {
    const waiting = new AbortController(), { signal } = waiting;
    const once = guarded(card, () => {
      if (signal.aborted) return;
      waiting.abort();
      return wake();
    });
    for (const touch of ["pointerover", "focusin"]) card.addEventListener(touch, once, { signal });
    addEventListener("scroll", () => whenNear(card, once, { rootMargin: "300px" }), { once: true, passive: true, signal });
  }

  // --- The question: a guess first; when the reader has tried, it says what came out, and why ---

  function question(card) {
    const options = [...card.querySelectorAll(".at-ask label")], name = `attnlib-guess-${++cards}`;
    for (const option of options) option.firstElementChild.name = name;
    return function judge(right) {
      if (!options.length || card.querySelector(".at-came")) return;
      const guess = options.findIndex(option => option.firstElementChild.checked), verdict = card.querySelector(".at-verdict");
      if (guess < 0) {   // one may still guess
        verdict.textContent = "You have seen it. What is your answer?";
        for (const option of options) option.onchange = () => judge(right);
        return;
      }
      options[right].classList.add("at-came");
      options[right].append(make("b", { class: "at-aloud" }, " came out"));
      verdict.textContent = `${guess === right ? "As you guessed." : "Not as you guessed."} Why: below.`;
      card.querySelector(".at-answer").open = true;
    };
  }

  // --- The cards of a page ---

  // A card is set up when it comes near, so that a page of many cards does not keep a phone busy while it opens.
  function begin(card, kind) {
    card.dataset.ready = "";
    card.addEventListener("keydown", event => event.stopPropagation());   // JupyterLab's own keys
    card.querySelectorAll(".at-scroll").forEach(part => { part.tabIndex = 0; });   // so that keys scroll it
    const guard = call => guarded(card, call), data = card.querySelector("script[type='application/json']");
    whenNear(card, guard(() => kinds[kind](card, JSON.parse(data.textContent), guard)), { rootMargin: "600px" });
  }

  function scan() {
    for (const kind of Object.keys(kinds))
      for (const card of document.querySelectorAll(`.attnlib-${kind}:not([data-ready])`)) begin(card, kind);
  }

  function define(kind, start) {
    kinds[kind] ??= start;
    scan();
  }

  return { make, button, line, dress, fill, write, sayAtRest, two, clamp, maxLength, greatest, sum, softmax, still, FONT,
    widths, onKey, follow, onWidth, choices, EOS, vocabularies, writing, inSlices, load, forget, match, whenNear,
    whenTouched, question, define, scan };
})();
