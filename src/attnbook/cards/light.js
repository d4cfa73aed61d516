// Weights as light: each target word is a lamp with one unit of it, which falls on the source words as the weights say.
// Along a beam the brightness is not to scale: it is brighter near the lamp, and fog has clouds. On the words it is.
window.attnlibLight ??= (() => {
  const TRAVEL = 1300, READ = 34;   // milliseconds on the way to a station, and there for each letter
  const SEED = 16807, GRAIN = [[26, 0.55], [11, 0.3], [4, 0.15]];   // of the clouds: how large, and how much
  const SLOW = 1000 / 24;
  const mix = (a, b, part) => a + (b - a) * part;

  // A sheet as wide as the words and so deep from the lamps to the words, in grains of so many pixels.
  class Light {
    constructor(wide, depth, { grain = 2, beyond = 0.2, pool = 15 } = {}) {
      const nu = Math.ceil(wide / grain), nv = Math.ceil(depth * (1 + beyond) / grain), sheet = document.createElement("canvas");
      Object.assign(this, { wide, depth, grain, beyond, pool, nu, nv, sheet });
      Object.assign(sheet, { width: nu, height: nv });
      this.ink = sheet.getContext("2d");
      this.image = this.ink.createImageData(nu, nv);
      this.light = new Float32Array(nu * nv);
      const dust = this.dust = new Float32Array(nu * nv);
      let seed = 7;
      const random = () => (seed = seed * SEED % 2147483647) / 2147483647, smooth = x => x * x * (3 - 2 * x);
      for (const [size, much] of GRAIN) {
        const across = Math.ceil(nu / size) + 2, list = Float32Array.from({ length: across * (Math.ceil(nv / size) + 2) }, random);
        for (let n = 0; n < nu * nv; n++) {
          const x = n % nu / size, y = Math.floor(n / nu) / size, at = Math.floor(y) * across + Math.floor(x), p = smooth(x % 1);
          const upper = mix(list[at], list[at + 1], p), lower = mix(list[at + across], list[at + across + 1], p);
          dust[n] += much * (mix(upper, lower, smooth(y % 1)) - 0.5);
        }
      }
      this.noise = Float32Array.from({ length: 4096 }, random);
    }

    // Paint lamps { x, alpha, b }: where each stands, its weights, how bright it is; `words` are the places of the words.
    // Return how much light lies on each word.
    paint(lamps, words, { down = false, broad = 1, gain = 1 } = {}) {
      const { nu, nv, grain, beyond, light } = this, span = this.depth / grain, S = words.length;
      const apart = words.map((x, i) => Math.min(i ? x - words[i - 1] : Infinity, i + 1 < S ? words[i + 1] - x : Infinity) / grain);
      const sum = new Float64Array(nu + 1), lit = new Float64Array(S), profile = new Float32Array(nu);
      let fog = 0, all = 0;
      light.fill(0);
      for (const { x: place, alpha, b } of lamps) {
        if (b < 0.004 || !alpha) continue;
        const from = place / grain, spread = alpha.reduce((entropy, a) => a > 1e-4 ? entropy - a * Math.log(a) : entropy, 0) / Math.log(S);
        profile.fill(0);
        for (let i = 0; i < S; i++) {
          const a = alpha[i], wide = Math.max(1.1, broad * Math.min(apart[i], 30) * (0.24 + 0.22 * spread)), x = words[i] / grain;
          lit[i] += a * b;
          if (a < 0.002) continue;
          for (let u = Math.max(0, Math.floor(x - 3.2 * wide)); u <= Math.min(nu - 1, x + 3.2 * wide); u++)
            profile[u] += a * Math.min(1, 5 / wide + 0.35) * Math.exp(-0.5 * ((u - x) / wide) ** 2);
        }
        for (let u = 0; u < nu; u++) sum[u + 1] = sum[u] + profile[u];
        const until = x => x <= 0 ? 0 : x >= nu ? sum[nu] : sum[x | 0] + (x % 1) * profile[x | 0];   // the sum of the profile up to x
        fog += b * spread;
        all += b;
        for (let v = 0; v < nv; v++) {   // f: the way from the lamp, which is 1 at the words
          const f = (v + 0.5) / span, strength = gain * b * (f <= 1 ? 0.4 / (0.14 + f) + 0.3 : 0.65 * Math.max(0, 1 - (f - 1) / beyond) ** 2);
          const last = Math.min(nu - 1, Math.ceil(from + (nu - from) * f + 1));
          for (let u = Math.max(0, Math.floor(from - from * f - 1)); u <= last; u++) {
            const d = u + 0.5 - from, x = from + d / f, half = 0.5 / f + Math.abs(d) / (2 * f * f * span);
            if (x + half > 0 && x - half < nu) light[v * nu + u] += strength * (until(x + half) - until(x - half)) / (2 * half);
          }
        }
      }
      this.pools(lit, words.map(x => x / grain), apart, span);
      this.develop(all ? 1.3 * Math.max(0, fog / all - 0.15) : 0, down);
      return lit;
    }

    pools(lit, words, apart, span) {   // of light, around the words
      const { nu, nv, light, pool, grain } = this, high = pool / grain;
      if (high) lit.forEach((much, i) => {
        if (much < 0.02) return;
        const x = words[i], wide = Math.min(apart[i], 30) * 0.42, bright = 0.26 * (1 - Math.exp(-1.6 * much));
        for (let v = Math.max(0, Math.floor(span - 3 * high)); v < Math.min(nv, span + 3 * high); v++)
          for (let u = Math.max(0, Math.floor(x - 3 * wide)); u < Math.min(nu, x + 3 * wide); u++)
            light[v * nu + u] += bright * Math.exp(-0.5 * (((u - x) / wide) ** 2 + ((v - span) / high) ** 2));
      });
    }

    develop(cloud, down) {   // from light to colors: amber, then white
      const { nu, nv, light, dust, noise, image: { data } } = this;
      for (let n = 0; n < nu * nv; n++) {
        const a = 1 - Math.exp(-1.45 * light[n] * (1 + cloud * dust[n])), g = 1.8 * (noise[n * 7 & 4095] - 0.5);
        const v = Math.floor(n / nu), to = 4 * (down ? n : n + (nv - 1 - 2 * v) * nu);
        data[to] = 255 * a + g;
        data[to + 1] = (164 + 78 * a) * a + g;
        data[to + 2] = (62 + 146 * a) * a + g;
        data[to + 3] = 255;
      }
      this.ink.putImageData(this.image, 0, 0);
    }
  }

  function bulb(pen, x, y, b, r = 9) {   // a lamp
    if (b < 0.02) return;
    const glow = pen.createRadialGradient(x, y, 0, x, y, r);
    glow.addColorStop(0, `rgba(255,250,230,${Math.min(0.35 + b, 1)})`);
    glow.addColorStop(0.25, `rgba(255,226,160,${Math.min(b, 0.9)})`);
    glow.addColorStop(1, "rgba(255,210,122,0)");
    pen.fillStyle = glow;
    pen.fillRect(x - r, y - r, 2 * r, 2 * r);
  }

  // A canvas of so many pixels, sharp on any screen.
  function sized(canvas, wide, high) {
    const ratio = Math.min(devicePixelRatio || 1, 2), pen = canvas.getContext("2d");
    Object.assign(canvas, { width: Math.round(wide * ratio), height: Math.round(high * ratio) });
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.imageSmoothingQuality = "high";   // of the grains
    return pen;
  }

  // Lamps come nearer to what is wanted of them, frame by frame; a reader who wants less motion sees the last one. Where
  // frames take too long, `slow` is called, which may make them coarser.
  function eased(lists, wanted, draw, slow = () => {}) {
    const { still } = attnlibCards;
    let frame = 0, last = 0, taken = 20;   // milliseconds of a frame, on average
    function move(now) {
      taken = mix(taken, now - last, 0.2);
      if (taken > SLOW) {
        slow();
        taken = 20;
      }
      const part = still() ? 1 : 1 - Math.exp(-Math.min(now - last, 60) / 90);
      let away = 0;
      last = now;
      wanted().forEach((want, m) => {
        const lamps = lists[m];
        want.forEach((to, n) => {
          const lamp = lamps[n] ??= { x: to.x, b: 0, alpha: to.alpha && to.alpha.map(() => 1 / to.alpha.length) };
          if (to.alpha?.length !== lamp.alpha?.length) lamp.alpha = to.alpha && [...to.alpha];
          for (const key of ["x", "b"]) {
            away = Math.max(away, Math.abs(to[key] - lamp[key]) / (key === "x" ? 50 : 1));
            lamp[key] = mix(lamp[key], to[key], part);
          }
          to.alpha?.forEach((a, i) => {
            away = Math.max(away, Math.abs(a - lamp.alpha[i]));
            lamp.alpha[i] = mix(lamp.alpha[i], a, part);
          });
        });
        lamps.length = want.length;
      });
      draw(away <= 0.004);   // whether it is at rest
      frame = away > 0.004 ? requestAnimationFrame(move) : 0;
    }
    return () => {
      if (frame) return;
      last = performance.now();
      frame = requestAnimationFrame(move);
    };
  }

  // --- A training that was recorded: its moments hold words, and weights that sum to 1 ---

  const END = "(end)", written = list => list.map(({ word }) => word).filter(word => word !== END);

  // How many words are right, and which; the end is if all are.
  function judged(list, right) {
    const good = attnlibCards.match(written(list), right).map(place => place >= 0), count = attnlibCards.sum(good);
    return { good: [...good, count === good.length && count === right.length], count };
  }

  function training({ steps, words, weights, loss, light }, S) {
    const bytes = atob(weights), last = steps.at(-1), index = step => steps.findLastIndex(one => one <= step + 1e-6);
    let at = 0;
    const moments = words.map(text => text.split(" ").map(word => {
      const alpha = Array.from({ length: S }, () => bytes.charCodeAt(at++)), whole = attnlibCards.sum(alpha);
      return { word, alpha: alpha.map(part => part / whole) };
    }));
    return {
      steps, moments, last, index, loss: loss.map(one => one / loss[0]), found: light,
      at(step) {   // between two moments, a mixture of their weights, and the words of the nearer one
        const k = index(step), next = Math.min(k + 1, moments.length - 1);
        const part = next > k ? (step - steps[k]) / (steps[next] - steps[k]) : 0;
        return moments[part < 0.5 ? k : next].map(({ word }, t) => {
          const [from, to] = [moments[k][t] ?? moments[next][t], moments[next][t] ?? moments[k][t]];
          return { word, alpha: from.alpha.map((a, i) => mix(a, to.alpha[i], part)) };
        });
      },
      // Where a step stands on a line from 0 to 1, with more room for the first ones, and the step that stands there.
      along: step => Math.log1p(step / 60) / Math.log1p(last / 60),
      stepAt: x => 60 * Math.expm1(x * Math.log1p(last / 60)),
    };
  }

  function during(ms, isOn, draw = () => {}) {   // until it is over, or something else has begun: then false
    const begun = performance.now();
    return new Promise(done => (function tick() {
      const part = ms ? attnlibCards.clamp((performance.now() - begun) / ms, 0, 1) : 1;
      if (!isOn()) return done(false);
      draw(part);
      return part < 1 ? requestAnimationFrame(tick) : done(true);
    })());
  }

  // --- Time: the curves of trainings, a slider over them, and buttons to play them and to go from station to station ---

  // `arrive` shows another step, and `leave` ends before it what goes on by itself in the card.
  function timeline({ rows, stations, title, label, leave = () => {}, arrive }) {
    const { make, button, dress, fill, write, clamp, still } = attnlibCards, { along, stepAt, last } = rows[0];
    const TOP = 8, BOTTOM = 66, NARROW = 530, KINDS = ["loss", "found"], up = share => mix(BOTTOM, TOP, share);
    const ofEach = draw => rows.flatMap(row => KINDS.map(kind => draw(row, kind)));
    let run;

    function measure() {
      const wide = box.clientWidth, x = n => (along(n) * wide).toFixed(1);
      const ticks = wide < NARROW ? [0, 100, 200, 500, 1000, last] : [0, 50, 100, 200, 300, 500, 1000, last];
      const [loss, key] = rows.length > 1 ? ["their loss", `: - - ${rows[0].title}, — ${rows[1].title}`] : ["its loss", ""];
      fill(curves, make("line", { x2: wide, y1: BOTTOM, y2: BOTTOM }),
        ...ofEach((row, kind) => make("path", { class: `at-${kind} ${row === rows.at(-1) ? "" : "at-dashed"}`,
          d: `M${row[kind].map((share, k) => `${x(row.steps[k])} ${up(share).toFixed(1)}`).join("L")}` })),
        ...stations.map(n => make("circle", { cx: x(n), cy: BOTTOM, r: 3 })),
        ...ticks.map(n => make("text", { x: clamp(x(n), 4, wide - 14), y: BOTTOM + 17, "text-anchor": "middle" },
          n.toLocaleString("en"))),
        make("text", { class: "at-loss", x: 8, y: up(1) + 19 }, loss),
        make("text", { class: "at-found", x: wide - 12, y: up(0.82) - 7, "text-anchor": "end" },
          `light on the right words${key}`));
    }

    function draw() {
      const { step } = time, x = along(step) * box.clientWidth;
      const told = ({ title, at, found, index }) => `${title ? `${title}: ` : ""}${written(at(step)).join(" ")}. ${
        Math.round(100 * found[index(step)])} percent of the light is on the right words.`;
      fill(now, make("line", { x1: x, x2: x, y1: TOP - 6, y2: BOTTOM }),
        ...ofEach((row, kind) => make("circle", { class: `at-${kind}`, cx: x, cy: up(row[kind][row.index(step)]), r: 4.5 })));
      if (run || document.activeElement !== slider) slider.value = Math.round(1000 * along(step));
      dress(slider, { "aria-valuetext": `step ${Math.round(step)}: ${rows.map(told).join(" ")}` });
      write(play, run ? "❚❚ Pause" : title);
    }

    function go(n) {
      time.step = clamp(n, 0, last);
      arrive();
      if (stations.includes(time.step)) time.speak();
    }

    function move(n) {
      time.stop();
      leave();
      go(n);
    }

    function pause() {
      time.stop();
      arrive();
    }

    async function film(from) {   // at each station it stays as long as one reads what is said there
      const mine = run = {}, isOn = () => mine === run, smooth = x => x * x * (3 - 2 * x);
      for (const to of stations.filter(one => one >= from)) {
        const begun = from, travel = part => go(part < 1 ? stepAt(mix(along(begun), along(to), smooth(part))) : to);
        if (!await during(still() || to === from ? 0 : TRAVEL, isOn, travel)) return;
        if (!await during(Math.max(1800, READ * said.textContent.length), isOn)) return;
        from = to;
      }
      pause();
    }

    function toggle() {
      if (run) return pause();
      leave();
      box.parentNode.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });   // what is played
      return film(time.over() ? 0 : time.step);
    }

    const hop = by => move(by > 0 ? stations.find(one => one > time.step + 0.5) ?? last
      : stations.findLast(one => one < time.step - 0.5) ?? 0);
    const said = make("p", { class: "at-said" }), aloud = make("p", { class: "at-aloud", role: "status" });
    const curves = make("g"), now = make("g", { class: "at-now" });
    const slider = make("input", { type: "range", min: 0, max: 1000, value: 1000, "aria-label": label,
      oninput: () => move(slider.value >= 1000 ? last : stepAt(slider.value / 1000)) });
    const box = make("div", { class: "at-time" }, make("svg", { "aria-hidden": true }, curves, now), slider);
    const play = button(title, { class: "at-go", onclick: toggle }), buttons = [play,
      button("◀", { "aria-label": "one station back", onclick: () => hop(-1) }),
      button("▶|", { "aria-label": "one station on", onclick: () => hop(1) })];
    const time = { step: last, said, aloud, box, buttons, measure, draw, hop, toggle, over: () => time.step === last,
      runs: () => Boolean(run), stop: () => { run = undefined; }, speak: () => write(aloud, said.textContent) };
    return time;
  }

  return { Light, bulb, sized, eased, mix, END, written, judged, training, during, timeline };
})();
