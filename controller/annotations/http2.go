package annotations

var http2 = Family{
	Name: "HTTP/2",
	Keys: []Key{
		{Name: "http2-push-preload", Doc: "Push what Link headers preload; nginx since 1.25.1 cannot.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll},
	},
	parse: func(r *reader, set *Set) { set.HTTP2PushPreload = r.flag("http2-push-preload", false) },
}
