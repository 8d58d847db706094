// The plots and filters of a history. x is the index of a commit.
const data = JSON.parse(document.getElementById("data").textContent);

// format shows a value as the tables do, with fewer digits.
const units = {
  time: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
  bytes: byteUnits,
};
function format(kind, x) {
  if (x == null) return "–";
  return units[kind] ? inUnits(x, units[kind]) : three(x);
}

// columns aligns series: xs has the commits of all of them, at their indexes in xs, and spread the values of
// a series at xs.
function columns(series) {
  const xs = [...new Set(series.flatMap((s) => s.commits))].sort((a, b) => a - b);
  const at = new Map(xs.map((x, i) => [x, i]));
  const spread = (s, values) => {
    const out = xs.map(() => null);
    s.commits.forEach((c, i) => { out[at.get(c)] = values[i]; });
    return out;
  };
  return { xs, at, spread };
}

// paint draws levels with their intervals, intervals of points, and steps, below the lines.
function paint(series) {
  return (u) => {
    const { ctx, bbox } = u, ratio = devicePixelRatio;
    const x = (c) => u.valToPos(c, "x", true), y = (v) => u.valToPos(v, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const s of series) for (const step of s.steps) {
      ctx.fillStyle = css(`--${{ bad: "bad-ground", good: "good-ground", none: "grid" }[step.class]}`);
      ctx.fillRect(x(step.from), bbox.top, Math.max(x(step.to) - x(step.from), 2 * ratio), bbox.height);
    }
    series.forEach((s, i) => {
      ctx.fillStyle = ctx.strokeStyle = subjectColor(i);
      for (const l of s.levels) {
        const left = x(l.from - 0.4), width = x(l.to + 0.4) - left;
        ctx.globalAlpha = 0.15;
        ctx.fillRect(left, y(l.high), width, Math.max(y(l.low) - y(l.high), ratio));
        ctx.globalAlpha = 0.8;
        ctx.fillRect(left, y(l.value) - ratio, width, 2 * ratio);
      }
      ctx.globalAlpha = 0.6;
      ctx.lineWidth = ratio;
      s.commits.forEach((c, j) => {
        if (s.high[j] === s.low[j]) return;
        ctx.beginPath();
        ctx.moveTo(x(c), y(s.low[j]));
        ctx.lineTo(x(c), y(s.high[j]));
        ctx.stroke();
      });
      ctx.globalAlpha = 1;
    });
    ctx.restore();
  };
}

// range returns the range of all values, with a margin. It includes zero if the values are near it.
function range(series) {
  const all = series.flatMap((s) => [...s.low, ...s.high]);
  let low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low > 0 && low < high / 2) low = 0;
  const margin = (high - low || Math.abs(high) || 1) * 0.08;
  return [low === 0 ? 0 : low - margin, high + margin];
}

function plotOf(series, readout) {
  const { xs, at, spread } = columns(series), kind = series[0].kind;
  const line = (s, i) => ({
    label: s.name, stroke: subjectColor(i), width: 1, points: { show: true, size: 5, fill: subjectColor(i) },
    spanGaps: true, value: (u, v, si, idx) => {
      if (v == null || idx == null) return "–";
      const j = s.commits.indexOf(xs[idx]);
      return s.high[j] === s.low[j] ? format(kind, v) : `${format(kind, v)} (${format(kind, s.low[j])} to ${format(kind, s.high[j])})`;
    },
  });
  const steps = series.flatMap((s) => s.steps.map((step) => `${s.name}: ${step.text} at ${data.commits[step.to].name}`));
  return {
    name: series[0].row, text: steps.join("; ") || "no step",
    data: [xs, ...series.map((s) => spread(s, s.values))],
    options: {
      height: 260,
      cursor: { focus: { prox: 24 } },
      scales: { x: { time: false, range: [xs[0] - 0.5, xs.at(-1) + 0.5] }, y: { range: range(series) } },
      axes: [
        axis({ space: 90, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], values: (u, vs) => vs.map((v) => data.commits[v]?.date ?? "") }),
        axis({ size: 80, values: (u, vs) => vs.map((v) => format(kind, v)) }),
      ],
      series: [
        { label: "commit", value: (u, v) => v == null ? "–" : data.commits[v].name },
        ...series.map(line),
      ],
      hooks: {
        drawAxes: [paint(series)],
        setCursor: [(u) => { if (u.cursor.idx != null) readout(xs[u.cursor.idx]); }],
      },
    },
  };
}

function link(text, address) {
  if (!address) return document.createTextNode(text);
  const a = document.createElement("a");
  a.href = address;
  a.textContent = text;
  return a;
}

// readoutOf returns a function that shows a commit, with links to the reports of its runs.
function readoutOf(series, place) {
  let shown = null;
  return (commit) => {
    if (commit === shown) return;
    shown = commit;
    const c = data.commits[commit];
    place.replaceChildren(link(c.name, c.link), ` ${c.date} ${c.subject}`);
    const runs = [...new Set(series.flatMap((s) => s.runs[s.commits.indexOf(commit)] || []))].filter((r) => data.reports[r]);
    if (runs.length) place.append(document.createElement("br"), "reports:");
    runs.forEach((r, i) => place.append(" ", link(`run ${i + 1}`, data.reports[r])));
  };
}

// reportsAt returns the addresses of the reports of a commit's runs.
function reportsAt(series, commit) {
  return series.flatMap((s) => s.runs[s.commits.indexOf(commit)] || []).map((r) => data.reports[r]).filter(Boolean);
}

// plotRow adds a row with a plot of a row's series.
function plotRow(row) {
  const series = data.series.filter((s) => s.row === row.id);
  const opened = document.createElement("tr");
  opened.className = "plotted";
  const td = opened.appendChild(document.createElement("td"));
  td.colSpan = row.cells.length;
  const figure = td.appendChild(document.createElement("figure"));
  figure.dataset.plot = row.id;
  const place = figure.appendChild(document.createElement("div"));
  place.className = "plot";
  const caption = figure.appendChild(document.createElement("figcaption"));
  caption.textContent = "A point is the median of the runs of a commit, or the worst run for a count; the line through it is its 95 % interval, or the range of few runs. Bars are levels with their 95 % intervals. Shaded: where a step is, with a probability of 95 %. Enter opens the report of the commit's first run.";
  const text = figure.appendChild(document.createElement("p"));
  text.className = "readout";
  row.after(opened);
  const readout = readoutOf(series, text);
  show(figure, () => plotOf(series, readout));
  const go = () => {
    const idx = figure.plot.cursor.idx;
    const [first] = idx == null ? [] : reportsAt(series, figure.plot.data[0][idx]);
    if (first) location.href = first;
  };
  place.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  place.addEventListener("dblclick", go);
  readout(series[0].commits.at(-1));
  return opened;
}

const rows = [...document.querySelectorAll("tr[data-figure]")];
function toggle(row, to) {
  const button = row.querySelector(".open"), expanded = to ?? button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(expanded));
  if (expanded && !row.plotted) row.plotted = plotRow(row);
  if (row.plotted) row.plotted.hidden = !expanded;
}
for (const row of rows) {
  const th = row.cells[0], button = document.createElement("button");
  button.type = "button";
  button.className = "open";
  button.textContent = th.textContent;
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => toggle(row));
  th.replaceChildren(button);
}

// follow opens the plot of the row in the page's address.
function follow() {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (row?.dataset.figure) {
    toggle(row, true);
    row.scrollIntoView();
  }
}
addEventListener("hashchange", follow);

const form = document.querySelector(".filters");
const subjects = [...new Set([...document.querySelectorAll("th[data-subject]")].map((th) => th.dataset.subject))];
for (const name of subjects) form.elements.subject.append(new Option(name, name));

// filter shows only the rows and columns that the form selects.
function filter() {
  const wanted = Object.fromEntries(new FormData(form)), words = (wanted.figure || "").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const part of document.querySelectorAll(".scenario")) {
    const selected = (e) => (!wanted.subject || e.dataset.subject === wanted.subject) && (!wanted.setup || e.dataset.setup === wanted.setup);
    for (const e of part.querySelectorAll("[data-subject]")) e.hidden = !selected(e);
    let any = false;
    for (const row of part.querySelectorAll("tr[data-figure]")) {
      const cells = [...row.querySelectorAll("td")];
      row.hidden = wanted.scenario && part.dataset.scenario !== wanted.scenario || wanted.steps && !cells.some((td) => !td.hidden && td.querySelector(".badge"))
        || !words.every((word) => row.dataset.figure.includes(word)) || !cells.some((td) => !td.hidden && td.firstChild);
      if (row.plotted) row.plotted.hidden = row.hidden || row.querySelector(".open").getAttribute("aria-expanded") !== "true";
      any ||= !row.hidden;
      shown += row.hidden ? 0 : 1;
    }
    part.hidden = !any;
  }
  form.querySelector("[role=status]").textContent = `${shown} of ${rows.length} rows`;
}
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
follow();
document.documentElement.dataset.drawn = String(rows.length);
