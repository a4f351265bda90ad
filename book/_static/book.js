// The ledger: filter by words, paper and verdict; sort by a click on a column.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("hl-ledger");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const fields = ["words", "paper", "verdict"].map((name) => document.getElementById("hl-" + name));
  const count = document.getElementById("hl-count");
  // Formulas become markup once MathJax has run: keep the words as they are written.
  rows.forEach((row) => { row.dataset.words = row.textContent.toLowerCase(); });

  const filter = () => {
    const [words, paper, verdict] = fields.map((field) => field.value.trim());
    let shown = 0;
    for (const row of rows) {
      const fits = words.toLowerCase().split(/\s+/).every((word) => row.dataset.words.includes(word));
      row.hidden = !(fits && (!paper || row.dataset.paper === paper) && (!verdict || row.dataset.verdict === verdict));
      shown += !row.hidden;
    }
    count.value = `${shown} of ${rows.length} claims`;
  };
  fields.forEach((field) => field.addEventListener("input", filter));

  const key = (row, column) => {
    const text = row.cells[column].textContent.trim(), number = parseFloat(text);
    return column >= 4 && !Number.isNaN(number) ? number : text;
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
    body.append(...order.map(([, row]) => row));
  }));
});
