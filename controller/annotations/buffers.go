package annotations

import "windtunnel.dev/controller/options"

// fitBuffers ignores buffer sizes that conflict with one another, until the rest is consistent.
// nginx would reject the whole configuration otherwise.
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
