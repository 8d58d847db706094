// Draws each figure of the page, and makes it walkable by the keyboard.
const kinds = { cdf, latency, heat, failures, generations };

// walk moves the cursor of a plot by the keyboard.
function walk(figure, event) {
  const u = figure.plot, n = u.data[0].length;
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -n, End: n }[event.key];
  if (!by || !n) return;
  event.preventDefault();
  const at = Math.min(n - 1, Math.max(0, (u.cursor.idx ?? (by > 0 ? -1 : n)) + by));
  u.setCursor({ left: u.valToPos(u.data[0][at], "x"), top: u.over.clientHeight / 2 });
}

function draw(figure) {
  const made = kinds[figure.dataset.plot](subjects[figure.dataset.subject], figure.dataset.lane);
  const place = figure.querySelector(".plot");
  if (figure.plot) figure.plot.destroy();
  const subject = subjects[figure.dataset.subject];
  place.tabIndex = 0;
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", `Plot of ${made.name}${subject ? " of " + subject.name : ""}: ${made.text}. Arrow keys read its values.`);
  figure.plot = new uPlot({ width: place.clientWidth, ...made.options }, made.data, place);
  figure.dataset.values = String(made.data.slice(1).flat().filter((v) => v != null).length);
  figure.plot.root.querySelector("canvas").setAttribute("aria-hidden", "true");
  figure.plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
}

const figures = [...document.querySelectorAll("figure[data-plot]")];

// drawAll draws the figures for the first time, and has them follow the page.
function drawAll() {
  for (const figure of figures) {
    draw(figure);
    const place = figure.querySelector(".plot");
    place.addEventListener("keydown", (event) => walk(figure, event));
    new ResizeObserver(() => {
      if (figure.plot.width !== place.clientWidth) figure.plot.setSize({ width: place.clientWidth, height: figure.plot.height });
    }).observe(place);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(draw));
  document.documentElement.dataset.drawn = String(figures.length);
}
