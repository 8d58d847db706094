package nginx

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"windtunnel.dev/internal/tempdir"
)

// answer is nginx's answer about a module.
type answer struct {
	usable    bool
	file      string // to be loaded; "" if the module is linked in
	rejection string // nginx's message when it rejects the module's file
}

// asked caches the answers for this process. The key changes when the binary or its modules folder
// changes. Asking takes about 100 ms.
var asked struct {
	sync.Mutex
	of map[string]map[string]answer
}

// modules determines which modules of the catalogue nginx has, linked in or as files in its modules
// folder. It tests their directives with `nginx -t`.
func (n *Nginx) modules() (map[string]answer, error) {
	asked.Lock()
	defer asked.Unlock()
	key := stamp(n.Binary) + stamp(n.ModulesPath)
	if known, ok := asked.of[key]; ok {
		return known, nil
	}
	dir, err := tempdir.Make("nginx-modules")
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	all := slices.Sorted(maps.Keys(catalogue))
	answers, err := n.ask(dir.Path, all)
	if err != nil {
		// The error names no line. One of the modules may cause it.
		answers, err = n.askEach(dir.Path, all)
	}
	if err != nil {
		return nil, fmt.Errorf("asking %s for its modules: %w", n.Binary, err)
	}
	if asked.of == nil {
		asked.of = make(map[string]map[string]answer)
	}
	asked.of[key] = answers
	return answers, nil
}

// stamp returns a text that changes when a file does.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path + "\n"
	}
	return fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
}

// askEach asks for each module separately. It returns an error if nginx rejects even a
// configuration without modules.
func (n *Nginx) askEach(dir string, names []string) (map[string]answer, error) {
	if _, err := n.ask(dir, nil); err != nil {
		return nil, err
	}
	answers := make(map[string]answer)
	for _, name := range names {
		own, err := n.ask(dir, inOrder([]string{name}))
		answers[name] = own[name]
		if err != nil {
			answers[name] = answer{rejection: err.Error()}
		}
	}
	return answers, nil
}

// ask asks for several modules at once. The configuration contains a directive of each module, and
// a load_module line if there is a file. If nginx rejects a line, that is its answer for the line's
// module, and ask repeats the test without the line. It returns an error if nginx names no line.
func (n *Nginx) ask(dir string, names []string) (map[string]answer, error) {
	q := n.question(dir, inOrder(names))
	conf := filepath.Join(dir, "nginx.conf")
	for {
		if err := os.WriteFile(conf, q.text(), 0o600); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		err := n.test(ctx, conf)
		cancel()
		if err == nil {
			return n.answers(q, names), nil
		}
		why, place, found := strings.Cut(err.Error(), " in "+conf+":")
		number, notNumber := strconv.Atoi(place)
		if !found || notNumber != nil || number < 1 || number > len(q) || q[number-1].kind == frame {
			return nil, err
		}
		_, why, _ = strings.Cut(why, "[emerg] ")
		q.reject(number-1, why)
	}
}

// question is a test configuration, line by line.
type question []line

type line struct {
	text      string
	module    string
	kind      kind
	rejection string
	out       bool // nginx rejected it
	known     bool // nginx rejected the line, but has the module
}

// streamBlock is the first line of the stream module's block.
const streamBlock = "stream {"

type kind int

const (
	frame     kind = iota // every nginx knows it
	optional              // nginx may be built without it
	load                  // loads the file of a module
	directive             // a directive of a module
)

// reject drops line i, which nginx rejected. If it is the first line of the stream block, which
// comes last, reject drops the whole block.
func (q question) reject(i int, why string) {
	l := &q[i]
	l.out, l.rejection = true, why
	l.known = l.kind == directive && !strings.HasPrefix(why, "unknown directive") &&
		(catalogue[l.module].elsewhere || !strings.HasSuffix(why, "is not allowed here")) // http and stream may have directives of the same name
	if l.kind == load && strings.HasSuffix(why, "is already loaded") {
		l.known, l.rejection = true, "" // the module is linked in
	}
	if l.text == streamBlock {
		for rest := i + 1; rest < len(q); rest++ {
			q[rest].out = true
		}
	}
}

func (q question) text() []byte {
	var text []byte
	for _, l := range q {
		if !l.out {
			text = append(text, l.text...)
		}
		text = append(text, '\n')
	}
	return text
}

func (n *Nginx) question(dir string, names []string) question {
	var q question
	add := func(kind kind, module string, lines ...string) {
		for _, text := range lines {
			q = append(q, line{text: text, kind: kind, module: module})
		}
	}
	directives := func(block string) {
		for _, name := range names {
			if m := catalogue[name]; m.block == block && m.directive != "" && name != "stream" {
				add(directive, name, m.directive+";")
			}
		}
	}
	for _, name := range names {
		if file := n.moduleFile(name); exists(file) {
			add(load, name, fmt.Sprintf("load_module %q;", file))
		}
	}
	add(frame, "", "error_log stderr;", fmt.Sprintf("pid %q;", filepath.Join(dir, "pid")))
	directives("")
	add(frame, "", "events {}", "http {")
	for _, path := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		add(optional, "", fmt.Sprintf("%s_temp_path %q;", path, filepath.Join(dir, path)))
	}
	directives("http")
	add(frame, "", "}")
	if slices.Contains(names, "stream") {
		add(directive, "stream", streamBlock)
		directives("stream")
		add(directive, "stream", "}")
	}
	return q
}

// answers returns the answers once nginx accepts the remaining lines.
func (n *Nginx) answers(q question, names []string) map[string]answer {
	found := make(map[string]answer)
	for _, name := range names {
		var a answer
		for _, l := range q {
			if l.module != name {
				continue
			}
			a.usable = a.usable || l.known || !l.out
			switch {
			case l.kind != load:
			case l.out:
				a.rejection = l.rejection
			default:
				a.file = n.moduleFile(name)
			}
		}
		found[name] = a
	}
	if needs := found["ndk_http"]; !needs.usable && (found["http_lua"].usable || found["http_set_misc"].usable) {
		found["ndk_http"] = answer{usable: true} // it has no directive, but modules that need it are usable
	}
	return found
}
