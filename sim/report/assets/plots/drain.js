// drain shows what is left of the draining generations of each subject, by the time since they began to
// drain: the connections of clients as lines, the rest when read.
function drain() {
  const longestOf = subjects.reduce((a, s) => (s.left || []).length > a.length ? s.left : a, []);
  const left = (subject, field) => longestOf.map((_, i) => (subject.left || [])[i]?.[field] ?? null);
  const read = (label) => ({ label, scale: "count", stroke: css("--soft"), paths: () => null, points: { show: false }, value: (u, v) => v == null ? "–" : three(v) });
  const named = (s, what) => subjects.length > 1 ? `${s.name}, ${what}` : what;
  const most = highest(subjects.flatMap((s) => left(s, "clients")));
  return {
    name: "connections left after a reload",
    text: subjects.map((s) => `${s.name}: ${(s.left || []).length ? seconds(s.left.at(-1).after / SECOND) + " until " + three(s.left.at(-1).clients) + " are left" : "nothing drained"}`).join("; "),
    data: [longestOf.map((p) => p.after / SECOND), ...subjects.flatMap((s) => ["clients", "workers", "generations"].map((field) => left(s, field)))],
    options: {
      title: "Connections of a draining generation, by time since the reload", height: 280,
      cursor: { focus: { prox: 24 } },
      scales: { x: { time: false }, y: { range: [0, Math.max(1, most * 1.1)] } },
      axes: [axis({ values: (u, vs) => vs.map(seconds) }), axis({ size: 70 })],
      series: [
        { label: "after", value: (u, v) => seconds(v) },
        ...subjects.flatMap((s, i) => [
          { label: named(s, "connections"), stroke: subjectColor(i), width: 2, points: { show: longestOf.length < 60, size: 5 }, value: (u, v) => v == null ? "–" : three(v) },
          read(named(s, "workers")), read(named(s, "generations seen")),
        ]),
      ],
    },
  };
}
