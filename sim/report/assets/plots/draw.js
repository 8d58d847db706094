// Draws each figure of the page.
const kinds = { cdf, drain, latency, heat, failures, generations };

function make(figure) {
  const subject = subjects[figure.dataset.subject];
  const made = kinds[figure.dataset.plot](subject, figure.dataset.lane);
  return subject ? { ...made, name: `${made.name} of ${subject.name}` } : made;
}

const figures = [...document.querySelectorAll("figure[data-plot]")];

// drawAll draws the figures for the first time, and has them follow the page.
function drawAll() {
  for (const figure of figures) show(figure, make);
  for (const figure of timed()) {
    zoomable(figure);
    pickable(figure);
  }
  showZoomControls();
  followLinks();
  document.documentElement.dataset.drawn = String(figures.length);
}
