/* A letter of an equation that is pointed at or touched, or a name of the code that is clicked, shows its card and is lit
   wherever it stands. By key the same cards are in the list of letters. Without this script the list is there as well. */
addEventListener("DOMContentLoaded", () => {
  const list = document.getElementById("letters");
  if (!list) return;
  const card = document.createElement("div");
  card.className = "letter-card";
  card.setAttribute("role", "status");
  document.body.append(card);
  let timer, isKept;
  if (!list.hidePopover) { // an older browser has no popovers
    list.hidden = true;
    list.hidePopover = () => { list.hidden = true; };
    document.querySelector(".letters-button").addEventListener("click", () => { list.hidden = !list.hidden; });
  }

  function light(name) {
    for (const part of document.querySelectorAll(".lit")) part.classList.remove("lit");
    for (const part of document.querySelectorAll(`[data-letter="${name}"]`)) part.classList.add("lit");
  }

  function close() {
    clearTimeout(timer);
    isKept = false;
    card.replaceChildren();
    light();
  }

  function show(part) {
    const found = list.querySelector(`[data-card="${part.dataset.letter}"]`);
    if (!found) return;
    const [title, told] = found.cloneNode(true).children;
    const head = document.createElement("p");
    head.append(...title.childNodes);
    card.replaceChildren(head, told);
    light(part.dataset.letter);
    const { left } = part.getBoundingClientRect();
    const { top, bottom } = (part.closest("div.math") ?? part).getBoundingClientRect();
    const room = document.documentElement.clientWidth - card.offsetWidth - 8;
    const fitsBelow = bottom + card.offsetHeight + 16 < innerHeight;
    card.style.left = `${Math.max(8, Math.min(left, room)) + scrollX}px`;
    card.style.top = `${(fitsBelow ? bottom + 8 : top - card.offsetHeight - 8) + scrollY}px`;
  }

  const letter = ({ target }) => target.closest("math [data-letter], a.eqno");
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse" || isKept) return;
    const part = letter(event);
    clearTimeout(timer);
    if (part) timer = setTimeout(show, 200, part);
    else if (card.hasChildNodes() && !card.contains(event.target)) timer = setTimeout(close, 400);
  });
  document.addEventListener("click", (event) => {
    const part = letter(event) ?? event.target.closest("code [data-letter], pre [data-letter]");
    const isElsewhere = event.target.closest("a, button, summary")?.matches(":not(.eqno)");
    if (card.contains(event.target)) return;
    if (!part || isElsewhere || event.ctrlKey || event.metaKey || getSelection().toString()) {
      if (card.hasChildNodes()) close();
      return;
    }
    event.preventDefault();
    clearTimeout(timer);
    show(part);
    isKept = true;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    close();
    list.hidePopover(); // the theme keeps the key from it
  });
  list.addEventListener("toggle", ({ target, newState }) => {
    if (target === list ? newState === "closed" : !target.open) light();
    else if (target !== list) light(target.dataset.card);
  }, true);
});
