package options

import (
	"fmt"
	"strconv"
)

// LongestText is the maximum length of a value, in bytes, as quoted in nginx.conf.
// nginx reads a parameter into a buffer of 4096 bytes (NGX_CONF_BUFFER), and some
// parameters contain more than the value.
const LongestText = 2000

// longestFormat is the maximum length of a log format, which is a separate parameter without
// quotes.
const longestFormat = 4000

// TooLong returns why a text does not fit into nginx.conf; empty if it fits.
func TooLong(text string) string {
	if len(text) > LongestText || len(strconv.Quote(text)) > LongestText {
		return fmt.Sprintf("it does not fit into nginx.conf: want at most %d bytes, quotes and backslashes counting twice", LongestText)
	}
	return ""
}
