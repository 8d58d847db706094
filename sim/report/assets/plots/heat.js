// A heat map of the latencies of one lane over time: the more requests took that long at that time, the
// darker the cell. The series are not drawn; they only fill the legend.
const HEAT_ROWS = 10; // per decade, from 1 µs, as measure.HeatRows
const heatsOf = (lane) => subjects.flatMap((s) => s.heat || []).filter((h) => h.lane === lane);
const rowsOf = (heat) => heat.columns.flatMap((c) => Object.keys(c.rows).map(Number));
const latencyOf = (row) => 10 ** (row / HEAT_ROWS) / 1000; // in ms, where the row begins
const decade = (row, round) => 10 ** round(Math.log10(latencyOf(row)));

function heat(subject, lane) {
  const heats = heatsOf(lane), map = (subject.heat || []).find((h) => h.lane === lane) || { width: 0, columns: [] };
  const rows = heats.flatMap(rowsOf);
  if (!rows.length) rows.push(HEAT_ROWS * 2, HEAT_ROWS * 5); // 0.1 ms to 100 ms
  const most = highest(heats.flatMap((h) => h.columns.flatMap((c) => Object.values(c.rows))));
  const { clock, roundOf } = layout(subject);
  const endOf = (column) => Math.min(column.at + map.width, subject.rounds[roundOf(column.at)].end);
  const requests = (c) => Object.values(c.rows).reduce((a, b) => a + b, 0);
  // quantile returns the latency that a share of the column's requests do not exceed.
  const quantile = (column, share) => {
    let left = share * requests(column);
    for (const row of Object.keys(column.rows).map(Number).sort((a, b) => a - b)) {
      left -= column.rows[row];
      if (left <= 0) return latencyOf(row + 1);
    }
  };
  const cells = (u) => within(u, ({ ctx }) => {
    ctx.fillStyle = css("--heat");
    for (const column of map.columns) {
      const left = Math.floor(u.valToPos(clock(column.at), "x", true));
      const right = Math.max(left + 1, Math.floor(u.valToPos(clock(column.at) + (endOf(column) - column.at) / SECOND, "x", true)));
      for (const [row, n] of Object.entries(column.rows)) {
        const top = Math.floor(u.valToPos(latencyOf(+row + 1), "y", true));
        ctx.globalAlpha = 0.3 + 0.7 * (most > 1 ? Math.log(n) / Math.log(most) : 1);
        ctx.fillRect(left, top, right - left, Math.floor(u.valToPos(latencyOf(+row), "y", true)) - top);
      }
    }
  });
  const read = (label, value) => ({ label, class: "read", stroke: css("--heat"), paths: () => null, points: { show: false }, value });
  const upTo = (u, v) => v == null ? "–" : "≤ " + ms(v);
  const made = timeline(subject, {
    title: `Requests of lane ${lane}, by time and by how long they took`, height: 240,
    scales: { y: { distr: 3, range: [decade(Math.min(...rows), Math.floor), decade(Math.max(...rows) + 1, Math.ceil)] } },
    axes: [axis({ size: 70, values: decades })],
    series: [read("half", upTo), read("99 %", upTo), read("all", upTo), { ...read("requests", (u, v) => plain(v)), scale: "count" }],
  });
  made.hooks.drawAxes.push(cells);
  return {
    name: `how long requests of lane ${lane} took`, text: `${plural(map.columns.reduce((n, c) => n + requests(c), 0), "answered request")}, at most ${most} in a cell`,
    data: [map.columns.map((c) => clock(c.at)), ...[0.5, 0.99, 1].map((share) => map.columns.map((c) => quantile(c, share))), map.columns.map(requests)],
    options: made,
  };
}
