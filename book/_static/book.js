/* MathJax sets the equations in sight and those a screen away. When the reader first moves, it goes on to the rest. */
window.MathJax = {
  ...window.MathJax,
  startup: {
    async pageReady() {
      const equations = [...document.querySelectorAll(".math")];
      const nearby = new IntersectionObserver(
        (seen) => set(seen.filter((entry) => entry.isIntersecting).map((entry) => entry.target)),
        { rootMargin: "100% 0%" },
      );
      for (const equation of equations) nearby.observe(equation);
      const signs = new AbortController();
      const goOn = () => {
        signs.abort();
        set(equations);
      };
      for (const sign of ["scroll", "keydown", "pointerdown"]) addEventListener(sign, goOn, { signal: signs.signal });
      addEventListener("resize", () => scrollWide(equations));
    },
  },
};

/* A few at a time, so that the page answers in between. */
let last = Promise.resolve();
function set(equations) {
  const left = equations.filter(isUnset);
  for (let i = 0; i < left.length; i += 3) {
    last = last
      .then(() => MathJax.typesetPromise(left.slice(i, i + 3).filter(isUnset)))
      .then(() => new Promise((done) => setTimeout(done)));
  }
  last = last.then(() => scrollWide(left));
}

function isUnset(equation) {
  return !equation.querySelector("mjx-container");
}

/* An equation wider than its column scrolls inside itself, by keys too. */
function scrollWide(equations) {
  for (const equation of equations) equation.classList.remove("wide");
  const isWide = (equation) =>
    equation.scrollWidth > (equation.matches("span") ? equation.parentElement : equation).clientWidth;
  const wide = equations.filter(isWide);
  for (const equation of equations) {
    equation.classList.toggle("wide", wide.includes(equation));
    wide.includes(equation) ? (equation.tabIndex = 0) : equation.removeAttribute("tabindex");
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
