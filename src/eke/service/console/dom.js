// Elements from plain values. Texts are always text: nothing is ever parsed as HTML.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function field(label, input) {
  return el("label", { class: "field" }, el("span", {}, label), input);
}

// A wide table scrolls inside itself; a stacked one is a list of cards on narrow screens.
export function table(heads, rows, caption, { stacked = false } = {}) {
  const numeric = (head) => (head.number ? { class: "number" } : {});
  return el("div", { class: stacked ? "scroll stacked" : "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", ...numeric(head) }, head.name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) =>
        el("td", { "data-head": stacked && heads[i].name ? heads[i].name : null, class: heads[i].number ? "number" : heads[i].mono ? "mono" : heads[i].short ? "short" : null }, el("div", {}, cell))))))));
}

// What bins and rules leave open of an answer, a release or rows: a note each, nothing if nothing is said.
export function caveats(found) {
  return (found.caveats ?? []).map((caveat) => el("p", { class: "caveat" }, caveat));
}

export function failure(problem) {
  return el("div", { class: "error", role: "alert" }, problem.message);
}

export function debounced(milliseconds, work) {
  let timer = 0;
  const soon = (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), milliseconds); };
  soon.cancel = () => clearTimeout(timer);
  return soon;
}

export function number(value, digits = 6) {
  if (value === null || value === undefined) return "–";
  const shown = Number(value.toPrecision(digits));
  return shown.toLocaleString("en", { maximumFractionDigits: 9, maximumSignificantDigits: digits });
}

// A value with the digits that its uncertainty leaves worth reading, the same for all of one width.
export function sized(value, error) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value; // a date or a time
  if (!(error > 0)) return number(value);
  const digits = Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(error))));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// A number of an answer, with as many digits as its interval is wide.
export const near = (answer, value) => sized(value, (answer.high - answer.low) / 4);

export function label(key) {
  if (key === null) return "missing";
  if (typeof key === "object") return `${number(key.from)} to ${number(key.to)}`;
  return String(key);
}

// Where the text of a date or a time lies on a line of numbers: in steps of its calendar.
export function place(calendar, value) {
  if (!calendar || value === null) return value;
  const [day, clock] = calendar.kind === "clock" ? ["1970-01-01", value] : [value.slice(0, 10), value.slice(11) || "00:00:00"];
  return Date.parse(`${day}T${clock}Z`) / 1000 / calendar.step;
}

export function moment(text) {
  return text ? text.slice(0, 16).replace("T", " ") : "";
}
