// A table that is sorted by the column whose heading is pressed; a second press reverses the order.
attnlibCards.define("sorter", card => {
  const { make, button, sayAtRest } = attnlibCards, heads = [...card.querySelectorAll("thead th")];
  const body = card.querySelector("tbody"), status = card.appendChild(make("p", { role: "status", class: "at-aloud" }));

  function compare(one, other, n, sign) {
    const [a, b] = [one.cells[n], other.cells[n]], [x, y] = [a, b].map(cell => cell.textContent);
    if (!x || !y) return !x - !y;   // empty cells last
    const sized = a.dataset.size && b.dataset.size;
    return sign * (sized ? b.dataset.size - a.dataset.size : x.localeCompare(y, "en", { numeric: true }));
  }

  function sort(n) {
    const sign = heads[n].dataset.sorted === "1" ? -1 : 1;
    const rows = [...body.rows].sort((one, other) => compare(one, other, n, sign));
    for (const head of heads) for (const name of ["data-sorted", "aria-sort"]) head.removeAttribute(name);
    const direction = Boolean(rows[0].cells[n].dataset.size) === (sign > 0) ? "descending" : "ascending";
    heads[n].dataset.sorted = sign;
    heads[n].setAttribute("aria-sort", direction);
    body.append(...rows);
    sayAtRest(status, `Sorted by ${heads[n].textContent}, ${direction}.`, 1500);   // after the rows
  }

  heads.forEach((head, n) => head.replaceChildren(button(head.textContent, { onclick: () => sort(n) })));
});
