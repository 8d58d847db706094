package options

// Stream is what an nginx can do with TCP and UDP.
type Stream int

const (
	// NoStream is an nginx without the stream module.
	NoStream Stream = iota
	// PlainStream has the module, but no Lua in it: endpoints are rendered into
	// upstream blocks, and each change of theirs is a reload.
	PlainStream
	// LuaStream has stream-lua, too, as ingress-nginx's image: endpoints are
	// told to Lua.
	LuaStream
)

// DynamicStream says whether Lua is told the endpoints of TCP and UDP services.
func (o Options) DynamicStream() bool { return o.DynamicConfiguration && o.Stream == LuaStream }
