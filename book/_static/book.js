addEventListener("DOMContentLoaded", () => {
  const parts = [...document.querySelectorAll("span.math, div.math > span, .cell_output, table.dataframe")]
    .filter((part) => !part.matches(".cell_output") || part.querySelector("img"));
  addEventListener("load", () => scrollWide(parts));
  addEventListener("resize", () => scrollWide(parts));
});

/* Folded code of several cells in a row, without a word between them, is opened by one button. */
addEventListener("DOMContentLoaded", () => {
  const fold = (cell) => cell?.matches("div.cell") && cell.querySelector(":scope > details.fold");
  for (const cell of document.querySelectorAll(".bd-article div.cell")) {
    const [first, second] = [fold(cell), fold(cell.nextElementSibling)];
    if (!first || !second || cell.querySelector(".cell_output")) continue;
    if (first.firstElementChild.textContent !== second.firstElementChild.textContent) continue;
    second.firstElementChild.after(...[...first.children].slice(1));
    cell.remove();
  }
});

/* An equation, a picture or a table wider than its column scrolls inside itself, by keys too. */
function scrollWide(parts) {
  for (const part of parts) part.classList.remove("wide");
  const room = (part) => (part.matches("span.math") ? part.closest(":not(span, em, strong, a)") : part).clientWidth;
  const isWide = (part) => part.scrollWidth > room(part);
  const wide = parts.filter(isWide);
  for (const part of parts) {
    part.classList.toggle("wide", wide.includes(part));
    if (wide.includes(part)) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

/* What is copied as text has the TeX of its equations, as a notebook would. */
addEventListener("copy", (event) => {
  const selected = getSelection().rangeCount ? getSelection().getRangeAt(0).cloneContents() : new DocumentFragment();
  const equations = [...selected.querySelectorAll("math")].filter((math) => math.querySelector("annotation"));
  if (!equations.length) return;
  const page = document.createElement("div");
  page.append(selected.cloneNode(true));
  for (const math of equations) {
    const mark = math.getAttribute("display") === "block" ? "$$" : "$";
    math.replaceWith(mark + math.querySelector("annotation").textContent + mark);
  }
  event.clipboardData.setData("text/html", page.innerHTML);
  event.clipboardData.setData("text/plain", selected.textContent);
  event.preventDefault();
});

/* Paper is light. */
let shown;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
