// What was asked before: the same questions once, the newest first.
import { call, of } from "./api.js";

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

const drafts = new Map(); // what is being written, so that a look at another page loses nothing

export const draftOf = (me, dataset) => drafts.get(JSON.stringify([me.name, dataset])) ?? null;
export const keepDraft = (me, dataset, draft) => drafts.set(JSON.stringify([me.name, dataset]), draft);
