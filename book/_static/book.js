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
      for (const wide of document.querySelectorAll("div.math"))
        if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0; // so that keys scroll it
    },
  },
};

/* Paper is light. */
let shown;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
