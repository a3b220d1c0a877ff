// Making a dataset: of which table or view, who is protected and how, how much may be told, and what is public.
import { attributeEditor } from "./attributes.js";
import { call } from "./api.js";
import { el, failure, field } from "./dom.js";
import { choice, form, input } from "./form.js";
import { promiseField } from "./promise.js";
import { sourceField } from "./source.js";

const NAME = "[A-Za-z0-9][A-Za-z0-9_.\\-]*";

export async function newDataset(made) {
  const { files } = await call("GET", "/api/v1/files");
  if (!files.length) {
    return el("section", { class: "card" }, el("h2", {}, "Make a dataset"),
      el("p", {}, "There is no table in the server's folder yet. Put one there, as CSV, TSV, Parquet or DuckDB, and come back."));
  }
  const name = input("name", { required: true, pattern: NAME, maxlength: "64", title: "Letters, digits or any of . _ -", placeholder: "letters, digits, . _ -" });
  const attributes = attributeEditor();
  const whom = unitField(), what = neighboursField(), much = limitField();
  const source = sourceField(files, () => { draft.mend(); draft.button.textContent = `Draft them from the ${source.isView() ? "view" : "table"}`; promise.look(); });
  const draft = draftPart(source, attributes);
  const promise = promiseField(source, () => ({ ...source.document(), ...whom.document(), ...what.document() }));
  whom.changed((several) => what.allow(!several));
  for (const { field: one } of [whom, what]) for (const event of ["input", "change"]) one.addEventListener(event, promise.look);

  return form("Make a dataset", [
    el("p", { class: "quiet" }, "What you say here is public, and stays: only the limit can be changed later."),
    el("div", { class: "row" }, field("Name of the dataset", name)), source.field,
    whom.field, what.field, promise.field, much.field,
    el("fieldset", {}, el("legend", {}, "Attributes that can be asked about"), draft.field, attributes.field),
    el("p", {}, el("label", {}, input("checked", { type: "checkbox", required: true }), " I have checked every value above against public knowledge")),
    el("button", { type: "submit" }, "Make it")],
  async () => {
    const body = { name: name.value, ...source.document(), domain: attributes.document(), ...whom.document(), ...what.document(), ...much.document() };
    await promise.require();
    await call("POST", "/api/v1/datasets", body);
    await made(name.value);
  });
}

function draftPart(source, attributes) {
  const notes = el("div", {});
  const button = el("button", { type: "button", class: "plain", id: "draft" }, "Draft them from the table");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await call("POST", "/api/v1/drafts", source.document());
      attributes.show(found.domain);
      notes.replaceChildren(el("p", { class: "caveat" }, "Drafted from the data itself, and as private as the data. Replace every value by what is publicly known."),
        el("ul", { class: "quiet" }, found.notes.map((note) => el("li", {}, note))));
    } catch (problem) { notes.replaceChildren(failure(problem)); }
    button.disabled = false;
  });
  return { button, field: [el("div", { class: "row" }, button, attributes.add), notes],
    mend: () => { if (notes.querySelector(".error")) notes.replaceChildren(); } }; // what was drafted stays, and so does what was said of it
}

function unitField() {
  const column = input("column", { maxlength: "200" }), rows = input("rows", { type: "number", min: "1", max: "1000000", step: "1" });
  const more = el("div", { class: "row" }, field("Column with the id", column), field("Rows of each that count, at most", rows));
  const one = choice("unit", "row", "Each row.", "Every row is about somebody else.", { checked: true });
  const several = choice("unit", "id", "Everybody with all of their rows.", "Rows of one person share an id; of whoever has more rows than count, a random sample is kept.");
  const chosen = several.querySelector("input"), told = [];
  function fit() {
    more.hidden = !chosen.checked;
    column.required = rows.required = chosen.checked;
    for (const work of told) work(chosen.checked);
  }
  const made = el("fieldset", {}, el("legend", {}, "Who is protected"), one, several, more);
  made.addEventListener("change", fit);
  fit();
  return { field: made, changed: (work) => told.push(work),
    document: () => (chosen.checked ? { unit: { column: column.value, rows: Number(rows.value) } } : {}) };
}

function neighboursField() {
  const away = choice("neighbours", "add_remove", "Whether somebody is in the table at all.", "(add_remove) The usual choice.", { checked: true });
  const other = choice("neighbours", "replace_one", "What somebody's row says.", "(replace_one) How many rows there are is public then.");
  const [usual, fixed] = [away, other].map((one) => one.querySelector("input"));
  const why = el("p", { class: "quiet", hidden: true }, "With ids it is always the first: the number of rows would tell how many somebody has.");
  return { field: el("fieldset", {}, el("legend", {}, "What nobody can find out"), away, other, why),
    allow(allowed) { fixed.disabled = !allowed; why.hidden = allowed; if (!allowed) usual.checked = true; },
    document: () => ({ neighbours: fixed.checked ? "replace_one" : "add_remove" }) };
}

function limitField() {
  const pure = choice("measure", "epsilon", "epsilon.", "Pure differential privacy, with Laplace noise. The strongest promise.", { checked: true });
  const mild = choice("measure", "rho", "rho.", "Zero-concentrated differential privacy, with Gaussian noise. Gets more out of many questions.");
  const amount = input("limit", { type: "number", min: "0", step: "any", value: "1", required: true });
  const title = el("span", {}), chosen = mild.querySelector("input");
  const fit = () => { title.textContent = `Limit (${chosen.checked ? "rho" : "epsilon"})`; };
  const made = el("fieldset", {}, el("legend", {}, "How much may be told"), pure, mild,
    el("div", { class: "row" }, el("label", { class: "field" }, title, amount),
      el("span", { class: "quiet grow" }, "For everything that is ever released, to everybody together. The less, the safer. Epsilon 1 is a usual limit; it implies rho 0.5.")));
  for (const one of [pure, mild]) one.addEventListener("change", () => { amount.value = chosen.checked ? "0.5" : "1"; fit(); });
  fit();
  return { field: made, document: () => ({ [chosen.checked ? "rho" : "epsilon"]: Number(amount.value) }) };
}
