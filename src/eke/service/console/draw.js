// Drawings in SVG, with classes instead of colours so that light and dark both work.
import { label, near, number, place, sized } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function canvas(width, height, description) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": description });
}

// As wide as there is room for, so that texts keep their size on narrow screens.
const room = (most) => Math.max(260, Math.min(most, document.documentElement.clientWidth - 80));

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

export function posterior(answer) {
  const width = room(640), height = 200, floor = 165, roof = 30;
  const { points, density } = answer.posterior;
  const drawn = canvas(width, height, `Posterior: ${near(answer, answer.value)}, between ${near(answer, answer.low)} and ${near(answer, answer.high)}`);
  if (points.length < 2) return drawn;
  const [low, value, high] = [answer.low, answer.value, answer.high].map((one) => place(answer.calendar, one));
  // The interval may reach beyond the points, where bins leave something open or confidence is high.
  const left = Math.min(points[0], low), right = Math.max(points.at(-1), high), top = Math.max(...density);
  const x = (at) => 30 + ((at - left) / (right - left)) * (width - 60);
  const y = (height) => floor - (height / top) * (floor - roof);
  const all = points.map((point, i) => [x(point), y(density[i])]);
  const inside = all.filter((_, i) => points[i] >= low && points[i] <= high);
  if (inside.length) {
    drawn.append(shape("path", { class: "area",
      d: path([[inside[0][0], floor], ...inside, [inside.at(-1)[0], floor]]) + "Z" }));
  }
  drawn.append(shape("path", { class: "curve", d: path(all) }));
  drawn.append(shape("line", { class: "axis", x1: 20, x2: width - 20, y1: floor, y2: floor }));
  const within = (place) => Math.min(width - 40, Math.max(40, place)); // a label is never cut off
  for (const [at, told] of [[low, answer.low], [value, answer.value], [high, answer.high]]) {
    const middle = at === value;
    drawn.append(shape("line", { class: "here", x1: x(at), x2: x(at), y1: middle ? roof - 8 : floor - 40, y2: floor }));
    drawn.append(shape("text", { x: within(x(at)), y: middle ? roof - 14 : floor + 20, "text-anchor": "middle" }, near(answer, told)));
  }
  return drawn;
}

function shortened(text, left) {
  const most = Math.floor((left - 12) / 7);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// Room for the longest label, but not for a novel.
const margin = (labels, width) => Math.min(190, width * 0.36, 24 + 7 * Math.max(...labels.map((text) => text.length)));

export function bars(labels, cells, name) {
  const shown = Math.min(labels.length, 60), row = 26, width = room(720), left = margin(labels.slice(0, shown), width);
  const drawn = canvas(width, shown * row + (labels.length > shown ? 30 : 4), `${name} by group, with intervals`);
  const known = cells.slice(0, shown).filter((cell) => cell.value !== null);
  const low = Math.min(0, ...known.map((cell) => cell.low)), high = Math.max(1e-9, ...known.map((cell) => cell.high));
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 90);
  for (let i = 0; i < shown; i += 1) {
    const y = i * row + 4, cell = cells[i], text = labels[i];
    drawn.append(shape("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, shortened(text, left)));
    if (cell.value === null) continue;
    const [from, to] = [x(Math.min(0, cell.value)), x(Math.max(0, cell.value))];
    drawn.append(shape("rect", { class: "bar", x: from, y, width: Math.max(1, to - from), height: row - 8 }));
    drawn.append(shape("line", { class: "error-bar", x1: x(cell.low), x2: x(cell.high), y1: y + 9, y2: y + 9 }));
    for (const end of [cell.low, cell.high]) {
      drawn.append(shape("line", { class: "error-bar", x1: x(end), x2: x(end), y1: y + 4, y2: y + 14 }));
    }
    drawn.append(shape("text", { x: x(cell.high) + 8, y: y + 15 }, sized(cell.value, (cell.high - cell.low) / 4)));
  }
  drawn.append(shape("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: shown * row }));
  if (labels.length > shown) drawn.append(shape("text", { x: left, y: shown * row + 20 }, `${labels.length - shown} more in the table`));
  return drawn;
}

// Both axes by factors: a half-width half as wide costs as much more wherever it is, and nothing is cut off.
export function costs(points, here, offer, choose) {
  const width = room(640), height = 206, left = 62, floor = 172, lowest = 150, roof = 16;
  const { measure, remaining } = offer;
  const drawn = canvas(width, height, `Cost in ${measure} against the half-width`);
  const [first, last] = [Math.log(points[0].within), Math.log(points.at(-1).within)];
  const paid = points.map((point) => point.cost).filter((cost) => cost > 0);
  const some = paid.length ? paid : [remaining > 0 ? remaining : 1];
  const [cheap, costly] = [Math.min(...some) / 1.2, Math.max(...some) * 1.2];
  const x = (within) => left + ((Math.log(within) - first) / (last - first)) * (width - left - 20);
  const y = (cost) => (cost > 0 ? lowest - (Math.log(cost / cheap) / Math.log(costly / cheap)) * (lowest - roof) : floor);
  drawn.append(shape("line", { class: "axis", x1: left, x2: width - 10, y1: floor, y2: floor }));
  drawn.append(shape("line", { class: "axis", x1: left, x2: left, y1: 10, y2: floor }));
  const shownLeft = remaining > cheap && remaining < costly;
  if (shownLeft) drawn.append(shape("line", { class: "limit", x1: left, x2: width - 10, y1: y(remaining), y2: y(remaining) }));
  drawn.append(shape("path", { class: "curve", d: path(points.map((point) => [x(point.within), y(point.cost)])) }));
  for (const point of points) {
    const dot = shape("circle", { class: `dot ${point.action === "history" ? "free" : point.action}`, cx: x(point.within), cy: y(point.cost), r: 4.5 });
    const price = `${measure} ${number(point.cost, 3)}`;
    dot.append(shape("title", {}, `±${number(point.within, 3)}: ${{ history: "free", measure: price, refuse: `${price}, refused` }[point.action]}`));
    dot.addEventListener("click", () => choose(point.within));
    drawn.append(dot);
  }
  if (here >= points[0].within && here <= points.at(-1).within) {
    drawn.append(shape("line", { class: "here", x1: x(here), x2: x(here), y1: 10, y2: floor }));
  }
  const mark = (cost, text) => drawn.append(shape("text", { x: left - 6, y: y(cost) + 4, "text-anchor": "end" }, text));
  for (const cost of paid.length ? ticks(cheap, costly) : []) {
    if (!shownLeft || Math.abs(y(cost) - y(remaining)) > 14) mark(cost, number(cost, 2));
  }
  mark(0, "free");
  if (shownLeft) {
    // The curve falls: it is above the line on the left and below on the right, and the text where it is not.
    const text = offer.capped ? `${number(remaining, 3)}: what your cap leaves you` : `${number(remaining, 3)}: what is left`;
    const early = points.filter((point) => point.cost > remaining).length < points.length / 2;
    drawn.append(shape("text", early ? { x: width - 10, y: y(remaining) - 5, "text-anchor": "end" } : { x: left + 6, y: y(remaining) + 15 }, text));
  }
  for (const point of [points[0], points[Math.floor(points.length / 2)], points.at(-1)]) {
    drawn.append(shape("text", { x: x(point.within), y: floor + 18, "text-anchor": point === points.at(-1) ? "end" : "middle" }, `±${number(point.within, 2)}`));
  }
  return drawn;
}

// Powers of ten, with twos and fives if there are few of them.
function ticks(from, to) {
  const found = (heads) => Array.from({ length: 40 }, (_, i) => i - 20).flatMap((power) => heads.map((head) => head * 10 ** power)).filter((one) => one >= from && one <= to);
  const tens = found([1]);
  return tens.length > 1 ? tens : found([1, 2, 5]);
}

export function steps(line, measure) {
  const width = room(720), height = 230, left = 56, floor = 190;
  const drawn = canvas(width, height, `Spent ${measure}, charge by charge`);
  const top = Math.max(...line.map((point) => point.limit)) * 1.05;
  const x = (i) => left + (i / line.length) * (width - left - 20); // the last one has its width, too
  const y = (value) => floor - (value / top) * (floor - 15);
  const stairs = (name) => line.flatMap((point, i) => (i ? [[x(i), y(line[i - 1][name])], [x(i), y(point[name])]] : [[x(0), y(point[name])]])).concat([[x(line.length), y(line.at(-1)[name])]]);
  drawn.append(shape("path", { class: "area", d: `${path([[x(0), floor], ...stairs("spent"), [x(line.length), floor]])}Z` }));
  drawn.append(shape("path", { class: "curve", d: path(stairs("spent")) }));
  drawn.append(shape("path", { class: "limit", d: path(stairs("limit")) }));
  drawn.append(shape("line", { class: "axis", x1: left, x2: width - 20, y1: floor, y2: floor }));
  drawn.append(shape("text", { x: left - 6, y: y(line.at(-1).limit) + 4, "text-anchor": "end" }, number(line.at(-1).limit, 3)));
  drawn.append(shape("text", { x: left - 6, y: floor, "text-anchor": "end" }, "0"));
  drawn.append(shape("text", { x: left, y: floor + 22 }, line[0].at.slice(0, 10)));
  drawn.append(shape("text", { x: width - 20, y: floor + 22, "text-anchor": "end" }, line.at(-1).at.slice(0, 16).replace("T", " ")));
  return drawn;
}

export function losses(attribute, top, measure) {
  const width = 260, height = 92, floor = 64, many = attribute.losses.length;
  const drawn = canvas(width, height, `Largest loss in ${measure} by ${attribute.name}`);
  attribute.losses.forEach((loss, i) => {
    const tall = (loss / Math.max(top, 1e-12)) * (floor - 6), wide = (width - 10) / many;
    const bar = shape("rect", { class: "bar", x: 5 + i * wide, y: floor - tall, width: Math.max(0.5, wide - (many > 40 ? 0 : 2)), height: tall });
    bar.append(shape("title", {}, `${label(attribute.labels[i])}: ${number(loss, 3)}`));
    drawn.append(bar);
  });
  drawn.append(shape("line", { class: "axis", x1: 5, x2: width - 5, y1: floor, y2: floor }));
  drawn.append(shape("text", { x: 5, y: floor + 16 }, label(attribute.labels[0]).slice(0, 16)));
  if (many > 1) drawn.append(shape("text", { x: width - 5, y: floor + 16, "text-anchor": "end" }, label(attribute.labels.at(-1)).slice(0, 16)));
  return drawn;
}

export function meter(share) {
  const drawn = shape("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  drawn.append(shape("rect", { width: Math.min(100, share * 100), height: 8 }));
  return drawn;
}

// How far published rows are from history, and how far they would be by noise alone.
export function nearness(rows) {
  const row = 26, width = room(640), left = margin(rows.map((one) => one.attributes.join(" × ")), width);
  const drawn = canvas(width, rows.length * row + 8, "How far the rows are from history, column by column");
  const top = Math.max(1e-9, ...rows.flatMap((one) => [one.error, one.noise])) * 1.05;
  const x = (value) => left + (value / top) * (width - left - 150);
  rows.forEach((one, i) => {
    const y = i * row + 4, text = one.attributes.join(" × ");
    drawn.append(shape("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, shortened(text, left)));
    drawn.append(shape("rect", { class: "bar", x: left, y, width: Math.max(1, x(one.error) - left), height: row - 8 }));
    drawn.append(shape("line", { class: "error-bar", x1: x(one.noise), x2: x(one.noise), y1: y - 2, y2: y + row - 6 }));
    drawn.append(shape("text", { x: Math.max(x(one.error), x(one.noise)) + 8, y: y + 15 }, `${number(one.error, 2)} (noise ${number(one.noise, 2)})`));
  });
  return drawn;
}
