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
    },
  },
};
