package annotations

// Snippets contains texts that are inserted into nginx.conf unchanged.
type Snippets struct {
	Server string
	Stream string
}

var snippets = Family{
	Name: "snippets",
	Keys: []Key{
		{Name: "configuration-snippet", Doc: "Inserted into the locations.", Risk: Critical, Scope: OfLocation, Want: Anything, Protects: locationSnippet},
		{Name: "server-snippet", Doc: "Inserted into the server.", Risk: Critical, Scope: OfServer, Want: Anything, Protects: serverSnippet},
		{Name: "stream-snippet", Doc: "Inserted into the stream block.", Risk: Critical, Scope: OfAll, Want: Anything, Protects: streamSnippet},
	},
	parse: func(r *reader, set *Set) {
		set.ConfigurationSnippet = r.snippet("configuration-snippet")
		set.Snippets = Snippets{Server: r.snippet("server-snippet"), Stream: r.snippet("stream-snippet")}
	},
}
