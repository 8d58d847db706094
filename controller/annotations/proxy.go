package annotations

// Proxy is how requests are passed on. Times are in seconds, sizes as nginx
// writes them.
type Proxy struct {
	BodySize             string
	BufferSize           string
	BuffersNumber        int
	BusyBuffersSize      string
	ConnectTimeout       int
	CookieDomain         string
	CookiePath           string
	NextUpstream         string
	NextUpstreamTimeout  int
	NextUpstreamTries    int
	ProxyBuffering       string
	ProxyHTTPVersion     string
	ProxyMaxTempFileSize string
	ProxyRedirectFrom    string
	ProxyRedirectTo      string
	ReadTimeout          int
	RequestBuffering     string
	SendTimeout          int
}

var proxy = Family{
	Name: "proxying",
	Keys: []Key{
		{Name: "proxy-connect-timeout", Doc: "Seconds to connect to a pod.", Risk: Low, Scope: OfLocation, Want: Number},
		{Name: "proxy-read-timeout", Doc: "Seconds between two reads from a pod.", Risk: Low, Scope: OfLocation, Want: Number},
		{Name: "proxy-send-timeout", Doc: "Seconds between two writes to a pod.", Risk: Low, Scope: OfLocation, Want: Number},
		{Name: "proxy-body-size", Doc: "Largest request body.", Risk: Medium, Scope: OfLocation, Want: Size},
	},
	parse: func(r *reader, set *Set) {
		c := r.options.Config
		set.Proxy = Proxy{
			BodySize:             r.text("proxy-body-size", c.ProxyBodySize),
			BufferSize:           c.ProxyBufferSize,
			BuffersNumber:        c.ProxyBuffersNumber,
			BusyBuffersSize:      c.ProxyBusyBuffersSize,
			ConnectTimeout:       r.number("proxy-connect-timeout", c.ProxyConnectTimeout),
			CookieDomain:         c.ProxyCookieDomain,
			CookiePath:           c.ProxyCookiePath,
			NextUpstream:         c.ProxyNextUpstream,
			NextUpstreamTimeout:  c.ProxyNextUpstreamTimeout,
			NextUpstreamTries:    c.ProxyNextUpstreamTries,
			ProxyBuffering:       c.ProxyBuffering,
			ProxyHTTPVersion:     c.ProxyHTTPVersion,
			ProxyMaxTempFileSize: c.ProxyMaxTempFileSize,
			ProxyRedirectFrom:    c.ProxyRedirectFrom,
			ProxyRedirectTo:      c.ProxyRedirectTo,
			ReadTimeout:          r.number("proxy-read-timeout", c.ProxyReadTimeout),
			RequestBuffering:     c.ProxyRequestBuffering,
			SendTimeout:          r.number("proxy-send-timeout", c.ProxySendTimeout),
		}
	},
}
