package nginx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/internal/tempdir"
)

var unknownVariable = regexp.MustCompile(`unknown "(\w+)" variable`)

// Variables returns the names that are request variables in this nginx, with those of the modules
// loaded that it has. Each test finds only one unknown variable, so pass few names that may be
// unknown.
func (n *Nginx) Variables(names, modules []string) ([]string, error) {
	dir, err := tempdir.Make("nginx-variables")
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	var load strings.Builder
	for _, module := range modules {
		files, err := n.Load(module)
		if err != nil {
			continue // nginx lacks it
		}
		for _, file := range files {
			if line := fmt.Sprintf("load_module %q;\n", file); !strings.Contains(load.String(), line) {
				load.WriteString(line)
			}
		}
	}
	known := slices.Clone(names)
	for {
		if err := n.testVariables(dir.Path, load.String(), known); err == nil {
			return known, nil
		} else if unknown := unknownVariable.FindStringSubmatch(err.Error()); unknown == nil || !slices.Contains(known, unknown[1]) {
			return nil, fmt.Errorf("asking %s for its variables: %w", n.Binary, err)
		} else {
			known = slices.DeleteFunc(known, func(name string) bool { return name == unknown[1] })
		}
	}
}

func (n *Nginx) testVariables(dir, load string, names []string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%serror_log stderr;\npid %q;\nevents {}\nhttp {\naccess_log off;\n", load, filepath.Join(dir, "pid"))
	for _, path := range []string{"client_body", "proxy"} {
		fmt.Fprintf(&text, "%s_temp_path %q;\n", path, filepath.Join(dir, path))
	}
	for i, name := range names {
		fmt.Fprintf(&text, "map $%s $asked_%d {\n}\n", name, i)
	}
	text.WriteString("}\n")
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(text.String()), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	return n.test(ctx, conf)
}
