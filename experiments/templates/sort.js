"use strict";
// Every header of a sortable table becomes a button: ascending, descending, then the paper's own order again.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const value = (row, index) => {
    const cell = row.cells[index];
    if (!cell) return "";
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    return cell.classList.contains("num") ? "" : cell.textContent.trim();
  };
  // What has no value stays last, whatever the direction.
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = typeof a === "number" && typeof b === "number"
      ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return direction * order;
  };
  heads.forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", next);
      const direction = next === "descending" ? -1 : 1;
      const rows = next === "none" ? original
        : [...original].sort((a, b) => compare(value(a, index), value(b, index), direction));
      body.append(...rows);
    });
  });
}
// What names a row stays in sight while the row is scrolled, as far as it leaves half of the room.
const hold = () => {
  for (const table of document.querySelectorAll("table.grid")) {
    const rows = [table.tHead.rows[table.tHead.rows.length - 1], ...table.tBodies[0].rows];
    const names = rows.length > 1 ? rows[1].querySelectorAll("th").length : 0;
    let left = 0;
    for (let index = 0; index < names; index++) {
      const width = rows[1].cells[index].offsetWidth;
      const fits = left + width < table.parentElement.clientWidth / 2;
      for (const row of rows) {
        row.cells[index].classList.toggle("held", fits);
        row.cells[index].style.left = fits ? `${left}px` : "";
      }
      left = fits ? left + width : Infinity;
    }
  }
};
addEventListener("resize", hold);
hold();
// A link into a closed part opens it; paper shows everything.
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
};
addEventListener("hashchange", reveal);
reveal();
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const part of opened) part.open = true;
});
addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
