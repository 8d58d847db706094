package nginx

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// build is the output of `nginx -V`.
type build struct {
	version   string
	arguments []string // without their quotes
}

var (
	versionLine   = regexp.MustCompile(`(?m)^nginx version: \S+?/(\d{1,9}(?:\.\d{1,9}){1,3})`)
	argumentsLine = regexp.MustCompile(`(?m)^configure arguments:(.*)$`)
	argument      = regexp.MustCompile(`(?:[^\s']|'[^']*')+`)
)

func parseBuild(text string) (build, error) {
	version := versionLine.FindStringSubmatch(text)
	if version == nil {
		return build{}, errors.New("no line `nginx version: …` in the answer: is this nginx?")
	}
	b := build{version: version[1]}
	if line := argumentsLine.FindStringSubmatch(text); line != nil {
		for _, word := range argument.FindAllString(line[1], -1) {
			b.arguments = append(b.arguments, strings.ReplaceAll(word, "'", ""))
		}
	}
	return b, nil
}

// argument returns the value of --name=value; --name alone has the value "".
func (b build) argument(name string) (string, bool) {
	for _, a := range b.arguments {
		if key, value, _ := strings.Cut(a, "="); key == "--"+name {
			return value, true
		}
	}
	return "", false
}

// path returns a path from nginx's build options, or its default. Relative paths are below the
// prefix.
func (b build) path(name, otherwise string) string {
	prefix, ok := b.argument("prefix")
	if !ok {
		prefix = "/usr/local/nginx"
	}
	path, ok := b.argument(name)
	if !ok {
		path = otherwise
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(prefix, path)
	}
	return filepath.Clean(path)
}

func (b build) modulesPath() string { return b.path("modules-path", "modules") }

// File returns the path of a file of nginx's distribution, for example mime.types. It looks in the
// folder of nginx.conf and, because nginx may have been moved after the build, in ../conf relative
// to the binary. The error wraps fs.ErrNotExist if there is no such file.
func (n *Nginx) File(name string) (string, error) {
	configured := build{arguments: n.arguments}.path("conf-path", "conf/nginx.conf")
	moved := filepath.Join(filepath.Dir(n.Binary), "../conf", name)
	for _, path := range []string{filepath.Join(filepath.Dir(configured), name), moved} {
		if exists(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s of the nginx at %s: neither beside %s nor at %s: %w", name, n.Binary, configured, moved, fs.ErrNotExist)
}

// compareVersions compares versions number by number. A missing part counts as 0.
func compareVersions(a, b string) int {
	x, y := numbers(a), numbers(b)
	for len(x) < len(y) {
		x = append(x, 0)
	}
	for len(y) < len(x) {
		y = append(y, 0)
	}
	return slices.CompareFunc(x, y, cmp.Compare[int])
}

func numbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			panic("nginx: not a version: " + version)
		}
		out = append(out, n)
	}
	return out
}
