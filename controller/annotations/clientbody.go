package annotations

import "windtunnel.dev/controller/options"

// buffered is a size of memory that a single request may use.
var buffered = Want{Text: "a size such as 512, 8k, 1m, of at most 128m", ok: func(s string) bool { return Size.ok(s) && options.Bytes(s) <= options.MostBuffered }}

var clientBody = Family{
	Name: "request bodies",
	Keys: []Key{
		{Name: "client-body-buffer-size", Doc: "Larger bodies are written to a file.", Risk: Low, Scope: OfLocation, Want: buffered, Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.ClientBodyBufferSize = r.text("client-body-buffer-size", r.options.Config.ClientBodyBufferSize)
	},
}
