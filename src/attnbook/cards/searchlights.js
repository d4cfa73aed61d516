// Searchlights: each French word is a lamp, whose light falls on the English words as the weights say. Recorded is what a
// model wrote in its training and where it looked, moment by moment. At the end of the training the model itself runs
// in the page, and its lights can be moved by hand.
attnlibCards.define("searchlights", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, greatest, sum, still, pressed, EOS, vocabularies, load,
    match, whenTouched, question } = attnlibCards;
  const { Light, bulb, sized, eased, training, during, film, nextStation } = attnlibLight;
  const TALL = 560, GRAIN = 2, MOST_GRAIN = 6;   // pixels
  const OPENING = ["Each French word is a lamp, with one unit of light. It falls on the English words that the model ",
    "looks at while it writes the French one."];
  const { name } = vocabularies({ source: [], target: data.target }), END = name(EOS), tried = question(card);
  const glosses = new Map(data.target.map((word, n) => [word, data.gloss[n]])), gloss = word => glosses.get(word) ?? "";
  const source = [...data.source, END], S = source.length, last = data.steps.at(-1), stations = new Map(data.stations);
  const learned = training(data, S), { moments, along: at, stepAt } = learned, stops = data.stations.map(([n]) => n);
  const lamps = [];
  let step = last, chosen = -1, looks = new Map(), playing, learning = false, early = false;   // lights by step
  let wanted = [], place = {}, grain = GRAIN, lights = {}, model, encoded, pen, steps = [];

  const body = list => list.map(({ word }) => word).filter(word => word !== END);
  const right = list => match(body(list), data.right).map(place => place >= 0);
  const over = () => step === last;

  // --- What ought to be seen ---

  const index = () => learned.index(step);

  function aimed() {   // by the reader's lights
    const hand = { hidden: new Set(), sharpness: 1, looks };
    return [...model.greedy(encoded, S, hand)].map(({ word, alpha }) => ({ word: name(word), alpha }));
  }

  // `until`: the word that is being written.
  function show(until = Infinity) {
    steps = looks.size && encoded ? aimed() : learned.at(step);
    chosen = Math.min(chosen, steps.length - 1);
    const much = t => t > until ? 0 : t === until || t === chosen ? 1 : chosen >= 0 ? 0.13 : until < Infinity ? 0.3 : 0.6;
    wanted = steps.map(({ alpha }, t) => ({ x: place.lamps[t], alpha, b: much(t) }));
    drawWords(until);
    drawTime();
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
    drawCurves();
  }

  const plain = matchMedia("(forced-colors: active)");

  function paint(rests) {
    const { wide, tall, high, lamp, depth, words } = place, travels = playing && !stations.has(step);
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

  const ruler = make("canvas").getContext("2d");
  const fitting = word => {   // pixels of its letters, so that it fits in its column
    ruler.font = `16px ${getComputedStyle(scene).fontFamily}`;
    return place.tall ? 16 : clamp(16 * (place.gap - 5) / ruler.measureText(word).width, 10.5, 16);
  };

  function drawWords(until) {
    const good = right(steps), whole = good.length === data.right.length && good.every(Boolean);
    const cut = steps.length === S && steps.at(-1).word !== END;
    while (french.children.length > steps.length) french.lastChild.remove();
    steps.forEach(({ word, alpha }, t) => {
      const node = french.children[t] ?? french.appendChild(make("div", { role: "option", lang: "fr",
        onpointerdown: event => grab(event, t) }, make("b"), make("small", { lang: "en" })));
      const [letters, below] = node.children, spot = place.lamps[t], most = greatest(alpha, 1)[0];
      const marks = { "at-right": word === END ? whole : good[t], "at-yours": looks.has(t) };
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

  // --- Time: two curves, and where we are on them ---

  const TOP = 8, BOTTOM = 66, up = share => BOTTOM - (BOTTOM - TOP) * share;
  const shares = { errors: data.loss.map(loss => loss / data.loss[0]), light: data.light };

  function drawCurves() {
    const wide = time.clientWidth, x = n => (at(n) * wide).toFixed(1), ticks = place.tall ? [0, 100, 200, 500, 1000]
      : [0, 50, 100, 200, 300, 500, 1000];
    const curve = (kind, list) => make("path", { class: kind,
      d: `M${list.map((share, k) => `${x(data.steps[k])} ${up(share).toFixed(1)}`).join("L")}` });
    const label = (kind, text, more) => make("text", { class: kind, ...more }, text);
    fill(curves, make("line", { x2: wide, y1: BOTTOM, y2: BOTTOM }), curve("at-errors", shares.errors),
      curve("at-found", shares.light), ...data.stations.map(([n]) => make("circle", { cx: x(n), cy: BOTTOM, r: 3 })),
      ...[...ticks, last].map(n => make("text", { x: clamp(x(n), 4, wide - 14), y: BOTTOM + 17, "text-anchor": "middle" },
        n.toLocaleString("en"))),
      label("at-errors", "its loss", { x: 8, y: up(1) + 19 }),
      label("at-found", "light on the right words", { x: wide - 12, y: up(0.82) - 7, "text-anchor": "end" }));
  }

  function drawTime() {
    const x = at(step) * time.clientWidth, k = index(), spots = [shares.errors[k], shares.light[k]].map(up);
    fill(now, make("line", { x1: x, x2: x, y1: TOP - 6, y2: BOTTOM }), ...spots.map((y, n) =>
      make("circle", { class: ["at-errors", "at-found"][n], cx: x, cy: y, r: 4.5 })));
    write(stamp, learning || !over() ? `step ${Math.round(step).toLocaleString("en")} · ${
      place.tall ? "" : "has read "}${data.pairs[k].toLocaleString("en")} sentence pairs` : "");
    if (playing || document.activeElement !== slider) slider.value = Math.round(1000 * at(step));
    dress(slider, { "aria-valuetext": `step ${Math.round(step)}: ${body(moments[k]).join(" ")}. ${
      Math.round(100 * data.light[k])} percent of the light is on the right words.` });
    write(play, playing && learning ? "❚❚ Pause" : "▶ Watch it learn this");
    again.hidden = !over() || looks.size > 0;
    own.hidden = !looks.size;
  }

  // --- Saying ---

  const tell = (...parts) => fill(said, ...parts), speak = () => write(aloud, said.textContent);
  const english_ = list => make("em", {}, list.map(gloss).join(" "));

  function caption() {   // of a station, or of what stands between two
    const [station, html] = [...stations].filter(([n]) => n <= step + 0.5).at(-1);
    if (step - station < 3) {
      said.innerHTML = html;   // styled by the package
      return;
    }
    const good = right(steps).filter(Boolean).length;
    tell("It writes ", english_(body(steps)), `. ${good} of ${data.right.length} words ${good === 1 ? "is" : "are"} right.`);
  }

  function say(t) {   // what a word looks at
    const { word, alpha } = steps[t], most = greatest(alpha, 1)[0];
    tell(`${two(alpha[most])} of the light of `, make("em", { lang: "fr" }, word), " falls on ",
      make("em", {}, source[most]), over() ? ". Drag the light to another word." : ".");
  }

  // --- The training ---

  function go(n) {
    [step, learning] = [clamp(n, 0, last), true];
    show();
    caption();
    judge();
  }

  function judge() {   // when the reader has been there, and has gone on
    if (!data.question) return;
    early ||= step <= data.question.step;
    if (early && step > data.question.step + 1) tried(data.question.right);
  }

  function leave() {   // whatever goes on by itself, and the reader's lights
    playing = undefined;
    looks = new Map();
    chosen = -1;
  }

  async function watch() {
    const from = over() ? 0 : step;
    leave();
    const run = playing = {}, arrive = n => {
      go(n);
      if (stations.has(n)) speak();
    };
    if (!await film(learned, stops, from, () => run === playing, arrive, said)) return;
    playing = undefined;
    show();
  }

  async function unroll() {   // the trained model writes word by word
    leave();
    const run = {};
    [step, learning, lamps.length, playing] = [last, false, 0, run];
    tell(OPENING.join(""));
    for (let t = 0; t < moments.at(-1).length; t++) {
      show(t);
      if (!await during(t ? 520 : 800, () => run === playing)) return;
    }
    playing = undefined;
    show();
  }

  function rest() {   // the trained model, with its own lights
    leave();
    [step, learning] = [last, false];
    show();
    tell(OPENING.join(""));
  }

  function hop(by) {
    leave();
    go(nextStation(stops, step, by));
    speak();
  }

  // --- The hand: a lamp's light is thrown elsewhere, and the model writes anew ---

  async function ready() {
    model ??= await load(card, data.models[0].digest);
    encoded ??= model.encode(data.ids);
  }

  async function aim(t, x) {   // its light falls around this place
    const parts = place.words.map(word => Math.exp(-(((x - word) / (0.42 * place.gap)) ** 2))), whole = sum(parts);
    playing = undefined;
    looks.set(t, parts.map(part => part / whole));
    chosen = t;
    await ready();
    show();
    tell("By your light it writes ", english_(body(steps)), ".");
  }

  const aimAt = i => chosen >= 0 && over() && !playing && aim(chosen, place.words[i]);

  function pick(t) {
    playing = undefined;
    chosen = chosen === t ? -1 : t;
    show();
    if (chosen >= 0) say(t);
    else if (learning) caption();
    else tell(OPENING.join(""));
  }

  function grab(event, t) {
    if (event.button) return;
    const node = event.currentTarget, { clientX, clientY } = event;
    let moved = false;
    node.setPointerCapture(event.pointerId);
    node.onpointermove = guard(event => {
      moved ||= Math.hypot(event.clientX - clientX, event.clientY - clientY) > 5;
      if (moved && over()) return aim(t, along(event, t));
    });
    node.onpointerup = node.onpointercancel = guard(({ type }) => {
      node.onpointermove = node.onpointerup = node.onpointercancel = null;
      if (type === "pointerup" && !moved) pick(t);
      speak();
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
    const key = pressed(event), t = [...french.children].indexOf(event.target), [back, on, less, more] = place.tall
      ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowLeft", "ArrowRight", "ArrowDown", "ArrowUp"];
    const to = { [back]: t - 1, [on]: t + (chosen === t), Home: 0, End: Infinity, Enter: t, " ": t }[key];
    const by = { [less]: -1, [more]: 1 }[key];
    if (key === "Escape" && (looks.size || chosen >= 0)) rest();
    else if (to !== undefined) {
      chosen = -1;
      pick(clamp(to, 0, steps.length - 1));
      french.children[chosen].focus();
    } else if (by && over() && chosen >= 0) {
      const i = clamp(greatest(steps[chosen].alpha, 1)[0] + by, 0, S - 1);
      guard(() => aim(chosen, place.words[i]).then(speak))();
    } else return;
    event.preventDefault();
    event.stopPropagation();
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
    const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[pressed(event)];
    if (document.fullscreenElement !== hall || event.target === slider) return;
    if (by) hop(by);
    else if (pressed(event) === " ") toggle();
    else return;
    event.preventDefault();
  }

  // --- Beginning ---

  function toggle() {
    if (!playing || !learning) return watch();
    playing = undefined;
    return show();
  }

  const canvas = make("canvas", { "aria-hidden": true }), stamp = make("div", { class: "at-stamp", "aria-hidden": true });
  const english = make("div", { class: "at-english", role: "group", "aria-label": "English sentence" });
  const french = make("div", { class: "at-french", role: "listbox", onkeydown: keys, "aria-orientation": "horizontal",
    "aria-label": "The French that the model writes: choose a word, and move its light with the arrow keys" });
  const scene = make("div", { class: "at-scene" }, canvas, stamp, english, french);
  const said = make("p", { class: "at-said" }), aloud = make("p", { class: "at-aloud", role: "status" });
  const slider = make("input", { type: "range", min: 0, max: 1000, value: 1000, "aria-label": "training step",
    oninput: () => {
      leave();
      go(slider.value >= 1000 ? last : stepAt(slider.value / 1000));
    } });
  const curves = make("g"), now = make("g", { class: "at-now" });
  const time = make("div", { class: "at-time" }, make("svg", { "aria-hidden": true }, curves, now), slider);
  const night = make("div", { class: "at-night" }, scene, said, time);
  const hall = make("div", { class: "at-hall", tabindex: -1, onkeydown: presenting }, night);
  const play = button("", { class: "at-go", onclick: toggle });
  const again = button("Write it again", { onclick: unroll }), own = button("Its own lights", { onclick: rest });
  const controls = line(play, button("◀", { "aria-label": "one station back", onclick: () => hop(-1) }),
    button("▶|", { "aria-label": "one station on", onclick: () => hop(1) }), again, own,
    document.fullscreenEnabled && button("Present", { onclick: present, class: "at-push" }));
  controls.classList.add("at-controls");
  const picture = card.querySelector(".at-still"), asked = card.querySelector(".at-ask");
  picture.before(make("div", { class: "at-live", dir: "ltr" }, hall, aloud));
  (asked ?? picture.previousSibling).after(controls);
  measure();
  rest();
  let wide = scene.clientWidth;
  new ResizeObserver(guard(() => {
    fitHall();
    if ([0, wide].includes(scene.clientWidth)) return;   // on paper it has no width
    wide = scene.clientWidth;
    measure();
    show();
  })).observe(scene);
  document.addEventListener("fullscreenchange", fitHall);
  plain.addEventListener("change", () => paint(true));
  whenTouched(card, ready);
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(one => one.isIntersecting)) return;
    seen.disconnect();
    if (!still() && !learning && !looks.size) guard(unroll)();
  }, { threshold: 0.4 });
  seen.observe(scene);
});
