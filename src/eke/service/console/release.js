// Releasing: many tables for one price, with their errors before and their charts after.
import { adviceCard } from "./advice.js";
import { call, keyed, of } from "./api.js";
import { caveats, debounced, el, failure, field, label, moment, number, sized, table } from "./dom.js";
import { bars } from "./draw.js";
import { confidences, downloads, input, select } from "./form.js";
import { pictureButton } from "./picture.js";
import { agreed, leftOf, tooMuch } from "./price.js";

const BEST = ["auto", "the one with the least error"];
const WIDE = 1.96; // standard errors to each side of an error bar

export async function releasePage({ dataset, me }) {
  const [schema, { releases }] = await Promise.all([call("GET", of(dataset, "/schema")), call("GET", of(dataset, "/releases"))]);
  const shown = el("div", { id: "released", "aria-live": "polite" });
  const past = el("div", {}, pastCard(dataset, releases, shown));
  const released = async () => past.replaceChildren(pastCard(dataset, (await call("GET", of(dataset, "/releases"))).releases, shown));
  const editor = releaseForm(dataset, me, schema, shown, released);
  const advised = me.role === "analyst" ? null : await adviceCard(dataset, editor.fill);
  return [editor.card, shown, past, advised].filter(Boolean);
}

function releaseForm(dataset, me, schema, shown, released) {
  const ways = input("ways", { type: "number", min: "1", max: String(schema.order.length), value: "1", step: "1" });
  const kind = select("kind", [["all_marginals", "every table by so many attributes"], ["up_to", "every table by up to so many"],
    ["over", "one table by the chosen attributes"], ["ranges", "all ranges of the chosen attribute"], ["sql", "SQL with GROUP BY CUBE, ROLLUP or SETS"]]);
  const sql = el("textarea", { name: "sql", rows: "3", spellcheck: "false", maxlength: "20000", "aria-label": "Workload in SQL" });
  sql.value = `SELECT COUNT(*) FROM ${/^\w+$/.test(dataset) ? dataset : `"${dataset}"`}\nGROUP BY CUBE (${schema.order.slice(0, 2).join(", ")})`;
  const chosen = schema.order.map((name, i) => input("attribute", { type: "checkbox", value: name, checked: i === 0 }));
  const choices = el("fieldset", {}, el("legend", {}, "Attributes"), el("div", { class: "choices" },
    schema.order.map((name, i) => el("label", {}, chosen[i], ` ${name}`))));
  const goal = select("goal", [["budget", "spend at most"], ["within", "be off by at most ±"]]);
  const amount = input("amount", { type: "number", min: "0", step: "any", required: true, id: "amount" });
  const sure = confidences();
  const strategy = select("strategy", [BEST], { id: "strategy" });
  const price = el("div", { class: "price", role: "status", id: "plan" }, "…");
  const errors = el("div", {});
  const button = el("button", { type: "submit" }, "Release");
  const waysField = field("Attributes in each table", ways);
  const send = keyed("POST", of(dataset, "/releases"));
  let latest = 0;

  const names = () => chosen.filter((box) => box.checked).map((box) => box.value);
  const workload = () => ({ all_marginals: { all_marginals: Number(ways.value) }, up_to: { up_to: Number(ways.value) }, over: { over: [names()] },
    ranges: { ranges: [names()] }, sql: { sql: sql.value } }[kind.value]);
  const request = () => ({ workload: workload(), [goal.value]: Number(amount.value) || null, confidence: Number(sure.value), strategy: strategy.value });

  function fit() {
    waysField.hidden = !["all_marginals", "up_to"].includes(kind.value);
    choices.hidden = !["over", "ranges"].includes(kind.value);
    sql.hidden = kind.value !== "sql";
    look();
  }

  // Shows the price of what is chosen now, and gives it; null when there is none, or another overtook it.
  async function look() {
    const turn = (latest += 1);
    price.className = "price";
    button.disabled = true;
    if (!Number(amount.value)) {
      price.textContent = "Say how much to spend, or how far counts may be off.";
      errors.replaceChildren();
      return null;
    }
    price.textContent = "Comparing strategies …";
    try {
      const found = await call("POST", of(dataset, "/plans"), request());
      if (turn !== latest) return null;
      price.className = `price ${found.affordable ? "paid" : "bad"}`;
      price.textContent = `${found.tables.length === 1 ? "1 table" : `${found.tables.length} tables`} with ${number(found.questions)} counts for ${found.measure} ${number(found.cost, 4)} of ${leftOf(found)}; `
        + `a count is off by ${number(found.rmse, 3)} on average (root mean square). ${found.affordable ? "Nothing is spent yet." : tooMuch(found)}`;
      button.disabled = !found.affordable || me.role === "auditor";
      if (strategy.value === "auto") offer(found);
      errors.replaceChildren(el("details", {}, el("summary", {}, "The error of each table, and why this strategy"),
        table([{ name: "table" }, { name: "counts", number: true }, { name: "largest standard error", number: true }],
          found.tables.slice(0, 200).map((one) => [title(one), number(one.answers), number(one.largest_error, 3)]), "Errors"),
        el("pre", { class: "scroll", tabindex: "0" }, found.explanation)));
      return found;
    } catch (problem) {
      if (turn !== latest) return null;
      price.className = "price bad";
      price.textContent = problem.message;
      errors.replaceChildren();
      return null;
    }
  }

  // The strategies that were compared, with whatever noise and recovery; another workload has others.
  function offer({ sections }) {
    const names = new Set(sections.flatMap((one) => one.alternatives.map((option) => option.name.replace(/ gls$/, "").replace(/\+$/, ""))));
    strategy.replaceChildren(...[BEST, ...[...names].map((name) => [name, name])].map(([value, text]) => el("option", { value }, text)));
  }

  const soon = debounced(300, look), best = () => { strategy.value = "auto"; };
  kind.addEventListener("change", () => { best(); fit(); });
  goal.addEventListener("change", () => { amount.value = ""; look(); });
  for (const one of [ways, sql]) one.addEventListener("input", () => { best(); soon(); });
  for (const box of chosen) box.addEventListener("change", () => { best(); look(); });
  for (const one of [sure, strategy]) one.addEventListener("change", look);
  amount.addEventListener("input", soon);

  const made = el("form", { class: "card", "aria-label": "Release tables" }, el("h1", {}, "Release tables"),
    el("p", { class: "quiet" }, "Many tables for one price. What is released stays: later questions about it are free."),
    el("div", { class: "row" }, el("label", { class: "field grow" }, el("span", {}, "What"), kind), waysField), choices, sql,
    el("div", { class: "row" }, field("Goal", goal), field("How much", amount), field("Confidence", sure), field("Strategy", strategy)),
    price, errors, el("div", { class: "row send" }, button, me.role === "auditor" ? el("span", { class: "quiet" }, "Auditors see prices and release nothing.") : null));
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    soon.cancel();
    const wanted = request(), offer = await look(); // of what is sent, not of what was typed a moment ago
    if (offer === null || button.disabled || !agreed(offer)) return;
    button.disabled = true;
    try { shown.replaceChildren(releaseCard(dataset, await send(wanted))); await released(); }
    catch (problem) { shown.replaceChildren(failure(problem)); }
    await look();
  });
  fit();
  return {
    card: made,
    fill({ kind: along, attributes, cost }) { // what was advised, to be looked at and changed before it is released
      kind.value = along === "ranges" ? "ranges" : "over";
      for (const box of chosen) box.checked = attributes.includes(box.value);
      goal.value = "budget";
      amount.value = String(Number(cost.toPrecision(6)));
      best();
      made.scrollIntoView({ block: "nearest" });
      fit();
    },
  };
}

function pastCard(dataset, releases, shown) {
  const rows = releases.toReversed().map((one) => [String(one.sequence), moment(one.at), one.analyst, words(one.workload), `${one.measure} ${number(one.cost, 4)}`,
    el("button", { type: "button", class: "plain", onclick: async () => {
      try { shown.replaceChildren(releaseCard(dataset, await call("GET", of(dataset, `/releases/${one.sequence}`)))); }
      catch (problem) { shown.replaceChildren(failure(problem)); }
      shown.scrollIntoView({ block: "nearest" });
    } }, `Show ${one.sequence}`)]);
  return el("section", { class: "card" }, el("h2", {}, "Released before"), rows.length
    ? table([{ name: "entry", number: true }, { name: "when", short: true }, { name: "who" }, { name: "what" }, { name: "cost", number: true }, { name: "" }], rows, "Releases", { stacked: true })
    : el("p", {}, "Nothing yet."));
}

function releaseCard(dataset, found) {
  const kind = select("as", [["", "as released"], ["consistent", "consistent"], ["nonnegative", "non-negative"], ["whole", "whole"]]);
  const norm = select("norm", [["l2", "L2, least squares"], ["l1", "L1, few moved"], ["linf", "L∞, none moved far"]]);
  const near = field("Nearest in", norm), told = el("p", { class: "quiet", role: "status" }), tables = el("div", {});
  let latest = 0;

  function draw(one) {
    told.textContent = one.adjusted
      ? `${one.adjusted.note} All values together moved by ${number(one.adjusted.moved, 3)} in this norm, a single one by ${number(one.adjusted.largest, 3)} at most. Lines in the charts are those of the released counts.`
      : "Lines in the charts reach 1.96 standard errors to each side. Counts may be negative: noise is left as it is.";
    tables.replaceChildren(...one.tables.map((table, i) => tableDetails(dataset, found, one, i)));
  }

  async function look() {
    const turn = (latest += 1);
    near.hidden = kind.value === "";
    if (kind.value === "") { draw(found); return; }
    told.textContent = "Adjusting …";
    try {
      const adjusted = await call("GET", of(dataset, `/releases/${found.sequence}?as=${kind.value}&norm=${norm.value}`));
      if (turn === latest) draw(adjusted);
    } catch (problem) {
      if (turn === latest) { told.replaceChildren(failure(problem)); tables.replaceChildren(); }
    }
  }

  for (const one of [kind, norm]) one.addEventListener("change", look);
  look();
  return el("section", { class: "card answer", "aria-label": "Release" },
    el("h2", {}, `Release ${found.sequence}: ${words(found.workload)}`),
    el("p", {}, el("span", { class: "tag paid" }, `paid ${found.measure} ${number(found.cost, 4)}`), ` by ${found.analyst}, ${moment(found.at)}`),
    el("div", { class: "row" }, field("Show counts", kind), near), told,
    caveats(found), tables);
}

// A table of a release, with the counts of `shown`, adjusted or not, and the errors of what was released.
function tableDetails(dataset, released, shown, place) {
  const one = shown.tables[place], kind = shown.adjusted?.kind, open = shown.tables.length < 4;
  const keys = one.labels.reduce((rows, axis) => rows.flatMap((row) => axis.map((key) => [...row, label(key)])), [[]]);
  const values = [one.values].flat(Infinity), errors = [one.standard_error].flat(Infinity), centres = [released.tables[place].values].flat(Infinity);
  const cells = values.map((value, i) => { const wide = WIDE * (errors.length > 1 ? errors[i] : errors[0]); return { value, low: centres[i] - wide, high: centres[i] + wide }; });
  const heads = [...one.labels.map((_, i) => ({ name: one.attributes[i] })), { name: "count", number: true }, { name: "low", number: true }, { name: "high", number: true }];
  const query = shown.adjusted ? `?as=${kind}&norm=${shown.adjusted.norm}` : "";
  function content() {
    const chart = bars(keys.map((key) => key.join(" · ") || "all"), cells, title(one));
    return [chart,
      table(heads, keys.slice(0, 500).map((key, i) => { const fine = (cells[i].high - cells[i].low) / 4;
        return [...key, kind === "whole" ? number(cells[i].value, 15) : sized(cells[i].value, fine), sized(cells[i].low, fine), sized(cells[i].high, fine)]; }), `${title(one)} as a table`),
      keys.length > 500 ? el("p", { class: "quiet" }, `${number(keys.length - 500)} more in the file.`) : null,
      el("p", { class: "downloads" }, downloads(of(dataset, `/releases/${released.sequence}/tables/${place}${query}`)),
        pictureButton(chart, `Counts by ${title(one)}${kind ? `, ${kind}` : ""}`, `release-${released.sequence}-${place}${kind ? `-${kind}` : ""}`))].filter(Boolean);
  }
  const made = el("details", { open }, el("summary", {}, `${title(one)}, ${number(one.answers)} counts`));
  const fill = () => { if (made.open && made.children.length === 1) made.append(...content()); };
  made.addEventListener("toggle", fill);
  fill();
  return made;
}

function title(one) {
  if (one.question !== null) return one.question;
  const kinds = [...new Set(one.along)].filter((kind) => kind !== "cells");
  return (kinds.length ? `${kinds.join(" and ")} of ` : "") + (one.attributes.join(" × ") || "the total");
}

function words(workload) {
  const parts = [];
  if (workload.all_marginals !== undefined) parts.push(`every table by ${workload.all_marginals}`);
  if (workload.up_to !== undefined) parts.push(`every table by up to ${workload.up_to}`);
  if (workload.over) parts.push(workload.over.slice(0, 3).map((names) => names.join(" × ") || "the total").join(", ") + (workload.over.length > 3 ? ` and ${workload.over.length - 3} more` : ""));
  if (workload.targets) parts.push(`${workload.targets.length} tables`);
  if (workload.queries) parts.push(`${workload.queries.length} single questions`);
  return parts.join(", ");
}
