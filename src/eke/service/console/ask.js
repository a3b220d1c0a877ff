// Asking: the schema, the editor with its price, the accuracy, and the answers.
import { answerCard } from "./answer.js";
import { call, keyed, of } from "./api.js";
import { again, aimInWords, aimOf, askedBefore, draftOf, fitsTheForm, keepDraft } from "./asked.js";
import { debounced, el, failure, label, number } from "./dom.js";
import { costs } from "./draw.js";
import { estimateCard } from "./estimate.js";
import { agreed, inWords } from "./price.js";

// How accurate an answer is to be: a half-width, a share of the value, or what a price buys. No price is filled in.
const AIMS = {
  within: { choice: "± a number", field: "Off by at most ±", value: "100" },
  share: { choice: "± a share of the value", field: "Off by at most, in % of the value", value: "2" },
  spend: { choice: "what a price buys", field: "Cost at most", value: "" },
};
// How much is bought where history does not suffice; a dataset has one of these as its own.
const POLICIES = [["", "as the dataset does"], ["top_up", "buy only what history lacks"], ["direct", "buy as if nothing were known"], ["look_ahead", "buy for later questions, too"]];
const NARROWEST = 0.1, WIDEST = 100000, STEPS = 600, POINTS = 13, RECENT = 8;
const toSlider = (within) => Math.round((STEPS * Math.log(within / NARROWEST)) / Math.log(WIDEST / NARROWEST));
const toWithin = (place) => Number((NARROWEST * (WIDEST / NARROWEST) ** (place / STEPS)).toPrecision(3));

export async function askPage({ dataset, me }) {
  const schema = await call("GET", of(dataset, "/schema"));
  const answers = el("div", { "aria-live": "polite", id: "answers" });
  const before = el("div", {});
  const editor = questionEditor(dataset, me, answers, showBefore);
  async function showBefore() { // nobody waits for it
    try { before.replaceChildren(...[beforeCard((await askedBefore(dataset, 60)).questions, editor.fill)].filter(Boolean)); } catch { /* the list stays as it was */ }
  }
  showBefore();
  return el("div", { class: "columns" },
    el("aside", {}, schemaCard(schema, editor.insert), before),
    el("div", {}, editor.card, answers));
}

const quoted = (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

function schemaCard(schema, insert) {
  const { attributes, derived = {}, lookups = {} } = schema.domain;
  const named = (name, written, said) => el("li", {},
    el("button", { class: "name", type: "button", title: "Put it into the question", onclick: () => insert(written) }, name),
    el("div", { class: "quiet" }, said));
  return el("section", { class: "card", "aria-label": "Schema" },
    el("h2", {}, `Attributes of ${schema.dataset}`),
    el("ul", { class: "schema" },
      schema.order.map((name) => named(name, quoted(name), values(attributes[name]))),
      Object.entries(derived).map(([name, sql]) => named(name, quoted(name), `is ${sql}`)),
      Object.entries(lookups).map(([name, one]) => named(name, `JOIN ${quoted(name)} USING (${one.keys.map(quoted).join(", ")})`,
        `a table to join by ${one.keys.join(" and ")}, with ${one.columns.join(", ") || "nothing else"}`))));
}

function values(attribute) {
  if (attribute.type === "integer") return `whole numbers ${attribute.low} to ${attribute.high}`;
  if (attribute.type === "numeric") return `${attribute.low} to ${attribute.high} in steps of ${attribute.step}`;
  if (attribute.type === "date") return `days ${attribute.low} to ${attribute.high}`;
  if (attribute.type === "timestamp" || attribute.type === "time") return `${attribute.low} to ${attribute.high} in steps of ${attribute.step}`;
  if (attribute.type === "boolean") return "true or false";
  const all = (attribute.type === "binned" ? attribute.edges : attribute.values) ?? [];
  const text = all.slice(0, 12).map((one) => label(one)).join(", ") + (all.length > 12 ? `, … (${all.length})` : "");
  return attribute.type === "binned" ? `bins at ${text}` : text;
}

function beforeCard(questions, fill) {
  const shown = questions.filter((one) => fitsTheForm(one.asked)).slice(0, RECENT);
  if (!shown.length) return null;
  return el("section", { class: "card", "aria-label": "Asked before" }, el("h2", {}, "Asked before"),
    el("ul", { class: "schema" }, shown.map((one) => el("li", {},
      el("button", { class: "name question", type: "button", title: "Put it into the form; to ask it again is free", onclick: () => fill(again(one)) }, one.question),
      el("div", { class: "quiet" }, aimInWords(one))))),
    el("a", { href: "#/history" }, "All of your answers"));
}

function questionEditor(dataset, me, answers, answered) {
  const sql = el("textarea", { id: "sql", rows: "4", spellcheck: "false", maxlength: "20000", "aria-label": "Question in SQL" });
  const draft = draftOf(me, dataset);
  sql.value = draft?.sql ?? `SELECT COUNT(*) FROM ${/^\w+$/.test(dataset) ? dataset : `"${dataset}"`}`;
  const typed = { ...Object.fromEntries(Object.entries(AIMS).map(([name, one]) => [name, one.value])), ...draft?.typed };
  const aim = el("select", { id: "aim" }, Object.entries(AIMS).map(([value, one]) => el("option", { value, selected: value === draft?.aim }, one.choice)));
  const within = el("input", { id: "within", type: "number", min: "0", step: "any", value: typed[aim.value] });
  const said = el("span", {}, AIMS[aim.value].field);
  const groups = el("input", { id: "groups", type: "number", min: "1", step: "1", placeholder: "any size", value: draft?.groups ?? "" });
  const slider = el("input", { id: "slider", type: "range", min: "0", max: String(STEPS), value: String(toSlider(Number(typed.within) || 100)), "aria-label": "Accuracy: how far the answer may be off" });
  const sliding = el("label", { class: "field grow" }, el("span", {}, "Accuracy: finer ← → coarser"), slider);
  const confidence = el("select", { id: "confidence" }, ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"].map((value) => el("option", { value, selected: value === (draft?.confidence ?? "0.95") }, `${Number(value) * 100} %`)));
  const claim = el("input", { id: "claim", type: "text", maxlength: "100", placeholder: "> 10000", value: draft?.claim ?? "" });
  const policy = el("select", { id: "policy" }, POLICIES.map(([value, text]) => el("option", { value, selected: value === (draft?.policy ?? "") }, text)));
  const price = el("div", { class: "price", role: "status", id: "price" }, "…");
  const curve = el("div", { id: "curve" });
  const button = el("button", { type: "submit", id: "ask" }, "Ask");
  const send = keyed("POST", of(dataset, "/ask")); // under a key the answer is kept
  let latest = 0;

  const chosen = (value) => { within.value = String(value); slider.value = String(toSlider(value)); look(); };

  // A text may say its accuracy itself, and then nothing else says it.
  function question() {
    typed[aim.value] = within.value;
    keepDraft(me, dataset, { sql: sql.value, aim: aim.value, typed: { ...typed }, groups: groups.value, confidence: confidence.value, claim: claim.value, policy: policy.value });
    const asked = { sql: sql.value }, amount = Number(within.value) || null;
    if (!/\bERROR\s+WITHIN\b|\bSPEND\b/i.test(sql.value)) {
      if (aim.value === "spend") asked.spend = amount;
      else asked.within = aim.value === "share" && amount !== null ? `${amount} %` : amount;
    }
    if (Number(groups.value) && !/\bFOR\s+GROUPS\s+OF\b/i.test(sql.value)) asked.groups_of = Number(groups.value);
    if (policy.value) asked.policy = policy.value;
    if (!/\bAT\s+CONFIDENCE\b/i.test(sql.value)) asked.confidence = Number(confidence.value);
    return asked;
  }

  // The price of a question now; null when there is none, or when another question overtook it.
  async function priced(body) {
    const turn = (latest += 1);
    try {
      const found = await call("POST", of(dataset, "/preview"), body);
      if (turn !== latest) return null;
      price.className = `price ${{ history: "free", measure: "paid", refuse: "bad" }[found.action]}`;
      price.textContent = inWords(found);
      button.disabled = found.action === "refuse" || me.role === "auditor";
      return found;
    } catch (problem) {
      if (turn !== latest) return null;
      price.className = "price bad";
      const place = problem.document?.line ? `Line ${problem.document.line}, column ${problem.document.column}: ` : "";
      price.textContent = place + problem.message;
      button.disabled = true;
      curve.replaceChildren();
      return null;
    }
  }

  async function look() {
    const body = question(), offer = await priced(body);
    if (offer !== null) await drawCurve(body, offer, latest);
  }

  async function drawCurve(body, offer, turn) {
    if (typeof body.within !== "number" || body.groups_of || body.policy) { curve.replaceChildren(); return; } // half-widths by the dataset's own policy have a curve
    const widths = Array.from({ length: POINTS }, (_, i) => Number((body.within * 10 ** ((i - 6) / 6)).toPrecision(4)));
    try {
      const found = await call("POST", of(dataset, "/curve"), { sql: body.sql, within: widths, confidence: body.confidence });
      if (turn === latest) {
        curve.replaceChildren(costs(found.curve, body.within, offer, chosen),
          el("p", { class: "quiet" }, `Cost in ${found.measure} against the half-width. Green is free, red would be refused. Click on a dot to take its half-width.`));
      }
    } catch {
      if (turn === latest) curve.replaceChildren();
    }
  }

  const soon = debounced(250, look);
  sql.addEventListener("input", soon);
  for (const one of [confidence, policy]) one.addEventListener("change", look);
  groups.addEventListener("input", soon);
  function choose(name, value, size = "") {
    aim.value = name;
    within.value = typed[name] = String(value);
    groups.value = String(size);
    said.textContent = AIMS[name].field;
    sliding.hidden = name !== "within";
    if (name === "within" && Number(value) > 0) slider.value = String(toSlider(Number(value)));
  }
  aim.addEventListener("change", () => { choose(aim.value, typed[aim.value], groups.value); look(); });
  sliding.hidden = aim.value !== "within";
  within.addEventListener("input", () => { if (aim.value === "within" && Number(within.value) > 0) slider.value = String(toSlider(Number(within.value))); soon(); });
  slider.addEventListener("input", () => { within.value = String(toWithin(Number(slider.value))); soon(); });

  async function ask(event) {
    event.preventDefault();
    soon.cancel();
    const body = question(), offer = await priced(body); // of what is asked, not of what was typed a moment ago
    if (offer === null || button.disabled || !agreed(offer)) return;
    button.disabled = true;
    try {
      const found = await send({ ...body, posterior: true });
      answers.prepend(answerCard(dataset, found, claim.value.trim() ? await claimed(body.sql, claim.value) : null));
      answered();
    } catch (problem) {
      answers.prepend(el("section", { class: "card", "aria-label": "Refused" }, failure(problem)));
    }
    shorten();
    await look();
  }

  function estimate() {
    answers.prepend(estimateCard(dataset, sql.value, confidence.value));
    shorten();
  }

  function shorten() {
    while (answers.children.length > 20) answers.lastChild.remove();
  }

  // How probable the claim is; a mistake in it is told with the answer, which is there already.
  const claimed = (asked, text) => call("POST", of(dataset, "/claim"), { sql: asked, claim: text }).catch((problem) => ({ problem }));
  claim.addEventListener("change", question); // which keeps what is typed

  const form = el("form", { class: "card", "aria-label": "Question", onsubmit: ask },
    el("h1", {}, "Ask"), sql,
    el("div", { class: "row" },
      el("label", { class: "field" }, el("span", {}, "How accurate"), aim),
      el("label", { class: "field" }, said, within),
      el("label", { class: "field" }, el("span", {}, "Confidence"), confidence),
      el("label", { class: "field", title: "Averages: so accurate where a group has at least so many records; others get what the same noise gives" }, el("span", {}, "For groups of at least"), groups),
      el("label", { class: "field", title: "How probable is it that the true answer is above, below or between: > 10000, <= 0.5, 10 to 20, > 2013-06-30. It costs nothing." }, el("span", {}, "Claim, if there is one"), claim),
      el("label", { class: "field" }, el("span", {}, "What to buy"), policy),
      sliding),
    price, curve,
    el("div", { class: "row send" }, button,
      el("button", { type: "button", class: "plain", title: "What history says about a count or a sum, however uncertain; it costs nothing", onclick: estimate }, "Estimate for free"),
      el("span", { class: "quiet" }, me.role === "auditor" ? "Auditors see prices and ask nothing." : "Ctrl+Enter (or ⌘+Enter) asks. Prices are looked up while you type, for free.")));
  look();
  return {
    card: form,
    insert(name) { sql.setRangeText(name, sql.selectionStart, sql.selectionEnd, "end"); sql.focus(); soon(); },
    fill(asked) {
      sql.value = asked.sql;
      if (aimOf(asked) !== null) choose(...aimOf(asked), asked.groups_of);
      policy.value = asked.policy ?? "";
      if ([...confidence.options].some((one) => one.value === String(asked.confidence))) confidence.value = String(asked.confidence);
      form.scrollIntoView({ block: "nearest" });
      sql.focus();
      look();
    },
  };
}

