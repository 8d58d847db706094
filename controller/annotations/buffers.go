package annotations

import (
	"strconv"
	"strings"
)

// fitBuffers ignores sizes that do not go together, until the rest does:
// nginx would refuse the whole configuration.
func (r *reader) fitBuffers(p *Proxy) {
	c := r.options.Config
	for _, given := range []struct {
		name   string
		ignore func()
	}{
		{"proxy-busy-buffers-size", func() { p.BusyBuffersSize = c.ProxyBusyBuffersSize }},
		{"proxy-max-temp-file-size", func() { p.ProxyMaxTempFileSize = c.ProxyMaxTempFileSize }},
		{"proxy-buffers-number", func() { p.BuffersNumber = c.ProxyBuffersNumber }},
		{"proxy-buffer-size", func() { p.BufferSize = c.ProxyBufferSize }},
	} {
		why := misfit(*p)
		if why == "" {
			return
		}
		if r.has(given.name) {
			given.ignore()
			r.ignore(given.name, why)
		}
	}
}

// misfit says what nginx finds wrong with the sizes of buffers, empty if
// nothing (ngx_http_proxy_module).
func misfit(p Proxy) string {
	one, busy, file := bytes(p.BufferSize), bytes(p.BusyBuffersSize), bytes(p.ProxyMaxTempFileSize)
	others := int64(p.BuffersNumber-1) * one
	if p.BusyBuffersSize == "" {
		busy = 2 * one // nginx's own
	}
	switch {
	case one < 1:
		return "a buffer has no size"
	case busy < one:
		return "what may be busy (proxy-busy-buffers-size) is less than a buffer"
	case busy > others:
		return "what may be busy (proxy-busy-buffers-size) is more than all buffers but one"
	case p.ProxyMaxTempFileSize != "" && file != 0 && file < one:
		return "proxy-max-temp-file-size is less than a buffer"
	}
	return ""
}

// bytes reads a size as nginx writes it; 0 for none.
func bytes(size string) int64 {
	unit := int64(1)
	number := strings.TrimRight(size, "kKmM")
	switch strings.ToLower(strings.TrimPrefix(size, number)) {
	case "k":
		unit = 1 << 10
	case "m":
		unit = 1 << 20
	}
	value, _ := strconv.ParseInt(number, 10, 64)
	return value * unit
}
