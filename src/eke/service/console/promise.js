// What a view would protect, and what counts as public: looked up while it is written, and read before it is made.
import { call } from "./api.js";
import { debounced, el, failure } from "./dom.js";

const WAITING = "What the view would protect stands here as soon as its SELECT can be read.";
const NO_ID = "Name the column with the id, and how many rows of each count, and what would be protected stands here.";

// `described` gives the body of the request; what is wrong with the SELECT itself is said beside it.
export function promiseField(source, described) {
  const text = el("p", { class: "price", id: "promise", role: "status" });
  const field = el("fieldset", { hidden: true }, el("legend", {}, "What is protected"), text);
  let shown = null, latest = 0;

  function say(kind, words) { text.className = `price ${kind}`; text.textContent = words; }

  // The sentence of what is written now; null when something is missing, or another look overtook this one.
  async function look() {
    const turn = (latest += 1);
    shown = null;
    field.hidden = !source.isView();
    source.say();
    if (field.hidden) return null;
    if (!source.isWritten()) { say("", WAITING); return null; }
    try {
      const body = described();
      if (body.unit?.column === "" || body.unit?.rows === 0) { say("", NO_ID); return null; }
      const found = await call("POST", "/api/v1/promises", body);
      if (turn !== latest) return null;
      say("", found.sentence);
      shown = found.sentence;
      return shown;
    } catch (problem) {
      if (turn !== latest) return null;
      const { line, column } = problem.document ?? {};
      if (line === undefined || line === null) { say("bad", problem.message); return null; }
      source.say(failure({ message: `Line ${line}, column ${column}: ${problem.message}` }));
      say("", WAITING);
      return null;
    }
  }

  const soon = debounced(250, look);
  return {
    field,
    look: () => { soon(); },
    // Nobody makes a view without having read what it protects.
    async require() {
      if (!source.isView()) return;
      const read = shown;
      soon.cancel();
      const now = await look();
      if (now === null) throw new Error("What this view protects cannot be said yet; mend what is written above.");
      if (now !== read) throw new Error("What is protected has changed meanwhile. Read it above, and then make it.");
    },
  };
}
