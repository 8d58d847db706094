// Draws the plots of the page from the series in it. Times in the series are
// nanoseconds since the start of the run.
(function () {
  "use strict";
  const subjects = JSON.parse(document.getElementById("series").textContent).subjects || [];
  const SECOND = 1e9, MS = 1e6, MIB = 1 << 20;

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const subjectColor = (i) => css("--s" + Math.min(i, 3));
  const three = (x) => x === 0 ? "0" : Math.abs(x) >= 100 ? x.toFixed(0) : String(+x.toPrecision(3));
  const ms = (x) => x == null ? "–" : x >= 1000 ? three(x / 1000) + " s" : three(x) + " ms";
  const seconds = (x) => x == null ? "–" : three(x) + " s";
  const plain = (x) => x == null ? "–" : String(x);
  const highest = (values) => values.reduce((a, b) => Math.max(a, b || 0), 0);

  // Rounds are laid one after the other: clock(t) is where t lies in measured time.
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

  // columns are the values of all bins; an empty bin between rounds breaks the lines.
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

  const fontOf = () => "12px system-ui, sans-serif";
  function axis(over) {
    return Object.assign({ stroke: css("--soft"), font: fontOf(), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid") } }, over);
  }

  // marks draws vertical lines: of reloads, and between rounds; and shades the
  // times in which something was broken on purpose.
  function marks(subject) {
    const { clock, edges } = layout(subject);
    const lines = (u, xs, color, dash, width) => {
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
    };
    const shades = (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.font = fontOf();
      for (const fault of subject.faults || []) {
        const from = u.valToPos(clock(fault.from), "x", true);
        const width = Math.max(u.valToPos(clock(fault.until), "x", true) - from, 3 * devicePixelRatio);
        ctx.fillStyle = css("--fault");
        ctx.fillRect(from, bbox.top, width, bbox.height);
        ctx.fillStyle = css("--soft");
        ctx.fillText(fault.name, from + 4 * devicePixelRatio, bbox.top + 14 * devicePixelRatio);
      }
      ctx.restore();
    };
    return (u) => {
      shades(u);
      lines(u, (subject.reloads || []).map((r) => clock(r.at)), css("--reload"), [4, 3], 1);
      lines(u, edges, css("--soft"), [], 2);
    };
  }

  const longest = Math.max(1e-3, ...subjects.map((s) => layout(s).total));
  const bins = subjects.flatMap((s) => s.bins || []);
  const failed = (bin) => Object.values(bin.failures || {}).reduce((a, b) => a + b, 0);
  const lowestLatency = bins.reduce((a, b) => b.p50 ? Math.min(a, b.p50) : a, Infinity);

  function timeline(subject, over) {
    return {
      height: 200,
      cursor: { sync: { key: subject.name }, focus: { prox: 24 } },
      hooks: { drawAxes: [marks(subject)] },
      ...over,
      scales: { x: { time: false, range: [0, longest] }, ...over.scales },
      axes: [axis({ values: (u, vs) => vs.map(seconds) }), ...over.axes],
      series: [{ label: "time", value: (u, v) => seconds(v) }, ...over.series],
    };
  }

  function latency(subject) {
    const measured = (of) => (bin) => bin.p50 ? bin[of] / MS : null;
    const top = Math.max(1, highest(bins.map((b) => b.max)) / MS);
    const low = Number.isFinite(lowestLatency) ? Math.max(lowestLatency / MS, 1e-3) : 0.1;
    const range = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(top * 1.01))];
    return {
      name: "latency", text: `${(subject.reloads || []).length} reloads`,
      data: columns(subject, [measured("p50"), measured("p99"), measured("max")]),
      options: timeline(subject, {
        title: "Request latency",
        scales: { y: { distr: 3, range } },
        axes: [axis({ size: 70, values: (u, vs) => vs.map((v) => v == null || Math.log10(v) % 1 > 1e-9 ? "" : ms(v)) })],
        series: [
          { label: "p50", stroke: css("--c3"), width: 2, value: (u, v) => ms(v), points: { show: false } },
          { label: "p99", stroke: css("--c4"), width: 1.5, value: (u, v) => ms(v), points: { show: false } },
          { label: "max", stroke: css("--c5"), width: 1, dash: [2, 3], value: (u, v) => ms(v), points: { show: false } },
        ],
      }),
    };
  }

  // Stacked bars: each cause is drawn from the sum of itself and those below,
  // the tallest first.
  function failures(subject) {
    const causes = [...new Set(bins.flatMap((b) => Object.keys(b.failures || {})))].sort();
    const sums = causes.map((_, i) => (bin) => causes.slice(0, i + 1).reduce((sum, c) => sum + ((bin.failures || {})[c] || 0), 0));
    const width = (subject.width || 1e8) / SECOND;
    const bars = uPlot.paths.bars({ size: [1, 60, 2], align: 1, gap: 0 });
    const data = columns(subject, [...sums.slice().reverse(), (bin) => bin.changes]);
    const own = (cause) => columns(subject, [(bin) => (bin.failures || {})[cause] || 0])[1];
    return {
      name: "failed requests and changes", text: `${subject.bins ? subject.bins.reduce((n, b) => n + failed(b), 0) : 0} failed requests`,
      data,
      options: timeline(subject, {
        title: `Failed requests and changes, per ${seconds(width)}`,
        scales: { y: { range: [0, Math.max(4, highest(bins.map(failed)), highest(bins.map((b) => b.changes))) * 1.1] } },
        axes: [axis({ size: 70, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] })],
        series: [
          ...causes.map((cause, i) => {
            const color = css("--c" + Math.min(i, 5)), values = own(cause);
            return { label: cause, stroke: color, fill: color, width: 0, paths: bars, points: { show: false }, value: (u, v, s, at) => plain(at == null ? null : values[at]) };
          }).reverse(),
          { label: "changes", stroke: css("--s0") + "66", fill: css("--s0") + "1f", width: 1, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (u, v) => plain(v) },
        ],
      }),
    };
  }

  function memory(subject) {
    let rss = null;
    const carried = (bin) => (rss = bin.rss ? bin.rss / MIB : rss);
    const alive = highest(bins.map((b) => b.generations)), most = highest(bins.map((b) => b.rss)) / MIB;
    const mib = (v) => v == null ? "–" : three(v) + " MiB";
    return {
      name: "worker generations and memory", text: `at most ${highest((subject.bins || []).map((b) => b.generations))} generations alive`,
      data: columns(subject, [(bin) => bin.generations, carried]),
      options: timeline(subject, {
        title: "Worker generations alive, and resident memory",
        scales: { y: { range: [0, Math.max(2, alive) + 0.5] }, memory: { range: [0, Math.max(1, most * 1.15)] } },
        axes: [
          axis({ size: 70, incrs: [1, 2, 5, 10, 20, 50] }),
          axis({ scale: "memory", side: 1, size: 80, grid: { show: false }, values: (u, vs) => vs.map(mib) }),
        ],
        series: [
          { label: "generations", stroke: css("--s2"), fill: css("--s2") + "26", width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (u, v) => plain(v) },
          { label: "memory", scale: "memory", stroke: css("--s3"), width: 2, points: { show: false }, value: (u, v) => mib(v) },
        ],
      }),
    };
  }

  // cdf shows for every time at which any curve steps the share of each.
  function cdf() {
    const curves = subjects.flatMap((s, i) => {
      const watched = (s.changes || []).filter((c) => c.fate !== "unwatched" && c.fate !== "failed");
      return ["first", "last"].map((which) => ({
        label: `${s.name}, ${which === "first" ? "first" : "every"} worker`, color: subjectColor(i), dash: which === "first" ? [5, 4] : undefined,
        times: watched.map((c) => c[which]).filter((t) => t >= 0).map((t) => Math.max(t / MS, 0.1)).sort((a, b) => a - b), of: watched.length,
      }));
    });
    const xs = [...new Set(curves.flatMap((c) => c.times))].sort((a, b) => a - b);
    const low = xs.length ? xs[0] / 1.3 : 1, high = xs.length ? xs[xs.length - 1] * 1.3 : 1000;
    const grid = [low, ...xs, high];
    const share = (curve) => {
      let n = 0;
      return grid.map((x) => {
        while (n < curve.times.length && curve.times[n] <= x) n++;
        return curve.of ? 100 * n / curve.of : null;
      });
    };
    const percent = (v) => v == null ? "–" : three(v) + " %";
    // Logarithms as values: the ticks of a logarithmic x axis need whole decades, and a run may span less than one.
    const ticks = [];
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade++) {
      for (const step of [1, 2, 5]) {
        const at = Math.log10(step) + decade;
        if (at >= Math.log10(low) && at <= Math.log10(high)) ticks.push(at);
      }
    }
    return {
      name: "convergence", text: curves.map((c) => `${c.label}: ${c.times.length} of ${c.of} changes`).join("; "),
      data: [grid.map(Math.log10), ...curves.map(share)],
      options: {
        title: "Changes served, by time since intent", height: 320,
        cursor: { focus: { prox: 24 } },
        scales: { x: { time: false, range: [Math.log10(low), Math.log10(high)] }, y: { range: [0, 102] } },
        axes: [
          axis({ splits: () => ticks, values: (u, vs) => vs.map((v) => ms(10 ** v)) }),
          axis({ size: 70, values: (u, vs) => vs.map(percent) }),
        ],
        series: [
          { label: "within", value: (u, v) => v == null ? "–" : ms(10 ** v) },
          ...curves.map((c) => ({ label: c.label, stroke: c.color, dash: c.dash, width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (u, v) => percent(v) })),
        ],
      },
    };
  }

  const kinds = { cdf, latency, failures, memory };

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
    const made = kinds[figure.dataset.plot](subjects[figure.dataset.subject]);
    const place = figure.querySelector(".plot");
    if (figure.plot) figure.plot.destroy();
    const subject = subjects[figure.dataset.subject];
    place.tabIndex = 0;
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", `Plot of ${made.name}${subject ? " of " + subject.name : ""}: ${made.text}. Arrow keys read its values.`);
    figure.plot = new uPlot({ width: place.clientWidth, ...made.options }, made.data, place);
    figure.plot.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    figure.plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
  }

  const figures = [...document.querySelectorAll("figure[data-plot]")];
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
})();
