// cdf shows the share of changes that were served within a time, with a value of each curve at every time
// at which any of them steps.
function cdf() {
  const curves = subjects.flatMap((s, i) => s.curves.map((c) => ({
    label: `${s.name}, ${c.by}`, color: subjectColor(i), dash: c.by === "first worker" ? [5, 4] : undefined,
    times: c.times.map((t) => Math.max(t / MS, 0.1)), count: c.count, of: c.of,
  })));
  const xs = [...new Set(curves.flatMap((c) => c.times))].sort((a, b) => a - b);
  const low = xs.length ? xs[0] / 1.3 : 1, high = xs.length ? xs[xs.length - 1] * 1.3 : 1000;
  const grid = [low, ...xs, high];
  const share = (curve) => {
    let n = 0;
    return grid.map((x) => {
      while (n < curve.times.length && curve.times[n] <= x) n++;
      return curve.of ? 100 * (n && curve.count[n - 1]) / curve.of : null;
    });
  };
  const percent = (v) => v == null ? "–" : three(v) + " %";
  // The x values are logarithms, because a logarithmic axis only has ticks at whole decades, and a run may span less.
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); decade++) {
    for (const step of [1, 2, 5]) {
      const at = Math.log10(step) + decade;
      if (at >= Math.log10(low) && at <= Math.log10(high)) ticks.push(at);
    }
  }
  return {
    name: "convergence", text: curves.map((c) => `${c.label}: ${c.count.at(-1) || 0} of ${plural(c.of, "change")}`).join("; "),
    data: [grid.map(Math.log10), ...curves.map(share)],
    options: {
      title: "Changes served, by time since intent", height: 320,
      cursor: { focus: { prox: 24 } },
      legend: { markers: { dash: (u, i) => curves[i - 1]?.dash ? "dashed" : "solid" } },
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
