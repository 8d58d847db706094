// Package adapters contains the adapters that are part of this program, one file each. Its one
// rule: to support another controller, add a file.
package adapters

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/specfile"
)

// Default is the adapter of subjects that name none.
const Default = "ingress-nginx"

//go:embed *.yaml
var files embed.FS

// All returns the adapters of this program, sorted by name.
var All = sync.OnceValue(func() []*adapter.Adapter {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is valid
	}
	var all []*adapter.Adapter
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		a, err := adapter.Parse("adapters/"+name, data)
		if err != nil {
			panic(err) // a test checks all files
		}
		all = append(all, a)
	}
	return all
})

// Names returns the names of All.
func Names() []string {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}

// Find returns the adapter with a name or, if the name is a path, from that file. "" means Default.
func Find(name string) (*adapter.Adapter, error) {
	if name == "" {
		name = Default
	}
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
	}
	if IsPath(name) {
		return adapter.Load(name)
	}
	return nil, fmt.Errorf("there is no adapter %s; %s; another one is named by the path of its file", name, specfile.Choose(name, "adapters", Names()))
}

// IsPath reports whether the name of an adapter is the path of a file.
func IsPath(name string) bool {
	return strings.Contains(name, "/") || path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"
}
