// Asking: the schema, the editor with its price, the accuracy, and the answers.
import { call, of } from "./api.js";
import { debounced, el, failure, field, label, near, number, sized, table } from "./dom.js";
import { bars, costs, posterior } from "./draw.js";
import { agreed } from "./form.js";

const NARROWEST = 0.1, WIDEST = 100000, STEPS = 600, POINTS = 13;
const toSlider = (within) => Math.round((STEPS * Math.log(within / NARROWEST)) / Math.log(WIDEST / NARROWEST));
const toWithin = (place) => Number((NARROWEST * (WIDEST / NARROWEST) ** (place / STEPS)).toPrecision(3));

export async function askPage({ dataset, me }) {
  const schema = await call("GET", of(dataset, "/schema"));
  const answers = el("div", { "aria-live": "polite", id: "answers" });
  const editor = questionEditor(dataset, me, answers);
  return el("div", { class: "columns" },
    el("aside", {}, schemaCard(schema, editor.insert)),
    el("div", {}, editor.card, answers));
}

function schemaCard(schema, insert) {
  return el("section", { class: "card", "aria-label": "Schema" },
    el("h2", {}, `Attributes of ${schema.dataset}`),
    el("ul", { class: "schema" }, schema.order.map((name) => {
      const attribute = schema.domain.attributes[name];
      const written = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name}"`;
      return el("li", {},
        el("button", { class: "name", type: "button", title: "Put it into the question", onclick: () => insert(written) }, name),
        el("div", { class: "quiet" }, values(attribute)));
    })));
}

function values(attribute) {
  if (attribute.type === "integer") return `whole numbers ${attribute.low} to ${attribute.high}`;
  if (attribute.type === "boolean") return "true or false";
  const all = attribute.type === "binned" ? attribute.edges : attribute.values;
  const text = all.slice(0, 12).map((one) => label(one)).join(", ") + (all.length > 12 ? `, … (${all.length})` : "");
  return attribute.type === "binned" ? `bins at ${text}` : text;
}

function questionEditor(dataset, me, answers) {
  const sql = el("textarea", { id: "sql", rows: "4", spellcheck: "false", maxlength: "20000", "aria-label": "Question in SQL" });
  sql.value = `SELECT COUNT(*) FROM ${/^\w+$/.test(dataset) ? dataset : `"${dataset}"`}`;
  const within = el("input", { id: "within", type: "number", min: "0", step: "any", value: "100" });
  const slider = el("input", { id: "slider", type: "range", min: "0", max: String(STEPS), value: String(toSlider(100)), "aria-label": "Accuracy: how far the answer may be off" });
  const confidence = el("select", { id: "confidence" }, ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"].map((value) => el("option", { value, selected: value === "0.95" }, `${Number(value) * 100} %`)));
  const price = el("div", { class: "price", role: "status", id: "price" }, "…");
  const curve = el("div", { id: "curve" });
  const button = el("button", { type: "submit", id: "ask" }, "Ask");
  let latest = 0, offer = null;

  const question = () => ({ sql: sql.value, within: Number(within.value) || null, confidence: Number(confidence.value) });
  const chosen = (value) => { within.value = String(value); slider.value = String(toSlider(value)); look(); };

  async function look() {
    const turn = (latest += 1);
    const body = question();
    try {
      const found = await call("POST", of(dataset, "/preview"), body);
      if (turn !== latest) return;
      offer = found;
      price.className = `price ${{ history: "free", measure: "paid", refuse: "bad" }[found.action]}`;
      price.textContent = found.sentence;
      button.disabled = found.action === "refuse" || me.role === "auditor";
    } catch (problem) {
      if (turn !== latest) return;
      price.className = "price bad";
      const place = problem.document?.line ? `Line ${problem.document.line}, column ${problem.document.column}: ` : "";
      price.textContent = place + problem.message;
      button.disabled = true;
      curve.replaceChildren();
      return;
    }
    await drawCurve(body, turn);
  }

  async function drawCurve(body, turn) {
    if (!body.within) return;
    const widths = Array.from({ length: POINTS }, (_, i) => Number((body.within * 10 ** ((i - 6) / 6)).toPrecision(4)));
    try {
      const found = await call("POST", of(dataset, "/curve"), { sql: body.sql, within: widths, confidence: body.confidence });
      if (turn === latest) {
        curve.replaceChildren(costs(found.curve, body.within, found.measure, chosen),
          el("p", { class: "quiet" }, `Cost in ${found.measure} against the half-width. Green is free, red would be refused.`));
      }
    } catch {
      if (turn === latest) curve.replaceChildren(); // a text with its own ERROR WITHIN has no curve
    }
  }

  const soon = debounced(250, look);
  sql.addEventListener("input", soon);
  confidence.addEventListener("change", look);
  within.addEventListener("input", () => { if (Number(within.value) > 0) slider.value = String(toSlider(Number(within.value))); soon(); });
  slider.addEventListener("input", () => { within.value = String(toWithin(Number(slider.value))); soon(); });

  async function ask(event) {
    event.preventDefault();
    if (offer && !agreed(offer)) return;
    button.disabled = true;
    try {
      const found = await call("POST", of(dataset, "/ask"), { ...question(), posterior: true });
      answers.prepend(answerCard(found));
    } catch (problem) {
      answers.prepend(el("section", { class: "card", "aria-label": "Refused" }, failure(problem)));
    }
    while (answers.children.length > 20) answers.lastChild.remove();
    await look();
  }

  const form = el("form", { class: "card", "aria-label": "Question", onsubmit: ask },
    el("h1", {}, "Ask"), sql,
    el("div", { class: "row" },
      el("label", { class: "field" }, el("span", {}, "Off by at most ±"), within),
      el("label", { class: "field" }, el("span", {}, "Confidence"), confidence),
      el("label", { class: "field grow" }, el("span", {}, "Accuracy: finer ← → coarser"), slider)),
    price, curve,
    el("div", { class: "row" }, button, el("span", { class: "quiet" }, me.role === "auditor" ? "Auditors see prices and ask nothing." : "Ctrl+Enter asks. Prices are looked up while you type, for free.")));
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); if (!button.disabled) form.requestSubmit(); }
  });
  look();
  return {
    card: form,
    insert(name) { sql.setRangeText(name, sql.selectionStart, sql.selectionEnd, "end"); sql.focus(); soon(); },
  };
}

function answerCard(found) {
  const free = found.source === "history";
  const head = el("p", {}, el("span", { class: `tag ${free ? "free" : "paid"}` }, free ? "free" : `paid ${found.measure} ${number(found.cost, 4)}`), " ", el("span", { class: "question" }, found.question));
  const why = [el("p", { class: "quiet" }, found.why), ...found.caveats.map((caveat) => el("p", { class: "caveat" }, caveat))];
  if (found.kind === "number") {
    return el("section", { class: "card answer", "aria-label": "Answer" }, head,
      el("p", {}, el("span", { class: "value" }, near(found, found.value)),
        `between ${near(found, found.low)} and ${near(found, found.high)}, with probability ${number(found.confidence)}`),
      posterior(found), why);
  }
  return el("section", { class: "card answer", "aria-label": "Answer" }, head, groups(found), why);
}

function groups(found) {
  const keys = found.columns.map((column, i) => (column.key ? i : -1)).filter((i) => i >= 0);
  const measured = found.columns.map((column, i) => (column.key ? -1 : i)).filter((i) => i >= 0);
  const labels = found.rows.map((row, n) => keys.map((i) => label(row[i])).join(" · ") || `row ${n + 1}`);
  const charts = measured.slice(0, 3).map((i) => el("div", {},
    measured.length > 1 ? el("h2", {}, found.columns[i].name) : null,
    bars(labels, found.rows.map((row) => row[i]), found.columns[i].name)));
  const heads = found.columns.flatMap((column) => column.key ? [{ name: column.name }] : [
    { name: column.name, number: true }, { name: "low", number: true }, { name: "high", number: true }]);
  const rows = found.rows.map((row) => row.flatMap((cell, i) => found.columns[i].key ? [label(cell)] : [cell.value, cell.low, cell.high].map((value) => sized(value, (cell.high - cell.low) / 4))));
  return el("div", {}, charts, table(heads, rows, "The same as a table"));
}
