package options

import (
	"math"
	"strconv"
	"strings"
)

// Bytes reads a size as nginx writes it (512, 8k, 1m, 2g); 0 for none.
func Bytes(size string) int64 {
	number := strings.TrimRight(size, "kKmMgG")
	unit := int64(1)
	switch strings.ToLower(strings.TrimPrefix(size, number)) {
	case "k":
		unit = 1 << 10
	case "m":
		unit = 1 << 20
	case "g":
		unit = 1 << 30
	}
	value, err := strconv.ParseInt(number, 10, 64)
	if err != nil && value > 0 || value > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return value * unit
}

// MostBuffered is how many bytes of memory nginx may hold of one request or
// answer. A request must not take the memory of the others.
const MostBuffered = 128 << 20

// Buffers say what nginx holds of a pod's answer. Sizes are as nginx writes them.
type Buffers struct {
	Number      int    // proxy-buffers-number
	Size        string // proxy-buffer-size
	Busy        string // proxy-busy-buffers-size; empty is nginx's own
	MaxTempFile string // proxy-max-temp-file-size; empty is nginx's own
}

// Misfit says what nginx finds wrong with the sizes of buffers
// (ngx_http_proxy_module), or what takes too much memory; empty if nothing.
func (b Buffers) Misfit() string {
	one, busy, file := Bytes(b.Size), Bytes(b.Busy), Bytes(b.MaxTempFile)
	if b.Busy == "" {
		busy = 2 * one // nginx's own
	}
	switch {
	case one < 1:
		return "a buffer has no size"
	case one > MostBuffered/int64(max(b.Number, 1)):
		return "all buffers together are more than 128m"
	case busy < one:
		return "what may be busy (proxy-busy-buffers-size) is less than a buffer"
	case busy > int64(b.Number-1)*one:
		return "what may be busy (proxy-busy-buffers-size) is more than all buffers but one"
	case b.MaxTempFile != "" && file != 0 && (file < one || file < busy):
		return "proxy-max-temp-file-size is less than a buffer, or than what may be busy"
	}
	return ""
}
