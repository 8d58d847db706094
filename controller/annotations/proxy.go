package annotations

import "strings"

// Proxy contains the options of proxying. Times are in seconds, sizes in nginx's notation.
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

var (
	cookieDomain = variables(pattern(`off|[/\-._~a-zA-Z0-9:$]+ +[/\-._~a-zA-Z0-9:$]+`, "off or two domains"))
	cookiePath   = pattern(`off|[/\-._~a-zA-Z0-9:,?&=]+ +[/\-._~a-zA-Z0-9:,?&=]+`, "off or two paths")
	nextUpstream = WordsOf("error", "timeout", "invalid_header", "http_500", "http_502", "http_503", "http_504", "http_403", "http_404", "http_429", "non_idempotent", "off")
)

var proxy = Family{
	Name: "proxying",
	Keys: []Key{
		{Name: "proxy-connect-timeout", Doc: "Seconds to connect to a pod.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "proxy-read-timeout", Doc: "Seconds between two reads from a pod.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "proxy-send-timeout", Doc: "Seconds between two writes to a pod.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "proxy-body-size", Doc: "Maximum size of a request body; 0: no limit.", Risk: Medium, Scope: OfLocation, Want: Offset, Protects: Harmless},
		{Name: "proxy-buffering", Doc: "Buffer responses.", Risk: Low, Scope: OfLocation, Want: OnOff, Protects: Harmless},
		{Name: "proxy-buffers-number", Doc: "Number of buffers for a response.", Risk: Low, Scope: OfLocation, Want: Between(2, 1<<31-1), Protects: Harmless},
		{Name: "proxy-buffer-size", Doc: "Size of one buffer.", Risk: Low, Scope: OfLocation, Want: Size, Protects: Harmless},
		{Name: "proxy-busy-buffers-size", Doc: "How much of the buffers may be busy sending to the client; default: nginx's.", Risk: Low, Scope: OfLocation, Want: Size, Protects: Harmless},
		{Name: "proxy-max-temp-file-size", Doc: "Maximum size of a temporary file for a response.", Risk: Low, Scope: OfLocation, Want: Size, Protects: Harmless},
		{Name: "proxy-request-buffering", Doc: "Read the whole request body before sending it to a pod.", Risk: Low, Scope: OfLocation, Want: OnOff, Protects: Harmless},
		{Name: "proxy-http-version", Doc: "HTTP version for requests to pods.", Risk: Low, Scope: OfLocation, Want: OneOf("1.0", "1.1"), Protects: Harmless},
		{Name: "proxy-cookie-domain", Doc: "Domain in the cookies of pods to replace, and its replacement.", Risk: Medium, Scope: OfLocation, Want: cookieDomain, Protects: Harmless},
		{Name: "proxy-cookie-path", Doc: "Path in the cookies of pods to replace, and its replacement.", Risk: Medium, Scope: OfLocation, Want: cookiePath, Protects: Harmless},
		{Name: "proxy-next-upstream", Doc: "Errors after which the request is passed to the next pod.", Risk: Medium, Scope: OfLocation, Want: nextUpstream, Protects: Harmless},
		{Name: "proxy-next-upstream-timeout", Doc: "Seconds within which the next pod may be tried; 0: no limit.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "proxy-next-upstream-tries", Doc: "Maximum number of pods to try; 0: no limit.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "proxy-redirect-from", Doc: "Text to replace in the redirects of pods; off and default as in nginx.", Risk: Medium, Scope: OfLocation, Want: URL, Protects: Harmless},
		{Name: "proxy-redirect-to", Doc: "Its replacement.", Risk: Medium, Scope: OfLocation, Want: URL, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		c := r.options.Config
		set.Proxy = Proxy{
			BodySize:             r.text("proxy-body-size", c.ProxyBodySize),
			BufferSize:           r.text("proxy-buffer-size", c.ProxyBufferSize),
			BuffersNumber:        r.number("proxy-buffers-number", c.ProxyBuffersNumber),
			BusyBuffersSize:      r.text("proxy-busy-buffers-size", c.ProxyBusyBuffersSize),
			ConnectTimeout:       r.number("proxy-connect-timeout", c.ProxyConnectTimeout),
			CookieDomain:         r.text("proxy-cookie-domain", c.ProxyCookieDomain),
			CookiePath:           r.text("proxy-cookie-path", c.ProxyCookiePath),
			NextUpstream:         words(r.text("proxy-next-upstream", c.ProxyNextUpstream)),
			NextUpstreamTimeout:  r.number("proxy-next-upstream-timeout", c.ProxyNextUpstreamTimeout),
			NextUpstreamTries:    r.number("proxy-next-upstream-tries", c.ProxyNextUpstreamTries),
			ProxyBuffering:       r.text("proxy-buffering", c.ProxyBuffering),
			ProxyHTTPVersion:     r.text("proxy-http-version", c.ProxyHTTPVersion),
			ProxyMaxTempFileSize: r.text("proxy-max-temp-file-size", c.ProxyMaxTempFileSize),
			ProxyRedirectFrom:    r.text("proxy-redirect-from", c.ProxyRedirectFrom),
			ProxyRedirectTo:      r.text("proxy-redirect-to", c.ProxyRedirectTo),
			ReadTimeout:          r.number("proxy-read-timeout", c.ProxyReadTimeout),
			RequestBuffering:     r.text("proxy-request-buffering", c.ProxyRequestBuffering),
			SendTimeout:          r.number("proxy-send-timeout", c.ProxySendTimeout),
		}
		r.fitBuffers(&set.Proxy)
	},
}

// words returns the words of a text, separated by single spaces.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
