package annotations

import "windtunnel.dev/controller/options"

// fitBuffers ignores conflicting buffer sizes until the rest is consistent. Otherwise nginx would
// reject the whole configuration.
func (r *reader) fitBuffers(p *Proxy) {
	c := &r.options.Config
	for _, given := range []struct {
		name   string
		ignore func()
	}{
		{"proxy-busy-buffers-size", func() { p.BusyBuffersSize = c.ProxyBusyBuffersSize }},
		{"proxy-max-temp-file-size", func() { p.ProxyMaxTempFileSize = c.ProxyMaxTempFileSize }},
		{"proxy-buffers-number", func() { p.BuffersNumber = c.ProxyBuffersNumber }},
		{"proxy-buffer-size", func() { p.BufferSize = c.ProxyBufferSize }},
	} {
		why := options.Buffers{Number: p.BuffersNumber, Size: p.BufferSize, Busy: p.BusyBuffersSize, MaxTempFile: p.ProxyMaxTempFileSize}.Misfit()
		if why == "" {
			return
		}
		if r.has(given.name) {
			given.ignore()
			r.ignore(given.name, why)
		}
	}
}
