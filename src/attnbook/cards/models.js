// The models, as encoders.py, layers.py, scores.py, windows.py, alignment.py, decoders.py and transformer.py have
// them: a `step` is the papers' equations, one a line. Vectors are Float64Arrays, and a sentence is a list of vectors.
window.attnlibModels ??= (() => {
  const BOS = 1, EOS = 2;   // 0 is padding; what comes after 3, the unknown word, are words

  // --- Vectors, matrices, and the softmax ---
  function vector(size, number) {
    const x = new Float64Array(size);
    for (let n = 0; n < size; n++) x[n] = number(n);
    return x;
  }

  const sigmoid = x => 1 / (1 + Math.exp(-x));
  const tanh = x => x.map(number => Math.tanh(number));
  const row = (W, n) => W.numbers.subarray(n * W.columns, (n + 1) * W.columns);

  const join = (x, y) => Float64Array.of(...x, ...y);
  const dot = (x, y) => x.reduce((sum, number, n) => sum + number * y[n], 0);
  const average = (alpha, h) => h[0].map((_, n) => h.reduce((sum, annotation, i) => sum + alpha[i] * annotation[n], 0));

  // Most of the time is spent here: four sums at once do not wait for each other.
  function times({ numbers, rows, columns }, x, bias) {
    const y = new Float64Array(rows);
    for (let row = 0, at = 0; row < rows; row++) {
      let a = bias ? bias[row] : 0, b = 0, c = 0, d = 0, n = 0;
      for (; n < columns - 3; n += 4, at += 4) {
        a += numbers[at] * x[n];
        b += numbers[at + 1] * x[n + 1];
        c += numbers[at + 2] * x[n + 2];
        d += numbers[at + 3] * x[n + 3];
      }
      for (; n < columns; n++) a += numbers[at++] * x[n];
      y[row] = a + b + (c + d);
    }
    return y;
  }

  function columns(W, from, to) {
    const size = to - from, place = n => Math.floor(n / size) * W.columns + from + n % size;
    return { rows: W.rows, columns: size, numbers: vector(W.rows * size, n => W.numbers[place(n)]) };
  }

  // What stands at minus infinity gets 0; where all does, all is 0.
  function softmax(e, sharpness = 1) {
    const peak = e.reduce((most, x) => Math.max(most, x), -Infinity);
    const parts = e.map(x => x === -Infinity ? 0 : Math.exp(sharpness * (x - peak)));
    const sum = parts.reduce((total, x) => total + x, 0);
    return sum ? parts.map(x => x / sum) : parts;
  }

  // Of all weights, those whose names begin so, by the rest of their names.
  const below = (w, begin) => Object.fromEntries(Object.keys(w).filter(name => name.startsWith(begin))
    .map(name => [name.slice(begin.length), w[name]]));

  // --- Cells: from an input and the state before to the state after ---
  const weights = (w, name, end = "") =>
    ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map(part => w[name + part + end]);

  function gru([W_ih, W_hh, b_ih, b_hh]) {
    const dec = W_hh.columns;
    return (x, s) => {
      const input = times(W_ih, x, b_ih), recurrent = times(W_hh, s, b_hh), after = new Float64Array(dec);
      for (let n = 0; n < dec; n++) {
        const r = sigmoid(input[n] + recurrent[n]), z = sigmoid(input[dec + n] + recurrent[dec + n]);
        const candidate = Math.tanh(input[2 * dec + n] + r * recurrent[2 * dec + n]);
        after[n] = (1 - z) * candidate + z * s[n];
      }
      return after;
    };
  }

  function lstm([W_ih, W_hh, b_ih, b_hh]) {
    const dec = W_hh.columns, bias = vector(4 * dec, n => b_ih[n] + b_hh[n]);
    return (x, [s, cell]) => {
      const gates = times(W_ih, x, times(W_hh, s, bias));
      const state = new Float64Array(dec), after = new Float64Array(dec);
      for (let n = 0; n < dec; n++) {
        const [i, f, candidate, out] = [gates[n], gates[dec + n], gates[2 * dec + n], gates[3 * dec + n]];
        after[n] = sigmoid(f) * cell[n] + sigmoid(i) * Math.tanh(candidate);
        state[n] = sigmoid(out) * Math.tanh(after[n]);
      }
      return [state, after];
    };
  }

  // A stack of LSTMs: each layer reads the state of the one below.
  function stack(w, name) {
    const layers = [];
    while (`${name}weight_ih_l${layers.length}` in w) layers.push(lstm(weights(w, name, `_l${layers.length}`)));
    return {
      step: (x, states) => layers.map((layer, n) => [x] = layer(x, states[n])),
      begin: hid => layers.map(() => [new Float64Array(hid), new Float64Array(hid)]),
    };
  }

  const scan = (step, xs, state) => xs.map(x => state = step(x, state));   // the states after each word
  const reversed = list => [...list].reverse();
  const scanBack = (step, xs, state) => scan(step, reversed(xs), state).reverse();

  // --- Layers of the Transformer: each part adds to the vector of a word, and norms the sum ---
  const positioned = (x, t) => x.map((number, n) => number * Math.sqrt(x.length)
    + (n % 2 ? Math.cos : Math.sin)(t * 10000 ** -((n - n % 2) / x.length)));
  const mean = x => x.reduce((sum, number) => sum + number) / x.length;

  function addNorm(w, name) {
    const { weight, bias } = below(w, `${name}_norm.norm.`);
    return (x, more) => {
      const sum = x.map((number, n) => number + more[n]), middle = mean(sum), apart = sum.map(part => part - middle);
      const scale = 1 / Math.sqrt(mean(apart.map(part => part ** 2)) + 1e-5);
      return apart.map((part, n) => part * scale * weight[n] + bias[n]);
    };
  }

  function multiHead(w, name, heads) {
    const { W_Q, W_K, W_V, W_O } = below(w, `${name}.`), norm = addNorm(w, name), size = W_Q.rows / heads;
    const apart = x => Array.from({ length: heads }, (_, n) => x.subarray(n * size, (n + 1) * size));
    return {
      remember: xs => xs.map(x => ({ keys: apart(times(W_K, x)), values: apart(times(W_V, x)) })),
      attend(x, remembered, weigh = softmax) {
        const queries = apart(times(W_Q, x).map(number => number / Math.sqrt(size)));
        const match = (n, i) => dot(queries[n], remembered[i].keys[n]);
        const alphas = queries.map((_, n) => weigh(vector(remembered.length, i => match(n, i))));
        const c = alphas.map((alpha, n) => average(alpha, remembered.map(({ values }) => values[n]))).reduce(join);
        return { alpha: average(alphas.map(() => 1 / heads), alphas), x: norm(x, times(W_O, c)) };
      },
    };
  }

  function transformerLayers(w, side, heads) {
    const layers = [];
    for (let at; `${at = `${side}.layers.${layers.length}.`}self_attention.W_Q` in w;) {
      const [self, cross] = ["self_attention", "cross_attention"].map(part => at + part in heads
        && multiHead(w, at + part, heads[at + part]));
      const [first, second] = [0, 2].map(n => below(w, `${at}feed_forward.${n}.`));
      const norm = addNorm(w, `${at}feed_forward`);
      const inner = x => times(first.weight, x, first.bias).map(number => Math.max(number, 0));
      layers.push({ self, cross, feed: x => norm(x, times(second.weight, inner(x), second.bias)) });
    }
    return layers;
  }

  // --- Encoders: from embedded words to annotations h, a summary, and where the decoder begins ---
  const encoders = {
    BidirectionalGRU(w) {
      const W_s = w["encoder.W_s"], direction = side => gru(weights(w, `encoder.${side}.`, "_l0"));
      const rightwards = direction("forward_rnn"), leftwards = direction("backward_rnn");
      return xs => {
        const zero = new Float64Array(W_s.columns);
        const forwards = scan(rightwards, xs, zero), backwards = scanBack(leftwards, xs, zero);
        const h = xs.map((_, i) => join(forwards[i], backwards[i]));
        return { h, summary: join(forwards.at(-1), backwards[0]), state: tanh(times(W_s, backwards[0])) };
      };
    },
    StackedLSTM(w, { reverse }) {
      const { step, begin } = stack(w, "encoder.lstm."), hid = w["encoder.lstm.weight_hh_l0"].columns;
      const turned = list => reverse ? reversed(list) : list;
      return xs => {
        const states = scan(step, turned(xs), begin(hid));
        return { h: turned(states.map(layers => layers.at(-1)[0])), state: states.at(-1) };
      };
    },
    BidirectionalLSTM(w) {
      const layers = [], side = name => lstm(weights(w, `encoder.${name}.${layers.length}.`, "_l0"));
      while (`encoder.forward_rnn.${layers.length}.weight_hh_l0` in w) layers.push([side("forward_rnn"), side("backward_rnn")]);
      const zero = new Float64Array(w["encoder.forward_rnn.0.weight_hh_l0"].columns);
      return xs => {
        const state = layers.map(([rightwards, leftwards]) => {
          const forwards = scan(rightwards, xs, [zero, zero]), backwards = scanBack(leftwards, xs, [zero, zero]);
          xs = xs.map((_, i) => join(forwards[i][0], backwards[i][0]));
          return [0, 1].map(part => join(forwards.at(-1)[part], backwards[0][part]));
        });
        return { h: xs, state };
      };
    },
    TransformerEncoder(w, { heads }) {
      const layers = transformerLayers(w, "encoder", heads);
      return xs => ({ h: layers.reduce((xs, { self, feed }) => {
        const own = self.remember(xs);
        return xs.map(x => feed(self.attend(x, own).x));
      }, xs.map(positioned)) });
    },
  };

  // --- Scores: what is kept of an annotation, what is asked with a state, and how well the two match ---
  const additive = (W_a, U_a, v_a) => ({
    key: h => times(U_a, h),
    query: s => times(W_a, s),
    match: (query, key) => dot(v_a, tanh(query.map((x, n) => x + key[n]))),
  });
  const scores = {
    Dot: () => ({ key: h => h, query: s => s, match: dot }),
    General: w => ({ key: h => times(w.W_a, h), query: s => s, match: dot }),
    Additive: w => additive(w.W_a, w.U_a, w.v_a),
    Concat: (w, { dec }) => additive(columns(w.W_a, 0, dec), columns(w.W_a, dec, w.W_a.columns), w.v_a),
    Location: w => ({ key: () => null, query: s => times(w.W_a, s), match: (query, _, i) => query[i] }),
  };

  // --- Windows: the center p_t if there is one, which positions are inside, and what multiplies their weights ---
  const near = (p, D, factor) => ({ center: p, inside: i => Math.abs(i - p) <= D, factor });
  const windows = {
    GlobalWindow: () => () => ({ inside: () => true, factor: () => 1 }),
    LocalMonotonic: (w, { D }) => (s, t, S) => near(Math.min(t, S - 1), D, () => 1),
    LocalPredictive: (w, { D }) => (s, t, S) => {
      const p = S * sigmoid(dot(w.v_p, tanh(times(w.W_p, s))));
      return near(p, D, i => Math.exp(-((i - p) ** 2) / (2 * (D / 2) ** 2)));
    },
  };

  // --- Attention: score the annotations that the window shows, take the softmax, average ---
  // What a reader has changed: weights of single steps, source words that are not looked at, and the scores' sharpness.
  const untouched = { looks: new Map(), hidden: new Set(), sharpness: 1 };

  function align(w, parts) {
    const score = scores[parts.score](below(w, "decoder.attention.score."), parts);
    const view = windows[parts.window](below(w, "decoder.attention.window."), parts);
    return {
      remember: h => ({ h, keys: h.map(score.key) }),
      at(t, s, { h, keys }, { looks, hidden, sharpness }) {
        const { center, inside, factor } = view(s, t, h.length), query = score.query(s);
        const shown = i => inside(i) && !hidden.has(i);
        const e = vector(h.length, i => shown(i) ? score.match(query, keys[i], i) : -Infinity);
        const alpha = looks.get(t) ?? softmax(e, sharpness).map((weight, i) => weight * factor(i));
        return { e, alpha, center, c: average(alpha, h) };
      },
    };
  }

  // --- Decoders: `step` takes the word before and scores the next one ---
  function deepOutput(w) {
    const { U_o, V_o, C_o, W_o } = below(w, "decoder.readout.");
    return (s, y, c) => {
      const preMaxout = times(U_o, s, times(V_o, y, times(C_o, c)));
      return times(W_o, vector(W_o.columns, n => Math.max(preMaxout[2 * n], preMaxout[2 * n + 1])));
    };
  }

  const decoders = {
    FixedContextDecoder(w) {
      const cell = gru(weights(w, "decoder.gru.", "_l0")), readout = deepOutput(w);
      return {
        start: ({ summary, state }) => ({ memory: summary, recurrent: state }),
        step(y, { memory: c, recurrent: sBefore }) {
          const s = cell(join(y, c), sBefore);
          return { logits: readout(sBefore, y, c), recurrent: s };
        },
      };
    },
    BahdanauDecoder(w, parts) {
      const attention = align(w, parts), cell = gru(weights(w, "decoder.cell.")), readout = deepOutput(w);
      return {
        start: ({ h, state }) => ({ memory: attention.remember(h), recurrent: state }),
        step(y, { memory, recurrent: sBefore, t }, hand) {
          const attended = attention.at(t, sBefore, memory, hand);
          const s = cell(join(y, attended.c), sBefore);
          return { logits: readout(parts.readsNewState ? s : sBefore, y, attended.c), attended, recurrent: s };
        },
      };
    },
    LuongDecoder(w, parts) {
      const attention = align(w, parts), { step } = stack(w, "decoder.lstm.");
      const W_c = w["decoder.W_c"], W_y = w["decoder.W_y"], nothing = new Float64Array(parts.feeds ? W_c.rows : 0);
      return {
        start: ({ h, state }) => ({ memory: attention.remember(h), recurrent: { states: state, fed: nothing } }),
        step(y, { memory, recurrent: before, t }, hand) {
          const states = step(join(y, before.fed), before.states), s = states.at(-1)[0];
          const attended = attention.at(t, s, memory, hand);
          const sTilde = tanh(times(W_c, join(attended.c, s)));
          const fed = parts.feeds ? sTilde : nothing;
          return { logits: times(W_y, sTilde), attended: { ...attended, sTilde }, recurrent: { states, fed } };
        },
      };
    },
    TransformerDecoder(w, { heads }) {   // what is shown are the last layer's weights
      const layers = transformerLayers(w, "decoder", heads), W_y = w["decoder.embedding.weight"];
      return {
        start: ({ h }) => ({ memory: layers.map(({ cross }) => cross.remember(h)), recurrent: layers.map(() => []) }),
        step(y, { memory, recurrent: before, t }, { looks, hidden, sharpness }) {
          const weigh = e => looks.get(t) ?? softmax(e.map((x, i) => hidden.has(i) ? -Infinity : x), sharpness);
          let x = positioned(y, t), alpha;
          const recurrent = layers.map(({ self, cross, feed }, n) => {
            const words = [...before[n], ...self.remember([x])];
            ({ x, alpha } = cross.attend(self.attend(x, words).x, memory[n], weigh));
            x = feed(x);
            return words;
          });
          return { logits: times(W_y, x), attended: { alpha }, recurrent };
        },
      };
    },
  };

  // --- From what was packed to a model, and from a sentence to its translation ---
  function half(bits) {   // what 16 bits stand for
    const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = (bits & 1023) / 1024;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  }

  // Read float16 weights out of base64; throw if they are more or fewer than their shapes say.
  function unpacked({ shapes, base64 }) {
    const bytes = atob(base64), known = vector(1 << 16, half), w = {};
    let at = 0;
    for (const [name, [rows, columns]] of Object.entries(shapes)) {
      const numbers = vector(rows * (columns ?? 1), () => known[bytes.charCodeAt(at++) | bytes.charCodeAt(at++) << 8]);
      w[name] = columns ? { rows, columns, numbers } : numbers;
    }
    if (at !== bytes.length) throw new Error("the weights are damaged");
    return w;
  }

  function open({ parts, weights }) {
    const w = unpacked(weights);
    const encode = encoders[parts.encoder](w, parts), decoder = decoders[parts.decoder](w, parts);
    const embedded = (side, word) => row(w[`${side}.embedding.weight`], word);
    return {
      encode: numbers => encode(numbers.map(word => embedded("encoder", word))),
      start: encoded => ({ ...decoder.start(encoded), word: BOS, t: 0 }),
      // From the word before to the probabilities of the next one; where to go on from, once it is chosen.
      step(before, hand = untouched) {
        const { logits, attended, recurrent } = decoder.step(embedded("decoder", before.word), before, hand);
        const p = softmax(logits.map((x, other) => other < EOS ? -Infinity : x));
        return { p, attended, after: word => ({ ...before, recurrent, word, t: before.t + 1 }) };
      },
      // Take the likeliest word at each step, or the one that `words` has for the step, until the sentence ends.
      * greedy(encoded, most, hand = untouched, words = new Map(), begin = this.start(encoded)) {
        for (let before = begin, next; before.t < most && before.word !== EOS; before = next) {
          const { p, attended, after } = this.step(before, hand);
          const word = words.get(before.t) ?? p.indexOf(p.reduce((most, x) => Math.max(most, x)));
          next = after(word);
          yield { word, p, before, ...attended };
        }
      },
    };
  }

  return { open };
})();
