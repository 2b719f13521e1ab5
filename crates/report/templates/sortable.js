"use strict";
// Sorts a table by the column whose head is clicked: numbers by their size, whatever their unit, the largest first; words by themselves.
document.querySelectorAll("table.sortable").forEach((table) => {
  const SCALE = { ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
  const worth = (text) => {
    const found = text.match(/^([-−]?)([0-9][0-9.,]*)\s*([a-zµ]*)/);
    if (!found) return -Infinity;
    return (found[1] ? -1 : 1) * Number(found[2].replaceAll(",", "")) * (SCALE[found[3]] || 1);
  };
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  heads.forEach((head, column) => {
    const isNumber = head.dataset.is === "number";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const falls = head.ariaSort ? head.ariaSort === "ascending" : isNumber;
      heads.forEach((other) => { other.ariaSort = null; });
      head.ariaSort = falls ? "descending" : "ascending";
      const keys = new Map(rows.map((row) => {
        const text = row.cells[column].textContent;
        return [row, isNumber ? worth(text) : text];
      }));
      const compared = isNumber ? (a, b) => a - b : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
      const sorted = [...rows].sort((a, b) => (falls ? compared(keys.get(b), keys.get(a)) : compared(keys.get(a), keys.get(b))) || 0);
      const all = document.createDocumentFragment();
      sorted.forEach((row) => all.append(row));
      body.append(all);
    });
  });
});
