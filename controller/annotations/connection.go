package annotations

// Connection is the Connection header that pods receive.
type Connection struct {
	Enabled bool
	Header  string
}

var connection = Family{
	Name: "connections",
	Keys: []Key{
		{Name: "connection-proxy-header", Doc: "The Connection header sent to pods: close or keep-alive.", Risk: Low, Scope: OfLocation, Want: OneOf("close", "keep-alive"), Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		header := r.text("connection-proxy-header", "")
		set.Connection = Connection{Enabled: header != "", Header: header}
	},
}
