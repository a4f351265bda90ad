// Tables and lists with a filter above them (ledger, errata, opponents); formulas of long tables when they come into view.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.hl-filter");
  const table = document.querySelector("table.hl-filtered");
  const rows = table ? [...table.tBodies[0].rows] : [...document.querySelectorAll(".hl-erratum")];
  if (form && rows.length) filterWith(form, rows, form.dataset.what);
  if (table) sortBy(table, rows);
  if (table && table.classList.contains("hl-lazy")) typesetInView(table, rows);
  if (window.Search) Search.htmlToText = wordsOf;
});

// What the search shows of a page: its prose, without buttons, code, tables of numbers and formulas as they are typed.
function wordsOf(source) {
  const page = new DOMParser().parseFromString(source, "text/html");
  page.querySelectorAll(".headerlink, script, style, .cell_input, .hl-run, .hl-verdict, .hl-hypotheses, .hl-data")
    .forEach((element) => element.remove());
  page.querySelectorAll(".math").forEach((formula) => { formula.textContent = "…"; });
  return (page.querySelector("article") || page.body).textContent.replace(/\s+/g, " ");
}

// The fields of the form decide which rows are shown; their state is kept in the address, so that it can be shared.
function filterWith(form, rows, what) {
  const fields = [...form.elements].filter((field) => field.name);
  const count = form.querySelector("output");
  const value = (row, name) => row.dataset[name] ??
    ([...row.classList].find((word) => word.startsWith(`hl-${name}-`)) || "").slice(name.length + 4);
  // Formulas become markup once MathJax has run: keep the words as they are written.
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const asked = new URLSearchParams(location.search);
  fields.forEach((field) => { if (asked.has(field.name)) field.value = asked.get(field.name); });

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fields.every((field) => {
        const wanted = field.value.trim().toLowerCase();
        if (field.name === "words") return wanted.split(/\s+/).every((word) => words.get(row).includes(word));
        return !wanted || value(row, field.name) === field.value;
      });
      shown += !row.hidden;
    }
    count.value = `${shown} of ${rows.length} ${what}`;
    const state = new URLSearchParams();
    fields.forEach((field) => {
      const standard = field.tagName === "SELECT" ? field.options[0].value : "";
      if (field.value !== standard) state.set(field.name, field.value);
    });
    history.replaceState(null, "", `${location.pathname}${state.size ? `?${state}` : ""}${location.hash}`);
  };
  fields.forEach((field) => field.addEventListener("input", filter));
  filter();
}

function sortBy(table, rows) {
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim(), number = parseFloat(text);
    return /^[-−\d.]/.test(text) && !Number.isNaN(number) ? number : text;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    [...head.parentNode.cells].forEach((cell) => cell.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = rows.map((row) => [key(row, column), row]).sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");          // rows without a value stay last
      const way = typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? -1 : 1;
      return down ? -way : way;
    });
    table.tBodies[0].append(...order.map(([, row]) => row));
  }));
}

// Typesetting some hundred formulas takes seconds: each row waits until somebody sees it.
function typesetInView(table, rows) {
  const watch = new IntersectionObserver((seen) => {
    const arrived = seen.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
    arrived.forEach((row) => { watch.unobserve(row); row.classList.add("tex2jax_process", "mathjax_process"); });
    if (arrived.length) MathJax.startup.promise.then(() => MathJax.typesetPromise(arrived));
  }, { rootMargin: "400px" });
  rows.forEach((row) => watch.observe(row));
}
