package browsertest

// Legible checks that every text has the contrast of 4.5 to 1 that WCAG 2.1 requires (1.4.3), including
// the painted axes and labels of the plots, and that the page has at least that many texts.
func (p *Page) Legible(least int) {
	p.Helper()
	texts := Ask[[]struct {
		Text  string
		Ratio float64
	}](p, contrasts)
	if len(texts) < least {
		p.Errorf("checked only %d texts", len(texts))
	}
	for _, text := range texts {
		if text.Ratio < 4.5 {
			p.Errorf("contrast %.2f of %q", text.Ratio, text.Text)
		}
	}
}

// contrasts computes the contrast between each text and its background
// (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio).
const contrasts = `(() => {
	const rgba = (color) => {
		const c = document.createElement("canvas").getContext("2d");
		c.fillStyle = color;
		c.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = c.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const over = (top, below) => top.map((v, i) => i === 3 ? 1 : v * top[3] + below[i] * (1 - top[3]));
	const luminance = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (text, ground) => {
		const [a, b] = [luminance(over(text, ground)), luminance(ground)];
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	};
	const behind = (e) => {
		if (!e) return [255, 255, 255, 1];
		const own = rgba(getComputedStyle(e).backgroundColor);
		return own[3] === 1 ? own : over(own, behind(e.parentElement));
	};
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode.textContent.trim(), e = walker.currentNode.parentElement;
		if (!text || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName)) continue;
		found.push({ Text: text.slice(0, 60), Ratio: ratio(rgba(getComputedStyle(e).color), behind(e)) });
	}
	const css = (name) => rgba(getComputedStyle(document.documentElement).getPropertyValue(name));
	for (const plot of document.querySelectorAll(".plot")) {
		found.push({ Text: "axes of " + plot.getAttribute("aria-label"), Ratio: ratio(css("--soft"), behind(plot)) });
		found.push({ Text: "faults of " + plot.getAttribute("aria-label"), Ratio: ratio(css("--text"), over(css("--fault"), behind(plot))) });
	}
	return found;
})()`
