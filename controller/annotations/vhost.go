package annotations

var vhost = Family{
	Name: "virtual hosts",
	Keys: []Key{
		{Name: "upstream-vhost", Doc: "The Host header sent to pods, instead of the client's.", Risk: Low, Scope: OfLocation, Want: Template, Bad: RejectsAll, Protects: podRequests},
	},
	parse: func(r *reader, set *Set) { set.UpstreamVhost = r.text("upstream-vhost", "") },
}
