// Makes the pictures slide, by the numbers in their tables. It finds every card that no copy of it has found before.
(() => {
  const two = number => (Math.floor(100 * number + 0.5) / 100).toFixed(2);   // as Python does it: a half goes up

  function start(card) {
    const one = where => card.querySelector(where), all = where => [...card.querySelectorAll(where)];
    const svg = one("svg"), slider = one("input"), rows = all("tbody tr"), unit = svg.dataset.unit;
    const [axis, length, low, span, bar, disc] = svg.dataset.axis.split(" ").map(Number);
    const words = all("thead th").slice(1, -1).map(head => head.textContent);
    const set = (node, attributes) => Object.entries(attributes).forEach(([key, to]) => node.setAttribute(key, to));

    function draw() {
      const [sharpness, ...numbers] = [...rows[slider.value].children].map(cell => cell.textContent);
      const weights = numbers.slice(0, -1).map(Number), answer = Number(numbers[words.length]);
      const x = (axis + length * (answer - low) / span).toFixed(1);
      weights.forEach((weight, n) => {
        all(".attnlib-bar")[n].setAttribute("width", (bar * weight).toFixed(2));
        all(".attnlib-dot")[n].setAttribute("r", (2 + disc * Math.sqrt(weight)).toFixed(2));
        all(".attnlib-weight")[n].textContent = two(weight);
      });
      set(one(".attnlib-context"), { x1: x, x2: x });
      one(".attnlib-answer").setAttribute("x", x);
      one(".attnlib-answer").textContent = two(answer);
      one("label b").textContent = sharpness;
      slider.setAttribute("aria-valuetext", sharpness);
      rows.forEach((row, n) => row.setAttribute("aria-current", n === Number(slider.value)));
      const parts = words.map((word, n) => `${word} ${two(weights[n])}`).join(", ");
      one("[role=status]").textContent = `Sharpness ${sharpness}: ${parts}. The answer is ${two(answer)} ${unit}`.trim() + ".";
      one("desc").textContent = one("[role=status]").textContent;
    }

    slider.addEventListener("input", draw);
    one(".attnlib-shown").hidden = true;
    one(".attnlib-controls").hidden = false;
    draw();
  }

  for (const card of document.querySelectorAll(".attnlib-sharpening:not([data-ready])")) {
    card.dataset.ready = "";
    start(card);
  }
})();
