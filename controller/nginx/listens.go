package nginx

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	listens  = regexp.MustCompile(`(?m)(?:^|[{};])\s*listen\s+["']?([^\s;"']+)`)
	includes = regexp.MustCompile(`(?m)(?:^|[{};])\s*include\s+["']?([^\s;"']+)`)
)

// Distributed are files of nginx's distribution that configurations include.
var Distributed = []string{"mime.types", "fastcgi_params"}

// CheckStatus returns an error for a configuration that does not listen on the port of the status
// server, which receives the data for Lua: nginx -t accepts it, but no sync can complete. It
// returns nil if the configuration includes other files, because they may listen there.
func CheckStatus(conf []byte, port int) error {
	for _, found := range includes.FindAllSubmatch(conf, -1) {
		if !slices.Contains(Distributed, path.Base(string(found[1]))) {
			return nil
		}
	}
	for _, found := range listens.FindAllSubmatch(conf, -1) {
		if covers(string(found[1]), port) {
			return nil
		}
	}
	return fmt.Errorf("nothing listens at the status port, where the controller sends the backends: add a server with `listen 127.0.0.1:%d;`, in a template `listen 127.0.0.1:{{ .StatusPort }};`", port)
}

// covers reports whether the address of a listen directive includes a port. It is ADDRESS:PORT,
// ADDRESS, PORT, or has a range of ports.
func covers(address string, port int) bool {
	first, last, isRange := strings.Cut(address[strings.LastIndex(address, ":")+1:], "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	to, err := strconv.Atoi(last)
	return err == nil && from <= port && port <= to
}
