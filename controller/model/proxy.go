package model

import "windtunnel.dev/controller/options"

func proxyOf(c options.Config) Proxy {
	return Proxy{
		BodySize:             c.ProxyBodySize,
		BufferSize:           c.ProxyBufferSize,
		BuffersNumber:        c.ProxyBuffersNumber,
		BusyBuffersSize:      c.ProxyBusyBuffersSize,
		ConnectTimeout:       c.ProxyConnectTimeout,
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
		ReadTimeout:          c.ProxyReadTimeout,
		RequestBuffering:     c.ProxyRequestBuffering,
		SendTimeout:          c.ProxySendTimeout,
	}
}
