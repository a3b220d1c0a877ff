// Forms: what they share on every page.
import { el, failure } from "./dom.js";

export function form(title, parts, work) {
  const told = el("div", { role: "status" });
  const made = el("form", { class: "card" }, el("h2", {}, title), parts, told);
  made.addEventListener("input", () => { if (told.querySelector(".error")) told.replaceChildren(); }); // it is being mended
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    try { told.replaceChildren(...[await work(new FormData(made), told)].flat().filter(Boolean)); }
    catch (problem) { told.replaceChildren(failure(problem)); }
  });
  return made;
}

// Ctrl+Enter, or ⌘+Enter, does what the form's own button does, wherever in the form one is.
export function sendByKeyboard(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const own = event.target.closest?.("form"), button = own?.querySelector("button[type=submit], button:not([type])");
  if (!button) return;
  event.preventDefault();
  if (!button.disabled) own.requestSubmit(button);
}

export const input = (name, attributes = {}) => el("input", { name, ...attributes });

export const select = (name, options, attributes = {}) => el("select", { name, ...attributes },
  options.map(([value, text]) => el("option", { value }, text)));

export const choice = (name, value, text, more, attributes = {}) => el("label", { class: "choice" },
  el("input", { type: "radio", name, value, ...attributes }), el("span", {}, text, more ? el("span", { class: "quiet" }, ` ${more}`) : null));

export const confidences = () => el("select", { name: "confidence" }, ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"].map((value) =>
  el("option", { value, selected: value === "0.95" }, `${Number(value) * 100} %`)));

export const downloads = (place, forms = [["CSV", "csv"], ["Parquet", "parquet"]]) => el("span", { class: "downloads" },
  forms.map(([name, form]) => el("a", { href: `${place}${place.includes("?") ? "&" : "?"}format=${form}`, download: true }, `Download ${name}`)));
