function latency(subject) {
  const measured = (of) => (bin) => bin.p50 ? bin[of] / MS : null;
  const top = Math.max(1, highest(bins.map((b) => b.max)) / MS);
  const low = Number.isFinite(lowestLatency) ? Math.max(lowestLatency / MS, 1e-3) : 0.1;
  const range = [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(top * 1.01))];
  return {
    name: "latency", text: plural((subject.reloads || []).length, "reload"),
    data: columns(subject, [measured("p50"), measured("p99"), measured("max")]),
    options: timeline(subject, {
      title: "Request latency",
      scales: { y: { distr: 3, range } },
      axes: [axis({ size: 70, values: decades })],
      series: [
        { label: "p50", stroke: css("--c3"), width: 2, value: (u, v) => ms(v), points: alone },
        { label: "p99", stroke: css("--c4"), width: 1.5, value: (u, v) => ms(v), points: alone },
        { label: "max", stroke: css("--c5"), width: 1, dash: [2, 3], value: (u, v) => ms(v), points: alone },
      ],
    }),
  };
}
