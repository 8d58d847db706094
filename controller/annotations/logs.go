package annotations

// Logs contains the logging options.
type Logs struct {
	Access  bool
	Rewrite bool
}

var logs = Family{
	Name: "logs",
	Keys: []Key{
		{Name: "enable-access-log", Doc: "Log requests.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: Harmless},
		{Name: "enable-rewrite-log", Doc: "Log rewrites.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.Logs = Logs{Access: r.flag("enable-access-log", true), Rewrite: r.flag("enable-rewrite-log", false)}
	},
}
