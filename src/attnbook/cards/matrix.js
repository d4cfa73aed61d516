// The matrix of a general score: a slider for each of its numbers, and the weights of every word.
attnlibCards.define("matrix", (card, data) => {
  const { make, button, write, sayAtRest, two, softmax, sum, question } = attnlibCards;
  const { vectors, words, features } = data, tried = question(card), matrix = data.matrix.map(row => [...row]);
  const dot = (x, y) => sum(x.map((part, n) => part * y[n])), root = Math.sqrt(features.length);

  // Equation (1.4), with the two matrices as one.
  function attend(x) {
    const query = features.map((_, b) => sum(x.map((part, a) => part * matrix[a][b])));
    return softmax(vectors.map(y => dot(query, y) / root));
  }

  function draw(changed) {   // a number in the row of this feature, or all
    const weights = vectors.map(attend);
    weights.forEach((row, i) => row.forEach((weight, j) => {
      cells[i][j].style.setProperty("--w", weight.toFixed(2));
      write(cells[i][j], two(weight));
    }));
    matrix.forEach((row, a) => row.forEach((number, b) => {
      const [slider, shown] = knobs[a][b].children;
      slider.value = number;
      write(shown, String(number).replace("-", "−"));
    }));
    const moved = words.map((_, i) => i).filter(i => vectors[i][changed]);
    const told = i => `${words[i]}: ${words.map((word, j) => `${word} ${two(weights[i][j])}`).join(", ")}.`;
    if (moved.length) sayAtRest(said, moved.map(told).join(" "));
    const { query, key, weight, right } = data.question ?? {};
    if (weights[query]?.[key] >= weight) tried(right);
  }

  const slider = (a, b) => make("input", { type: "range", min: -4, max: 4, step: 1, value: 0,
    "aria-label": `words ${features[a]} look for words ${features[b]}`, oninput: ({ target }) => {
      matrix[a][b] = Number(target.value);
      draw(a);
    } });
  const again = () => {
    data.matrix.forEach((row, a) => { matrix[a] = [...row]; });
    draw();
  };
  const grid = (head, names, rows) => make("div", { class: "at-scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, make("td"), ...head.map(name => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows.map((row, n) => make("tr", {}, make("th", { scope: "row" }, names[n]), ...row)))));
  const knobs = matrix.map((row, a) => row.map((_, b) => make("td", {}, slider(a, b), make("b"))));
  const cells = words.map(() => words.map(() => make("td", { style: "--w: 0" })));
  const said = make("p", { class: "at-aloud", role: "status" });
  card.querySelector(".at-still").replaceWith(make("div", { class: "at-both" },
    make("div", {}, make("p", {}, "How strongly a row looks for a column"), grid(features, features, knobs)),
    make("div", {}, make("p", {}, "The weights of each word"), grid(words, words, cells))),
    button("Start again", { onclick: again }), said);
  draw();
});
