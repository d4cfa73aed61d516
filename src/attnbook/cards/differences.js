// Both models learn on one sentence: English in the middle, Luong's lamps on one side of it and Bahdanau's on the other.
// At the end of the training their states stand behind the lamps, so that place is time: five differences are lit.
attnlibCards.define("differences", (card, data, guard) => {
  const { make, button, line, dress, fill, write, two, clamp, greatest, sum, match } = attnlibCards;
  const { Light, bulb, sized, eased, mix, training, film, nextStation } = attnlibLight;
  const NARROW = 560, END = "(end)";   // pixels
  const GOLD = "#ffd27a", DIM = "#5e739688", BLUE = "#8ea2c0";
  const source = [...data.source, END], S = source.length, last = data.rows[0].steps.at(-1);
  let step = last, chosen = -1, difference = -1, playing, place = {}, pen, light, grain = 1.5;

  const rows = data.rows.map(row => ({ ...row, ...training(row, S), lamps: [], want: [] })), { along, stepAt } = rows[0];
  const over = () => step === last;
  const body = list => list.map(({ word }) => word).filter(word => word !== END);
  const right = list => match(body(list), data.right).map(place => place >= 0);

  // --- Places: how far along the words, and how far from the English line ---

  function measure() {
    const wide = scene.clientWidth, tall = wide < NARROW, lead = 54, size = tall ? 31 * S + lead + 10 : wide;
    const pitch = (size - lead - 12) / S, words = source.map((_, i) => lead + (i + 0.5) * pitch);
    const levels = tall ? { source: 37, lamp: 81, state: 95, above: 113, words: [121, 103] }
      : { source: 13, lamp: 128, state: 154, above: 182, words: [212, 186] };
    const high = tall ? size : sum(levels.words) + 76, middle = tall ? wide / 2 + 9 : levels.words[0] + 36;
    const at = (u, m, level) => {
      const v = middle + (m ? level : -level);
      return tall ? [v, u] : [u, v];
    };
    place = { wide, tall, high, size, pitch, words, levels, middle, at };
    renew();
    night.classList.toggle("at-tall", tall);
    scene.style.height = `${high}px`;
    pen = sized(canvas, wide, high);
    const put = (u, m, level) => at(u, m, level).map((x, n) => `${n ? "top" : "left"}: ${x}px`).join("; ");
    english.replaceChildren(...source.map((word, i) => make("span", { style: put(words[i], 0, 0) }, word)));
    rows.forEach((row, m) => {
      row.lamps.length = 0;
      row.box.replaceChildren(...words.map((u, t) => make("button", { type: "button", lang: "fr", onclick: () => pick(t),
        style: put(u, m, levels.words[m]) }, make("b"), make("small", { lang: "en" }))));
    });
    drawCurves();
  }

  function renew() {   // the light, in grains that this machine can draw
    const { size, levels, tall } = place;
    light = new Light(size, levels.lamp - levels.source + 8, { grain, beyond: tall ? 0.16 : 0.24, pool: tall ? 0 : 8 });
  }

  // --- What is shown ---

  const ruler = make("canvas").getContext("2d");
  const fitting = word => {   // the size of its letters, so that it fits in its column
    ruler.font = "15px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";
    return place.tall ? 13 : clamp(15 * (place.pitch - 10) / ruler.measureText(word).width, 9.5, 15);
  };

  function show() {
    rows.forEach(row => {
      const list = row.at(step).slice(0, S), good = right(list), whole = good.every(Boolean) && good.length === data.right.length;
      row.want = list.map(({ alpha }, t) => ({ x: place.words[t], alpha, b: chosen < 0 ? 0.55 : t === chosen ? 1 : 0.07 }));
      [...row.box.children].forEach((node, t) => {
        const { word } = list[t] ?? {};
        node.hidden = !word;
        if (!word) return;
        write(node.firstChild, word);
        write(node.lastChild, data.gloss[word] ?? "\u00a0");
        node.style.fontSize = `${fitting(word)}px`;
        dress(node, { "aria-pressed": t === chosen, class: (word === END ? whole : good[t]) ? "at-right" : "" });
      });
    });
    write(stamp, over() ? "" : `step ${Math.round(step).toLocaleString("en")}`);
    drawNow();
    draw();
    ease();
  }

  function paint() {
    const { wide, high, tall, middle, words, levels, at } = place, { nu, nv, grain } = light, lit = words.map(() => 0);
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, wide, high);
    rows.forEach(({ lamps }, m) => {
      const side = m ? 1 : -1, from = middle + side * levels.lamp;
      light.paint(lamps, words, { down: true, broad: tall ? 0.8 : 1, gain: tall ? 0.8 : 1 }).forEach((x, i) => lit[i] += x);
      pen.save();
      pen.globalCompositeOperation = "lighter";
      if (tall) pen.transform(0, 1, -side, 0, from, 0);
      else pen.transform(1, 0, 0, -side, 0, from);
      pen.drawImage(light.sheet, 0, 0, nu * grain, nv * grain);
      pen.restore();
      lamps.forEach(({ x, b }) => bulb(pen, ...at(x, m, levels.lamp), b, tall ? 7 : 9));
    });
    [...english.children].forEach((word, i) => { word.style.setProperty("--lit", clamp(0.7 * lit[i], 0, 1).toFixed(2)); });
  }

  // --- States and arrows, over the light ---

  function arrow([x0, y0], [x1, y1], { color = GOLD, width = 2.4, bend = 0, gap = 7, dashes } = {}) {
    const [mx, my] = [(x0 + x1) / 2 - bend * (y1 - y0), (y0 + y1) / 2 + bend * (x1 - x0)], head = 4 + 1.6 * width, half = 2 + 0.9 * width;
    const unit = (x, y) => [x, y].map(part => part / (Math.hypot(x, y) || 1)), [ax, ay] = unit(x1 - mx, y1 - my), [bx, by] = unit(mx - x0, my - y0);
    const [tx, ty] = [x1 - gap * ax, y1 - gap * ay], [cx, cy] = [tx - head * ax, ty - head * ay];
    return make("g", { stroke: color, fill: color },
      make("path", { d: `M${x0 + gap * bx} ${y0 + gap * by}Q${mx} ${my} ${cx} ${cy}`, fill: "none", "stroke-width": width, "stroke-dasharray": dashes }),
      make("path", { d: `M${tx} ${ty}L${cx - half * ay} ${cy + half * ax}L${cx + half * ay} ${cy - half * ax}Z`, stroke: "none" }));
  }

  function draw() {
    const { at, levels, words, pitch, tall } = place, t = chosen, parts = [], lit = [], shown = over() && t >= 0 && difference >= 0;
    const u = n => n < 0 ? words[0] - pitch : words[n], lamp = m => at(u(t), m, levels.lamp);
    const state = (m, n) => at(u(n), m, levels.state), above = n => at(u(n), 0, levels.above);
    const letters = ([x, y], m, letter, index, far = 9) => make("text", { x: x + (tall ? m ? -far : far : far), y: y + (tall ? -10 : m ? -5 : 15),
      "text-anchor": tall && m ? "end" : "start" }, make("tspan", {}, letter), make("tspan", { dy: 4, "font-size": 12 }, index));
    const node = (spot, round) => make("rect", { x: spot[0] - 5, y: spot[1] - 5, width: 10, height: 10, rx: round ? 5 : 2.5,
      class: lit.some(one => String(one) === String(spot)) ? "at-lamp" : "" });
    const mark = (spots, ...more) => parts.push(...more) && lit.push(...spots);
    const acts = [   // for each difference, what is lit
      m => mark([state(m, t - m)], arrow(state(m, t - m), lamp(m), { dashes: "4 3" }), letters(state(m, t - m), m, "s", m ? "t−1" : "t")),
      m => source.slice(1).forEach((_, i) => {
        const [a, b] = [i, i + 1].map(n => at(words[n], m, levels.source - 5)), way = { width: 1.3, gap: 5, bend: m ? tall ? -0.22 : 0.22 : 0 };
        parts.push(arrow(b, a, way), ...m ? [arrow(a, b, way)] : []);
      }),
      m => {
        const [i] = greatest(rows[m].want[t].alpha, 1), [x, y] = at((words[i] + words[t]) / 2, m, (levels.lamp + levels.source) / 2);
        parts.push(make("text", { x: clamp(x, 64, place.wide - 64), y: y + (tall ? m ? 20 : -10 : m ? 18 : -12), "text-anchor": "middle" }, m ? "vᵀ tanh(W s + U h)" : "sᵀ W h"));
      },
      m => m ? mark([state(1, t)], arrow(lamp(1), state(1, t), { width: 3.4 }), letters(state(1, t), 1, "s", "t"))
        : mark([above(t), state(0, t)], arrow(state(0, t), above(t)), arrow(lamp(0), above(t), { width: 3.4, bend: tall ? 0.5 : -0.5 }), letters(above(t), 0, "s̃", "t")),
      m => m ? mark([state(1, t), state(1, t + 1)], arrow(lamp(1), state(1, t)), arrow(state(1, t), state(1, t + 1), { width: 3 }))
        : mark([above(t), state(0, t + 1)], arrow(above(t), state(0, t + 1), { width: 3.4, dashes: "5 3" }), letters(above(t), 0, "s̃", "t"), letters(state(0, t + 1), 0, "s", "t+1")),
    ];
    if (shown) [0, 1].forEach(m => acts[difference](m));
    const still = over() ? [0, 1].flatMap(m => source.flatMap((_, n) => [arrow(state(m, n - 1), state(m, n), { color: DIM, width: 1 }),
      ...m ? [] : [arrow(state(0, n), above(n), { color: DIM, width: 0.8 })]])) : [];
    const nodes = over() ? [-1, ...source.keys()].flatMap(n => [node(state(0, n)), node(state(1, n)), ...n < 0 ? [] : [node(above(n), true)]]) : [];
    ink.replaceChildren(...still, ...parts, ...nodes);
  }

  // --- The training ---

  const ticks = [0, 100, 200, 500, 1000, 3000], [TOP, BOTTOM] = [8, 66];

  function drawCurves() {   // both start at the top: the share of the loss that is left, and of the light that is right
    const wide = time.clientWidth, y = share => mix(BOTTOM, TOP, share);
    const curve = ({ steps }, list, whole, look) => make("path", { fill: "none", ...look, d: `M${list.map((value, k) => `${along(steps[k]) * wide} ${y(value / whole)}`).join("L")}` });
    const label = (x, y, text, look) => make("text", { x, y, ...look }, text);
    fill(curves, make("path", { d: `M0 ${BOTTOM}H${wide}`, stroke: "#33435c" }), ...rows.flatMap((row, m) => [
      curve(row, row.loss, row.loss[0], { stroke: BLUE, "stroke-width": 1.6, "stroke-dasharray": m ? undefined : "5 3" }),
      curve(row, row.light, 1, { stroke: GOLD, "stroke-width": 2.3, "stroke-dasharray": m ? undefined : "5 3" })]),
      ...ticks.map(n => label(clamp(along(n) * wide, 5, wide - 14), BOTTOM + 17, n.toLocaleString("en"), { "text-anchor": "middle" })),
      label(4, TOP + 18, "loss left"), label(wide - 8, TOP + 3, "light on the right words: - - Luong, — Bahdanau", { "text-anchor": "end", fill: GOLD }));
  }

  function drawNow() {
    const x = along(step) * time.clientWidth;
    fill(now, make("path", { d: `M${x} 2V${BOTTOM}`, stroke: "#fff", "stroke-width": 1.5 }), ...rows.map((row, m) =>
      make("circle", { cx: x, cy: mix(BOTTOM, TOP, row.light[row.index(step)]), r: 4.5, stroke: GOLD, "stroke-width": 2, fill: m ? GOLD : "#0a101c" })));
    if (playing || document.activeElement !== slider) slider.value = Math.round(1000 * along(step));
    dress(slider, { "aria-valuetext": `step ${Math.round(step)}. ${rows.map(row => `${row.title}: ${body(row.at(step)).join(" ")}`).join(". ")}` });
  }

  function go(n) {
    [step, chosen, difference] = [clamp(n, 0, last), -1, -1];
    show();
    tell();
  }

  function hop(by) {
    stop();
    go(nextStation(data.stations, step, by));
  }

  async function watch() {
    const run = playing = {};
    write(play, "❚❚ Stop");
    if (await film(rows[0], data.stations, over() ? 0 : step, () => run === playing, go, said)) stop();
  }

  function stop() {
    playing = undefined;
    write(play, "▶ Watch both learn");
  }

  // --- Choosing a difference, and a French word at which it is shown ---

  function differ(n) {
    stop();
    [step, difference] = [last, difference === n ? -1 : n];
    chosen = difference < 0 ? -1 : chosen < 0 ? Math.min(6, S - 2) : chosen;
    show();
    tell();
  }

  function pick(t) {
    stop();
    chosen = chosen === t && difference < 0 ? -1 : t;
    show();
    tell();
  }

  const words = list => list.map(word => data.gloss[word] ?? word).join(" ");
  const mean = list => sum(list) / list.length;

  function tell() {
    chips.forEach((chip, n) => dress(chip, { "aria-pressed": n === difference }));
    [...codes.children].forEach((one, n) => { one.hidden = n !== difference; });
    const turned = text => !place.tall ? text : text.replace(/(a)bove|(b)elow/gi, (_, above) => above ? "on the left" : "on the right")
      .replace(/(^|[.?] )on/g, "$1On");
    const side = m => turned(["above", "below"][m]);
    if (difference >= 0) said.innerHTML = turned(data.says[difference]);
    else fill(said, ...over() && chosen < 0 ? ["Behind each lamp stand the states of its decoder: □ s, and in Luong’s model ○ s̃. In five places the two models differ. Choose one."]
      : rows.flatMap((row, m) => {
        const list = row.at(step), { word, alpha } = list[chosen] ?? {}, [i] = alpha ? greatest(alpha, 1) : [];
        if (word) return [`${row.title}: ${two(alpha[i])} of the light of `, make("em", { lang: "fr" }, word), " falls on ", make("em", {}, source[i]), ". "];
        const beam = two(mean(list.map(({ alpha }) => Math.max(...alpha))));
        return [`${row.title} (${side(m)}) writes `, make("em", {}, words(body(list))), `: ${right(list).filter(Boolean).length} of ${data.right.length} right, ${beam} of a lamp’s light on one word. `];
      }));
    if (!playing || data.stations.includes(step)) write(aloud, said.textContent);
  }

  // --- Beginning ---

  const canvas = make("canvas", { "aria-hidden": "true" }), ink = make("svg", { "aria-hidden": "true", class: "at-ink" });
  const english = make("div", { class: "at-english", lang: "en" }), stamp = make("span", { class: "at-stamp" });
  for (const row of rows) row.box = make("div", { class: "at-french", role: "group", "aria-label": `${row.title}: French words` });
  const scene = make("div", { class: "at-scene" }, canvas, ink, stamp, english,
    ...rows.map(({ title, box }, m) => make("div", { class: `at-half at-half${m}` }, make("b", {}, title), box)));
  const said = make("p", { class: "at-said" }), aloud = make("p", { class: "at-aloud", role: "status" });
  const slider = make("input", { type: "range", min: 0, max: 1000, value: 1000, "aria-label": "training step of both models", oninput: () => {
    stop();
    go(slider.value >= 1000 ? last : stepAt(slider.value / 1000));
  } });
  const curves = make("g"), now = make("g"), time = make("div", { class: "at-time" }, make("svg", { "aria-hidden": "true" }, curves, now), slider);
  const night = make("div", { class: "at-night" }, scene, said, time);
  const play = button("", { class: "at-go", onclick: () => playing ? stop() : watch() });
  const chips = data.names.map((name, n) => button("", { onclick: () => differ(n), "aria-pressed": false }));
  chips.forEach((chip, n) => chip.append(make("b", {}, n + 1), data.names[n]));
  const codes = card.querySelector(".at-codes");
  codes.before(make("div", { class: "at-lit" }, night, line(play, button("◀", { "aria-label": "one station back", onclick: () => hop(-1) }),
    button("▶|", { "aria-label": "one station on", onclick: () => hop(1) })), line(...chips), aloud));
  const ease = eased(rows.map(({ lamps }) => lamps), () => rows.map(({ want }) => want), paint, () => {
    if (grain > 3) return;
    grain *= 1.5;
    renew();
  });
  stop();
  measure();
  go(last);
  let wide = scene.clientWidth;
  new ResizeObserver(guard(() => {
    if (scene.clientWidth === wide) return;
    wide = scene.clientWidth;
    measure();
    show();
  })).observe(scene);
});
