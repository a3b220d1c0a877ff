// What a dataset is made of: a table in the server's folder, or a view, which is a SELECT over several of them.
import { el, field } from "./dom.js";
import { choice, input, select } from "./form.js";

const ENDING = /\.(csv|tsv|csv\.gz|parquet|duckdb)$/;
const EXAMPLE = "SELECT v.patient, v.cost, p.sex\nFROM visits v JOIN patients p USING (patient)";

// Calls `changed` whenever something else would be read. What is written for the one is kept while the other is chosen.
export function sourceField(files, changed) {
  const table = choice("source", "table", "A table.", "A file in the server's folder.", { checked: true });
  const view = choice("source", "view", "A view.", "A SELECT over one file or several; its result is protected as if it were one table.");
  const chosen = view.querySelector("input");
  const file = select("file", files.map((name) => [name, name]), { required: true });
  const sql = el("textarea", { name: "view", rows: "7", spellcheck: "false", maxlength: "20000", placeholder: EXAMPLE });
  const wrong = el("div", {}), tables = tableNames(files, changed);
  const ofTable = field("Table", file);
  const ofView = el("div", { class: "more" }, field("SELECT of the view", sql), wrong, tables.field,
    el("p", { class: "quiet" }, "It joins, filters and computes row by row, or makes one row of the rows of an id. Columns of text files are texts: write CAST(year AS INTEGER). Nothing but its columns is ever asked about."));

  function fit() {
    ofTable.hidden = chosen.checked;
    ofView.hidden = !chosen.checked;
    sql.required = chosen.checked;
    tables.require(chosen.checked);
    changed();
  }
  for (const one of [table, view, file]) one.addEventListener("change", fit);
  sql.addEventListener("input", changed);
  ofTable.hidden = false;
  ofView.hidden = true;
  return {
    field: el("fieldset", {}, el("legend", {}, "What it is made of"), table, view, ofTable, ofView),
    isView: () => chosen.checked,
    isWritten: () => sql.value.trim() !== "",
    document: () => (chosen.checked ? { view: { sql: sql.value, tables: tables.document() } } : { file: file.value }),
    say: (...parts) => wrong.replaceChildren(...parts), // beside the SELECT
  };
}

// The files that the SELECT reads, each by the name that it is called there.
function tableNames(files, changed) {
  let rows = [], required = false;
  const body = el("div", {});

  function add(found) {
    const usual = () => file.value.replace(ENDING, "");
    const file = select("", files.map((name) => [name, name]), { "aria-label": "File of this table" });
    file.value = found;
    const name = input("", { value: usual(), required, maxlength: "200", "aria-label": "Name in the SELECT" });
    let own = false; // whether somebody has named it
    name.addEventListener("input", () => { own = true; });
    file.addEventListener("change", () => { if (!own) name.value = usual(); });
    const made = { name, file, row: el("div", { class: "row named" }, name, el("span", { class: "quiet" }, "is"), file,
      el("button", { type: "button", class: "plain", onclick: () => { rows = rows.filter((one) => one !== made); made.row.remove(); fit(); changed(); } }, "Remove")) };
    for (const one of [name, file]) one.addEventListener("input", changed);
    rows.push(made);
    body.append(made.row);
    fit();
    return made;
  }

  function fit() { for (const { row } of rows) row.querySelector("button").disabled = rows.length === 1; }

  const unused = () => files.find((one) => !rows.some(({ file }) => file.value === one)) ?? files[0];
  const more = el("button", { type: "button", class: "plain", onclick: () => { add(unused()).name.focus(); changed(); } }, "Add a table");
  add(files[0]);
  return {
    field: el("div", { role: "group", "aria-label": "Tables of the view" }, el("span", { class: "quiet" }, "Its tables, each by the name that the SELECT calls it"), body, more),
    require(needed) { required = needed; for (const { name } of rows) name.required = needed; },
    document() {
      const names = rows.map(({ name }) => name.value), twice = names.find((name, i) => names.indexOf(name) !== i);
      if (twice !== undefined) throw new Error(`two tables of the view are called ${twice}; rename one of them`);
      return Object.fromEntries(rows.map(({ name, file }) => [name.value, file.value]));
    },
  };
}
