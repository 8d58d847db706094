package annotations

// ClientBody is how request bodies are read.
type ClientBody struct {
	BufferSize string // empty leaves the ConfigMap's
}

var clientBody = Family{
	Name: "request bodies",
	Keys: []Key{
		{Name: "client-body-buffer-size", Doc: "Bodies above it go to a file.", Risk: Low, Scope: OfLocation, Want: Size, Bad: RejectsAll},
	},
	parse: func(r *reader, set *Set) { set.ClientBody.BufferSize = r.text("client-body-buffer-size", "") },
}
