// An answer: a number with its curve, or a table with its charts; and the files it can be had as.
import { of } from "./api.js";
import { caveats, el, failure, label, near, number, sized, table } from "./dom.js";
import { bars, posterior } from "./draw.js";
import { downloads } from "./form.js";
import { pictureButton } from "./picture.js";

export function answerCard(dataset, found, claim = null) {
  const free = found.source === "history";
  const head = el("p", {}, el("span", { class: `tag ${free ? "free" : "paid"}` }, free ? "free" : `paid ${found.measure} ${number(found.cost, 4)}`), " ", el("span", { class: "question" }, found.question));
  const why = [el("p", { class: "quiet" }, found.why), ...caveats(found)];
  const [body, charts] = found.kind === "number" ? single(found) : groups(found);
  return el("section", { class: "card answer", "aria-label": "Answer" }, head, body, claim && claimLines(claim), why, files(dataset, found, charts));
}

// What is nearly sure is not said to be sure.
function probability(one) {
  if (one === null) return "not known";
  if (one >= 0.9995 && one < 1) return "more than 0.999";
  if (one > 0 && one <= 0.0005) return "less than 0.001";
  return number(one, 3);
}

function claimLines(claim) {
  if (claim.problem) return failure(claim.problem);
  if (claim.kind === "number") return el("p", { class: "claim" }, `The claim ${claim.claim} holds with probability `, el("strong", {}, probability(claim.probability)), ".");
  const heads = [...claim.attributes.map((name) => ({ name })), { name: "probability", number: true }];
  const rows = claim.keys.map((key, n) => [...key.map((one) => label(one)), probability(claim.probabilities[n])]);
  return el("div", { class: "claim" }, el("p", {}, `The claim ${claim.claim} holds with these probabilities:`), table(heads, rows, `How probable the claim ${claim.claim} is in each row`));
}

function single(found) {
  const curve = found.posterior ? posterior(found) : null;
  return [[el("p", {}, el("span", { class: "value" }, near(found, found.value)),
    found.rank_error === undefined ? `between ${near(found, found.low)} and ${near(found, found.high)}, with probability ${number(found.confidence)}`
      : `chosen; with probability ${number(found.confidence)} at most ${number(found.rank_error)} records off`), curve], [curve].filter(Boolean)];
}

function groups(found) {
  const keys = found.columns.map((column, i) => (column.key ? i : -1)).filter((i) => i >= 0);
  const measured = found.columns.map((column, i) => (column.key ? -1 : i)).filter((i) => i >= 0);
  const labels = found.rows.map((row, n) => keys.map((i) => label(row[i])).join(" · ") || `row ${n + 1}`);
  const drawn = measured.filter((i) => !found.columns[i].calendar); // a bar of a date would begin in 1970
  const charts = found.rows.length ? drawn.slice(0, 3).map((i) => bars(labels, found.rows.map((row) => row[i]), found.columns[i].name)) : [];
  const heads = found.columns.flatMap((column) => column.key ? [{ name: column.name }] : [
    { name: column.name, number: true }, { name: "low", number: true }, { name: "high", number: true }]);
  const rows = found.rows.map((row) => row.flatMap((cell, i) => found.columns[i].key ? [label(cell)] : [cell.value, cell.low, cell.high].map((value) => sized(value, (cell.high - cell.low) / 4))));
  return [el("div", {}, charts.map((chart, n) => el("div", {}, measured.length > 1 ? el("h2", {}, found.columns[drawn[n]].name) : null, chart)),
    rows.length ? table(heads, rows, "The same as a table") : el("p", {}, "No group is left by the conditions.")), charts];
}

function files(dataset, found, charts) {
  const name = `answer${found.entry === null ? "" : `-${found.entry}`}`;
  return el("p", { class: "downloads" },
    found.entry === null ? null : downloads(of(dataset, `/answers/${found.entry}`)),
    charts.length ? pictureButton(charts, found.question, name) : null);
}
