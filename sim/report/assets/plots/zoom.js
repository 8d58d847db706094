// The range of time that all plots over time show, in seconds of measured time. It is part of the
// page's address (#t=12.00-16.50), so a link leads to it.
const LEAST = 0.05; // the shortest range
let zoomed = null; // [from, until], or null for everything

const shown = () => zoomed || [0, longest];
const timed = () => figures.filter((figure) => figure.dataset.subject != null && figure.plot);

// zoomTo shows a range in all plots over time. address replaces the fragment of the range in the page's
// address; subject is the subject of the plot in which the range was chosen.
function zoomTo(from, until, { address, subject } = {}) {
  const width = Math.min(Math.max(until - from, LEAST), longest);
  const begin = Math.min(Math.max(from, 0), longest - width);
  zoomed = width < longest ? [begin, begin + width] : null;
  const [min, max] = shown();
  for (const figure of timed()) figure.plot.setScale("x", { min, max });
  sayRange();
  setAddress(address ?? (zoomed ? `t=${min.toFixed(2)}-${max.toFixed(2)}` + (subject ? `&subject=${encodeURIComponent(subject)}` : "") : ""));
}

const zoomOut = () => zoomTo(0, longest);

// zoomBy multiplies the length of the range by a factor, around a time.
function zoomBy(factor, at, origin) {
  const [from, until] = shown(), center = at ?? (from + until) / 2;
  zoomTo(center - (center - from) * factor, center + (until - center) * factor, origin);
}

// move moves the range by a share of its length.
function move(share, origin) {
  const [from, until] = shown(), by = (until - from) * share;
  zoomTo(from + by, until + by, origin);
}

// reveal moves the range so that it includes a time.
function reveal(at) {
  const [from, until] = shown();
  if (at < from) zoomTo(at, at + until - from);
  if (at > until) zoomTo(at - (until - from), at);
}

function sayRange() {
  const [from, until] = shown();
  const text = zoomed ? `Showing ${seconds(from)} to ${seconds(until)} of ${seconds(longest)}` : `Showing the whole run, ${seconds(longest)}`;
  for (const place of document.querySelectorAll(".zoom .range")) {
    if (place.textContent !== text) place.textContent = text;
  }
}

// setAddress waits, because browsers limit how often a page may set its address. If a link is followed
// meanwhile, its address stays.
let pending = 0;
function setAddress(fragment) {
  clearTimeout(pending);
  const before = location.href;
  pending = setTimeout(() => {
    if (location.href === before) history.replaceState(null, "", fragment ? "#" + fragment : location.pathname + location.search);
  }, 150);
}

// rangeIn returns the range and the subject in a fragment, or null.
function rangeIn(fragment) {
  const named = new URLSearchParams(fragment), range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(named.get("t") || "");
  return range && { from: Number(range[1]), until: Number(range[2]), subject: named.get("subject") };
}

const buttons = {
  in: () => zoomBy(0.5), out: () => zoomBy(2), earlier: () => move(-0.5), later: () => move(0.5), all: zoomOut,
};
const keys = {
  "+": (at, origin) => zoomBy(0.5, at, origin), "=": (at, origin) => zoomBy(0.5, at, origin), "-": (at, origin) => zoomBy(2, at, origin),
  "0": zoomOut, Escape: zoomOut,
};

// zoomKey handles a key that was pressed in a plot.
function zoomKey(figure, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const u = figure.plot, origin = { subject: nameOf(figure) };
  const at = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : undefined;
  if (event.shiftKey && /^Arrow(Left|Right)$/.test(event.key)) move(event.key === "ArrowLeft" ? -0.25 : 0.25, origin);
  else if (keys[event.key]) keys[event.key](at, origin);
  else return;
  event.preventDefault();
}

// zoomable lets users zoom a figure by wheel and keys. The hook setSelect of the plot handles dragging.
function zoomable(figure) {
  const place = figure.querySelector(".plot");
  if (document.getElementById("zoom-keys")) place.setAttribute("aria-describedby", "zoom-keys");
  figure.reveal = reveal;
  place.addEventListener("keydown", (event) => zoomKey(figure, event));
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const u = figure.plot, at = u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x");
    zoomBy(event.deltaY < 0 ? 0.8 : 1.25, at, { subject: nameOf(figure) });
  }, { passive: false });
}

function showZoomControls() {
  for (const group of document.querySelectorAll(".zoom")) {
    group.hidden = false;
    for (const button of group.querySelectorAll("button")) button.addEventListener("click", () => buttons[button.dataset.zoom]());
  }
  sayRange();
}

// dragged zooms to the selection in a plot.
function dragged(u) {
  const { left, width } = u.select;
  if (width < 5) return;
  const from = u.posToVal(left, "x"), until = u.posToVal(left + width, "x");
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  zoomTo(from, until, { subject: nameOf(u.root.closest("figure")) });
}
