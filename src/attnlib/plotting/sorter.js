// A table that is sorted by the column whose heading is pressed; a second press reverses the order.
attnlibCards.define("sorter", card => {
  const { make } = attnlibCards, body = card.querySelector("tbody"), heads = [...card.querySelectorAll("thead th")];
  const status = card.appendChild(make("p", { role: "status", class: "at-aloud" }));

  function compare(one, other, n) {
    const [a, b] = [one, other].map(row => row.cells[n].dataset.size ?? row.cells[n].textContent);
    if (one.cells[n].dataset.size && other.cells[n].dataset.size) return Number(b) - Number(a);   // greatest first
    return !a - !b || a.localeCompare(b, "en", { numeric: true });   // empty cells last
  }

  function sort(n) {
    const sign = heads[n].dataset.sorted === "first" ? -1 : 1;
    const rows = [...body.rows].sort((one, other) => sign * compare(one, other, n));
    for (const head of heads) delete head.dataset.sorted, head.removeAttribute("aria-sort");
    const falling = Boolean(rows[0].cells[n].dataset.size) === (sign > 0);
    heads[n].dataset.sorted = sign > 0 ? "first" : "second";
    heads[n].setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.append(...rows);
    status.textContent = `Sorted by ${heads[n].textContent}.`;
  }

  heads.forEach((head, n) => head.replaceChildren(
    make("button", { type: "button", onclick: () => sort(n) }, head.textContent)));
});
