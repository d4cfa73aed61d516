// Light: lamps on one side, words on the other, and on each word as much light of a lamp as its weight says. A softmax
// shares out one unit: an unsure lamp makes fog, a sure one a beam.
window.attnlibLight ??= (() => {
  const CLOUDS = [[26, 0.55], [11, 0.3], [4, 0.15]];   // sizes in grains, and how much there is of them
  const FAR = 3.2, DARK = 0.004;   // widths to which a bell reaches; a lamp that is out

  function randoms() {   // the same for every picture
    let seed = 7;
    return () => (seed = seed * 16807 % 2147483647) / 2147483647;
  }

  function dusted(nu, nv, random) {   // soft clouds
    const dust = new Float32Array(nu * nv);
    for (const [size, much] of CLOUDS) {
      const columns = Math.ceil(nu / size) + 2;
      const knots = Float32Array.from({ length: columns * (Math.ceil(nv / size) + 2) }, random);
      for (let v = 0; v < nv; v++)
        for (let u = 0; u < nu; u++) {
          const x = u / size, y = v / size, at = Math.floor(y) * columns + Math.floor(x);
          const [p, q] = [x % 1, y % 1].map(share => share * share * (3 - 2 * share));
          const near = knots[at] * (1 - p) + knots[at + 1] * p;
          const next = knots[at + columns] * (1 - p) + knots[at + columns + 1] * p;
          dust[v * nu + u] += much * (near * (1 - q) + next * q - 0.5);
        }
    }
    return dust;
  }

  const entropy = alpha => -alpha.reduce((sum, a) => a > 1e-4 ? sum + a * Math.log(a) : sum, 0);

  // A sheet of grains of so many pixels, `across` along the words and `depth` from the lamps to them. `beyond` is how
  // far light goes on behind the words, as a share; `pool` is how broad it lies on them, in pixels; `upright` turns
  // words and lamps into columns, the words at the left. `paint` returns how much light there is on each word.
  function light(across, depth, { grain = 2, beyond = 0.2, pool = 15, upright = false } = {}) {
    const nu = Math.ceil(across / grain), nv = Math.ceil(depth * (1 + beyond) / grain), span = depth / grain;
    const sheet = document.createElement("canvas"), random = randoms(), dust = dusted(nu, nv, random);
    [sheet.width, sheet.height] = upright ? [nv, nu] : [nu, nv];
    const ink = sheet.getContext("2d"), image = ink.createImageData(sheet.width, sheet.height);
    const noise = Float32Array.from({ length: 4096 }, random), field = new Float32Array(nu * nv);
    const profile = new Float32Array(nu), sum = new Float64Array(nu + 1);

    // What falls on the line of words, of a lamp that is wide where it is unsure; and its sums from the left.
    function spreadOut(alpha, places, gaps, spread) {
      profile.fill(0);
      alpha.forEach((a, i) => {
        if (a < 0.002) return;
        const wide = Math.max(1.1, Math.min(gaps[i], 30) * ((upright ? 0.3 : 0.24) + 0.22 * spread)), x = places[i];
        const bright = a * Math.min(1, 5 / wide + 0.35);
        const low = Math.max(0, Math.floor(x - FAR * wide)), high = Math.min(nu - 1, Math.floor(x + FAR * wide));
        for (let u = low; u <= high; u++) profile[u] += bright * Math.exp(-0.5 * ((u - x) / wide) ** 2);
      });
      for (let u = 0; u < nu; u++) sum[u + 1] = sum[u] + profile[u];
    }

    const upTo = x => x <= 0 ? 0 : x >= nu ? sum[nu] : sum[x | 0] + (x % 1) * profile[x | 0];

    // Each grain gets the mean of what it would cover on the line of words, seen from the lamp.
    function shine(from, b) {
      for (let v = 0; v < nv; v++) {
        const f = (v + 0.5) / span, behind = Math.max(0, 1 - (f - 1) / beyond);
        const strength = b * (f <= 1 ? 0.4 / (0.14 + f) + 0.3 : 0.65 * behind * behind);
        const low = Math.max(0, Math.floor(from - from * f - 1));
        const high = Math.min(nu - 1, Math.ceil(from + (nu - from) * f + 1));
        for (let u = low, at = v * nu + low; u <= high; u++, at++) {
          const d = u + 0.5 - from, x = from + d / f, half = 0.5 / f * (1 + Math.abs(d) / f / span);
          field[at] += strength * (upTo(x + half) - upTo(x - half)) / (2 * half);
        }
      }
    }

    function lie(x, wide, much) {   // on a word
      const broad = pool / grain, middle = upright ? span + 10 : span;
      const [v0, v1] = [Math.max(0, middle - 3 * broad | 0), Math.min(nv, middle + 3 * broad)];
      for (let v = v0; v < v1; v++)
        for (let u = Math.max(0, x - 3 * wide | 0); u < Math.min(nu, x + 3 * wide); u++)
          field[v * nu + u] += much * Math.exp(-0.5 * (((u - x) / wide) ** 2 + ((v - middle) / broad) ** 2));
    }

    function expose(cloud) {   // from light to colors, in which much is white
      const pixels = image.data;
      for (let v = 0, at = 0; v < nv; v++)
        for (let u = 0; u < nu; u++, at++) {
          const a = 1 - Math.exp(-1.45 * field[at] * (1 + cloud * dust[at])), g = 1.8 * (noise[at * 7 & 4095] - 0.5);
          const to = 4 * (upright ? u * nv + nv - 1 - v : (nv - 1 - v) * nu + u);
          pixels[to] = 255 * a + g;
          pixels[to + 1] = (164 + 78 * a) * a + g;
          pixels[to + 2] = (62 + 146 * a) * a + g;
          pixels[to + 3] = 255;
        }
      ink.putImageData(image, 0, 0);
    }

    // A lamp has its place `x`, its weights `alpha`, and `b`, how bright it is; `words` are the places of the words.
    function paint(lamps, words) {
      const places = words.map(x => x / grain), lit = words.map(() => 0);
      const gaps = places.map((x, i) => Math.min(x - (places[i - 1] ?? -Infinity), (places[i + 1] ?? Infinity) - x));
      let fog = 0, all = 0;
      field.fill(0);
      for (const { x, alpha, b } of lamps) {
        if (b < DARK) continue;
        const spread = entropy(alpha) / Math.log(alpha.length);
        alpha.forEach((a, i) => { lit[i] += a * b; });
        spreadOut(alpha, places, gaps, spread);
        shine(x / grain, b);
        fog += b * spread;
        all += b;
      }
      lit.forEach((much, i) => {
        if (much > 0.02) lie(places[i], Math.min(gaps[i], 30) * 0.42, 0.26 * (1 - Math.exp(-1.6 * much)));
      });
      expose(all ? 1.3 * Math.max(0, fog / all - 0.15) : 0);
      return lit;
    }

    return { sheet, paint, width: sheet.width * grain, height: sheet.height * grain };
  }

  function bulb(pen, x, y, b, radius = 9) {
    if (b < 0.02) return;
    const glow = pen.createRadialGradient(x, y, 0, x, y, radius);
    glow.addColorStop(0, `rgba(255, 250, 230, ${Math.min(0.35 + b, 1)})`);
    glow.addColorStop(0.25, `rgba(255, 226, 160, ${Math.min(b, 0.9)})`);
    glow.addColorStop(1, "rgba(255, 210, 122, 0)");
    pen.fillStyle = glow;
    pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
  }

  return { light, bulb };
})();
