package options

import (
	"math"
	"strconv"
	"strings"
)

// Bytes parses a size in nginx's notation (512, 8k, 1m, 2g); 0 if it is not one.
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

// MostBuffered is the maximum memory, in bytes, in which nginx may buffer one request
// or response. One request must not use up the memory of the others.
const MostBuffered = 128 << 20

// Buffers are the buffers for a pod's response. Sizes are in nginx's notation.
type Buffers struct {
	Number      int    // proxy-buffers-number
	Size        string // proxy-buffer-size
	Busy        string // proxy-busy-buffers-size; empty: nginx's default
	MaxTempFile string // proxy-max-temp-file-size; empty: nginx's default
}

// Misfit returns why nginx would reject the buffer sizes (ngx_http_proxy_module), or that they need
// too much memory; empty if they are valid.
func (b Buffers) Misfit() string {
	one, busy, file := Bytes(b.Size), Bytes(b.Busy), Bytes(b.MaxTempFile)
	if b.Busy == "" {
		busy = 2 * one // nginx's default
	}
	switch {
	case one < 1:
		return "a buffer has no size"
	case one > MostBuffered/int64(max(b.Number, 1)):
		return "all buffers together exceed 128m"
	case busy < one:
		return "proxy-busy-buffers-size is smaller than a buffer"
	case busy > int64(b.Number-1)*one:
		return "proxy-busy-buffers-size is larger than all buffers but one"
	case b.MaxTempFile != "" && file != 0 && (file < one || file < busy):
		return "proxy-max-temp-file-size is smaller than a buffer or proxy-busy-buffers-size"
	}
	return ""
}
