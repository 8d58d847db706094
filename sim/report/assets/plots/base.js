// What the plots of a run share. Times in the series are nanoseconds since the start of the run. The
// files of this folder are one script, after that of all pages: this one first and draw.js last; each
// of the others adds a kind of plot. The script of a page follows: it calls use when it has data, and
// drawAll once.
let subjects, bins, longest, lowestLatency;

// use sets the timelines that the plots show.
function use(timelines) {
  subjects = timelines;
  bins = subjects.flatMap((s) => s.bins || []);
  longest = Math.max(1e-3, ...subjects.map((s) => layout(s).total));
  lowestLatency = bins.reduce((a, b) => b.p50 ? Math.min(a, b.p50) : a, Infinity);
}

const SECOND = 1e9, MS = 1e6;

const seconds = (x) => x == null ? "–" : three(x) + " s";
// decades labels a logarithmic axis of milliseconds.
const decades = (u, vs) => vs.map((v) => v == null || Math.abs(Math.log10(v) - Math.round(Math.log10(v))) > 1e-9 ? "" : ms(v));
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const highest = (values) => values.reduce((a, b) => Math.max(a, b || 0), 0);

// layout joins the rounds, without the time between them: clock converts a time to seconds of measured time.
function layout(subject) {
  let offset = 0;
  const rounds = (subject.rounds || []).map((r) => {
    const laid = { begin: r.begin, end: r.end, offset };
    offset += r.end - r.begin;
    return laid;
  });
  const roundOf = (t) => rounds.findLastIndex((r) => r.begin <= t);
  const clock = (t) => {
    const r = rounds[roundOf(t)];
    return (t - r.begin + r.offset) / SECOND;
  };
  return { clock, roundOf, total: offset / SECOND, edges: rounds.slice(1).map((r) => r.offset / SECOND) };
}

// columns returns the times of all bins and, for each getter, their values. An empty bin between rounds
// breaks the lines.
function columns(subject, getters) {
  const { clock, roundOf } = layout(subject);
  const out = [[], ...getters.map(() => [])];
  let last = 0;
  for (const bin of subject.bins || []) {
    const round = roundOf(bin.at);
    if (round !== last) {
      out[0].push(clock(bin.at) - 1e-6);
      getters.forEach((_, i) => out[i + 1].push(null));
      last = round;
    }
    out[0].push(clock(bin.at));
    getters.forEach((get, i) => out[i + 1].push(get(bin)));
  }
  return out;
}

// alone shows points only for values between two gaps, because no line leads to them.
const alone = { show: true, size: 4, filter: (u, i) => {
  const values = u.data[i];
  return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null);
} };

// lines draws vertical lines at reloads and between rounds.
function lines(subject) {
  const { clock, edges } = layout(subject);
  return (u) => {
    verticals(u, (subject.reloads || []).map((r) => clock(r.at)), css("--reload"), [4, 3], 1);
    verticals(u, edges, css("--soft"), [], 2);
  };
}

// within paints inside the axes of a plot only.
function within(u, paint) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint(u);
  ctx.restore();
}

// shades marks the times of faults, with their names.
function shades(subject) {
  const { clock } = layout(subject);
  return (u) => within(u, ({ ctx, bbox }) => {
    ctx.font = fontOf(12 * devicePixelRatio);
    ctx.textBaseline = "alphabetic";
    for (const fault of subject.faults || []) {
      const start = u.valToPos(clock(fault.from), "x", true), end = u.valToPos(clock(fault.until), "x", true), gap = 4 * devicePixelRatio;
      if (end < bbox.left || start > bbox.left + bbox.width) continue;
      const from = Math.max(start, bbox.left - gap), width = Math.max(end - from, 3 * devicePixelRatio);
      ctx.fillStyle = css("--fault");
      ctx.fillRect(from, bbox.top, width, bbox.height);
      const fits = from + gap + ctx.measureText(fault.name).width < bbox.left + bbox.width;
      ctx.fillStyle = css("--text");
      ctx.textAlign = fits ? "left" : "right";
      ctx.fillText(fault.name, fits ? from + gap : from - gap, bbox.top + 14 * devicePixelRatio);
    }
  });
}

// local selects the mouse events that the plots of a subject share: they share the cursor, but not the
// range, which zoom.js sets in all plots.
const local = { pub: (type) => type === "mousemove" || type === "mouseleave" };

const failed = (bin) => Object.values(bin.failures || {}).reduce((a, b) => a + b, 0);

function timeline(subject, over) {
  return {
    height: 200,
    cursor: { sync: { key: subject.name, filters: local }, focus: { prox: 24 }, drag: { setScale: false }, bind: { dblclick: () => () => zoomOut() } },
    hooks: { drawAxes: [shades(subject)], draw: [lines(subject)], setSelect: [dragged] },
    ...over,
    scales: { x: { time: false, range: shown }, ...over.scales },
    axes: [axis({ values: (u, vs) => vs.map(seconds) }), ...over.axes],
    series: [{ label: "time", value: (u, v) => seconds(v) }, ...over.series],
  };
}
