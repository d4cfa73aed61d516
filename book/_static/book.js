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

/* An equation or a picture wider than its column scrolls inside itself, by keys too. */
function scrollWide() {
  const lines = [...document.querySelectorAll("span.math")];
  for (const equation of lines) equation.classList.remove("wide");
  const frames = [...document.querySelectorAll("div.math, .picture")];
  const wide = [
    ...lines.filter((equation) => equation.scrollWidth > equation.parentElement.clientWidth),
    ...frames.filter((frame) => frame.scrollWidth > frame.clientWidth),
  ];
  for (const part of [...lines, ...frames]) {
    part.classList.toggle("wide", wide.includes(part));
    wide.includes(part) ? (part.tabIndex = 0) : part.removeAttribute("tabindex");
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
