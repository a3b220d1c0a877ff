// Forms: what they share on every page.
import { el, failure, number } from "./dom.js";

const MUCH = 0.1; // of what is left: to spend more in one go, one is asked

export function form(title, parts, work) {
  const told = el("div", { role: "status" });
  const made = el("form", { class: "card" }, el("h2", {}, title), parts, told);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    try { told.replaceChildren(...[await work(new FormData(made), told)].flat().filter(Boolean)); }
    catch (problem) { told.replaceChildren(failure(problem)); }
  });
  return made;
}

// Whether to go on with something that costs much of what is left, as whoever clicked says.
export function agreed({ measure, cost, remaining }) {
  if (!(cost > MUCH * remaining)) return true;
  const share = number((100 * cost) / remaining, 2);
  return confirm(`This spends ${measure} ${number(cost, 4)}, ${share} % of what is left. It cannot be undone. Spend it?`);
}

export const input = (name, attributes = {}) => el("input", { name, ...attributes });

export const select = (name, options, attributes = {}) => el("select", { name, ...attributes },
  options.map(([value, text]) => el("option", { value }, text)));

export const confidences = () => el("select", { name: "confidence" }, ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"].map((value) =>
  el("option", { value, selected: value === "0.95" }, `${Number(value) * 100} %`)));

export const downloads = (place, forms = [["CSV", "csv"], ["Parquet", "parquet"]]) => el("span", { class: "downloads" },
  forms.map(([name, form]) => el("a", { href: `${place}?format=${form}`, download: true }, `Download ${name}`)));
