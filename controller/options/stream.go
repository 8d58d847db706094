package options

// Stream is the support of an nginx for TCP and UDP services.
type Stream int

const (
	// NoStream means that nginx lacks the stream module.
	NoStream Stream = iota
	// PlainStream means that nginx has the stream module, but without Lua. Endpoints are rendered
	// into upstream blocks, and each change of the endpoints needs a reload.
	PlainStream
	// LuaStream means that nginx also has stream-lua, like ingress-nginx's image. Endpoints are
	// sent to Lua.
	LuaStream
)

// DynamicStream reports whether the endpoints of TCP and UDP services are sent to Lua.
func (o Options) DynamicStream() bool { return o.DynamicConfiguration && o.Stream == LuaStream }
