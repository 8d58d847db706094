package render

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"windtunnel.dev/controller/options"
)

// adapt makes what a user's template wrote for ingress-nginx's image fit this
// machine: paths of the image are below the root, modules that the image's
// nginx has linked in are loaded, and an nginx before 1.25.1 gets no directive
// that it does not know.
func adapt(conf []byte, in Input) []byte {
	var out bytes.Buffer
	loaded := make(map[string]bool)
	for line := range bytes.Lines(conf) {
		text := string(line)
		switch word, value := directive(text); {
		case word == "http2" && !in.HTTP2Directive:
			continue // a parameter of listen says it: see buildHTTPSListener
		case word == "load_module":
			file := strings.Trim(value, `"'`)
			if rest, ok := strings.CutPrefix(file, imageModules); ok && in.ModulesPath != "" {
				text = strings.Replace(text, file, path.Join(in.ModulesPath, rest), 1)
			}
			loaded[path.Base(file)] = true
		case !aboutRequests[word]:
			text = rebase(text, in.Options)
		}
		out.WriteString(text)
	}
	return append(loadLines(in.Modules, loaded), out.Bytes()...)
}

// imageModules is where ingress-nginx's image has its modules.
const imageModules = "/etc/nginx/modules/"

// loadLines load the modules that the template itself does not.
func loadLines(files []string, loaded map[string]bool) []byte {
	var lines []byte
	for _, file := range files {
		if !loaded[path.Base(file)] {
			lines = append(lines, "load_module "+quote(file)+";\n"...)
		}
	}
	return lines
}

// directive is the first word of a line, and what it is given.
func directive(line string) (word, value string) {
	line = strings.TrimRight(strings.TrimSpace(line), "; {")
	word, value, _ = strings.Cut(line, " ")
	return word, strings.TrimSpace(value)
}

// aboutRequests are the directives whose paths are those of requests.
var aboutRequests = map[string]bool{"location": true, "set": true, "if": true, "rewrite": true, "return": true, "server_name": true}

// absolutePath finds paths that are not a part of a longer one.
var absolutePath = regexp.MustCompile(`(?:^|[^\w./-])/[\w./?*-]*`)

// rebase puts the image's paths in a line below the root.
func rebase(line string, opts options.Options) string {
	if opts.Root == "" {
		return line
	}
	return absolutePath.ReplaceAllStringFunc(line, func(found string) string {
		start := strings.IndexByte(found, '/')
		file := found[start:]
		if file == opts.Root || strings.HasPrefix(file, opts.Root+"/") {
			return found // a value that the template was given, and is there already
		}
		moved := opts.Path(file)
		if moved != file && strings.HasSuffix(file, "/") {
			moved += "/"
		}
		return found[:start] + moved
	})
}
