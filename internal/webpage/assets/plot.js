// Functions and settings that the plots of all pages share.
"use strict";
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// The colours of subjects and other lines; page.css has the same for .key.
const palette = ["--s0", "--s1", "--s2", "--s3", "--c4", "--c3", "--c5"];
const subjectColor = (i) => css(palette[Math.min(i, palette.length - 1)]);
const three = (x) => x === 0 ? "0" : Math.abs(x) >= 100 ? x.toFixed(0) : String(+x.toPrecision(3));
// inUnits formats a value in the largest of some units of which it is at least one, once it is rounded. Units are
// pairs of a size and a name, largest first; one of them has the size 1.
function inUnits(x, units) {
  if (x == null) return "–";
  const fits = ([size]) => x === 0 ? size === 1 : Math.abs(x / size).toPrecision(3) >= 1;
  const [size, name] = units.find(fits) ?? units.at(-1);
  return `${three(x / size)} ${name}`;
}
const byteUnits = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
// sizeOf formats a number of bytes; an axis with the steps sizeSteps has round labels.
const sizeOf = (x) => inUnits(x, byteUnits);
// ms formats a number of milliseconds.
const ms = (x) => inUnits(x, [[1000, "s"], [1, "ms"]]);
const sizeSteps = [...Array(51).keys()].map((e) => 2 ** e);
const plain = (x) => x == null ? "–" : String(x);

const fontOf = (px) => `${px}px system-ui, sans-serif`;
// An axis has the size that the labels of x need, unless over says otherwise.
function axis(over) {
  return Object.assign({ size: 34, stroke: css("--soft"), font: fontOf(12), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid") } }, over);
}

// verticals draws vertical lines at values of x.
function verticals(u, xs, color, dash, width) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.setLineDash(dash);
  for (const x of xs) {
    const at = Math.round(u.valToPos(x, "x", true)) + 0.5;
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// walk moves the cursor of a plot by the keyboard. If a figure has a function reveal, it brings a value of x
// into view.
function walk(figure, event) {
  const u = figure.plot, n = u.data[0].length;
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -n, End: n }[event.key];
  if (!by || !n) return;
  event.preventDefault();
  const at = Math.min(n - 1, Math.max(0, (u.cursor.idx ?? (by > 0 ? -1 : n)) + by));
  figure.reveal?.(u.data[0][at]);
  point(u, u.data[0][at]);
}

// point moves the cursor of a plot to a value of x. It waits for a range that was just set, which the plot
// applies in a microtask.
function point(u, x) {
  queueMicrotask(() => u.setCursor({ left: u.valToPos(x, "x"), top: u.over.clientHeight / 2 }));
}

// draw draws a figure, with the cursor where it was. made has its name, a description, and the data and
// options of the plot.
function draw(figure, made) {
  const place = figure.querySelector(".plot"), width = place.clientWidth || figure.plot?.width;
  const read = figure.plot?.data[0][figure.plot.cursor.idx];
  if (figure.plot) figure.plot.destroy();
  place.tabIndex = 0;
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", `Plot of ${made.name}: ${made.text}. Arrow keys read its values.`);
  const height = made.options.height * (place.closest("[data-printed] .plots") ? 0.6 : 1);
  figure.plot = new uPlot({ ...made.options, width, height }, made.data, place);
  figure.dataset.values = String(made.data.slice(1).flat().filter((v) => v != null).length);
  figure.plot.root.querySelector("canvas").setAttribute("aria-hidden", "true");
  figure.plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
  if (read != null) point(figure.plot, read);
}

// show draws the plot that make returns, keeps it as wide as its place, and lets the keyboard move its
// cursor.
function show(figure, make) {
  const place = figure.querySelector(".plot");
  draw(figure, make(figure));
  place.addEventListener("keydown", (event) => walk(figure, event));
  new ResizeObserver(() => {
    if (place.clientWidth && figure.plot.width !== place.clientWidth) figure.plot.setSize({ width: place.clientWidth, height: figure.plot.height });
  }).observe(place);
  const redraw = () => draw(figure, make(figure));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", redraw);
  addEventListener("afterprint", redraw);
}

// In print, a page has light colours and the width of a sheet, and all folded parts are open, except for
// moments: a report may have dozens of pages of them, so only those that the reader opened are printed.
let folded = [];
addEventListener("beforeprint", () => {
  document.documentElement.dataset.printed = "";
  folded = [...document.querySelectorAll("details:not([open], .moment)")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.printed;
  for (const details of folded) details.open = false;
});
