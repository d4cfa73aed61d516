/* MathJax sets a few equations at a time, from the top, so that the page answers while it goes on. */
window.MathJax = {
  ...window.MathJax,
  startup: {
    async pageReady() {
      const equations = [...document.querySelectorAll(".math")];
      while (equations.length) {
        await MathJax.typesetPromise(equations.splice(0, 3));
        await new Promise((done) => setTimeout(done));
      }
      scrollWide();
      addEventListener("resize", scrollWide);
    },
  },
};

/* An equation wider than its column scrolls inside itself, by keys too. */
function scrollWide() {
  const lines = [...document.querySelectorAll("span.math")];
  for (const equation of lines) equation.classList.remove("wide");
  const displays = [...document.querySelectorAll("div.math")];
  const wide = [
    ...lines.filter((equation) => equation.scrollWidth > equation.parentElement.clientWidth),
    ...displays.filter((equation) => equation.scrollWidth > equation.clientWidth),
  ];
  for (const equation of [...lines, ...displays]) {
    equation.classList.toggle("wide", wide.includes(equation));
    wide.includes(equation) ? (equation.tabIndex = 0) : equation.removeAttribute("tabindex");
  }
}

/* Paper is light. */
let shown;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
