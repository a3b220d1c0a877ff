// Looking: history and budget.
import { call, of } from "./api.js";
import { el, moment, number, table } from "./dom.js";
import { losses, meter, steps } from "./draw.js";

export async function historyPage({ dataset }) {
  const found = await call("GET", of(dataset, "/history?limit=2000"));
  const heads = [{ name: "entry", number: true }, { name: "when", short: true }, { name: "who" }, { name: "question", mono: true },
    { name: "noisy value", number: true }, { name: "noise, standard deviation", number: true }];
  const rows = found.measurements.toReversed().map((one) => [String(one.sequence), moment(one.at), one.analyst, one.question,
    one.value === null ? `${one.cells} cells` : number(one.value), number(one.noise_deviation, 3)]);
  const whose = found.sharing === "own" ? "Your own measurements; others' stay with them." : "Everything released so far, by anyone. It sharpens every later answer.";
  return el("section", { class: "card" }, el("h1", {}, "History"), el("p", { class: "quiet" }, whose),
    rows.length ? table(heads, rows, "Measurements") : el("p", {}, "Nothing was measured yet."));
}

export async function budgetPage({ dataset }) {
  const [budget, line, attributes] = await Promise.all([
    call("GET", of(dataset, "/budget")), call("GET", of(dataset, "/budget/timeline")), call("GET", of(dataset, "/budget/attributes"))]);
  const cards = [el("section", { class: "card" }, el("h1", {}, "Budget"),
    el("p", {}, `${budget.measure} ${number(budget.spent)} spent of ${number(budget.limit)}, ${number(budget.remaining)} remaining.`),
    el("div", { class: "meter", role: "img", "aria-label": `${number((100 * budget.spent) / budget.limit, 3)} % spent` }, meter(budget.spent / budget.limit)),
    el("p", {}, `You have spent ${number(budget.yours.spent)}`, budget.yours.cap === null ? " and have no cap." : ` of your cap of ${number(budget.yours.cap)}.`, ` You may still spend ${number(budget.yours.remaining)}.`)),
  el("section", { class: "card" }, el("h2", {}, "Charge by charge"), steps(line.timeline, line.measure),
    el("p", { class: "quiet" }, "The dashed line is the limit."))];
  if (budget.analysts) {
    cards.push(el("section", { class: "card" }, el("h2", {}, "By analyst"),
      table([{ name: "who" }, { name: "spent", number: true }, { name: "cap", number: true }],
        budget.analysts.map((one) => [one.name, number(one.spent), one.cap === null ? "none" : number(one.cap)]), "By analyst")));
  }
  if (attributes.attributes) {
    const top = Math.max(...attributes.attributes.flatMap((one) => one.losses));
    cards.push(el("section", { class: "card" }, el("h2", {}, "By attribute"),
      el("p", { class: "quiet" }, "The largest loss that a record with each value can have had so far. Low places can be asked about for nothing more."),
      el("div", { class: "small-charts" }, attributes.attributes.map((one) => el("div", {}, el("strong", {}, one.name), losses(one, top, attributes.measure))))));
  }
  return cards;
}
