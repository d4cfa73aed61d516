// What only a model of one's own text needs beside demo.js: any text read as words or as pieces of words, as
// text/files.py, data.py and text/subwords.py have it, and the beam of search.py.
window.attnlibOwn = data => {
  const EOS = 2, UNKNOWN = 3, SPECIAL = ["<pad>", "<start>", "<end>", "<unknown>"], SPACE = "\u2581";
  const INSIDE = { [SPACE]: "\ufdd0", "\u2585": "\ufdd1" };   // letters that mean something to sentencepiece
  const OUTSIDE = Object.fromEntries(Object.entries(INSIDE).map(both => both.reverse()));
  const WHITE = /[ \n\t]|\r+(?=[ \n\t]|$)/;   // as units.py has it
  const WORDS = 99, LETTERS = 1000;   // of what is read
  const { pieces, positions, most, beam: widest } = data.own;
  const numbers = new Map(data.source.map((word, n) => [word, n + SPECIAL.length]));
  const target = [...data.target];   // as they are: what is shown of them is shorter
  const own = { numbers: undefined, note: undefined, read, text, search, choices };
  let width = widest, refused = false;

  // --- From a text to numbers ---

  // Sentencepiece's byte pairs: join what stands side by side, of all pairs always the one learnt first.
  function cut(word) {
    const parts = [...SPACE + [...word].map(letter => INSIDE[letter] ?? letter).join("")];
    for (;;) {
      let first = Infinity, at = 0;
      for (let n = 0; n + 1 < parts.length; n++) {
        const number = numbers.get(parts[n] + parts[n + 1]);
        if (number < first) [first, at] = [number, n];
      }
      if (first === Infinity) break;
      parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
    return parts.reduce((tokens, part) => {   // unknown letters side by side are one piece
      const number = numbers.get(part) ?? UNKNOWN;
      if (number === UNKNOWN && tokens.at(-1)?.number === UNKNOWN) tokens.at(-1).part += part;
      else tokens.push({ part, number });
      return tokens;
    }, []);
  }

  const numbered = word => pieces ? cut(word) : [{ part: word, number: numbers.get(word) ?? UNKNOWN }];

  const outside = piece => [...piece].map(letter => OUTSIDE[letter] ?? letter).join("");
  // A piece that goes on with a word is shown with a dot before it.
  const shown = piece => piece === SPACE ? SPACE : outside(piece.startsWith(SPACE) ? piece.slice(1) : `·${piece}`);
  if (pieces) data.target = data.target.map(shown);

  function read(written, before, begin, tell) {
    const whole = written.replace(/\p{Surrogate}/gu, "\ufffd").replaceAll("\ufeff", "").normalize("NFC");
    const words = whole.split(WHITE).filter(word => word);
    const tokens = written.length > LETTERS ? [] : words.flatMap(numbered);
    const wrong = wrongIn(words.length, written.length, tokens.length);
    if (wrong) tell(wrong);
    const parts = tokens.map(({ part }) => pieces ? shown(part) : part), again = refused;
    refused = Boolean(wrong);
    if (wrong || (!again && parts.join(" ") === before.join(" "))) return;
    const strange = [...new Set(tokens.filter(one => one.number === UNKNOWN).map(one => one.part.replace(SPACE, "")))];
    const some = strange.slice(0, 5).map(word => `“${word.slice(0, 40)}”`).join(", ");
    own.note = strange.length ? `The model does not know ${some}${strange.length > 5 ? " and others" : ""}.` : "";
    own.numbers = tokens.map(({ number }) => number);
    tell("The model translates.");   // until what it says takes the place of this
    begin(parts);
  }

  function wrongIn(words, letters, taken) {
    if (!words) return "Write a sentence.";
    if (words > WORDS) return `These are ${words} words; write at most ${WORDS}.`;
    if (letters > LETTERS) return `These are ${letters} letters; write at most ${LETTERS}.`;
    if (taken <= (positions ?? Infinity)) return "";
    return `The sentence takes ${taken} positions; the model's location score has ${positions}.`;
  }

  // --- From numbers to a text ---

  function text(ids) {
    const end = ids.indexOf(EOS), written = ids.slice(0, end < 0 ? undefined : end);
    const names = written.map(number => SPECIAL[number] ?? target[number - SPECIAL.length]);
    return pieces ? outside(names.join("").split(SPACE).filter(word => word).join(" ")) : names.join(" ");
  }

  // --- Searching ---

  // Keep the most probable beginnings, and those that have ended; give the steps of the best translation.
  function* beam(model, encoded, hand, words = new Map()) {
    let slots = [{ state: model.start(encoded), logP: 0 }];
    const ended = ({ state }) => state.word === EOS, each = ({ logP, state }) => logP / state.t;
    for (let t = 0; t < most && !slots.every(ended); t++) {
      const next = [];
      for (const slot of slots.filter(one => !ended(one))) {
        const { p, attended, after } = model.step(slot.state, hand);
        for (const word of words.has(t) ? [words.get(t)] : attnlibCards.greatest(p, width)) {
          if (!p[word] && !words.has(t)) continue;
          const logP = slot.logP + Math.log(p[word] || Number.MIN_VALUE);
          next.push({ state: after(word), logP, before: slot, step: { word, p, before: slot.state, ...attended } });
        }
        yield;
      }
      next.sort((one, other) => other.logP - one.logP);
      slots = [...slots.filter(ended), ...next].slice(0, width);
    }
    const whole = slots.some(ended) ? slots.filter(ended) : slots, steps = [];
    let best = whole.reduce((one, other) => each(other) > each(one) ? other : one);
    for (; best.step; best = best.before) steps.unshift(best.step);
    yield* steps;
  }

  function search(model, encoded, hand, words) {
    return width === 1 ? model.greedy(encoded, most, hand, words) : beam(model, encoded, hand, words);
  }

  // How to search, if there is a choice.
  function choices(again) {
    return widest > 1 && attnlibCards.choices("search", [`beam of ${widest}`, "greedy"], n => {
      width = n ? 1 : widest;
      again();
    });
  }

  return own;
};
