package annotations

// HTTP2 is what is only in HTTP/2.
type HTTP2 struct {
	PushPreload bool // obsolete in nginx since 1.25.1
}
