// The plane: a query and keys that can be dragged, the weights, and the answer among the values.
attnlibCards.define("plane", (card, data) => {
  const { make, button, dress, sayAtRest, two, clamp, sum, softmax, onKey, follow, question } = attnlibCards;
  const KEYS = "Arrow keys move it; plus and minus pull it outwards or push it inwards, without turning it";
  const SIZE = 276, MIDDLE = SIZE / 2, UNIT = 42, GRID = 46;   // pixels: of a plane, of 1; points on the ground
  const FAR = 3, LONGEST = 2.8;   // how long a query and a key may be
  const HUES = [[230, 159, 0], [0, 114, 178], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233],
    [120, 120, 120]];
  const { words, values, names, hidden } = data, tried = question(card);
  const rgb = hue => `rgb(${hue.map(Math.round).join(" ")})`;
  const turn = ([x, y]) => Math.atan2(y, x), ray = turn(data.query);
  const aside = point => Math.acos(Math.cos(turn(point) - ray));   // the angle to the line, either way round
  const begun = () => ({ query: [...data.query], keys: data.keys.map(key => [...key]) });
  let { query, keys } = begun(), pulled = false, held = false;

  // --- Attention, equation (1.4): the hidden features add to each product of the query and a key ---

  const d = () => 2 ** Number(features.value), factor = () => root.checked ? d() ** -0.5 : 10 ** Number(scale.value);

  function attend([x, y]) {
    const more = hidden[features.value - 1];
    const scores = keys.map((key, i) => factor() * (x * key[0] + y * key[1] + more[i]));
    const weights = softmax(scores);
    const mean = list => list[0].map((_, n) => sum(weights.map((weight, i) => weight * list[i][n])));
    return { scores, weights, hue: mean(HUES.slice(0, words.length)), value: mean(values) };
  }

  // --- Drawing: keys and query, and on the ground the color of the answer that a query there would get ---

  const at = ([x, y]) => [MIDDLE + UNIT * x, MIDDLE - UNIT * y];
  const line = ([x1, y1], [x2, y2], kind) => make("line", { class: kind, x1, y1, x2, y2 });

  function drawGround() {
    const paint = ink.getContext("2d"), image = paint.createImageData(GRID, GRID);
    for (let n = 0; n < GRID * GRID; n++) {
      const x = ((n % GRID + 0.5) / GRID * SIZE - MIDDLE) / UNIT;
      const y = (MIDDLE - (Math.floor(n / GRID) + 0.5) / GRID * SIZE) / UNIT;
      image.data.set([...attend([x, y]).hue, 255], 4 * n);
    }
    paint.putImageData(image, 0, 0);
    ground.setAttribute("href", ink.toDataURL());
  }

  function draw(changed = "keys") {
    const { scores, weights, hue, value } = attend(query);
    if (changed !== "query") drawGround();
    drawPoints();
    words.forEach((_, i) => {
      const [, number, track, score] = bars.children[i].children;
      number.textContent = two(weights[i]);
      track.style.setProperty("--w", weights[i]);
      score.replaceChildren(make("i", {}, "e"), ` = ${two(scores[i])}`);
    });
    drawValues(weights, hue, value);
    drawNumbers(Math.max(...weights));
    const shares = words.map((word, i) => `${word} ${two(weights[i])}`).join(", ");
    if (!held) sayAtRest(said, `${shares}. The answer: ${told(value)}.`, said.textContent ? 500 : 0);
    judge();
  }

  function drawPoints() {
    const size = Math.hypot(...query), [x, y] = size ? query.map(z => z / size) : [1, 0];
    const foot = key => line(at(key), at([x, y].map(z => z * (key[0] * x + key[1] * y))), "at-foot");
    under.replaceChildren(line(at([-3.3, 0]), at([3.3, 0]), "at-axis"), line(at([0, -3.3]), at([0, 3.3]), "at-axis"),
      ...(pulled || !data.question ? [] : [line(at([0, 0]), at([FAR * Math.cos(ray), FAR * Math.sin(ray)]), "at-ray")]),
      ...(size < 0.2 ? [] : keys.map(foot)));
    handles.forEach((node, n) => {
      const point = n ? keys[n - 1] : query, [left, top] = at(point).map(z => z.toFixed(1));
      const [shaft, reach, knob, text] = node.children;
      dress(shaft, { x1: MIDDLE, y1: MIDDLE, x2: left, y2: top });
      for (const circle of [reach, knob]) dress(circle, { cx: left, cy: top });
      dress(text, { x: clamp(left, 24, SIZE - 24), y: point[1] < 0 && n ? Number(top) + 24 : top - 14 });
      const [x, y] = point.map(z => two(Math.abs(z))), [side, up] = [point[0] < 0, point[1] < 0];
      dress(node, { "aria-valuenow": Math.hypot(...point),
        "aria-valuetext": `${x} to the ${side ? "left" : "right"}, ${y} ${up ? "down" : "up"}` });
    });
  }

  function drawNumbers(p) {
    many.textContent = d();
    if (root.checked) scale.value = Math.log10(factor());
    size.textContent = factor() < 0.1 ? factor().toFixed(3) : two(factor());
    scale.setAttribute("aria-valuetext", size.textContent);
    features.setAttribute("aria-valuetext", many.textContent);
    responds.replaceChildren("The largest weight is ", make("i", {}, "p"),
      ` = ${two(p)}. To its own score it responds by `, make("i", {}, "p"), "(1 − ",
      make("i", {}, "p"), `) = ${two(p * (1 - p))}${d() > 2 ? `. The plane shows 2 of ${d()} features.` : "."}`);
  }

  // --- The values, and the answer inside their hull ---

  const told = value => value.map((x, n) => `${x.toFixed(1)} ${names[n][1]}`).join(", ");
  const [low, high] = [Math.min, Math.max].map(most => [0, 1].map(n => most(...values.map(value => value[n]))));
  const share = (value, n) => (value[n] - low[n]) / (high[n] - low[n] || 1);
  const place = value => [40 + 190 * share(value, 0), SIZE - 32 - 205 * share(value, 1)];

  function drawValues(weights, hue, value) {
    const places = values.map(place), [x, y] = place(value), angle = turn(query), way = [];
    if (pulled) for (let size = 0; size <= 12; size += 0.1)
      way.push(place(attend([size * Math.cos(angle), size * Math.sin(angle)]).value).map(z => z.toFixed(1)));
    answer.textContent = told(value);
    sky.replaceChildren(make("rect", { class: "at-edge", width: SIZE, height: SIZE }),
      make("polygon", { class: "at-hull", points: hull(places).join(" ") }),
      ...places.map((end, i) => dress(line(end, [x, y], "at-pull"), { "stroke-width": (14 * weights[i]).toFixed(2) })),
      make("path", { class: "at-way", d: way.length ? `M${way.join("L")}` : "" }),
      ...places.map(([cx, cy], i) => make("circle", { class: "at-value", cx, cy, r: 8, fill: rgb(HUES[i]) })),
      ...places.map(([px, py], i) => make("text", { x: clamp(px, 24, SIZE - 24), y: py < MIDDLE ? py - 14 : py + 22,
        "text-anchor": "middle" }, words[i])),
      make("circle", { class: "at-answered", cx: x, cy: y, r: 10, fill: rgb(hue) }),
      make("text", { class: "at-soft", x: SIZE - 6, y: SIZE - 8, "text-anchor": "end" }, `${names[0][0]} →`),
      make("text", { class: "at-soft", x: 8, y: 18 }, `↑ ${names[1][0]}`));
  }

  function hull(points) {   // a point is a corner if all others lie on one side of a line to another one
    const side = ([a, b], [c, d], [e, f]) => (c - a) * (f - b) - (d - b) * (e - a);
    const corners = points.filter(a => points.some(b => `${b}` !== `${a}` && points.every(c => side(a, b, c) >= 0)));
    const [u, v] = [0, 1].map(n => sum(corners.map(corner => corner[n])) / corners.length);
    return corners.sort(([a, b], [c, d]) => Math.atan2(b - v, a - u) - Math.atan2(d - v, c - u));
  }

  // --- The hand ---

  function move(n, [x, y]) {
    const size = Math.min(Math.hypot(x, y), n < 0 ? FAR : LONGEST);
    const led = held && n < 0 && data.question && !pulled && aside([x, y]) < 0.12;   // the line leads the hand
    const along = led ? ray : turn([x, y]), to = [size * Math.cos(along), size * Math.sin(along)];
    if (n < 0) query = to;
    else keys[n] = to;
    draw(n < 0 ? "query" : "keys");
  }

  function grab(event, n) {
    if (event.button) return;   // another button opens a menu, which takes the release
    const box = plane.getBoundingClientRect(), zoom = SIZE / box.width;
    event.currentTarget.focus({ preventScroll: true });
    held = true;   // nothing is said before the hand lets go, and nothing on the page moves
    follow(event, ({ clientX, clientY }) =>
      move(n, [((clientX - box.left) * zoom - MIDDLE) / UNIT, (MIDDLE - (clientY - box.top) * zoom) / UNIT]), () => {
      held = false;
      draw("query");
    });
  }

  function keyed(event, n) {
    const [x, y] = n < 0 ? query : keys[n], size = Math.hypot(x, y), by = event.shiftKey ? 0.02 : 0.1;
    const to = (dx, dy) => () => move(n, [x + dx, y + dy]);
    const along = part => () => move(n, [x * part, y * part]);
    return onKey(event, { ArrowRight: to(by, 0), ArrowLeft: to(-by, 0), ArrowUp: to(0, by), ArrowDown: to(0, -by),
      "+": along(1 + 0.1 / (size || 1)), "-": along(Math.max(1 - 0.1 / (size || 1), 0.01)) });
  }

  function judge() {   // when the query has been pulled out along the line
    if (held || pulled || !(Math.hypot(...query) >= data.question?.length) || aside(query) > 0.15) return;
    pulled = true;
    tried(data.question.right);
    draw("query");
  }

  // --- Beginning ---

  const handle = (name, n) => make("g", { class: "at-handle", tabindex: 0, role: "slider",
    "aria-roledescription": "movable point", "aria-valuemin": 0, "aria-valuemax": FAR,
    "aria-label": n < 0 ? name : `key of ${name}`, "aria-description": n < 1 ? KEYS : undefined,
    onpointerdown: event => grab(event, n), onkeydown: event => keyed(event, n) },
    make("line", { class: "at-arrow",
      style: n < 0 ? "stroke: var(--ink); stroke-width: 4" : `stroke: ${rgb(HUES[n])}` }),
    make("circle", { class: "at-reach", r: 22 }),
    make("circle", { class: "at-knob", r: 9 - (n >= 0), style: `fill: ${n < 0 ? "var(--ink)" : rgb(HUES[n])}` }),
    make("text", { class: "at-name", "text-anchor": "middle" }, name));
  const slider = (attributes, label) => make("input", { type: "range", "aria-label": label, ...attributes });
  const ink = make("canvas", { width: GRID, height: GRID });
  const ground = make("image", { class: "at-ground", width: SIZE, height: SIZE, preserveAspectRatio: "none" });
  const under = make("g"), handles = [handle("query", -1), ...words.map(handle)];
  const picture = (more, ...nodes) => make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, ...more }, ...nodes);
  const plane = picture({ class: "at-plane" }, ground, make("rect", { class: "at-edge", width: SIZE, height: SIZE }),
    under, ...handles.slice(1), handles[0]);
  const sky = picture({ "aria-hidden": "true" }), [many, size, answer] = [make("b"), make("b"), make("b")];
  const bars = make("div", { class: "at-bars", "aria-hidden": "true" },
    ...words.map((word, i) => make("div", { class: "at-row", style: `--hue: ${rgb(HUES[i])}` }, make("b", {}, word),
      make("span"), make("div", { class: "at-track" }, make("div")), make("span", { class: "at-score" }))));
  const features = slider({ min: 1, max: hidden.length, step: 1, value: 1, oninput: () => draw() },
    "number of features");
  const rescale = (rooted, exponent) => {
    [root.checked, scale.value] = [rooted, exponent];
    draw();
  };
  const scale = slider({ min: -2, max: 1, step: 0.05, value: 0, oninput: () => rescale(false, scale.value) },
    "scale of the scores");
  const root = make("input", { type: "checkbox", checked: "", "aria-label": "scale by 1 over the root of d k",
    onchange: () => rescale(root.checked, 0) });
  const responds = make("p"), said = make("p", { role: "status", class: "at-aloud" });
  const label = (...parts) => make("label", {}, ...parts);
  const again = button("Start again", { onclick: () => {
    ({ query, keys } = begun());
    features.value = 1;
    rescale(true, 0);
  } });
  const dk = () => [make("i", {}, "d"), make("sub", {}, make("i", {}, "k"))];
  card.querySelector(".at-still").replaceWith(make("div", {},
    make("div", { class: "at-planes" },
      make("div", {}, make("p", {}, make("b", {}, "Query and keys")), plane), bars,
      make("div", {}, make("p", {}, make("b", {}, "Values and the answer")), sky, make("p", {}, "Answer: ", answer))),
    make("div", { class: "at-tune" }, label(make("span", {}, "features ", ...dk()), features, many),
      label("scale ", scale, size), label(root, make("span", {}, "1/√", ...dk())), again), responds, said));
  draw();
});
