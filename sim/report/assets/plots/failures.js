// Stacked bars: the bar of a cause has the height of its own value and of those below it together. The
// highest bars are drawn first.
function failures(subject) {
  const causes = [...new Set(bins.flatMap((b) => Object.keys(b.failures || {})))].sort();
  const sums = causes.map((_, i) => (bin) => causes.slice(0, i + 1).reduce((sum, c) => sum + ((bin.failures || {})[c] || 0), 0));
  const width = (subject.width || 1e8) / SECOND;
  const bars = uPlot.paths.bars({ size: [1, 60, 2], align: 1, gap: 0 });
  const data = columns(subject, [...sums.slice().reverse(), (bin) => bin.changes]);
  const own = (cause) => columns(subject, [(bin) => (bin.failures || {})[cause] || 0])[1];
  const made = timeline(subject, {
    title: `Failed requests and changes, per ${seconds(width)}`,
    scales: { y: { range: [0, Math.max(4, highest(bins.map(failed)), highest(bins.map((b) => b.changes))) * 1.1] } },
    axes: [axis({ size: 70, incrs: [...Array(10).keys()].flatMap((e) => [1, 2, 5].map((n) => n * 10 ** e)) })],
    series: [
      ...causes.map((cause, i) => {
        const color = css("--c" + Math.min(i, 5)), values = own(cause);
        return { label: cause, stroke: color, fill: color, width: 0, paths: bars, points: { show: false }, value: (u, v, s, at) => plain(at == null ? null : values[at]) };
      }).reverse(),
      { label: "changes", stroke: css("--s0") + "66", fill: css("--s0") + "1f", width: 1, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (u, v) => plain(v) },
    ],
  });
  made.hooks.draw.push(marksOf(subject));
  const total = (subject.bins || []).reduce((n, b) => n + failed(b), 0), moments = (subject.moments || []).length;
  return {
    name: "failed requests and changes", text: plural(total, "failed request") + (moments ? ` in ${plural(moments, "moment")}` : ""),
    data,
    options: made,
  };
}
