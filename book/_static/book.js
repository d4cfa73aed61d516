/* MathJax is loaded when an equation comes near what the reader sees, and sets it. At the reader's first move, or after a
   while, it goes on to all others. */
const parts = ["core", "input/tex", "output/chtml", "a11y/assistive-mml"];
window.MathJax = { ...window.MathJax, startup: { ready() {}, pageReady() {} } };

addEventListener("DOMContentLoaded", () => {
  const equations = [...document.querySelectorAll(".math")];
  const near = new IntersectionObserver(
    (seen) => set(seen.filter((entry) => entry.isIntersecting).map((entry) => entry.target)),
    { rootMargin: "50% 0%" },
  );
  for (const equation of equations) near.observe(equation);
  const moves = new AbortController();
  const setAll = () => {
    moves.abort();
    set(equations);
  };
  for (const move of ["scroll", "keydown", "pointerdown"]) addEventListener(move, setAll, { signal: moves.signal });
  setTimeout(setAll, 10_000);
  const outputs = [...document.querySelectorAll(".cell_output:has(img), table.dataframe")];
  addEventListener("load", () => scrollWide(outputs));
  addEventListener("resize", () => scrollWide([...equations, ...outputs]));
});

/* A few at a time, so that the page answers in between. */
let last;
function set(equations) {
  const left = equations.filter(isUnset);
  if (left.length) last ??= MathJax.loader.load(...parts).then(() => MathJax.startup.defaultReady());
  for (let i = 0; i < left.length; i += 3) {
    last = last
      .then(() => MathJax.typesetPromise(left.slice(i, i + 3).filter(isUnset)))
      .then(() => new Promise((done) => setTimeout(done)));
  }
  last = last?.then(() => scrollWide(left));
}

function isUnset(equation) {
  return !equation.querySelector("mjx-container");
}

/* An equation, a picture or a table wider than its column scrolls inside itself, by keys too. */
function scrollWide(parts) {
  for (const part of parts) part.classList.remove("wide");
  const room = (part) => (part.matches("span.math") ? part.closest(":not(span, em, strong, a)") : part).clientWidth;
  const isWide = (part) => part.scrollWidth > room(part);
  const wide = parts.filter(isWide);
  for (const part of parts) {
    part.classList.toggle("wide", wide.includes(part));
    wide.includes(part) ? (part.tabIndex = 0) : part.removeAttribute("tabindex");
  }
}

/* Paper is light, and shows everything. */
let shown;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  MathJax.typeset?.([...document.querySelectorAll(".math")].filter(isUnset));
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
