// Estimates: what history says about a count or a sum, or a table of them, asked before or not; for nothing.
import { call, of } from "./api.js";
import { caveats, el, failure, field, label, near, number, sized, table } from "./dom.js";
import { bars, posterior } from "./draw.js";
import { confidences, input, select } from "./form.js";
import { pictureButton } from "./picture.js";

const METHODS = [["shrinkage", "with intervals, also of what history leaves open"], ["blue", "unbiased, only what history determines"], ["max_entropy", "as a likely table would answer, without intervals"]];
const PRIORS = [["marginals", "what history says of single columns"], ["uniform", "nothing: all values alike"]];

export function estimateCard(dataset, sql, confidence) {
  const method = select("method", METHODS), sure = confidences(), prior = select("prior", PRIORS);
  const alpha = input("alpha", { type: "number", min: "0", step: "any", placeholder: "chosen" }), shown = el("div", { "aria-live": "polite" });
  sure.value = String(confidence ?? sure.value);
  const assumed = el("div", { class: "row" }, field("Beginning with", prior), field("How weak that is (α)", alpha));
  let latest = 0;
  async function estimated() {
    const turn = (latest += 1), asked = { sql, method: method.value, confidence: Number(sure.value) };
    assumed.hidden = method.value === "blue"; // which assumes nothing
    if (!assumed.hidden) Object.assign(asked, { prior: prior.value, ...(alpha.value ? { alpha: Number(alpha.value) } : {}) });
    let made;
    shown.replaceChildren(el("p", { class: "quiet" }, "Reading the history …"));
    try { made = result(await call("POST", of(dataset, "/estimate"), asked), sql); }
    catch (problem) { made = [failure(problem)]; }
    if (turn === latest) shown.replaceChildren(...made);
  }
  for (const one of [method, sure, prior, alpha]) one.addEventListener("change", estimated);
  estimated();
  return el("section", { class: "card answer", "aria-label": "Estimate" },
    el("p", {}, el("span", { class: "tag free" }, "estimate"), " ", el("span", { class: "question" }, sql)),
    el("div", { class: "row" }, field("Estimated", method), field("Confidence", sure)), assumed, shown);
}

function result(found, sql) {
  const cells = found.kind === "number" ? [found] : found.cells, sure = cells.every((cell) => cell.low !== null);
  const [body, charts] = found.kind === "number" ? single(found) : groups(found, sure);
  return [body, el("p", { class: "quiet" }, basis(cells, sure)), ...caveats(found.kind === "number" ? found : cells[0] ?? {}),
    charts.length ? el("p", { class: "downloads" }, pictureButton(charts, sql, "estimate")) : null].filter(Boolean);
}

function basis(cells, sure) {
  if (cells.every((cell) => cell.public)) return "Exact: it is public.";
  if (!sure) return "The answer of the most natural distribution that explains history. No interval is known for it that keeps its promise.";
  if (cells.every((cell) => cell.determined)) return "History determines it; only noise makes it uncertain.";
  return "History does not determine it: what it leaves open is filled in by a prior, whose strength was chosen by cross-validation. It may be biased.";
}

function single(found) {
  const curve = found.posterior ? posterior(found) : null;
  const said = found.low === null ? "without an interval" : `between ${near(found, found.low)} and ${near(found, found.high)}, with probability ${number(found.confidence)}`;
  return [el("div", {}, el("p", {}, el("span", { class: "value" }, found.low === null ? number(found.value) : near(found, found.value)), said), curve), [curve].filter(Boolean)];
}

function groups(found, sure) {
  const labels = found.keys.map((key) => key.map((one) => label(one)).join(" · "));
  const charts = sure && labels.length ? [bars(labels, found.cells, "Estimates")] : [];
  const ends = sure ? [{ name: "low", number: true }, { name: "high", number: true }] : [];
  const heads = [...found.attributes.map((name) => ({ name })), { name: "estimate", number: true }, ...ends];
  const rows = found.cells.map((cell, n) => [...found.keys[n].map((one) => label(one)),
    ...(sure ? [cell.value, cell.low, cell.high].map((value) => sized(value, (cell.high - cell.low) / 4)) : [number(cell.value)])]);
  return [el("div", {}, charts, table(heads, rows, "Estimates as a table")), charts];
}
