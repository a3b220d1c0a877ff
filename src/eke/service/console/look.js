// Looking: one's own answers, everybody's measurements, and the budget.
import { answerCard } from "./answer.js";
import { call, keyed, of } from "./api.js";
import { again, aimInWords, aimOf, askedBefore, fitsTheForm, keepDraft } from "./asked.js";
import { el, failure, moment, number, sized, table } from "./dom.js";
import { losses, meter, steps } from "./draw.js";
import { agreed } from "./price.js";

export async function historyPage({ dataset, me }) {
  const [own, found, { guards }] = await Promise.all([askedBefore(dataset), call("GET", of(dataset, "/history?limit=2000")), call("GET", of(dataset, "/guards"))]);
  const shown = el("div", { id: "shown", "aria-live": "polite" });
  return [el("section", { class: "card", "aria-label": "Your answers" }, el("h1", {}, "Your answers"),
    el("p", { class: "quiet" }, "Whatever you have paid for, and whatever you asked here for nothing. To ask again is free: what was released stays in the history, and what came since makes the answer better."),
    own.questions.length ? answersTable(dataset, me, own, shown) : el("p", {}, me.role === "auditor" ? "Auditors ask nothing." : "You have not asked anything yet.")),
  shown, measurementsCard(found), guards.length ? guardsCard(guards) : null].filter(Boolean);
}

function guardsCard(guards) {
  const rows = guards.map((one) => [String(one.sequence), one.by, one.question, one.claim, number(one.threshold), one.probability === null ? "not known" : number(one.probability, 3), one.closed ? "closed" : "open", one.note]);
  return el("section", { class: "card" }, el("h2", {}, "Guarded claims"),
    el("p", { class: "quiet" }, "Once a claim is as probable as its threshold it is closed: what could make it more probable is answered from history, or declined."),
    table([{ name: "entry", number: true }, { name: "by" }, { name: "question", mono: true }, { name: "claim", mono: true }, { name: "threshold", number: true }, { name: "probability", number: true }, { name: "now" }, { name: "note" }], rows, "Guarded claims", { stacked: true }));
}

function answersTable(dataset, me, { questions, more }, shown) {
  const send = keyed("POST", of(dataset, "/ask"));
  const show = (work) => async () => {
    try {
      const answer = await work();
      if (answer !== null) shown.replaceChildren(answerCard(dataset, answer));
    } catch (problem) { shown.replaceChildren(failure(problem)); }
    shown.scrollIntoView({ block: "nearest" });
  };
  const asked = (one) => async () => {
    const body = again(one), offer = await call("POST", of(dataset, "/preview"), body); // free, and looked at all the same
    return offer.action === "refuse" || agreed(offer, 0) ? send({ ...body, posterior: true }) : null;
  };
  const edited = (one) => () => {
    const [aim, value] = aimOf(one.asked) ?? ["within", ""];
    keepDraft(me, dataset, { sql: one.asked.sql, aim, typed: { [aim]: value }, groups: String(one.asked.groups_of ?? ""), confidence: String(one.asked.confidence ?? "0.95") });
    location.hash = "#/ask";
  };
  const act = (text, work) => el("button", { type: "button", class: "plain", onclick: work }, text);
  const rows = questions.map((one) => [moment(one.at), one.question, aimInWords(one),
    one.cost > 0 ? `${one.measure} ${number(one.cost, 4)}` : "free",
    one.asked === null ? el("span", { class: "quiet" }, "asked from a program") : el("span", { class: "actions" },
      act("Show", show(() => call("GET", of(dataset, `/answers/${one.entry}`)))),
      me.role === "auditor" ? null : act("Ask again", show(asked(one))),
      fitsTheForm(one.asked) ? act("Edit", edited(one)) : null)]);
  return [table([{ name: "when", short: true }, { name: "question", mono: true }, { name: "accuracy", short: true }, { name: "paid", number: true }, { name: "" }], rows, "Your answers", { stacked: true }),
    more ? el("p", { class: "quiet" }, "Older ones are not listed; the HTTP API has all of them.") : null];
}

function measurementsCard(found) {
  const heads = [{ name: "entry", number: true }, { name: "when", short: true }, { name: "who" }, { name: "question", mono: true },
    { name: "noisy value", number: true }, { name: "noise, standard deviation", number: true }];
  const rows = found.measurements.toReversed().map((one) => [String(one.sequence), moment(one.at), one.analyst, one.question,
    one.chosen !== undefined ? String(one.chosen) : one.value === null ? `${number(one.cells)} cells` : sized(one.value, one.noise_deviation),
    one.chosen === undefined ? number(one.noise_deviation, 3) : "chosen"]);
  const whose = found.sharing === "own" ? "Your own measurements; others' stay with them." : "Everything released so far, by anyone. It sharpens every later answer.";
  return el("section", { class: "card" }, el("h2", {}, "What was measured"), el("p", { class: "quiet" }, whose),
    rows.length ? table(heads, rows, "Measurements") : el("p", {}, "Nothing was measured yet."),
    found.next === null ? null : el("p", { class: "quiet" }, "Later ones are not listed; the HTTP API has all of them."));
}

export async function budgetPage({ dataset }) {
  const [model, budget, line, attributes] = await Promise.all([call("GET", of(dataset)),
    call("GET", of(dataset, "/budget")), call("GET", of(dataset, "/budget/timeline")), call("GET", of(dataset, "/budget/attributes"))]);
  const cards = [el("section", { class: "card" }, el("h1", {}, "Budget"),
    el("p", {}, `${budget.measure} ${number(budget.spent, 4)} spent of ${number(budget.limit)}, ${number(budget.remaining, 4)} remaining.`),
    el("div", { class: "meter", role: "img", "aria-label": `${number((100 * budget.spent) / budget.limit, 3)} % spent` }, meter(budget.spent / budget.limit)),
    el("p", {}, `You have spent ${number(budget.yours.spent, 4)}`, budget.yours.cap === null ? " and have no cap." : ` of your cap of ${number(budget.yours.cap)}.`, ` You may still spend ${number(budget.yours.remaining, 4)}.`),
    el("p", { class: "quiet" }, promise(model))),
  el("section", { class: "card" }, el("h2", {}, "Charge by charge"), steps(line.timeline, line.measure),
    el("p", { class: "quiet" }, "The dashed line is the limit."))];
  if (budget.analysts) {
    cards.push(el("section", { class: "card" }, el("h2", {}, "By analyst"),
      table([{ name: "who" }, { name: "spent", number: true }, { name: "cap", number: true }],
        budget.analysts.map((one) => [one.name, number(one.spent, 4), one.cap === null ? "none" : number(one.cap)]), "By analyst")));
  }
  if (attributes.attributes) {
    const top = Math.max(...attributes.attributes.flatMap((one) => one.losses));
    cards.push(el("section", { class: "card" }, el("h2", {}, "By attribute"),
      el("p", { class: "quiet" }, "The largest loss that a record with each value can have had so far. Low places can be asked about for nothing more."),
      el("div", { class: "small-charts" }, attributes.attributes.map((one) => el("div", {}, el("strong", {}, one.name), losses(one, top, attributes.measure))))));
  }
  return cards;
}

// What is protected, in a sentence.
function promise({ neighbours, unit, public_rows: rows, budget }) {
  const noise = budget.measure === "rho" ? "zero-concentrated differential privacy" : "pure differential privacy";
  const who = unit === null ? "each row" : `each ${unit.column} with up to ${number(unit.rows)} rows`;
  const what = neighbours === "replace_one" ? `what it says; the number of rows is public${rows === null ? "" : ` (${number(rows)})`}` : "whether it is there at all";
  return `Protected is ${who}: ${what}. The limit is ${noise}, for everything ever released, to everybody together.`;
}
