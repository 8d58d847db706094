package annotations

import "windtunnel.dev/controller/options"

// buffered accepts the size of a buffer that every request may allocate.
var buffered = Want{Text: "a size such as 512, 8k, 1m, of at most 128m", ok: func(s string) bool { return Size.ok(s) && options.Bytes(s) <= options.MostBuffered }}

// otherUnit matches sizes with units that nginx does not know. As in ingress-nginx, they have no
// effect and do not reject the ingress.
var otherUnit = pattern(`(?i)\d+[bg]`, "")

var clientBody = Family{
	Name: "request bodies",
	Keys: []Key{
		{Name: "client-body-buffer-size", Doc: "Larger bodies are written to a file. A size in b or g is ignored.", Risk: Low, Scope: OfLocation, Want: Want{Text: buffered.Text, ok: func(s string) bool { return buffered.ok(s) || otherUnit.ok(s) }}, Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.ClientBodyBufferSize = r.text("client-body-buffer-size", r.options.Config.ClientBodyBufferSize)
		if otherUnit.ok(set.ClientBodyBufferSize) {
			r.ignore("client-body-buffer-size", "want "+buffered.Text)
			set.ClientBodyBufferSize = r.options.Config.ClientBodyBufferSize
		}
	},
}
