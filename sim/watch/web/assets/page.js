// The page of a run in progress: each message has the changes since the previous one. Only visible plots are
// drawn again.
const element = (id) => document.getElementById(id);
const MOST_FAILURES = 100, MOST_LINES = 500;
let paused = false, latest = null, dirty = new Set();

// What was received: a timeline of each subject, and the latest failures of all.
const nothing = () => [...document.querySelectorAll("[data-row]")].map((row) => ({
  name: row.querySelector("th").textContent, rounds: [], bins: [], reloads: [], faults: [], heat: [], curves: [],
}));
let received = nothing(), lost = [], logs = received.map(() => []);

// mergeByTime replaces entries by changed ones of the same time, and inserts new ones in order.
function mergeByTime(all, changed) {
  for (const one of changed || []) {
    let i = all.length;
    while (i > 0 && all[i - 1].at > one.at) i--;
    if (i > 0 && all[i - 1].at === one.at) all[i - 1] = one;
    else all.splice(i, 0, one);
  }
}

function merge(subject, changed) {
  const { bins, reloads, heat, curves, ...complete } = changed;
  mergeByTime(subject.bins, bins);
  subject.reloads.push(...(reloads || []));
  for (const map of heat || []) {
    let mine = subject.heat.find((one) => one.lane === map.lane);
    if (!mine) subject.heat.push(mine = { lane: map.lane, width: map.width, columns: [] });
    mergeByTime(mine.columns, map.columns);
  }
  if (curves) subject.curves = curves;
  Object.assign(subject, complete);
}

function receive(update) {
  update.subjects.forEach((changed, i) => {
    merge(received[i], changed);
    lost.push(...(changed.failures || []).map((one) => ({ ...one, subject: received[i] })));
    logs[i] = logs[i].concat(changed.log || []).slice(-MOST_LINES);
  });
  lost = lost.sort((a, b) => a.at - b.at).slice(-MOST_FAILURES);
  latest = update;
  if (!paused && !document.hidden) show();
}

const duration = (d) => d && d.N !== 0 && d.p99 ? ms(d.p99 / MS) : "–";
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function show() {
  const { status, result } = latest;
  const turn = status.turn ? `turn ${status.turn} of ${status.turns}, ${status.subject}: ` : "";
  setText(element("stage"), turn + status.stage);
  setText(element("waits"), result ? "" : `The run ${status.waits}.`);
  setText(element("announce"), result ? "" : turn + status.stage);
  status.subjects.forEach(showRow);
  showFailures();
  showLogs();
  use(received);
  figures.forEach((figure) => dirty.add(figure));
  drawSeen();
  if (result) showResult(result);
}

function showRow(subject, i) {
  const row = document.querySelector(`[data-row="${i}"]`), cell = (name) => row.querySelector(`[data-of="${name}"]`);
  const causes = Object.entries(subject.causes || {}).sort((a, b) => b[1] - a[1]).map(([cause, n]) => `${n} ${cause}`);
  setText(cell("phase"), subject.phase);
  setText(cell("rate"), three(subject.rate));
  setText(cell("failed"), [subject.failed, ...causes].join(", "));
  setText(cell("changes"), subject.waiting ? `${subject.changes}, ${subject.waiting} not served yet` : String(subject.changes));
  setText(cell("reloads"), String(subject.reloads));
  setText(cell("generations"), String(subject.generations));
  setText(cell("last"), duration(subject.last));
  setText(cell("stale"), duration(subject.stale));
}

function showFailures() {
  const place = document.querySelector("#failures .scroll"), body = place.querySelector("tbody");
  place.hidden = !lost.length;
  element("none-failed").hidden = !!lost.length;
  body.replaceChildren(...lost.slice().reverse().map((one) => {
    const row = document.createElement("tr");
    const at = seconds(layout(one.subject).clock(one.at));
    for (const text of [at, one.subject.name, one.lane, one.cause, one.host, one.detail || (one.status ? String(one.status) : "")]) {
      row.append(Object.assign(document.createElement("td"), { textContent: text }));
    }
    row.firstChild.className = "number";
    return row;
  }));
}

function showLogs() {
  logs.forEach((lines, i) => {
    const place = document.querySelector(`[data-log="${i}"]`), end = place.scrollHeight - place.scrollTop - place.clientHeight < 20;
    setText(place, lines.join("\n"));
    if (end) place.scrollTop = place.scrollHeight;
  });
}

function showResult({ outcome, note, report }) {
  const place = element("result");
  place.hidden = false;
  setText(place.querySelector("h2"), `The run is over: ${outcome}`);
  setText(place.querySelector(".why"), note);
  setText(place.querySelector(".report"), report && `Its report is ${report}`);
  element("end").disabled = true;
}

// Plots.
const visible = new Set();
function drawSeen() {
  for (const figure of visible) {
    if (dirty.delete(figure)) draw(figure, make(figure));
  }
}
const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) visible[isIntersecting ? "add" : "delete"](target);
  if (latest && !paused) drawSeen();
}, { rootMargin: "200px" });

// Controls.
element("pause").addEventListener("click", () => {
  paused = !paused;
  element("pause").setAttribute("aria-pressed", String(paused));
  if (!paused && latest) show();
});
document.addEventListener("visibilitychange", () => { if (latest && !paused && !document.hidden) show(); });
element("end").addEventListener("click", () => element("ending").showModal());
element("keep").addEventListener("click", () => element("ending").close());
element("really").addEventListener("click", async () => {
  element("ending").close();
  element("end").disabled = true;
  const answer = await fetch("end", { method: "POST" }).catch(() => null);
  if (!answer || !answer.ok) element("end").disabled = false;
});

use(received);
drawAll();
figures.forEach((figure) => observer.observe(figure));

const events = new EventSource("events");
events.onopen = () => { // the first message of a connection has everything
  received = nothing();
  lost = [];
  logs = received.map(() => []);
};
events.onmessage = (message) => {
  const update = JSON.parse(message.data);
  if (update.result) events.close();
  receive(update);
};
events.onerror = () => {
  setText(element("stage"), "not connected");
  setText(element("waits"), "The run may have ended; its report is in its folder.");
};
