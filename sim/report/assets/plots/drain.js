// drain shows what is left of the draining generations of each subject, by the time since they began to
// drain: their connections as lines, the rest only in the legend.
function drain() {
  const drained = subjects.map((s, i) => ({ name: s.name, left: s.left || [], color: subjectColor(i) })).filter((s) => s.left.length);
  const longest = drained.reduce((a, s) => s.left.length > a.length ? s.left : a, []);
  const number = (u, v) => v == null ? "–" : three(v);
  const label = (s, what) => subjects.length > 1 ? `${s.name}, ${what}` : what;
  const line = (s, what, dash) => ({ label: label(s, what), stroke: s.color, dash, width: 2, points: !dash && longest.length < 60 ? { show: true, size: 5 } : alone, value: number });
  const read = (s, what) => ({ label: label(s, what), class: "read", scale: "count", stroke: css("--soft"), paths: () => null, points: { show: false }, value: number });
  const fields = ["clients", "pods", "workers", "generations"];
  return {
    name: "connections left after a reload",
    text: drained.map((s) => `${s.name}: ${three(s.left[0].clients)} of clients at first, ${three(s.left.at(-1).clients)} after ${seconds(s.left.at(-1).after / SECOND)}`).join("; "),
    data: [longest.map((p) => p.after / SECOND), ...drained.flatMap((s) => fields.map((f) => longest.map((_, i) => s.left[i]?.[f] ?? null)))],
    options: {
      title: "Connections of a draining generation, by time since the reload", height: 280,
      cursor: { focus: { prox: 24 } },
      scales: { x: { time: false }, y: { range: [0, Math.max(1, highest(drained.flatMap((s) => s.left.flatMap((p) => [p.clients, p.pods]))) * 1.1)] } },
      axes: [axis({ values: (u, vs) => vs.map(seconds) }), axis({ size: 70 })],
      series: [
        { label: "after", value: (u, v) => seconds(v) },
        ...drained.flatMap((s) => [line(s, "of clients"), line(s, "to pods", [5, 4]), read(s, "workers"), read(s, "generations")]),
      ],
    },
  };
}
