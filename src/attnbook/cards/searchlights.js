// Searchlights: each French word is a lamp, whose light falls on the English words as the weights say. Recorded is what a
// model wrote in its training and where it looked, moment by moment. At the end of the training the model itself runs
// in the page, and its lights can be moved by hand.
attnlibCards.define("searchlights", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, greatest, sum, still, widths, onKey, follow, onWidth,
    vocabularies, load, whenNear, whenTouched, question } = attnlibCards;
  const { Light, bulb, sized, eased, END, written, judged, training, during, timeline } = attnlibLight;
  const TALL = 560, GRAIN = 2, MOST_GRAIN = 6;   // pixels
  const OPENING = ["Here the training is over. Each French word is a lamp, with one unit of light. It falls on the English ",
    "words that the model looks at while it writes the French one."];
  const { name } = vocabularies({ source: [], target: data.target }), tried = question(card);
  const glosses = new Map(data.target.map((word, n) => [word, data.gloss[n]])), gloss = word => glosses.get(word) ?? "";
  const source = [...data.source, END], S = source.length, stations = new Map(data.stations);
  const learned = training(data, S), lamps = [];
  let chosen = -1, looks = new Map(), writes, learning = false, early = false;   // lights by step
  let wanted = [], place = {}, grain = GRAIN, lights = {}, model, encoded, pen, steps = [];
  const time = timeline({ rows: [learned], stations: [...stations.keys()], title: "▶ Watch it learn this",
    label: "training step", leave, arrive }), { over, said } = time;

  // --- What ought to be seen ---

  function aimed() {   // by the reader's lights
    const hand = { hidden: new Set(), sharpness: 1, looks };
    return [...model.greedy(encoded, S, hand)].map(({ word, alpha }) => ({ word: name(word), alpha }));
  }

  // `until`: the word that is being written.
  function show(until = Infinity) {
    steps = looks.size && encoded ? aimed() : learned.at(time.step);
    chosen = Math.min(chosen, steps.length - 1);
    const much = t => t > until ? 0 : t === until || t === chosen ? 1 : chosen >= 0 ? 0.13 : until < Infinity ? 0.3 : 0.6;
    wanted = steps.map(({ alpha }, t) => ({ x: place.lamps[t], alpha, b: much(t) }));
    drawWords(until);
    time.draw();
    write(stamp, learning || !over() ? `step ${Math.round(time.step).toLocaleString("en")} · ${
      place.tall ? "" : "has read "}${data.pairs[learned.index(time.step)].toLocaleString("en")} sentence pairs` : "");
    again.hidden = !over() || looks.size > 0;
    own.hidden = !looks.size;
    ease();
  }

  // --- Drawing: lamps below and words above, or on a narrow screen lamps to the right and words to the left ---

  function measure() {
    const wide = scene.clientWidth, tall = wide < TALL, high = tall ? 30 * S + 28 : 300, size = tall ? high : wide;
    const [edge, gap] = tall ? [28, (high - 38) / S] : [12, (wide - 24) / S];
    const places = source.map((_, i) => edge + (i + 0.5) * gap);
    place = { wide, tall, high, size, gap, words: places, lamps: places,
      ...tall ? { lamp: wide - 142, word: 84, depth: wide - 202 } : { lamp: 236, word: 44, depth: 192 } };
    hall.classList.toggle("at-tall", tall);
    scene.style.height = `${high}px`;
    pen = sized(canvas, wide, high);
    english.replaceChildren(...source.map((word, i) => make("span", { onclick: () => aimAt(i),
      style: tall ? `left: ${place.word}px; top: ${places[i]}px` : `left: ${places[i]}px; top: ${place.word}px` },
      word, make("small"))));
    french.replaceChildren();
    lamps.length = 0;
    lights = {};
    time.measure();
  }

  const plain = matchMedia("(forced-colors: active)");

  function paint(rests) {
    const { wide, tall, high, lamp, depth, words } = place, travels = time.runs() && !stations.has(time.step);
    const size = rests && !travels ? GRAIN : grain;
    const spot = (x, y) => tall ? [y, x] : [x, y];
    if (plain.matches) return paintLines(spot);
    const light = lights[size] ??= new Light(place.size, depth, { grain: size, beyond: tall ? 0.3 : 0.2, pool: tall ? 11 : 15 });
    const lit = light.paint(lamps, words), { nu, nv, sheet } = light;
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, wide, high);
    pen.save();
    if (tall) pen.transform(0, 1, 1, 0, lamp - nv * size, 0);   // across is down
    else pen.translate(0, lamp - nv * size);
    pen.drawImage(sheet, 0, 0, nu * size, nv * size);
    pen.restore();
    for (const { x, b } of lamps) bulb(pen, ...spot(x, lamp), b);
    [...english.children].forEach((word, i) => { word.style.setProperty("--lit", clamp(1.25 * lit[i], 0, 1).toFixed(2)); });
  }

  function paintLines(spot) {   // in the reader's few colors, as thick as the weights
    pen.clearRect(0, 0, place.wide, place.high);
    pen.strokeStyle = getComputedStyle(canvas).color;
    for (const { x, alpha, b } of lamps) alpha.forEach((a, i) => {
      if (a < 0.02) return;
      pen.globalAlpha = clamp(0.2 + b, 0, 1);
      pen.lineWidth = 10 * a;
      pen.beginPath();
      pen.moveTo(...spot(x, place.lamp));
      pen.lineTo(...spot(place.words[i], place.tall ? place.word + 6 : place.word + 14));
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  // Pixels of a word's letters, so that it fits in its column.
  const fitting = word => place.tall ? 16 : clamp(16 * (place.gap - 5) / widths([word], 16)[0], 10.5, 16);

  function drawWords(until) {
    const { good } = judged(steps, data.right);
    const cut = steps.length === S && steps.at(-1).word !== END;
    while (french.children.length > steps.length) french.lastChild.remove();
    steps.forEach(({ word, alpha }, t) => {
      const node = french.children[t] ?? french.appendChild(make("div", { role: "option", lang: "fr",
        onpointerdown: event => grab(event, t) }, make("b"), make("small", { lang: "en" })));
      const [letters, below] = node.children, spot = place.lamps[t], most = greatest(alpha, 1)[0];
      const marks = { "at-right": good[t], "at-yours": looks.has(t) };
      if (letters.textContent && letters.textContent !== word && !still()) letters.animate?.([{ opacity: 0 }, {}], 500);
      write(letters, word + (cut && t === S - 1 ? " …" : ""));
      write(below, gloss(word));
      dress(node, { class: Object.keys(marks).filter(mark => marks[mark]).join(" "), "aria-selected": t === chosen,
        tabindex: t === Math.max(chosen, 0) ? 0 : -1, "aria-hidden": t > until ? true : undefined,
        style: `${place.tall ? `left: ${place.lamp + 10}px; top: ${spot}px` : `left: ${spot}px; top: ${place.lamp + 8}px`};`
          + `font-size: ${fitting(word).toFixed(1)}px; visibility: ${t > until ? "hidden" : "visible"}`,
        "aria-label": `${word}${gloss(word) && `, ${gloss(word)}`}: ${two(alpha[most])} of its light on ${source[most]}` });
    });
    [...english.children].forEach((word, i) => {
      const share = steps[chosen]?.alpha[i];
      write(word.lastChild, share >= 0.005 ? two(share) : "");
    });
  }

  const slow = () => { grain = Math.min(1.5 * grain, MOST_GRAIN); };   // frames take too long: fewer grains
  const ease = eased([lamps], () => [wanted], paint, slow);

  // --- Saying ---

  const tell = (...parts) => fill(said, ...parts);
  const english_ = list => make("em", {}, list.map(gloss).join(" "));

  function caption() {   // of a station, or of what stands between two
    const [station, html] = [...stations].filter(([n]) => n <= time.step + 0.5).at(-1);
    if (time.step - station < 3) {
      said.innerHTML = html;   // styled by the package
      return;
    }
    const { count } = judged(steps, data.right);
    tell("It writes ", english_(written(steps)), `. ${count} of ${data.right.length} words ${count === 1 ? "is" : "are"} right.`);
  }

  function say(t) {   // what a word looks at
    const { word, alpha } = steps[t], most = greatest(alpha, 1)[0];
    tell(`${two(alpha[most])} of the light of `, make("em", { lang: "fr" }, word), " falls on ",
      make("em", {}, source[most]), over() ? ". Drag the light to another word." : ".");
  }

  // --- The training ---

  function arrive() {
    learning = true;
    show();
    caption();
    judge();
  }

  function judge() {   // when the reader has been there, and has gone on
    if (!data.question) return;
    early ||= time.step <= data.question.step;
    if (early && time.step > data.question.step + 1) tried(data.question.right);
  }

  function stop() {   // whatever goes on by itself
    time.stop();
    writes = undefined;
  }

  function leave() {   // that, and the reader's lights
    stop();
    looks = new Map();
    chosen = -1;
  }

  async function unroll() {   // the trained model writes word by word
    leave();
    const run = writes = {};
    [time.step, learning, lamps.length] = [learned.last, false, 0];
    tell(OPENING.join(""));
    for (let t = 0; t < learned.moments.at(-1).length; t++) {
      show(t);
      if (!await during(t ? 520 : 800, () => run === writes)) return;
    }
    writes = undefined;
    show();
  }

  function rest() {   // the trained model, with its own lights
    leave();
    [time.step, learning] = [learned.last, false];
    show();
    tell(OPENING.join(""));
  }

  // --- The hand: a lamp's light is thrown elsewhere, and the model writes anew ---

  async function ready() {
    model ??= await load(card, data.models[0].digest);
    encoded ??= model.encode(data.ids);
  }

  async function aim(t, x) {   // its light falls around this place
    const parts = place.words.map(word => Math.exp(-(((x - word) / (0.42 * place.gap)) ** 2))), whole = sum(parts);
    stop();
    looks.set(t, parts.map(part => part / whole));
    chosen = t;
    await ready();
    show();
    tell("By your light it writes ", english_(written(steps)), ".");
  }

  const aimAt = i => chosen >= 0 && over() && !time.runs() && !writes && aim(chosen, place.words[i]);

  function pick(t) {
    stop();
    chosen = chosen === t ? -1 : t;
    show();
    if (chosen >= 0) say(t);
    else if (learning) caption();
    else tell(OPENING.join(""));
  }

  function grab(event, t) {
    if (event.button) return;
    const { clientX, clientY } = event;
    let moved = false;
    follow(event, event => {
      moved ||= Math.hypot(event.clientX - clientX, event.clientY - clientY) > 5;
      if (moved && over()) return aim(t, along(event, t));
    }, ({ type }) => {
      if (type === "pointerup" && !moved) pick(t);
      time.speak();
    });
  }

  // Where the ray from a lamp through the hand meets the words.
  function along({ clientX, clientY }, t) {
    const { left, top, width } = scene.getBoundingClientRect(), zoom = width / scene.clientWidth;
    const [x, y] = [(clientX - left) / zoom, (clientY - top) / zoom], { tall, lamp, depth, lamps, words } = place;
    const [u, v] = tall ? [y, (lamp - x) / depth] : [x, (lamp - y) / depth];
    return clamp(lamps[t] + (u - lamps[t]) / clamp(v, 0.12, 1), words[0], words.at(-1));
  }

  function keys(event) {
    const t = [...french.children].indexOf(event.target), [back, on, less, more] = place.tall
      ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowLeft", "ArrowRight", "ArrowDown", "ArrowUp"];
    const to = n => () => {
      chosen = -1;
      pick(clamp(n, 0, steps.length - 1));
      french.children[chosen].focus();
    };
    const by = n => over() && chosen >= 0 && (() => {
      const i = clamp(greatest(steps[chosen].alpha, 1)[0] + n, 0, S - 1);
      return aim(chosen, place.words[i]).then(time.speak);
    });
    const done = onKey(event, { [back]: to(t - 1), [on]: to(t + (chosen === t)), [less]: by(-1), [more]: by(1), Home: to(0),
      End: to(Infinity), Enter: to(t), " ": to(t), Escape: (looks.size || chosen >= 0) && rest });
    if (done) event.stopPropagation();
    return done;
  }

  // --- Before an audience: the whole screen, and the keys of a presenter ---

  function present() {
    hall.requestFullscreen().then(() => hall.focus());
  }

  function fitHall() {
    const { innerWidth, innerHeight } = window, shown = document.fullscreenElement === hall;
    dress(hall, { style: shown ? `--zoom: ${Math.min(innerWidth / 720, innerHeight / (night.offsetHeight + 16))}` : undefined });
  }

  function presenting(event) {
    const on = () => time.hop(1), back = () => time.hop(-1);
    if (document.fullscreenElement !== hall || event.target.matches("input")) return;
    return onKey(event, { ArrowRight: on, PageDown: on, ArrowLeft: back, PageUp: back, " ": time.toggle });
  }

  // --- Beginning ---

  const canvas = make("canvas", { "aria-hidden": true }), stamp = make("div", { class: "at-stamp", "aria-hidden": true });
  const english = make("div", { class: "at-english", role: "group", "aria-label": "English sentence" });
  const french = make("div", { class: "at-french", role: "listbox", onkeydown: keys, "aria-orientation": "horizontal",
    "aria-label": "The French that the model writes: choose a word, and move its light with the arrow keys" });
  const scene = make("div", { class: "at-scene" }, canvas, stamp, english, french);
  const night = make("div", { class: "at-night" }, scene, said, time.box);
  const hall = make("div", { class: "at-hall", tabindex: -1, onkeydown: presenting }, night);
  const again = button("Write it again", { onclick: unroll }), own = button("Its own lights", { onclick: rest });
  const controls = line(...time.buttons, again, own,
    document.fullscreenEnabled && button("Present", { onclick: present, class: "at-push" }));
  controls.classList.add("at-controls");
  const picture = card.querySelector(".at-still"), asked = card.querySelector(".at-ask");
  picture.before(make("div", { class: "at-live", dir: "ltr" }, hall, time.aloud));
  (asked ?? picture.previousSibling).after(controls);
  measure();
  rest();
  onWidth(scene, () => {
    measure();
    show();
    fitHall();
  });
  document.addEventListener("fullscreenchange", fitHall);
  plain.addEventListener("change", () => paint(true));
  whenTouched(card, ready);
  whenNear(scene, guard(() => !still() && !learning && !looks.size && unroll()), { threshold: 0.4 });
});
