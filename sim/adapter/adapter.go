// Package adapter describes how a controller is started, observed and ended, in a YAML file, so
// that any ingress controller can be a subject. It reads and checks adapter files, and expands
// their templates for one subject. Its one rule: it is pure; the drivers carry out what an expanded
// adapter says.
package adapter

import (
	"reflect"

	"windtunnel.dev/sim/specfile"
)

// APIVersion and Kind are the apiVersion and kind of the first document of an adapter file.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Adapter"
)

// Adapter is an adapter file.
type Adapter struct {
	Name string
	File string // as passed to Load or Parse; errors start with it
	Spec
	// Manifests are the other documents: objects of the controller's cluster, with templates in their
	// texts.
	Manifests []specfile.Manifest
}

// Spec is the spec of an adapter file. Editors show the field comments as descriptions, through
// docs/adapter.schema.json. Most texts are templates of Go's text/template over Data.
type Spec struct {
	// One sentence: which controller it is for.
	Summary string `yaml:"summary" jsonschema:"required"`
	// The versions of the controller that the adapter was tried with.
	Tried []string `yaml:"tried,omitempty"`
	// The controller's binary, if a subject names none: the name of a program on PATH. Default: a subject must name it.
	Program string `yaml:"program,omitempty"`
	// Other programs that must be on PATH. A subject cannot run without them.
	Needs []string `yaml:"needs,omitempty"`
	// The namespace of the controller's own objects. It is created before them.
	Namespace string `yaml:"namespace,omitempty" jsonschema:"default=ingress"`
	// The name of the controller's own pod.
	Pod string `yaml:"pod,omitempty" jsonschema:"default=controller-0"`
	// Whether the controller takes in-cluster configuration: it gets the environment variables of the API server, and the files of its service account at /var/run/secrets/kubernetes.io/serviceaccount.
	InCluster bool `yaml:"inCluster,omitempty"`
	// The name of the controller's service account, for inCluster and the templates of .APIServer. It is created in the namespace.
	ServiceAccount string `yaml:"serviceAccount,omitempty" jsonschema:"default=default"`
	// The command line: templates, one for each argument. An argument that expands to nothing is left out.
	Command []string `yaml:"command" jsonschema:"required"`
	// How a flag of a subject is written after the command: a template over .Name and .Value.
	Flag string `yaml:"flag,omitempty" jsonschema:"default=--{{.Name}}={{.Value}}"`
	// Environment variables besides those of this process: templates. One that expands to nothing is not set.
	Env map[string]string `yaml:"env,omitempty"`
	// The working directory, a template. It is created. Default: that of this process.
	Directory string `yaml:"directory,omitempty"`
	// Files and folders that are created before each start, in their order.
	Files []File `yaml:"files,omitempty"`
	// The ConfigMap of this file, as namespace/name (a template), that gets the ConfigMap keys of a subject; keys of the file take precedence. Default: the controller has none, and runs report the keys that do not reach it.
	ConfigMap string `yaml:"configMap,omitempty"`
	// How services are published over plain TCP and UDP. Default: the controller cannot do that.
	Streams *Streams `yaml:"streams,omitempty"`
	// The path of the controller's validating webhook for ingresses. It is served over HTTPS at .Ports.Webhook with .Webhook.Certificate and .Webhook.Key. Default: the controller has no webhook.
	Webhook string `yaml:"webhook,omitempty"`
	// The IngressClass that the controller serves. Either this or gatewayClass is required.
	IngressClass IngressClass `yaml:"ingressClass,omitempty"`
	// The GatewayClass that the controller serves, instead of ingressClass: ingresses reach it as HTTPRoutes. Its crds: define the Gateway API.
	GatewayClass *GatewayClass `yaml:"gatewayClass,omitempty"`
	// CustomResourceDefinitions that are created before everything else.
	CRDs []CRDs `yaml:"crds,omitempty"`
	// The beginning of the user agent with which the controller calls the API server, a template: faults of the API server affect no other client. Default: they affect all clients except the harness.
	UserAgent string `yaml:"userAgent,omitempty"`
	// How the harness tells that the controller is healthy: all of these must hold.
	Health []Health `yaml:"health" jsonschema:"required"`
	// The URL of the controller's metrics in Prometheus's text format, a template. The harness reads the size of the heap of a controller in Go, and of the shared dictionaries of the bundled one. Default: it reads no metrics.
	Metrics string `yaml:"metrics,omitempty"`
	// How the processes that answer requests are recognised.
	Processes Processes `yaml:"processes" jsonschema:"required"`
	// Lines of the controller's log that tell of its syncs and reloads. The first rule that matches a line applies.
	Log []Line `yaml:"log,omitempty"`
	// Files below the root that are copied to the folder of the run at the end: templates.
	Keep []string `yaml:"keep,omitempty"`
	// The folders that the controller uses by a fixed path.
	Isolation *Isolation `yaml:"isolation,omitempty"`
	// Measurements that the controller cannot have, or that the harness cannot see. Expectations that depend on one are not applicable, and reports say why. Measurements whose absence follows from processes and log need not be listed.
	NotApplicable []NotApplicable `yaml:"notApplicable,omitempty"`
}

// File is a file or folder that is created before the controller starts: a text, a copy, a link, or
// an empty folder if it is none of these.
type File struct {
	// Where, a template. The path counts from the root: /etc/nginx is ROOT/etc/nginx, unless it lies below the root already.
	Path string `yaml:"path" jsonschema:"required"`
	// The text, a template.
	Content *string `yaml:"content,omitempty"`
	// A file or folder that is copied, a template. A relative path counts from the folder of the adapter file.
	From string `yaml:"from,omitempty"`
	// Texts of a copied file that are replaced, and templates of what replaces them.
	Replace map[string]string `yaml:"replace,omitempty"`
	// Where a symbolic link leads, a template.
	Link string `yaml:"link,omitempty"`
	// The permissions of a text, a copy or an empty folder, such as 0755. Default: 0644 for texts, 0755 for folders, those of the original for copies.
	Mode uint32 `yaml:"mode,omitempty"`
	// The file is left out if this template expands to nothing or to false.
	When string `yaml:"when,omitempty"`
	// Whether the file or folder named by from may be absent.
	Optional bool `yaml:"optional,omitempty"`

	left bool // in a Setup: the file is left out
}

// Streams says how services are published over TCP and UDP: in ConfigMaps whose keys are ports and
// whose values are namespace/name:port. The run writes them.
type Streams struct {
	// The ConfigMap for TCP, as namespace/name, a template.
	TCP string `yaml:"tcp" jsonschema:"required"`
	// The ConfigMap for UDP, likewise.
	UDP string `yaml:"udp" jsonschema:"required"`
}

// IngressClass is the class that the controller serves.
type IngressClass struct {
	// The name in spec.controller of its IngressClass, a template.
	Controller string `yaml:"controller" jsonschema:"required"`
}

// GatewayClass is the class of the Gateway API that the controller serves.
type GatewayClass struct {
	// The name in spec.controllerName of its GatewayClass, a template.
	Controller string `yaml:"controller" jsonschema:"required"`
}

// CRDs name files with CustomResourceDefinitions. Other objects in these files are ignored.
type CRDs struct {
	// The Go module that has the files, with its version: sigs.k8s.io/gateway-api@v1.4.0. It is downloaded with Go, which keeps it. Default: the files are on this machine.
	Module string `yaml:"module,omitempty"`
	// A file, or a folder with all its files. It counts from the module's folder, or from that of the adapter file.
	Path string `yaml:"path" jsonschema:"required"`
}

// Health is one condition of a healthy controller.
type Health struct {
	// A URL that must answer, a template.
	URL string `yaml:"url,omitempty"`
	// The status of that answer.
	Status int `yaml:"status,omitempty" jsonschema:"default=200,minimum=100,maximum=599"`
	// An address with a port that must accept TCP connections, a template; instead of url.
	Address string `yaml:"address,omitempty"`
	// What it proves, and what it does not.
	Proves string `yaml:"proves" jsonschema:"required"`
}

// Isolation says which folders the controller must have for itself. It then runs with its own view of
// the machine's files: each of these folders is the one of the same path below the root.
type Isolation struct {
	// The controller is not isolated if this template expands to nothing or to false. Default: it is.
	When string `yaml:"when,omitempty"`
	// The folders, as absolute paths. They need not exist on the machine.
	Folders []string `yaml:"folders" jsonschema:"required"`
	// Whether it must see no processes but its own.
	Processes bool `yaml:"processes,omitempty"`
}

// document is the first document of an adapter file.
type document struct {
	APIVersion string   `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string   `yaml:"kind" jsonschema:"required,enum=Adapter"`
	Metadata   metadata `yaml:"metadata" jsonschema:"required"`
	Spec       Spec     `yaml:"spec" jsonschema:"required"`
}

type metadata struct {
	// Name of the adapter: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
}

// types are the types of an adapter file, with their names in messages.
var types = specfile.TypesOf(reflect.TypeFor[document](), map[string]string{
	"document": "an adapter", "File": "a file", "NotApplicable": "an entry of notApplicable", "Health": "a health check", "Line": "a log line",
	"GatewayClass": "a GatewayClass", "CRDs": "an entry of crds",
})
