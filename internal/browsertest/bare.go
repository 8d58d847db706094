package browsertest

import "fmt"

// NoBarePlot fails the test for each plot that has at most the given number of values, or whose canvas
// shows almost nothing but the grid.
func (p *Page) NoBarePlot(values int) {
	p.Helper()
	for _, bare := range Ask[[]string](p, fmt.Sprintf(bareFigures, values)) {
		p.Errorf("the plot %s is empty", bare)
	}
}

// bareFigures finds plots without enough values, and plots with fewer than 300 coloured pixels within
// the axes; the grid is grey.
const bareFigures = `[...document.querySelectorAll("figure[data-plot]")].filter((f) => {
	const { left, top, width, height } = f.plot.bbox;
	const pixels = f.plot.ctx.getImageData(left, top, width, height).data;
	let coloured = 0;
	for (let i = 0; i < pixels.length; i += 4) {
		const [r, g, b, a] = pixels.slice(i, i + 4);
		if (a > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 30) coloured++;
	}
	return !(f.dataset.values > %d) || coloured < 300;
}).map((f) => Object.values(f.dataset).join(" "))`
