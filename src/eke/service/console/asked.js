// What was asked before: the same questions once, the newest first.
import { call, of } from "./api.js";
import { number } from "./dom.js";

export async function askedBefore(dataset, most = 200) {
  const { answers, next } = await call("GET", of(dataset, `/answers?limit=${most}`));
  const found = new Map();
  for (const one of answers) {
    const same = JSON.stringify(one.asked ?? [one.question, one.within, one.confidence]);
    const known = found.get(same);
    if (known) { known.times += 1; known.cost += one.cost; }
    else found.set(same, { ...one, times: 1 });
  }
  return { questions: [...found.values()], more: next !== null };
}

// The form of the ask page has one accuracy; a text may have its own.
export const fitsTheForm = (asked) => asked !== null && typeof asked.within !== "object";

// The aim of a question as the form says it: [its name, its number]; none if the text says it itself.
export function aimOf({ within, spend }) {
  if (spend !== undefined) return ["spend", String(spend)];
  if (typeof within === "string") return ["share", String(parseFloat(within))];
  return within === undefined ? null : ["within", String(within)];
}

// The same question once more, as accurate as it came out: a price would buy more each time.
export function again({ asked, within }) {
  if (asked.spend === undefined || within === null) return asked;
  const { spend, ...rest } = asked;
  return { ...rest, within: Number((1.0001 * within).toPrecision(5)) }; // what is known, rounded up
}

// How accurate an answer was to be, or came to be.
export function aimInWords({ asked, within, confidence, measure }) {
  const sure = `at ${number(100 * confidence, 4)} %`;
  const size = asked?.groups_of ? `, for groups of ${number(asked.groups_of)}` : "";
  if (asked?.spend !== undefined) return `for ${measure} ${number(asked.spend, 4)} at most${within === null ? "" : `: ±${number(within, 4)} ${sure}`}${size}`;
  if (typeof asked?.within === "string") return `within ${asked.within} of the value ${sure}${size}`;
  return `±${number(within, 4)} ${sure}${size}`;
}

const drafts = new Map(); // what is being written, so that a look at another page loses nothing

export const draftOf = (me, dataset) => drafts.get(JSON.stringify([me.name, dataset])) ?? null;
export const keepDraft = (me, dataset, draft) => drafts.set(JSON.stringify([me.name, dataset]), draft);
