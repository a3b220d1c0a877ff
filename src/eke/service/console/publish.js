// Publishing: rows made in the background, with their progress, and how near to history they are.
import { call, keyed, of } from "./api.js";
import { caveats, debounced, el, failure, field, moment, number, table } from "./dom.js";
import { nearness } from "./draw.js";
import { downloads, input, select } from "./form.js";
import { agreed, leftOf, tooMuch } from "./price.js";
import { askRows } from "./rows.js";

const WAYS = { max_entropy: ["maximum entropy", "Rows that follow every column and selected pairs and triples of columns. Start here."],
  lda: ["LDA", "Rows for training classifiers of one attribute: class means and second moments."],
  pca: ["PCA", "One row for each row of the table, in order; for datasets with neighbours replace_one."] };
const PAUSE = 700;

export async function publicationsPage({ dataset, me }) {
  const [schema, budget] = await Promise.all([call("GET", of(dataset, "/schema")), call("GET", of(dataset, "/budget"))]);
  const shown = el("div", { id: "published", "aria-live": "polite" });
  const lists = el("div", {});
  const watch = watcher(dataset, me, lists, shown);
  await watch();
  return [publishForm(dataset, me, schema, budget, watch), shown, lists];
}

function publishForm(dataset, me, schema, budget, watch) {
  const way = select("mechanism", Object.entries(WAYS).map(([name, [title]]) => [name, title]));
  const what = el("p", { class: "quiet" });
  const free = input("free", { type: "checkbox" });
  const loss = input("loss", { type: "number", min: "0", step: "any", id: "loss" });
  const rows = input("rows", { type: "number", min: "1", max: "1000000", step: "1", placeholder: "estimated" });
  const target = select("target", schema.order.map((name) => [name, name]));
  const aim = select("aim", [["", "no column"], ...schema.order.map((name) => [name, name])]);
  const together = input("together", { placeholder: "age, sex; age, income" });
  const components = input("components", { placeholder: "auto", size: "6" });
  const chosen = schema.order.map((name) => input("attribute", { type: "checkbox", value: name, checked: true }));
  const price = el("div", { class: "price", role: "status", id: "price" }, "…");
  const button = el("button", { type: "submit" }, "Publish");
  const freeField = el("p", {}, el("label", {}, free, " from history alone: free, and as good as history is"));
  const fields = { loss: field(`Spend at most (${budget.measure})`, loss), rows: field("Rows", rows), target: field("Class attribute", target), aim: field("To be predicted from the others", aim), together: field("Columns that matter more together", together), components: field("Components", components) };
  const send = keyed("POST", of(dataset, "/publications"));
  let latest = 0;

  function request() {
    const names = chosen.filter((box) => box.checked).map((box) => box.value), options = {};
    if (names.length < schema.order.length) options.attributes = names;
    if (way.value !== "pca" && rows.value) options.rows = Number(rows.value);
    if (way.value === "max_entropy" && free.checked) options.from_history = true;
    if (way.value === "lda") options.target = target.value;
    if (way.value === "max_entropy" && !free.checked) {
      if (aim.value) options.target = aim.value;
      const sets = together.value.split(";").map((set) => set.split(",").map((name) => name.trim()).filter(Boolean));
      if (sets.some((set) => set.length)) options.workload = sets.filter((set) => set.length);
    }
    if (way.value === "pca" && components.value && components.value !== "auto") options.components = Number(components.value);
    const wanted = { mechanism: way.value, options };
    if (!options.from_history) wanted[budget.measure] = Number(loss.value) || null;
    return wanted;
  }

  function fit() {
    const history = way.value === "max_entropy" && free.checked;
    what.textContent = WAYS[way.value][1];
    freeField.hidden = way.value !== "max_entropy";
    fields.loss.hidden = history;
    fields.rows.hidden = way.value === "pca";
    fields.target.hidden = way.value !== "lda";
    fields.aim.hidden = fields.together.hidden = way.value !== "max_entropy" || history;
    fields.components.hidden = way.value !== "pca";
    look();
  }

  // Shows the price of what is chosen now, and gives it; null when there is none, or another overtook it.
  async function look(wanted = request()) {
    const turn = (latest += 1);
    if (!wanted.options.from_history && !wanted[budget.measure]) {
      price.className = "price";
      price.textContent = `Say how much it may spend; ${budget.measure} ${number(budget.yours.remaining, 4)} is left${budget.yours.remaining < budget.remaining ? " of your cap" : ""}.`;
      button.disabled = true;
      return null;
    }
    try {
      const found = await call("POST", of(dataset, "/publications/preview"), wanted);
      if (turn !== latest) return null;
      price.className = `price ${found.cost === 0 ? "free" : found.affordable ? "paid" : "bad"}`;
      price.textContent = found.cost === 0 ? "Free: nothing is measured for it."
        : `Costs up to ${found.measure} ${number(found.cost, 4)} of ${leftOf(found)}. ${found.affordable ? "Nothing is spent yet." : tooMuch(found)}`;
      button.disabled = !found.affordable || me.role === "auditor";
      return found;
    } catch (problem) {
      if (turn !== latest) return null;
      price.className = "price bad";
      price.textContent = problem.message;
      button.disabled = true;
      return null;
    }
  }

  const soon = debounced(250, () => look());
  for (const one of [way, free]) one.addEventListener("change", fit);
  for (const one of [loss, rows, components, together]) one.addEventListener("input", soon);
  for (const one of [target, aim, ...chosen]) one.addEventListener("change", () => look());
  const told = el("div", { role: "status" });
  const made = el("form", { class: "card", "aria-label": "Publish rows" }, el("h1", {}, "Publish rows"),
    el("p", { class: "quiet" }, "A table of new rows in the same schema, to be given to anyone. They are paid for before the table is looked at."),
    el("label", { class: "field" }, el("span", {}, "How"), way), what, freeField,
    el("div", { class: "row" }, Object.values(fields)),
    el("details", {}, el("summary", {}, "Attributes"), el("div", { class: "choices" }, schema.order.map((name, i) => el("label", {}, chosen[i], ` ${name}`)))),
    price, told, el("div", { class: "row send" }, button, me.role === "auditor" ? el("span", { class: "quiet" }, "Auditors see prices and publish nothing.") : null));
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    soon.cancel();
    const wanted = request(), offer = await look(wanted); // of what is sent, not of what was typed a moment ago
    if (offer === null || button.disabled || !agreed(offer)) return;
    button.disabled = true;
    try { await send(wanted); told.replaceChildren(); }
    catch (problem) { told.replaceChildren(failure(problem)); }
    await watch();
    await look();
  });
  fit();
  return made;
}

// Looks at jobs and publications, and again while a job is under way and the page is shown.
function watcher(dataset, me, lists, shown) {
  let timer = 0;
  return async function watch() {
    clearTimeout(timer);
    let found;
    try {
      found = await Promise.all([call("GET", of(dataset, "/jobs")), call("GET", of(dataset, "/publications"))]);
    } catch (problem) { lists.replaceChildren(failure(problem)); return; }
    const [{ jobs }, { publications }] = found, open = jobs.filter((job) => job.state !== "done").slice(0, 10);
    lists.replaceChildren(...[open.length ? el("section", { class: "card", "aria-label": "Jobs" }, el("h2", {}, "Under way, or not finished"),
      open.map((job) => jobLine(dataset, me, job, watch))) : null, pastCard(dataset, publications, shown)].filter(Boolean));
    if (jobs.some((job) => ["queued", "running"].includes(job.state))) {
      timer = setTimeout(() => { if (lists.isConnected) watch(); }, PAUSE);
    }
  };
}

function jobLine(dataset, me, job, watch) {
  const active = ["queued", "running"].includes(job.state);
  const act = (text, work) => el("button", { type: "button", class: "plain", onclick: async (event) => {
    event.target.disabled = true;
    try { await work(); } catch (problem) { event.target.replaceWith(failure(problem)); }
    await watch();
  } }, text);
  const stop = act(job.charged ? "Give it up; the charge stays" : "Take it back", () => call("DELETE", of(dataset, `/jobs/${job.id}`)));
  const again = !active && job.account === me.name && me.role !== "auditor";
  return el("div", { class: "job" },
    el("p", {}, el("span", { class: `tag ${active ? "plain" : "bad"}` }, job.state.replace("_", " ")), ` ${WAYS[job.request.mechanism][0]} for ${job.account}, ${moment(job.made_at)} `,
      el("span", { class: "quiet" }, job.charged ? "charged" : "not charged")),
    active ? el("progress", { max: "1", value: String(job.progress), "aria-label": `Progress: ${job.step}` }) : null,
    el("p", { class: "quiet" }, active ? [`${job.step}, ${Math.round(100 * job.progress)} %`, job.advice].filter(Boolean).join("; ") : job.error?.message ?? job.advice ?? ""),
    active && !job.advice && me.role !== "auditor" ? stop : null,
    again ? act("Go on with it", () => goOn(dataset, job)) : null);
}

// What is paid for already costs nothing more; anything else is asked about as if it were new.
async function goOn(dataset, job) {
  if (!job.charged && !agreed(await call("POST", of(dataset, "/publications/preview"), job.request))) return;
  await call("POST", of(dataset, "/publications"), job.request, job.key);
}

function pastCard(dataset, publications, shown) {
  const rows = publications.toReversed().map((one) => [String(one.sequence), moment(one.at), one.analyst, WAYS[one.mechanism][0], one.cost ? `${one.measure} ${number(one.cost, 4)}` : "free",
    one.complete ? el("button", { type: "button", class: "plain", onclick: async () => {
      try { shown.replaceChildren(publicationCard(dataset, await call("GET", of(dataset, `/publications/${one.sequence}`)))); }
      catch (problem) { shown.replaceChildren(failure(problem)); }
      shown.scrollIntoView({ block: "nearest" });
    } }, `Show ${one.sequence}`) : "no rows yet"]);
  return el("section", { class: "card" }, el("h2", {}, "Published"), rows.length
    ? table([{ name: "entry", number: true }, { name: "when", short: true }, { name: "who" }, { name: "how" }, { name: "cost", number: true }, { name: "" }], rows, "Publications", { stacked: true })
    : el("p", {}, "Nothing yet."));
}

// The report has a page of its own, without scripts; it is fetched when somebody wants to see it.
function reportFrame(dataset, sequence) {
  const held = el("details", {}, el("summary", {}, "The whole report"));
  held.addEventListener("toggle", () => {
    if (held.open && held.children.length === 1) held.append(el("iframe", { class: "report", title: "Report on the rows", sandbox: true, src: of(dataset, `/publications/${sequence}/report`) }));
  });
  return held;
}

function publicationCard(dataset, found) {
  const paid = found.cost > 0;
  return el("section", { class: "card answer", "aria-label": "Publication" },
    el("h2", {}, `Publication ${found.sequence}: ${number(found.rows)} rows by ${WAYS[found.mechanism][0]}`),
    el("p", {}, el("span", { class: `tag ${paid ? "paid" : "free"}` }, paid ? `paid ${found.measure} ${number(found.cost, 4)}` : "free"), ` by ${found.analyst}, ${moment(found.at)} `,
      downloads(of(dataset, `/publications/${found.sequence}/rows`)), " ", el("a", { href: of(dataset, `/publications/${found.sequence}/report`), target: "_blank", rel: "noopener" }, "Report")),
    el("ul", { class: "quiet" }, found.notes.map((note) => el("li", {}, note))),
    caveats(found),
    askRows(dataset, found.sequence),
    el("h2", {}, "How near to history"),
    found.report.length ? [nearness(found.report), el("p", { class: "quiet" }, "Σ |p − p̃| of the rows against what was released, from 0 to 2. The line is what the noise of history alone would make of it: bars near or below it are as good as can be told. How near the rows are to the table itself is not shown here; that would not be private.")]
      : el("p", { class: "quiet" }, "History does not determine any single column, so that nothing can be compared."),
    reportFrame(dataset, found.sequence),
    el("h2", {}, "First rows"),
    table(found.attributes.map((name) => ({ name })), found.first_rows.map((row) => row.map((value) => (value === null ? "missing" : String(value)))), "First rows"));
}
