package adapter

import (
	"cmp"
	"fmt"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/specfile"
)

// format is the format of adapter files.
var format = specfile.Format{APIVersion: APIVersion, Kind: Kind}

// largest is the maximum size of an adapter file, in bytes.
const largest = 1 << 20

// Load reads and checks the adapter file at path. Its error joins all specfile.Problems of the file,
// sorted by line. Relative paths of files that the adapter names count from the file's folder.
func Load(path string) (*Adapter, error) {
	data, err := readfile.Read(path, largest)
	if err != nil {
		return nil, fmt.Errorf("read adapter: %w", err)
	}
	a, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: find its folder: %w", path, err)
	}
	for i, f := range a.Files {
		if isLocated(f.From) {
			continue
		}
		a.Files[i].From = filepath.Join(folder, f.From)
	}
	for i, c := range a.CRDs {
		if c.Module == "" && !filepath.IsAbs(c.Path) {
			a.CRDs[i].Path = filepath.Join(folder, c.Path)
		}
	}
	return a, nil
}

// Parse checks an adapter file that has been read already. name is the name of the file in errors.
func Parse(name string, data []byte) (*Adapter, error) {
	found := &specfile.Problems{File: name, Types: types}
	documents := format.Split(data, found)
	if len(documents) == 0 {
		return nil, found.Err()
	}
	a := &Adapter{File: name}
	var nodes []*yaml.Node
	a.Manifests, nodes = specfile.Manifests(documents[1:], Kind, APIVersion, found)
	specfile.CheckRepeated(a.Manifests, found)
	readSpec(a, data, specfile.Position{Root: documents[0]}, nodes, found)
	if err := found.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

// readSpec decodes and checks the first document; manifests are the others.
func readSpec(a *Adapter, data []byte, at specfile.Position, manifests []*yaml.Node, found *specfile.Problems) {
	var d document
	if !format.Decode(data, at, &d, found) {
		return
	}
	a.Name, a.Spec = d.Metadata.Name, d.Spec
	broken := len(found.Found) > 0
	a.fill()
	check(a, at, manifests, found, broken)
}

// fill sets the defaults.
func (a *Adapter) fill() {
	a.Namespace = cmp.Or(a.Namespace, "ingress")
	a.Pod = cmp.Or(a.Pod, "controller-0")
	a.ServiceAccount = cmp.Or(a.ServiceAccount, defaultAccount)
	a.Flag = cmp.Or(a.Flag, "--{{.Name}}={{.Value}}")
	for i := range a.Health {
		if a.Health[i].URL != "" {
			a.Health[i].Status = cmp.Or(a.Health[i].Status, 200)
		}
	}
	for i := range a.Log {
		a.Log[i].Tells = cmp.Or(a.Log[i].Tells, TellsSync)
	}
}
