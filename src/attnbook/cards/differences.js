// Both models learn on one sentence: English in the middle, Luong's lamps on one side of it and Bahdanau's on the other.
// At the end of the training their states stand behind the lamps, so that place is time: five differences are lit.
attnlibCards.define("differences", (card, data) => {
  const { make, button, line, dress, fill, write, two, clamp, greatest, sum, widths, onWidth } = attnlibCards;
  const { Light, bulb, sized, eased, END, written, judged, training, timeline } = attnlibLight;
  const NARROW = 560, GOLD = "#ffd27a", DIM = "#5e739688";   // pixels
  const source = [...data.source, END], S = source.length;
  let chosen = -1, difference = -1, place = {}, pen, light, grain = 1.5;

  const rows = data.rows.map(row => ({ ...row, ...training(row, S), lamps: [], want: [] }));
  const time = timeline({ rows, stations: data.stations, title: "▶ Watch both learn",
    label: "training step of both models", arrive }), { over, said } = time;

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
    time.measure();
  }

  function renew() {   // the light, in grains that this machine can draw
    const { size, levels, tall } = place;
    light = new Light(size, levels.lamp - levels.source + 8, { grain, beyond: tall ? 0.16 : 0.24, pool: tall ? 0 : 8 });
  }

  // --- What is shown ---

  // The size of a word's letters, so that it fits in its column.
  const fitting = word => place.tall ? 13 : clamp(15 * (place.pitch - 10) / widths([word], 15)[0], 9.5, 15);

  function show() {
    rows.forEach(row => {
      const list = row.at(time.step).slice(0, S), { good } = judged(list, data.right);
      row.want = list.map(({ alpha }, t) => ({ x: place.words[t], alpha, b: chosen < 0 ? 0.55 : t === chosen ? 1 : 0.07 }));
      [...row.box.children].forEach((node, t) => {
        const { word } = list[t] ?? {};
        node.hidden = !word;
        if (!word) return;
        write(node.firstChild, word);
        write(node.lastChild, data.gloss[word] ?? "\u00a0");
        node.style.fontSize = `${fitting(word)}px`;
        dress(node, { "aria-pressed": t === chosen, class: good[t] ? "at-right" : "" });
      });
    });
    write(stamp, over() ? "" : `step ${Math.round(time.step).toLocaleString("en")}`);
    time.draw();
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

  // --- Choosing a difference, and a French word at which it is shown ---

  function arrive() {   // at another step of the training
    [chosen, difference] = [-1, -1];
    show();
    tell();
  }

  function choose(t) {
    time.stop();
    chosen = t;
    show();
    tell();
    time.speak();
  }

  function differ(n) {
    [time.step, difference] = [rows[0].last, difference === n ? -1 : n];
    choose(difference < 0 ? -1 : chosen < 0 ? Math.min(6, S - 2) : chosen);
  }

  function pick(t) {
    choose(chosen === t && difference < 0 ? -1 : t);
  }

  const words = list => list.map(word => data.gloss[word] ?? word).join(" ");
  const mean = list => sum(list) / list.length;

  function tell() {
    chips.forEach((chip, n) => dress(chip, { "aria-pressed": n === difference }));
    [...codes.children].forEach((one, n) => { one.hidden = n !== difference; });
    const sides = place.tall ? ["on the left", "on the right"] : ["above", "below"];
    const turned = text => !place.tall ? text : text.replace(/(a)bove|below/gi, (_, above) => sides[above ? 0 : 1])
      .replace(/(^|[.?] )on/g, "$1On");
    if (difference >= 0) said.innerHTML = turned(data.says[difference]);
    else fill(said, ...over() && chosen < 0 ? ["Behind each lamp stand the states of its decoder: □ s, and in Luong’s model ○ s̃. In five places the two models differ. Choose one."]
      : rows.flatMap((row, m) => {
        const list = row.at(time.step), { word, alpha } = list[chosen] ?? {}, [i] = alpha ? greatest(alpha, 1) : [];
        if (word) return [`${row.title}: ${two(alpha[i])} of the light of `, make("em", { lang: "fr" }, word), " falls on ", make("em", {}, source[i]), ". "];
        const beam = two(mean(list.map(({ alpha }) => Math.max(...alpha))));
        return [`${row.title} (${sides[m]}) writes `, make("em", {}, words(written(list))), `: ${judged(list, data.right).count} of ${data.right.length} right, ${beam} of a lamp’s light on one word. `];
      }));
  }

  // --- Beginning ---

  const canvas = make("canvas", { "aria-hidden": "true" }), ink = make("svg", { "aria-hidden": "true", class: "at-ink" });
  const english = make("div", { class: "at-english", lang: "en" }), stamp = make("span", { class: "at-stamp" });
  for (const row of rows) row.box = make("div", { class: "at-french", role: "group", "aria-label": `${row.title}: French words` });
  const scene = make("div", { class: "at-scene" }, canvas, ink, stamp, english,
    ...rows.map(({ title, box }, m) => make("div", { class: `at-half at-half${m}` }, make("b", {}, title), box)));
  const night = make("div", { class: "at-night" }, scene, said, time.box);
  const chips = data.names.map((name, n) => button("", { onclick: () => differ(n), "aria-pressed": false }));
  chips.forEach((chip, n) => chip.append(make("b", {}, n + 1), data.names[n]));
  const codes = card.querySelector(".at-codes");
  codes.before(make("div", { class: "at-lit" }, night, line(...time.buttons), line(...chips), time.aloud));
  const ease = eased(rows.map(({ lamps }) => lamps), () => rows.map(({ want }) => want), paint, () => {
    if (grain > 3) return;
    grain *= 1.5;
    renew();
  });
  measure();
  choose(-1);
  onWidth(scene, () => {
    measure();
    show();
  });
});
