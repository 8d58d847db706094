// sweep draws a figure against a factor, with a line per value of another one. Times are in seconds,
// memory in bytes.
function sweep(plot) {
  const units = { time: (v) => ms(v * 1000), bytes: sizeOf };
  const show = (v) => v == null ? "–" : (units[plot.kind] || three)(v);
  const values = plot.lines.flatMap((l) => l.values).filter((v) => v != null);
  const low = Math.min(...values), high = Math.max(...values);
  const range = plot.log ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))] : [Math.min(0, low), Math.max(high * 1.1, high > 0 ? 0 : 1)];
  const width = (plot.at.at(-1) - plot.at[0]) || 1;
  const label = (x) => plot.labels[plot.at.indexOf(x)] ?? "";
  const everyDecade = (u, vs) => vs.map((v) => v == null || Math.abs(Math.log10(v) - Math.round(Math.log10(v))) > 1e-9 ? "" : show(v));
  return {
    name: plot.name, text: plot.lines.map((l) => `${l.name}: ${l.values.map(show).join(", ")}`).join("; "),
    data: [plot.at, ...plot.lines.map((l) => l.values)],
    options: {
      title: `${plot.name}, by ${plot.factor}`, height: 280,
      cursor: { focus: { prox: 24 } },
      scales: { x: { time: false, range: [plot.at[0] - width * 0.05, plot.at.at(-1) + width * 0.05] }, y: { distr: plot.log ? 3 : 1, range } },
      axes: [
        axis({ splits: () => plot.ticks || plot.at, values: (u, vs) => vs.map(label) }),
        axis({ size: 80, incrs: plot.kind === "bytes" && !plot.log ? sizeSteps : undefined, values: plot.log ? everyDecade : (u, vs) => vs.map(show) }),
      ],
      series: [
        { label: plot.factor, value: (u, v) => v == null ? "–" : label(v) },
        ...plot.lines.map((l, i) => ({
          label: l.name, stroke: css(palette[i % palette.length]), dash: i >= palette.length ? [5, 4] : undefined, width: 2, spanGaps: true,
          points: { show: plot.at.length < 30, size: 7 }, value: (u, v) => show(v),
        })),
      ],
    },
  };
}

const plotted = JSON.parse(document.getElementById("series").textContent).subjects || [];
const figures = [...document.querySelectorAll("figure[data-plot]")];
for (const figure of figures) show(figure, () => sweep(plotted[figure.dataset.subject]));
document.documentElement.dataset.drawn = String(figures.length);
