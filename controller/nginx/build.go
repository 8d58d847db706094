package nginx

import (
	"cmp"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// build is what `nginx -V` says.
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

// modulesPath is nginx's default, <prefix>/modules, where none was configured.
func (b build) modulesPath() string {
	prefix, ok := b.argument("prefix")
	if !ok {
		prefix = "/usr/local/nginx"
	}
	path, ok := b.argument("modules-path")
	if !ok {
		path = "modules"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(prefix, path)
	}
	return filepath.Clean(path)
}

// ConfigurationFolder is where nginx's own distribution has mime.types and its like.
func (n *Nginx) ConfigurationFolder() string {
	path, ok := build{arguments: n.arguments}.argument("conf-path")
	if !ok {
		path = "/usr/local/nginx/conf/nginx.conf"
	}
	return filepath.Dir(path)
}

// compareVersions compares number by number; a missing part is 0.
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
