package plan

import (
	"slices"
	"strings"
)

// place identifies a block of nginx.conf: a server, a location, and the innermost block if that is
// neither (upstream x, map $a $b, if …).
type place struct {
	server, location, block string
}

// outer returns the place that contains this one.
func (p place) outer() place {
	switch {
	case p.block != "":
		return place{server: p.server, location: p.location}
	case p.location != "":
		return place{server: p.server}
	}
	return place{}
}

// lines groups the lines of nginx.conf by place. order has the places in the order of the file.
type lines struct {
	at    map[place][]string
	order []place
}

// split groups the lines of nginx.conf by place. It relies on the layout that both render and
// ingress-nginx use: blocks open and close at the end of a line, and server_name precedes the
// locations. TCP and UDP servers have no name and are identified by their port.
func split(conf []byte) lines {
	l := lines{at: make(map[place][]string)}
	var around []string // the open blocks, outermost first
	server := ""
	l.add(place{}, "")
	for line := range strings.Lines(string(conf)) { // substrings, not copies
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasSuffix(line, "{"):
			around = append(around, strings.TrimSpace(strings.TrimSuffix(line, "{")))
			l.add(within(server, around), "")
		case line == "}":
			if last := len(around) - 1; last >= 0 {
				if around[last] == "server" {
					server = ""
				}
				around = around[:last]
			}
		default:
			if server == "" && len(around) > 0 && around[len(around)-1] == "server" {
				server = serverName(around[0], line)
			}
			l.add(within(server, around), line)
		}
	}
	return l
}

// serverName returns the server name that a line sets, or "".
func serverName(subsystem, line string) string {
	line = strings.TrimSuffix(line, ";")
	if name, ok := strings.CutPrefix(line, "server_name "); ok {
		first, _, _ := strings.Cut(name, " ") // the aliases follow
		return strings.Trim(first, `"`)
	}
	if listen, ok := strings.CutPrefix(line, "listen "); ok && subsystem == "stream" {
		address, options, _ := strings.Cut(listen, " ")
		if strings.HasPrefix(options, "udp") {
			address += " (UDP)"
		}
		return address
	}
	return ""
}

func within(server string, around []string) place {
	at := place{server: server}
	for _, block := range slices.Backward(around) {
		if location, ok := strings.CutPrefix(block, "location "); ok {
			at.location = location
			break
		}
		if at.block == "" && block != "http" && block != "server" && (block != "stream" || server == "") {
			at.block = block
		}
	}
	return at
}

// add adds a line to a place. An empty line only adds the place.
func (l *lines) add(at place, line string) {
	have, known := l.at[at]
	if !known {
		l.order = append(l.order, at)
	}
	if line != "" {
		have = append(have, line)
	}
	l.at[at] = have
}

func (l lines) has(at place) bool {
	_, known := l.at[at]
	return known
}
