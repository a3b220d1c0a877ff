// Curating: datasets, analysts with tokens and caps, limits, and the ledger.
import { call, of } from "./api.js";
import { el, field, moment, number, table } from "./dom.js";
import { form, input } from "./form.js";
import { newDataset } from "./new-dataset.js";

let news = null; // what was just done, said once

export async function datasetsPage({ me, reload, again }) {
  const { datasets } = await call("GET", "/api/v1/datasets");
  const told = news === null ? null : el("p", { class: "price free", role: "status" }, news);
  news = null;
  const cards = [el("section", { class: "card" }, el("h1", {}, "Datasets"), told,
    !datasets.length ? el("p", {}, me.can_create ? "There is none yet. Make the first one here." : "There is none that you may see yet.") : table([{ name: "name" }, { name: "attributes", number: true }, { name: "cells", number: true }, { name: "spent", number: true }, { name: "limit", number: true }],
      datasets.map((one) => [one.name, String(one.attributes), number(one.cells, 4), number(one.budget.spent, 4), `${one.budget.measure} ${number(one.budget.limit)}`]), "Datasets"))];
  if (datasets.length) {
    cards.push(form("Change a limit", el("div", { class: "row" },
      field("Dataset", el("select", { name: "dataset" }, datasets.map((one) => el("option", {}, one.name)))),
      field("New limit", input("limit", { type: "number", min: "0", step: "any", required: true })), el("button", {}, "Change")),
    async (data) => {
      const found = await call("PUT", of(data.get("dataset"), "/limit"), { limit: Number(data.get("limit")) });
      news = `The limit of ${data.get("dataset")} is ${found.measure} ${number(found.limit)} now.`;
      await reload(); await again();
    }));
  }
  if (me.can_create) {
    cards.push(await newDataset(async (name) => {
      news = `${name} is made. You can ask it now; who else may see it, you say under Analysts.`;
      await reload(name);
      if (location.hash === "#/datasets") await again();
      else location.hash = "#/datasets"; // which shows the page again
    }));
  }
  return cards;
}

export async function accountsPage({ dataset, datasets, me, again }) {
  const [{ accounts }, budget] = await Promise.all([call("GET", "/api/v1/accounts"), dataset ? call("GET", of(dataset, "/budget")) : { analysts: [] }]);
  const caps = new Map(budget.analysts.map((one) => [one.name, one]));
  const rows = accounts.map((one) => [one.name, one.role, one.datasets === null ? "all" : one.datasets.join(", ") || "none",
    number(caps.get(one.name)?.spent ?? 0, 4), caps.get(one.name)?.cap === undefined || caps.get(one.name).cap === null ? "none" : number(caps.get(one.name).cap),
    el("div", {}, one.tokens.map((token) => tokenLine(token, again)))]);
  return [
    el("section", { class: "card" }, el("h1", {}, "Analysts and other accounts"),
      table([{ name: "name" }, { name: "role" }, { name: "datasets" }, { name: `spent of ${dataset ?? "–"}`, number: true }, { name: "cap", number: true }, { name: "tokens" }], rows, "Accounts", { stacked: true })),
    form("New account", el("div", { class: "row" },
      field("Name", input("name", { required: true, maxlength: "100" })),
      field("Role", el("select", { name: "role" }, ["analyst", "auditor", "curator"].map((role) => el("option", {}, role)))),
      field("Datasets", el("select", { name: "datasets" }, me.datasets === null ? el("option", { value: "" }, "all") : null, datasets.map((one) => el("option", { value: one.name }, one.name)))),
      field("Valid for days", input("days", { type: "number", min: "0", step: "any", placeholder: "for good" })),
      el("button", {}, "Add")),
    async (data) => {
      const found = await call("POST", "/api/v1/accounts", { name: data.get("name"), role: data.get("role"),
        datasets: data.get("datasets") ? [data.get("datasets")] : null, days: data.get("days") ? Number(data.get("days")) : null });
      return [el("p", {}, `The token of ${found.name}. It is not shown again:`), el("code", { class: "secret", id: "token" }, found.token)];
    }),
    dataset ? form(`What somebody may spend of ${dataset}`, el("div", { class: "row" },
      field("Who", el("select", { name: "who" }, accounts.filter((one) => one.role !== "auditor").map((one) => el("option", {}, one.name)))),
      field("Cap (empty for none)", input("cap", { type: "number", min: "0", step: "any" })), el("button", {}, "Set")),
    async (data) => {
      await call("PUT", of(dataset, `/caps/${encodeURIComponent(data.get("who"))}`), { cap: data.get("cap") === "" ? null : Number(data.get("cap")) });
      await again();
    }) : null].filter(Boolean);
}

function tokenLine(token, again) {
  const over = token.revoked_at ? "revoked" : token.expires_at && new Date(token.expires_at) < new Date() ? "expired" : null;
  const revoke = el("button", { type: "button", class: "plain", "aria-label": `Revoke token ${token.id}` }, "Revoke");
  revoke.addEventListener("click", async () => {
    if (revoke.textContent === "Revoke") { revoke.textContent = "Really revoke?"; return; }
    await call("DELETE", `/api/v1/tokens/${token.id}`);
    await again();
  });
  return el("div", {}, el("span", { class: "question" }, token.id), over ? ` ${over}` : token.expires_at ? ` until ${moment(token.expires_at)} ` : " ", over ? null : revoke);
}

export async function ledgerPage({ dataset }) {
  const [found, check] = await Promise.all([call("GET", of(dataset, "/ledger?limit=5000")), call("GET", of(dataset, "/ledger/verification"))]);
  const rows = found.entries.toReversed().slice(0, 500).map((entry) => [String(entry.sequence), entry.kind, moment(entry.at), entry.about.analyst ?? entry.payload.by ?? "", about(entry), entry.hash.slice(0, 12)]);
  return [el("section", { class: "card" }, el("h1", {}, "Ledger"),
    el("p", {}, el("span", { class: `tag ${check.intact ? "free" : "paid"}` }, check.intact ? "intact" : "not intact"), ` ${check.entries} entries were checked, first to last.`),
    el("details", {}, el("summary", {}, "High-water mark, to keep elsewhere"), el("code", { class: "secret" }, JSON.stringify(found.mark)))),
  el("section", { class: "card" }, table([{ name: "entry", number: true }, { name: "kind" }, { name: "when", short: true }, { name: "who" }, { name: "what", mono: true }, { name: "hash", mono: true }], rows, "Entries"))];
}

function about(entry) {
  const purpose = JSON.parse(entry.payload.plan?.purpose || entry.payload.purpose || "{}");
  const whatFor = purpose.release ? " for tables" : purpose.publish ? ` for rows by ${purpose.publish}` : "";
  if (entry.kind === "reserve") return `charge${whatFor}, spent afterwards ${number(entry.about.spent_after / 1e9)}`;
  if (entry.kind === "commit") return `released for entry ${entry.about.reservation}`;
  if (entry.kind === "limit" || entry.kind === "genesis") return `limit ${number(entry.about.limit / 1e9)}`;
  if (entry.kind === "cap") return `cap of ${entry.payload.analyst}: ${entry.payload.cap === null ? "none" : number(entry.payload.cap / 1e9)}`;
  if (entry.kind === "guard") return `guarded: ${entry.payload.question}: ${entry.payload.claim}, from ${number(entry.payload.threshold)} on`;
  if (entry.kind === "lift") return `no longer guarded: entry ${entry.payload.entry}`;
  if (entry.kind === "draw") return "noisy numbers drawn, before anything is made of them";
  return whatFor ? `stored${whatFor}, from history` : "stored answer";
}
