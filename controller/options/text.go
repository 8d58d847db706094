package options

import (
	"fmt"
	"strconv"
)

// LongestText is how many bytes a value may have as nginx.conf quotes it. nginx
// reads a parameter into a buffer of 4096 bytes (NGX_CONF_BUFFER), and some
// parameters are made of a value and more.
const LongestText = 2000

// longestFormat is that of a log's format, which stands alone and unquoted.
const longestFormat = 4000

// TooLong says why a text does not fit into nginx.conf; empty if it does.
func TooLong(text string) string {
	if len(text) > LongestText || len(strconv.Quote(text)) > LongestText {
		return fmt.Sprintf("it does not fit into nginx.conf: want at most %d bytes, quotes and backslashes counting twice", LongestText)
	}
	return ""
}
