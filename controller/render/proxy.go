package render

import (
	"fmt"

	"windtunnel.dev/controller/annotations"
)

// proxyBuffers returns the directives for response buffers of a module that buffers (proxy,
// fastcgi). It omits invalid sizes, for which nginx's defaults apply.
func proxyBuffers(module string, p annotations.Proxy) []string {
	var lines []string
	line := func(directive, value string) {
		lines = append(lines, fmt.Sprintf("%s_%s %s;", module, directive, value))
	}
	if isValidByteSize(p.BufferSize, false) {
		line("buffer_size", p.BufferSize)
		line("buffers", fmt.Sprintf("%d %s", p.BuffersNumber, p.BufferSize))
	}
	if isValidByteSize(p.BusyBuffersSize, false) {
		line("busy_buffers_size", p.BusyBuffersSize)
	}
	if isValidByteSize(p.ProxyMaxTempFileSize, false) {
		line("max_temp_file_size", p.ProxyMaxTempFileSize)
	}
	return lines
}
