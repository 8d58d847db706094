package behave

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/specfile"
)

// Known has the names that other packages provide for checking a case. A nil list disables its
// check.
type Known struct {
	Annotations []string // of ingresses, with their prefix
	Config      []string // keys of the controller's ConfigMap
	Flags       []string // of the controller, without dashes
	Differences []string // rows of docs/compat.md
	Needs       []string // the needs that a run can check
}

// format is the format of case files.
var format = specfile.Format{APIVersion: APIVersion, Kind: Kind}

// largest is the maximum size of a case file, in bytes.
const largest = 4 << 20

// document is the first document of a case file.
type document struct {
	APIVersion string `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string `yaml:"kind" jsonschema:"required,enum=Case"`
	Spec       Spec   `yaml:"spec" jsonschema:"required"`
}

// types are the types of a case file, with their names in messages.
var types = specfile.TypesOf(reflect.TypeFor[document](), map[string]string{
	"document": "a case", "Rule": "a rule", "Certificate": "a certificate", "Step": "a step", "ClientTLS": "tls", "ServerTLS": "tls",
	"Cookie": "a cookie", "Received": "a received request", "Range": "a range", "Lines": "a log",
})

// Load reads and checks the case file at path. Its error joins all specfile.Problems of the file,
// sorted by line.
func Load(path string, known Known) (*Case, error) {
	data, err := readfile.Read(path, largest)
	if err != nil {
		return nil, fmt.Errorf("read case: %w", err)
	}
	c, err := Parse(path, data, known)
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: find its folder: %w", path, err)
	}
	c.Name = nameOf(whole)
	return c, nil
}

// Parse checks a case file that has been read already. name is the path of the file, from which the
// name of the case follows: its last folder and the file's name without its extension.
func Parse(name string, data []byte, known Known) (*Case, error) {
	found := &specfile.Problems{File: name, Types: types}
	documents := format.Split(data, found)
	for i, problem := range found.Found {
		if strings.Contains(problem.What, "did not find expected ','") {
			found.Found[i].Mend = "in braces and brackets, quote texts that contain ?, commas or brackets"
		}
	}
	if len(documents) == 0 {
		return nil, found.Err()
	}
	c := &Case{Name: nameOf(name), File: name}
	var nodes []*yaml.Node
	c.Manifests, nodes = specfile.Manifests(documents[1:], Kind, APIVersion, found)
	readSpec(c, data, specfile.Position{Root: documents[0]}, nodes, known, found)
	if err := found.Err(); err != nil {
		return nil, err
	}
	fill(c)
	return c, nil
}

// nameOf returns the name of the case in a file, such as redirects/app-root.
func nameOf(path string) string {
	folder, file := filepath.Split(filepath.ToSlash(path))
	name := strings.TrimSuffix(file, filepath.Ext(file))
	if folder = filepath.Base(folder); folder == "." || folder == "/" || folder == ".." {
		return name
	}
	return folder + "/" + name
}

// readSpec decodes and checks the first document; manifests are the others.
func readSpec(c *Case, data []byte, at specfile.Position, manifests []*yaml.Node, known Known, found *specfile.Problems) {
	var d document
	if !format.Decode(data, at, &d, found) {
		return
	}
	nulls{found}.walk(reflect.ValueOf(&d).Elem(), at.Root)
	c.Spec = d.Spec
	if _, steps := at.Find("spec", "steps"); len(steps.Content) != len(c.Steps) {
		c.Steps = nil // the decoder dropped some, so the lines of the others are not known
	}
	for i := range c.Steps {
		c.Steps[i].Line = at.Line("spec", "steps", i)
	}
	check(c, at, manifests, known, found)
}

// fill sets the defaults.
func fill(c *Case) {
	for name, pods := range c.Pods {
		if pods.Replicas == nil {
			pods.Replicas = new(1)
		}
		pods.Protocol = cmp.Or(pods.Protocol, "http")
		pods.Answer.fill()
		for i := range pods.Rules {
			pods.Rules[i].fill()
		}
		c.Pods[name] = pods
	}
	for name, certificate := range c.Certificates {
		certificate.CommonName = cmp.Or(certificate.CommonName, cmp.Or(append(certificate.Hosts, name)...))
		certificate.Valid = cmp.Or(certificate.Valid, 24*time.Hour)
		certificate.Key = cmp.Or(certificate.Key, "ecdsa")
		c.Certificates[name] = certificate
	}
	for i := range c.Steps {
		if request := &c.Steps[i].Request; request.Request != "" {
			request.fill()
		}
	}
}

func (a *Answer) fill() {
	if a.Break == "" {
		a.Status = cmp.Or(a.Status, 200)
	}
}

func (r *Request) fill() {
	if r.GRPC {
		r.HTTP = cmp.Or(r.HTTP, "2")
	}
	r.HTTP = cmp.Or(r.HTTP, "1.1")
	r.Times = cmp.Or(r.Times, 1)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	if r.Proxy != nil {
		r.Proxy.Version = cmp.Or(r.Proxy.Version, 1)
	}
}
