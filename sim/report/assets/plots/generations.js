// Stacked areas of the memory of each generation alive: the newest one, which serves, is at the bottom, below
// those that still drain. Each area has the height of its own value and of those below it together. The
// highest areas are drawn first.
function generations(subject) {
  const most = highest(bins.map((b) => (b.layers || []).length));
  let rss = null;
  const carried = (bin) => (rss = bin.rss || rss);
  const own = (i) => (bin) => bin.layers && i in bin.layers ? bin.layers[i] : null;
  const sum = (i) => (bin) => bin.layers ? bin.layers.slice(0, i + 1).reduce((a, b) => a + b, 0) : null;
  const ranks = [...Array(most).keys()];
  const name = (i) => i === 0 ? "newest" : i === 5 ? "5th older and beyond" : ["", "1st", "2nd", "3rd", "4th"][i] + " older";
  const alone = ranks.map((i) => columns(subject, [own(i)])[1]);
  const area = (i) => {
    const color = css("--g" + i);
    return { label: name(i), stroke: color, fill: color, width: 1, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: (u, v, s, at) => size(at == null ? null : alone[i][at]) };
  };
  const size = (v) => v == null ? "–" : sizeOf(v);
  const highestRSS = highest(bins.map((b) => b.rss));
  return {
    name: "memory by worker generation", text: `at most ${plural(highest((subject.bins || []).map((b) => b.generations)), "generation")} alive`,
    data: columns(subject, [...ranks.map(sum).reverse(), carried, (bin) => bin.generations]),
    options: timeline(subject, {
      title: `Memory of each generation of workers (${subject.proportional ? "PSS" : "RSS"})`,
      scales: { y: { range: [0, Math.max(1 << 20, highestRSS * 1.15)] } },
      axes: [axis({ size: 70, incrs: sizeSteps, values: (u, vs) => vs.map(size) })],
      series: [
        ...ranks.map(area).reverse(),
        { label: "all of nginx, RSS", stroke: css("--s3"), width: 1.5, dash: [5, 3], points: { show: false }, value: (u, v) => size(v) },
        { label: "generations", class: "read", stroke: css("--soft"), paths: () => null, points: { show: false }, value: (u, v) => plain(v) },
      ],
    }),
  };
}
