// Tables worth releasing: what questions cost one by one, and what a release that makes them free would cost.
import { call, of } from "./api.js";
import { el, number, table } from "./dom.js";

export async function adviceCard(dataset, plan) {
  const { advice, measure } = await call("GET", of(dataset, "/advice"));
  const heads = [{ name: "columns" }, { name: "questions so far", number: true }, { name: `they cost, ${measure}`, number: true },
    { name: "a release costs", number: true }, { name: "it measures", number: true }, { name: "" }];
  const rows = advice.map((one) => [one.attributes.join(" × "), number(one.questions), number(one.paid, 4), number(one.cost, 4),
    `${number(one.counts)} ${one.kind === "ranges" ? "counts of ranges" : "cells"}`,
    el("button", { type: "button", class: "plain", "aria-label": `Plan a release by ${one.attributes.join(" × ")}`, onclick: () => plan(one) }, "Plan it")]);
  return el("section", { class: "card" }, el("h2", {}, "Worth releasing"),
    el("p", { class: "quiet" }, "Questions like those that were paid for become free with one release of these columns. It is worth it if as many are still to come."),
    rows.length ? table(heads, rows, "Worth releasing", { stacked: true }) : el("p", {}, "No table is worth it: nothing was paid for yet, or tables answer it already."));
}
