package render

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Templates for ingress-nginx's image use stream-lua in their stream block, which many nginx
// packages lack.

// withoutStreamLua removes the parts of a template's stream block that nginx does not support:
// without stream-lua, the directives that need it, the servers and upstreams that contain one, and
// the servers that pass to such an upstream; without the stream module, the whole block. It reports
// whether it removed anything. The configuration has the layout of indent.
func withoutStreamLua(conf []byte, has options.Stream) (kept []byte, leftOut bool) {
	if has == options.LuaStream {
		return conf, false
	}
	var out bytes.Buffer
	for _, statement := range statements(conf) {
		switch {
		case !streamBlock.MatchString(uncommented(statement)):
		case has == options.NoStream:
			leftOut = true
			continue
		default:
			var dropped bool
			statement, dropped = plainStream(statement)
			leftOut = leftOut || dropped
		}
		out.WriteString(statement)
	}
	return out.Bytes(), leftOut
}

var (
	streamBlock   = regexp.MustCompile(`^\s*stream\s*\{`)
	needsLua      = regexp.MustCompile(`(?m)(?:^|[;{}])[ \t]*(?:lua_\w+|\w+_by_lua(?:_block|_file)?)\s`)
	luaVariable   = regexp.MustCompile(`^\s*lua_add_variable\s+(\$\w+)\s*;`)
	upstreamBlock = regexp.MustCompile(`^\s*upstream\s+([^\s{]+)`)
	passes        = regexp.MustCompile(`(?m)(?:^|[;{}])[ \t]*proxy_pass\s+([^\s;]+)\s*;`)
)

// plainStream returns a stream block without the parts that need stream-lua, and whether it removed
// any.
func plainStream(block string) (kept string, leftOut bool) {
	open := strings.IndexByte(block, '{') + 1
	end := strings.LastIndexByte(block, '}')
	if end < open {
		return block, false
	}
	var rest, upstreams []string
	for _, statement := range statements([]byte(block[open:end])) {
		code := uncommented(statement)
		if variable := luaVariable.FindStringSubmatch(code); variable != nil {
			// Log formats and snippets may use the variable, so it must exist.
			rest, leftOut = append(rest, fmt.Sprintf("\n\tmap \"\" %s {\n\t\tdefault \"\";\n\t}\n", variable[1])), true
			continue
		}
		if !needsLua.MatchString(code) {
			rest = append(rest, statement)
			continue
		}
		leftOut = true
		if upstream := upstreamBlock.FindStringSubmatch(code); upstream != nil {
			upstreams = append(upstreams, upstream[1])
		}
	}
	rest = slices.DeleteFunc(rest, func(statement string) bool {
		to := passes.FindStringSubmatch(uncommented(statement))
		return to != nil && slices.Contains(upstreams, to[1])
	})
	return block[:open] + strings.Join(rest, "") + block[end:], leftOut
}

// statements splits a configuration into its outermost directives and blocks. Each begins with the
// comments before it.
func statements(conf []byte) []string {
	var all []string
	begin, at, depth := 0, 0, 0
	for line := range bytes.Lines(conf) {
		at += len(line)
		code := uncommented(string(line))
		depth += strings.Count(code, "{") - strings.Count(code, "}")
		if code = strings.TrimSpace(code); depth <= 0 && (strings.HasSuffix(code, ";") || strings.HasSuffix(code, "}")) {
			all = append(all, string(conf[begin:at]))
			begin = at
		}
	}
	if begin < len(conf) {
		all = append(all, string(conf[begin:]))
	}
	return all
}

// uncommented returns a text without its comments.
func uncommented(text string) string {
	if !strings.Contains(text, "#") {
		return text // most lines
	}
	var code strings.Builder
	for line := range strings.Lines(text) {
		code.WriteString(uncommentedLine(line))
	}
	return code.String()
}

// uncommentedLine returns a line without its comment. A comment begins only between words.
func uncommentedLine(line string) string {
	for at := range len(line) {
		if line[at] != '#' || at > 0 && !strings.ContainsRune("\t\n\f\r ;{}", rune(line[at-1])) {
			continue
		}
		if strings.HasSuffix(line, "\n") {
			return line[:at] + "\n"
		}
		return line[:at]
	}
	return line
}

// streamFindings reports the parts of a template's stream block that are removed.
func streamFindings(m *model.Model, in Input) []model.Finding {
	if in.Template == nil || in.Options.Stream == options.LuaStream {
		return nil
	}
	few := *m // the stream block does not depend on servers, so render none
	few.Servers, few.RedirectServers, few.Backends = nil, nil, model.BackendList{}
	text, err := in.Template.execute(newRoot(&few, in))
	if err != nil {
		return nil // Render returns it
	}
	if _, leftOut := withoutStreamLua(indent(text), in.Options.Stream); !leftOut {
		return nil
	}
	module, without := "stream_lua", "its parts that need it are left out, so it serves no TCP and UDP services"
	if in.Options.Stream == options.NoStream {
		module, without = "stream", "it is left out, so no TCP and UDP services are served"
	}
	return []model.Finding{{Object: "--nginx-template", Key: "stream", Reason: fmt.Sprintf("this nginx has no module %s for the stream block; %s", module, without)}}
}
