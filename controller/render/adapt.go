package render

import (
	"bytes"
	"path"
	"strings"

	"windtunnel.dev/controller/options"
)

// adapt makes the output of a user's template, written for ingress-nginx's image, work on this
// machine. It moves the image's paths below the root, loads the modules that the image's nginx has
// linked in, removes a directive that nginx before 1.25.1 does not know, and removes the parts that
// need stream-lua if nginx lacks it.
func adapt(conf []byte, in Input) []byte {
	conf, _ = withoutStreamLua(conf, in.Options.Stream)
	var out bytes.Buffer
	loaded := make(map[string]bool)
	for line := range bytes.Lines(conf) {
		text := string(line)
		switch word, _ := directive(text); {
		case word == "http2" && !in.HTTP2Directive:
			continue // it is a parameter of listen; see buildHTTPSListener
		case word == "lua_package_path" && in.Options.ForeignLua:
			text = withLuaFallback(in.Options.Rebase(text), in.Options)
		case word == "load_module":
			_, value := directive(uncommented(text))
			file := strings.Trim(value, `"'`)
			if rest, ok := strings.CutPrefix(file, imageModules); ok && in.ModulesPath != "" {
				text = strings.Replace(text, file, path.Join(in.ModulesPath, rest), 1)
			}
			loaded[path.Base(file)] = true
		case !aboutRequests[word]:
			text = in.Options.Rebase(text)
		}
		out.WriteString(text)
	}
	return append(loadLines(in.Modules, loaded), out.Bytes()...)
}

// withLuaFallback appends the folder of our substitutes for libraries to a lua_package_path line.
func withLuaFallback(line string, opts options.Options) string {
	end := strings.LastIndexByte(line, ';')
	if end < 0 {
		return line
	}
	value := strings.TrimRight(line[:end], " ")
	quote := ""
	if last := len(value) - 1; strings.HasSuffix(value, `"`) || strings.HasSuffix(value, "'") {
		value, quote = value[:last], value[last:]
	}
	return strings.TrimSuffix(value, ";") + ";" + opts.LuaFallback() + quote + line[end:]
}

// imageModules is the folder of modules in ingress-nginx's image.
const imageModules = "/etc/nginx/modules/"

// loadLines returns load_module lines for the files that the template does not load itself.
func loadLines(files []string, loaded map[string]bool) []byte {
	var lines []byte
	for _, file := range files {
		if !loaded[path.Base(file)] {
			lines = append(lines, "load_module "+quote(file)+";\n"...)
		}
	}
	return lines
}

// directive splits a line into its first word and the rest.
func directive(line string) (word, value string) {
	line = strings.TrimRight(strings.TrimSpace(line), "; {")
	word, value, _ = strings.Cut(line, " ")
	return word, strings.TrimSpace(value)
}

// aboutRequests are directives whose paths are those of requests, not of files.
var aboutRequests = map[string]bool{"location": true, "set": true, "if": true, "rewrite": true, "return": true, "server_name": true}
