// Charts as PNG files: what is drawn in SVG is drawn once more on a canvas, on white paper.
import { el } from "./dom.js";

const SHARP = 2, EDGE = 16, LINE = 18;

export function pictureButton(charts, title, name) {
  return el("button", { type: "button", class: "link", onclick: () => savePicture([charts].flat(), title, name) }, "Download PNG");
}

async function savePicture(charts, title, name) {
  const paper = el("div", { class: "paper" }, charts.map((chart) => chart.cloneNode(true)));
  document.body.append(paper); // styles are computed for what is on the page only
  const canvas = drawn([...paper.children], title, getComputedStyle(paper));
  paper.remove();
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const link = el("a", { href: URL.createObjectURL(blob), download: `${name}.png` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function drawn(charts, title, style) {
  const boxes = charts.map((chart) => chart.viewBox.baseVal);
  const width = Math.max(...boxes.map((box) => box.width)) + 2 * EDGE;
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  context.font = `14px ${style.fontFamily}`;
  const lines = wrapped(context, title, width - 2 * EDGE);
  const height = boxes.reduce((sum, box) => sum + box.height + LINE + EDGE, 0) + lines.length * LINE + 2 * EDGE;
  canvas.width = width * SHARP;
  canvas.height = height * SHARP;
  context.scale(SHARP, SHARP);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width, height);
  context.fillStyle = style.color;
  context.font = `14px ${style.fontFamily}`;
  lines.forEach((line, i) => context.fillText(line, EDGE, EDGE + LINE * (i + 0.75)));
  context.translate(EDGE, EDGE + lines.length * LINE);
  charts.forEach((chart, i) => {
    context.fillStyle = style.color;
    context.font = `12px ${style.fontFamily}`;
    context.textAlign = "left";
    context.fillText(chart.getAttribute("aria-label"), 0, LINE);
    context.translate(0, LINE + EDGE);
    for (const node of chart.children) paint(context, node, getComputedStyle(node));
    context.translate(0, boxes[i].height);
  });
  return canvas;
}

function wrapped(context, text, width) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && context.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.slice(0, 8);
}

const OUTLINES = {
  path: (of, outline, node) => outline.addPath(new Path2D(node.getAttribute("d"))),
  rect: (of, outline) => outline.rect(of("x"), of("y"), of("width"), of("height")),
  line: (of, outline) => { outline.moveTo(of("x1"), of("y1")); outline.lineTo(of("x2"), of("y2")); },
  circle: (of, outline) => outline.arc(of("cx"), of("cy"), of("r"), 0, 2 * Math.PI),
};

function paint(context, node, style) {
  const of = (name) => Number(node.getAttribute(name) ?? 0);
  context.globalAlpha = Number(style.opacity);
  if (node.tagName === "text") {
    context.font = `${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.fill;
    context.textAlign = { middle: "center", end: "right" }[node.getAttribute("text-anchor")] ?? "left";
    context.fillText(node.textContent, of("x"), of("y"));
  } else if (node.tagName in OUTLINES) {
    const outline = new Path2D();
    OUTLINES[node.tagName](of, outline, node);
    if (style.fill !== "none" && node.tagName !== "line") { context.fillStyle = style.fill; context.fill(outline); }
    if (style.stroke !== "none") {
      context.strokeStyle = style.stroke;
      context.lineWidth = parseFloat(style.strokeWidth);
      context.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat));
      context.stroke(outline);
    }
  }
  context.globalAlpha = 1;
}
