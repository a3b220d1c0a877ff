// Attributes of a table to be protected: a table to edit, and the same as JSON for whoever prefers that.
import { el, failure } from "./dom.js";
import { input, select } from "./form.js";

const FORMAT = "eke-domain/1";
const KINDS = [["categorical", "categories"], ["integer", "whole numbers"], ["numeric", "numbers in steps"], ["binned", "numbers in bins"], ["boolean", "true or false"], ["date", "days"], ["timestamp", "moments in steps"], ["time", "times of day in steps"]];
const MISSING = [["drop", "leave the row out"], ["bucket", "count it as missing"], ["never", "there are none"], ["replace", "count it as …"]];
const OUTSIDE = [["drop", "leave the row out"], ["clamp", "use the nearest bound"], ["bucket", "count it as missing"], ["never", "there are none"], ["replace", "count it as …"]];
const USUAL = { categorical: "drop", boolean: "drop", integer: "clamp", numeric: "clamp", binned: "clamp", date: "clamp", timestamp: "clamp", time: "clamp" };

// A value as one line of text and back: what is a number or a truth value by its looks is one, unless in quotes.
const PLAIN = /^(-?(0|[1-9]\d*)(\.\d+)?|true|false)$/;
const needsQuotes = (text) => text === "" || text !== text.trim() || text.startsWith('"') || PLAIN.test(text) || /[\n\r]/.test(text);
const written = (value) => (typeof value === "string" && !needsQuotes(value) ? value : JSON.stringify(value));
const read = (line) => (PLAIN.test(line) || line.startsWith('"') ? JSON.parse(line) : line);

function amount(text, what) {
  if (text.trim() === "" || !Number.isFinite(Number(text))) throw new Error(`${what} must be a number`);
  return Number(text);
}

// One row of the table: its fields, and the document that they stand for.
function attributeRow(name, found, changed, remove) {
  const named = input("", { value: name, "aria-label": "Name of the column", maxlength: "200", class: "name" });
  const kind = select("", KINDS, { "aria-label": "Kind" });
  const list = el("textarea", { rows: "3", spellcheck: "false", "aria-label": "Values, one on each line" });
  const edges = input("", { "aria-label": "Edges of the bins, with commas between", placeholder: "0, 18, 65, 120" });
  const [low, high, step] = ["From", "To", "Step"].map((text) => input("", { inputmode: "decimal", size: "7", "aria-label": text }));
  const bounds = el("span", { class: "bounds" }, low, " to ", high);
  const stepping = el("span", { class: "bounds" }, "in steps of ", step);
  const truth = el("span", { class: "quiet" }, "true, false");
  const missing = rule(MISSING, "Missing values"), outside = rule(OUTSIDE, "Values that do not fit");

  // How texts and zones are read is edited as JSON; here it is kept.
  const reading = Object.fromEntries(["format", "zone"].filter((one) => found[one]).map((one) => [one, found[one]]));
  kind.value = found.type;
  list.value = (found.values ?? []).map(written).join("\n");
  list.rows = Math.min(6, Math.max(2, (found.values ?? []).length));
  edges.value = (found.edges ?? []).join(", ");
  [low.value, high.value, step.value] = [found.low, found.high, found.step].map((one) => (one === undefined ? "" : String(one)));
  missing.show(found.null ?? "drop");
  outside.show(found.outside ?? USUAL[found.type]);

  function fit() {
    const is = (...kinds) => kinds.includes(kind.value);
    list.hidden = !is("categorical");
    edges.hidden = !is("binned");
    bounds.hidden = !is("integer", "numeric", "date", "timestamp", "time");
    stepping.hidden = !is("numeric", "timestamp", "time");
    truth.hidden = !is("boolean");
    outside.allow("clamp", is("integer", "numeric", "binned", "date", "timestamp", "time"));
  }

  function document() {
    const own = named.value.trim(), of = (what) => `${own}: ${what}`;
    if (own === "") throw new Error("every attribute needs the name of its column");
    const fields = {
      categorical: () => ({ values: list.value.split(/\r?\n/).filter((line) => line.trim() !== "").map((line) => readLine(line, own)) }),
      integer: () => ({ low: amount(low.value, of("the lower bound")), high: amount(high.value, of("the upper bound")) }),
      numeric: () => ({ low: amount(low.value, of("the lower bound")), high: amount(high.value, of("the upper bound")), step: amount(step.value, of("the step")) }),
      binned: () => ({ edges: edges.value.split(/[,;\s]+/).filter(Boolean).map((edge) => amount(edge, of("every edge"))) }),
      boolean: () => ({}),
      date: () => ({ low: low.value.trim(), high: high.value.trim(), ...reading }),
      timestamp: () => ({ low: low.value.trim(), high: high.value.trim(), step: step.value.trim() || "hour", ...reading }),
      time: () => ({ low: low.value.trim() || "00:00", ...(high.value.trim() && { high: high.value.trim() }), step: step.value.trim() || "hour", ...(found.format && { format: found.format }) }),
    }[kind.value]();
    return [own, { type: kind.value, ...fields, null: missing.document(own), outside: outside.document(own) }];
  }

  kind.addEventListener("change", () => { outside.show(USUAL[kind.value]); fit(); });
  fit();
  const cell = (head, ...parts) => el("td", { "data-head": head }, el("div", {}, parts));
  const row = el("tr", {}, cell("Name", named), cell("Kind", kind), cell("Values", list, edges, bounds, stepping, truth),
    cell("Missing", missing.field), cell("Does not fit", outside.field),
    el("td", {}, el("button", { type: "button", class: "plain", "aria-label": `Remove ${name || "this attribute"}`, onclick: remove }, "Remove")));
  row.addEventListener("input", changed);
  row.addEventListener("change", changed);
  return { row, document, focus: () => named.focus() };
}

function readLine(line, name) {
  try { return read(line.trim()); } catch { throw new Error(`${name}: the line ${line} begins with a quote and does not end with one`); }
}

// What becomes of a value: one of the rules, or another value in its place.
function rule(rules, title) {
  const chosen = select("", rules, { "aria-label": title });
  const other = input("", { "aria-label": `${title}: counted as`, placeholder: "value" });
  const fit = () => { other.hidden = chosen.value !== "replace"; };
  chosen.addEventListener("change", fit);
  fit();
  return {
    field: el("span", { class: "rule" }, chosen, other),
    show(found) {
      chosen.value = typeof found === "object" ? "replace" : found;
      other.value = typeof found === "object" ? written(found.replace) : "";
      fit();
    },
    allow(value, allowed) {
      const option = [...chosen.options].find((one) => one.value === value);
      option.disabled = option.hidden = !allowed;
      if (!allowed && chosen.value === value) { chosen.value = "drop"; fit(); }
    },
    document(name) {
      if (chosen.value !== "replace") return chosen.value;
      if (other.value === "") throw new Error(`${name}: say which value is counted instead`);
      return { replace: readLine(other.value, name) };
    },
  };
}

export function attributeEditor() {
  let rows = [], broken = null, functions = {};
  const body = el("tbody", {});
  const empty = el("p", { class: "quiet" }, "No attributes yet: draft them from the table, or add them one by one.");
  const heads = ["Name", "Kind", "Values", "Missing values", "Values that do not fit", ""];
  const shown = el("div", { class: "scroll stacked edit", tabindex: "0", role: "region", "aria-label": "Attributes" },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), body));
  const text = el("textarea", { rows: "10", spellcheck: "false", "aria-label": "Attributes as JSON" });
  const trouble = el("div", {});

  function document() {
    if (broken !== null) throw broken;
    const all = rows.map((one) => one.document()), names = all.map(([name]) => name);
    if (!all.length) throw new Error("a dataset needs at least one attribute");
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) throw new Error(`two attributes are called ${twice}; remove one of them`);
    return { format: FORMAT, attributes: Object.fromEntries(all), ...functions };
  }

  function rewrite() {
    broken = null;
    trouble.replaceChildren();
    try { text.value = JSON.stringify(document(), null, 1); } catch { /* said when it is sent */ }
  }

  function add(name, found) {
    const made = attributeRow(name, found, rewrite, () => { rows = rows.filter((one) => one !== made); made.row.remove(); fit(); rewrite(); });
    rows.push(made);
    body.append(made.row);
    return made;
  }

  function fit() { empty.hidden = rows.length > 0; shown.hidden = rows.length === 0; }

  function show(domain) {
    for (const [name, one] of Object.entries(domain.attributes)) {
      if (!KINDS.some(([kind]) => kind === one?.type)) throw new Error(`${name} has an unknown type; use ${KINDS.map(([kind]) => kind).join(", ")}`);
    }
    functions = Object.fromEntries(["lookups", "derived"].filter((key) => key in domain).map((key) => [key, domain[key]]));
    rows = [];
    body.replaceChildren();
    for (const [name, one] of Object.entries(domain.attributes)) add(name, one);
    fit();
  }

  text.addEventListener("input", () => {
    trouble.replaceChildren();
    broken = null;
    try {
      const found = JSON.parse(text.value);
      if (found === null || typeof found.attributes !== "object" || found.attributes === null) throw new Error("it needs an object \"attributes\"");
      show(found);
    } catch (problem) {
      broken = new Error(`The attributes as JSON cannot be read: ${problem.message}`);
      trouble.replaceChildren(failure(broken));
    }
  });
  const more = el("button", { type: "button", class: "plain", onclick: () => { const made = add("", { type: "categorical" }); fit(); made.focus(); } }, "Add an attribute");
  fit();
  return {
    document,
    show(domain) { show(domain); rewrite(); },
    add: more,
    field: el("div", {}, empty, shown,
      el("p", { class: "quiet" }, "Categories have one value on each line; a number that the table holds as text goes in \"quotes\". \u201cThere are none\u201d is a promise, and is checked when the dataset is made."),
      el("details", {}, el("summary", {}, "The same as JSON"), text, trouble)),
  };
}
