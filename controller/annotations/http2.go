package annotations

var http2 = Family{
	Name: "HTTP/2",
	Keys: []Key{
		{Name: "http2-push-preload", Doc: "Push the resources of Link preload headers; nginx 1.25.1 and newer cannot.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) { set.HTTP2PushPreload = r.flag("http2-push-preload", false) },
}
