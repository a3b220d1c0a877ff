// Rows: one number from a publication's rows, with the interval that it deserves; for nothing.
import { call, of } from "./api.js";
import { caveats, el, failure, field, number, sized } from "./dom.js";
import { confidences, input } from "./form.js";

export function askRows(dataset, sequence) {
  const sql = input("rows-question", { required: true, maxlength: "20000", placeholder: `SELECT COUNT(*) FROM ${dataset}`, spellcheck: "false", autocapitalize: "off" });
  const sure = confidences(), shown = el("div", { "aria-live": "polite" });
  let latest = 0;
  const made = el("form", { "aria-label": "Ask these rows" }, el("h2", {}, "Ask these rows"),
    el("p", { class: "quiet" }, "A count, a sum, an average or another formula of them, with the interval that holds the number of the real table: rows by themselves are no data. It costs nothing. What history can answer is closer asked there."),
    el("div", { class: "row" }, el("div", { class: "grow" }, field("Question in SQL", sql)), field("Confidence", sure), el("button", { type: "submit" }, "Ask the rows")), shown);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const turn = (latest += 1);
    shown.replaceChildren(el("p", { class: "quiet" }, "Reading the rows …"));
    let found;
    try { found = result(await call("POST", of(dataset, `/publications/${sequence}/estimate`), { sql: sql.value, confidence: Number(sure.value) })); }
    catch (problem) { found = [failure(problem)]; }
    if (turn === latest) shown.replaceChildren(...found);
  });
  return made;
}

function result(found) {
  if (found.low === null) return [el("p", {}, found.value === null ? null : el("span", { class: "value" }, number(found.value)), `without an interval: ${found.reason}`), ...caveats(found)];
  const error = (found.high - found.low) / 4, { noise, misfit, sampling } = found.errors;
  return [el("p", {}, el("span", { class: "value" }, sized(found.value, error)), `the real number is between ${sized(found.low, error)} and ${sized(found.high, error)}, with probability ${number(found.confidence)}`),
    el("p", { class: "quiet" }, `Standard deviations: ${number(noise, 3)} by the noise of what was measured, ${number(misfit, 3)} by what rows do not know of columns together, ${number(sampling, 3)} by being so many rows.`),
    ...caveats(found)];
}
