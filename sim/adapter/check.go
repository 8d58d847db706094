package adapter

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/specfile"
)

// checker looks for values that decode but are not valid.
type checker struct {
	*Adapter
	*specfile.Checker
	nodes []*yaml.Node // of the manifests
}

// check checks an adapter. If the adapter is broken because parts of it did not decode, check only
// checks the decoded parts one by one.
func check(a *Adapter, at specfile.Position, manifests []*yaml.Node, found *specfile.Problems, broken bool) {
	c := &checker{Adapter: a, Checker: specfile.NewChecker(at, found), nodes: manifests}
	c.name("the name of an adapter", a.Name, "metadata", "name")
	c.name("a namespace", a.Namespace, "spec", "namespace")
	c.name("the name of a pod", a.Pod, "spec", "pod")
	c.required()
	c.account()
	c.class()
	c.crds()
	c.processes()
	c.files()
	c.health()
	c.webhook()
	c.log()
	c.isolation()
	c.notApplicable()
	c.templates()
	if !broken && !c.Failed() {
		c.samples()
	}
}

func (c *checker) name(kind, name string, path ...any) {
	if len(validation.IsDNS1123Label(name)) > 0 {
		c.Problem(fmt.Sprintf("%q cannot be %s", name, kind), "use lower-case letters, digits and dashes, at most 63", path...)
	}
}

func (c *checker) required() {
	for _, field := range []struct {
		missing bool
		key     string
		example string
	}{
		{c.Summary == "", "summary", "a sentence"},
		{len(c.Command) == 0, "command", `["{{.Controller}}", "--kubeconfig={{.Kubeconfig}}"]`},
		{c.IngressClass.Controller == "" && c.GatewayClass == nil, "ingressClass", "{controller: NAME}, the spec.controller of its IngressClass; or gatewayClass:, if it serves the Gateway API"},
		{len(c.Health) == 0, "health", `a list such as [{url: "http://127.0.0.1:{{.Ports.Health}}/healthz", proves: it has synced}]`},
	} {
		if field.missing {
			c.Problem("an adapter without "+field.key, "add "+field.key+": and "+field.example, "spec", field.key)
		}
	}
}

// class checks that the controller serves one kind of class, because ingresses would otherwise reach it
// twice.
func (c *checker) class() {
	if c.GatewayClass == nil {
		return
	}
	if c.GatewayClass.Controller == "" {
		c.Problem("a gatewayClass without a controller", "add controller:, the spec.controllerName of its GatewayClass", "spec", "gatewayClass")
	}
	if c.IngressClass.Controller != "" {
		c.Problem("an adapter with an ingressClass and a gatewayClass", "write two adapters", "spec", "gatewayClass")
	}
	if len(c.CRDs) == 0 {
		c.Problem("a gatewayClass whose kind is not defined", "add crds: [{module: sigs.k8s.io/gateway-api@VERSION, path: config/crd/standard}]", "spec", "gatewayClass")
	}
}

func (c *checker) crds() {
	for i, d := range c.CRDs {
		at := []any{"spec", "crds", i}
		name, version, _ := strings.Cut(d.Module, "@")
		switch {
		case d.Path == "":
			c.Problem("crds without a path", "add path:, a file or folder", at...)
		case d.Module != "" && (module.CheckPath(name) != nil || !semver.IsValid(version) || semver.Canonical(version) != version):
			c.Problem(fmt.Sprintf("%q is not a Go module with its version", d.Module), "write it as sigs.k8s.io/gateway-api@v1.4.0", append(at, "module")...)
		case d.Module != "" && !filepath.IsLocal(d.Path):
			c.Problem("path "+d.Path+" leads out of the module", "write it relative to the module's folder, without ..", append(at, "path")...)
		}
	}
}

func (c *checker) processes() {
	p := c.Processes
	switch {
	case p.Workers == "":
		c.Problem("an adapter without processes", "add processes: {workers: …}; "+specfile.Choose("", "kinds of workers", WorkerKinds), "spec", "processes")
	case !slices.Contains(WorkerKinds, p.Workers):
		c.Problem("unknown kind of workers "+p.Workers, specfile.Choose(p.Workers, "kinds of workers", WorkerKinds), "spec", "processes", "workers")
	case p.Workers != Single && p.Master.IsZero() && p.PIDFile == "":
		c.Problem("workers of a master that cannot be found", "add master:, a regular expression over its command line, or pidFile:", "spec", "processes")
	case p.Workers == Titled && p.Worker.IsZero():
		c.Problem("titled workers without a pattern for their titles", "add worker:, a regular expression over the titles of workers", "spec", "processes")
	case p.Workers != Titled && !(p.Worker.IsZero() && p.Draining.IsZero()):
		c.Problem(p.Workers+" workers have no titles", "remove worker: and draining:", "spec", "processes")
	}
}

func (c *checker) files() {
	for i, f := range c.Files {
		at := []any{"spec", "files", i}
		kinds := 0
		for _, has := range []bool{f.Content != nil, f.From != "", f.Link != ""} {
			if has {
				kinds++
			}
		}
		switch {
		case f.Path == "":
			c.Problem("a file without a path", "add path:", at...)
		case kinds > 1:
			c.Problem("a file with more than one source", "keep one of content:, from: and link:", at...)
		case f.Mode > 0o777:
			c.Problem(fmt.Sprintf("mode %#o", f.Mode), "write it as 0644 or 0755", append(at, "mode")...)
		case len(f.Replace) > 0 && f.From == "":
			c.Problem("replacements in a file that is not a copy", "remove replace:", append(at, "replace")...)
		case f.Optional && f.From == "":
			c.Problem("an optional file that is not a copy", "remove optional:", at...)
		case slices.Contains(strings.Split(f.Path, "/"), ".."):
			c.Problem("path "+f.Path+" leads out of the root", "write it without ..", append(at, "path")...)
		}
	}
}

func (c *checker) health() {
	for i, h := range c.Health {
		at := []any{"spec", "health", i}
		switch {
		case (h.URL == "") == (h.Address == ""):
			c.Problem("a health check needs either url or address", `write url: "http://127.0.0.1:{{.Ports.Health}}/healthz" or address: "127.0.0.1:{{.Ports.HTTP}}"`, at...)
		case h.Address != "" && h.Status != 0:
			c.Problem("an address has no status", "remove status:", append(at, "status")...)
		case h.URL != "" && (h.Status < 100 || h.Status > 599):
			c.Problem(fmt.Sprintf("%d is not a status", h.Status), "write one from 100 to 599", append(at, "status")...)
		}
		if h.Proves == "" {
			c.Problem("a health check has no proves:", "write what it proves, and what it does not", at...)
		}
	}
}

func (c *checker) webhook() {
	at := []any{"spec", "webhook"}
	switch {
	case c.Webhook == "":
	case !strings.HasPrefix(c.Webhook, "/"):
		c.Problem(fmt.Sprintf("webhook %q is not a path", c.Webhook), "begin it with /", at...)
	case !c.Uses("Webhook.Certificate") || !c.Uses("Webhook.Key"):
		c.Problem("a webhook without its certificate", `add files: with the contents "{{.Webhook.Certificate}}" and "{{.Webhook.Key}}", and name them in command:`, at...)
	}
}

func (c *checker) log() {
	for i, l := range c.Log {
		at := []any{"spec", "log", i}
		if l.Match.IsZero() == (l.Record == "") && !c.Broken(c.At.Line(append(at, "match")...)) {
			c.Problem("a log line needs either match or record", "write match: and a regular expression over the line", at...)
		}
		if l.Record != "" && l.Tells != TellsSync {
			c.Problem("tells: in a record, which already reports reloads", "remove tells:", at...)
		}
		if tells := []string{TellsSync, TellsReload}; !slices.Contains(tells, l.Tells) {
			c.Problem("unknown word "+l.Tells, specfile.Choose(l.Tells, "words", tells), append(at, "tells")...)
		}
	}
}

func (c *checker) isolation() {
	if c.Isolation == nil {
		return
	}
	at := []any{"spec", "isolation", "folders"}
	if len(c.Isolation.Folders) == 0 {
		c.Problem("an isolation without folders", "add folders:, or remove isolation:", at...)
	}
	for i, folder := range c.Isolation.Folders {
		if !path.IsAbs(folder) || path.Clean(folder) != folder || folder == "/" || folder == "/proc" || strings.HasPrefix(folder, "/proc/") {
			c.Problem(fmt.Sprintf("%q cannot be isolated", folder), "write an absolute path such as /etc/nginx", append(at, i)...)
		}
		if c.InCluster && isAccountFolder(folder) {
			c.Problem(folder+" is already the folder of the service account", "remove it: inCluster lays it out", append(at, i)...)
		}
	}
}

// samples expands the adapter for two subjects: one with every setting, and one with none.
func (c *checker) samples() {
	for _, data := range []Data{sample(true), sample(false)} {
		setup, err := c.Expand(data)
		if err != nil {
			c.Problem(err.Error(), "see docs/adapters.md for what templates can use", "spec")
			return
		}
		c.expanded(setup)
		if c.Failed() {
			return
		}
	}
}

// expanded checks what can be checked only after the expansion.
func (c *checker) expanded(s *Setup) {
	checkURL := func(text string, at ...any) {
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			c.Problem(fmt.Sprintf("%q is not a URL", text), "write it as http://127.0.0.1:PORT/PATH", at...)
		}
	}
	if s.Metrics != "" {
		checkURL(s.Metrics, "spec", "metrics")
	}
	for i, h := range s.Health {
		if h.URL != "" {
			checkURL(h.URL, "spec", "health", i, "url")
		} else if _, err := netip.ParseAddrPort(h.Address); err != nil {
			c.Problem(fmt.Sprintf("%q is not an address with a port", h.Address), "write it as 127.0.0.1:PORT", "spec", "health", i, "address")
		}
	}
	if s.Streams != nil {
		c.objectName(s.Streams.TCP, "spec", "streams", "tcp")
		c.objectName(s.Streams.UDP, "spec", "streams", "udp")
	}
	if s.Command[0] == "" {
		c.Problem("the command expands to nothing", "begin it with {{.Controller}}", "spec", "command")
	}
	if s.ConfigMap == "" {
		return
	}
	var names []string
	for _, object := range s.Objects {
		if object.GetKind() == "ConfigMap" {
			names = append(names, object.GetNamespace()+"/"+object.GetName())
		}
	}
	if !slices.Contains(names, s.ConfigMap) {
		c.Problem("the file has no ConfigMap "+s.ConfigMap, specfile.Choose(s.ConfigMap, "ConfigMaps of the file", names), "spec", "configMap")
	}
}

// objectName checks a namespace/name.
func (c *checker) objectName(text string, at ...any) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
		c.Problem(fmt.Sprintf("%q is not a ConfigMap with its namespace", text), `write it as "{{.Namespace}}/NAME"`, at...)
	}
}

// sample returns the data of a subject with every setting, or with none.
func sample(everything bool) Data {
	data := Data{
		Controller: "/bin/controller", Kubeconfig: "/root/kubeconfig", Root: "/root", NodeName: "node",
		APIServer:      APIServer{Host: "127.0.0.1", Port: 6443, CA: "/root/ca.crt", Token: "/root/token"},
		PublishAddress: "127.0.0.1", Ports: PortsFrom(10000),
	}
	if everything {
		data.Flags, data.Config = map[string]string{"v": "2"}, map[string]string{"key": "value"}
		data.Streams = []Stream{{Port: 10100, Service: "demo/web:9000"}}
		data.Webhook = Webhook{Certificate: "certificate", Key: "key"}
		data.Nginx, data.Lua, data.Template = "/bin/nginx", "/lua", "/nginx.tmpl"
	}
	return data
}
