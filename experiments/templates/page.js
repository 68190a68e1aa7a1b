// The picture of all numbers: one stop for Tab, arrow keys inside, and a line that says which number it is.
const squares = [...document.querySelectorAll("#strip a")];
const which = document.getElementById("which");
if (squares.length) {
  squares[0].tabIndex = 0;
  const say = (square) => { which.textContent = square.getAttribute("aria-label"); };
  squares.forEach((square, index) => {
    square.addEventListener("mouseenter", () => say(square));
    square.addEventListener("focus", () => say(square));
    square.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const next = squares[index + (step || 0)];
      if (!step || !next) return;
      event.preventDefault();
      square.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
}
// Files inside the page: the text of a table, a figure as it is or drawn as pixels.
const save = (url, name) => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
for (const button of document.querySelectorAll("button[data-file]")) {
  button.addEventListener("click", () => {
    const text = button.nextElementSibling.textContent;
    save(URL.createObjectURL(new Blob([text], { type: "text/plain" })), button.dataset.file);
  });
}
for (const button of document.querySelectorAll("button[data-picture]")) {
  button.addEventListener("click", () => {
    const image = button.closest("figure").querySelector("img");
    if (button.dataset.picture.endsWith(".svg") || image.src.startsWith("data:image/png")) {
      save(image.src, button.dataset.picture);
      return;
    }
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    save(canvas.toDataURL("image/png"), button.dataset.picture);
  });
}
// The filter: experiments that do not match are hidden, cells of other verdicts fade.
const filter = document.querySelector("form.filter");
if (filter) {
  const articles = [...document.querySelectorAll("article[data-paper]")];
  const texts = new Map(articles.map((article) => [article, article.textContent.toLowerCase()]));
  const apply = () => {
    const { words, paper, verdict, method } = Object.fromEntries(new FormData(filter));
    let shown = 0;
    for (const article of articles) {
      const has = (list, one) => !one || article.dataset[list].split(" ").includes(one);
      const fits = has("paper", paper) && has("verdicts", verdict) && has("methods", method)
        && words.toLowerCase().split(/\s+/).every((word) => texts.get(article).includes(word));
      article.hidden = !fits;
      shown += fits;
      const entry = document.querySelector(`li[data-for="${CSS.escape(article.querySelector("h3").id)}"]`);
      if (entry) entry.hidden = !fits;
    }
    for (const chapter of document.querySelectorAll("section.paper")) {
      const mine = [...chapter.querySelectorAll("article[data-paper]")];
      chapter.hidden = mine.length > 0 && mine.every((article) => article.hidden);
    }
    for (const cell of document.querySelectorAll(".grid td.num")) {
      cell.classList.toggle("faded", Boolean(verdict) && !cell.classList.contains(`c-${verdict}`));
    }
    const all = shown === articles.length;
    filter.querySelector(".found").textContent = all ? "" : `${shown} of ${articles.length} experiments`;
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => event.preventDefault());
}
// A table that is wider than its room says so; paper gets it scaled to the page.
const hint = () => {
  for (const room of document.querySelectorAll(".scroll")) {
    room.classList.toggle("wide", room.scrollWidth > room.clientWidth + 1);
  }
};
addEventListener("resize", hint);
hint();
const PAPER = 1020; // pixels across A4 landscape, margins taken off
const SMALLER = 0.65; // the print of a table, in units of the screen's
addEventListener("beforeprint", () => {
  for (const table of document.querySelectorAll(".scroll > table")) {
    table.style.zoom = Math.min(1, PAPER / (SMALLER * table.scrollWidth));
  }
});
addEventListener("afterprint", () => { for (const table of document.querySelectorAll(".scroll > table")) table.style.zoom = ""; });
// On a small screen the contents stay closed.
if (matchMedia("(max-width: 70rem)").matches) document.querySelector("details.side").open = false;
