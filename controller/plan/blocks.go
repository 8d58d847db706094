package plan

import (
	"slices"
	"strings"

	"windtunnel.dev/controller/conf"
)

// block identifies a block of nginx.conf: a server, a location, and the innermost block if it is
// neither (upstream x, map $a $b, if …).
type block struct {
	server, location, inner string
}

// outer returns the block that contains this one.
func (p block) outer() block {
	switch {
	case p.inner != "":
		return block{server: p.server, location: p.location}
	case p.location != "":
		return block{server: p.server}
	}
	return block{}
}

// lines groups the lines of nginx.conf by block. order lists the blocks in the order of the file.
type lines struct {
	at    map[block]*content
	order []block
}

// content contains the lines directly in a block.
type content struct{ lines []string }

// split groups the lines of nginx.conf by block. It relies on the layout that both render and
// ingress-nginx use: blocks open and close at the end of a line, and server_name precedes the
// locations. TCP and UDP servers have no name and are identified by their port. The text may lack
// the http block around its servers.
func split(text conf.Text) lines {
	l := lines{at: make(map[block]*content)}
	var around []string // the open blocks, outermost first
	server := ""
	innermost := l.content(block{})                  // nil if it must be looked up
	for line := range strings.Lines(text.String()) { // substrings, not copies
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasSuffix(line, "{"):
			around = append(around, strings.TrimSpace(strings.TrimSuffix(line, "{")))
			innermost = l.content(within(server, around))
		case line == "}":
			if last := len(around) - 1; last >= 0 {
				if around[last] == "server" {
					server = ""
				}
				around = around[:last]
			}
			innermost = nil
		default:
			if server == "" && len(around) > 0 && around[len(around)-1] == "server" {
				server, innermost = serverName(around[0], line), nil
			}
			if innermost == nil {
				innermost = l.content(within(server, around))
			}
			innermost.lines = append(innermost.lines, line)
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

func within(server string, around []string) block {
	at := block{server: server}
	for _, block := range slices.Backward(around) {
		if location, ok := strings.CutPrefix(block, "location "); ok {
			at.location = location
			break
		}
		if at.inner == "" && block != "http" && block != "server" && (block != "stream" || server == "") {
			at.inner = block
		}
	}
	return at
}

// content returns the content of a block. It adds the block if it is new.
func (l *lines) content(at block) *content {
	have := l.at[at]
	if have == nil {
		have = new(content)
		l.at[at] = have
		l.order = append(l.order, at)
	}
	return have
}

func (l lines) has(at block) bool {
	_, known := l.at[at]
	return known
}
