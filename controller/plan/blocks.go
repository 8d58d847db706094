package plan

import (
	"slices"
	"strings"
)

// place is where a line of nginx.conf stands: a server and location, and the
// innermost block if that is another one (upstream x, map $a $b, if …).
type place struct {
	server, location, block string
}

// outer is the place around this one.
func (p place) outer() place {
	switch {
	case p.block != "":
		return place{server: p.server, location: p.location}
	case p.location != "":
		return place{server: p.server}
	}
	return place{}
}

// lines are the lines of nginx.conf by place, places in the order of the file.
type lines struct {
	at    map[place][]string
	order []place
}

// split sorts the lines of nginx.conf by place. It reads the file as render
// writes it and as ingress-nginx does: a block opens and closes at the end of
// a line, and a server says its name before its locations. A TCP or UDP server,
// which has none, goes by its port.
func split(conf []byte) lines {
	l := lines{at: make(map[place][]string)}
	var around []string // the blocks that are open
	server := ""
	l.add(place{}, "")
	for line := range strings.Lines(string(conf)) { // parts of one string
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

// serverName is the name that a line gives to its server, if it gives one.
func serverName(subsystem, line string) string {
	line = strings.TrimSuffix(line, ";")
	if name, ok := strings.CutPrefix(line, "server_name "); ok {
		first, _, _ := strings.Cut(name, " ") // its aliases follow
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

// add notes a line, and a place even when it has no line.
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
