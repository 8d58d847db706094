package annotations

// HTTP2 is what is only in HTTP/2.
type HTTP2 struct {
	PushPreload bool // obsolete in nginx since 1.25.1
}

var http2 = Family{
	Name: "HTTP/2",
	Keys: []Key{
		{Name: "http2-push-preload", Doc: "Push the resources of Link preload headers; nginx 1.25.1 and newer cannot.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll},
	},
	parse: func(r *reader, set *Set) { set.HTTP2.PushPreload = r.flag("http2-push-preload", false) },
}
