// What is known from outside: public facts, and noisy tables of others, that every answer is made with.
import { call, of } from "./api.js";
import { el, failure, field, moment, number, sized, table } from "./dom.js";
import { form, input, select } from "./form.js";

const NOISES = [["", "none: a public fact"], ["laplace_scale", "Laplace, of this scale"], ["noise_variance", "Gaussian, of this variance"]];

export async function outsidePage({ dataset, me, again }) {
  const { outside } = await call("GET", of(dataset, "/outside"));
  return [listCard(dataset, outside, me, again), me.role === "curator" ? newStatement(dataset, again) : null].filter(Boolean);
}

function listCard(dataset, outside, me, again) {
  const heads = [{ name: "entry", number: true }, { name: "what" }, { name: "question", mono: true }, { name: "value", number: true }, { name: "source" },
    { name: "registered", short: true }, { name: "by" }, ...(me.role === "curator" ? [{ name: "" }] : [])];
  const rows = outside.map((one) => [String(one.sequence), one.kind === "fact" ? "public fact" : "published with noise", one.question,
    one.value === null ? `${number(one.cells)} cells` : one.kind === "fact" ? number(one.value, 9) : `${sized(one.value, one.noise_deviation)}, standard deviation ${number(one.noise_deviation, 3)}`,
    one.source, moment(one.at), one.by, ...(me.role === "curator" ? [forget(dataset, one.sequence, again)] : [])]);
  return el("section", { class: "card" }, el("h1", {}, "Known from outside"),
    el("p", { class: "quiet" }, "What is public elsewhere costs nothing and makes later answers better. It is no part of the promise: nothing here was compared with the table."),
    rows.length ? table(heads, rows, "Known from outside", { stacked: true }) : el("p", {}, "Nothing was registered yet."));
}

function forget(dataset, sequence, again) {
  const button = el("button", { type: "button", class: "plain", "aria-label": `Forget entry ${sequence}` }, "Forget");
  button.addEventListener("click", async () => {
    if (button.textContent === "Forget") { button.textContent = "Really forget?"; return; }
    button.disabled = true; // sent twice, it would be refused
    try { await call("DELETE", of(dataset, `/outside/${sequence}`)); } catch (problem) { button.replaceWith(failure(problem)); return; }
    await again();
  });
  return button;
}

function newStatement(dataset, again) {
  const sql = el("textarea", { name: "sql", rows: "2", required: true, spellcheck: "false", maxlength: "20000" });
  sql.value = `SELECT COUNT(*) FROM ${/^\w+$/.test(dataset) ? dataset : `"${dataset}"`}`;
  const values = el("textarea", { name: "values", rows: "2", required: true, spellcheck: "false", placeholder: "48842" });
  const noise = select("noise", NOISES), amount = input("amount", { type: "number", min: "0", step: "any", required: true });
  const amountField = field("Scale or variance", amount);
  const fit = () => { amountField.hidden = amount.disabled = noise.value === ""; };
  noise.addEventListener("change", fit);
  fit();
  return form("Register what is public", [
    el("p", { class: "quiet" }, "Only what everybody may know: a number that was taken from the table itself is a leak."),
    field("Question, a count or a sum, or a table of them by GROUP BY", sql), field("Its value, or one for each group in order, with spaces between", values),
    el("div", { class: "row" }, field("Noise in it", noise), amountField,
      el("label", { class: "field grow" }, el("span", {}, "Where everybody can look it up"), input("source", { required: true, maxlength: "500" })), el("button", {}, "Register"))],
  async (data) => {
    const kind = data.get("noise"), size = Number(data.get("amount"));
    const law = kind === "" ? null : kind === "laplace_scale" ? { kind: "laplace", laplace_scale: size } : { kind: "gaussian", noise_variance: size };
    await call("POST", of(dataset, "/outside"), { source: data.get("source"),
      statements: [{ sql: data.get("sql"), values: data.get("values").split(/\s+/).filter(Boolean), law }] });
    await again();
  });
}
